//! The protocol between the session selector and its owner: requests and answers.

use std::path::PathBuf;

use super::list::Listed;
use super::search::TextHits;
use crate::overlay::hits::{HitAnswer, HitRequest};

/// Which sessions are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Scope {
    /// The sessions of the working directory.
    #[default]
    Folder,
    All,
}

/// The user's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionsOutcome {
    /// No decision yet.
    Open,
    /// The user chose no session.
    Cancelled,
    Chosen(PathBuf),
}

/// A request of the selector. The answer may come later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// List the sessions of a scope: [`Answer::Listed`], [`Answer::Progress`], [`Answer::Parents`], and finally [`Answer::Done`].
    List(Scope),
    /// Read the first and last messages of a session: [`Answer::Preview`]. A later request replaces this one.
    Preview(PathBuf),
    /// Search the messages of these sessions, in batches of any size: [`Answer::Judged`]. A later request with another
    /// number replaces this one.
    Search {
        search: u64,
        /// The typed query: see [`super::search::Query`].
        query: String,
        /// The files to search, last activity first.
        files: Vec<PathBuf>,
    },
    /// Stop the search.
    StopSearch,
    /// Rename a session: [`Answer::Renamed`].
    Rename(PathBuf, String),
    /// Move a session to the trash: [`Answer::Trashed`].
    Trash(PathBuf),
    /// Restore a session from the trash: [`Answer::Restored`].
    Restore(PathBuf),
    /// Search all sessions, or read one: [`Answer::Hits`].
    Hits(HitRequest),
}

/// The answer to a [`Request`].
#[derive(Debug, Clone)]
pub enum Answer {
    /// Sessions of a scope, in any order and in batches of any size.
    Listed(Scope, Vec<Listed>),
    /// Sessions of a scope with their parents, by canonical paths, where the sessions themselves did not name them by path.
    Parents(Scope, Vec<(PathBuf, PathBuf)>),
    /// The progress of a scope's list: the number of files read, and the total if it is known.
    Progress(Scope, usize, Option<usize>),
    /// The end of a scope's list: the number of unreadable files, or the reason why the list failed.
    Done(Scope, Result<usize, String>),
    /// The preview of a session. It is dropped if the cursor has left the session.
    Preview(PathBuf, Preview),
    /// The matches of the search with this number, by the files of the request. They are dropped if a new search has
    /// begun.
    Judged(u64, Vec<(PathBuf, TextHits)>),
    /// The session's new name, or the reason why it was not renamed.
    Renamed(PathBuf, Result<String, String>),
    /// The result of moving a session to the trash.
    Trashed(PathBuf, Result<(), String>),
    /// The result of restoring a session.
    Restored(PathBuf, Result<(), String>),
    /// What came of a search in all sessions.
    Hits(HitAnswer),
}

/// The first and last messages of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Preview {
    /// The first messages.
    pub first: Vec<Utterance>,
    /// The last messages, oldest first.
    pub last: Vec<Utterance>,
    /// The reason why messages are missing.
    pub trouble: Option<String>,
}

/// A message in the preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Utterance {
    pub by: Speaker,
    /// The text. Only its beginning is shown.
    pub text: String,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    Person,
    Model,
}
