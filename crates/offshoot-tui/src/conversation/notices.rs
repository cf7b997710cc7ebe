//! The words of notices in a conversation. Knows no block.

use offshoot_protocol::{CompactionResult, Event, Reason};
use offshoot_session::error::Code;
use offshoot_session::transcript::{Level, error_words};

/// A summary was made by rules, and why.
pub(crate) fn without_model(why: &str) -> String {
    format!("the summary was put together without a model: {why}")
}

/// The text of a notice, with the command that switches to another program's branch.
pub(super) fn notice_words(code: &str, message: &str, entry: Option<&str>) -> String {
    match entry {
        Some(entry) if [Code::Diverged, Code::UnansweredPrompt].iter().any(|known| code == known.as_str()) => {
            format!("{message}; /switch {entry} goes there")
        }
        Some(_) | None => message.to_owned(),
    }
}

/// What a compaction does, while it goes on.
pub(super) fn compaction_words(reason: Reason) -> &'static str {
    match reason {
        Reason::Manual => "summarising",
        Reason::Threshold => "summarising: the context is nearly full",
        Reason::Overflow => "summarising: the context is full",
    }
}

/// How a compaction ended, if that is worth a notice.
pub(super) fn compaction_end_words(
    result: Option<&CompactionResult>,
    why: Option<&str>,
    aborted: bool,
) -> Option<(Level, String)> {
    match (result, why) {
        _ if aborted => Some((Level::Info, "the compaction was stopped; nothing has changed".to_owned())),
        (Some(_), Some(why)) => Some((Level::Warning, without_model(why))),
        (None, Some(why)) => Some((Level::Warning, format!("nothing was compacted: {why}"))),
        (_, None) => None,
    }
}

/// The new name of the session.
pub(super) fn name_words(name: Option<&str>) -> String {
    name.map_or_else(|| "the session has no name now".to_owned(), |name| format!("named {name}"))
}

/// Retries that have ended without an answer.
#[derive(Debug)]
pub(super) struct EndedRetries {
    pub(super) attempt: u32,
    pub(super) error: String,
}

impl EndedRetries {
    /// Says why nothing is retried any more. The next event tells whether the user stopped the retries.
    pub(super) fn words(self, next: &Event) -> (Level, String) {
        if matches!(next, Event::AgentSettled { aborted: true }) {
            return (Level::Info, "stopped by you: the request is not sent again".to_owned());
        }
        let Self { attempt, error } = self;
        (Level::Error, format!("given up after attempt {attempt}: {}", error_words(&error)))
    }
}
