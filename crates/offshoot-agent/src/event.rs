//! Events that are made in several places of the agent, and their words.

use offshoot_protocol::{AgentError, Event, NoticeCode, SessionChangeReason};
use offshoot_session::clock::{Millis, took};
use offshoot_session::error::Diagnostic;
use offshoot_session::session::Session;

/// When a failed request is sent again, in words.
#[must_use]
pub fn retry_words(delay_ms: u64, attempt: u32, max_attempts: u32) -> String {
    let time = match delay_ms {
        ..60_000 => format!("{} s", delay_ms.div_ceil(1000)),
        _ => took(Millis::try_from(delay_ms).unwrap_or(Millis::MAX)).unwrap_or_default(),
    };
    format!("next try in {time} ({attempt} of {max_attempts})")
}

/// What became known about the file of a session.
pub(crate) fn notice(told: &Diagnostic) -> Event {
    let entry_id = told.entry.as_ref().map(|id| id.as_str().to_owned());
    Event::Notice { code: NoticeCode::File(told.code.as_str()), message: told.message.clone(), entry_id }
}

/// Another entry of the same session is current now.
pub(crate) fn moved(session: &Session, grown_from: Option<String>) -> Event {
    Event::SessionChanged {
        reason: SessionChangeReason::Tree,
        session_id: session.id().to_owned(),
        session_file: session.file().map(|file| file.display().to_string()),
        leaf_id: session.leaf_id().map(|leaf| leaf.as_str().to_owned()),
        grown_from,
    }
}

/// Something beside the conversation could not be written. It is tried again with the next prompt.
pub(crate) fn not_recorded(what: &str, error: &AgentError) -> Event {
    let later = if error.is_kept() { "" } else { "; the next prompt tries again" };
    Event::Notice {
        code: NoticeCode::NotRecorded,
        message: format!("{what} is not recorded yet: {error}{later}"),
        entry_id: None,
    }
}
