//! An agent that another one has started, as front ends are told of it. Data only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a child stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChildStatus {
    /// It waits for its turn: others run.
    Pending,
    /// It is at work.
    Running,
    /// It has ended with an answer.
    Completed,
    /// Its model or its session failed.
    Failed,
    /// It was stopped.
    Aborted,
    /// A limit ended it; what it said last is its answer.
    Limit,
}

impl ChildStatus {
    /// The word in files and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Aborted => "aborted",
            Self::Limit => "limit",
        }
    }

    /// Reads [`ChildStatus::as_str`].
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        use ChildStatus::{Aborted, Completed, Failed, Limit, Pending, Running};
        [Pending, Running, Completed, Failed, Aborted, Limit].into_iter().find(|status| status.as_str() == word)
    }

    /// Whether nothing follows.
    #[must_use]
    pub fn is_end(self) -> bool {
        !matches!(self, Self::Pending | Self::Running)
    }
}

/// A child and what it has done so far.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
#[serde(rename_all = "camelCase")]
pub struct ChildState {
    /// The stem of its file, such as `Alpha`; that of a child's child is `Alpha.Beta`. Once below a root session.
    pub id: String,
    /// The definition that it follows.
    pub agent: String,
    /// The call that made it.
    pub parent_tool_call_id: String,
    /// Its place in that call.
    pub index: usize,
    pub task: String,
    /// Missing if it is in memory only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// As `provider/id`.
    pub model: String,
    pub status: ChildStatus,
    /// Of it and its own children, as are the tokens and the cost.
    pub requests: u64,
    pub tokens: u64,
    /// US dollars.
    pub cost: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_tool: Option<String>,
    /// The beginning of what it said last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_text: Option<String>,
    /// The limit that ended it, or why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}
