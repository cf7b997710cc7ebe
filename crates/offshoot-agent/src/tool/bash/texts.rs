//! What results say about a command: its output, what is left out of it, how it ended. Runs none.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::process::End;
use crate::tool::ToolOutcome;
use crate::tool::output::Snapshot;
use crate::tool::truncate::{self, Hit, MAX_BYTES, Truncation};

/// How long a command has taken, in milliseconds, if that is over a second.
pub(super) fn long(began: Instant) -> Option<u64> {
    u64::try_from(began.elapsed().as_millis()).ok().filter(|duration| *duration >= 1000)
}

pub(super) fn details(shown: &Snapshot, duration_ms: Option<u64>) -> Option<Value> {
    let mut details = Map::new();
    if shown.truncation.truncated {
        details.insert("truncation".to_owned(), json!(shown.truncation));
        if let Some(path) = &shown.path {
            details.insert("fullOutputPath".to_owned(), json!(path.display().to_string()));
        }
    }
    if let Some(duration) = duration_ms {
        details.insert("durationMs".to_owned(), json!(duration));
    }
    (!details.is_empty()).then_some(Value::Object(details))
}

pub(super) fn outcome(shown: &Snapshot, end: End, timeout: Option<Duration>) -> ToolOutcome {
    let status = match end {
        End::Exited(0) | End::Lingers(0) => None,
        End::Exited(code) | End::Lingers(code) => Some(format!("[exit code {code}]")),
        End::TimedOut => {
            let timeout = timeout.unwrap_or_default().as_secs_f64();
            let seconds = if timeout == 1.0 { "second" } else { "seconds" };
            Some(format!("[killed: it took longer than {timeout} {seconds}]"))
        }
    };
    let output = Some(shown.truncation.content.clone()).filter(|output| !output.is_empty());
    let output = output.or_else(|| (end != End::TimedOut).then(|| "(no output)".to_owned()));
    let is_error = status.is_some();
    let lingers = matches!(end, End::Lingers(_)).then(|| {
        "[something in the background goes on writing; from here on it is not read: send its output to a file]"
            .to_owned()
    });
    let parts: Vec<String> = [output, cut_note(shown), lingers, status].into_iter().flatten().collect();
    ToolOutcome { is_error, ..ToolOutcome::text(parts.join("\n\n")) }
}

pub(super) fn cut_note(shown: &Snapshot) -> Option<String> {
    let cut: &Truncation = &shown.truncation;
    let whole = match (&shown.path, &shown.lost) {
        (Some(path), Some(why)) => format!("its beginning is in {}, the rest is lost: {why}", path.display()),
        (Some(path), None) => format!("all of it is in {}", path.display()),
        (None, Some(why)) => format!("the rest is lost, for it could not be written to a file: {why}"),
        (None, None) => "the rest is lost".to_owned(),
    };
    let (end, all) = (cut.total_lines, cut.total_lines);
    let first = end + 1 - cut.output_lines.min(end);
    Some(match cut.truncated_by? {
        _ if cut.last_line_partial => {
            let (part, line) = (truncate::size(cut.output_bytes), truncate::size(shown.last_line));
            format!("[the last {part} of line {end}, which has {line}; {whole}]")
        }
        Hit::Lines => format!("[lines {first}-{end} of {all}; {whole}]"),
        Hit::Bytes => format!("[lines {first}-{end} of {all}, cut at {}; {whole}]", truncate::size(MAX_BYTES)),
    })
}
