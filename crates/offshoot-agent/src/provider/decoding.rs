//! Shared parts of the decoders and builders. Knows no wire format.

use std::borrow::Cow;
use std::collections::HashMap;

use offshoot_protocol::message::StopReason;
use serde::Deserialize;
use serde_json::Value;

use super::classify::AnswerTrouble;
use super::draft::AnswerDraft;

/// In OpenAI's words.
#[derive(Deserialize)]
pub(super) struct CachedTokens {
    #[serde(default)]
    pub(super) cached_tokens: Option<u64>,
    #[serde(default)]
    pub(super) cache_write_tokens: Option<u64>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Next {
    More,
    Complete(StopReason),
}

pub(super) trait Decoder: Send + Sync {
    /// The error is the provider's, or describes an invalid event.
    fn event(&mut self, name: &str, data: &str, draft: &mut AnswerDraft) -> Result<Next, AnswerTrouble>;

    /// The body has ended: the stop reason, or an error if the answer is incomplete.
    fn end(&mut self, draft: &mut AnswerDraft) -> Result<StopReason, AnswerTrouble>;
}

/// The blocks that a provider has begun, by its own indices.
#[derive(Debug, Default)]
pub(super) struct BegunBlocks(HashMap<u64, Option<usize>>);

impl BegunBlocks {
    /// `place` is the block's index in the answer; `None` for a kind that the answer leaves out.
    pub(super) fn begin(&mut self, index: u64, place: Option<usize>) {
        self.0.insert(index, place);
    }

    /// Fails for a block that never began.
    pub(super) fn find(&self, what: &str, index: u64) -> Result<Option<usize>, AnswerTrouble> {
        let never = || reported(format!("the {what} stream continues block {index}, which never began"));
        self.0.get(&index).copied().ok_or_else(never)
    }
}

pub(super) fn malformed(what: &str, error: &serde_json::Error, data: &str) -> AnswerTrouble {
    let shown: String = data.chars().take(400).collect();
    AnswerTrouble {
        text: format!("could not read an event of the {what} stream: {error}; data: {shown}"),
        is_damage: true,
        ..AnswerTrouble::default()
    }
}

pub(super) fn reported(text: impl Into<String>) -> AnswerTrouble {
    AnswerTrouble { text: text.into(), ..AnswerTrouble::default() }
}

pub(super) fn cut_off(what: &str, missing: &str) -> AnswerTrouble {
    AnswerTrouble::lost(format!("the answer broke off: the {what} stream ended before {missing}"))
}

/// The text of arguments that may come as a value.
pub(super) fn arguments_text(value: Option<&Value>) -> Cow<'_, str> {
    match value {
        None | Some(Value::Null) => Cow::Borrowed(""),
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(Value::Object(members)) if members.is_empty() => Cow::Borrowed(""),
        Some(value) => Cow::Owned(value.to_string()),
    }
}

/// A text, or the texts of a list of parts.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// An object without the members that are `None`.
pub(super) fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> serde_json::Map<String, Value> {
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
