//! The record of imported sessions: a file of JSON lines that the caller names.
//!
//! Who continues "the latest session" did not choose one that came from elsewhere. So an import is passed over until it
//! was opened by name.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::json::{Json, Object};
use crate::medium::{append_or_create_regular, read_regular};

/// A larger record is refused.
const LIMIT: u64 = 16 << 20;
/// A larger record is written anew, without what no longer counts.
const TIDY: usize = 64 << 10;
const IMPORTED: &str = "imported";
const OPENED: &str = "opened";

/// The imported files that were not opened by name.
///
/// # Errors
/// The system's error; a missing record is empty.
pub(super) fn unopened(record: &Path) -> io::Result<HashSet<PathBuf>> {
    Ok(parse(&text(record)?))
}

/// Notes an import.
pub(super) fn note_import(record: &Path, file: &Path) -> io::Result<()> {
    let text = text(record)?;
    if text.len() > TIDY {
        let mut kept: Vec<PathBuf> = parse(&text).into_iter().filter(|file| file.exists()).collect();
        kept.sort();
        let lines: String = kept.iter().map(|file| line(IMPORTED, file)).collect();
        let folder = record.parent().unwrap_or(Path::new("."));
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(lines.as_bytes())?;
        new.persist(record).map_err(|error| error.error)?;
    }
    add(record, IMPORTED, file)
}

/// Notes that a file was opened by name, if it is an import.
pub(super) fn note_opened(record: &Path, file: &Path) -> io::Result<()> {
    let unopened = unopened(record)?;
    match is_one_of(&unopened, file) {
        Some(named) => add(record, OPENED, named),
        None => Ok(()),
    }
}

/// The spelling of a file in a set.
pub(super) fn is_one_of<'a>(files: &'a HashSet<PathBuf>, file: &Path) -> Option<&'a PathBuf> {
    let resolved = || fs::canonicalize(file).ok();
    files.get(file).or_else(|| {
        let file = if files.is_empty() { None } else { resolved() };
        files.iter().find(|known| file.is_some() && fs::canonicalize(known).ok() == file)
    })
}

fn text(record: &Path) -> io::Result<String> {
    match read_regular(record, LIMIT) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(String::new()),
        Err(error) => Err(error),
    }
}

/// The last line about a file counts. Torn and unknown lines are skipped.
fn parse(text: &str) -> HashSet<PathBuf> {
    let mut unopened = HashSet::new();
    for json in text.lines().filter_map(|line| Json::parse(line).ok()) {
        if let Some(file) = json.str(IMPORTED) {
            unopened.insert(PathBuf::from(file.as_ref()));
        } else if let Some(file) = json.str(OPENED) {
            unopened.remove(Path::new(file.as_ref()));
        }
    }
    unopened
}

fn line(what: &str, file: &Path) -> String {
    Object::new().str(what, &file.to_string_lossy()).finish() + "\n"
}

fn add(record: &Path, what: &str, file: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    let folder = record.parent().unwrap_or(Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    append_or_create_regular(record)?.write_all(line(what, file).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_counts_until_it_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("data/imports.jsonl");
        let file = folder.path().join("a\n\"b\".jsonl");
        fs::write(&file, "").unwrap();
        assert_eq!(unopened(&record).unwrap(), HashSet::new());
        note_opened(&record, &file).unwrap();
        assert!(!record.exists(), "nothing is recorded of what was not imported");
        note_import(&record, &file).unwrap();
        assert_eq!(unopened(&record).unwrap(), HashSet::from([file.clone()]));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        note_opened(&record, &link).unwrap();
        assert_eq!(unopened(&record).unwrap(), HashSet::new());
        note_import(&record, &file).unwrap();
        assert_eq!(unopened(&record).unwrap().len(), 1);
    }

    #[test]
    fn a_long_record_is_tidied_and_a_damaged_one_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("imports.jsonl");
        let file = folder.path().join("here.jsonl");
        fs::write(&file, "").unwrap();
        let gone = line(IMPORTED, Path::new("/gone.jsonl")).repeat(TIDY / 10);
        fs::write(&record, gone + "torn\n" + &line(IMPORTED, &file) + "{\"imp").unwrap();
        assert_eq!(unopened(&record).unwrap().len(), 2);
        note_import(&record, &folder.path().join("new.jsonl")).unwrap();
        assert_eq!(fs::read_to_string(&record).unwrap().lines().count(), 2);
        assert!(unopened(&record).unwrap().contains(&file));
    }
}
