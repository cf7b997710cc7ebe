//! What the parts of an extension set share: what is registered, the agent, and the signal that ends waits.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use offshoot_agent::agent_session::{AgentSession, WeakAgentSession};
use offshoot_agent::command::{Command, ToolList};
use offshoot_agent::tool::Tool;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{oneshot, watch};

use crate::contract::{Failure, Host, Loaded};
use crate::program::{ExtensionFailure, Program};
use crate::registry::Registry;
use crate::tool::ExtensionTool;

pub(crate) struct Shared {
    registry: Mutex<Registry>,
    pub(crate) program: Arc<dyn Program>,
    agent: OnceLock<WeakAgentSession>,
    /// Whether the extensions are loaded, at least once.
    pub(crate) is_loaded: watch::Sender<bool>,
    /// Counts the user's stops.
    stops: watch::Sender<u64>,
    /// Asked by extensions themselves: everything is loaded again.
    reloads: UnboundedSender<oneshot::Sender<()>>,
    pub(crate) hosts: Vec<Arc<dyn Host>>,
    /// The call of a host whose function prepares the next session.
    setup: Mutex<Option<u64>>,
}

impl Shared {
    pub(crate) fn new(
        program: Arc<dyn Program>,
        hosts: Vec<Arc<dyn Host>>,
        reloads: UnboundedSender<oneshot::Sender<()>>,
    ) -> Self {
        Self {
            registry: Mutex::default(),
            program,
            agent: OnceLock::new(),
            is_loaded: watch::Sender::new(false),
            stops: watch::Sender::new(0),
            reloads,
            hosts,
            setup: Mutex::default(),
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

    pub(crate) fn report(&self, path: &str, event: &str, failure: &Failure) {
        let error = match &failure.stack {
            Some(stack) if stack.contains(&failure.message) => stack.clone(),
            _ => failure.message.clone(),
        };
        self.program.failed(&ExtensionFailure { path: path.to_owned(), event: event.to_owned(), error });
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
            json!({
                "name": command.name, "description": command.description, "source": "extension",
                "sourceInfo": {"path": extension.path(), "source": "extension", "scope": scope, "origin": origin}
            })
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

    fn publish_tools(&self, runtime: &Handle) {
        let tools = self.tools();
        if let Some(agent) = self.agent() {
            // Called on a host's thread: the next request has to have the tool.
            drop(runtime.block_on(async move { agent.ask(Command::SetExtensionTools(tools)).await }));
        }
    }

    /// Adds what an extension registers after it was loaded.
    pub(crate) fn registered_later(&self, params: &Value, runtime: &Handle) -> Result<String, String> {
        let mut params = params.clone();
        if let Some(ext) = params.get("ext").cloned() {
            params["id"] = ext;
        }
        let added: Loaded = serde_json::from_value(params).map_err(|error| error.to_string())?;
        let has_tools = !added.tools.is_empty();
        self.registry().add(added);
        if has_tools && *self.is_loaded.borrow() {
            self.publish_tools(runtime);
        }
        Ok("{}".to_owned())
    }

    /// Takes away handlers and providers.
    pub(crate) fn unregistered(&self, params: &Value, _runtime: &Handle) -> Result<String, String> {
        let ext = params.get("ext").and_then(Value::as_u64).and_then(|ext| usize::try_from(ext).ok());
        let ids = params.get("handlers").and_then(Value::as_array).cloned().unwrap_or_default();
        let ids: Vec<u64> = ids.iter().filter_map(Value::as_u64).collect();
        if let Some(ext) = ext {
            self.registry().remove(ext, &ids);
        }
        Ok("{}".to_owned())
    }

    pub(crate) fn replaced(&self, loaded: Loaded, runtime: &Handle) {
        self.registry().replace(loaded);
        self.publish_tools(runtime);
    }
}
