//! The words of notices in a conversation. Knows no block.

use offshoot_protocol::Reason;
use offshoot_session::error::Code;

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
