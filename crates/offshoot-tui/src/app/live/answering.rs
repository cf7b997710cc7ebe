//! An answer that comes in, or whose tools are at work: which of its rows will not change any more, and which of them are
//! printed. How far that is is known in parts and blocks, so that another look of the rest changes nothing above.

use std::collections::HashMap;

use ratatui::text::Line;

use crate::conversation::{AnswerProgress, ConversationBlock, FinishedBlock, LiveAnswer};
use crate::message::{Beside, Folds, Laid, Look, Stretch};
use crate::transcript::{Streams, first_thought};

/// Rows of an answer's texts, by part.
type Texts = HashMap<usize, Vec<Line<'static>>>;

/// How an answer is printed that is under way.
#[derive(Debug)]
pub(super) struct Answering {
    id: u64,
    streams: Streams,
    printed: Printed,
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

    fn rows(self, (look, folds): Seen<'_>, stretch: Stretch, texts: &Texts) -> Laid {
        let beside = Beside { results: &self.block.results, is_live: self.is_live, texts: Some(texts) };
        look.rows_of(&self.block.item, folds, beside, stretch)
    }
}

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

type Seen<'a> = (&'a Look<'a>, Folds<'a>);

/// Lays out a stretch of an answer with the rows of its texts.
type Lay<'a> = dyn FnMut(Stretch, &Texts) -> Laid + 'a;

impl Answering {
    pub(super) fn new(answer: AnswerSource<'_>) -> Self {
        Self { id: answer.progress.id, streams: Streams::default(), printed: Printed::default() }
    }

    pub(super) fn is_of(&self, answer: AnswerSource<'_>) -> bool {
        self.id == answer.progress.id
    }

    /// The rows that will not change any more and were not printed yet.
    pub(super) fn print(&mut self, answer: &LiveAnswer, look: &Look<'_>, folds: Folds<'_>) -> Laid {
        let source = AnswerSource::live(answer);
        self.follow(source);
        let to = self.open(answer).unwrap_or(source.block.parts().len());
        let mut lay = |stretch, texts: &Texts| source.rows((look, folds), stretch, texts);
        self.printed.on(&mut self.streams, (look, folds), to, &mut lay)
    }

    /// What was printed, as it looks now; what was not still waits.
    pub(super) fn print_again(&mut self, source: AnswerSource<'_>, look: &Look<'_>, folds: Folds<'_>) -> Laid {
        self.follow(source);
        let mut lay = |stretch, texts: &Texts| source.rows((look, folds), stretch, texts);
        self.printed.again(&mut self.streams, (look, folds), &mut lay)
    }

    /// The rows that are not printed: of each part the last, no more than so many.
    pub(super) fn rest(&mut self, answer: &LiveAnswer, look: &Look<'_>, folds: Folds<'_>, most: usize) -> Laid {
        let source = AnswerSource::live(answer);
        self.follow(source);
        let texts = self.streams.rows(look, folds, (self.printed.not, most));
        source.rows((look, folds), self.printed.not, &texts)
    }

    /// The answer is finished: what of it is not printed.
    pub(super) fn finish(mut self, source: AnswerSource<'_>, look: &Look<'_>, folds: Folds<'_>) -> Laid {
        self.follow(source);
        let texts = self.streams.take_whole(look, folds, self.printed.not);
        source.rows((look, folds), self.printed.not, &texts)
    }

    fn follow(&mut self, source: AnswerSource<'_>) {
        self.streams.follow(source.block.parts(), source.progress, self.printed.not);
    }

    /// The first part that is not printed and may still change: a call without a result, or what comes in.
    fn open(&self, answer: &LiveAnswer) -> Option<usize> {
        let parts = answer.block().parts();
        let from = self.printed.not.from;
        let call = parts.iter().skip(from).position(|part| answer.is_open(part)).map(|at| at + from);
        let last = parts.len().checked_sub(1).filter(|_| !answer.is_complete());
        call.or(last.map(|last| first_thought(parts, last)))
    }

    #[cfg(test)]
    pub(super) fn parsed(&self) -> usize {
        self.streams.parsed()
    }
}
