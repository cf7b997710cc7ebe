//! Errors of the agent, as values that a front end can match. Knows no front end.

use std::fmt;
use std::sync::Arc;

use offshoot_session::error::Error;
use offshoot_session::manager::MethodError;

use crate::crash::Crash;
use crate::folder_refusal::FolderRefusal;
use crate::key_error::KeyError;
use crate::window::OversizedPrompt;

/// Why a command was refused or failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum AgentError {
    /// The command is not possible during the current activity.
    #[error("{0}")]
    Busy(&'static str),
    /// The session cannot be read, or lacks what a command asked for.
    #[error("{0}")]
    Session(SessionError),
    #[error("the session cannot be written: {0}")]
    NotWritten(SessionError),
    /// There is no key for the model. Nothing was recorded.
    #[error(transparent)]
    NoAccess(#[from] KeyError),
    /// A limit of the run was reached: the next request was not sent.
    #[error("{0}")]
    LimitReached(String),
    /// A prompt by itself does not fit the model's window.
    #[error(transparent)]
    Oversized(#[from] OversizedPrompt),
    /// Somebody must name the folder to work in.
    #[error(transparent)]
    Folder(#[from] FolderRefusal),
    /// An extension did not let it happen.
    #[error("an extension did not allow it")]
    Cancelled,
    /// The provider asks for a wait that is longer than is waited.
    #[error("{why}; {later}")]
    AskLater { why: String, later: String },
    #[error("{0}")]
    Failed(String),
    /// A part of the program or code of somebody else panicked. What it was to do is not done.
    #[error("{what} crashed: {crash}")]
    Crashed { what: &'static str, crash: Crash },
    #[error("the agent has ended")]
    Ended,
}

impl AgentError {
    /// The session's own error, if it is the reason.
    pub fn session(&self) -> Option<&Error> {
        match self {
            Self::Session(error) | Self::NotWritten(error) => Some(error.get()),
            Self::Busy(_)
            | Self::NoAccess(_)
            | Self::LimitReached(_)
            | Self::Oversized(_)
            | Self::Folder(_)
            | Self::Cancelled
            | Self::AskLater { .. }
            | Self::Failed(_)
            | Self::Crashed { .. }
            | Self::Ended => None,
        }
    }

    /// The error of a write. A refused input is not a broken disk.
    #[must_use]
    pub fn of_write(error: Error) -> Self {
        if error.is_refusal() { error.into() } else { Self::NotWritten(error.into()) }
    }

    /// Whether what was to be written is on the disk beside the session, and gets into it with a later write.
    pub fn is_kept(&self) -> bool {
        matches!(self.session(), Some(Error::Spilled { .. }))
    }

    /// Whether the input was refused: nothing was tried on the disk.
    pub fn is_refusal(&self) -> bool {
        self.session().is_some_and(Error::is_refusal)
    }
}

impl From<Error> for AgentError {
    fn from(error: Error) -> Self {
        Self::Session(SessionError::from(error))
    }
}

impl From<MethodError> for AgentError {
    fn from(error: MethodError) -> Self {
        match error {
            MethodError::Session(error) => error.into(),
            MethodError::Argument(_) | MethodError::Output(_) => Self::Failed(error.to_string()),
        }
    }
}

impl From<String> for AgentError {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

/// An error of the session library, shared by all its receivers. Its text includes the causes.
#[derive(Debug, Clone)]
pub struct SessionError(Arc<Error>);

impl SessionError {
    /// The shared error.
    pub fn get(&self) -> &Error {
        &self.0
    }
}

impl From<Error> for SessionError {
    fn from(error: Error) -> Self {
        Self(Arc::new(error))
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&in_words(self.get()))
    }
}

/// The system's errors cannot be compared: errors with the same text are equal.
impl PartialEq for SessionError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.to_string() == other.to_string()
    }
}

impl Eq for SessionError {}

/// An error and its causes on one line.
#[must_use]
pub fn in_words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}
