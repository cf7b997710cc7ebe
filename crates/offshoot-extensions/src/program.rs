//! What extensions need of the program around them: a person to ask, and the models that there are.

use std::sync::Arc;

use offshoot_agent::provider::Model;
use serde_json::Value;

use crate::contract::HostFuture;

/// A handler that failed, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ExtensionFailure {
    /// The extension's file.
    pub path: String,
    /// The event, `command:NAME`, `tool:NAME` or `load`.
    pub event: String,
    pub error: String,
}

/// The program around the extensions. Methods of the user interface have pi's names and JSON as arguments.
pub trait Program: Send + Sync {
    /// `tui`, `rpc`, `json` or `print`.
    fn mode(&self) -> &'static str;

    /// Whether a person can be asked.
    fn has_ui(&self) -> bool;

    /// Asks a person: `select`, `confirm`, `input`, `editor` and what else waits for an answer.
    fn ask_user(&self, method: String, params: Value) -> HostFuture<'static, Value>;

    /// Shows something.
    fn tell_user(&self, method: &str, params: Value);

    /// Reads what a person sees: `getEditorText` and the like.
    fn look(&self, method: &str, params: &Value) -> Value;

    /// A handler failed.
    fn failed(&self, failure: &ExtensionFailure);

    /// The models: those with a key, or all.
    fn models(&self, only_usable: bool) -> Vec<Arc<Model>>;

    /// The key and the headers for a model, as pi's `getApiKeyAndHeaders`.
    fn key(&self, provider: String, id: String) -> HostFuture<'static, Value>;

    /// Skills and prompt templates, in pi's shape of commands.
    fn resource_commands(&self) -> Vec<Value>;

    /// Ends the program when nothing runs.
    fn shutdown(&self);
}
