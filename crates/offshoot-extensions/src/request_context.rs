//! What extensions make of the context of a request: of the messages alone, then of all of it with the system prompt and the tools.

use std::sync::Arc;

use offshoot_agent::extensions::RequestContext;
use offshoot_agent::provider::ToolSpec;
use serde_json::{Map, Value, json};

use crate::contract::{Failure, Payload};
use crate::runner::Runner;

impl Runner {
    /// `None` if no handler changed anything. First come those that see the messages alone, then those that see the system
    /// prompt and the tools as well.
    pub(crate) async fn context(&mut self, given: RequestContext) -> Option<RequestContext> {
        let RequestContext { messages, system, tools } = given;
        let messages: Arc<[String]> = messages.into();
        let changed = self.change_messages("context", Payload::Messages(messages.clone())).await;
        let texts = |changed: &[Value]| changed.iter().map(Value::to_string).collect::<Vec<_>>();
        if self.listeners("context_with_system").is_empty() {
            return changed.map(|changed| RequestContext { messages: texts(&changed), system, tools });
        }
        let said = changed.as_deref().map_or_else(|| messages.to_vec(), texts);
        let leading = system_message(&system, &tools).to_string();
        let all: Vec<String> = std::iter::once(leading).chain(said.clone()).collect();
        let payload = format!(r#"{{"type":"context_with_system","messages":[{}]}}"#, all.join(","));
        match self.change_messages("context_with_system", payload.into()).await {
            Some(all) => Some(without_system(all)),
            None => changed.map(|_| RequestContext { messages: said, system, tools }),
        }
    }

    /// Each handler sees the messages as the ones before have left them. `None` if they stay.
    async fn change_messages(&mut self, event: &'static str, mut payload: Payload) -> Option<Vec<Value>> {
        let mut last: Option<Vec<Value>> = None;
        for listener in self.listeners(event) {
            let Some(answer) = self.answer(&listener, event, payload.clone()).await else { continue };
            let Some(Value::Array(changed)) = answer.ok.get("messages") else { continue };
            if let Some(at) = changed.iter().position(|message| !message["role"].is_string()) {
                let why = Failure::new(format!("message {at} of its answer has no role"));
                self.report(&listener, event, &why);
                continue;
            }
            if event == "context_with_system" && changed.first().is_none_or(|message| message["role"] != "system") {
                let why =
                    "its answer does not begin with a system message: the request has no prompt and no tools of it";
                self.report(&listener, event, &Failure::new(why));
            }
            payload = json!({"type": event, "messages": changed}).to_string().into();
            last = Some(changed.clone());
        }
        last
    }
}

/// The prompt and the tools in effect as pi's message of the role `system`.
fn system_message(system: &str, tools: &[ToolSpec]) -> Value {
    let declared =
        |tool: &ToolSpec| json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
    let tools: Vec<Value> = tools.iter().map(declared).collect();
    json!({"role": "system", "content": system, "toolsAdded": tools, "timestamp": 0})
}

/// The context of messages of which those of the role `system` say the prompt and the tools.
fn without_system(all: Vec<Value>) -> RequestContext {
    let (stored, said): (Vec<Value>, Vec<Value>) = all.into_iter().partition(|message| message["role"] == "system");
    let (mut words, mut sections, mut tools) = (Vec::new(), Map::new(), Vec::<ToolSpec>::new());
    for message in stored {
        words.push(match &message["content"] {
            Value::String(text) => text.clone(),
            blocks => {
                let texts = blocks.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
        });
        sections.extend(message["sections"].as_object().cloned().unwrap_or_default());
        let named = |list: &str| message[list].as_array().cloned().unwrap_or_default();
        for tool in named("toolsRemoved").iter().chain(&named("toolsAdded")) {
            tools.retain(|known| tool["name"] != known.name);
        }
        tools.extend(named("toolsAdded").iter().map(|tool| ToolSpec {
            name: tool["name"].as_str().unwrap_or_default().to_owned(),
            description: tool["description"].as_str().unwrap_or_default().to_owned(),
            parameters: tool["parameters"].clone(),
        }));
    }
    words.extend(sections.values().filter_map(Value::as_str).map(str::to_owned));
    words.retain(|text| !text.is_empty());
    RequestContext { messages: said.iter().map(Value::to_string).collect(), system: words.join("\n\n"), tools }
}
