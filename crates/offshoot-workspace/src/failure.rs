//! Why an operation did not happen. Errors of the library are kept as they are; hints that name an operation are data.

use std::{fmt, io};

use offshoot_protocol::AgentError;
use offshoot_session::error::{Conflict, Error};

use crate::given::Misuse;
use crate::words::NextStep;

/// The result of an operation's step.
pub type Result<T> = std::result::Result<T, Failure>;

/// The kinds of failures, which front ends map to exit codes and error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// It failed.
    Failed,
    /// The input is invalid.
    Usage,
    /// What was named does not exist.
    NotFound,
    /// A session file is damaged, or a file is not a session.
    Damaged,
    /// What is there does not allow it.
    Conflict,
    /// The model gave no usable answer.
    Model,
    /// A limit was reached.
    Limit,
    /// The user stopped it.
    Stopped,
    /// The reader of the output has gone: not an error.
    ClosedPipe,
}

/// What helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// An operation.
    Step(NextStep),
    /// Any other advice.
    Text(String),
}

/// Why an operation did not happen.
#[derive(Debug)]
pub enum Failure {
    /// The arguments do not make an input.
    Misuse(Misuse),
    /// The library refused, and what helps here.
    Session(Error, Vec<Hint>),
    /// The agent that holds the session refused.
    Agent(AgentError),
    /// The operation itself refused.
    Refused {
        /// What a front end makes of it.
        kind: FailureKind,
        /// In words.
        why: String,
        /// What led to it, outermost first.
        causes: Vec<String>,
        /// What helps.
        hints: Vec<Hint>,
    },
    /// It was stopped before anything was written.
    Stopped,
}

impl Failure {
    /// A refusal without hints.
    pub fn refused(kind: FailureKind, why: impl Into<String>) -> Self {
        Self::Refused { kind, why: why.into(), causes: Vec::new(), hints: Vec::new() }
    }

    /// The same with a further hint; one about what was given, or of an agent, takes none.
    #[must_use]
    pub fn hint(mut self, hint: Hint) -> Self {
        match &mut self {
            Self::Session(_, hints) | Self::Refused { hints, .. } => hints.push(hint),
            Self::Misuse(_) | Self::Agent(_) | Self::Stopped => {}
        }
        self
    }

    /// What kind it is.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Misuse(_) => FailureKind::Usage,
            Self::Session(error, _) => kind_of(error),
            Self::Agent(AgentError::Session(error) | AgentError::NotWritten(error)) => kind_of(error.get()),
            Self::Agent(AgentError::LimitReached(_) | AgentError::Oversized(_)) => FailureKind::Limit,
            Self::Agent(AgentError::AskLater { .. } | AgentError::NoAccess(_)) => FailureKind::Model,
            Self::Agent(_) => FailureKind::Failed,
            Self::Refused { kind, .. } => *kind,
            Self::Stopped => FailureKind::Stopped,
        }
    }

    /// The system refused `action`, a verb and its object.
    pub fn io(action: impl fmt::Display, source: &io::Error) -> Self {
        let kind = kind_of_system(source);
        Self::Refused { kind, why: format!("could not {action}"), causes: chain(source), hints: Vec::new() }
    }

    /// What led to it, outermost first.
    #[must_use]
    pub fn causes(&self) -> Vec<String> {
        match self {
            Self::Refused { causes, .. } => causes.clone(),
            failure => std::error::Error::source(failure).map(chain).unwrap_or_default(),
        }
    }

    /// It and what led to it.
    #[must_use]
    pub fn on_one_line(&self) -> String {
        std::iter::once(self.to_string()).chain(self.causes()).collect::<Vec<_>>().join(": ")
    }

    /// The hints that the operation added; front ends add those for the library's errors.
    #[must_use]
    pub fn hints(&self) -> &[Hint] {
        match self {
            Self::Session(_, hints) | Self::Refused { hints, .. } => hints,
            Self::Misuse(_) | Self::Agent(_) | Self::Stopped => &[],
        }
    }

    /// The entry to which one can go all the same, where something was said since.
    pub(crate) fn said_since(error: &Error) -> Option<String> {
        match error {
            Error::Conflict { why: Conflict::SaidSince { before, .. }, .. } => before.as_ref().map(ToString::to_string),
            _ => None,
        }
    }
}

fn kind_of(error: &Error) -> FailureKind {
    match error {
        Error::NotASession { .. } => FailureKind::Damaged,
        Error::EntryNotFound { .. } | Error::SessionNotFound { .. } => FailureKind::NotFound,
        Error::Ambiguous { .. } | Error::Invalid(_) => FailureKind::Usage,
        Error::Conflict { .. } | Error::Locked { .. } => FailureKind::Conflict,
        Error::Io { source, .. } => kind_of_system(source),
        _ => FailureKind::Failed,
    }
}

fn kind_of_system(error: &io::Error) -> FailureKind {
    match error.kind() {
        io::ErrorKind::NotFound => FailureKind::NotFound,
        io::ErrorKind::AlreadyExists => FailureKind::Conflict,
        _ => FailureKind::Failed,
    }
}

/// An error and its sources, one text each.
fn chain(error: &(dyn std::error::Error + 'static)) -> Vec<String> {
    std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string).collect()
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misuse(misuse) => misuse.fmt(f),
            Self::Session(error, _) => error.fmt(f),
            Self::Agent(error) => error.fmt(f),
            Self::Refused { why, .. } => f.write_str(why),
            Self::Stopped => f.write_str("stopped: nothing was written"),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Session(error, _) => error.source(),
            Self::Agent(error) => error.source(),
            Self::Misuse(_) | Self::Refused { .. } | Self::Stopped => None,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Session(error, Vec::new())
    }
}

/// Only for writing output: an error of the library inside the `io::Error` is unpacked.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::refused(FailureKind::ClosedPipe, "nobody reads the output");
        }
        match error.downcast::<Error>() {
            Ok(error) => error.into(),
            Err(error) => Self::io("write the output", &error),
        }
    }
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Self {
        Self::Agent(error)
    }
}

impl From<Misuse> for Failure {
    fn from(misuse: Misuse) -> Self {
        Self::Misuse(misuse)
    }
}
