//! Streaming texts and thoughts of an answer. Each block is laid out once, however long it is. Each view of an answer
//! has its own streams.

use std::collections::HashMap;

use ratatui::text::Line;

use crate::conversation::AnswerProgress;
use crate::markdown::Stream;
use crate::message::{Folds, PartRange, RowRenderer};
use offshoot_session::transcript::ItemPart;

/// The texts and thoughts of an answer, by part. Consecutive thoughts are one flow, at the first of them.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    flows: HashMap<usize, Flow>,
    taken: Vec<usize>,
    is_complete: bool,
}

/// A streaming text or thought.
#[derive(Debug, Default)]
struct Flow {
    stream: Stream,
    is_thought: bool,
    /// Trailing blanks, which are added only if more words come.
    held: String,
    /// The part of the last thought, and whether this thought has words and whether the flow has words.
    last: usize,
    has_words: (bool, bool),
}

impl Flow {
    /// Adds text. The whole has no blanks at its beginning.
    fn text(&mut self, delta: &str) {
        let new = if self.has_words.1 { delta } else { delta.trim_start() };
        self.has_words.1 |= !new.is_empty();
        self.stream.push(new);
    }

    /// Adds a thought. The whole has an empty line between two thoughts, and no blanks around them.
    fn thought(&mut self, at: usize, delta: &str) {
        self.is_thought = true;
        if at != self.last {
            (self.last, self.has_words.0) = (at, false);
            self.held.clear();
        }
        let new = if self.has_words.0 { delta } else { delta.trim_start() };
        let words = new.trim_end();
        if !words.is_empty() {
            if !self.has_words.0 && self.has_words.1 {
                self.held = "\n\n".to_owned();
            }
            self.stream.push(&self.held);
            self.stream.push(words);
            self.held.clear();
            self.has_words = (true, true);
        }
        self.held.push_str(new.get(words.len()..).unwrap_or_default());
    }

    fn take(&mut self, at: usize, new: &str, is_thought: bool) {
        if is_thought {
            self.thought(at, new);
        } else {
            self.text(new);
        }
    }

    fn lay_out(&mut self, look: &RowRenderer<'_>) {
        self.stream.lay_out(&if self.is_thought { look.thoughts_sheet() } else { look.sheet() });
    }
}

impl Streams {
    /// The rows that were not taken, of some parts: of each part at most the last `most` rows.
    pub(crate) fn rows(
        &mut self,
        look: &RowRenderer<'_>,
        folds: Folds<'_>,
        (stretch, most): (PartRange, usize),
    ) -> HashMap<usize, Vec<Line<'static>>> {
        let mut rows = HashMap::new();
        for (at, flow) in self.within(folds, stretch) {
            flow.lay_out(look);
            let (settled, open) = (flow.stream.settled(), flow.stream.open());
            let skipped = (settled.len() + open.len()).saturating_sub(most);
            rows.insert(at, settled.iter().chain(open).skip(skipped).cloned().collect());
        }
        rows
    }

    /// Takes the rows of complete parts.
    pub(crate) fn take_whole(
        &mut self,
        look: &RowRenderer<'_>,
        folds: Folds<'_>,
        stretch: PartRange,
    ) -> HashMap<usize, Vec<Line<'static>>> {
        let mut rows = HashMap::new();
        for (at, flow) in self.within(folds, stretch) {
            flow.stream.end();
            flow.lay_out(look);
            rows.insert(at, flow.stream.take());
        }
        rows
    }

    /// Takes the finished rows of a part.
    pub(crate) fn take_settled(&mut self, look: &RowRenderer<'_>, folds: Folds<'_>, at: usize) -> Vec<Line<'static>> {
        let stretch = PartRange { from: at, to: at + 1, is_begun: false };
        let Some((_, flow)) = self.within(folds, stretch).next() else { return Vec::new() };
        flow.lay_out(look);
        flow.stream.take()
    }

    /// The number of bytes parsed as markdown.
    #[cfg(test)]
    pub(crate) fn parsed(&self) -> usize {
        self.flows.values().map(|flow| flow.stream.parsed()).sum()
    }

    /// Takes the new text of an answer. The rows before `printed` were taken. A part that does not begin with its
    /// streamed text is laid out from the whole, unless some of its rows were taken.
    pub(crate) fn follow(&mut self, parts: &[ItemPart], progress: &AnswerProgress, printed: PartRange) {
        if progress.is_complete && !std::mem::replace(&mut self.is_complete, true) {
            let is_given = |at: usize| at < printed.from || (at == printed.from && printed.is_begun);
            for at in progress.replaced.iter().copied().filter(|at| !is_given(*at)) {
                self.flows.remove(&first_thought(parts, at));
                self.flows.remove(&at);
            }
        }
        self.taken.resize(parts.len(), 0);
        let (mut first, mut was_thought) = (0, false);
        for (at, part) in parts.iter().enumerate() {
            let (text, is_thought) = match part {
                ItemPart::Text(text) => (text.trim_start(), false),
                ItemPart::Thinking(thought) => (thought.as_str(), true),
                ItemPart::Call(_) | ItemPart::Picture(_) | ItemPart::Other(_) => ("", false),
            };
            first = if is_thought && was_thought { first } else { at };
            was_thought = is_thought;
            let new = self.taken.get_mut(at).and_then(|taken| text.get(std::mem::replace(taken, text.len())..));
            let Some(new) = new.filter(|new| !new.is_empty() && !progress.replaced.contains(&at)) else { continue };
            // An answer that was complete before any of it was taken needs no streams.
            match self.flows.get_mut(&first) {
                None if progress.is_complete => {}
                None => self.flows.entry(first).or_default().take(at, new, is_thought),
                Some(flow) => flow.take(at, new, is_thought),
            }
        }
    }

    /// The flows with rows of their own. A folded thought shows only its first words.
    fn within(&mut self, folds: Folds<'_>, stretch: PartRange) -> impl Iterator<Item = (usize, &mut Flow)> {
        let is_shown = move |at: usize, flow: &Flow| {
            (stretch.from..stretch.to).contains(&at) && (!flow.is_thought || folds.is_thinking_open(at))
        };
        self.flows.iter_mut().filter(move |(at, flow)| is_shown(**at, flow)).map(|(at, flow)| (*at, flow))
    }
}

/// The first of the consecutive thoughts up to a part; the part itself if it is not a thought.
pub(crate) fn first_thought(parts: &[ItemPart], at: usize) -> usize {
    let is_thought = |at: usize| matches!(parts.get(at), Some(ItemPart::Thinking(_)));
    let mut first = at;
    while first > 0 && is_thought(first) && is_thought(first - 1) {
        first -= 1;
    }
    first
}
