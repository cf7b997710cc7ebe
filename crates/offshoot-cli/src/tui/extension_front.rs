//! What extensions show in the terminal.

use std::sync::mpsc::Sender;

use offshoot_extensions::contract::HostFuture;
use offshoot_extensions::program::ExtensionFailure;
use offshoot_session::transcript::Level;
use offshoot_tui::app::msg::Msg;
use serde_json::{Value, json};

use crate::extensions::{ExtensionFront, unheard};

/// Sends what is shown to the front end.
pub(super) struct TuiFront(pub(super) Sender<Msg>);

impl TuiFront {
    fn notice(&self, level: Level, text: String) {
        // The front end may have ended.
        drop(self.0.send(Msg::Notice(level, text)));
    }
}

impl ExtensionFront for TuiFront {
    fn mode(&self) -> &'static str {
        "tui"
    }

    fn has_ui(&self) -> bool {
        false
    }

    fn ask(&self, method: String, _params: Value) -> HostFuture<'static, Value> {
        Box::pin(std::future::ready(unheard(&method)))
    }

    fn tell(&self, method: &str, params: Value) {
        if method == "notify" {
            let level = match params["type"].as_str() {
                Some("error") => Level::Error,
                Some("warning") => Level::Warning,
                _ => Level::Info,
            };
            self.notice(level, params["message"].as_str().unwrap_or_default().to_owned());
        }
    }

    fn look(&self, method: &str, _params: &Value) -> Value {
        if method == "getEditorText" { json!("") } else { Value::Null }
    }

    fn failed(&self, failure: &ExtensionFailure) {
        let ExtensionFailure { path, event, error } = failure;
        let first = error.lines().next().unwrap_or_default();
        self.notice(Level::Warning, format!("the extension {path} failed at {event}: {first}"));
    }

    fn shutdown(&self) {}
}
