//! Why a session file, or another file in its way, forbids an operation.

use std::path::PathBuf;

use crate::id::EntryId;
use crate::text::{counted, grouped};

/// The reason in [`Error::Conflict`](super::Error::Conflict).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message says what its variant is")]
pub enum Conflict {
    #[error("the file exists already")]
    Exists,
    #[error("the session has not been written yet")]
    NotWritten,
    #[error(
        "another program deleted the file; a program that still has the session open can write it again with `recreate`"
    )]
    Deleted,
    #[error(
        "another program put another file in its place, which may lack entries of this session; open the session again"
    )]
    Replaced,
    #[error("another program shortened the file; open the session again")]
    Shortened,
    #[error("the file changed while it was looked at")]
    Changed,
    #[error("an earlier sync failed, so it is unknown what is on the disk; open the session again")]
    SyncFailed,
    #[error("the lock could not be released; open the session again")]
    UnlockFailed,
    /// After this and the next three, the next append reads the file again and may succeed.
    #[error("an append failed, and other data follows it now; open the session again")]
    AppendFollowed,
    #[error("an append failed and could not be undone; open the session again")]
    AppendNotUndone,
    #[error("another program wrote at the same time; open the session again")]
    WrittenMeanwhile,
    #[error("it is unknown whether another program wrote as well; open the session again")]
    EndUnknown,
    #[error("another program keeps writing into it without a lock")]
    UnlockedWriter,
    #[error("another program rewrote it without entry {parent}, below which this one belongs")]
    ParentGone { parent: EntryId },
    #[error("another program moved the leaf; nothing was written")]
    LeafMoved,
    #[error("tool calls of entry {turn} wait for their results")]
    OpenToolTurn { turn: EntryId },
    #[error("entry {message} was added after {operation}")]
    SaidSince {
        /// With its article.
        operation: &'static str,
        message: EntryId,
        /// Where the leaf was before the operation.
        before: Option<EntryId>,
    },
    #[error(
        "{} here and {} more do not fit into the model's window of {}",
        counted(*here, "token", "tokens"), grouped(more), grouped(window)
    )]
    BeyondWindow { here: u64, more: u64, window: u64 },
    #[error("another entry has taken the id {id} of a spilled one")]
    IdTaken { id: EntryId },
    #[error("{} holds entries of another session, {session_id}", spill.display())]
    ForeignSpill { spill: PathBuf, session_id: String },
}

impl Conflict {
    /// Whether an operation does not fit the session, which can be written all the same.
    pub(super) fn is_refusal(&self) -> bool {
        match self {
            Self::LeafMoved | Self::OpenToolTurn { .. } | Self::SaidSince { .. } | Self::BeyondWindow { .. } => true,
            Self::Exists
            | Self::NotWritten
            | Self::Deleted
            | Self::Replaced
            | Self::Shortened
            | Self::Changed
            | Self::SyncFailed
            | Self::UnlockFailed
            | Self::AppendFollowed
            | Self::AppendNotUndone
            | Self::WrittenMeanwhile
            | Self::EndUnknown
            | Self::UnlockedWriter
            | Self::ParentGone { .. }
            | Self::IdTaken { .. }
            | Self::ForeignSpill { .. } => false,
        }
    }
}
