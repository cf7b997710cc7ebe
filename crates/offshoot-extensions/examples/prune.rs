//! An extension in Rust: `/prune CALL` replaces the result of a call by a short note in what the model gets, on this branch and those
//! that grow from it. The session keeps the result.

use std::sync::{Arc, OnceLock};

use offshoot_extensions::contract::{
    CommandInfo, Failure, Handler, HandlerAnswer, HandlerId, Host, HostFuture, LoadRequest, LoadedExtension, Payload,
    Services,
};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

const RULE: &str = "tool-result-pruning";

/// The extension, which is its own host.
#[derive(Default)]
pub(crate) struct Prune {
    services: OnceLock<Arc<dyn Services>>,
}

impl Prune {
    /// The session may only be asked where it may block.
    async fn ask(&self, method: &'static str, params: Value) -> Result<Value, Failure> {
        let services = self.services.get().cloned().ok_or_else(|| Failure::new("not loaded"))?;
        let asked = tokio::task::spawn_blocking(move || services.now(method, &params.to_string())).await;
        let text = asked.map_err(|error| Failure::new(error.to_string()))?.map_err(Failure::new)?;
        serde_json::from_str(&text).map_err(|error| Failure::new(error.to_string()))
    }

    async fn pruned(&self, payload: Arc<str>) -> Result<HandlerAnswer, Failure> {
        let branch = self.ask("session.getBranch", json!({})).await?;
        let ours = branch.as_array().into_iter().flatten().filter(|entry| entry["customType"] == RULE);
        let rules = ours.flat_map(|entry| entry["data"]["rules"].as_array().into_iter().flatten());
        let calls: Vec<&Value> = rules.map(|rule| &rule["toolResultId"]).collect();
        let mut event: Value = serde_json::from_str(&payload).map_err(|error| Failure::new(error.to_string()))?;
        let mut is_changed = false;
        for message in event["messages"].as_array_mut().into_iter().flatten() {
            if message["role"] == "toolResult" && calls.contains(&&message["toolCallId"]) {
                message["content"] = json!([{"type": "text", "text": "[pruned by the user]"}]);
                is_changed = true;
            }
        }
        let ok = if is_changed { json!({"messages": event["messages"]}) } else { Value::Null };
        Ok(HandlerAnswer { ok, input: None })
    }
}

impl Host for Prune {
    fn name(&self) -> &'static str {
        "native"
    }

    fn load(
        &self,
        _: LoadRequest,
        services: Arc<dyn Services>,
    ) -> HostFuture<'_, Result<Vec<LoadedExtension>, Failure>> {
        // Those of the next load are the same.
        drop(self.services.set(services));
        let handlers = vec![Handler { id: 1, event: "context".to_owned() }];
        let description = Some("leave a tool's result out of what the model gets".to_owned());
        let commands = vec![CommandInfo { name: "prune".to_owned(), description, has_completions: false }];
        Box::pin(std::future::ready(Ok(vec![LoadedExtension { handlers, commands, ..LoadedExtension::default() }])))
    }

    fn handle(&self, _: HandlerId, payload: Payload) -> HostFuture<'_, Result<HandlerAnswer, Failure>> {
        Box::pin(self.pruned(payload.text()))
    }

    fn invoke(&self, what: Value, _: UnboundedSender<Value>) -> HostFuture<'_, Result<Value, Failure>> {
        let data = json!({"rules": [{"toolResultId": what["args"], "strategy": "remove"}]});
        Box::pin(self.ask("pi.appendEntry", json!({"customType": RULE, "data": data})))
    }

    fn close(&self) -> HostFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// A program gives it to [`offshoot_extensions::ExtensionSet::new`].
#[allow(dead_code, reason = "the tests take the file as a module")]
fn main() {
    let _host: Arc<dyn Host> = Arc::new(Prune::default());
}
