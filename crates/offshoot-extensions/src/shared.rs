//! What the parts of an extension set share: what is registered, the agent, and the signal that ends waits.

mod guarding;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use offshoot_agent::agent_session::{AgentSession, WeakAgentSession};
use offshoot_agent::request_queue::{SetTools, ToolList};
use offshoot_agent::tool::{Tool, ToolSource};
use offshoot_protocol::model::Model;
use offshoot_session::clock::Clock;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{oneshot, watch};

use crate::contract::{Failure, Host, LoadedExtension, Payload};
use crate::nested::NestedCalls;
use crate::program::{ExtensionFailure, Program, RegisteredProvider, RegisteredServer};
use crate::registry::GoneNames;
use crate::registry::Registry;
use crate::tool::ExtensionTool;
use crate::ui_prompts::{PromptEvent, UiPrompt, UiPrompts};
use guarding::MissingGuards;

pub(crate) struct Shared {
    registry: Mutex<Registry>,
    pub(crate) program: Arc<dyn Program>,
    pub(crate) clock: Arc<dyn Clock + Sync>,
    agent: OnceLock<WeakAgentSession>,
    /// Whether the extensions are loaded, at least once.
    pub(crate) is_loaded: watch::Sender<bool>,
    /// Whether the first session has begun for them.
    pub(crate) has_begun: watch::Sender<bool>,
    /// Counts the user's stops.
    stops: watch::Sender<u64>,
    /// Asked by extensions themselves: everything is loaded again.
    reloads: UnboundedSender<oneshot::Sender<()>>,
    pub(crate) hosts: Vec<Arc<dyn Host>>,
    /// The names of all providers that extensions have registered, also of those that they have taken away.
    known_providers: Mutex<BTreeSet<String>>,
    /// Held while credentials are refreshed.
    pub(crate) refreshing: tokio::sync::Mutex<()>,
    /// The call of a host whose function prepares the next session.
    setup: Mutex<Option<u64>>,
    ui_prompts: UiPrompts,
    guards: MissingGuards,
    pub(crate) nested: NestedCalls,
}

impl Shared {
    pub(crate) fn new(
        (program, clock): (Arc<dyn Program>, Arc<dyn Clock + Sync>),
        hosts: Vec<Arc<dyn Host>>,
        reloads: UnboundedSender<oneshot::Sender<()>>,
    ) -> Self {
        Self {
            registry: Mutex::default(),
            program,
            clock,
            agent: OnceLock::new(),
            is_loaded: watch::Sender::new(false),
            has_begun: watch::Sender::new(false),
            stops: watch::Sender::new(0),
            reloads,
            hosts,
            known_providers: Mutex::default(),
            refreshing: tokio::sync::Mutex::default(),
            setup: Mutex::default(),
            ui_prompts: UiPrompts::default(),
            guards: MissingGuards::default(),
            nested: NestedCalls::default(),
        }
    }

    /// Ends when everything was loaded again.
    pub(crate) async fn reload(&self) {
        let (done, is_done) = oneshot::channel();
        drop(self.reloads.send(done));
        drop(is_done.await);
    }

    fn setup(&self) -> MutexGuard<'_, Option<u64>> {
        self.setup.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn prepare_with(&self, call: Option<u64>) {
        *self.setup() = call;
    }

    /// Lets a function that an extension gave for it prepare the new session.
    pub(crate) async fn prepare_session(&self) {
        let call = self.setup().take();
        if let Some(call) = call {
            self.call_back("setup", call).await;
        }
    }

    /// Runs a function that came with a call of a host.
    pub(crate) async fn call_back(&self, kind: &'static str, call: u64) {
        let what = json!({"kind": kind, "of": call});
        for host in &self.hosts {
            if let Err(failure) = host.invoke(what.clone(), unbounded_channel().0).await {
                let failure = Failure { message: format!("{kind} failed: {}", failure.message), ..failure };
                self.report("", kind, &failure);
            }
        }
    }

    pub(crate) fn set_agent(&self, agent: &AgentSession) {
        // There is one agent for all of an extension set's life.
        drop(self.agent.set(agent.weak()));
    }

    pub(crate) fn agent(&self) -> Option<AgentSession> {
        self.agent.get()?.get()
    }

    pub(crate) fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stop(&self) {
        self.stops.send_modify(|stops| *stops += 1);
    }

    /// Ends with the user's next stop.
    pub(crate) fn stopped(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut stops = self.stops.subscribe();
        async move {
            // The sender lives as long as the set; without it nothing is waited for.
            drop(stops.changed().await);
        }
    }

    pub(crate) async fn loaded(&self) {
        let mut is_loaded = self.is_loaded.subscribe();
        drop(is_loaded.wait_for(|is| *is).await);
    }

    pub(crate) async fn begun(&self) {
        let mut has_begun = self.has_begun.subscribe();
        drop(has_begun.wait_for(|has| *has).await);
    }

    /// Extensions hear that a person is asked as long as the answer lives. Called in the agent's runtime.
    pub(crate) fn ui_prompt(self: &Arc<Self>, method: &str, params: &Value) -> Option<UiPrompt> {
        let listen = |events| drop(tokio::spawn(pass_prompts(Arc::downgrade(self), events)));
        self.ui_prompts.open(method, &params["title"], listen)
    }

    pub(crate) fn report(&self, path: &str, event: &str, failure: &Failure) {
        let (error, stack) = (failure.message.clone(), failure.stack.clone());
        self.program.failed(&ExtensionFailure { path: path.to_owned(), event: event.to_owned(), error, stack });
    }

    /// In pi's shape.
    pub(crate) fn command_infos(&self) -> Vec<Value> {
        let registry = self.registry();
        let info = |(extension, command): (&crate::registry::Extension, &crate::contract::CommandInfo)| {
            let scope = match extension.source.origin {
                crate::contract::Origin::User => "user",
                crate::contract::Origin::Project => "project",
                _ => "temporary",
            };
            let origin =
                if extension.source.origin == crate::contract::Origin::Package { "package" } else { "top-level" };
            let mut value = json!({
                "name": command.name, "source": "extension",
                "sourceInfo": {"path": extension.path(), "source": "extension", "scope": scope, "origin": origin}
            });
            if let Some(description) = &command.description {
                value["description"] = json!(description);
            }
            value
        };
        registry.commands().map(info).collect()
    }

    /// The tools of all extensions.
    pub(crate) fn tools(&self) -> ToolList {
        let registry = self.registry();
        let tools = registry.tools();
        let tools: Vec<Arc<dyn Tool>> = tools
            .into_iter()
            .map(|(extension, info)| Arc::new(ExtensionTool::new(extension, info)) as Arc<dyn Tool>)
            .collect();
        ToolList(tools.into())
    }

    fn providers_once(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.known_providers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of all providers that extensions have registered.
    pub(crate) fn known_providers(&self) -> BTreeSet<String> {
        self.providers_once().clone()
    }

    /// Whether the model's provider was an extension's, which has taken it away with the model.
    pub(crate) fn has_lost(&self, model: &Model) -> bool {
        let is_it = |known: &Arc<Model>| known.provider == model.provider && known.id == model.id;
        self.providers_once().contains(&model.provider)
            && self.registry().provider(&model.provider).is_none()
            && !self.program.models(false).iter().any(is_it)
    }

    /// Tells the program which providers there are, in the order in which they count.
    pub(crate) fn publish_providers(&self) {
        let registry = self.registry();
        let of = |extension: &crate::registry::Extension| {
            let path = extension.source.path.clone();
            extension.loaded.providers.clone().into_iter().map(move |described| RegisteredProvider {
                extension: path.clone(),
                name: described["name"].as_str().unwrap_or_default().to_owned(),
                has_sign_in: described["oauth"].is_object(),
                config: described["config"].clone(),
            })
        };
        let all: Vec<RegisteredProvider> = registry.extensions.iter().flat_map(of).collect();
        drop(registry);
        self.providers_once().extend(all.iter().map(|provider| provider.name.clone()));
        for (extension, why) in self.program.register_providers(all) {
            self.report(&extension.display().to_string(), "register_provider", &Failure::new(why));
        }
    }

    /// Tells the program which MCP servers there are.
    pub(crate) fn publish_servers(&self) {
        let registry = self.registry();
        let of = |extension: &crate::registry::Extension| {
            let path = extension.source.path.clone();
            extension.loaded.mcp_servers.clone().into_iter().map(move |described| RegisteredServer {
                extension: path.clone(),
                name: described["name"].as_str().unwrap_or_default().to_owned(),
                config: described["config"].clone(),
            })
        };
        let all: Vec<RegisteredServer> = registry.extensions.iter().flat_map(of).collect();
        drop(registry);
        for (extension, why) in self.program.register_servers(all) {
            self.report(&extension.display().to_string(), "register_mcp_server", &Failure::new(why));
        }
    }

    /// The same after the load: extensions hear of it.
    fn servers_changed(self: &Arc<Self>, runtime: &Handle) {
        self.publish_servers();
        let server = |extension: &crate::registry::Extension| {
            let path = extension.path();
            let with_path = move |described: &Value| json!({"name": described["name"], "config": described["config"], "extensionPath": path});
            extension.loaded.mcp_servers.iter().map(with_path).collect::<Vec<_>>()
        };
        let servers: Vec<Value> = self.registry().extensions.iter().flat_map(server).collect();
        let (events, heard) = unbounded_channel();
        drop(events.send((SERVERS_CHANGE, json!({"type": SERVERS_CHANGE, "servers": servers}))));
        drop(runtime.spawn(pass_prompts(Arc::downgrade(self), heard)));
    }

    fn publish_tools(&self, runtime: &Handle) {
        let tools = self.tools();
        if let Some(agent) = self.agent() {
            // Called on a host's thread: the next request has to have the tool.
            drop(runtime.block_on(async move { agent.ask(SetTools { source: ToolSource::Extensions, tools }).await }));
        }
    }

    /// Adds what an extension registers after it was loaded.
    pub(crate) fn registered_later(self: &Arc<Self>, params: &Value, runtime: &Handle) -> Result<String, String> {
        let mut params = params.clone();
        if let Some(ext) = params.get("ext").cloned() {
            params["id"] = ext;
        }
        let added: LoadedExtension = serde_json::from_value(params).map_err(|error| error.to_string())?;
        let (has_tools, has_providers) = (!added.tools.is_empty(), !added.providers.is_empty());
        let (has_shortcuts, has_servers) = (!added.shortcuts.is_empty(), !added.mcp_servers.is_empty());
        self.registry().add(added);
        if has_shortcuts {
            let keys = self.registry().shortcuts();
            self.program.tell_user("shortcuts", json!({"keys": keys}));
        }
        if has_providers {
            self.publish_providers();
        }
        if has_servers {
            self.servers_changed(runtime);
        }
        if has_tools && *self.is_loaded.borrow() {
            self.publish_tools(runtime);
        }
        Ok("{}".to_owned())
    }

    /// Takes away handlers, providers and servers.
    pub(crate) fn unregistered(self: &Arc<Self>, params: &Value, runtime: &Handle) -> Result<String, String> {
        let ext = params.get("ext").and_then(Value::as_u64).and_then(|ext| usize::try_from(ext).ok());
        let ids = params.get("handlers").and_then(Value::as_array).cloned().unwrap_or_default();
        let ids: Vec<u64> = ids.iter().filter_map(Value::as_u64).collect();
        if let Some(ext) = ext {
            let names: GoneNames = serde_json::from_value(params.clone()).map_err(|error| error.to_string())?;
            self.registry().remove(ext, &ids, &names);
            if !names.providers.is_empty() {
                self.publish_providers();
            }
            if !names.mcp_servers.is_empty() {
                self.servers_changed(runtime);
            }
        }
        Ok("{}".to_owned())
    }

    pub(crate) fn replaced(&self, loaded: LoadedExtension, runtime: &Handle) {
        self.registry().replace(loaded);
        self.publish_servers();
        self.publish_tools(runtime);
    }
}

/// The event for extensions that connect servers themselves.
const SERVERS_CHANGE: &str = "mcp_servers_change";

/// Goes past the queue, which waits as long as the handler that asks.
async fn pass_prompts(shared: Weak<Shared>, mut events: UnboundedReceiver<PromptEvent>) {
    while let Some((event, payload)) = events.recv().await {
        let Some(shared) = shared.upgrade() else { return };
        let (listeners, payload) = (shared.registry().listeners(event), Payload::from(payload.to_string()));
        for listener in listeners {
            tokio::select! {
                () = shared.stopped() => {}
                answer = listener.host.handle(listener.id, payload.clone()) => {
                    if let Err(failure) = answer {
                        shared.report(&listener.path, event, &failure);
                    }
                }
            }
        }
    }
}
