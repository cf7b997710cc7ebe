//! Requests to models of providers that an extension streams itself.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use futures_util::stream;
use offshoot_agent::provider::{Delta, Deltas, Provider, Request, answer_of, failed_answer};
use offshoot_protocol::Secret;
use offshoot_protocol::message::{AssistantMessage, Message, Usage};
use offshoot_session::clock::Clock;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::contract::{Failure, HostFuture};
use crate::payload::model;
use crate::shared::Shared;

/// Sends requests to an extension, if it streams the provider of their model, else to the usual provider.
pub(crate) struct RoutedProvider {
    pub(crate) usual: Arc<dyn Provider>,
    pub(crate) shared: Weak<Shared>,
    pub(crate) clock: Arc<dyn Clock + Sync>,
}

impl Provider for RoutedProvider {
    fn sends_images(&self) -> bool {
        self.usual.sends_images()
    }

    fn stream(&self, request: Request) -> Deltas {
        let found = self.shared.upgrade().and_then(|shared| {
            let registry = shared.registry();
            let (extension, provider) = registry.provider(&request.model.provider)?;
            (provider["hasStream"] == json!(true)).then(|| (extension.host.clone(), extension.loaded.id))
        });
        let Some((host, ext)) = found else { return self.usual.stream(request) };
        let (progress, steps) = unbounded_channel();
        let (began, of) = (self.clock.now(), request.model.clone());
        let ending: HostFuture<'static, Result<Value, Failure>> = Box::pin(async move {
            let record = record(ext, &request).await;
            host.invoke(record, progress).await
        });
        let state = Streaming { ending: Some(ending), steps, queue: VecDeque::new(), is_open: true };
        Box::pin(stream::unfold(state, move |mut state| {
            let model = of.clone();
            async move {
                let delta = state.next(|why| failed_answer(&model, began, why)).await?;
                Some((delta, state))
            }
        }))
    }
}

/// What the extension gets: pi's model, transcript and options.
async fn record(ext: usize, request: &Request) -> Value {
    let tool = |tool: &offshoot_agent::provider::ToolSpec| json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
    let tools: Vec<Value> = request.tools.iter().map(tool).collect();
    let system = json!({"role": "system", "content": request.system, "toolsAdded": tools, "timestamp": 0});
    let mut messages = vec![system];
    messages.extend(request.messages.iter().filter_map(|message| serde_json::to_value(message).ok()));
    let mut headers = request.model.headers.clone();
    if let Some(hooks) = &request.hooks.0
        && let Some(changed) = hooks.before_headers(headers.clone()).await
    {
        headers = changed.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    }
    let headers: Map<String, Value> = headers.into_iter().map(|(name, value)| (name, json!(value.expose()))).collect();
    json!({
        "kind": "provider.stream", "ext": ext, "provider": request.model.provider, "model": model(&request.model),
        "context": {"systemPrompt": request.system, "messages": messages, "tools": tools},
        "isHooked": request.hooks.0.is_some(),
        "wantsEvents": request.hooks.0.as_ref().is_some_and(|hooks| hooks.wants_events()),
        "options": {
            "apiKey": request.key.as_ref().map(Secret::expose), "headers": headers,
            "reasoning": Some(request.thinking.as_str()).filter(|level| *level != "off"),
            "maxTokens": request.max_tokens, "sessionId": request.session_id
        }
    })
}

struct Streaming {
    ending: Option<HostFuture<'static, Result<Value, Failure>>>,
    steps: UnboundedReceiver<Value>,
    queue: VecDeque<Delta>,
    is_open: bool,
}

impl Streaming {
    async fn next(&mut self, failed: impl Fn(String) -> offshoot_agent::provider::Answer) -> Option<Delta> {
        loop {
            if let Some(delta) = self.queue.pop_front() {
                return Some(delta);
            }
            let ending = self.ending.as_mut()?;
            tokio::select! {
                biased;
                step = self.steps.recv(), if self.is_open => match step {
                    Some(step) => self.queue.extend(delta(&step)),
                    None => self.is_open = false,
                },
                ended = ending => {
                    self.ending = None;
                    while let Ok(step) = self.steps.try_recv() {
                        self.queue.extend(delta(&step));
                    }
                    let answer = match ended {
                        Ok(value) => match serde_json::from_value::<Message>(value) {
                            Ok(Message::Assistant(message)) => answer_of(AssistantMessage::clone(&message)),
                            Ok(_) => failed("the extension's answer is not that of an assistant".to_owned()),
                            Err(error) => failed(format!("the extension's answer is not a message: {error}")),
                        },
                        Err(failure) => failed(failure.message),
                    };
                    self.queue.push_back(Delta::Done(Box::new(answer)));
                }
            }
        }
    }
}

/// The delta of one of pi's events; the last ones come with the answer.
fn delta(event: &Value) -> Option<Delta> {
    let index = event["contentIndex"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or_default();
    let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
    Some(match event["type"].as_str()? {
        "start" => Delta::Start,
        "text_start" => Delta::TextStart { index },
        "text_delta" => Delta::Text { index, delta: text("delta") },
        "text_end" => Delta::TextEnd { index },
        "thinking_start" => Delta::ThinkingStart { index },
        "thinking_delta" => Delta::Thinking { index, delta: text("delta") },
        "thinking_end" => Delta::ThinkingEnd { index },
        "toolcall_start" => Delta::ToolCallStart { index, id: text("id"), name: text("toolName") },
        "toolcall_delta" => Delta::ToolCall { index, delta: text("delta") },
        "toolcall_end" => Delta::ToolCallEnd { index },
        "usage" => Delta::Usage(serde_json::from_value::<Usage>(event["usage"].clone()).ok()?),
        _ => return None,
    })
}
