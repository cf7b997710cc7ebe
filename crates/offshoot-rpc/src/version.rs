//! The records of pi 0.31, for its clients: an update has the whole answer so far, and later kinds of events are left out.

use std::sync::Arc;

use offshoot_agent::lenient_json;
use offshoot_protocol::message::{AssistantMessage, Block, Message, StopReason, Usage};
use offshoot_protocol::{Event, Reason, Update};
use serde_json::{Map, Value, json};

/// Follows the answer that is said, since each of its records has all of it.
#[derive(Default)]
pub(crate) struct AnswerSoFar {
    message: Option<AssistantMessage>,
    /// The text of the arguments that come.
    arguments: String,
}

impl AnswerSoFar {
    /// The event's record in pi 0.31, in the order in which the client reads; `None` for what that version does not tell.
    pub(crate) fn record(&mut self, event: &Event) -> Option<String> {
        let value = match event {
            Event::MessageStart { message } => {
                if let Message::Assistant(message) = message {
                    self.message = Some(AssistantMessage { stop_reason: StopReason::Stop, ..message.as_ref().clone() });
                }
                let message = self.message.as_ref().filter(|_| matches!(message, Message::Assistant(_))).map_or_else(
                    || message.clone(),
                    |answer| Message::Assistant(Arc::new(answer.clone())),
                );
                return Some(Event::MessageStart { message }.to_json());
            }
            Event::MessageUpdate { usage, assistant_message_event } => self.update(*usage, assistant_message_event)?,
            Event::AgentEnd { messages, .. } => json!({"type": "agent_end", "messages": messages}),
            Event::CompactionStart { reason: reason @ (Reason::Threshold | Reason::Overflow) } => {
                json!({"type": "auto_compaction_start", "reason": reason})
            }
            Event::CompactionEnd { reason: Reason::Threshold | Reason::Overflow, result, aborted, will_retry, .. } => {
                let mut record = json!({"type": "auto_compaction_end", "aborted": aborted, "willRetry": will_retry});
                if let Some(result) = result {
                    record["result"] = older_compaction(&result.to_json());
                }
                record
            }
            Event::MessageEnd { .. }
            | Event::AgentStart
            | Event::TurnStart
            | Event::TurnEnd { .. }
            | Event::ToolExecutionStart { .. }
            | Event::ToolExecutionUpdate { .. }
            | Event::ToolExecutionEnd { .. }
            | Event::AutoRetryStart { .. }
            | Event::AutoRetryEnd { .. }
            // Without them a client waits for a run that has ended, or for an answer to a question.
            | Event::Failed { .. }
            | Event::ApprovalRequest { .. } => return Some(event.to_json()),
            Event::AgentSettled { .. }
            | Event::SystemStart { .. }
            | Event::SystemEnd { .. }
            | Event::BashExecutionUpdate { .. }
            | Event::QueueUpdate { .. }
            | Event::SummarizationRetryScheduled { .. }
            | Event::SummarizationRetryAttemptStart { .. }
            | Event::SummarizationRetryFinished
            | Event::SummarizationUpdate { .. }
            | Event::CompactionStart { reason: Reason::Manual }
            | Event::CompactionEnd { reason: Reason::Manual, .. }
            | Event::EntryAppended { .. }
            | Event::SessionInfoChanged { .. }
            | Event::ThinkingLevelChanged { .. }
            | Event::ApprovalModeChanged { .. }
            | Event::SessionChanged { .. }
            | Event::SessionShutdown { .. }
            | Event::ApprovalEnd { .. }
            | Event::QuestionRequest { .. }
            | Event::QuestionEnd { .. }
            | Event::ChildStart { .. }
            | Event::ChildUpdate { .. }
            | Event::ChildEnd { .. }
            | Event::BackgroundCommands { .. }
            | Event::Notice { .. } => return None,
        };
        Some(value.to_string())
    }

    fn update(&mut self, usage: Usage, update: &Update) -> Option<Value> {
        let message = self.message.as_mut()?;
        message.usage = usage;
        grow(&mut message.content, update, &mut self.arguments);
        let mut event = serde_json::to_value(update).unwrap_or_default();
        if let Value::Object(event) = &mut event {
            // The block of the partial answer has them.
            event.retain(|name, _| matches!(name.as_str(), "type" | "contentIndex" | "delta" | "content" | "toolCall"));
        }
        let answer = Message::Assistant(Arc::new(message.clone()));
        event["partial"] = json!(answer);
        Some(json!({"type": "message_update", "message": answer, "assistantMessageEvent": event}))
    }
}

fn grow(content: &mut Vec<Block>, update: &Update, arguments: &mut String) {
    match update {
        Update::TextStart { .. } => content.push(Block::text("")),
        Update::ThinkingStart { .. } => content.push(Block::thinking("")),
        Update::ToolCallStart { id, tool_name, .. } => {
            arguments.clear();
            content.push(Block::call(id, tool_name));
        }
        Update::TextDelta { content_index, delta } => {
            if let Some(Block::Text { text, .. }) = content.get_mut(*content_index) {
                text.push_str(delta);
            }
        }
        Update::ThinkingDelta { content_index, delta } => {
            if let Some(Block::Thinking { thinking, .. }) = content.get_mut(*content_index) {
                thinking.push_str(delta);
            }
        }
        Update::ToolCallDelta { content_index, delta } => {
            arguments.push_str(delta);
            if let Some(Block::ToolCall { arguments: known, .. }) = content.get_mut(*content_index)
                && let Ok(whole @ Value::Object(_)) = lenient_json::from_str(arguments)
            {
                *known = whole;
            }
        }
        Update::TextEnd { content_index, content: whole } => {
            if let Some(Block::Text { text, .. }) = content.get_mut(*content_index) {
                text.clone_from(whole);
            }
        }
        Update::ThinkingEnd { content_index, content: whole } => {
            if let Some(Block::Thinking { thinking, .. }) = content.get_mut(*content_index) {
                thinking.clone_from(whole);
            }
        }
        Update::ToolCallEnd { content_index, tool_call } => {
            if let Some(block) = content.get_mut(*content_index) {
                block.clone_from(tool_call);
            }
        }
    }
}

/// The data of a response in pi 0.31; `None` for a command that had none.
pub(crate) fn older_data(command: &str, data: String) -> Option<String> {
    let change: fn(&mut Map<String, Value>) = match command {
        "prompt" | "queue_message" | "steer" | "follow_up" => return None,
        "get_state" => older_state,
        "get_session_stats" => |stats| drop(stats.remove("contextUsage")),
        "compact" => return Some(older_compaction(&data).to_string()),
        _ => return Some(data),
    };
    match lenient_json::from_str(&data) {
        Ok(Value::Object(mut members)) => {
            change(&mut members);
            Some(Value::Object(members).to_string())
        }
        _ => Some(data),
    }
}

fn older_state(state: &mut Map<String, Value>) {
    for (now, then) in [("steeringMode", "queueMode"), ("pendingMessageCount", "queuedMessageCount")] {
        if let Some(value) = state.remove(now) {
            state.insert(then.to_owned(), value);
        }
    }
    for later in ["followUpMode", "sessionName"] {
        state.remove(later);
    }
}

/// The members that a compaction's result had in pi 0.31.
fn older_compaction(result: &str) -> Value {
    let mut result: Value = lenient_json::from_str(result).unwrap_or_default();
    if let Value::Object(members) = &mut result {
        members.retain(|name, _| matches!(name.as_str(), "summary" | "firstKeptEntryId" | "tokensBefore" | "details"));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(event: &Event) -> Option<String> {
        AnswerSoFar::default().record(event)
    }

    #[test]
    fn compactions_have_their_older_names() {
        let end = |reason| Event::CompactionEnd {
            reason,
            result: None,
            aborted: true,
            will_retry: false,
            error_message: None,
        };
        let start = told(&Event::CompactionStart { reason: Reason::Threshold }).unwrap();
        assert_eq!(start, r#"{"type":"auto_compaction_start","reason":"threshold"}"#);
        let ended = r#"{"type":"auto_compaction_end","aborted":true,"willRetry":false}"#;
        assert_eq!(told(&end(Reason::Overflow)).unwrap(), ended);
        assert_eq!(told(&end(Reason::Manual)), None);
        assert_eq!(told(&Event::AgentSettled { aborted: false }), None);
        let result = older_compaction(r#"{"summary":"s","firstKeptEntryId":"e","report":{},"usage":{}}"#);
        assert_eq!(result.to_string(), r#"{"summary":"s","firstKeptEntryId":"e"}"#);
    }
}
