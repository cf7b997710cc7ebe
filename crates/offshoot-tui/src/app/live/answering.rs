//! An answer that comes in, or whose tools are at work: which of its rows will not change any more, and which of them are
//! printed. How far that is is known in parts and blocks, so that another look of the rest changes nothing above.

use std::collections::HashMap;
use std::sync::Arc;

use super::Block;
use crate::message::{Answer, Beside, Folds, Item, Laid, Look, Part, Stretch, ToolResult};
use crate::transcript::{Streaming, Streams, first_thought};

/// Results of tools, by call.
type Results = HashMap<String, Arc<ToolResult>>;

/// An answer that is under way.
#[derive(Debug, Default)]
pub(super) struct Answering {
    pub(super) streaming: Streaming,
    /// Whether all of it has come in.
    pub(super) is_complete: bool,
    /// What is not printed.
    unprinted: Stretch,
    /// How far it was printed ever, folded or not: to the beginning of this part, or into it.
    reached: (usize, bool),
}

impl Answering {
    /// All of it has come in.
    pub(super) fn complete(&mut self, answer: Answer) {
        self.streaming.complete(answer, self.unprinted);
        self.is_complete = true;
    }

    /// The calls of the answer.
    pub(super) fn calls(&self) -> impl Iterator<Item = &str> {
        self.streaming.answer.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call.id.as_str()),
            Part::Text(_) | Part::Thinking(_) | Part::Picture(_) | Part::Other(_) => None,
        })
    }

    /// The first part that is not printed and may still change: a call without a result, or what comes in.
    pub(super) fn open(&self, running: &Results) -> Option<usize> {
        let parts = &self.streaming.answer.parts;
        let is_open = |part: &Part| match part {
            Part::Call(call) => !self.is_complete || running.get(&call.id).is_none_or(|result| result.is_partial),
            Part::Text(_) | Part::Thinking(_) | Part::Picture(_) | Part::Other(_) => false,
        };
        let from = self.unprinted.from;
        let call = parts.iter().skip(from).position(is_open).map(|at| at + from);
        let last = parts.len().checked_sub(1).filter(|_| !self.is_complete);
        call.or(last.map(|last| first_thought(parts, last)))
    }

    /// The rows that will not change any more and were not printed yet.
    pub(super) fn print(&mut self, look: &Look<'_>, folds: Folds<'_>, running: &Results) -> Laid {
        let to = self.open(running).unwrap_or(self.streaming.answer.parts.len());
        let laid = self.print_to(look, folds, running, (to, true));
        self.reached = self.reached.max((self.unprinted.from, self.unprinted.is_begun));
        laid
    }

    /// What was printed, as it looks now; what was not still waits.
    pub(super) fn print_again(&mut self, look: &Look<'_>, folds: Folds<'_>, running: &Results) -> Laid {
        self.unprinted = Stretch::default();
        self.streaming.untake();
        self.print_to(look, folds, running, self.reached)
    }

    /// The rows of the parts before this one, and if it is begun, those of it that will not change any more.
    fn print_to(
        &mut self,
        look: &Look<'_>,
        folds: Folds<'_>,
        running: &Results,
        (to, is_begun): (usize, bool),
    ) -> Laid {
        let mut laid = Laid::default();
        if to > self.unprinted.from {
            let stretch = Stretch { to, ..self.unprinted };
            let texts = self.streaming.streams.take_whole(look, folds, stretch);
            laid.append(self.laid(look, folds, running, (stretch, &texts)));
            self.unprinted = Stretch { from: to, ..Stretch::default() };
        }
        let settled = if is_begun { self.streaming.streams.take_settled(look, folds, to) } else { Vec::new() };
        if !settled.is_empty() {
            let stretch = Stretch { to: to + 1, ..self.unprinted };
            let texts = HashMap::from([(to, settled)]);
            laid.append(self.laid(look, folds, running, (stretch, &texts)));
            self.unprinted.is_begun = true;
        }
        laid
    }

    /// The rows that are not printed: of each part the last, no more than so many.
    pub(super) fn rest(&mut self, look: &Look<'_>, folds: Folds<'_>, (running, most): (&Results, usize)) -> Laid {
        let texts = self.streaming.streams.rows(look, folds, (self.unprinted, most));
        self.laid(look, folds, running, (self.unprinted, &texts))
    }

    fn laid(
        &mut self,
        look: &Look<'_>,
        folds: Folds<'_>,
        running: &Results,
        (stretch, texts): (Stretch, &HashMap<usize, Vec<ratatui::text::Line<'static>>>),
    ) -> Laid {
        let results: Vec<_> = running.values().cloned().collect();
        let item = Item::Answer(std::mem::take(&mut self.streaming.answer));
        let beside = Beside { results: &results, is_live: true, texts: Some(texts) };
        let laid = item.rows_of(look, folds, beside, stretch);
        if let Item::Answer(answer) = item {
            self.streaming.answer = answer;
        }
        laid
    }

    /// The answer, and what of it is not printed.
    pub(super) fn into_rest(self) -> (Item, Rest) {
        let Streaming { answer, streams } = self.streaming;
        (Item::Answer(answer), Rest { streams, unprinted: self.unprinted })
    }
}

/// What of a finished answer is not printed.
#[derive(Debug)]
pub(super) struct Rest {
    streams: Streams,
    unprinted: Stretch,
}

impl Rest {
    pub(super) fn rows(mut self, block: &Block, look: &Look<'_>, folds: Folds<'_>) -> Laid {
        let texts = self.streams.take_whole(look, folds, self.unprinted);
        let beside = Beside { results: &block.results, is_live: false, texts: Some(&texts) };
        block.item.rows_of(look, folds, beside, self.unprinted)
    }
}
