//! Requests to a model that extensions make themselves: pi's `stream` and `complete`, with offshoot's providers and keys.

use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::provider::{Delta, Hooks, Request, ToolSpec};
use offshoot_protocol::ThinkingLevel;
use offshoot_protocol::message::{Message, StopReason};
use offshoot_protocol::model::Model;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

/// Answers with the message; events on the way go to `progress`.
pub(crate) async fn stream(
    agent: &AgentSession,
    model: Arc<Model>,
    params: &Value,
    progress: UnboundedSender<Value>,
) -> Result<Value, String> {
    let request = request(model, &params["context"], &params["options"])?;
    let mut deltas = agent.stream(request).await.map_err(|error| error.to_string())?;
    while let Some(delta) = std::future::poll_fn(|context| deltas.as_mut().poll_next(context)).await {
        if let Delta::Done(answer) = delta {
            let message = serde_json::to_value(Message::from(answer.message.clone())).unwrap_or_default();
            let reason = message["stopReason"].clone();
            let is_failed = matches!(answer.message.stop_reason, StopReason::Error | StopReason::Aborted);
            let (kind, member) = if is_failed { ("error", "error") } else { ("done", "message") };
            drop(progress.send(json!({"type": kind, "reason": reason, member: message})));
            return Ok(message);
        }
        event(delta).into_iter().for_each(|event| drop(progress.send(event)));
    }
    Err("the model's answer never ended".to_owned())
}

fn request(model: Arc<Model>, context: &Value, options: &Value) -> Result<Request, String> {
    let message = |(at, message): (usize, &Value)| {
        serde_json::from_value::<Message>(message.clone()).map_err(|error| format!("message {at} is not one: {error}"))
    };
    let messages = context["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let messages = messages.iter().enumerate().map(message).collect::<Result<Vec<_>, _>>()?;
    let tool = |tool: &Value| ToolSpec {
        name: tool["name"].as_str().unwrap_or_default().to_owned(),
        description: tool["description"].as_str().unwrap_or_default().to_owned(),
        parameters: tool["parameters"].clone(),
    };
    let level = options["reasoning"].as_str().or(options["reasoningEffort"].as_str());
    Ok(Request {
        system: context["systemPrompt"].as_str().unwrap_or_default().to_owned(),
        messages,
        tools: context["tools"].as_array().map(Vec::as_slice).unwrap_or_default().iter().map(tool).collect(),
        thinking: level.and_then(ThinkingLevel::parse).unwrap_or(ThinkingLevel::Off),
        max_tokens: options["maxTokens"].as_u64(),
        key: None,
        session_id: options["sessionId"].as_str().map(str::to_owned),
        hooks: Hooks::default(),
        model,
    })
}

/// A step in pi's shape, without the answer so far.
fn event(delta: Delta) -> Option<Value> {
    Some(match delta {
        Delta::Start => json!({"type": "start"}),
        Delta::TextStart { index } => json!({"type": "text_start", "contentIndex": index}),
        Delta::Text { index, delta } => json!({"type": "text_delta", "contentIndex": index, "delta": delta}),
        Delta::TextEnd { index } => json!({"type": "text_end", "contentIndex": index}),
        Delta::ThinkingStart { index } => json!({"type": "thinking_start", "contentIndex": index}),
        Delta::Thinking { index, delta } => json!({"type": "thinking_delta", "contentIndex": index, "delta": delta}),
        Delta::ThinkingEnd { index } => json!({"type": "thinking_end", "contentIndex": index}),
        Delta::ToolCallStart { index, .. } => json!({"type": "toolcall_start", "contentIndex": index}),
        Delta::ToolCall { index, delta } => json!({"type": "toolcall_delta", "contentIndex": index, "delta": delta}),
        Delta::ToolCallEnd { index } => json!({"type": "toolcall_end", "contentIndex": index}),
        Delta::Usage(_) | Delta::LostEvent { .. } | Delta::Done(_) => return None,
    })
}
