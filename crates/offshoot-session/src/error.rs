//! An [`Error`] ends an operation; a [`Diagnostic`] comes with its result. Pure data: knows no file system.

mod conflict;
mod invalid;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::id::EntryId;
use crate::json::Object;

pub use conflict::Conflict;
pub use invalid::Invalid;

/// The result of an operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation did not happen. Nothing has changed on disk unless the variant says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names of most fields say what they are")]
pub enum Error {
    /// The operating system refused.
    #[error("could not {action} {}", path.display())]
    Io {
        /// A verb: `open`, `append to`, …
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// The file is not empty and not a session. It was not changed.
    #[error("{} is not a session: {why} (line {line}, byte {offset})", path.display())]
    NotASession {
        path: PathBuf,
        /// The line that should have been the header, from 1.
        line: u64,
        /// The line's first byte.
        offset: u64,
        why: &'static str,
    },
    #[error("entry {id} not found")]
    EntryNotFound { id: String },
    #[error("{what} {given:?} is ambiguous: {}", candidates.join(", "))]
    Ambiguous {
        /// `entry` or `session`.
        what: &'static str,
        given: String,
        /// Some of the matches.
        candidates: Vec<String>,
    },
    #[error("no session matches {given:?}")]
    SessionNotFound { given: String },
    /// The caller's values do not make a valid entry.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// There is no summary, or none that may be kept.
    #[error("no summary: {0}")]
    NoSummary(String),
    /// A file is in the way, or another program changed the file in a way that forbids the operation.
    #[error("{}: {why}", path.display())]
    Conflict { path: PathBuf, why: Conflict },
    /// Another program holds the lock and did not release it in time. Nothing was attempted; a retry is safe.
    #[error("{} is locked: {} did not release it within {} s", path.display(), named(by), waited.as_secs().max(1))]
    Locked {
        path: PathBuf,
        /// The processes that hold the lock, as far as the system reports them.
        by: Vec<u32>,
        waited: Duration,
    },
    /// Entries could not be appended to the session and are in its spill file instead. Do not append them again: the
    /// next successful append to the session, or [`Session::append_spilled`](crate::session::Session::append_spilled), puts them
    /// back.
    #[error("could not write to {}: kept in {}", path.display(), spill.display())]
    Spilled {
        path: PathBuf,
        spill: PathBuf,
        /// The entries' ids, which do not change.
        ids: Vec<EntryId>,
        source: Box<Error>,
    },
}

/// Another program keeps the lock on a file. Inside an [`io::Error`].
#[derive(Debug, thiserror::Error)]
#[error("another program holds the lock")]
pub(crate) struct Held {
    pub(crate) by: Vec<u32>,
    pub(crate) waited: Duration,
}

fn named(processes: &[u32]) -> String {
    match processes {
        [] => "another program".to_owned(),
        [one] => format!("process {one}"),
        many => format!("processes {}", many.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}

impl Error {
    /// Adds the attempt and the file to an I/O error.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| match source.downcast::<Held>() {
            Ok(Held { by, waited }) => Self::Locked { path, by, waited },
            Err(source) => Self::Io { action, path, source },
        }
    }

    /// Whether the caller's values were refused, or the session is no longer what they were made for. Nothing was tried on the
    /// disk, and nothing is wrong with it.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::EntryNotFound { .. }
            | Self::Ambiguous { .. }
            | Self::SessionNotFound { .. }
            | Self::Invalid(_)
            | Self::NoSummary(_) => true,
            Self::Conflict { why, .. } => why.is_refusal(),
            Self::Io { .. } | Self::NotASession { .. } | Self::Locked { .. } | Self::Spilled { .. } => false,
        }
    }

    pub(crate) fn conflict(path: &Path, why: Conflict) -> Self {
        Self::Conflict { path: path.to_path_buf(), why }
    }

    pub(crate) fn no_entry(id: impl fmt::Display) -> Self {
        Self::EntryNotFound { id: id.to_string() }
    }
}

/// The importance of a [`Diagnostic`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is wrong.
    Note,
    /// Unusual, but everything can be read.
    Warning,
    /// Something cannot be read, or is not where it should be.
    Error,
}

impl Severity {
    /// `note`, `warning` or `error`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $severity:ident;)*) => {
        /// The subject of a [`Diagnostic`]. The text form is stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "the names of the others say what they are")]
        pub enum Code { $($(#[$doc])* $name,)* }

        #[expect(missing_docs, reason = "the names say it")]
        impl Code {
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable name, as printed and in JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    /// A line is not one JSON object. Its bytes stay; it is not in the tree.
    MalformedLine = "malformed-line", Error;
    /// The last line is incomplete: a write was cut off. It stays on its own line.
    TornTail = "torn-tail", Error;
    /// The last line is complete but has no line feed. The next append writes one first.
    NoFinalNewline = "no-final-newline", Note;
    /// NUL bytes, as file systems leave them after a power failure.
    NulBytes = "nul-bytes", Error;
    /// Bytes that are not UTF-8. Shown as U+FFFD, kept as they are.
    InvalidUtf8 = "invalid-utf8", Warning;
    ByteOrderMark = "byte-order-mark", Note;
    BlankLine = "blank-line", Note;
    /// Lines before the header that are not records.
    GarbageBeforeHeader = "garbage-before-header", Warning;
    /// A second header; the first one counts.
    SecondHeader = "second-header", Warning;
    /// The header's version is newer than this library. It is read as version 3.
    NewerVersion = "newer-version", Warning;
    /// An old version, upgraded in memory, and on disk at the first append.
    OldVersion = "old-version", Note;
    /// An entry without id cannot be a parent.
    MissingId = "missing-id", Warning;
    /// An id is repeated; the later entry counts.
    DuplicateId = "duplicate-id", Warning;
    /// An entry's parent is not in the file. The entry is shown as a root.
    Orphan = "orphan", Error;
    /// An entry is its own parent. It is shown as a root.
    SelfParent = "self-parent", Error;
    /// Entries are each other's parents in a circle. The first one is shown as a root.
    Cycle = "cycle", Error;
    /// An entry's line has a readable envelope but is not valid JSON. It keeps its place in the tree, without content.
    DamagedEntry = "damaged-entry", Error;
    /// Half of a surrogate pair in a text. Shown and sent as U+FFFD, kept as it is.
    HalfCharacter = "half-character", Note;
    /// A message entry without a message.
    EmptyMessage = "empty-message", Warning;
    /// An entry's type is missing or not a string.
    MissingType = "missing-type", Warning;
    /// The header's version is not a number. It is read as version 3.
    OddVersion = "odd-version", Warning;
    /// A compaction keeps messages from an entry that is not on its path: nothing before the compaction is kept.
    KeptEntryMissing = "kept-entry-missing", Warning;
    /// A label's target is not in the file.
    LabelTargetMissing = "label-target-missing", Warning;
    /// A tool call without result on the path. The model gets a substitute result.
    DanglingToolCall = "dangling-tool-call", Note;
    /// A tool result without call on the path. It is not sent to the model.
    OrphanToolResult = "orphan-tool-result", Note;
    /// An entry's timestamp is not a date.
    BadTimestamp = "bad-timestamp", Warning;
    /// Another branch has newer work than the open one.
    Diverged = "diverged", Note;
    /// An operation at the end of the file lacks entries: a write was cut off. The session opens before it.
    UnfinishedOperation = "unfinished-operation", Warning;
    /// Entries that could not be written to the session are in its spill file.
    Spilled = "spilled", Warning;
    /// Half of an answer whose program was killed is outside the session, or was recorded now.
    HalfAnswer = "half-answer", Warning;
    /// Another process is answering a prompt above the leaf.
    UnansweredPrompt = "unanswered-prompt", Note;
    /// The file system has no locks: concurrent writers can damage each other's entries.
    NoLock = "no-lock", Warning;
    /// Two files of another program have the messages of a session in different orders. The one with more of each message counts.
    OtherOrder = "other-order", Warning;
    /// A file in a session folder that cannot be read as a session.
    UnreadableSession = "unreadable-session", Error;
    /// A folder whose sessions cannot be listed.
    UnreadableFolder = "unreadable-folder", Error;
}

/// A finding about a session that could be read nevertheless.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the other fields say what they are")]
pub struct Diagnostic {
    pub code: Code,
    /// From 1, if the finding is about one line.
    pub line: Option<u64>,
    /// Bytes from the start of the file.
    pub offset: u64,
    pub entry: Option<EntryId>,
    /// One sentence, lower case, without full stop.
    pub message: String,
}

impl Diagnostic {
    /// The severity of its code.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// One JSON object with `code`, `severity`, `line`, `offset`, `entryId` and `message`.
    pub fn to_json(&self) -> String {
        let object = Object::new().str("code", self.code.as_str()).str("severity", self.severity().as_str());
        let object = match self.line {
            Some(line) => object.raw("line", line),
            None => object.raw("line", "null"),
        };
        object
            .raw("offset", self.offset)
            .str_or_null("entryId", self.entry.as_ref().map(EntryId::as_str))
            .str("message", &self.message)
            .finish()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.severity().as_str(), self.code.as_str())?;
        if let Some(line) = self.line {
            write!(f, " line {line}, byte {}", self.offset)?;
        }
        write!(f, ": {}", self.message)
    }
}
