//! An answer that is streaming or waits for its tools. Agent events become the same data that sessions contain. A
//! result belongs only to the answer that made the call.

use std::sync::Arc;

use super::ConversationBlock;
use crate::message::{MessageTime, item_of_live};
use offshoot_protocol::Update;
use offshoot_protocol::message::{Block, Message, ToolResultMessage};
use offshoot_session::clock::Millis;
use offshoot_session::transcript::{Answer, Item, ItemPart, ToolCall, ToolResult};

/// Parts with a larger number are ignored.
const MAX_PARTS: usize = 10_000;

/// An answer that is under way.
#[derive(Debug)]
pub(crate) struct LiveAnswer {
    block: ConversationBlock,
    progress: AnswerProgress,
    /// The id of the model that answers; empty if nobody named it.
    pub(super) model: String,
    reported: u64,
    characters: u64,
    /// The number of shown entries before the answer in the session, once it is recorded.
    pub(super) entries_before: Option<usize>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct AnswerProgress {
    pub(crate) id: u64,
    pub(crate) is_complete: bool,
    /// The parts that do not begin with their streamed text.
    pub(crate) replaced: Vec<usize>,
}

impl LiveAnswer {
    pub(super) fn new(id: u64, time: MessageTime) -> Self {
        let block = ConversationBlock { time: Some(time), ..ConversationBlock::new(Item::Answer(Answer::default())) };
        let progress = AnswerProgress { id, ..AnswerProgress::default() };
        Self { block, progress, model: String::new(), reported: 0, characters: 0, entries_before: None }
    }

    pub(crate) fn block(&self) -> &ConversationBlock {
        &self.block
    }

    pub(crate) fn progress(&self) -> &AnswerProgress {
        &self.progress
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.progress.is_complete
    }

    pub(crate) fn model(&self) -> Option<&str> {
        Some(self.model.as_str()).filter(|model| !model.is_empty())
    }

    /// Whether this part is a call that is running or waiting.
    pub(crate) fn is_open(&self, part: &ItemPart) -> bool {
        match part {
            ItemPart::Call(call) => {
                let result = self.block.results.iter().find(|result| result.call == call.id);
                !self.is_complete() || result.is_none_or(|result| result.is_partial)
            }
            ItemPart::Text(_) | ItemPart::Thinking(_) | ItemPart::Picture(_) | ItemPart::Other(_) => false,
        }
    }

    /// Whether the answer and all its tools are complete.
    pub(super) fn is_done(&self) -> bool {
        self.is_complete() && !self.block.parts().iter().any(|part| self.is_open(part))
    }

    pub(super) fn has_call(&self, id: &str) -> bool {
        self.block.has_call(id)
    }

    /// Adds the result of a tool, or replaces its earlier result.
    pub(super) fn put(&mut self, result: ToolResult) {
        let results = &mut self.block.results;
        match results.iter_mut().find(|known| known.call == result.call) {
            Some(known) => *known = Arc::new(result),
            None => results.push(Arc::new(result)),
        }
    }

    /// The number of tokens so far: as the provider reports it, or a quarter of the characters if that is more. Some
    /// providers report 1 until the end.
    pub(crate) fn tokens(&self) -> u64 {
        self.reported.max(self.characters / 4)
    }

    /// Applies an update, and the number of tokens that the provider reported.
    pub(super) fn update(&mut self, update: &Update, reported: u64) {
        self.reported = self.reported.max(reported);
        if let Update::TextDelta { delta, .. }
        | Update::ThinkingDelta { delta, .. }
        | Update::ToolCallDelta { delta, .. } = update
        {
            self.characters += delta.chars().count() as u64;
        }
        match update {
            Update::TextStart { content_index } => self.add_text(*content_index, ""),
            Update::TextDelta { content_index, delta } => self.add_text(*content_index, delta),
            Update::ThinkingStart { content_index } => self.add_thought(*content_index, ""),
            Update::ThinkingDelta { content_index, delta } => self.add_thought(*content_index, delta),
            Update::ToolCallStart { content_index, id, tool_name } => {
                let call = ToolCall { id: id.clone(), name: tool_name.clone(), ..ToolCall::default() };
                self.set(*content_index, ItemPart::Call(call));
            }
            Update::ToolCallDelta { content_index, delta } => {
                if let Some(ItemPart::Call(call)) = self.part(*content_index) {
                    call.arguments.push_str(delta);
                }
            }
            Update::ToolCallEnd { content_index, tool_call } => {
                if let Block::ToolCall { id, name, arguments, arguments_error, .. } = tool_call {
                    let call = ToolCall {
                        id: id.clone(),
                        name: name.clone(),
                        arguments: arguments.to_string(),
                        arguments_error: arguments_error.clone().unwrap_or_default(),
                    };
                    self.set(*content_index, ItemPart::Call(call));
                }
            }
            // The end event has no new text.
            Update::TextEnd { .. } | Update::ThinkingEnd { .. } => {}
        }
    }

    /// Takes the whole answer, which is recorded now.
    pub(super) fn complete(&mut self, answer: Answer, now: Millis) {
        let is_replaced = |(at, part): &(usize, &ItemPart)| match (part, answer.parts.get(*at)) {
            (ItemPart::Text(came), Some(ItemPart::Text(whole))) => !whole.trim_start().starts_with(came.as_str()),
            (ItemPart::Thinking(came), Some(ItemPart::Thinking(whole))) => !whole.starts_with(came.as_str()),
            (ItemPart::Text(came) | ItemPart::Thinking(came), _) => !came.is_empty(),
            (ItemPart::Call(_) | ItemPart::Picture(_) | ItemPart::Other(_), _) => false,
        };
        let parts = self.block.parts().iter().enumerate();
        self.progress.replaced = parts.filter(is_replaced).map(|(at, _)| at).collect();
        self.progress.is_complete = true;
        self.block.time.iter_mut().for_each(|time| time.at = now);
        self.block.item = Item::Answer(answer);
    }

    pub(super) fn finish(self) -> (ConversationBlock, AnswerProgress) {
        (self.block, self.progress)
    }

    /// The part with this number. Parts come in order; a missing part stays empty.
    fn part(&mut self, at: usize) -> Option<&mut ItemPart> {
        let Item::Answer(Answer { parts, .. }) = &mut self.block.item else { return None };
        if at >= parts.len() {
            parts.resize(at.min(MAX_PARTS) + 1, ItemPart::Text(String::new()));
        }
        parts.get_mut(at)
    }

    fn add_text(&mut self, at: usize, delta: &str) {
        match self.part(at) {
            // Like the complete text, the part has no blanks at its beginning.
            Some(ItemPart::Text(text)) => text.push_str(if text.is_empty() { delta.trim_start() } else { delta }),
            Some(other) => *other = ItemPart::Text(delta.trim_start().to_owned()),
            None => {}
        }
    }

    fn add_thought(&mut self, at: usize, delta: &str) {
        match self.part(at) {
            Some(ItemPart::Thinking(thought)) => thought.push_str(delta),
            Some(other) => *other = ItemPart::Thinking(delta.to_owned()),
            None => {}
        }
    }

    fn set(&mut self, at: usize, new: ItemPart) {
        if let Some(part) = self.part(at) {
            *part = new;
        }
    }
}

/// The shown form of a tool's result.
pub(super) fn tool_result(result: &Arc<ToolResultMessage>) -> ToolResult {
    match item_of_live(&Message::ToolResult(Arc::clone(result))) {
        Some(Item::Result(shown)) => shown,
        _ => {
            let (call, tool) = (result.tool_call_id.clone(), result.tool_name.clone());
            ToolResult { call, tool, is_error: result.is_error, ..ToolResult::default() }
        }
    }
}
