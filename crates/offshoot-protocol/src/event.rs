//! The agent's events. As JSON an event has the shape of pi's event stream, one object per line; `docs/agent.md` lists
//! them. Knows no front end.
//!
//! An event that announces an entry (`message_end`, `compaction_end`, …) is sent when the entry is in the file.

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::approval::{ApprovalDecision, ApprovalMode, ApprovalTier, ForeseenQuestion, OfferedRule};
use crate::approval_record::ApprovalRecord;
use crate::background::BackgroundCommand;
use crate::child::ChildState;
use crate::compaction::{CompactionResult, Reason, SummarySource};
use crate::form::Form;
use crate::message::{Block, Message, ToolResultMessage, Usage};
use crate::notice::NoticeCode;
use crate::raw_json::RawJson;
use crate::session_change::{SessionChangeReason, ShutdownReason};
use crate::thinking::ThinkingLevel;
use crate::update::Update;

fn system_message(_: &mut SchemaGenerator) -> Schema {
    let role = json_schema!({ "type": "string", "const": "system" });
    json_schema!({ "type": "object", "properties": { "role": role }, "required": ["role"], "additionalProperties": true })
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Event {
    /// A run started: one or more turns.
    AgentStart,
    /// A run ended.
    AgentEnd {
        /// The messages of the run, oldest first.
        messages: Vec<Message>,
        /// Whether the failed request will be sent again.
        will_retry: bool,
    },
    /// Nothing continues by itself: no retry, no compaction, nothing queued.
    AgentSettled {
        /// Whether the user stopped it.
        aborted: bool,
    },
    /// A turn started: one answer and its tool calls.
    TurnStart,
    /// A turn ended.
    TurnEnd {
        message: Message,
        /// In the order of the calls.
        #[serde(serialize_with = "as_messages")]
        #[schemars(with = "Vec<Message>")]
        tool_results: Vec<Arc<ToolResultMessage>>,
    },
    /// A message started; an answer is still empty, and its `stopReason` is `pending`.
    MessageStart { message: Message },
    /// A streaming answer grew.
    MessageUpdate { usage: Usage, assistant_message_event: Update },
    /// A message is complete and in the file.
    MessageEnd { message: Message },
    /// The system prompt and the tools that a prompt stores before itself: a message of the role `system`.
    #[serde(rename = "message_start")]
    SystemStart {
        #[schemars(schema_with = "system_message")]
        message: RawJson,
    },
    /// The same is in the file.
    #[serde(rename = "message_end")]
    SystemEnd {
        #[schemars(schema_with = "system_message")]
        message: RawJson,
    },
    /// A tool starts.
    ToolExecutionStart { tool_call_id: String, tool_name: String, args: Value },
    /// A running tool shows its progress.
    ToolExecutionUpdate {
        tool_call_id: String,
        tool_name: String,
        args: Value,
        /// Everything so far; replaces the previous update.
        #[serde(serialize_with = "shown")]
        #[schemars(with = "ShownResult<'static>")]
        partial_result: Arc<ToolResultMessage>,
    },
    /// A tool ended.
    ToolExecutionEnd {
        tool_call_id: String,
        tool_name: String,
        #[serde(serialize_with = "shown")]
        #[schemars(with = "ShownResult<'static>")]
        result: Arc<ToolResultMessage>,
        is_error: bool,
    },
    /// The user's shell command printed more.
    BashExecutionUpdate {
        /// The output since the last update, cut to its end if long.
        delta: String,
        /// Bytes left out before `delta`. offshoot's own.
        #[serde(skip_serializing_if = "is_none")]
        omitted: u64,
    },
    /// The queues changed.
    QueueUpdate {
        /// For after the current turn.
        steering: Vec<String>,
        /// For when the agent would stop.
        follow_up: Vec<String>,
    },
    /// A request failed and will be sent again.
    AutoRetryStart {
        /// From 1.
        attempt: u32,
        max_attempts: u32,
        delay_ms: u64,
        error_message: String,
    },
    /// Retrying ended.
    AutoRetryEnd {
        /// Whether a retry succeeded.
        success: bool,
        attempt: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        final_error: Option<String>,
    },
    /// The request for a summary failed and will be sent again.
    SummarizationRetryScheduled {
        /// From 1.
        attempt: u32,
        max_attempts: u32,
        delay_ms: u64,
        error_message: String,
    },
    /// The request for a summary is sent again.
    SummarizationRetryAttemptStart {
        source: SummarySource,
        /// The reason for a compaction; none for a branch summary.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
    },
    /// With or without success.
    SummarizationRetryFinished,
    /// A streaming summary grew by some tokens. A short one says nothing. offshoot's own.
    SummarizationUpdate {
        /// An estimate of all tokens so far, of thoughts too.
        tokens: u64,
    },
    /// A compaction starts.
    CompactionStart { reason: Reason },
    /// A compaction ended.
    CompactionEnd {
        reason: Reason,
        /// Missing if nothing was written.
        #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shared_result")]
        #[schemars(with = "Option<CompactionResult>")]
        result: Option<Arc<CompactionResult>>,
        aborted: bool,
        /// Whether the request that was too long is sent again.
        will_retry: bool,
        /// Beside a `result`: why the summary was written without the model.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_message: Option<String>,
    },
    /// An entry that is not a message was appended.
    EntryAppended { entry: RawJson },
    /// The session has another name.
    SessionInfoChanged {
        /// Missing if it was cleared.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// The thinking level changed.
    ThinkingLevelChanged { level: ThinkingLevel },
    /// The approval mode changed. offshoot's own.
    ApprovalModeChanged { mode: ApprovalMode },
    /// Another session is open, or the same one at another entry. offshoot's own.
    SessionChanged {
        reason: SessionChangeReason,
        session_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        session_file: Option<String>,
        /// The current entry at that moment; later events are about entries below it. offshoot's own.
        #[serde(skip_serializing_if = "Option::is_none")]
        leaf_id: Option<String>,
        /// The entry that was current before, if the path to it is the beginning of the new one.
        #[serde(skip)]
        grown_from: Option<String>,
    },
    /// The agent ends: nothing runs, everything is in the file, and no event follows. It comes exactly once, however the
    /// program is asked to end. In pi only extensions get this event.
    SessionShutdown { reason: ShutdownReason },
    /// A call waits until a front end answers. offshoot's own.
    ApprovalRequest {
        id: u64,
        tool_call_id: String,
        tool_name: String,
        args: Value,
        tier: ApprovalTier,
        /// Why somebody is asked, as a clause.
        reason: String,
        /// The change of a file, as numbered lines, if it can be foretold.
        #[serde(skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
        /// The rule of `allow_session` and `allow_always`.
        #[serde(skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        /// The rules among which `approve` may choose, the narrowest first.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        rules: Vec<OfferedRule>,
        options: Vec<ApprovalDecision>,
        /// How many calls of the answer come after this one.
        waiting: usize,
        /// Those of them that will be asked about too, as things are now. Programs are not sent them.
        #[serde(skip)]
        following: Vec<ForeseenQuestion>,
    },
    /// A question was answered or taken back, or a call was refused without one. offshoot's own.
    ApprovalEnd {
        /// The question's.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
        #[serde(flatten)]
        record: ApprovalRecord,
    },
    /// The person is asked. Answered by the request `answer`. offshoot's own.
    QuestionRequest {
        /// Names the answer.
        id: u64,
        form: Form,
    },
    /// A question was answered or taken back. offshoot's own.
    QuestionEnd { id: u64 },
    /// The tool `task` has started an agent. offshoot's own.
    ChildStart { child: Box<ChildState> },
    /// What a child has done so far; a few times a second. offshoot's own.
    ChildUpdate { child: Box<ChildState> },
    /// A child has ended. offshoot's own.
    ChildEnd { child: Box<ChildState> },
    /// A command in the background has started or ended: all that run, and those that have ended since the program started, the newest
    /// last. offshoot's own.
    BackgroundCommands { commands: Vec<BackgroundCommand> },
    /// The agent cannot continue, through no fault of the model: the session cannot be written, or a request cannot be
    /// built. offshoot's own.
    Failed { error: String },
    /// Something to know about the session's file, such as what other programs did to it, or about the sandbox. offshoot's own.
    Notice {
        /// As of a diagnostic.
        code: NoticeCode,
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        entry_id: Option<String>,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Of a tool's result what the event does not have itself.
#[derive(Serialize, JsonSchema)]
struct ShownResult<'a> {
    content: &'a [Block],
    /// For people and renderers; its shape depends on the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a Value>,
}

fn shown<S: Serializer>(result: &ToolResultMessage, to: S) -> Result<S::Ok, S::Error> {
    ShownResult { content: &result.content, details: result.details.as_ref() }.serialize(to)
}

/// With their role.
fn as_messages<S: Serializer>(results: &[Arc<ToolResultMessage>], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(results.iter().map(|result| Message::ToolResult(Arc::clone(result))))
}

fn shared_result<S: Serializer>(result: &Option<Arc<CompactionResult>>, to: S) -> Result<S::Ok, S::Error> {
    result.as_deref().serialize(to)
}

impl Event {
    /// The member `type` of its JSON.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::AgentStart => "agent_start",
            Self::AgentEnd { .. } => "agent_end",
            Self::AgentSettled { .. } => "agent_settled",
            Self::TurnStart => "turn_start",
            Self::TurnEnd { .. } => "turn_end",
            Self::MessageStart { .. } | Self::SystemStart { .. } => "message_start",
            Self::MessageUpdate { .. } => "message_update",
            Self::MessageEnd { .. } | Self::SystemEnd { .. } => "message_end",
            Self::ToolExecutionStart { .. } => "tool_execution_start",
            Self::ToolExecutionUpdate { .. } => "tool_execution_update",
            Self::ToolExecutionEnd { .. } => "tool_execution_end",
            Self::BashExecutionUpdate { .. } => "bash_execution_update",
            Self::QueueUpdate { .. } => "queue_update",
            Self::AutoRetryStart { .. } => "auto_retry_start",
            Self::AutoRetryEnd { .. } => "auto_retry_end",
            Self::SummarizationRetryScheduled { .. } => "summarization_retry_scheduled",
            Self::SummarizationRetryAttemptStart { .. } => "summarization_retry_attempt_start",
            Self::SummarizationRetryFinished => "summarization_retry_finished",
            Self::SummarizationUpdate { .. } => "summarization_update",
            Self::CompactionStart { .. } => "compaction_start",
            Self::CompactionEnd { .. } => "compaction_end",
            Self::EntryAppended { .. } => "entry_appended",
            Self::SessionInfoChanged { .. } => "session_info_changed",
            Self::ThinkingLevelChanged { .. } => "thinking_level_changed",
            Self::ApprovalModeChanged { .. } => "approval_mode_changed",
            Self::SessionChanged { .. } => "session_changed",
            Self::SessionShutdown { .. } => "session_shutdown",
            Self::ApprovalRequest { .. } => "approval_request",
            Self::ApprovalEnd { .. } => "approval_end",
            Self::QuestionRequest { .. } => "question_request",
            Self::QuestionEnd { .. } => "question_end",
            Self::ChildStart { .. } => "child_start",
            Self::ChildUpdate { .. } => "child_update",
            Self::ChildEnd { .. } => "child_end",
            Self::BackgroundCommands { .. } => "background_commands",
            Self::Failed { .. } => "failed",
            Self::Notice { .. } => "notice",
        }
    }

    /// One line of JSON, without line feed.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| {
            format!(r#"{{"type":"failed","error":{}}}"#, Value::String(format!("could not write an event: {error}")))
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
    fn results_of_tools_are_shared_and_read_as_before() {
        let result = Arc::new(ToolResultMessage {
            tool_call_id: "c".to_owned(),
            tool_name: "ls".to_owned(),
            content: vec![Block::text("x")],
            details: None,
            nested_calls: None,
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
        assert!(turn.contains(r#""toolResults":[{"role":"toolResult","toolCallId":"c","toolName":"ls","#), "{turn}");
    }
}
