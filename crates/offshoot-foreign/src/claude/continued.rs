//! The session that another one of Claude Code's goes on from: a compaction may begin a new file, and names the record before it, which is near
//! the end of the older file. Files that were written to at about that time are looked at, and of each its last stretch.

use std::path::Path;

use memchr::memmem;
use offshoot_session::clock::Millis;
use offshoot_session::json::Json;
use offshoot_session::medium::{Medium as _, Stamp, read_exact_at};

use crate::below::below;
use crate::foreign_medium::ForeignMedium;

/// So many files are looked at.
const MOST: usize = 16;
/// So many bytes at the end of each.
const TAIL: u64 = 1 << 20;

/// The id of the session beside this one that has a record with this uuid near its end.
pub(crate) fn continued_session(path: &Path, uuid: &str, at: Option<Millis>) -> Option<String> {
    let is_other = |file: &std::path::PathBuf| file != path && file.extension().is_some_and(|ending| ending == "jsonl");
    let files = below(path.parent()?, std::fs::FileType::is_file).into_iter().filter(is_other);
    let modified = |file: &Path| Stamp::of(&std::fs::symlink_metadata(file).ok()?).modified_at();
    let distance = |file: &Path| modified(file).unwrap_or_default().abs_diff(at.unwrap_or(Millis::MAX));
    let mut files: Vec<_> = files.map(|file| (distance(&file), file)).collect();
    files.sort();
    let found = files.into_iter().take(MOST).find(|(_, file)| has_near_end(file, uuid) == Some(true));
    Some(found?.1.file_stem()?.to_str()?.to_owned())
}

fn has_near_end(file: &Path, uuid: &str) -> Option<bool> {
    let medium = ForeignMedium::open(file).ok()?;
    let length = medium.len().ok()?;
    let from = length.saturating_sub(TAIL);
    let bytes = read_exact_at(&medium, from, usize::try_from(length - from).ok()?).ok()?;
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| memmem::find(line, uuid.as_bytes()).is_some());
    let is_it = |line: &[u8]| {
        let record = Json::parse(std::str::from_utf8(line).ok()?).ok()?;
        record.str("uuid").map(|own| own == uuid)
    };
    Some(lines.filter_map(is_it).any(|is_it| is_it))
}
