//! A tool of an extension, as the agent runs it.

use std::sync::Arc;

use offshoot_agent::provider::ToolSpec;
use offshoot_agent::tool::{Prepared, Running, Tool, ToolContext, ToolOutcome};
use offshoot_protocol::message::Block;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::contract::{Failure, Host, ToolInfo};
use crate::registry::Extension;
use crate::steps::passing;

pub(crate) struct ExtensionTool {
    host: Arc<dyn Host>,
    extension: usize,
    path: String,
    info: ToolInfo,
}

impl ExtensionTool {
    pub(crate) fn new(extension: &Extension, info: &ToolInfo) -> Self {
        let (host, path) = (extension.host.clone(), extension.path());
        Self { host, extension: extension.loaded.id, path, info: info.clone() }
    }
}

impl Tool for ExtensionTool {
    fn name(&self) -> &str {
        &self.info.name
    }

    fn spec(&self) -> ToolSpec {
        let ToolInfo { name, description, parameters, .. } = self.info.clone();
        ToolSpec { name, description, parameters }
    }

    fn is_sequential(&self) -> bool {
        self.info.execution_mode.as_deref() == Some("sequential")
    }

    fn only_changes(&self) -> bool {
        true
    }

    fn summary(&self) -> Option<&str> {
        self.info.prompt_snippet.as_deref()
    }

    fn guidelines(&self) -> Vec<&str> {
        self.info.prompt_guidelines.iter().map(String::as_str).collect()
    }

    fn provider(&self) -> Option<&str> {
        Some(&self.path)
    }

    /// By the tool's own function, then by its schema.
    fn prepare(&self, arguments: Value) -> Prepared {
        let what =
            json!({"kind": "prepareArguments", "ext": self.extension, "name": self.info.name, "args": arguments});
        let host = self.host.clone();
        Box::pin(async move { host.invoke(what, unbounded_channel().0).await.map_err(failed) })
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, partial: UnboundedSender<ToolOutcome>) -> Running {
        let host = self.host.clone();
        let what = json!({
            "kind": "tool", "ext": self.extension, "name": self.info.name, "toolCallId": place.call_id,
            "params": arguments
        });
        Box::pin(async move {
            let (progress, steps) = unbounded_channel();
            let pass = |step| drop(partial.send(outcome(step)));
            match passing(host.invoke(what, progress), steps, pass).await {
                Ok(result) => outcome(result),
                Err(failure) => failed(failure),
            }
        })
    }
}

/// pi stores empty details with a failed call.
fn failed(failure: Failure) -> ToolOutcome {
    ToolOutcome { details: Some(json!({})), ..ToolOutcome::failed(failure.message) }
}

/// What a tool of an extension gives back. A content that is no list of blocks is shown as it is.
pub(crate) fn outcome(value: Value) -> ToolOutcome {
    let Value::Object(mut object) = value else { return ToolOutcome::text(value.to_string()) };
    let content = match object.remove("content") {
        Some(Value::String(text)) => vec![Block::text(text)],
        Some(Value::Array(blocks)) => blocks.iter().map(block).collect(),
        Some(Value::Null) | None => Vec::new(),
        Some(other) => vec![Block::text(other.to_string())],
    };
    let details = object.remove("details").filter(|details| !details.is_null());
    let is_error = object.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let ends_run = object.get("terminate").and_then(Value::as_bool).unwrap_or(false);
    let nested_calls = object.remove("nestedCalls").filter(Value::is_object).map(Box::new);
    ToolOutcome { content, details, nested_calls, is_error, ends_run, ..ToolOutcome::default() }
}

/// An outcome in pi's shape.
pub(crate) fn shape(outcome: &ToolOutcome) -> Value {
    json!({"content": outcome.content, "details": outcome.details, "isError": outcome.is_error})
}

fn block(value: &Value) -> Block {
    serde_json::from_value(value.clone()).unwrap_or_else(|_| Block::text(value.to_string()))
}
