//! Everything that a front end may hear of an agent. As JSON an event has the shape of pi's event stream, one object a
//! line; `docs/agent.md` lists them. Knows no front end.
//!
//! An event that announces an entry (`message_end`, `compaction_end`, …) is sent when the entry is in the file.

use std::sync::Arc;

use offshoot_session::json::quote;
use serde::ser::{Error as _, SerializeStruct as _};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::message::{Block, Message, ToolResultMessage, Usage};
use crate::tool::BashRun;

/// JSON that is written as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawJson(pub String);

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = serde_json::value::RawValue::from_string(self.0.clone()).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// Why a context is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// Somebody asked for it.
    Manual,
    /// The context came near the model's limit.
    Threshold,
    /// The context was longer than the model takes.
    Overflow,
}

/// What a summary is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SummarySource {
    /// A compaction.
    Compaction,
    /// A branch that is left.
    BranchSummary,
}

/// What happens while an agent works.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Event {
    /// A run began: one or more turns.
    AgentStart,
    /// A run ended.
    AgentEnd {
        /// What it brought forth, oldest first.
        messages: Vec<Message>,
        /// Whether the request failed and will be sent again after a while.
        will_retry: bool,
    },
    /// Nothing goes on by itself any more: no retry, no compaction, nothing queued.
    AgentSettled {
        /// Whether the user stopped it.
        aborted: bool,
    },
    /// A turn began: one answer and the tools that it calls.
    TurnStart,
    /// A turn ended.
    TurnEnd {
        message: Message,
        /// What its tools gave back, in the order of the calls.
        #[serde(serialize_with = "shared")]
        tool_results: Vec<Arc<ToolResultMessage>>,
    },
    /// A message began; an answer is still empty, and its `stopReason` is `pending`.
    MessageStart { message: Message },
    /// More of an answer came in.
    MessageUpdate { usage: Usage, assistant_message_event: Update },
    /// A message is complete, and in the file.
    MessageEnd { message: Message },
    /// A tool starts.
    ToolExecutionStart { tool_call_id: String, tool_name: String, args: Value },
    /// A tool shows what it has so far.
    ToolExecutionUpdate {
        tool_call_id: String,
        tool_name: String,
        args: Value,
        /// What it has; takes the place of what came before.
        #[serde(serialize_with = "shown")]
        partial_result: Arc<ToolResultMessage>,
    },
    /// A tool ended.
    ToolExecutionEnd {
        tool_call_id: String,
        tool_name: String,
        #[serde(serialize_with = "shown")]
        result: Arc<ToolResultMessage>,
        is_error: bool,
    },
    /// The command that the user runs printed more.
    BashExecutionUpdate {
        /// What came since the last time; of much the end.
        delta: String,
        /// How many bytes before it are left out. offshoot's own.
        #[serde(skip_serializing_if = "is_none")]
        omitted: u64,
    },
    /// What waits to be said has changed.
    QueueUpdate {
        /// Said after the current turn.
        steering: Vec<String>,
        /// Said when the agent would stop.
        follow_up: Vec<String>,
    },
    /// A request failed and will be sent again.
    AutoRetryStart {
        /// Which attempt, from 1.
        attempt: u32,
        /// How many there may be.
        max_attempts: u32,
        /// After so many milliseconds.
        delay_ms: u64,
        error_message: String,
    },
    /// Trying again ended.
    AutoRetryEnd {
        /// Whether an answer came.
        success: bool,
        /// After how many attempts.
        attempt: u32,
        /// What went wrong last.
        #[serde(skip_serializing_if = "Option::is_none")]
        final_error: Option<String>,
    },
    /// The request for a summary failed and will be sent again.
    SummarizationRetryScheduled {
        /// Which attempt, from 1.
        attempt: u32,
        /// How many there may be.
        max_attempts: u32,
        /// After so many milliseconds.
        delay_ms: u64,
        error_message: String,
    },
    /// The request for a summary is sent again now.
    SummarizationRetryAttemptStart {
        /// What the summary is for.
        source: SummarySource,
        /// Why a compaction was begun.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
    },
    /// Trying again for a summary ended, with one or without.
    SummarizationRetryFinished,
    /// A compaction begins.
    CompactionStart { reason: Reason },
    /// A compaction ended.
    CompactionEnd {
        reason: Reason,
        /// What it came to; `None` if nothing was written.
        #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shared_result")]
        result: Option<Arc<CompactionResult>>,
        /// Whether it was stopped.
        aborted: bool,
        /// Whether the request that was too long is sent again.
        will_retry: bool,
        /// What went wrong. Beside a `result`: why the summary was put together without the model.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_message: Option<String>,
    },
    /// An entry that is no message was appended.
    EntryAppended { entry: RawJson },
    /// The session has another name.
    SessionInfoChanged {
        /// It; `None` if it was cleared.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// The model thinks more or less from now on.
    ThinkingLevelChanged { level: String },
    /// Another session is open, or the same one at another place. offshoot's own.
    SessionChanged {
        /// `new`, `resume`, `fork` or `tree`.
        reason: &'static str,
        session_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        session_file: Option<String>,
    },
    /// The agent cannot go on, and it is not the model's doing: the session cannot be written, a request cannot be
    /// made. offshoot's own.
    Failed { error: String },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Of a tool's result its content and details: the event has the rest beside it.
fn shown<S: Serializer>(result: &ToolResultMessage, to: S) -> Result<S::Ok, S::Error> {
    let mut object = to.serialize_struct("result", 2)?;
    object.serialize_field("content", &result.content)?;
    match &result.details {
        Some(details) => object.serialize_field("details", details)?,
        None => object.skip_field("details")?,
    }
    object.end()
}

fn shared<S: Serializer>(results: &[Arc<ToolResultMessage>], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(results.iter().map(AsRef::as_ref))
}

fn shared_result<S: Serializer>(result: &Option<Arc<CompactionResult>>, to: S) -> Result<S::Ok, S::Error> {
    result.as_deref().serialize(to)
}

/// What a compaction came to, in pi's shape.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionResult {
    /// The summary.
    pub summary: String,
    /// The first entry that stays as it is.
    pub first_kept_entry_id: String,
    /// How many tokens the context had.
    pub tokens_before: u64,
    /// How many tokens it has now, estimated.
    pub estimated_tokens_after: u64,
    /// What the entry keeps beside the summary.
    pub details: RawJson,
    /// What the summary cost, as its provider reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<RawJson>,
    /// What of the conversation the summary lacks. offshoot's own.
    pub report: RawJson,
}

/// A command of the user and what came of it, as the `bashExecution` message that sessions keep.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "role", rename = "bashExecution", rename_all = "camelCase")]
pub struct BashResult {
    /// The command.
    pub command: String,
    /// How it ended and what it printed.
    #[serde(flatten)]
    pub run: BashRun,
    /// Milliseconds since 1970.
    pub timestamp: i64,
    /// Whether the model never sees it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclude_from_context: bool,
}

impl CompactionResult {
    /// The result as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl BashResult {
    /// The message as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What came of an answer. `content_index` is the place of the block in the answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Update {
    /// A text began.
    TextStart { content_index: usize },
    /// More text.
    TextDelta { content_index: usize, delta: String },
    /// A text is complete.
    TextEnd { content_index: usize, content: String },
    /// A thought began.
    ThinkingStart { content_index: usize },
    /// More of a thought.
    ThinkingDelta { content_index: usize, delta: String },
    /// A thought is complete.
    ThinkingEnd { content_index: usize, content: String },
    /// A call began.
    #[serde(rename = "toolcall_start")]
    ToolCallStart { content_index: usize, id: String, tool_name: String },
    /// More of the arguments' text.
    #[serde(rename = "toolcall_delta")]
    ToolCallDelta { content_index: usize, delta: String },
    /// A call is complete.
    #[serde(rename = "toolcall_end")]
    ToolCallEnd { content_index: usize, tool_call: Block },
}

impl Event {
    /// The event as one line of JSON, without line feed.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| {
            format!(r#"{{"type":"failed","error":{}}}"#, quote(&format!("could not write an event: {error}")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_pis_shapes() {
        let delta = Update::TextDelta { content_index: 0, delta: "a\u{2028}b".to_owned() };
        let event = Event::MessageUpdate { usage: Usage::default(), assistant_message_event: delta };
        assert_eq!(
            event.to_json(),
            "{\"type\":\"message_update\",\"usage\":{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\
             \"totalTokens\":0,\"cost\":{\"input\":0.0,\"output\":0.0,\"cacheRead\":0.0,\"cacheWrite\":0.0,\"total\":0.0}},\
             \"assistantMessageEvent\":{\"type\":\"text_delta\",\"contentIndex\":0,\"delta\":\"a\u{2028}b\"}}"
        );
        let call = Update::ToolCallStart { content_index: 1, id: "c".to_owned(), tool_name: "ls".to_owned() };
        let call = serde_json::to_string(&call).unwrap();
        assert_eq!(call, r#"{"type":"toolcall_start","contentIndex":1,"id":"c","toolName":"ls"}"#);
        let printed = |omitted| Event::BashExecutionUpdate { delta: "a\n".to_owned(), omitted }.to_json();
        assert_eq!(printed(0), r#"{"type":"bash_execution_update","delta":"a\n"}"#);
        assert_eq!(printed(7), r#"{"type":"bash_execution_update","delta":"a\n","omitted":7}"#);
        let end = Event::CompactionEnd {
            reason: Reason::Overflow,
            result: Some(Arc::new(CompactionResult {
                summary: "s".to_owned(),
                first_kept_entry_id: "e".to_owned(),
                tokens_before: 7,
                estimated_tokens_after: 3,
                details: RawJson(r#"{"x":1.0e2}"#.to_owned()),
                usage: None,
                report: RawJson("{}".to_owned()),
            })),
            aborted: false,
            will_retry: true,
            error_message: None,
        };
        assert_eq!(
            end.to_json(),
            concat!(
                r#"{"type":"compaction_end","reason":"overflow","result":{"summary":"s","firstKeptEntryId":"e","#,
                r#""tokensBefore":7,"estimatedTokensAfter":3,"details":{"x":1.0e2},"report":{}},"#,
                r#""aborted":false,"willRetry":true}"#
            )
        );
    }

    #[test]
    fn commands_of_the_user_have_pis_shape() {
        let run = BashRun {
            output: "a\n".to_owned(),
            exit_code: Some(1),
            cancelled: false,
            truncated: true,
            full_output_path: Some("/tmp/all".into()),
        };
        let result = BashResult { command: "ls".to_owned(), run, timestamp: 7, exclude_from_context: true };
        let whole = concat!(
            r#"{"role":"bashExecution","command":"ls","output":"a\n","exitCode":1,"cancelled":false,"truncated":true,"#,
            r#""fullOutputPath":"/tmp/all","timestamp":7,"excludeFromContext":true}"#
        );
        assert_eq!(result.to_json(), whole);
        let stopped = BashResult { run: BashRun::stopped(), exclude_from_context: false, ..result };
        let bare =
            r#"{"role":"bashExecution","command":"ls","output":"","cancelled":true,"truncated":false,"timestamp":7}"#;
        assert_eq!(stopped.to_json(), bare);
    }

    #[test]
    fn results_of_tools_are_shared_and_read_as_before() {
        let result = Arc::new(ToolResultMessage {
            tool_call_id: "c".to_owned(),
            tool_name: "ls".to_owned(),
            content: vec![Block::text("x")],
            details: None,
            is_error: false,
            timestamp: 7,
        });
        let (tool_call_id, tool_name) = (result.tool_call_id.clone(), result.tool_name.clone());
        let end = Event::ToolExecutionEnd { tool_call_id, tool_name, result: result.clone(), is_error: false };
        assert_eq!(
            end.to_json(),
            concat!(
                r#"{"type":"tool_execution_end","toolCallId":"c","toolName":"ls","#,
                r#""result":{"content":[{"type":"text","text":"x"}]},"isError":false}"#
            )
        );
        let message = Message::ToolResult(result.clone());
        let json = serde_json::to_string(&message).unwrap();
        assert!(json.starts_with(r#"{"role":"toolResult","toolCallId":"c","#), "{json}");
        assert_eq!(serde_json::from_str::<Message>(&json).unwrap(), message);
        let turn = Event::TurnEnd { message: message.clone(), tool_results: vec![result] }.to_json();
        assert!(turn.contains(r#""toolResults":[{"toolCallId":"c","toolName":"ls","#), "{turn}");
    }
}
