//! The servers of a run together: they start beside the agent, and their tools become the agent's when they are known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use offshoot_agent::tool::{Expanding, LiveTools, NextPrompts, SourcePrompt, Tool, ToolSource, ToolTaker, Waiting};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::cache::DefinitionCache;
use crate::config_file::{ConfigScope, ConfiguredServer};
use crate::definition::ToolDefinition;
use crate::exposure::{Exposure, named};
use crate::prompt::PromptDefinition;
use crate::prompt_call::{called_prompt, named_prompts, spelled};
use crate::resource_tools::{ResourceServers, ResourceTool};
use crate::search_tool::{Findable, Searchable, ToolSearch};
use crate::server::{Server, ServerContext, Tried};
use crate::tool::McpTool;
use crate::tool_name::{in_name, tool_names};

/// How long a prompt waits for servers whose tools it has to declare.
const READY: Duration = Duration::from_secs(10);

/// The servers of a run.
pub struct Servers {
    servers: Mutex<Vec<Arc<Server>>>,
    /// Servers of extensions that a file's server of the same name keeps from being used, as lines.
    overridden: Mutex<Vec<String>>,
    context: ServerContext,
    change: UnboundedSender<String>,
    cache: DefinitionCache,
    changed: Mutex<Option<UnboundedReceiver<String>>>,
    /// Changes when a server, or its prompts, have been tried.
    tried: watch::Sender<u64>,
    /// Counts how often prompts have changed.
    prompts: watch::Sender<u64>,
    agent: OnceLock<Arc<dyn ToolTaker>>,
    /// That of the agent.
    runtime: OnceLock<Handle>,
    state: Mutex<DeclaredState>,
    this: Weak<Self>,
}

#[derive(Default)]
struct DeclaredState {
    /// Tools that were found by a search, on this branch or in this run.
    loaded: BTreeSet<String>,
    /// What was declared last, of each source.
    declared: BTreeMap<String, Vec<(String, ToolDefinition)>>,
    has_search: bool,
    has_resources: bool,
}

/// A tool with the name that models see, and how it reaches them.
struct NamedTool {
    name: String,
    definition: ToolDefinition,
    exposure: Exposure,
}

impl Servers {
    /// Nothing is started yet. `loaded` are tools that the session's branch has found by a search.
    pub fn new(
        configured: Vec<ConfiguredServer>,
        context: &ServerContext,
        (cache, loaded): (DefinitionCache, Vec<String>),
    ) -> Arc<Self> {
        let (change, changed) = unbounded_channel();
        let servers = configured.into_iter().map(|configured| {
            let known = cache.read(&configured.config.name, &configured.config.hash);
            Server::new(configured, context.clone(), known, change.clone())
        });
        let servers: Vec<Arc<Server>> = servers.collect();
        let state = DeclaredState { loaded: loaded.into_iter().collect(), ..DeclaredState::default() };
        Arc::new_cyclic(|this| Self {
            servers: Mutex::new(servers),
            overridden: Mutex::default(),
            context: context.clone(),
            change,
            cache,
            changed: Mutex::new(Some(changed)),
            tried: watch::Sender::new(0),
            prompts: watch::Sender::new(0),
            agent: OnceLock::new(),
            runtime: OnceLock::new(),
            state: Mutex::new(state),
            this: this.clone(),
        })
    }

    /// All of them, in the order of the files.
    pub fn all(&self) -> Vec<Arc<Server>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes the servers that extensions have registered, in place of those before. A file's server of the same name is used instead.
    /// May be called on any thread.
    pub fn set_registered(&self, registered: Vec<ConfiguredServer>) {
        let is_registered = |server: &Arc<Server>| server.configured.source.scope == ConfigScope::Extension;
        let (own, before): (Vec<_>, Vec<_>) = self.all().into_iter().partition(|server| !is_registered(server));
        let (mut overridden, mut now, mut added) = (Vec::new(), own, Vec::new());
        for configured in registered.into_iter().filter(ConfiguredServer::is_enabled) {
            let is_same = |server: &&Arc<Server>| in_name(server.name()) == in_name(&configured.config.name);
            if let Some(other) = now.iter().find(is_same) {
                let paths =
                    [&configured.source.path, &other.configured.source.path].map(|path| path.display().to_string());
                overridden
                    .push(format!("{}  of {} is not used: {} names it", configured.config.name, paths[0], paths[1]));
            } else if let Some(same) = before.iter().find(|server| server.configured == configured) {
                now.push(same.clone());
            } else {
                let known = self.cache.read(&configured.config.name, &configured.config.hash);
                let server = Server::new(configured, self.context.clone(), known, self.change.clone());
                now.push(server.clone());
                added.push(server);
            }
        }
        let gone = before.into_iter().filter(|server| now.iter().all(|kept| !Arc::ptr_eq(kept, server)));
        let gone: Vec<Arc<Server>> = gone.collect();
        *self.overridden.lock().unwrap_or_else(PoisonError::into_inner) = overridden;
        *self.servers.lock().unwrap_or_else(PoisonError::into_inner) = now;
        gone.iter().for_each(|server| self.withdraw(server));
        added.iter().for_each(|server| self.begin(server));
    }

    /// Ends a server that nobody has any more, and takes its tools away.
    fn withdraw(&self, server: &Arc<Server>) {
        if let Some(runtime) = self.runtime.get() {
            let server = server.clone();
            drop(runtime.spawn(async move { server.retire().await }));
        }
        self.state().declared.remove(server.name());
        let is_replaced = self.all().iter().any(|other| other.name() == server.name());
        if let Some(agent) = self.agent.get().filter(|_| !is_replaced) {
            agent.set(ToolSource::Mcp(server.name().to_owned()), Vec::new());
        }
        self.prompts.send_modify(|version| *version += 1);
    }

    /// Starts a server beside the agent, if there is one; tools of an earlier run are declared at once.
    fn begin(&self, server: &Arc<Server>) {
        let (Some(agent), Some(this), Some(runtime)) = (self.agent.get(), self.this.upgrade(), self.runtime.get())
        else {
            return;
        };
        server.ask_through(agent.asker());
        if server.tools().is_some() {
            self.declare(server);
        } else if server.configured.config.switches.may_defer() {
            // A later request with another tool would lose what the provider remembers of the first one.
            self.declare_helpers(agent, &mut self.state(), (true, false));
        }
        drop(runtime.spawn(this.try_server(server.clone())));
    }

    fn state(&self) -> MutexGuard<'_, DeclaredState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, words: String) {
        if let Some(agent) = self.agent.get() {
            agent.tell(words);
        }
    }

    /// Connects one and lists its tools. What goes wrong is told.
    async fn try_server(self: Arc<Self>, server: Arc<Server>) {
        match server.list_tools().await {
            Ok(()) => {
                server.remember_in(&self.cache);
                let troubles = server.troubles();
                troubles.iter().for_each(|trouble| self.tell(format!("MCP server {}: {trouble}", server.name())));
            }
            Err(error) => self.tell(format!("MCP server {}: {error}", server.name())),
        }
        // Its tools are the agent's before anybody waits no longer.
        self.declare(&server);
        server.mark_tried(Tried::Tools);
        self.tried.send_modify(|tried| *tried += 1);
        // What cannot be listed is told when somebody calls a prompt.
        if server.lists_prompts() && server.list_prompts().await.is_ok() {
            self.prompts.send_modify(|version| *version += 1);
        }
        server.mark_tried(Tried::Prompts);
        self.tried.send_modify(|tried| *tried += 1);
    }

    /// The tools of a server with their names and exposures.
    fn tools_of(server: &Server) -> Vec<NamedTool> {
        let Some(tools) = server.tools() else { return Vec::new() };
        let switches = &server.configured.config.switches;
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let weight = tools.iter().map(ToolDefinition::weight).sum();
        let of_server = switches.exposure.unwrap_or_else(|| Exposure::usual(tools.len(), weight));
        let named_tools = tools.iter().zip(tool_names(server.name(), &names)).map(|(tool, name)| NamedTool {
            name,
            exposure: named(&switches.tool_exposure, &tool.name).unwrap_or(of_server),
            definition: tool.clone(),
        });
        named_tools.collect()
    }

    /// Gives the agent the tools of a server, if they are others than before.
    fn declare(&self, server: &Arc<Server>) {
        let Some(agent) = self.agent.get() else { return };
        let tools = Self::tools_of(server);
        let has_deferred = tools.iter().any(|tool| tool.exposure == Exposure::Deferred);
        let mut state = self.state();
        let is_declared = |tool: &NamedTool| match tool.exposure {
            Exposure::Direct => true,
            Exposure::Deferred => state.loaded.contains(&tool.name),
            Exposure::Hidden => false,
        };
        let declared: Vec<(String, ToolDefinition)> =
            tools.into_iter().filter(is_declared).map(|tool| (tool.name, tool.definition)).collect();
        if state.declared.get(server.name()).is_none_or(|before| *before != declared) {
            let tool = |(name, definition): &(String, ToolDefinition)| -> Arc<dyn Tool> {
                Arc::new(McpTool::new(server, definition, name.clone()))
            };
            agent.set(ToolSource::Mcp(server.name().to_owned()), declared.iter().map(tool).collect());
            state.declared.insert(server.name().to_owned(), declared);
        }
        self.declare_helpers(agent, &mut state, (has_deferred, server.has_resources()));
    }

    /// Gives the agent the tools for all servers that a server needs, beside those that it has.
    fn declare_helpers(
        &self,
        agent: &Arc<dyn ToolTaker>,
        state: &mut DeclaredState,
        (has_deferred, has_resources): (bool, bool),
    ) {
        let before = (state.has_search, state.has_resources);
        state.has_search |= has_deferred;
        state.has_resources |= has_resources;
        if before != (state.has_search, state.has_resources) {
            agent.set(ToolSource::McpHelpers, self.helpers(state));
        }
    }

    /// The tools for all servers that some server needs.
    fn helpers(&self, state: &DeclaredState) -> Vec<Arc<dyn Tool>> {
        let mut helpers: Vec<Arc<dyn Tool>> = Vec::new();
        if state.has_search {
            let this: Weak<dyn Searchable> = self.this.clone();
            let servers = self.all();
            let names = servers.iter().map(|server| (server.name(), server.configured.config.description.as_deref()));
            helpers.push(Arc::new(ToolSearch::new(this, names)));
        }
        if state.has_resources {
            let this: Weak<dyn ResourceServers> = self.this.clone();
            helpers.extend(ResourceTool::all(&this));
        }
        helpers
    }

    /// Whether a prompt has to wait for a server: its tools may have to be declared and are not known.
    fn is_awaited(server: &Server) -> bool {
        let may_be_direct =
            server.configured.config.switches.exposure.is_none_or(|exposure| exposure == Exposure::Direct);
        may_be_direct && server.tools().is_none()
    }

    async fn until_tried(&self) {
        self.until_all(Tried::Tools).await;
    }

    async fn until_all(&self, what: Tried) {
        let mut tried = self.tried.subscribe();
        // The sender lives as long as this.
        drop(timeout(READY, tried.wait_for(|_| self.all().iter().all(|server| server.has_tried(what)))).await);
    }
}

impl LiveTools for Servers {
    fn start(&self, agent: Arc<dyn ToolTaker>) {
        if self.agent.set(agent).is_err() {
            return;
        }
        self.runtime.get_or_init(Handle::current);
        self.all().iter().for_each(|server| self.begin(server));
        let changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut changed) = changed else { return };
        let this = self.this.clone();
        drop(tokio::spawn(async move {
            while let Some(name) = changed.recv().await {
                let Some(this) = this.upgrade() else { return };
                this.all().iter().filter(|server| server.name() == name).for_each(|server| this.declare(server));
                this.prompts.send_modify(|version| *version += 1);
            }
        }));
    }

    fn ready(&self) -> Waiting<'_> {
        Box::pin(async move {
            if self.all().iter().any(|server| Self::is_awaited(server)) {
                self.until_tried().await;
            }
        })
    }

    fn prompts(&self) -> Vec<SourcePrompt> {
        let of_server = |server: &Arc<Server>| {
            let prompts = server.prompts().unwrap_or_default();
            let named = named_prompts(server.name(), &prompts);
            let prompt = |(name, prompt): (String, &PromptDefinition)| SourcePrompt {
                name,
                short: format!("{}:{}", server.name(), prompt.name),
                source: server.name().to_owned(),
                description: prompt.description.clone(),
                usage: prompt.usage(),
            };
            named.map(prompt).collect::<Vec<_>>()
        };
        self.all().iter().flat_map(of_server).collect()
    }

    fn prompts_changed(&self, seen: Option<u64>) -> NextPrompts<'_> {
        Box::pin(async move {
            let mut version = self.prompts.subscribe();
            if seen.is_none() {
                self.until_all(Tried::Prompts).await;
            }
            // The sender lives as long as this.
            drop(version.wait_for(|now| Some(*now) != seen).await);
            *version.borrow()
        })
    }

    fn expand<'a>(&'a self, typed: &'a str) -> Expanding<'a> {
        Box::pin(async move {
            let typed = typed.strip_prefix('/')?;
            let (called, arguments) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
            let servers = self.all();
            let (server, spelling) = servers.iter().find_map(|server| Some((server, spelled(server, called)?)))?;
            called_prompt(server, spelling, arguments).await
        })
    }

    fn lines(&self) -> Vec<String> {
        let overridden = self.overridden.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.all().iter().flat_map(|server| server.lines()).chain(overridden).collect()
    }

    fn reconnect(&self, name: &str) -> Result<(), String> {
        let servers = self.all();
        let names = || servers.iter().map(|server| server.name()).collect::<Vec<_>>().join(", ");
        let found = servers.iter().find(|server| server.name() == name);
        let server = found.ok_or_else(|| format!("there is no MCP server {name}; there are {}", names()))?;
        let this = self.this.upgrade().ok_or("the servers have ended")?;
        server.reset();
        drop(tokio::spawn(this.try_server(server.clone())));
        Ok(())
    }

    fn close(&self) -> Waiting<'_> {
        Box::pin(async move {
            let closing = self.all().into_iter().map(|server| tokio::spawn(async move { server.close().await }));
            for closed in closing.collect::<Vec<_>>() {
                drop(closed.await);
            }
        })
    }
}

impl ResourceServers for Servers {
    fn with_resources(&self) -> Vec<Arc<Server>> {
        self.all().iter().filter(|server| server.has_resources()).cloned().collect()
    }
}

impl Searchable for Servers {
    fn findable(&self) -> Vec<Findable> {
        let of_server = |server: &Arc<Server>| {
            let about = server.configured.config.description.clone().unwrap_or_default();
            let deferred = Self::tools_of(server).into_iter().filter(|tool| tool.exposure == Exposure::Deferred);
            let findable = deferred.map(|tool| Findable {
                server: server.name().to_owned(),
                about: about.clone(),
                name: tool.name,
                description: tool.definition.description,
            });
            findable.collect::<Vec<_>>()
        };
        self.all().iter().flat_map(of_server).collect()
    }

    fn load(&self, names: &[String]) {
        self.state().loaded.extend(names.iter().cloned());
        self.all().iter().for_each(|server| self.declare(server));
    }

    fn all_known(&self) -> Waiting<'_> {
        Box::pin(self.until_tried())
    }
}
