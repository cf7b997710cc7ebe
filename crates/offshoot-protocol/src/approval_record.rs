//! What was decided on a call, as the session records it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::approval::ApprovalScope;

/// The decision on a call that did not run unasked, as the session has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ApprovalRecord {
    pub tool_call_id: String,
    pub decision: ApprovalOutcome,
    pub by: ApprovedBy,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// `project`, if the rule is kept for the project alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<ApprovalScope>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum ApprovalOutcome {
    AllowOnce,
    AllowSession,
    AllowAlways,
    OnceUnsandboxed,
    Reject,
    /// Without a question.
    Refuse,
    /// The question was taken back.
    Stopped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum ApprovedBy {
    User,
    Rule,
    Mode,
    /// It would have been asked about, and nobody can answer.
    Nobody,
}
