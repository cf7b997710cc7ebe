//! Requests without a network: a model and a conversation as a JSON object per line in, the body that would leave out.
//!
//! `{"model": {"id", "api", "provider", "baseUrl", "reasoning", "input", "contextWindow", "maxTokens"}, "system": TEXT,
//! "messages": [MESSAGE], "tools": [{"name", "description", "parameters"}], "thinking": LEVEL, "sessionId": ID}`; messages
//! have the form that sessions store.

#![allow(clippy::print_stdout, reason = "an example is a whole program")]

use std::io::BufRead as _;
use std::sync::Arc;

use offshoot_agent::provider::{Outgoing, Request, ToolSpec};
use offshoot_protocol::ThinkingLevel;
use offshoot_protocol::message::Message;
use offshoot_protocol::model::Model;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    model: Given,
    system: String,
    messages: Vec<Message>,
    tools: Vec<Tool>,
    thinking: String,
    session_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Given {
    id: String,
    api: String,
    provider: String,
    base_url: String,
    reasoning: bool,
    input: Vec<String>,
    context_window: u64,
    max_tokens: u64,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    description: String,
    parameters: Value,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for line in std::io::stdin().lock().lines() {
        let line: Line = serde_json::from_str(&line?)?;
        let given = line.model;
        let model = Model {
            name: given.id.clone(),
            id: given.id,
            api: given.api,
            provider: given.provider,
            base_url: given.base_url,
            reasoning: given.reasoning,
            images: given.input.iter().any(|kind| kind == "image"),
            context_window: given.context_window,
            max_tokens: given.max_tokens,
            ..Model::default()
        };
        let tool =
            |tool: Tool| ToolSpec { name: tool.name, description: tool.description, parameters: tool.parameters };
        let request = Request {
            model: Arc::new(model),
            system: line.system,
            messages: line.messages,
            tools: line.tools.into_iter().map(tool).collect(),
            thinking: ThinkingLevel::parse(&line.thinking).ok_or("no such thinking level")?,
            max_tokens: None,
            key: None,
            session_id: line.session_id,
            hooks: Default::default(),
        };
        println!("{}", Outgoing::new(&request)?.body);
    }
    Ok(())
}
