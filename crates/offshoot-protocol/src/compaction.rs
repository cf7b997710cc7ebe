//! Why a context is compacted, and what came of it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::raw_json::RawJson;

/// Why a context is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// The user asked for it.
    Manual,
    /// The context came near the model's limit.
    Threshold,
    /// The context exceeded the model's limit.
    Overflow,
}

impl Reason {
    /// As in events.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Threshold => "threshold",
            Self::Overflow => "overflow",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum SummarySource {
    Compaction,
    BranchSummary,
}

/// The result of a compaction, in pi's shape.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct CompactionResult {
    pub summary: String,
    pub first_kept_entry_id: String,
    pub tokens_before: u64,
    pub estimated_tokens_after: u64,
    /// The details of the entry.
    pub details: RawJson,
    /// As reported by the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<RawJson>,
    /// What the summary dropped. offshoot's own.
    pub report: RawJson,
}

impl CompactionResult {
    /// One line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
