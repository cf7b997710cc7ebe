//! What a workspace remembers of its own writes: which entries it recorded, and at which entry of a session its files are.
//!
//! Only entries that are listed here have power over files: a session from elsewhere lists none. Lines of JSON, appended
//! under a lock; a line that does not parse is skipped.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::PathBuf;

use offshoot_session::medium::{SharedFile, append_or_create_regular, make_private_folder};
use serde::{Deserialize, Serialize};

use crate::content::ContentHash;
use crate::error::{FilesResult, io_error};
use crate::rel_path::RelPath;
use crate::state::FileState;

/// A larger log is not read: then nothing has power.
const LONGEST: u64 = 256 << 20;

/// A path that a session has changed, for other sessions of the same folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClaimedChange {
    pub(crate) path: RelPath,
    pub(crate) after: FileState,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum LogLine {
    /// An entry with this digest was recorded.
    Recorded { digest: ContentHash, session: String, claims: Vec<ClaimedChange> },
    /// The files are as at this entry of a session.
    At { session: String, entry: String },
}

/// The log of a workspace.
#[derive(Debug, Clone)]
pub(crate) struct RecordLog {
    file: SharedFile,
}

/// The log as read.
#[derive(Debug, Default)]
pub(crate) struct LogView {
    pub(crate) lines: Vec<LogLine>,
    digests: BTreeSet<ContentHash>,
}

impl RecordLog {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { file: SharedFile::private(path, LONGEST) }
    }

    /// Appends a line. It is one write, so a killed program leaves it whole, or a part that is skipped.
    pub(crate) fn append(&self, line: &LogLine) -> FilesResult<()> {
        let path = &self.file.path;
        let cannot = || io_error("write", path);
        let mut text = serde_json::to_string(line).map_err(|error| cannot()(error.into()))?;
        // After a part of a line that a killed program has left, this one still begins a line.
        text.insert(0, '\n');
        text.push('\n');
        make_private_folder(path.parent().unwrap_or(path)).map_err(cannot())?;
        let _lock = self.file.lock().map_err(cannot())?;
        let mut file = append_or_create_regular(path).map_err(cannot())?;
        file.write_all(text.as_bytes()).map_err(cannot())
    }

    /// How long the log is: what is appended later begins there.
    pub(crate) fn length(&self) -> u64 {
        std::fs::metadata(&self.file.path).map_or(0, |meta| meta.len())
    }

    /// Everything from this place on.
    pub(crate) fn read(&self, from: u64) -> LogView {
        let Ok(Some(text)) = self.file.read() else { return LogView::default() };
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let lines: Vec<LogLine> = text
            .as_bytes()
            .get(from..)
            .unwrap_or_default()
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        let digest = |line: &LogLine| match line {
            LogLine::Recorded { digest, .. } => Some(*digest),
            LogLine::At { .. } => None,
        };
        LogView { digests: lines.iter().filter_map(digest).collect(), lines }
    }
}

impl LogView {
    /// Whether this workspace wrote an entry with this digest.
    pub(crate) fn knows(&self, digest: &ContentHash) -> bool {
        self.digests.contains(digest)
    }

    /// The entry at which the files are, as far as this session knows.
    pub(crate) fn position(&self, of: &str) -> Option<&str> {
        self.lines.iter().rev().find_map(|line| match line {
            LogLine::At { session, entry } if session == of => Some(entry.as_str()),
            LogLine::At { .. } | LogLine::Recorded { .. } => None,
        })
    }

    /// What other sessions have changed.
    pub(crate) fn claims<'a>(&'a self, except: &'a str) -> impl Iterator<Item = &'a ClaimedChange> {
        let claims = move |line: &'a LogLine| match line {
            LogLine::Recorded { session, claims, .. } if session != except => claims.as_slice(),
            LogLine::Recorded { .. } | LogLine::At { .. } => &[],
        };
        self.lines.iter().flat_map(claims)
    }
}
