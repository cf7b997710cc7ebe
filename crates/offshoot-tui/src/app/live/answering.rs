//! Prints an answer that is streaming or waits for its tools: finds the finished rows, and remembers the printed rows.
//! The position is a part, and within a text the source that was laid out. So another width, theme or fold changes only
//! the rows below.

use std::collections::HashMap;

use ratatui::text::Line;

use crate::conversation::{AnswerProgress, ConversationBlock, FinishedBlock, LiveAnswer};
use crate::message::{AnswerContext, Folds, PartRange, RenderedRows, RowRenderer};
use crate::transcript::{Streams, first_thought};

/// The printing state of the answer under way.
#[derive(Debug)]
pub(super) struct AnswerPrinter {
    id: u64,
    streams: Streams,
    /// The unprinted parts. The range begins at a part or inside it.
    unprinted: PartRange,
    /// Whether the first row is printed, which is that of the time.
    is_timed: bool,
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

    /// `None` if the block was not streamed, or is not an answer.
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
        Self { id: answer.progress.id, streams: Streams::default(), unprinted: PartRange::default(), is_timed: false }
    }

    /// Whether this printer belongs to the answer.
    pub(super) fn is_of(&self, answer: AnswerSource<'_>) -> bool {
        self.id == answer.progress.id
    }

    /// The finished rows that were not printed. Marks them as printed.
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
        self.put_time(&mut laid, source, look);
        self.is_timed |= !laid.lines.is_empty();
        laid
    }

    /// The unprinted rows: of each part at most the last rows, up to a limit.
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
        let mut laid = source.rows(look, folds, (self.unprinted, &texts));
        self.put_time(&mut laid, source, look);
        laid
    }

    /// The unprinted rows of a finished answer.
    pub(super) fn finish(mut self, source: AnswerSource<'_>, look: &RowRenderer<'_>, folds: Folds<'_>) -> RenderedRows {
        self.follow(source);
        let texts = self.streams.take_whole(look, folds, self.unprinted);
        let mut laid = source.rows(look, folds, (self.unprinted, &texts));
        self.put_time(&mut laid, source, look);
        laid
    }

    fn put_time(&self, laid: &mut RenderedRows, source: AnswerSource<'_>, look: &RowRenderer<'_>) {
        look.put_time(laid, source.block.time.filter(|_| !self.is_timed));
    }

    fn follow(&mut self, source: AnswerSource<'_>) {
        self.streams.follow(source.block.parts(), source.progress, self.unprinted);
    }

    /// The first unprinted part that may still change: a call without a result, or a streaming part.
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
