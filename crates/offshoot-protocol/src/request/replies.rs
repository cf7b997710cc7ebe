//! What requests are answered with, where no other module has it, and what is asked for in more than a word.

use std::path::PathBuf;

use crate::files_along::FilesThatCame;

/// What came of a text that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spoken<T> {
    /// An extension dealt with it: the model does not get it.
    Handled,
    /// The agent took it.
    Taken(T),
}

/// The texts that waited.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ClearedQueue {
    pub steering: Vec<String>,
    pub follow_up: Vec<String>,
}

/// What an extension makes of a session that it prepares.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum PreparedSession {
    /// Without an id it gets a new one. The header names the parent's file.
    New { id: Option<String>, parent: Option<String> },
    /// The session in this file, or a new one there.
    File(PathBuf),
    /// A session with the path to an entry. It keeps its name.
    Path { leaf: String },
}

/// A session that was opened or started in place of another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Forked {
    /// The text of the user message before which it was forked.
    pub text: Option<String>,
    pub session_id: String,
    pub file: Option<PathBuf>,
    /// The files of the entry, if they came along.
    pub files: Option<FilesThatCame>,
}
