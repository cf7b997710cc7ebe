//! The contract with a host: what it loads, what it is asked, and what it may ask in return.
//!
//! Events and answers are JSON in pi's shapes. A host runs the handler that it is asked to run; it decides nothing
//! about other handlers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use offshoot_protocol::SessionReason;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

/// How a payload of the event `context` begins.
const CONTEXT: &str = r#"{"type":"context","messages":"#;

/// Dropping this ends the wait, and the host is asked to give up.
pub type HostFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The form of an extension's interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum ExtensionKind {
    Extension,
    /// Of pi up to 0.34.
    Hook,
    /// Of pi up to 0.34.
    Tool,
}

/// Where an extension comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Origin {
    User,
    Project,
    Package,
    /// The command line.
    Flag,
    Settings,
}

/// Files that the user has allowed an extension to load, each with its SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedFiles(Arc<BTreeMap<PathBuf, String>>);

impl AllowedFiles {
    /// These files.
    #[must_use]
    pub fn new(files: BTreeMap<PathBuf, String>) -> Self {
        Self(Arc::new(files))
    }
}

impl Serialize for AllowedFiles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// One file of an extension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ExtensionSource {
    pub path: PathBuf,
    pub kind: ExtensionKind,
    pub origin: Origin,
    /// All that it may load; `None` for one that may load anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<AllowedFiles>,
}

/// The front end, as pi's extensions know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ProgramMode {
    Tui,
    Rpc,
    Json,
    Print,
}

/// What a host needs to load extensions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct LoadRequest {
    pub version: &'static str,
    pub cwd: PathBuf,
    /// The user's folder, as pi's extensions know it.
    pub agent_dir: Option<PathBuf>,
    pub mode: ProgramMode,
    #[serde(rename = "hasUI")]
    pub has_ui: bool,
    /// Values of the command line's options that are not offshoot's.
    pub flags: serde_json::Map<String, Value>,
    pub reason: SessionReason,
    /// The identity of each is its place.
    pub extensions: Vec<ExtensionSource>,
    /// A program that takes pi's arguments.
    pub launcher: Option<PathBuf>,
    /// What agents that extensions start may do at most, for their environment.
    pub limits: String,
    /// Folders that may have pi's packages.
    pub pi_packages: Vec<PathBuf>,
}

/// Why nothing can be asked any more.
pub(crate) const ENDED: &str = "the agent has ended";

/// A handler's identity in its host.
pub type HandlerId = u64;

/// What one extension registers.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct LoadedExtension {
    /// The extension's place in the request.
    pub id: usize,
    pub load_ms: f64,
    pub error: Option<Failure>,
    /// Whether it did not load and its text names the event of a guard.
    #[serde(skip)]
    pub may_guard: bool,
    /// In the order of their registration.
    pub handlers: Vec<Handler>,
    pub commands: Vec<CommandInfo>,
    pub tools: Vec<ToolInfo>,
    pub shortcuts: Vec<Value>,
    pub flags: Vec<FlagInfo>,
    pub message_renderers: Vec<Value>,
    pub entry_renderers: Vec<Value>,
    /// Whether it chooses who draws calls, also those of tools that it has not registered.
    pub has_tool_renderer: bool,
    /// Which texts it changes before they are shown: `user`, `assistant`, `assistant-thinking`.
    pub markdown_types: Vec<String>,
    pub providers: Vec<Value>,
    /// Each with `name` and `config`.
    pub mcp_servers: Vec<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Handler {
    pub id: HandlerId,
    pub event: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct CommandInfo {
    pub name: String,
    pub description: Option<String>,
    pub has_completions: bool,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ToolInfo {
    pub name: String,
    pub label: Option<String>,
    pub description: String,
    /// JSON Schema.
    pub parameters: Value,
    /// For the list in the system prompt.
    pub prompt_snippet: Option<String>,
    pub prompt_guidelines: Vec<String>,
    /// `sequential`, or `parallel`.
    pub execution_mode: Option<String>,
    pub has_render_call: bool,
    pub has_render_result: bool,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct FlagInfo {
    pub name: String,
    pub description: Option<String>,
    /// `boolean` or `string`.
    pub r#type: String,
    pub default: Option<Value>,
}

/// Why foreign code did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, thiserror::Error)]
#[error("{message}")]
#[serde(default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Failure {
    pub message: String,
    pub stack: Option<String>,
    /// The host has ended, or was ended because it no longer answered.
    #[serde(skip)]
    pub is_gone: bool,
}

impl Failure {
    /// A failure without a stack.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), stack: None, is_gone: false }
    }

    /// The host is no longer there.
    pub fn gone(message: impl Into<String>) -> Self {
        Self { is_gone: true, ..Self::new(message) }
    }
}

/// What a handler gives back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HandlerAnswer {
    /// What it returned; null for nothing.
    pub ok: Value,
    /// Of `tool_call`: the arguments, if it changed them.
    pub input: Option<Value>,
}

/// The member of a call's parameters that has the call's own id: functions that came with the call are run by it.
pub const CALL: &str = "$call";

/// Answers what foreign code asks. Called from any thread.
pub trait Services: Send + Sync {
    /// An answer at once, as JSON: the session, and the state of the agent. Called where it may block. The parameters are JSON as the
    /// extension wrote it: what is stored keeps its spelling.
    ///
    /// # Errors
    /// The text is thrown in the extension.
    fn now(&self, method: &str, params: &str) -> Result<String, String>;

    /// An answer that may take as long as a person or a model. Steps on the way go to `progress`.
    fn later(
        &self,
        method: String,
        params: Value,
        progress: UnboundedSender<Value>,
    ) -> HostFuture<'static, Result<Value, String>>;

    /// Something that needs no answer.
    fn note(&self, method: &str, params: Value);

    /// An extension registered something after it was loaded; the whole list of it.
    fn registered(&self, loaded: LoadedExtension);
}

/// What a handler gets, as JSON. The messages of a conversation are put together when somebody reads them.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Payload {
    Text(Arc<str>),
    /// Of the event `context`, each as JSON.
    Messages(Arc<[String]>),
}

impl Payload {
    /// All of it.
    #[must_use]
    pub fn text(&self) -> Arc<str> {
        match self {
            Self::Text(text) => text.clone(),
            Self::Messages(messages) => format!("{CONTEXT}[{}]}}", messages.join(",")).into(),
        }
    }

    /// Whether it is a conversation of at least so many bytes.
    #[must_use]
    pub fn is_long_context(&self, bytes: usize) -> bool {
        match self {
            Self::Text(text) => text.len() >= bytes && text.starts_with(CONTEXT),
            Self::Messages(messages) => messages.iter().map(String::len).sum::<usize>() >= bytes,
        }
    }
}

impl From<String> for Payload {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

/// Runs extensions.
pub trait Host: Send + Sync {
    /// Its name in lists.
    fn name(&self) -> &'static str;

    /// Whether what it loaded can be asked. A host in the program's own process always runs.
    fn is_running(&self) -> bool {
        true
    }

    /// Loads extensions in place of all that were loaded before. An extension that fails is in the list with its error.
    fn load(
        &self,
        request: LoadRequest,
        services: Arc<dyn Services>,
    ) -> HostFuture<'_, Result<Vec<LoadedExtension>, Failure>>;

    /// Runs a handler.
    fn handle(&self, handler: HandlerId, payload: Payload) -> HostFuture<'_, Result<HandlerAnswer, Failure>>;

    /// Runs a command, a tool or something else that was registered. Steps on the way go to `progress`. Before a `tool` runs,
    /// `prepareArguments` asks for its arguments from those that the model wrote.
    fn invoke(&self, what: Value, progress: UnboundedSender<Value>) -> HostFuture<'_, Result<Value, Failure>>;

    /// Changes what agents that extensions start may do at most. A host that starts none has nothing to do.
    fn limit(&self, _limits: &str) {}

    /// Ends the host in good order, or else after a moment.
    fn close(&self) -> HostFuture<'_, ()>;
}
