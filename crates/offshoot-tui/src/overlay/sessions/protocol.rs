//! What the selector of sessions and whoever holds it say to each other: what is to be read or done, and what came of it.

use std::path::PathBuf;

use super::list::Listed;
use super::search::TextHits;

/// Which sessions are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Scope {
    /// Those of the working directory.
    #[default]
    Folder,
    All,
}

/// What the person decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionsOutcome {
    /// Nothing yet: go on.
    Open,
    /// Not to choose.
    Cancelled,
    Chosen(PathBuf),
}

/// What is to be read or done. Nothing need be answered at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Read the sessions of a scope: [`Answer::Listed`], [`Answer::Progress`], at last [`Answer::Done`].
    List(Scope),
    /// Read what was said first and last in a session: [`Answer::Preview`]. A later request makes this one needless.
    Preview(PathBuf),
    /// Search what was said in these sessions, in any portions: [`Answer::Judged`]. A later request of another number makes
    /// this one needless.
    Search {
        search: u64,
        /// What was typed: see [`super::search::Query`].
        query: String,
        /// The files to search, last activity first.
        files: Vec<PathBuf>,
    },
    /// Stop searching: nobody waits for it any more.
    StopSearch,
    /// Give a session this name: [`Answer::Renamed`].
    Rename(PathBuf, String),
    /// Put a session into the trash: [`Answer::Trashed`].
    Trash(PathBuf),
    /// Bring a session back from the trash: [`Answer::Restored`].
    Restore(PathBuf),
}

/// What came of a [`Request`].
#[derive(Debug, Clone)]
pub enum Answer {
    /// Sessions of a scope; they may come in any order and in any portions.
    Listed(Scope, Vec<Listed>),
    /// How far the list of a scope is read: so many files, of so many if that is known.
    Progress(Scope, usize, Option<usize>),
    /// That the list of a scope is whole but for so many files that cannot be read, or why there is none.
    Done(Scope, Result<usize, String>),
    /// What was said in a session; dropped if that is no longer under the cursor.
    Preview(PathBuf, Preview),
    /// What the search of this number found in what was said in sessions, by the files that were named in the request;
    /// dropped if the search is another one by now.
    Judged(u64, Vec<(PathBuf, TextHits)>),
    /// The name that a session has now, or why it has not the one that was wanted.
    Renamed(PathBuf, Result<String, String>),
    /// That a session is in the trash, or why not.
    Trashed(PathBuf, Result<(), String>),
    /// That a session is back, or why not.
    Restored(PathBuf, Result<(), String>),
}

/// First and last words of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Preview {
    /// What was said first.
    pub first: Vec<Utterance>,
    /// What was said last, oldest first.
    pub last: Vec<Utterance>,
    /// Why there is nothing, or not all.
    pub trouble: Option<String>,
}

/// Something that somebody said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Utterance {
    pub by: Speaker,
    /// The text; only its beginning is shown.
    pub text: String,
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    Person,
    Model,
}
