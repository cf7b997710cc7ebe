//! What extensions ask and show, by pi's UI sub-protocol: `extension_ui_request` and its answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use offshoot_app::agent::RpcVersion;
use offshoot_app::config::Environment;
use offshoot_app::extensions::{ExtensionFront, listing};
use offshoot_extensions::contract::{HostFuture, ProgramMode};
use offshoot_extensions::program::ExtensionFailure;
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, oneshot};

use crate::record_queue::RecordQueue;
use crate::request::UiResponse;

/// Questions of extensions to the client. The client always gets them, as in pi.
pub(crate) struct RpcFront {
    queue: RecordQueue,
    environment: Environment,
    open: Mutex<HashMap<String, oneshot::Sender<UiResponse>>>,
    next: std::sync::atomic::AtomicU64,
    /// Ends the program's loop.
    pub(crate) shutdown: Notify,
}

/// The same for those who keep it.
pub(crate) struct SharedFront(pub(crate) Arc<RpcFront>);

impl RpcFront {
    pub(crate) fn new(queue: RecordQueue, environment: Environment) -> Self {
        let next = std::sync::atomic::AtomicU64::new(0);
        Self { queue, environment, open: Mutex::default(), next, shutdown: Notify::new() }
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<String, oneshot::Sender<UiResponse>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn id(&self) -> String {
        format!("extension-{}", self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1)
    }

    /// Gives an answer to its question. `false` if no extension has asked it.
    pub(crate) fn answered(&self, response: UiResponse) -> Result<(), UiResponse> {
        match self.open().remove(&response.id) {
            // The extension may have stopped waiting.
            Some(asked) => {
                drop(asked.send(response));
                Ok(())
            }
            None => Err(response),
        }
    }

    fn send(&self, id: &str, method: &str, members: Map<String, Value>) {
        let kind = match self.queue.version() {
            RpcVersion::V031 => "hook_ui_request",
            RpcVersion::V087 => "extension_ui_request",
        };
        let mut record = Map::new();
        record.insert("type".to_owned(), json!(kind));
        record.insert("id".to_owned(), json!(id));
        record.insert("method".to_owned(), json!(method));
        record.extend(members);
        self.queue.line(Value::Object(record).to_string());
    }
}

/// The members of a record, under pi's names.
fn members(method: &str, params: &Value) -> Option<(&'static str, Map<String, Value>)> {
    let take = |names: &[(&str, &str)]| {
        let of = |(name, as_name): &(&str, &str)| Some(((*as_name).to_owned(), params.get(*name)?.clone()));
        names.iter().filter_map(of).filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>()
    };
    Some(match method {
        "select" => ("select", take(&[("title", "title"), ("options", "options"), ("timeout", "timeout")])),
        "confirm" => ("confirm", take(&[("title", "title"), ("message", "message"), ("timeout", "timeout")])),
        "input" => ("input", take(&[("title", "title"), ("placeholder", "placeholder"), ("timeout", "timeout")])),
        "editor" => ("editor", take(&[("title", "title"), ("prefill", "prefill")])),
        "notify" => ("notify", take(&[("message", "message"), ("type", "notifyType")])),
        "setStatus" => ("setStatus", take(&[("key", "statusKey"), ("text", "statusText")])),
        "setWidget" => {
            ("setWidget", take(&[("key", "widgetKey"), ("lines", "widgetLines"), ("placement", "widgetPlacement")]))
        }
        "setTitle" => ("setTitle", take(&[("title", "title")])),
        "setEditorText" => ("set_editor_text", take(&[("text", "text")])),
        _ => return None,
    })
}

impl ExtensionFront for SharedFront {
    fn mode(&self) -> ProgramMode {
        ProgramMode::Rpc
    }

    fn has_ui(&self) -> bool {
        true
    }

    fn ask(&self, method: String, params: Value) -> HostFuture<'static, Value> {
        let front = Arc::clone(&self.0);
        let nothing = || if method == "confirm" { json!(false) } else { Value::Null };
        let Some((name, members)) = members(&method, &params) else {
            return Box::pin(std::future::ready(nothing()));
        };
        let usual = nothing();
        Box::pin(async move {
            let id = front.id();
            let (answer, answered) = oneshot::channel();
            let open = OpenQuestion { front: &front, id: id.clone() };
            front.open().insert(id.clone(), answer);
            front.send(&id, name, members);
            let limit = params.get("timeout").and_then(Value::as_u64).map(Duration::from_millis);
            let response = match limit {
                Some(limit) => tokio::time::timeout(limit, answered).await.ok().and_then(Result::ok),
                None => answered.await.ok(),
            };
            drop(open);
            match response {
                Some(response) if response.cancelled != Some(true) => match (method.as_str(), response.value) {
                    ("confirm", _) => json!(response.confirmed == Some(true)),
                    (_, Some(value)) => json!(value),
                    (_, None) => usual,
                },
                _ => usual,
            }
        })
    }

    fn tell(&self, method: &str, params: Value) {
        let (method, params) = match (method, params.as_array()) {
            // `/extensions`
            ("extensions", Some(extensions)) => {
                let lines = listing(&self.0.environment, extensions);
                ("notify", json!({"message": lines.join("\n").trim_end()}))
            }
            _ => (method, params),
        };
        if let Some((name, members)) = members(method, &params) {
            self.0.send(&self.0.id(), name, members);
        }
    }

    fn look(&self, method: &str, _params: &Value) -> Value {
        if method == "getEditorText" { json!("") } else { Value::Null }
    }

    fn failed(&self, failure: &ExtensionFailure) {
        let ExtensionFailure { path, event, error, .. } = failure;
        let record = match self.0.queue.version() {
            RpcVersion::V031 => json!({"type": "hook_error", "hookPath": path, "event": event, "error": error}),
            RpcVersion::V087 => {
                let event = if event.starts_with("command:") { "command" } else { event };
                json!({"type": "extension_error", "extensionPath": path, "event": event, "error": error})
            }
        };
        self.0.queue.line(record.to_string());
    }

    fn shutdown(&self) {
        self.0.shutdown.notify_one();
    }
}

/// Nobody answers a question whose asker has gone.
struct OpenQuestion<'a> {
    front: &'a RpcFront,
    id: String,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.front.open().remove(&self.id);
    }
}
