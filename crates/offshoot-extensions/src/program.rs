//! What extensions need of the program around them: a person to ask, and the models that there are.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::resources::Resources;
use offshoot_protocol::model::Model;
use offshoot_protocol::{AgentError, ThinkingLevel};
use serde_json::Value;

use crate::contract::{ExtensionSource, HostFuture, LoadedExtension, ProgramMode};

/// A handler that failed, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ExtensionFailure {
    /// The extension's file.
    pub path: String,
    /// The event, `command:NAME`, `tool:NAME` or `load`.
    pub event: String,
    pub error: String,
    /// Where it failed, with the error again.
    pub stack: Option<String>,
}

/// A provider of models that an extension registered.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct RegisteredProvider {
    /// The extension's file.
    pub extension: PathBuf,
    pub name: String,
    pub has_sign_in: bool,
    /// In pi's shape, which is that of a provider in `models.json`.
    pub config: Value,
}

/// An MCP server that an extension registered.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct RegisteredServer {
    /// The extension's file.
    pub extension: PathBuf,
    pub name: String,
    /// In pi's shape, which is that of an entry in `mcp.json`.
    pub config: Value,
}

/// What an operation on the session said.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Operated {
    /// `None` if it was stopped, as of the data.
    pub said: Option<String>,
    pub warning: Option<String>,
    /// What it prints as JSON.
    pub data: Option<Value>,
}

/// The program around the extensions. Methods of the user interface have pi's names and JSON as arguments.
pub trait Program: Send + Sync {
    /// `tui`, `rpc`, `json` or `print`.
    fn mode(&self) -> ProgramMode;

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

    /// Runs an operation of the program's table on the agent's session, with the texts of its arguments; answers what it said,
    /// and what is wrong with it.
    ///
    /// # Errors
    /// It was refused.
    fn operate(
        &self,
        agent: AgentSession,
        operation: &'static str,
        given: Vec<(&'static str, Vec<String>)>,
    ) -> HostFuture<'static, Result<Operated, AgentError>>;

    /// The models: those with a key, or all.
    fn models(&self, only_usable: bool) -> Vec<Arc<Model>>;

    /// Takes the providers of all extensions, in place of those before. What is wrong with one is returned.
    fn register_providers(&self, providers: Vec<RegisteredProvider>) -> Vec<(PathBuf, String)>;

    /// Takes the MCP servers of all extensions, in place of those before. What is wrong with one is returned.
    fn register_servers(&self, servers: Vec<RegisteredServer>) -> Vec<(PathBuf, String)>;

    /// The files of extensions as they are now, in place of those of the start; `None` if they stay. What may not run is
    /// reported and left out.
    fn sources(&self) -> Option<Vec<ExtensionSource>>;

    /// Takes the files and folders of themes that extensions add, in place of those before.
    fn use_themes(&self, themes: Vec<PathBuf>);

    /// What was kept when a person signed in to a provider.
    fn credentials(&self, provider: &str) -> Option<Value>;

    /// Keeps it, in place of what was there; without a value it is forgotten.
    ///
    /// # Errors
    /// It cannot be written.
    fn keep_credentials(&self, provider: &str, credentials: Option<&Value>) -> Result<(), String>;

    /// Takes what extensions have registered while they were loaded.
    fn keep_loaded(&self, extensions: Vec<(ExtensionSource, LoadedExtension)>);

    /// The model that was asked for before its provider was registered, once it is there.
    fn awaited_model(&self) -> Option<Arc<Model>>;

    /// The models to choose from, if the user has limited them, with the thinking levels that belong to them.
    fn scoped_models(&self) -> Vec<(Arc<Model>, Option<ThinkingLevel>)>;

    /// The key and the headers for a model, as pi's `getApiKeyAndHeaders`.
    fn key(&self, provider: String, id: String) -> HostFuture<'static, Value>;

    /// Skills and prompt templates, in pi's shape of commands.
    fn resource_commands(&self, resources: &Resources) -> Vec<Value>;

    /// Ends the program when nothing runs.
    fn shutdown(&self);
}
