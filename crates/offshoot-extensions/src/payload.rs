//! The agent's events in the shape that pi's extensions get.

use std::sync::Arc;

use offshoot_agent::extensions::Happening;
use offshoot_agent::lenient_json::{self, unfinished};
use offshoot_protocol::Event;
use offshoot_protocol::message::Message;
use offshoot_protocol::model::Model;
use serde_json::{Value, json};

/// What events do not say themselves.
#[derive(Debug, Default)]
pub(crate) struct PayloadState {
    turn: u64,
    /// The answer that streams.
    partial: Option<Value>,
}

impl PayloadState {
    /// The index of the turn that ends.
    pub(crate) fn end_turn(&mut self) -> u64 {
        let index = self.turn;
        self.turn += 1;
        index
    }
}

/// The name and the JSON of an event; `None` if extensions do not get it.
pub(crate) fn of_event(state: &mut PayloadState, event: &Arc<Event>, now: i64) -> Option<(&'static str, Value)> {
    let kind = event.kind();
    let value = || serde_json::to_value(event.as_ref()).unwrap_or_default();
    let payload = match event.as_ref() {
        Event::AgentStart => {
            state.turn = 0;
            json!({"type": kind})
        }
        Event::TurnStart => json!({"type": kind, "turnIndex": state.turn, "timestamp": now}),
        Event::TurnEnd { .. } => {
            let mut value = value();
            value["turnIndex"] = json!(state.end_turn());
            value
        }
        Event::MessageStart { message } => {
            if let Message::Assistant(_) = message {
                state.partial = serde_json::to_value(message).ok();
            }
            value()
        }
        Event::MessageUpdate { assistant_message_event, .. } => {
            let mut update = serde_json::to_value(assistant_message_event).unwrap_or_default();
            let partial = state.partial.get_or_insert_with(|| json!({"role": "assistant", "content": []}));
            grow(partial, &update);
            update["partial"] = partial.clone();
            json!({"type": kind, "message": partial, "assistantMessageEvent": update})
        }
        Event::MessageEnd { .. } => {
            state.partial = None;
            value()
        }
        Event::AgentEnd { .. }
        | Event::AgentSettled { .. }
        | Event::SystemStart { .. }
        | Event::SystemEnd { .. }
        | Event::ToolExecutionStart { .. }
        | Event::ToolExecutionUpdate { .. }
        | Event::ToolExecutionEnd { .. }
        | Event::EntryAppended { .. }
        | Event::SessionInfoChanged { .. } => value(),
        Event::BashExecutionUpdate { .. }
        | Event::QueueUpdate { .. }
        | Event::AutoRetryStart { .. }
        | Event::AutoRetryEnd { .. }
        | Event::SummarizationRetryScheduled { .. }
        | Event::SummarizationRetryAttemptStart { .. }
        | Event::SummarizationRetryFinished
        | Event::SummarizationUpdate { .. }
        | Event::CompactionStart { .. }
        | Event::CompactionEnd { .. }
        | Event::ThinkingLevelChanged { .. }
        | Event::ApprovalModeChanged { .. }
        | Event::SessionChanged { .. }
        | Event::SessionShutdown { .. }
        | Event::ApprovalRequest { .. }
        | Event::ApprovalEnd { .. }
        | Event::QuestionRequest { .. }
        | Event::QuestionEnd { .. }
        | Event::ChildStart { .. }
        | Event::ChildUpdate { .. }
        | Event::ChildEnd { .. }
        | Event::BackgroundCommands { .. }
        | Event::Failed { .. }
        | Event::Notice { .. } => return None,
    };
    Some((kind, payload))
}

/// Applies an update to the answer so far.
fn grow(partial: &mut Value, update: &Value) {
    let Some(content) = partial.get_mut("content").and_then(Value::as_array_mut) else { return };
    let index = update["contentIndex"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(usize::MAX);
    let delta = update["delta"].as_str().unwrap_or_default();
    let mut push = |name: &str| {
        if let Some(Value::String(text)) = content.get_mut(index).and_then(|block| block.get_mut(name)) {
            text.push_str(delta);
        }
    };
    match update["type"].as_str().unwrap_or_default() {
        "text_delta" => push("text"),
        "thinking_delta" => push("thinking"),
        "text_start" if index == content.len() => content.push(json!({"type": "text", "text": ""})),
        "thinking_start" if index == content.len() => content.push(json!({"type": "thinking", "thinking": ""})),
        "toolcall_start" if index == content.len() => {
            content.push(json!({"type": "toolCall", "id": update["id"], "name": update["toolName"], "arguments": {}, "partialJson": ""}));
        }
        "toolcall_delta" => {
            if let Some(call) = content.get_mut(index).and_then(Value::as_object_mut) {
                let known = call.get("partialJson").and_then(Value::as_str).unwrap_or_default();
                let written = format!("{known}{delta}");
                call.insert("arguments".to_owned(), unfinished(&written).unwrap_or_else(|| json!({})));
                call.insert("partialJson".to_owned(), json!(written));
            }
        }
        "toolcall_end" => {
            if let Some(block) = content.get_mut(index) {
                *block = update["toolCall"].clone();
            }
        }
        _ => {}
    }
}

/// The name and the JSON of something that is no event of the agent.
pub(crate) fn of_happening(happening: Happening) -> (&'static str, Value) {
    let json = |text: &str| lenient_json::from_str::<Value>(text).unwrap_or_default();
    match happening {
        Happening::Compacted { entry, is_given, reason, will_retry } => (
            "session_compact",
            json!({
                "type": "session_compact", "compactionEntry": json(&entry), "fromExtension": is_given,
                "reason": reason.as_str(), "willRetry": will_retry
            }),
        ),
        Happening::CompactionFailed { reason, error, is_aborted, will_retry } => {
            let mut value = json!({
                "type": "session_compact_failed", "reason": reason.as_str(), "aborted": is_aborted, "willRetry": will_retry,
                "fromExtension": false
            });
            if let Some(error) = error {
                value["errorMessage"] = json!(error);
            }
            ("session_compact_failed", value)
        }
        Happening::Moved { old, new, summary, is_given } => {
            let mut value = json!({"type": "session_tree", "newLeafId": new, "oldLeafId": old});
            if let Some(summary) = summary {
                value["summaryEntry"] = json(&summary);
                value["fromExtension"] = json!(is_given);
            }
            ("session_tree", value)
        }
        Happening::ModelSelected { before, now } => {
            let payload =
                json!({"type": "model_select", "model": model(&now), "previousModel": model(&before), "source": "set"});
            ("model_select", payload)
        }
        Happening::NestedCall { event, members } => (event, members),
        Happening::ThinkingSelected { before, now } => {
            let (before, now) = (before.as_str(), now.as_str());
            ("thinking_level_select", json!({"type": "thinking_level_select", "level": now, "previousLevel": before}))
        }
    }
}

/// A model in pi's shape.
pub(crate) fn model(model: &Model) -> Value {
    let price = model.price;
    json!({
        "id": model.id, "name": model.name, "api": model.api, "provider": model.provider, "baseUrl": model.base_url,
        "reasoning": model.reasoning, "input": if model.images { json!(["text", "image"]) } else { json!(["text"]) },
        "cost": {
            "input": price.input, "output": price.output, "cacheRead": price.cache_read, "cacheWrite": price.cache_write
        },
        "contextWindow": model.context_window, "maxTokens": model.max_tokens
    })
}
