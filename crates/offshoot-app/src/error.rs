//! Errors of commands: message, causes, hints and exit code.
//!
//! Every error of the library is converted here and nowhere else. `ui` prints them.

use std::error::Error as StdError;
use std::io;

use offshoot_protocol::{AgentError, FolderRefusal, KeyError};
use offshoot_session::error::{Conflict, Error};
use offshoot_session::text::shell_word as quoted;
pub use offshoot_workspace::FailureKind;
use offshoot_workspace::{Failure, Hint, NextStep};

/// What a command gives, or why it failed.
pub type Result<T> = std::result::Result<T, CommandError>;

/// The exit codes, each with its kind of failure and its name.
pub const EXIT_CODES: &[(u8, Option<FailureKind>, &str)] = &[
    (0, None, "done"),
    (1, Some(FailureKind::Failed), "failed"),
    (2, Some(FailureKind::Usage), "wrong usage"),
    (3, Some(FailureKind::NotFound), "not found"),
    (4, Some(FailureKind::Damaged), "damaged input"),
    (5, Some(FailureKind::Conflict), "conflict"),
    (6, Some(FailureKind::Model), "the model failed"),
    (7, Some(FailureKind::Limit), "limit reached"),
    (130, Some(FailureKind::Stopped), "stopped"),
];

/// The exit code of a failure. A closed output is not a failure: its code is 0.
pub fn exit_code(kind: FailureKind) -> u8 {
    EXIT_CODES.iter().find(|(_, known, _)| *known == Some(kind)).map_or(0, |(code, ..)| *code)
}

/// Why a command failed, and what helps.
#[derive(Debug)]
pub struct CommandError {
    /// Which exit code it has.
    pub kind: FailureKind,
    /// What was attempted and did not happen.
    pub message: String,
    /// Why, the nearest reason first.
    pub causes: Vec<String>,
    /// What can be done about it.
    pub hints: Vec<String>,
    /// Whether the output says it already, as JSON.
    pub is_in_output: bool,
}

impl CommandError {
    /// A failure of this kind, without a cause or a hint.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), causes: Vec::new(), hints: Vec::new(), is_in_output: false }
    }

    /// The command line is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// A signal or a limit of time ended the run.
    #[must_use]
    pub fn stopped() -> Self {
        Self::new(FailureKind::Stopped, "stopped")
    }

    /// Adds what can be done about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Replaces the message; the old one becomes the first cause.
    #[must_use]
    pub fn of(mut self, ended: impl Into<String>) -> Self {
        self.causes.insert(0, std::mem::replace(&mut self.message, ended.into()));
        self
    }

    /// Adds why it failed.
    #[must_use]
    pub fn because(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// The message and its causes.
    pub fn on_one_line(&self) -> String {
        std::iter::once(&self.message).chain(&self.causes).map(String::as_str).collect::<Vec<_>>().join(": ")
    }

    /// The message, its causes and its hints.
    pub fn with_hints_on_one_line(&self) -> String {
        self.hints.iter().fold(self.on_one_line(), |text, hint| format!("{text}; {hint}"))
    }

    /// The system refused `action` (a verb and its object).
    pub fn io(action: impl std::fmt::Display, source: &io::Error) -> Self {
        Self::of_operation(Failure::io(action, source), None)
    }
}

/// An error and its sources, one text each.
fn chain(error: &(dyn StdError + 'static)) -> Vec<String> {
    let mut texts = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        texts.push(error.to_string());
        next = error.source();
    }
    texts
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

impl From<&Error> for CommandError {
    fn from(error: &Error) -> Self {
        let kind = match error {
            Error::Io { source, .. } => return from_system(error, source),
            Error::NotASession { .. } => FailureKind::Damaged,
            Error::EntryNotFound { .. } | Error::SessionNotFound { .. } => FailureKind::NotFound,
            Error::Ambiguous { .. } | Error::Invalid(_) => FailureKind::Usage,
            Error::Conflict { .. } | Error::Locked { .. } => FailureKind::Conflict,
            _ => FailureKind::Failed,
        };
        let hints = match error {
            Error::Spilled { path, .. } => spilled_hints(&path.to_string_lossy()),
            error => hint(error).into_iter().map(str::to_owned).collect(),
        };
        let causes = error.source().map(chain).unwrap_or_default();
        Self { causes, hints, ..Self::new(kind, error.to_string()) }
    }
}

fn hint(error: &Error) -> Option<&'static str> {
    match error {
        Error::NotASession { .. } => Some("a session file begins with a line like {\"type\":\"session\",\"id\":…}"),
        Error::EntryNotFound { id } if id.starts_with('@') || id.starts_with("HEAD") => {
            Some("`@` is the current entry, `@-` its parent, `@-3` three entries up; nothing is above the first entry")
        }
        Error::EntryNotFound { .. } => Some("`offshoot tree SESSION --flat` lists every entry with its id"),
        Error::SessionNotFound { .. } => Some("`offshoot list --all` shows every session"),
        Error::Ambiguous { .. } => Some("give more of the id"),
        Error::Conflict { why: Conflict::LeafMoved, .. } => Some("look at the session again, then repeat the command"),
        Error::Conflict { why: Conflict::BeyondWindow { .. }, .. } => {
            Some("--force does it anyway; `compact` makes room first")
        }
        Error::Locked { .. } => Some("nothing was written; `kill -CONT PID` wakes a process that was stopped"),
        _ => None,
    }
}

/// What can be done about entries that wait outside their session.
pub fn spilled_hints(session: &str) -> Vec<String> {
    let session = quoted(session);
    vec![
        format!("nothing is lost: `offshoot repair {session}` puts it into the session"),
        format!("`offshoot repair {session} --copy FILE` writes the session with it to another file"),
    ]
}

/// The library's message; the kind follows the system's error.
fn from_system(error: &Error, source: &io::Error) -> CommandError {
    CommandError { message: error.to_string(), ..CommandError::io("", source) }
}

impl CommandError {
    /// The failure of an operation on the session that was named so.
    #[expect(clippy::needless_pass_by_value, reason = "what most callers do with a failure")]
    pub fn of_operation(failure: Failure, session: Option<&str>) -> Self {
        Self::of_failure(&failure, session)
    }

    /// The same of a failure that is kept.
    pub fn of_failure(failure: &Failure, session: Option<&str>) -> Self {
        let step = |next: &NextStep| spelled(next, session);
        let hint = |hint: &Hint| match hint {
            Hint::Step(next) => step(next),
            Hint::Text(text) => text.clone(),
        };
        let hints: Vec<String> = failure.hints().iter().map(hint).collect();
        let mut error = match failure {
            Failure::Session(error, hints) if hints.is_empty() => return Self::from(error),
            // Hints added by the operation replace the library's.
            Failure::Session(error, _) => Self { hints: Vec::new(), ..Self::from(error) },
            Failure::Agent(error) => return Self::from(error),
            Failure::Refused { kind, why, causes, .. } => Self { causes: causes.clone(), ..Self::new(*kind, why) },
            Failure::Misuse(misuse) => Self::usage(misuse.to_string()),
            Failure::Stopped => Self::new(FailureKind::Stopped, failure.to_string()),
        };
        error.hints.extend(hints);
        error
    }
}

/// A next step as one types it in a shell.
pub fn spelled(next: &NextStep, session: Option<&str>) -> String {
    let of = session.filter(|_| next.is_of_session);
    let words = of.into_iter().chain(next.with.iter().map(String::as_str)).map(quoted);
    let line: Vec<String> = ["offshoot".to_owned(), next.operation.to_owned()].into_iter().chain(words).collect();
    format!("`{}` {}", line.join(" "), next.says)
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        let CommandError { kind, message, causes, hints, .. } = error;
        Self::Refused { kind, why: message, causes, hints: hints.into_iter().map(Hint::Text).collect() }
    }
}

impl From<AgentError> for CommandError {
    fn from(error: AgentError) -> Self {
        Self::from(&error)
    }
}

impl From<&AgentError> for CommandError {
    fn from(error: &AgentError) -> Self {
        match error {
            AgentError::Session(session) | AgentError::NotWritten(session) => session.get().into(),
            AgentError::NoAccess(why) => why.into(),
            AgentError::LimitReached(why) => Self::new(FailureKind::Limit, why.clone()),
            AgentError::Oversized(why) => Self::new(FailureKind::Limit, why.to_string())
                .hint("`offshoot models` lists the models with their windows"),
            AgentError::AskLater { .. } => {
                Self { causes: vec![error.to_string()], ..Self::new(FailureKind::Model, "the model gave no answer") }
                    .hint("`--wait-for-limit TIME` waits for a provider's limit and goes on")
            }
            AgentError::Folder(refusal) => refusal.into(),
            AgentError::Busy(_)
            | AgentError::Cancelled
            | AgentError::Failed(_)
            | AgentError::Crashed { .. }
            | AgentError::Ended => Self::new(FailureKind::Failed, error.to_string()),
        }
    }
}

impl From<&FolderRefusal> for CommandError {
    fn from(refusal: &FolderRefusal) -> Self {
        let kind = match refusal {
            FolderRefusal::Elsewhere { .. } | FolderRefusal::Neither { .. } => FailureKind::Usage,
            FolderRefusal::Gone { .. } => FailureKind::NotFound,
        };
        Self::new(kind, refusal.to_string())
    }
}

impl From<&KeyError> for CommandError {
    fn from(error: &KeyError) -> Self {
        Self { causes: vec![error.to_string()], ..Self::new(FailureKind::Model, "the model cannot be asked") }
            .hint("`offshoot models` shows where keys come from")
    }
}

/// Only for writing output: an error of the library inside the `io::Error` is unpacked.
impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::of_operation(error.into(), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_librarys_error_survives_the_way_through_io() {
        let error = CommandError::from(io::Error::other(Error::EntryNotFound { id: "x".to_owned() }));
        assert_eq!((error.kind, error.message.as_str()), (FailureKind::NotFound, "entry x not found"));
    }

    /// An error of the session keeps its code and hint when the agent passes it on.
    #[test]
    fn the_agent_hands_on_the_librarys_error() {
        let code = |error: Error| CommandError::from(AgentError::NotWritten(error.into())).of("the agent had to stop");
        let path = std::path::PathBuf::from("s.jsonl");
        let locked = code(Error::Locked { path, by: vec![7], waited: std::time::Duration::from_secs(1) });
        assert_eq!((exit_code(locked.kind), locked.message.as_str()), (5, "the agent had to stop"));
        assert_eq!((locked.causes.len(), locked.hints.len()), (1, 1));
        assert_eq!(exit_code(code(Error::EntryNotFound { id: "x".to_owned() }).kind), 3);
        assert_eq!(exit_code(CommandError::from(AgentError::Ended).kind), 1);
    }

    #[test]
    fn words_are_quoted_only_where_a_shell_needs_it() {
        assert_eq!(quoted("a/b-c.jsonl"), "a/b-c.jsonl");
        assert_eq!(quoted("my name"), "'my name'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }

    /// `offshoot list latest --all` is no command.
    #[test]
    fn a_step_is_spelled_with_the_session_that_it_is_about() {
        let undo = NextStep::new("undo", "takes it back");
        assert_eq!(spelled(&undo, Some("my name")), "`offshoot undo 'my name'` takes it back");
        let list = NextStep::of_all("list", "shows all").with("--all");
        assert_eq!(spelled(&list, Some("latest")), "`offshoot list --all` shows all");
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        assert_eq!(exit_code(CommandError::from(io::Error::from(io::ErrorKind::BrokenPipe)).kind), 0);
    }
}
