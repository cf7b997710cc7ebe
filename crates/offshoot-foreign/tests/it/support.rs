//! Fixtures, and sessions as text.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use offshoot_foreign::{Agent, ForeignSession, SubagentsOf, open_foreign, subagents};
use offshoot_session::children::ChildList;
use offshoot_session::entry::Source as _;
use offshoot_session::session::{Options, Session};

pub(crate) fn fixtures(agent: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(agent)
}

/// Every file below a folder whose name ends so, sorted.
pub(crate) fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.to_string_lossy().ends_with(end) => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found
}

pub(crate) fn open(file: &Path) -> ForeignSession {
    open_foreign(file, Options::default).unwrap().expect("a session of an agent")
}

/// The subagents of a session, as of this time. Nothing is known of theirs but what they say.
pub(crate) fn subagents_of(agent: Agent, path: &Path, session: Option<&Session>, now: i64) -> ChildList {
    subagents(SubagentsOf { agent, path, session, now }, |_| Vec::new(), Options::default)
}

/// The header, every entry's line, and what is odd.
pub(crate) fn spelled(session: &Session) -> String {
    let mut text = format!("{}\n", session.header().line());
    for ix in session.tree().entries() {
        writeln!(text, "{}", session.entry(ix).unwrap().line()).unwrap();
    }
    for told in session.diagnostics() {
        writeln!(text, "{told}").unwrap();
    }
    text
}

/// Compares with a file of `tests/golden`. `GOLDEN=write` writes it instead.
pub(crate) fn golden(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("GOLDEN").is_some_and(|word| word == "write") {
        std::fs::write(&file, text).unwrap();
        return;
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    for (number, (line, expected)) in text.lines().zip(known.lines()).enumerate() {
        assert_eq!(line, expected, "line {} of {}", number + 1, file.display());
    }
    assert_eq!(text.lines().count(), known.lines().count(), "{}", file.display());
}
