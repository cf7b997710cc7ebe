//! Requests without a network: a model and a conversation as a JSON object per line in, the body that would leave out.
//!
//! `{"model": {"provider", "id", …}, "system": TEXT, "messages": [MESSAGE], "tools": [{"name", "description", "parameters"}],
//! "thinking": LEVEL, "sessionId": ID, "cacheRetention": none, short or long}`; messages have the form that sessions store. A model with a `baseUrl` is one of
//! `models.json`, any other is built in; its `address` takes the place of an address that depends on variables.

#![allow(clippy::print_stdout, reason = "an example is a whole program")]

use std::io::BufRead as _;
use std::path::Path;
use std::sync::Arc;

use offshoot_agent::model::Models;
use offshoot_agent::provider::{Outgoing, Request, ToolSpec};
use offshoot_protocol::message::Message;
use offshoot_protocol::model::Model;
use offshoot_protocol::{CacheRetention, ThinkingLevel};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    model: Value,
    system: String,
    messages: Vec<Message>,
    tools: Vec<Tool>,
    thinking: String,
    session_id: Option<String>,
    cache_retention: Option<String>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    description: String,
    parameters: Value,
}

fn model(given: &Value, built_in: &Models) -> Result<Model, Box<dyn std::error::Error>> {
    let name = |member: &str| given[member].as_str().ok_or(format!("the model has no `{member}`"));
    let (provider, id) = (name("provider")?, name("id")?);
    let mut own = Models::default();
    let models = if given.get("baseUrl").is_some() {
        let file = json!({"providers": {provider: {"models": [given]}}});
        if let Some(trouble) = own.read(Path::new("model"), &file.to_string()).first() {
            return Err(trouble.to_string().into());
        }
        &own
    } else {
        built_in
    };
    let mut model = models.get(provider, id).ok_or("no such model")?.clone();
    if let Some(address) = given["address"].as_str() {
        address.clone_into(&mut model.base_url);
    }
    Ok(model)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let built_in = Models::builtin();
    for line in std::io::stdin().lock().lines() {
        let line: Line = serde_json::from_str(&line?)?;
        let mut model = model(&line.model, &built_in)?;
        if let Some(name) = &line.cache_retention {
            model.cache_retention = CacheRetention::parse(name).ok_or("no such retention")?;
        }
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
