//! An answer that comes in, or whose tools are at work: which of its rows will not change any more, and which of them are
//! printed. How far that is is known in parts and blocks, so that another look of the rest changes nothing above.

use std::collections::HashMap;
use std::sync::Arc;

use offshoot_session::transcript::{Answer, Item, Part, ToolResult};
use ratatui::text::Line;

use super::Block;
use crate::message::{Beside, Folds, Laid, Look, Stretch};
use crate::transcript::{Streaming, Streams, first_thought};

/// Results of tools, by call.
type Results = HashMap<String, Arc<ToolResult>>;

/// Rows of an answer's texts, by part.
type Texts = HashMap<usize, Vec<Line<'static>>>;

/// An answer that is under way.
#[derive(Debug, Default)]
pub(super) struct Answering {
    pub(super) streaming: Streaming,
    /// Whether all of it has come in.
    pub(super) is_complete: bool,
    printed: Printed,
}

/// How far an answer is printed.
#[derive(Debug, Clone, Copy, Default)]
struct Printed {
    /// What is not.
    not: Stretch,
    /// How far it was ever, folded or not: to the beginning of this part, or into it.
    reached: (usize, bool),
}

impl Printed {
    /// The rows up to the beginning of a part, and those of it that will not change any more.
    fn on(&mut self, streams: &mut Streams, (look, folds): Seen<'_>, to: usize, lay: &mut Lay<'_>) -> Laid {
        let mut laid = self.parts(streams, (look, folds), to, lay);
        let settled = streams.take_settled(look, folds, to);
        laid.append(self.begin(to, settled, lay));
        self.reached = self.reached.max((self.not.from, self.not.is_begun));
        laid
    }

    /// What was printed, as it looks now; what was not still waits.
    fn again(&mut self, streams: &mut Streams, (look, folds): Seen<'_>, lay: &mut Lay<'_>) -> Laid {
        self.not = Stretch::default();
        streams.untake();
        let (to, is_begun) = self.reached;
        let mut laid = self.parts(streams, (look, folds), to, lay);
        let settled = if is_begun { streams.take_again(look, folds, to) } else { Vec::new() };
        laid.append(self.begin(to, settled, lay));
        laid
    }

    /// The parts before this one.
    fn parts(&mut self, streams: &mut Streams, (look, folds): Seen<'_>, to: usize, lay: &mut Lay<'_>) -> Laid {
        if to <= self.not.from {
            return Laid::default();
        }
        let stretch = Stretch { to, ..self.not };
        let texts = streams.take_whole(look, folds, stretch);
        self.not = Stretch { from: to, ..Stretch::default() };
        lay(stretch, &texts)
    }

    /// Some rows of this part.
    fn begin(&mut self, to: usize, settled: Vec<Line<'static>>, lay: &mut Lay<'_>) -> Laid {
        if settled.is_empty() {
            return Laid::default();
        }
        let stretch = Stretch { to: to + 1, ..self.not };
        self.not.is_begun = true;
        lay(stretch, &HashMap::from([(to, settled)]))
    }
}

/// How it looks.
type Seen<'a> = (&'a Look<'a>, Folds<'a>);

/// Lays out a stretch of an answer with the rows of its texts.
type Lay<'a> = dyn FnMut(Stretch, &Texts) -> Laid + 'a;

impl Answering {
    /// All of it has come in.
    pub(super) fn complete(&mut self, answer: Answer) {
        self.streaming.complete(answer, self.printed.not);
        self.is_complete = true;
    }

    /// The calls of the answer.
    pub(super) fn calls(&self) -> impl Iterator<Item = &str> {
        self.streaming.answer.calls().map(|call| call.id.as_str())
    }

    /// The first part that is not printed and may still change: a call without a result, or what comes in.
    pub(super) fn open(&self, running: &Results) -> Option<usize> {
        let parts = &self.streaming.answer.parts;
        let is_open = |part: &Part| match part {
            Part::Call(call) => !self.is_complete || running.get(&call.id).is_none_or(|result| result.is_partial),
            Part::Text(_) | Part::Thinking(_) | Part::Picture(_) | Part::Other(_) => false,
        };
        let from = self.printed.not.from;
        let call = parts.iter().skip(from).position(is_open).map(|at| at + from);
        let last = parts.len().checked_sub(1).filter(|_| !self.is_complete);
        call.or(last.map(|last| first_thought(parts, last)))
    }

    /// The rows that will not change any more and were not printed yet.
    pub(super) fn print(&mut self, look: &Look<'_>, folds: Folds<'_>, running: &Results) -> Laid {
        let to = self.open(running).unwrap_or(self.streaming.answer.parts.len());
        let Streaming { answer, streams } = &mut self.streaming;
        let mut lay = |stretch, texts: &Texts| laid(answer, running, (look, folds), (stretch, texts));
        self.printed.on(streams, (look, folds), to, &mut lay)
    }

    /// What was printed, as it looks now; what was not still waits.
    pub(super) fn print_again(&mut self, look: &Look<'_>, folds: Folds<'_>, running: &Results) -> Laid {
        let Streaming { answer, streams } = &mut self.streaming;
        let mut lay = |stretch, texts: &Texts| laid(answer, running, (look, folds), (stretch, texts));
        self.printed.again(streams, (look, folds), &mut lay)
    }

    /// The rows that are not printed: of each part the last, no more than so many.
    pub(super) fn rest(&mut self, look: &Look<'_>, folds: Folds<'_>, (running, most): (&Results, usize)) -> Laid {
        let texts = self.streaming.streams.rows(look, folds, (self.printed.not, most));
        laid(&mut self.streaming.answer, running, (look, folds), (self.printed.not, &texts))
    }

    /// The answer, and what of it is not printed.
    pub(super) fn into_rest(self) -> (Item, Rest) {
        let Streaming { answer, streams } = self.streaming;
        (Item::Answer(answer), Rest { streams, printed: self.printed })
    }
}

fn laid(answer: &mut Answer, running: &Results, (look, folds): Seen<'_>, (stretch, texts): (Stretch, &Texts)) -> Laid {
    let results: Vec<_> = running.values().cloned().collect();
    let item = Item::Answer(std::mem::take(answer));
    let beside = Beside { results: &results, is_live: true, texts: Some(texts) };
    let laid = look.rows_of(&item, folds, beside, stretch);
    if let Item::Answer(whole) = item {
        *answer = whole;
    }
    laid
}

/// What of a finished answer is not printed.
#[derive(Debug)]
pub(super) struct Rest {
    streams: Streams,
    printed: Printed,
}

impl Rest {
    pub(super) fn rows(mut self, block: &Block, look: &Look<'_>, folds: Folds<'_>) -> Laid {
        let texts = self.streams.take_whole(look, folds, self.printed.not);
        let beside = Beside { results: &block.results, is_live: false, texts: Some(&texts) };
        look.rows_of(&block.item, folds, beside, self.printed.not)
    }

    /// What was printed, as it looks now; what was not still waits.
    pub(super) fn print_again(&mut self, block: &Block, look: &Look<'_>, folds: Folds<'_>) -> Laid {
        let mut lay = |stretch, texts: &Texts| {
            let beside = Beside { results: &block.results, is_live: false, texts: Some(texts) };
            look.rows_of(&block.item, folds, beside, stretch)
        };
        self.printed.again(&mut self.streams, (look, folds), &mut lay)
    }
}
