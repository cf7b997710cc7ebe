//! What the decoders and builders of all wire formats share. Knows none of them.

use serde::Deserialize;
use serde_json::Value;

use super::classify::AnswerTrouble;
use super::draft::AnswerDraft;
use crate::message::StopReason;

/// Which of a request's tokens a cache held or got, in OpenAI's words.
#[derive(Deserialize)]
pub(super) struct CachedTokens {
    #[serde(default)]
    pub(super) cached_tokens: Option<u64>,
    #[serde(default)]
    pub(super) cache_write_tokens: Option<u64>,
}

/// What an event means for the answer as a whole.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    More,
    /// It was the last one.
    Complete(StopReason),
}

/// Turns the events of one wire format into an answer.
pub(super) trait Decoder: Send + Sync {
    /// Takes an event; the error is the provider's, or says what is wrong with the event.
    fn event(&mut self, name: &str, data: &str, draft: &mut AnswerDraft) -> Result<Next, AnswerTrouble>;

    /// The body has ended: how the answer ends, if it may end here.
    fn end(&mut self, draft: &mut AnswerDraft) -> Result<StopReason, AnswerTrouble>;
}

/// An event that is not what it should be.
pub(super) fn malformed(what: &str, error: &serde_json::Error, data: &str) -> AnswerTrouble {
    let shown: String = data.chars().take(400).collect();
    AnswerTrouble {
        text: format!("could not read an event of the {what} stream: {error}; data: {shown}"),
        ..AnswerTrouble::default()
    }
}

/// An error that came in the stream, in the provider's words.
pub(super) fn reported(text: impl Into<String>) -> AnswerTrouble {
    AnswerTrouble { text: text.into(), ..AnswerTrouble::default() }
}

/// The stream ended too early.
pub(super) fn cut_off(what: &str, missing: &str) -> AnswerTrouble {
    AnswerTrouble::lost(format!("{what} stream ended before {missing}"))
}

/// An object from its members, without those that are `None`.
pub(super) fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> serde_json::Map<String, Value> {
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
