//! An answer while it comes in, and tools while they run: from the agent's events to the same data that sessions give.

use std::collections::HashMap;

use offshoot_agent::event::{Shown, Update};
use offshoot_agent::message::{Block, Message, ToolResultMessage};
use offshoot_session::transcript::{Answer, Call, Item, Part, ToolResult};
use ratatui::text::Line;

use crate::markdown::Stream;
use crate::message::{Folds, Look, Stretch, item_of_live};

/// A block with a larger number is none that anybody could see.
const MAX_PARTS: usize = 10_000;

/// An answer that is not complete.
#[derive(Debug, Default)]
pub(crate) struct Streaming {
    pub(crate) answer: Answer,
    pub(crate) streams: Streams,
}

/// Texts and thoughts of an answer as they came in, by part. Thoughts that follow each other are one, with the first.
#[derive(Debug, Default)]
pub(crate) struct Streams(HashMap<usize, Flow>);

/// A text or a thought that comes in.
#[derive(Debug, Default)]
struct Flow {
    stream: Stream,
    is_thought: bool,
    /// Blanks that count if more words come.
    held: String,
    /// Which thought came last, and whether a word of it and of any came.
    last: usize,
    has_words: (bool, bool),
}

impl Flow {
    /// Adds to a text what it will have as a whole: no blanks at its beginning.
    fn text(&mut self, delta: &str) {
        let new = if self.has_words.1 { delta } else { delta.trim_start() };
        self.has_words.1 |= !new.is_empty();
        self.stream.push(new);
    }

    /// Adds to thoughts what they will have as a whole: an empty line between two, no blanks around them.
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

    fn lay_out(&mut self, look: &Look<'_>) {
        self.stream.lay_out(&if self.is_thought { look.thoughts_sheet() } else { look.sheet() });
    }

    fn take_again(&mut self, look: &Look<'_>) -> Vec<Line<'static>> {
        self.stream.take_again(&if self.is_thought { look.thoughts_sheet() } else { look.sheet() })
    }
}

impl Streams {
    /// The rows that were not given away, of some parts: of each of them the last.
    pub(crate) fn rows(
        &mut self,
        look: &Look<'_>,
        folds: Folds<'_>,
        (stretch, most): (Stretch, usize),
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

    /// Takes the rows of parts that are complete.
    pub(crate) fn take_whole(
        &mut self,
        look: &Look<'_>,
        folds: Folds<'_>,
        stretch: Stretch,
    ) -> HashMap<usize, Vec<Line<'static>>> {
        let mut rows = HashMap::new();
        for (at, flow) in self.within(folds, stretch) {
            flow.stream.end();
            flow.lay_out(look);
            rows.insert(at, flow.stream.take());
        }
        rows
    }

    /// Takes the rows of a part that will not change any more.
    pub(crate) fn take_settled(&mut self, look: &Look<'_>, folds: Folds<'_>, at: usize) -> Vec<Line<'static>> {
        let stretch = Stretch { from: at, to: at + 1, is_begun: false };
        let Some((_, flow)) = self.within(folds, stretch).next() else { return Vec::new() };
        flow.lay_out(look);
        flow.stream.take()
    }

    /// Takes the rows of a part that were taken before, as they look now.
    pub(crate) fn take_again(&mut self, look: &Look<'_>, folds: Folds<'_>, at: usize) -> Vec<Line<'static>> {
        let stretch = Stretch { from: at, to: at + 1, is_begun: false };
        let Some((_, flow)) = self.within(folds, stretch).next() else { return Vec::new() };
        flow.take_again(look)
    }

    /// Takes back all rows that were given away.
    pub(crate) fn untake(&mut self) {
        self.0.values_mut().for_each(|flow| flow.stream.untake());
    }

    /// How many bytes were read as markdown.
    #[cfg(test)]
    pub(crate) fn parsed(&self) -> usize {
        self.0.values().map(|flow| flow.stream.parsed()).sum()
    }

    /// Takes what of a complete text did not come in pieces; one that came otherwise is forgotten, unless rows of it are
    /// given away.
    fn complete(&mut self, at: usize, came: &str, whole: &str, is_given: bool) {
        let Some(flow) = self.0.get_mut(&at) else { return };
        match whole.strip_prefix(came) {
            Some(rest) => flow.text(rest),
            _ if is_given => {}
            _ => drop(self.0.remove(&at)),
        }
    }

    /// Those that are shown as rows of their own. A thought that is folded shows its first words only.
    fn within(&mut self, folds: Folds<'_>, stretch: Stretch) -> impl Iterator<Item = (usize, &mut Flow)> {
        let is_shown = move |at: usize, flow: &Flow| {
            (stretch.from..stretch.to).contains(&at) && (!flow.is_thought || folds.is_thinking_open(at))
        };
        self.0.iter_mut().filter(move |(at, flow)| is_shown(**at, flow)).map(|(at, flow)| (*at, flow))
    }
}

impl Streaming {
    /// Takes what came.
    pub(crate) fn take(&mut self, update: &Update) {
        match update {
            Update::TextStart { content_index } => self.text(*content_index, ""),
            Update::TextDelta { content_index, delta } => self.text(*content_index, delta),
            Update::ThinkingStart { content_index } => self.thinking(*content_index, ""),
            Update::ThinkingDelta { content_index, delta } => self.thinking(*content_index, delta),
            Update::ToolCallStart { content_index, id, tool_name } => {
                let call = Call { id: id.clone(), name: tool_name.clone(), arguments: String::new() };
                self.set(*content_index, Part::Call(call));
            }
            Update::ToolCallDelta { content_index, delta } => {
                if let Some(Part::Call(call)) = self.part(*content_index) {
                    call.arguments.push_str(delta);
                }
            }
            Update::ToolCallEnd { content_index, tool_call } => {
                if let Block::ToolCall { id, name, arguments, .. } = tool_call {
                    let call = Call { id: id.clone(), name: name.clone(), arguments: arguments.to_string() };
                    self.set(*content_index, Part::Call(call));
                }
            }
            // The end brings nothing that the pieces did not.
            Update::TextEnd { .. } | Update::ThinkingEnd { .. } => {}
        }
    }

    /// The answer is complete; `printed`: what of it stands elsewhere.
    pub(crate) fn complete(&mut self, answer: Answer, printed: Stretch) {
        let old = std::mem::replace(&mut self.answer, answer);
        for (at, part) in self.answer.parts.iter().enumerate() {
            let is_given = at < printed.from || (at == printed.from && printed.is_begun);
            match (old.parts.get(at), part) {
                (Some(Part::Text(came)), Part::Text(whole)) => {
                    self.streams.complete(at, came, whole.trim_start(), is_given);
                }
                (Some(Part::Thinking(came)), Part::Thinking(whole)) if came == whole => {}
                _ if is_given => {}
                _ => drop(self.streams.0.remove(&first_thought(&self.answer.parts, at))),
            }
        }
    }

    /// A part by its number. Blocks come in order; the place of one that was left out stays empty.
    fn part(&mut self, at: usize) -> Option<&mut Part> {
        let parts = &mut self.answer.parts;
        if at >= parts.len() {
            parts.resize(at.min(MAX_PARTS) + 1, Part::Text(String::new()));
        }
        parts.get_mut(at)
    }

    fn text(&mut self, at: usize, delta: &str) {
        let Some(part) = self.part(at) else { return };
        if !matches!(part, Part::Text(_)) {
            *part = Part::Text(String::new());
        }
        let Part::Text(text) = part else { return };
        // As the whole will be: without blanks at its beginning.
        text.push_str(if text.is_empty() { delta.trim_start() } else { delta });
        self.streams.0.entry(at).or_default().text(delta);
    }

    fn thinking(&mut self, at: usize, delta: &str) {
        match self.part(at) {
            Some(Part::Thinking(thought)) => thought.push_str(delta),
            Some(other) => *other = Part::Thinking(delta.to_owned()),
            None => {}
        }
        let first = first_thought(&self.answer.parts, at);
        self.streams.0.entry(first).or_default().thought(at, delta);
    }

    fn set(&mut self, at: usize, new: Part) {
        if let Some(part) = self.part(at) {
            *part = new;
        }
    }
}

/// The first of the thoughts that follow each other up to a part; the part itself if it is none.
pub(crate) fn first_thought(parts: &[Part], at: usize) -> usize {
    let is_thought = |at: usize| matches!(parts.get(at), Some(Part::Thinking(_)));
    let mut first = at;
    while first > 0 && is_thought(first) && is_thought(first - 1) {
        first -= 1;
    }
    first
}

/// What a tool has shown so far.
pub(crate) fn shown(call: &str, tool: &str, shown: &Shown, is_error: bool) -> ToolResult {
    let message = Message::ToolResult(ToolResultMessage {
        tool_call_id: call.to_owned(),
        tool_name: tool.to_owned(),
        content: shown.content.clone(),
        details: shown.details.clone(),
        is_error,
        timestamp: 0,
    });
    match item_of_live(&message) {
        Some(Item::Result(result)) => result,
        _ => ToolResult { call: call.to_owned(), tool: tool.to_owned(), is_error, ..ToolResult::default() },
    }
}
