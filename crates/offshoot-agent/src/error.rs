//! Why the agent refused or failed, as values that a front end can match. Knows no front end.

use std::fmt;
use std::sync::Arc;

use offshoot_session::error::Error;

use crate::model::KeyError;
use crate::words::in_words;

/// Why a command was refused or failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// The command does not go with what is under way.
    #[error("{0}")]
    Busy(&'static str),
    /// The session refused to be read, or a command asked it for something that it does not have.
    #[error("{0}")]
    Session(SessionError),
    /// Entries could not be appended to the session.
    #[error("the session cannot be written: {0}")]
    NotWritten(SessionError),
    /// The model cannot be asked: there is no key for it. Nothing was recorded.
    #[error(transparent)]
    NoAccess(#[from] KeyError),
    /// Anything else, in words.
    #[error("{0}")]
    Failed(String),
    /// The agent has ended.
    #[error("the agent has ended")]
    Ended,
}

impl AgentError {
    /// The session's own error, if that is the reason.
    pub fn session(&self) -> Option<&Error> {
        match self {
            Self::Session(error) | Self::NotWritten(error) => Some(error.get()),
            Self::Busy(_) | Self::NoAccess(_) | Self::Failed(_) | Self::Ended => None,
        }
    }
}

impl From<Error> for AgentError {
    fn from(error: Error) -> Self {
        Self::Session(SessionError::from(error))
    }
}

impl From<String> for AgentError {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

/// An error of the session library, shared by all that hear of it. Its text includes the causes.
#[derive(Debug, Clone)]
pub struct SessionError(Arc<Error>);

impl SessionError {
    /// The error itself.
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

/// The system's errors have no equality of their own: two errors with one text are the same to a front end.
impl PartialEq for SessionError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.to_string() == other.to_string()
    }
}

impl Eq for SessionError {}
