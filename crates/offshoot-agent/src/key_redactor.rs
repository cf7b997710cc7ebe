//! Removes keys from texts before they are shown, stored or sent: what tools and commands print (`env`, a settings
//! file), prompts, instructions, answers.

mod answer;

use std::sync::Arc;

use offshoot_protocol::message::{Block, Content, Message};
use serde_json::Value;

use crate::key_source::KeySource;
use crate::provider::Request;
use crate::tool::ToolOutcome;
pub(crate) use answer::AnswerRedactor;
use offshoot_protocol::{Secret, Secrets};

#[derive(Clone, Default)]
pub(crate) struct KeyRedactor(Secrets);

impl KeyRedactor {
    /// Removes every key that the source knows, and the one in use.
    pub(crate) fn of(source: &dyn KeySource, key: Option<Secret>) -> Self {
        Self(Secrets::new(source.known().into_iter().chain(key)))
    }

    pub(crate) fn keys(&self) -> Secrets {
        self.0.clone()
    }

    pub(crate) fn redact_text(&self, text: String) -> String {
        self.0.masked(&text).unwrap_or(text)
    }

    pub(crate) fn redact_request(&self, request: &mut Request) {
        self.redact_in(&mut request.system);
        if !self.0.is_empty() {
            request.messages.iter_mut().for_each(|message| self.redact_message(message));
        }
    }

    /// Messages are shared: those without a key stay as they are.
    fn redact_message(&self, message: &mut Message) {
        match message {
            Message::User(user) if self.says_key(&user.content) => {
                self.redact_content(&mut Arc::make_mut(user).content);
            }
            Message::Custom(custom) if self.says_key(&custom.content) => {
                self.redact_content(&mut Arc::make_mut(custom).content);
            }
            Message::Assistant(answer) if self.has_key(&answer.content) => {
                self.redact_blocks(&mut Arc::make_mut(answer).content);
            }
            Message::ToolResult(result) if self.has_key(&result.content) => {
                self.redact_blocks(&mut Arc::make_mut(result).content);
            }
            Message::User(_) | Message::Custom(_) | Message::Assistant(_) | Message::ToolResult(_) => {}
        }
    }

    pub(crate) fn redact_said(&self, content: &mut Content) {
        if self.says_key(content) {
            self.redact_content(content);
        }
    }

    fn says_key(&self, content: &Content) -> bool {
        match content {
            Content::Text(text) => self.0.masked(text).is_some(),
            Content::Blocks(blocks) => self.has_key(blocks),
        }
    }

    fn redact_content(&self, content: &mut Content) {
        match content {
            Content::Text(text) => drop(self.redact_in(text)),
            Content::Blocks(blocks) => self.redact_blocks(blocks),
        }
    }

    fn has_key(&self, blocks: &[Block]) -> bool {
        blocks.iter().any(|block| match block {
            Block::Text { text, .. } | Block::Thinking { thinking: text, .. } => self.0.masked(text).is_some(),
            Block::ToolCall { arguments, .. } => self.redact_value(&mut arguments.clone()),
            Block::Image { .. } => false,
        })
    }

    pub(crate) fn redact_blocks(&self, blocks: &mut [Block]) {
        for block in blocks {
            match block {
                Block::Text { text, .. } => _ = self.redact_in(text),
                // A signature is for the thought as it was.
                Block::Thinking { thinking, thinking_signature, .. } => {
                    if self.redact_in(thinking) {
                        *thinking_signature = None;
                    }
                }
                Block::ToolCall { arguments, .. } => _ = self.redact_value(arguments),
                Block::Image { .. } => {}
            }
        }
    }

    pub(crate) fn redact(&self, mut outcome: ToolOutcome) -> ToolOutcome {
        self.redact_blocks(&mut outcome.content);
        for value in outcome.details.iter_mut().chain(outcome.nested_calls.as_deref_mut()) {
            self.redact_value(value);
        }
        outcome
    }

    fn redact_in(&self, text: &mut String) -> bool {
        let masked = self.0.masked(text);
        let is_masked = masked.is_some();
        if let Some(masked) = masked {
            *text = masked;
        }
        is_masked
    }

    /// Masks every text but the names of members; returns whether there was a key.
    pub(crate) fn redact_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => self.redact_in(text),
            Value::Array(values) => values.iter_mut().fold(false, |any, value| self.redact_value(value) | any),
            Value::Object(members) => members.values_mut().fold(false, |any, value| self.redact_value(value) | any),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offshoot_protocol::MASK;
    use serde_json::json;

    #[test]
    fn keys_are_covered_and_words_are_not() {
        let key = "sk-0123456789-0123456789";
        let shown = || ToolOutcome {
            details: Some(json!({"all": [{"content": format!("KEY={key}")}], "lines": 3})),
            ..ToolOutcome::text(format!("KEY={key}\nollama"))
        };
        let redactor = |keys: &[&str]| KeyRedactor(Secrets::new(keys.iter().copied().map(Secret::new)));
        let covered = redactor(&["AIza-9876543210-9876543210", key]).redact(shown());
        assert_eq!(covered.content, ToolOutcome::text(format!("KEY={MASK}\nollama")).content);
        assert_eq!(covered.details, Some(json!({"all": [{"content": format!("KEY={MASK}")}], "lines": 3})));
        assert_eq!(redactor(&["ollama"]).redact(shown()), shown());
    }
}
