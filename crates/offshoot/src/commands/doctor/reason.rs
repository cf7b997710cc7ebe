//! Why a session is not listed, in words, and the commands that reach it. Pure.

use std::path::Path;

use offshoot_app::app::quoted;
use offshoot_session::text::counted;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HiddenReason {
    Listed,
    OtherFolder(String),
    /// It belongs to a folder that no longer exists.
    FolderGone(String),
    /// It belongs to this folder, but is stored with the sessions of another.
    Misplaced,
    /// Lists skip its root, for this reason.
    PassedOver(String),
    /// It is in none of the roots.
    Outside,
    Above,
    Below,
    /// Its name does not end in `.jsonl`.
    Extension,
    Empty,
    /// It has bytes, but no record.
    NoRecord,
    /// It has records, but no header.
    NoHeader,
    /// A header is at this line, after other records.
    LateHeader(u64),
    Unreadable(String),
    /// The old bytes of an upgraded or repaired session.
    Backup,
    Quarantine,
    Temporary,
    /// Entries that could not be written to the session of this file.
    Spilled(String, usize),
    /// Other programs do not look in its folder.
    NotForOthers,
    PiListsHere,
}

impl HiddenReason {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Listed => "listed",
            Self::OtherFolder(_) => "other-folder",
            Self::FolderGone(_) => "folder-gone",
            Self::Misplaced => "misplaced",
            Self::PassedOver(_) => "passed-over",
            Self::Outside => "outside",
            Self::Above => "above",
            Self::Below => "below",
            Self::Extension => "extension",
            Self::Empty => "empty",
            Self::NoRecord => "no-record",
            Self::NoHeader => "no-header",
            Self::LateHeader(_) => "late-header",
            Self::Unreadable(_) => "unreadable",
            Self::Backup => "backup",
            Self::Quarantine => "quarantine",
            Self::Temporary => "temporary",
            Self::Spilled(..) => "spilled",
            Self::NotForOthers => "not-for-others",
            Self::PiListsHere => "pi-lists-here",
        }
    }

    pub(super) fn message(&self) -> String {
        let text = match self {
            Self::Listed => "`offshoot list` shows it",
            Self::OtherFolder(cwd) => {
                return format!("it is a session of {cwd}: `list` without --all leaves it out here");
            }
            Self::FolderGone(cwd) => {
                return format!("it is a session of {cwd}, a folder that does not exist any more");
            }
            Self::Misplaced => {
                "it is a session of this folder in the folder of other sessions: only `list --all` shows it"
            }
            Self::PassedOver(by) => return format!("lists do not read that folder: {by}"),
            Self::Outside => "it is outside every session folder, so `list` does not show it",
            Self::Above => "it is beside the session folders, not in one of them, so `list` does not show it",
            Self::Below => {
                "it is deeper than the session folders, so `list` does not show it; oh-my-pi keeps sessions of subagents there"
            }
            Self::Extension => "its name does not end in .jsonl",
            Self::Empty => "it is empty",
            Self::NoRecord => "it contains bytes, but no record",
            Self::NoHeader => "no line of it is a session header",
            Self::LateHeader(line) => return format!("its header is in line {line}, after other records"),
            Self::Unreadable(why) => return format!("it cannot be read: {why}"),
            Self::Backup => "it contains the old bytes of a session that was upgraded or repaired",
            Self::Quarantine => "it contains lines that `repair` removed from a session",
            Self::Temporary => "a program that was killed left it while it wrote a new file",
            Self::Spilled(file, count) => {
                let (entries, wait) = (counted(*count, "entry", "entries"), if *count == 1 { "waits" } else { "wait" });
                return format!("{entries} of {file} could not be written to it, and {wait} here");
            }
            Self::NotForOthers => "pi and oh-my-pi do not list it: it is in offshoot's folder",
            Self::PiListsHere => "pi lists it here because of its folder",
        };
        text.to_owned()
    }

    /// The commands that reach the session; `id` may be a guess from the file's name.
    pub(super) fn commands(&self, path: &Path, id: &str) -> Vec<String> {
        let file = quoted(&path.to_string_lossy());
        let show = format!("offshoot show {file}");
        let import = "offshoot import recovered.jsonl".to_owned();
        match self {
            Self::Listed | Self::Above | Self::Below | Self::Backup => vec![show],
            Self::OtherFolder(_) | Self::Misplaced => vec!["offshoot list --all".to_owned(), show],
            Self::FolderGone(_) => vec![show, format!("offshoot fork {file} --all --cwd .")],
            Self::PassedOver(_) => {
                let folder = path.parent().unwrap_or(path).to_string_lossy();
                vec![show, format!("offshoot list --all --session-dir {}", quoted(&folder))]
            }
            Self::Outside => vec![show, format!("offshoot import {file}")],
            Self::Extension => {
                vec![show, format!("mv -n {file} {}", quoted(&path.with_extension("jsonl").to_string_lossy()))]
            }
            Self::NoHeader => {
                let header = quoted(&format!(
                    "{{\"type\":\"session\",\"version\":3,\"id\":{}}}",
                    offshoot_session::json::quote(id)
                ));
                vec![format!("(echo {header}; cat {file}) > recovered.jsonl"), import]
            }
            Self::LateHeader(line) => {
                vec![format!("(sed -n {line}p {file}; sed {line}d {file}) > recovered.jsonl"), import]
            }
            Self::NoRecord | Self::Temporary => vec![format!("offshoot check {file}")],
            Self::Quarantine => vec![format!("cat {file}")],
            Self::Unreadable(_) => vec![format!("ls -ld {file}"), format!("chmod u+rw {file}")],
            Self::Spilled(of, _) => vec![format!("offshoot repair {}", quoted(of))],
            Self::NotForOthers => vec![format!("pi --session {file}")],
            Self::Empty | Self::PiListsHere => Vec::new(),
        }
    }
}
