//! Transcripts of older versions of Cursor CLI: plain text, in which lines say who speaks. Each stretch is a record with all of its bytes.

use std::io;
use std::path::Path;

use offshoot_session::json::Object;
use offshoot_session::medium::read_regular_text;

/// A longer transcript is not read.
const LONGEST: u64 = 64 << 20;

/// Whether a path is that of such a transcript.
pub(crate) fn is_text(path: &Path) -> bool {
    let is_in_folder =
        path.ancestors().any(|folder| folder.file_name().is_some_and(|name| name == "agent-transcripts"));
    is_in_folder && path.extension().is_some_and(|extension| extension == "txt")
}

/// Its records.
///
/// # Errors
/// It cannot be read.
pub(crate) fn records_of(path: &Path) -> io::Result<Vec<u8>> {
    Ok(records(&read_regular_text(path, LONGEST)?).into_bytes())
}

/// The records of a text.
pub(crate) fn records(text: &str) -> String {
    let mut records = String::new();
    let mut open: Option<(&str, String)> = None;
    let mut close = |open: Option<(&str, String)>| {
        if let Some((role, text)) = open {
            records += &(Object::new().str("role", role).str("text", &text).finish() + "\n");
        }
    };
    for line in text.split_inclusive('\n') {
        let role = match line.trim_end() {
            "user:" => Some("user"),
            "assistant:" => Some("assistant"),
            _ => None,
        };
        match (role, &mut open) {
            (None, Some((_, text))) => text.push_str(line),
            (None, None) => open = Some(("before", line.to_owned())),
            (Some(role), _) => {
                close(open.take());
                open = Some((role, line.to_owned()));
            }
        }
    }
    close(open);
    records
}

/// What is said in a stretch, without the line that says who speaks.
pub(super) fn said(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, rest)| rest).trim()
}
