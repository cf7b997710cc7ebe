//! A streaming answer: growing blocks, and a delta for each step. Knows no wire format.

use std::sync::Arc;

use offshoot_protocol::message::{AssistantMessage, Block, StopReason, Usage};
use offshoot_protocol::model::Model;
use serde_json::{Map, Value};

use super::classify::AnswerTrouble;
use super::{Answer, Delta};
use crate::call_arguments;
use crate::lenient_json::unfinished;
use crate::recorded_calls::own_id;

#[derive(Debug)]
pub(super) struct AnswerDraft {
    model: Arc<Model>,
    message: AssistantMessage,
    parts: Vec<DraftPart>,
    /// What is wrong with the first event that could not be read, and how many there were.
    damage: Option<(AnswerTrouble, usize)>,
    deltas: Vec<Delta>,
}

/// A stream with more events that cannot be read is not one with a damaged line.
const MAX_LOST_EVENTS: usize = 8;

/// What a block has besides its content.
#[derive(Debug, Default)]
struct DraftPart {
    is_ended: bool,
    /// The text of a call's arguments.
    arguments: String,
    /// Arguments that came with the start of a call; they count if no others follow.
    first_arguments: String,
    /// Whether no text of arguments means that the text was lost.
    must_have_arguments: bool,
    /// Whether an event was lost in which the text may have been.
    has_lost_event: bool,
}

impl DraftPart {
    fn text(&self) -> &str {
        if self.arguments.is_empty() { &self.first_arguments } else { &self.arguments }
    }

    fn arguments(&self) -> Result<Map<String, Value>, String> {
        if self.must_have_arguments && self.text().is_empty() {
            return Err("the answer ended before its arguments came, at character 0 of 0".to_owned());
        }
        if self.has_lost_event {
            let what =
                "an event of the stream could not be read while the arguments came, and may have been part of them";
            let characters = self.text().chars().count();
            return Err(call_arguments::describe(
                &format!("{what}, at character {characters} at the latest"),
                self.text(),
            ));
        }
        call_arguments::parse(self.text())
    }
}

/// An answer that came from elsewhere than a wire format; the words of a failed one decide what follows.
pub fn answer_of(message: AssistantMessage) -> Answer {
    let text = message.error_message.clone().unwrap_or_default();
    let is_failed = message.stop_reason == StopReason::Error;
    let failure = is_failed.then(|| AnswerTrouble { text, ..AnswerTrouble::default() }.failure_of(&message.provider));
    Answer { message, failure }
}

/// An answer that failed before anything of it came.
pub fn failed_answer(model: &Model, timestamp: i64, why: String) -> Answer {
    let message =
        AssistantMessage { stop_reason: StopReason::Error, error_message: Some(why), ..model.blank_answer(timestamp) };
    answer_of(message)
}

impl AnswerDraft {
    pub(super) fn new(model: Arc<Model>, timestamp: i64) -> Self {
        let message = AssistantMessage { stop_reason: StopReason::Error, ..model.blank_answer(timestamp) };
        Self { model, message, parts: Vec::new(), damage: None, deltas: Vec::new() }
    }

    pub(super) fn take(&mut self) -> Vec<Delta> {
        std::mem::take(&mut self.deltas)
    }

    pub(super) fn start(&mut self) {
        self.deltas.push(Delta::Start);
    }

    /// The first id stays.
    pub(super) fn response_id(&mut self, id: &str) {
        if self.message.response_id.is_none() && !id.is_empty() {
            self.message.response_id = Some(id.to_owned());
        }
    }

    pub(super) fn block(&self, index: usize) -> Option<&Block> {
        self.message.content.get(index)
    }

    pub(super) fn block_mut(&mut self, index: usize) -> Option<&mut Block> {
        self.message.content.get_mut(index)
    }

    pub(super) fn has_calls(&self) -> bool {
        self.message.content.iter().any(|block| matches!(block, Block::ToolCall { .. }))
    }

    pub(super) fn len(&self) -> usize {
        self.message.content.len()
    }

    fn add(&mut self, block: Block) -> usize {
        self.message.content.push(block);
        self.parts.push(DraftPart::default());
        self.message.content.len() - 1
    }

    pub(super) fn text_start(&mut self) -> usize {
        let index = self.add(Block::Text { text: String::new(), text_signature: None });
        self.deltas.push(Delta::TextStart { index });
        index
    }

    pub(super) fn thinking_start(&mut self) -> usize {
        let index = self.add(Block::Thinking { thinking: String::new(), thinking_signature: None, redacted: None });
        self.deltas.push(Delta::ThinkingStart { index });
        index
    }

    /// A missing or repeated id is replaced by one that is unique in the answer.
    pub(super) fn call_start(&mut self, id: &str, name: &str) -> usize {
        let id = own_id(id, &self.message.content, self.message.timestamp);
        let index = self.add(Block::call(id.clone(), name));
        self.deltas.push(Delta::ToolCallStart { index, id, name: name.to_owned() });
        index
    }

    /// The id or the name of a call came after its start.
    pub(super) fn name_call(&mut self, index: usize, late_id: Option<&str>, late_name: &str) {
        let id = late_id.map(|id| own_id(id, &self.message.content, self.message.timestamp));
        if let Some(Block::ToolCall { id: known_id, name, .. }) = self.message.content.get_mut(index) {
            if let Some(id) = id {
                *known_id = id;
            }
            if name.is_empty() {
                late_name.clone_into(name);
            }
        }
    }

    pub(super) fn more(&mut self, index: usize, delta: &str) {
        let (Some(block), Some(part)) = (self.message.content.get_mut(index), self.parts.get_mut(index)) else {
            return;
        };
        if delta.is_empty() || part.is_ended {
            return;
        }
        let owned = delta.to_owned();
        self.deltas.push(match block {
            Block::Text { text, .. } => {
                text.push_str(delta);
                Delta::Text { index, delta: owned }
            }
            Block::Thinking { thinking, .. } => {
                thinking.push_str(delta);
                Delta::Thinking { index, delta: owned }
            }
            Block::ToolCall { .. } => {
                part.arguments.push_str(delta);
                Delta::ToolCall { index, delta: owned }
            }
            Block::Image { .. } => return,
        });
    }

    pub(super) fn arguments(&self, index: usize) -> &str {
        self.parts.get(index).map_or("", |part| part.text())
    }

    /// Arguments that came with the start of a call, without a delta.
    pub(super) fn first_arguments(&mut self, index: usize, text: &str) {
        if let Some(part) = self.parts.get_mut(index) {
            text.clone_into(&mut part.first_arguments);
        }
    }

    /// A call without any text of arguments is cut, not empty.
    pub(super) fn must_have_arguments(&mut self, index: usize) {
        if let Some(part) = self.parts.get_mut(index) {
            part.must_have_arguments = true;
        }
    }

    /// Replaces the arguments' text of a call, without a delta.
    pub(super) fn set_arguments(&mut self, index: usize, text: &str) {
        if let Some(part) = self.parts.get_mut(index) {
            text.clone_into(&mut part.arguments);
            part.first_arguments.clear();
            part.must_have_arguments = false;
            part.has_lost_event = false;
        }
    }

    /// Completes a block; idempotent.
    pub(super) fn end(&mut self, index: usize) {
        let (Some(block), Some(part)) = (self.message.content.get_mut(index), self.parts.get_mut(index)) else {
            return;
        };
        if std::mem::replace(&mut part.is_ended, true) {
            return;
        }
        self.deltas.push(match block {
            Block::Text { .. } => Delta::TextEnd { index },
            Block::Thinking { .. } => Delta::ThinkingEnd { index },
            Block::ToolCall { arguments, arguments_error, .. } => {
                match part.arguments() {
                    Ok(whole) => *arguments = Value::Object(whole),
                    Err(error) => *arguments_error = Some(error),
                }
                Delta::ToolCallEnd { index }
            }
            Block::Image { .. } => return,
        });
    }

    pub(super) fn usage(&self) -> Usage {
        self.message.usage
    }

    /// The cost follows from the model's price.
    pub(super) fn set_usage(&mut self, usage: Usage) {
        self.set_billed_usage(usage, None);
    }

    /// The same where the provider may have told the whole cost.
    pub(super) fn set_billed_usage(&mut self, usage: Usage, billed: Option<f64>) {
        let mut usage = Usage { cost: self.model.cost(&usage), ..usage };
        usage.cost.total = billed.unwrap_or(usage.cost.total);
        if std::mem::replace(&mut self.message.usage, usage) != usage {
            self.deltas.push(Delta::Usage(usage));
        }
    }

    pub(super) fn can_lose_event(&self) -> bool {
        self.damage.as_ref().is_none_or(|(_, count)| *count < MAX_LOST_EVENTS)
    }

    /// An event could not be read: the answer goes on without it, but its open calls may lack a part.
    pub(super) fn lose_event(&mut self, trouble: AnswerTrouble) {
        self.parts.iter_mut().filter(|part| !part.is_ended).for_each(|part| part.has_lost_event = true);
        self.deltas.push(Delta::LostEvent { what: trouble.text.clone() });
        self.damage.get_or_insert((trouble, 0)).1 += 1;
    }

    /// Completes the answer; one of which nothing came but damage has failed.
    pub(super) fn complete(&mut self, stop: StopReason) {
        if let (true, Some((damage, _))) = (self.message.content.is_empty(), self.damage.take()) {
            return self.fail(&damage);
        }
        for index in 0..self.message.content.len() {
            self.end(index);
        }
        self.message.stop_reason = stop;
        self.done(None);
    }

    /// The content so far stays. An incomplete call keeps what can be read of its arguments: it is never run or sent.
    pub(super) fn fail(&mut self, trouble: &AnswerTrouble) {
        // What could not be read explains what is missing.
        let damage = self.damage.take().map(|(damage, _)| damage).filter(|_| trouble.is_lost);
        let trouble = damage.as_ref().unwrap_or(trouble);
        for (block, part) in self.message.content.iter_mut().zip(&self.parts) {
            if let (Block::ToolCall { arguments, arguments_error, .. }, false) = (block, part.is_ended)
                && let Err(error) = part.arguments().map(|whole| *arguments = Value::Object(whole))
            {
                *arguments_error = Some(error);
                *arguments = unfinished(part.text()).filter(Value::is_object).unwrap_or_else(|| arguments.clone());
            }
        }
        self.message.stop_reason = StopReason::Error;
        self.message.error_message = Some(trouble.text.clone());
        self.done(Some(trouble));
    }

    fn done(&mut self, trouble: Option<&AnswerTrouble>) {
        let failure = trouble.map(|trouble| trouble.failure_of(&self.model.provider));
        self.deltas.push(Delta::Done(Box::new(Answer { message: self.message.clone(), failure })));
    }
}
