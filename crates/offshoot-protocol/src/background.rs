//! Commands that run beside the conversation, as front ends see them. Runs none.

use schemars::JsonSchema;
use serde::Serialize;

/// A command that runs beside the conversation, or has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackgroundCommand {
    /// What the model calls it: `b1`, `b2` and so on, each once until the program ends.
    pub id: String,
    /// The line of the shell. Foreign text.
    pub command: String,
    /// How far it is: the members `state` and, at its end, `exitCode`.
    #[serde(flatten)]
    pub state: BackgroundState,
}

/// How far a command in the background is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum BackgroundState {
    /// It runs.
    Running,
    /// It ended by itself; 128 plus the number of a signal, as in shells.
    Exited {
        /// 0 if it succeeded.
        exit_code: i32,
    },
    /// The model, the person or the end of the program stopped it.
    Stopped,
    /// It took longer than its time-out, and was killed.
    TimedOut,
    /// It could not be run.
    Failed,
}

impl BackgroundCommand {
    /// Whether it still runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.state == BackgroundState::Running
    }
}

impl std::fmt::Display for BackgroundState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Running => f.write_str("running"),
            Self::Exited { exit_code } => write!(f, "exit code {exit_code}"),
            Self::Stopped => f.write_str("stopped"),
            Self::TimedOut => f.write_str("killed at its time-out"),
            Self::Failed => f.write_str("could not be run"),
        }
    }
}
