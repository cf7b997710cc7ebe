//! A tool of a server as a tool of the agent: it is judged, redacted, limited and stored as all others.

use std::sync::Arc;

use offshoot_agent::provider::ToolSpec;
use offshoot_agent::tool::{Running, Tier, Tool, ToolContext, ToolOutcome};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::definition::ToolDefinition;
use crate::outcome::{ResultOf, outcome};
use crate::peer::CallError;
use crate::server::{Server, ServerState};

pub(crate) struct McpTool {
    server: Arc<Server>,
    definition: ToolDefinition,
    name: String,
}

impl McpTool {
    pub(crate) fn new(server: &Arc<Server>, definition: &ToolDefinition, name: String) -> Self {
        Self { server: server.clone(), definition: definition.clone(), name }
    }

    /// What a server says of its tools counts only if the person trusts it.
    fn only_reads(&self) -> bool {
        self.definition.claims_to_read && self.server.configured.config.trusts_annotations
    }
}

impl Tool for McpTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn spec(&self) -> ToolSpec {
        self.definition.spec(&self.name)
    }

    fn only_changes(&self) -> bool {
        !self.only_reads()
    }

    fn is_sequential(&self) -> bool {
        !self.only_reads()
    }

    fn tier(&self, _: &Value, _: &ToolContext) -> Tier {
        if self.only_reads() { Tier::Read(Vec::new()) } else { Tier::Exec }
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, partial: UnboundedSender<ToolOutcome>) -> Running {
        let (server, tool) = (self.server.clone(), self.definition.name.clone());
        Box::pin(async move {
            let known = server.tools();
            if !known.is_none_or(|tools| tools.iter().any(|known| known.name == tool)) {
                return ToolOutcome::failed(format!(
                    "not run: {}/{tool} is no longer offered by the server",
                    server.name()
                ));
            }
            let (progress, signs) = unbounded_channel();
            let calling = server.call(&tool, arguments, progress);
            let called = passing(calling, signs, |words| {
                let details = Some(json!({"serverName": server.name(), "mcpToolName": tool, "progress": words}));
                drop(partial.send(ToolOutcome { details, ..ToolOutcome::text(words) }));
            });
            match called.await {
                Ok(result) => {
                    let reads_resources = matches!(server.state(), ServerState::Ready(of) if of.has_resources);
                    let shown = tokio::task::spawn_blocking(move || {
                        let of =
                            ResultOf { server: server.name(), tool: &tool, outputs: &place.outputs, reads_resources };
                        outcome(of, &result)
                    });
                    shown
                        .await
                        .unwrap_or_else(|error| ToolOutcome::failed(format!("the result cannot be shown: {error}")))
                }
                Err(error) => failed(&server, &tool, &error),
            }
        })
    }
}

/// Passes signs of progress on until the work is done.
async fn passing<T>(
    work: impl Future<Output = T>,
    mut signs: UnboundedReceiver<String>,
    mut pass: impl FnMut(String),
) -> T {
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            Some(sign) = signs.recv() => pass(sign),
            done = &mut work => {
                while let Ok(sign) = signs.try_recv() {
                    pass(sign);
                }
                return done;
            }
        }
    }
}

fn failed(server: &Server, tool: &str, error: &CallError) -> ToolOutcome {
    let name = server.name();
    let hint = match error {
        CallError::Late(_) => ". The setting is timeoutMs of the server; the call may still be running there",
        CallError::Gone(_) | CallError::SessionLost => ". The call may have been done",
        CallError::SignIn(_) => ". The user can sign in",
        CallError::Refused(_) => "",
    };
    let details = Some(json!({"serverName": name, "mcpToolName": tool}));
    ToolOutcome { details, ..ToolOutcome::failed(format!("MCP server {name}, tool {tool}: {error}{hint}")) }
}
