//! Everything that a front end may hear of an agent. As JSON an event has the shape of pi's event stream, one object a
//! line; `docs/agent.md` lists them. Knows no front end.
//!
//! An event that announces an entry (`message_end`, `compaction_end`, …) is sent when the entry is in the file.

use offshoot_session::json::quote;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::message::{AssistantMessage, Block, Message, ToolResultMessage, Usage};

/// JSON that is written as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raw(pub String);

impl Serialize for Raw {
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
pub enum Source {
    /// A compaction.
    Compaction,
    /// A branch that is left.
    BranchSummary,
}

/// What happens while an agent works.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
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
        /// The answer.
        message: Message,
        /// What its tools gave back, in the order of the calls.
        tool_results: Vec<ToolResultMessage>,
    },
    /// A message began; an answer is still empty, and its `stopReason` is `pending`.
    MessageStart {
        /// It.
        message: Message,
    },
    /// More of an answer came in.
    MessageUpdate {
        /// Usage as far as it is known.
        usage: Usage,
        /// What came.
        assistant_message_event: Update,
    },
    /// A message is complete, and in the file.
    MessageEnd {
        /// It.
        message: Message,
    },
    /// A tool starts.
    ToolExecutionStart {
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
        /// Its arguments.
        args: Value,
    },
    /// A tool shows what it has so far.
    ToolExecutionUpdate {
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
        /// Its arguments.
        args: Value,
        /// What it has; takes the place of what came before.
        partial_result: Shown,
    },
    /// A tool ended.
    ToolExecutionEnd {
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
        /// What it gave back.
        result: Shown,
        /// Whether it failed.
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
        /// What went wrong.
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
        /// What went wrong.
        error_message: String,
    },
    /// The request for a summary is sent again now.
    SummarizationRetryAttemptStart {
        /// What the summary is for.
        source: Source,
        /// Why a compaction was begun.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
    },
    /// Trying again for a summary ended, with one or without.
    SummarizationRetryFinished,
    /// A compaction begins.
    CompactionStart {
        /// Why.
        reason: Reason,
    },
    /// A compaction ended.
    CompactionEnd {
        /// Why it was begun.
        reason: Reason,
        /// What it came to; `None` if nothing was written.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Raw>,
        /// Whether it was stopped.
        aborted: bool,
        /// Whether the request that was too long is sent again.
        will_retry: bool,
        /// What went wrong. Beside a `result`: why the summary was put together without the model.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_message: Option<String>,
    },
    /// An entry that is no message was appended.
    EntryAppended {
        /// Its line.
        entry: Raw,
    },
    /// The session has another name.
    SessionInfoChanged {
        /// It; `None` if it was cleared.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// The model thinks more or less from now on.
    ThinkingLevelChanged {
        /// How much.
        level: String,
    },
    /// Another session is open, or the same one at another place. offshoot's own.
    SessionChanged {
        /// `new`, `resume`, `fork` or `tree`.
        reason: &'static str,
        /// The session's id.
        session_id: String,
        /// Its file.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_file: Option<String>,
    },
    /// The agent cannot go on, and it is not the model's doing: the session cannot be written, a request cannot be
    /// made. offshoot's own.
    Failed {
        /// What went wrong.
        error: String,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// What a tool shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// Text and pictures.
    pub content: Vec<Block>,
    /// What only people and renderers see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// What came of an answer. `content_index` is the place of the block in the answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Update {
    /// A text began.
    TextStart {
        /// Which block.
        content_index: usize,
    },
    /// More text.
    TextDelta {
        /// Which block.
        content_index: usize,
        /// What came.
        delta: String,
    },
    /// A text is complete.
    TextEnd {
        /// Which block.
        content_index: usize,
        /// The whole text.
        content: String,
    },
    /// A thought began.
    ThinkingStart {
        /// Which block.
        content_index: usize,
    },
    /// More of a thought.
    ThinkingDelta {
        /// Which block.
        content_index: usize,
        /// What came.
        delta: String,
    },
    /// A thought is complete.
    ThinkingEnd {
        /// Which block.
        content_index: usize,
        /// The whole thought.
        content: String,
    },
    /// A call began.
    #[serde(rename = "toolcall_start")]
    ToolCallStart {
        /// Which block.
        content_index: usize,
        /// The call's id.
        id: String,
        /// The tool.
        tool_name: String,
    },
    /// More of the arguments' text.
    #[serde(rename = "toolcall_delta")]
    ToolCallDelta {
        /// Which block.
        content_index: usize,
        /// What came.
        delta: String,
    },
    /// A call is complete.
    #[serde(rename = "toolcall_end")]
    ToolCallEnd {
        /// Which block.
        content_index: usize,
        /// The whole call.
        tool_call: Block,
    },
}

impl Event {
    /// The event as one line of JSON, without line feed.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| {
            format!(r#"{{"type":"failed","error":{}}}"#, quote(&format!("could not write an event: {error}")))
        })
    }
}

impl From<AssistantMessage> for Message {
    fn from(message: AssistantMessage) -> Self {
        Self::Assistant(message)
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
            result: Some(Raw(r#"{"x":1.0e2}"#.to_owned())),
            aborted: false,
            will_retry: true,
            error_message: None,
        };
        assert_eq!(
            end.to_json(),
            r#"{"type":"compaction_end","reason":"overflow","result":{"x":1.0e2},"aborted":false,"willRetry":true}"#
        );
    }
}
