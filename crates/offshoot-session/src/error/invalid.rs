//! Why a caller's values cannot be used.

use std::path::PathBuf;

use crate::id::EntryId;

/// The reason in [`Error::Invalid`](super::Error::Invalid).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message says what its variant is")]
pub enum Invalid {
    #[error("an entry is a JSON object with a string \"type\"")]
    EntryWithoutType,
    #[error("a record of type {word:?} is not an entry")]
    NotAnEntry { word: String },
    #[error("{name:?} comes from the session, not from the caller")]
    ReservedMember { name: String },
    #[error("a message entry needs a \"message\"")]
    EntryWithoutMessage,
    #[error("a message is a JSON object with a string \"role\"")]
    MessageWithoutRole,
    #[error("summaries are entries of their own: append a compaction or a branch summary instead")]
    SummaryAsMessage,
    #[error("content is a string or an array of blocks")]
    Content,
    #[error("a replacement is null or an object with a \"content\"")]
    Replacement,
    #[error("injectedRules is an array of strings")]
    InjectedRules,
    #[error("the entry needs a string \"targetId\"")]
    EntryWithoutTarget,
    #[error("entry {target}: only user, assistant, tool result and custom messages can be edited for the model")]
    NotEditable { target: EntryId },
    #[error("entry {target} is not on the active branch")]
    NotOnActiveBranch { target: EntryId },
    #[error("of entries that are appended together, a compaction comes before messages and other compactions")]
    LateCompaction,
    #[error(
        "{id:?} is not a session id: a session id starts and ends with a letter or digit and contains only those, `.`, `_` and `-`"
    )]
    SessionId { id: String },
    #[error("{word:?} is not a durability: use os, data or full")]
    Durability { word: String },
    #[error("the session is empty: there is nothing to pop")]
    NothingToPop,
    #[error("there is no user message before the current entry")]
    NoUserMessage,
    #[error("entry {above} is not above entry {below}")]
    NotOnPath { above: EntryId, below: EntryId },
    #[error("no message would be left")]
    NothingLeft,
    #[error("the session is empty: there is nothing to copy")]
    NothingToCopy,
    #[error("{}: nothing to repair", path.display())]
    NothingToRepair { path: PathBuf },
    #[error("the session has version {version}: it is upgraded before it is repaired")]
    NotUpgraded { version: u32 },
    #[error("there is no home directory to keep sessions in")]
    NoSessionFolder,
}
