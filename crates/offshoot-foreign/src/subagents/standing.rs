//! How the records of a subagent end, and when they were last written to. Knows no tree.

use std::path::Path;

use offshoot_session::clock::Millis;
use offshoot_session::json::Json;
use offshoot_session::medium::{Medium as _, Stamp, read_exact_at};

use crate::agent::Agent;
use crate::kept_copy::KeptSource;
use crate::sources::medium_of;
use crate::subagent_status::SubagentStatus;

/// So many bytes at the end of a transcript are looked at.
const TAIL: u64 = 256 << 10;

/// When a file was last written to. What is read from a copy is not being written.
pub(super) fn written_at(file: &Path) -> Option<Millis> {
    if KeptSource::at(file).is_some() {
        return None;
    }
    Stamp::of(&std::fs::symlink_metadata(file).ok()?).modified_at()
}

/// How a transcript of Claude Code ends; `None` if it ends in the middle.
pub(super) fn end_of_transcript(file: &Path) -> Option<SubagentStatus> {
    let medium = medium_of(Agent::Claude, file).ok()?;
    let length = medium.len().ok()?;
    let from = length.saturating_sub(TAIL);
    let bytes = read_exact_at(&medium, from, usize::try_from(length - from).ok()?).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    // The first line of a piece is the end of one.
    let lines = text.lines().skip(usize::from(from > 0)).collect::<Vec<_>>();
    lines.into_iter().rev().find_map(said_in).flatten()
}

/// What the last record of the conversation says; `None` of another record.
fn said_in(line: &str) -> Option<Option<SubagentStatus>> {
    let record = Json::parse(line).ok()?;
    let message = record.get("message")?;
    let is_error = record.get("isApiErrorMessage").and_then(Json::as_bool) == Some(true);
    Some(match record.str("type")?.as_ref() {
        "assistant" if is_error => Some(SubagentStatus::Failed),
        "assistant" => {
            let is_ended = message.str("stop_reason").is_some_and(|stop| stop == "end_turn" || stop == "stop_sequence");
            is_ended.then_some(SubagentStatus::Completed)
        }
        "user" => {
            let content = message.get("content").unwrap_or(Json::NULL);
            let text = content.as_str().or_else(|| content.items().find_map(|block| block.str("text")));
            let is_stopped = text.is_some_and(|text| text.starts_with("[Request interrupted by user"));
            is_stopped.then_some(SubagentStatus::Aborted)
        }
        _ => return None,
    })
}
