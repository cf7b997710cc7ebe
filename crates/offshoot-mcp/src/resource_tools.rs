//! The resources of servers as tools, under the names of pi and Codex: `list_mcp_resources`, `list_mcp_resource_templates` and
//! `read_mcp_resource`. Pages for hosts that draw them (`ui://`) are left out.

use std::sync::{Arc, Weak};

use offshoot_agent::provider::ToolSpec;
use offshoot_agent::tool::{Running, Tier, Tool, ToolContext, ToolOutcome};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use crate::message::METHOD_NOT_FOUND;
use crate::outcome::{ResultOf, outcome};
use crate::peer::CallError;
use crate::server::Server;

/// Which of the three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResourceAction {
    List,
    Templates,
    Read,
}

/// Who has servers with resources.
pub(crate) trait ResourceServers: Send + Sync {
    /// Those that are connected and have some.
    fn with_resources(&self) -> Vec<Arc<Server>>;
}

pub(crate) struct ResourceTool {
    pub(crate) action: ResourceAction,
    pub(crate) servers: Weak<dyn ResourceServers>,
}

impl ResourceTool {
    /// All three.
    pub(crate) fn all(servers: &Weak<dyn ResourceServers>) -> Vec<Arc<dyn Tool>> {
        let tool = |action| -> Arc<dyn Tool> { Arc::new(Self { action, servers: servers.clone() }) };
        [ResourceAction::List, ResourceAction::Templates, ResourceAction::Read].map(tool).to_vec()
    }
}

impl Tool for ResourceTool {
    fn name(&self) -> &str {
        match self.action {
            ResourceAction::List => "list_mcp_resources",
            ResourceAction::Templates => "list_mcp_resource_templates",
            ResourceAction::Read => "read_mcp_resource",
        }
    }

    fn spec(&self) -> ToolSpec {
        let text = |words: &str| json!({"type": "string", "description": words});
        let (description, properties, required) = match self.action {
            ResourceAction::List | ResourceAction::Templates => {
                let what = if self.action == ResourceAction::List {
                    "Lists the resources of MCP servers: files, tables and other things that they share."
                } else {
                    "Lists the templates of addresses of resources that MCP servers do not list one by one."
                };
                let server = text("Only those of this server; by default of all servers");
                let cursor = text("The nextCursor of the page before; needs server");
                (what, json!({"server": server, "cursor": cursor}), json!([]))
            }
            ResourceAction::Read => {
                let (server, uri) = (text("The server's name"), text("The address, as a list or a result names it"));
                ("Reads a resource of an MCP server.", json!({"server": server, "uri": uri}), json!(["server", "uri"]))
            }
        };
        let parameters = json!({"type": "object", "properties": properties, "required": required});
        ToolSpec { name: self.name().to_owned(), description: description.to_owned(), parameters }
    }

    fn tier(&self, _: &Value, _: &ToolContext) -> Tier {
        Tier::Exec
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        let (action, servers) = (self.action, self.servers.clone());
        Box::pin(async move {
            let Some(servers) = servers.upgrade() else { return ToolOutcome::failed("the servers have ended") };
            let all = servers.with_resources();
            let text = |key: &str| arguments[key].as_str().map(str::trim).filter(|text| !text.is_empty());
            let named = match text("server") {
                None => None,
                Some(name) => match all.iter().find(|server| server.name() == name) {
                    Some(server) => Some(server.clone()),
                    None => return ToolOutcome::failed(unknown(name, &all)),
                },
            };
            match (action, named, text("uri")) {
                (ResourceAction::Read, Some(server), Some(uri)) => read(&server, uri, &place).await,
                (ResourceAction::Read, ..) => ToolOutcome::failed("read_mcp_resource needs a server and a uri"),
                (_, None, _) if text("cursor").is_some() => {
                    ToolOutcome::failed("a cursor needs the server that it is of")
                }
                (_, Some(server), _) => page(action, &server, text("cursor"), &place).await,
                (_, None, _) => everything(action, &all, &place).await,
            }
        })
    }
}

fn unknown(name: &str, all: &[Arc<Server>]) -> String {
    let names: Vec<&str> = all.iter().map(|server| server.name()).collect();
    let known = if names.is_empty() { String::new() } else { format!("; those with resources: {}", names.join(", ")) };
    format!("no MCP server {name} has resources{known}")
}

/// The method, and the member of its result.
fn listing(action: ResourceAction) -> (&'static str, &'static str) {
    match action {
        ResourceAction::List | ResourceAction::Read => ("resources/list", "resources"),
        ResourceAction::Templates => ("resources/templates/list", "resourceTemplates"),
    }
}

/// An item with its server, and without what only hosts that draw can use.
fn item(server: &Server, value: &Value) -> Option<Value> {
    let uri = value["uri"].as_str().or(value["uriTemplate"].as_str()).unwrap_or_default();
    let is_page =
        uri.starts_with("ui://") || value["mimeType"].as_str().is_some_and(|mime| mime.contains("profile=mcp-app"));
    let mut item = json!({"server": server.name()});
    let members = value.as_object()?.iter().filter(|(key, _)| *key != "_meta" && *key != "icons");
    item.as_object_mut()?.extend(members.map(|(key, value)| (key.clone(), value.clone())));
    (!is_page).then_some(item)
}

async fn page(action: ResourceAction, server: &Arc<Server>, cursor: Option<&str>, place: &ToolContext) -> ToolOutcome {
    let (method, key) = listing(action);
    let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
    match server.ask(method, params).await {
        Ok(result) => {
            let items = result[key].as_array().into_iter().flatten().filter_map(|value| item(server, value));
            let mut listed = json!({"server": server.name(), key: items.collect::<Vec<_>>()});
            if let Some(next) = result.get("nextCursor").filter(|next| next.is_string()) {
                listed["nextCursor"] = next.clone();
            }
            shown(server.name(), &listed, place).await
        }
        Err(error) => ToolOutcome::failed(format!("MCP server {}: {error}", server.name())),
    }
}

async fn everything(action: ResourceAction, all: &[Arc<Server>], place: &ToolContext) -> ToolOutcome {
    let (method, key) = listing(action);
    let (mut items, mut errors) = (Vec::new(), Vec::new());
    for server in all {
        match server.list(method, key).await {
            Ok(values) => items.extend(values.iter().filter_map(|value| item(server, value))),
            // Not every server has templates.
            Err(CallError::Refused(error)) if error.code == METHOD_NOT_FOUND => {}
            Err(error) => errors.push(json!({"server": server.name(), "error": error.to_string()})),
        }
    }
    let mut listed = json!({key: items});
    if !errors.is_empty() {
        listed["errors"] = Value::Array(errors);
    }
    shown("", &listed, place).await
}

async fn read(server: &Arc<Server>, uri: &str, place: &ToolContext) -> ToolOutcome {
    match server.ask("resources/read", json!({"uri": uri})).await {
        Ok(result) => {
            let contents = result["contents"].as_array().cloned().unwrap_or_default();
            let blocks: Vec<Value> =
                contents.into_iter().map(|resource| json!({"type": "resource", "resource": resource})).collect();
            limited(server.name(), json!({"content": blocks}), place).await
        }
        Err(error) => ToolOutcome::failed(format!("MCP server {}: {error}", server.name())),
    }
}

async fn shown(server: &str, listed: &Value, place: &ToolContext) -> ToolOutcome {
    limited(server, json!({"content": [{"type": "text", "text": listed.to_string()}]}), place).await
}

async fn limited(server: &str, result: Value, place: &ToolContext) -> ToolOutcome {
    let (server, outputs) = (server.to_owned(), place.outputs.clone());
    let made = tokio::task::spawn_blocking(move || {
        outcome(ResultOf { server: &server, tool: "resources", outputs: &outputs, reads_resources: true }, &result)
    });
    made.await.unwrap_or_else(|error| ToolOutcome::failed(format!("the result cannot be shown: {error}")))
}
