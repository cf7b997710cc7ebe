//! The servers of a run together: they start beside the agent, and their tools become the agent's when they are known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use offshoot_agent::tool::{Expanding, LiveTools, NextPrompts, SourcePrompt, Tool, ToolSource, ToolTaker, Waiting};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::cache::DefinitionCache;
use crate::config_file::ConfiguredServer;
use crate::definition::ToolDefinition;
use crate::exposure::{Exposure, named};
use crate::prompt::PromptDefinition;
use crate::prompt_call::{called_prompt, named_prompts, spelled};
use crate::resource_tools::{ResourceServers, ResourceTool};
use crate::search_tool::{Findable, Searchable, ToolSearch};
use crate::server::{Server, ServerContext};
use crate::tool::McpTool;
use crate::tool_name::tool_names;

/// How long a prompt waits for servers whose tools it has to declare.
const READY: Duration = Duration::from_secs(10);

/// The servers of a run.
pub struct Servers {
    servers: Vec<Arc<Server>>,
    cache: DefinitionCache,
    changed: Mutex<Option<UnboundedReceiver<String>>>,
    /// How many servers have been tried.
    tried: watch::Sender<usize>,
    /// The same of their prompts.
    tried_prompts: watch::Sender<usize>,
    /// Counts how often prompts have changed.
    prompts: watch::Sender<u64>,
    agent: OnceLock<Arc<dyn ToolTaker>>,
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
            servers,
            cache,
            changed: Mutex::new(Some(changed)),
            tried: watch::Sender::new(0),
            tried_prompts: watch::Sender::new(0),
            prompts: watch::Sender::new(0),
            agent: OnceLock::new(),
            state: Mutex::new(state),
            this: this.clone(),
        })
    }

    /// All of them, in the order of the files.
    pub fn all(&self) -> &[Arc<Server>] {
        &self.servers
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
                if let Some(tools) = server.tools() {
                    self.cache.write(&server.configured.config.hash, &tools, server.era());
                }
                let troubles = server.troubles();
                troubles.iter().for_each(|trouble| self.tell(format!("MCP server {}: {trouble}", server.name())));
            }
            Err(error) => self.tell(format!("MCP server {}: {error}", server.name())),
        }
        // Its tools are the agent's before anybody waits no longer.
        self.declare(&server);
        self.tried.send_modify(|tried| *tried += 1);
        // What cannot be listed is told when somebody calls a prompt.
        if server.lists_prompts() && server.list_prompts().await.is_ok() {
            self.prompts.send_modify(|version| *version += 1);
        }
        self.tried_prompts.send_modify(|tried| *tried += 1);
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
        let has_resources = server.has_resources();
        let before = (state.has_search, state.has_resources);
        state.has_search |= has_deferred;
        state.has_resources |= has_resources;
        if before != (state.has_search, state.has_resources) {
            agent.set(ToolSource::McpHelpers, self.helpers(&state));
        }
    }

    /// The tools for all servers that some server needs.
    fn helpers(&self, state: &DeclaredState) -> Vec<Arc<dyn Tool>> {
        let mut helpers: Vec<Arc<dyn Tool>> = Vec::new();
        if state.has_search {
            let this: Weak<dyn Searchable> = self.this.clone();
            let names =
                self.servers.iter().map(|server| (server.name(), server.configured.config.description.as_deref()));
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
        self.until_all(&self.tried).await;
    }

    async fn until_all(&self, tried: &watch::Sender<usize>) {
        let mut tried = tried.subscribe();
        let all = self.servers.len();
        // The sender lives as long as this.
        drop(timeout(READY, tried.wait_for(|tried| *tried >= all)).await);
    }
}

impl LiveTools for Servers {
    fn start(&self, agent: Arc<dyn ToolTaker>) {
        let asker = agent.asker();
        if self.agent.set(agent).is_err() {
            return;
        }
        self.servers.iter().for_each(|server| server.ask_through(asker.clone()));
        let Some(this) = self.this.upgrade() else { return };
        // Those of an earlier run at once.
        self.servers.iter().filter(|server| server.tools().is_some()).for_each(|server| self.declare(server));
        for server in &self.servers {
            drop(tokio::spawn(this.clone().try_server(server.clone())));
        }
        let changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut changed) = changed else { return };
        let this = self.this.clone();
        drop(tokio::spawn(async move {
            while let Some(name) = changed.recv().await {
                let Some(this) = this.upgrade() else { return };
                this.servers.iter().filter(|server| server.name() == name).for_each(|server| this.declare(server));
                this.prompts.send_modify(|version| *version += 1);
            }
        }));
    }

    fn ready(&self) -> Waiting<'_> {
        Box::pin(async move {
            if self.servers.iter().any(|server| Self::is_awaited(server)) {
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
        self.servers.iter().flat_map(of_server).collect()
    }

    fn prompts_changed(&self, seen: Option<u64>) -> NextPrompts<'_> {
        Box::pin(async move {
            let mut version = self.prompts.subscribe();
            if seen.is_none() {
                self.until_all(&self.tried_prompts).await;
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
            let (server, spelling) = self.servers.iter().find_map(|server| Some((server, spelled(server, called)?)))?;
            called_prompt(server, spelling, arguments).await
        })
    }

    fn lines(&self) -> Vec<String> {
        self.servers.iter().flat_map(|server| server.lines()).collect()
    }

    fn reconnect(&self, name: &str) -> Result<(), String> {
        let names = || self.servers.iter().map(|server| server.name()).collect::<Vec<_>>().join(", ");
        let found = self.servers.iter().find(|server| server.name() == name);
        let server = found.ok_or_else(|| format!("there is no MCP server {name}; there are {}", names()))?;
        let this = self.this.upgrade().ok_or("the servers have ended")?;
        server.reset();
        drop(tokio::spawn(this.try_server(server.clone())));
        Ok(())
    }

    fn close(&self) -> Waiting<'_> {
        Box::pin(async move {
            let closing = self.servers.iter().map(|server| {
                let server = server.clone();
                tokio::spawn(async move { server.close().await })
            });
            for closed in closing.collect::<Vec<_>>() {
                drop(closed.await);
            }
        })
    }
}

impl ResourceServers for Servers {
    fn with_resources(&self) -> Vec<Arc<Server>> {
        self.servers.iter().filter(|server| server.has_resources()).cloned().collect()
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
        self.servers.iter().flat_map(of_server).collect()
    }

    fn load(&self, names: &[String]) {
        self.state().loaded.extend(names.iter().cloned());
        self.servers.iter().for_each(|server| self.declare(server));
    }

    fn all_known(&self) -> Waiting<'_> {
        Box::pin(self.until_tried())
    }
}
