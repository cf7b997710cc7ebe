//! The shapes of records that other modules write, for the schema: sessions, entries, branches, comparisons, forecasts.
//!
//! The conformance tests check real records against them.
#![expect(dead_code, reason = "they describe what is written elsewhere")]

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

/// A message of the context, as `docs/format.md` describes it: besides `user`, `assistant` and `toolResult` there are
/// `bashExecution`, `branchSummary`, `compactionSummary` and `custom`.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub(crate) struct ContextMessage {
    role: String,
}

#[derive(JsonSchema)]
pub(crate) struct MessagesData {
    messages: Vec<ContextMessage>,
}

/// An entry as the session's file has it; `docs/format.md` describes the types.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("additionalProperties" = true))]
pub(crate) struct SessionEntry {
    r#type: String,
    id: String,
    parent_id: Option<String>,
    timestamp: String,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EntriesData {
    /// In the order of the file.
    entries: Vec<SessionEntry>,
    leaf_id: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TreeNodeData {
    entry: SessionEntry,
    children: Vec<TreeNodeData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_timestamp: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TreeData {
    tree: Vec<TreeNodeData>,
    leaf_id: Option<String>,
}

/// A session, as `offshoot list --json` prints it.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionData {
    path: String,
    id: String,
    cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_session_path: Option<String>,
    /// ISO 8601, in UTC.
    created: Option<String>,
    modified: Option<String>,
    message_count: u64,
    first_message: String,
}

#[derive(JsonSchema)]
pub(crate) struct SessionsData {
    sessions: Vec<SessionData>,
}

/// Sums over the entries of a branch.
#[derive(JsonSchema)]
pub(crate) struct SumsData {
    entries: u64,
    messages: u64,
    tokens: u64,
    /// US dollars.
    cost: f64,
}

/// A branch, as `offshoot branches --json` prints it. The sums are those of its whole path.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchData {
    leaf_id: Option<String>,
    /// Whether it is the current one.
    is_open: bool,
    label: Option<String>,
    last_words: String,
    time: Option<String>,
    forks_from: Option<String>,
    /// `no`, `partly` or `all`.
    merged: String,
    unmerged_messages: u64,
    entries: u64,
    messages: u64,
    tokens: u64,
    /// US dollars.
    cost: f64,
    /// Of what it shares with no other branch.
    own: SumsData,
}

#[derive(JsonSchema)]
pub(crate) struct BranchesData {
    branches: Vec<BranchData>,
}

#[derive(JsonSchema)]
pub(crate) struct FileUseData {
    path: String,
    reads: u64,
    changes: u64,
}

/// What one of two branches has that the other has not.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SideData {
    tip_id: Option<String>,
    entries: u64,
    turns: u64,
    tokens: u64,
    /// US dollars.
    cost: f64,
    oldest: Option<String>,
    newest: Option<String>,
    models: Vec<String>,
    read_files: Vec<String>,
    modified_files: Vec<String>,
    files: Vec<FileUseData>,
    last_words: Option<String>,
}

#[derive(JsonSchema)]
pub(crate) struct PatchData {
    path: String,
    /// A unified diff from the first branch to the second; `null` if it is not known.
    patch: Option<String>,
}

/// Two branches, as `offshoot compare --json` prints them.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ComparisonData {
    ancestor_id: Option<String>,
    sides: Vec<SideData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patches: Option<Vec<PatchData>>,
}

/// The next request, before it is sent. What is not known is `null`.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ForecastData {
    context_tokens: u64,
    /// The estimates of its messages.
    message_tokens: u64,
    /// Its system prompt and its tools. `contextTokens` has them already.
    overhead_tokens: u64,
    cached_tokens: Option<u64>,
    fresh_tokens: u64,
    cache_expires_in_ms: Option<i64>,
    /// US dollars.
    cost_now: Option<f64>,
    /// When the cache is gone.
    cost_later: Option<f64>,
}

/// A picture of a prompt.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PictureInput {
    #[schemars(extend("const" = "image"))]
    r#type: String,
    /// Base64.
    data: String,
    /// Such as `image/png`.
    mime_type: String,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ApprovalModeInput {
    Auto,
    Edits,
    Ask,
    ReadOnly,
    Plan,
}

/// A command was carried out.
#[derive(JsonSchema)]
pub(crate) struct RpcSuccess {
    /// The command's, if it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_value")]
    id: Option<Value>,
    #[schemars(extend("const" = "response"))]
    r#type: String,
    command: String,
    #[schemars(extend("const" = true))]
    success: bool,
    /// Of the shape that `RpcResponses` names for the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_value")]
    data: Option<Value>,
}

/// A command was not carried out, and nothing has changed.
#[derive(JsonSchema)]
pub(crate) struct RpcRefusal {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_value")]
    id: Option<Value>,
    #[schemars(extend("const" = "response"))]
    r#type: String,
    /// `parse` if the line was no command.
    command: String,
    #[schemars(extend("const" = false))]
    success: bool,
    /// A sentence.
    error: String,
}

/// Said by its types, since many generators take a schema without any for an object.
pub(crate) fn any_value(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "number", "boolean", "object", "array", "null"] })
}

#[derive(JsonSchema)]
#[serde(untagged)]
pub(crate) enum RpcResponse {
    Success(RpcSuccess),
    Refusal(RpcRefusal),
}
