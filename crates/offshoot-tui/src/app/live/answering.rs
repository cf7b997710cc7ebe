//! An answer that comes in, or whose tools are at work: which of its rows will not change any more, and which of them are
//! printed. How far that is is known in parts, and within a text in what of it was laid out: so another width, another
//! theme or another fold changes what comes below and nothing above.

use std::collections::HashMap;

use ratatui::text::Line;

use crate::conversation::{AnswerProgress, ConversationBlock, FinishedBlock, LiveAnswer};
use crate::message::{AnswerContext, Folds, PartRange, RenderedRows, RowRenderer};
use crate::transcript::{Streams, first_thought};

/// How an answer is printed that is under way.
#[derive(Debug)]
pub(super) struct AnswerPrinter {
    /// Which answer.
    id: u64,
    streams: Streams,
    /// What is not printed: from this part on, or from within it.
    unprinted: PartRange,
}

/// An answer that is under way, or finished.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerSource<'a> {
    block: &'a ConversationBlock,
    progress: &'a AnswerProgress,
    is_live: bool,
}

impl<'a> AnswerSource<'a> {
    pub(super) fn live(answer: &'a LiveAnswer) -> Self {
        Self { block: answer.block(), progress: answer.progress(), is_live: true }
    }

    /// `None`: it did not come in here, or is no answer.
    pub(super) fn finished(finished: &'a FinishedBlock) -> Option<Self> {
        Some(Self { block: &finished.block, progress: finished.progress.as_ref()?, is_live: false })
    }

    fn rows(
        self,
        look: &RowRenderer<'_>,
        folds: Folds<'_>,
        (stretch, texts): (PartRange, &HashMap<usize, Vec<Line<'static>>>),
    ) -> RenderedRows {
        let beside = AnswerContext { results: &self.block.results, is_live: self.is_live, texts: Some(texts) };
        look.rows_of(&self.block.item, folds, beside, stretch)
    }
}

impl AnswerPrinter {
    pub(super) fn new(answer: AnswerSource<'_>) -> Self {
        Self { id: answer.progress.id, streams: Streams::default(), unprinted: PartRange::default() }
    }

    /// Whether this is the answer.
    pub(super) fn is_of(&self, answer: AnswerSource<'_>) -> bool {
        self.id == answer.progress.id
    }

    /// The rows that will not change any more and were not printed yet: they are from now on.
    pub(super) fn print(&mut self, answer: &LiveAnswer, look: &RowRenderer<'_>, folds: Folds<'_>) -> RenderedRows {
        let source = AnswerSource::live(answer);
        self.follow(source);
        let open = self.first_open_part(answer).unwrap_or(source.block.parts().len());
        let mut laid = RenderedRows::default();
        if open > self.unprinted.from {
            let whole = PartRange { to: open, ..self.unprinted };
            let texts = self.streams.take_whole(look, folds, whole);
            laid = source.rows(look, folds, (whole, &texts));
            self.unprinted = PartRange { from: open, ..PartRange::default() };
        }
        let settled = self.streams.take_settled(look, folds, open);
        if !settled.is_empty() {
            let begun = PartRange { to: open + 1, ..self.unprinted };
            laid.append(source.rows(look, folds, (begun, &HashMap::from([(open, settled)]))));
            self.unprinted.is_begun = true;
        }
        laid
    }

    /// The rows that are not printed: of each part the last, no more than so many.
    pub(super) fn unprinted_rows(
        &mut self,
        answer: &LiveAnswer,
        look: &RowRenderer<'_>,
        folds: Folds<'_>,
        most: usize,
    ) -> RenderedRows {
        let source = AnswerSource::live(answer);
        self.follow(source);
        let texts = self.streams.rows(look, folds, (self.unprinted, most));
        source.rows(look, folds, (self.unprinted, &texts))
    }

    /// The answer is finished: the rows that are not printed.
    pub(super) fn finish(mut self, source: AnswerSource<'_>, look: &RowRenderer<'_>, folds: Folds<'_>) -> RenderedRows {
        self.follow(source);
        let texts = self.streams.take_whole(look, folds, self.unprinted);
        source.rows(look, folds, (self.unprinted, &texts))
    }

    fn follow(&mut self, source: AnswerSource<'_>) {
        self.streams.follow(source.block.parts(), source.progress, self.unprinted);
    }

    /// The first part that is not printed and may still change: a call without a result, or what comes in.
    fn first_open_part(&self, answer: &LiveAnswer) -> Option<usize> {
        let parts = answer.block().parts();
        let from = self.unprinted.from;
        let call = parts.iter().skip(from).position(|part| answer.is_open(part)).map(|at| at + from);
        let last = parts.len().checked_sub(1).filter(|_| !answer.is_complete());
        call.or(last.map(|last| first_thought(parts, last)))
    }

    #[cfg(test)]
    pub(super) fn parsed(&self) -> usize {
        self.streams.parsed()
    }
}
