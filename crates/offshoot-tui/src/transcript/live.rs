//! An answer while it comes in, and tools while they run: from the agent's events to the same data that sessions give.

use std::collections::HashMap;

use offshoot_agent::event::{Shown, Update};
use offshoot_agent::message::{Block, Message, ToolResultMessage};
use ratatui::text::Line;

use crate::markdown::{Sheet, Stream};
use crate::message::{Answer, Call, Item, Part, ToolResult};

/// A block with a larger number is none that anybody could see.
const MAX_PARTS: usize = 10_000;

/// An answer that is not complete.
#[derive(Debug, Default)]
pub(crate) struct Streaming {
    pub(crate) answer: Answer,
    /// The texts of the answer as rows, by part.
    streams: HashMap<usize, Stream>,
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

    /// The rows of a text of the answer.
    pub(crate) fn rows(&mut self, sheet: &Sheet<'_>) -> HashMap<usize, Vec<Line<'static>>> {
        let row = |(at, stream): (&usize, &mut Stream)| {
            stream.lay_out(sheet);
            (*at, [stream.settled(), stream.open()].concat())
        };
        self.streams.iter_mut().map(row).collect()
    }

    /// Whether rows of a text were taken away.
    pub(super) fn is_taken(&self) -> bool {
        self.streams.values().any(|stream| stream.taken() > 0)
    }

    /// The text of a part that comes in.
    pub(super) fn stream(&mut self, at: usize) -> Option<&mut Stream> {
        self.streams.get_mut(&at)
    }

    /// Takes back all rows that were taken away.
    pub(super) fn untake(&mut self) {
        self.streams.values_mut().for_each(Stream::untake);
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
        let new = if text.trim_start().is_empty() { delta.trim_start() } else { delta };
        text.push_str(new);
        self.streams.entry(at).or_default().push(new);
    }

    fn thinking(&mut self, at: usize, delta: &str) {
        match self.part(at) {
            Some(Part::Thinking(thought)) => thought.push_str(delta),
            Some(other) => *other = Part::Thinking(delta.to_owned()),
            None => {}
        }
    }

    fn set(&mut self, at: usize, new: Part) {
        if let Some(part) = self.part(at) {
            *part = new;
        }
    }
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
    match Item::of_live(&message) {
        Some(Item::Result(result)) => result,
        _ => ToolResult { call: call.to_owned(), tool: tool.to_owned(), is_error, ..ToolResult::default() },
    }
}
