//! How a run or a job ended.

use crate::error::AgentError;

/// How a run or a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// With an answer.
    Done,
    /// The model or the connection failed.
    Failed(AgentError),
    /// The user stopped it.
    Aborted,
    /// The session cannot be written.
    Broken(AgentError),
}
