//! What can go wrong, in two forms: an [`Error`] ends an operation, a [`Diagnostic`] rides along with its result.
//!
//! Pure data: knows no file system and prints nothing.

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

/// The result of an operation of this library.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation did not happen. Nothing was changed on disk unless the text says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("could not {action} {}", path.display())]
    Io {
        /// What was attempted, as a verb: `open`, `append to`, …
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not empty and not a session. It was not touched.
    #[error("{} is not a session: {why} (line {line}, byte {offset})", path.display())]
    NotASession {
        /// The file.
        path: PathBuf,
        /// The line that should have been the header, from 1.
        line: u64,
        /// Where that line starts.
        offset: u64,
        /// What is wrong with it.
        why: &'static str,
    },
    /// No entry has this id.
    #[error("entry {id} not found")]
    EntryNotFound {
        /// What was asked for.
        id: String,
    },
    /// A prefix fits several things.
    #[error("{what} {given:?} is ambiguous: {}", candidates.join(", "))]
    Ambiguous {
        /// `entry` or `session`.
        what: &'static str,
        /// What was asked for.
        given: String,
        /// Some of those that fit.
        candidates: Vec<String>,
    },
    /// No session fits.
    #[error("no session fits {given:?}")]
    SessionNotFound {
        /// What was asked for.
        given: String,
    },
    /// The caller's values make no valid entry.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// There is no summary, or none that may be kept.
    #[error("no summary: {0}")]
    NoSummary(String),
    /// A file is in the way, or somebody else changed the file in a way that forbids the operation.
    #[error("{}: {why}", path.display())]
    Conflict {
        /// The file.
        path: PathBuf,
        /// What happened.
        why: Conflict,
    },
    /// Another program holds the lock on the file and does not give it back. Nothing was attempted: trying again later
    /// is fine.
    #[error("{} is locked: {} did not give it back within {} s", path.display(), named(by), waited.as_secs_f32().ceil())]
    Locked {
        /// The file.
        path: PathBuf,
        /// The processes that hold the lock, as far as the system tells.
        by: Vec<u32>,
        /// How long it was waited for.
        waited: Duration,
    },
    /// Entries could not be written to the session and are in its spill file instead: on disk, not in the session. They
    /// must not be appended again: they come back by themselves as soon as an append to the same session succeeds, or by
    /// [`Session::give_back`](crate::session::Session::give_back).
    #[error("could not write to {}: kept in {}", path.display(), spill.display())]
    Spilled {
        /// The session's file.
        path: PathBuf,
        /// Where the entries are.
        spill: PathBuf,
        /// Their ids, which they keep.
        ids: Vec<EntryId>,
        /// Why they are not in the session.
        source: Box<Error>,
    },
}

/// The lock on a file is another program's, and stays so; inside an [`io::Error`].
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
    /// Names the attempt and the file of an I/O error.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| match source.downcast::<Held>() {
            Ok(Held { by, waited }) => Self::Locked { path, by, waited },
            Err(source) => Self::Io { action, path, source },
        }
    }

    /// A file that forbids the operation.
    pub(crate) fn conflict(path: &Path, why: Conflict) -> Self {
        Self::Conflict { path: path.to_path_buf(), why }
    }

    /// An entry that is not there.
    pub(crate) fn no_entry(id: impl fmt::Display) -> Self {
        Self::EntryNotFound { id: id.to_string() }
    }
}

/// How much a [`Diagnostic`] matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Odd, but everything can be read.
    Warning,
    /// Something cannot be read, or is not where it says.
    Error,
}

impl Severity {
    /// The word for it: `note`, `warning`, `error`.
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
        /// What a [`Diagnostic`] is about. The text form is stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable name, as printed and as found in JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// How much it matters.
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    /// A line is not one JSON object. Its bytes stay; it takes no part in the tree.
    MalformedLine = "malformed-line", Error;
    /// The last line is not complete: a write was cut off. It stays on a line of its own.
    TornTail = "torn-tail", Error;
    /// The last line is complete but has no line feed; the next append writes one first.
    NoFinalNewline = "no-final-newline", Note;
    /// NUL bytes, as a file system leaves them after a power failure.
    NulBytes = "nul-bytes", Error;
    /// Bytes that are no UTF-8; shown as U+FFFD, kept as they are.
    InvalidUtf8 = "invalid-utf8", Warning;
    /// The file starts with a byte order mark.
    ByteOrderMark = "byte-order-mark", Note;
    /// A blank line.
    BlankLine = "blank-line", Note;
    /// Lines before the header that are no records.
    GarbageBeforeHeader = "garbage-before-header", Warning;
    /// A second header; only the first counts.
    SecondHeader = "second-header", Warning;
    /// The header's version is newer than this library knows; read as version 3.
    NewerVersion = "newer-version", Warning;
    /// The file has an old version; it is upgraded in memory, and on disk at the first append.
    OldVersion = "old-version", Note;
    /// An entry has no id; nothing can name it as parent.
    MissingId = "missing-id", Warning;
    /// An id occurs again; the later entry is the one that counts.
    DuplicateId = "duplicate-id", Warning;
    /// An entry's parent is not in the file; the entry is shown as a root.
    Orphan = "orphan", Error;
    /// An entry names itself as parent; it is shown as a root.
    SelfParent = "self-parent", Error;
    /// Entries name each other as parents in a circle; the first of them is shown as a root.
    Cycle = "cycle", Error;
    /// An entry's line has a good head but is no valid JSON inside; it keeps its place in the tree and says nothing.
    DamagedEntry = "damaged-entry", Error;
    /// A message entry holds no message.
    EmptyMessage = "empty-message", Warning;
    /// An entry's type is missing or no string.
    MissingType = "missing-type", Warning;
    /// The header's version is no number; read as the current one.
    OddVersion = "odd-version", Warning;
    /// A compaction keeps messages from an entry that is not on its path: nothing before it is kept.
    KeptEntryMissing = "kept-entry-missing", Warning;
    /// A label names an entry that is not in the file.
    LabelTargetMissing = "label-target-missing", Warning;
    /// A tool call has no result on the path; for the model a result is made up.
    DanglingToolCall = "dangling-tool-call", Note;
    /// A tool result has no call on the path; it is left out for the model.
    OrphanToolResult = "orphan-tool-result", Note;
    /// An entry's timestamp is no date.
    BadTimestamp = "bad-timestamp", Warning;
    /// Another branch holds newer work than the open one.
    Diverged = "diverged", Note;
    /// Entries of the session that could not be written to it are in a spill file.
    Spilled = "spilled", Warning;
    /// The file system knows no locks: programs that write at the same moment can spoil each other's entries.
    NoLock = "no-lock", Warning;
    /// A file in a session folder cannot be read as a session.
    UnreadableSession = "unreadable-session", Error;
    /// A folder of sessions cannot be read; those in it are not listed.
    UnreadableFolder = "unreadable-folder", Error;
}

/// Something worth saying about a session that could be read all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What it is about.
    pub code: Code,
    /// The line, from 1, if it is about one.
    pub line: Option<u64>,
    /// Where in the file, in bytes.
    pub offset: u64,
    /// The entry, if it is about one.
    pub entry: Option<EntryId>,
    /// One sentence, lower case, without full stop.
    pub message: String,
}

impl Diagnostic {
    /// How much it matters.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

impl Diagnostic {
    /// The diagnostic as one JSON object: `code`, `severity`, `line`, `offset`, `entryId`, `message`.
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
