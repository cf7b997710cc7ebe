//! A server of a run: connected when somebody needs it, started again when it has ended, and what is known of its tools.

mod listening;
mod subscription;

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use offshoot_agent::provider::Http;
use offshoot_agent::tool::FormAsker;
use offshoot_session::text::{clean_lines, counted};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use crate::cache::{DefinitionCache, KnownServer};
use crate::client::{Client, ServerSelf, begin};
use crate::config_file::ConfiguredServer;
use crate::definition::ToolDefinition;
use crate::elicitation::Person;
use crate::era::Era;
use crate::exposure::Exposure;
use crate::http;
use crate::oauth::{SignIn, SignInPlace, TokenStore};
use crate::param_headers::designated;
use crate::peer::{CallError, Peer, PeerParts, Progress};
use crate::prompt::PromptDefinition;
use crate::start_plan::{StartPlan, Surroundings, file_uri, plan, shown_reach};
use crate::stdio::{self, ErrorTail, ServerProcess};
use subscription::{Subscription, subscribe};

/// So often a server may be started within [`START_WINDOW`].
const MOST_STARTS: usize = 5;
const START_WINDOW: Duration = Duration::from_secs(30);

/// What all servers of a run share.
#[derive(Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ServerContext {
    pub around: Surroundings,
    /// For servers that are reached over a network.
    pub http: Http,
    /// By a server's name and address.
    pub tokens: TokenStores,
    /// Whether servers learn that a person may be asked. What they ask is declined until [`Server::ask_through`].
    pub person: Presence,
}

/// Whether somebody is there in this run who can answer questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Presence {
    Somebody,
    Nobody,
}

/// Where the tokens of a server are kept, by its name and address.
pub type TokenStores = Arc<dyn Fn(&str, &str) -> Arc<dyn TokenStore> + Send + Sync>;

/// Where a server stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum ServerState {
    /// Nobody has needed it yet.
    Idle,
    Connecting,
    Ready(ServerSelf),
    NeedsSignIn(String),
    Failed(String),
    /// It was started too often.
    Suspended(String),
}

/// A server.
pub struct Server {
    /// Its configuration.
    pub configured: ConfiguredServer,
    context: ServerContext,
    inner: Mutex<Inner>,
    /// One start at a time.
    starting: tokio::sync::Mutex<()>,
    errors: ErrorTail,
    asker: OnceLock<FormAsker>,
    /// Whoever declares its tools.
    changed: UnboundedSender<String>,
}

struct Inner {
    state: ServerState,
    connection: Option<Connection>,
    era: Option<Era>,
    /// By its last start, also in an earlier run.
    has_resources: bool,
    tools: Option<Arc<[ToolDefinition]>>,
    prompts: Option<Arc<[PromptDefinition]>>,
    troubles: Vec<String>,
    logged: VecDeque<String>,
    starts: VecDeque<Instant>,
    tried: Vec<Tried>,
    /// Whoever registered it has taken it away.
    is_retired: bool,
}

/// What has been asked of a server once, with or without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tried {
    Tools,
    Prompts,
}

struct Connection {
    /// First: it holds the client.
    _subscription: Option<Subscription>,
    client: Arc<Client>,
    process: Option<ServerProcess>,
}

const MOST_LOGGED: usize = 20;
/// More names of tools are not listed.
const MOST_NAMES: usize = 30;

impl Server {
    /// Nothing is started yet. `changed` gets its name when its tools may have changed; `known` is what an earlier run has found.
    pub fn new(
        configured: ConfiguredServer,
        context: ServerContext,
        known: Option<KnownServer>,
        changed: UnboundedSender<String>,
    ) -> Arc<Self> {
        let inner = Inner {
            state: ServerState::Idle,
            connection: None,
            era: known.as_ref().and_then(|known| known.era),
            has_resources: known.as_ref().is_some_and(|known| known.has_resources),
            tools: known.map(|known| known.tools.into()),
            prompts: None,
            troubles: Vec::new(),
            logged: VecDeque::new(),
            starts: VecDeque::new(),
            tried: Vec::new(),
            is_retired: false,
        };
        let (inner, starting, errors) = (Mutex::new(inner), tokio::sync::Mutex::default(), ErrorTail::default());
        let asker = OnceLock::new();
        Arc::new(Self { configured, context, inner, starting, errors, asker, changed })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.configured.config.name
    }

    /// Questions of the server go here, from its next start on.
    pub fn ask_through(&self, asker: FormAsker) {
        // The first one stays.
        drop(self.asker.set(asker));
    }

    fn person(&self) -> Option<Person> {
        let asker = self.asker.get().filter(|_| self.context.person == Presence::Somebody)?;
        Some(Person::new(self.name(), asker.clone()))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where it stands.
    pub fn state(&self) -> ServerState {
        self.inner().state.clone()
    }

    /// Has its tools remembered for the next start, if they were listed.
    pub fn remember_in(&self, definitions: &DefinitionCache) {
        if let Some(known) = self.known() {
            definitions.write(&self.configured.config.hash, &known);
        }
    }

    /// What the next run should know of it; `None`: its tools are not known.
    pub(crate) fn known(&self) -> Option<KnownServer> {
        let Inner { tools, era, has_resources, .. } = &*self.inner();
        Some(KnownServer { tools: tools.as_ref()?.to_vec(), era: *era, has_resources: *has_resources })
    }

    /// Its tools, if they are known; also those of an earlier run.
    pub fn tools(&self) -> Option<Arc<[ToolDefinition]>> {
        self.inner().tools.clone()
    }

    pub(crate) fn mark_tried(&self, what: Tried) {
        let mut inner = self.inner();
        if !inner.tried.contains(&what) {
            inner.tried.push(what);
        }
    }

    pub(crate) fn has_tried(&self, what: Tried) -> bool {
        self.inner().tried.contains(&what)
    }

    /// Whether it shares resources, as far as is known, and is not hidden.
    pub(crate) fn has_resources(&self) -> bool {
        let is_hidden = self.configured.config.switches.exposure == Some(Exposure::Hidden);
        !is_hidden && self.inner().has_resources
    }

    /// What is wrong with its tools.
    pub fn troubles(&self) -> Vec<String> {
        self.inner().troubles.clone()
    }

    /// The last lines that it has printed as errors, and the last of its log.
    pub fn last_lines(&self) -> Vec<String> {
        self.errors.lines().into_iter().chain(self.inner().logged.iter().cloned()).collect()
    }

    /// What it is and where it stands, for a person.
    pub(crate) fn lines(&self) -> Vec<String> {
        let config = &self.configured.config;
        let state = match self.state() {
            ServerState::Idle => "not connected; the next call connects it".to_owned(),
            ServerState::Connecting => "connecting".to_owned(),
            ServerState::Ready(of) => {
                let count = self.tools().map_or(0, |tools| tools.len());
                format!("ready, {}, protocol {}", counted(count, "tool", "tools"), of.protocol)
            }
            ServerState::NeedsSignIn(_) => {
                format!("needs a sign-in: `offshoot mcp login {}`, then /mcp reconnect {}", config.name, config.name)
            }
            ServerState::Failed(why) => format!("failed: {why}"),
            ServerState::Suspended(why) => format!("suspended: {why}; /mcp reconnect {}", config.name),
        };
        let mut lines = vec![format!("{}  {state}", config.name), format!("    {}", shown_reach(&config.reach))];
        if let Some(tools) = self.tools().filter(|tools| !tools.is_empty()) {
            let names = tools.iter().take(MOST_NAMES).map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ");
            let more = if tools.len() > MOST_NAMES { ", …" } else { "" };
            lines.push(format!("    tools: {names}{more}"));
        }
        lines.extend(self.troubles().into_iter().map(|trouble| format!("    {trouble}")));
        lines.extend(self.last_lines().into_iter().map(|line| format!("    | {line}")));
        lines.iter().map(|line| clean_lines(line).into_owned()).collect()
    }

    /// The connection, which is made if there is none.
    pub(crate) async fn client(self: &Arc<Self>) -> Result<Arc<Client>, CallError> {
        let _one = self.starting.lock().await;
        if let Some(connection) = &self.inner().connection
            && !connection.client.peer.is_gone()
        {
            return Ok(connection.client.clone());
        }
        self.disconnect();
        if self.inner().is_retired {
            return Err(CallError::Gone("its extension has taken it away".to_owned()));
        }
        self.count_start()?;
        self.inner().state = ServerState::Connecting;
        let connected = self.connect().await;
        let mut inner = self.inner();
        match connected {
            Ok(connection) => {
                let client = connection.client.clone();
                inner.state = ServerState::Ready(client.server.clone());
                (inner.era, inner.has_resources) = (Some(client.era), client.server.has_resources);
                inner.connection = Some(connection);
                Ok(client)
            }
            Err(error) => {
                inner.state = match &error {
                    CallError::SignIn(why) => ServerState::NeedsSignIn(why.clone()),
                    other => ServerState::Failed(other.to_string()),
                };
                Err(error)
            }
        }
    }

    /// A server that ends as soon as it has started must not be started for ever.
    fn count_start(&self) -> Result<(), CallError> {
        let mut inner = self.inner();
        let now = Instant::now();
        inner.starts.retain(|start| now.duration_since(*start) < START_WINDOW);
        if inner.starts.len() >= MOST_STARTS {
            let why = format!("it was started {MOST_STARTS} times in {} s and ended each time", START_WINDOW.as_secs());
            inner.state = ServerState::Suspended(why.clone());
            return Err(CallError::Gone(why));
        }
        inner.starts.push_back(now);
        Ok(())
    }

    async fn connect(self: &Arc<Self>) -> Result<Connection, CallError> {
        let around = &self.context.around;
        let (news, heard) = unbounded_channel();
        let parts = PeerParts { news: news.clone(), root: file_uri(&around.cwd), person: self.person() };
        let (timeout, era) = (self.configured.config.timeout, self.inner().era);
        let plan = plan(&self.configured, around).await.map_err(CallError::Gone)?;
        let (peer, process) = match &plan {
            StartPlan::Stdio { words, env, cwd } => {
                let started = stdio::start(around.launcher.as_deref(), words, cwd, env);
                let pipes = started.map_err(|error| cannot_start(&plan, cwd, &error))?;
                let (carrier, outgoing) = stdio::carrier();
                let peer = Peer::new(Box::new(carrier), parts);
                let process = stdio::serve(pipes, outgoing, &peer, &self.errors);
                (peer, Some(process))
            }
            StartPlan::Http { url, headers, .. } => {
                let tokens = (self.context.tokens)(self.name(), url);
                if let Some(tokens) = tokens.tokens() {
                    (around.keep_secret)(&tokens.access_token);
                }
                (http::open(&self.context.http, (url, headers), tokens, parts).map_err(CallError::Gone)?, None)
            }
        };
        let client = Arc::new(begin(peer, timeout, era).await?);
        if let Some(known) = self.tools() {
            designate(&client, &known);
        }
        drop(tokio::spawn(listening::listen(Arc::downgrade(self), heard)));
        Ok(Connection { _subscription: subscribe(&client, news), client, process })
    }

    /// Lists its tools anew. Whoever declares them hears of it.
    pub async fn list_tools(self: &Arc<Self>) -> Result<(), CallError> {
        let client = self.client().await?;
        let listed = if client.server.has_tools { client.list("tools/list", "tools").await } else { Ok(Vec::new()) };
        let listed = match self.noted(listed) {
            Err(CallError::Refused(error)) if error.code == crate::message::METHOD_NOT_FOUND => Vec::new(),
            other => other?,
        };
        let (mut tools, mut troubles): (Vec<ToolDefinition>, Vec<String>) = (Vec::new(), Vec::new());
        let mut names = BTreeSet::new();
        for value in &listed {
            match ToolDefinition::of(self.name(), value) {
                Ok(tool) if !names.insert(tool.name.clone()) => {
                    troubles.push(format!("two tools are named {}: the first is used", clean_lines(&tool.name)));
                }
                Ok(tool) => tools.push(tool),
                Err(why) => troubles.push(why),
            }
        }
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        designate(&client, &tools);
        {
            let mut inner = self.inner();
            inner.tools = Some(tools.into());
            inner.troubles = troubles;
        }
        drop(self.changed.send(self.name().to_owned()));
        Ok(())
    }

    /// Its prompts as they were listed; `None` before that.
    pub(crate) fn prompts(&self) -> Option<Arc<[PromptDefinition]>> {
        self.inner().prompts.clone()
    }

    /// Whether its prompts may reach the person: it has some, and is not hidden.
    pub(crate) fn lists_prompts(&self) -> bool {
        let is_hidden = self.configured.config.switches.exposure == Some(Exposure::Hidden);
        !is_hidden && matches!(&self.inner().state, ServerState::Ready(of) if of.has_prompts)
    }

    /// Lists its prompts anew.
    pub(crate) async fn list_prompts(self: &Arc<Self>) -> Result<Arc<[PromptDefinition]>, CallError> {
        let client = self.client().await?;
        let listed = match client.server.has_prompts {
            true => self.noted(client.list("prompts/list", "prompts").await)?,
            false => Vec::new(),
        };
        let prompts: Arc<[PromptDefinition]> = PromptDefinition::all(&listed).into();
        self.inner().prompts = Some(prompts.clone());
        Ok(prompts)
    }

    /// Who answers its questions, and those about its prompts.
    pub(crate) fn asker(&self) -> Option<&FormAsker> {
        self.asker.get()
    }

    /// Calls a tool. Nothing is called twice that may have run, as a call whose connection ends.
    pub(crate) async fn call(
        self: &Arc<Self>,
        tool: &str,
        arguments: Value,
        progress: Progress,
    ) -> Result<Value, CallError> {
        let client = self.client().await?;
        let called = match client.call(tool, arguments.clone(), progress.clone()).await {
            Err(CallError::SessionLost) => self.client().await?.call(tool, arguments, progress).await,
            called => called,
        };
        self.noted(called)
    }

    /// A server may want a sign-in, or one with other rights, at any time.
    fn noted<T>(&self, asked: Result<T, CallError>) -> Result<T, CallError> {
        if let Err(CallError::SignIn(refusal)) = &asked {
            self.inner().state = ServerState::NeedsSignIn(refusal.clone());
        }
        asked
    }

    /// Calls a tool, and returns the result as the server has sent it.
    ///
    /// # Errors
    /// There is none.
    pub async fn call_once(self: &Arc<Self>, tool: &str, arguments: Value) -> Result<Value, CallError> {
        self.call(tool, arguments, unbounded_channel().0).await
    }

    /// Asks for anything that changes nothing.
    pub(crate) async fn ask(self: &Arc<Self>, method: &str, params: Value) -> Result<Value, CallError> {
        let asked = self.client().await?.ask(method, params, None).await;
        self.noted(asked)
    }

    /// A list of all pages.
    pub(crate) async fn list(self: &Arc<Self>, method: &str, key: &str) -> Result<Vec<Value>, CallError> {
        self.client().await?.list(method, key).await
    }

    /// Begins a sign-in. The tokens go to [`Server::token_store`].
    ///
    /// # Errors
    /// Why nobody can or has to sign in, in words.
    pub async fn sign_in(self: &Arc<Self>) -> Result<SignIn, String> {
        let plan = plan(&self.configured, &self.context.around).await?;
        let StartPlan::Http { url, oauth, .. } = plan else {
            return Err("only servers with a url have a sign-in".to_owned());
        };
        let refusal = match self.state() {
            ServerState::NeedsSignIn(refusal) => refusal,
            ServerState::Idle
            | ServerState::Connecting
            | ServerState::Ready(_)
            | ServerState::Failed(_)
            | ServerState::Suspended(_) => match self.client().await {
                Err(CallError::SignIn(refusal)) => refusal,
                Err(error) => return Err(error.to_string()),
                Ok(_) => return Err("it needs no sign-in".to_owned()),
            },
        };
        let client = self.context.http.client_for(&url)?;
        let store = (self.context.tokens)(self.name(), &url);
        SignIn::begin(SignInPlace { client, url: &url, config: &oauth }, &refusal, store.as_ref()).await
    }

    /// Where its tokens are; `None` for a server without an address.
    pub async fn token_store(&self) -> Option<Arc<dyn TokenStore>> {
        match plan(&self.configured, &self.context.around).await {
            Ok(StartPlan::Http { url, .. }) => Some((self.context.tokens)(self.name(), &url)),
            Ok(StartPlan::Stdio { .. }) | Err(_) => None,
        }
    }

    fn disconnect(&self) {
        let connection = self.inner().connection.take();
        drop(connection);
    }

    /// Ends the connection, and may start it again however often it was started.
    pub fn reset(&self) {
        self.disconnect();
        let mut inner = self.inner();
        inner.starts.clear();
        inner.state = ServerState::Idle;
    }

    /// Ends it for good, also if it is just being started.
    pub(crate) async fn retire(&self) {
        self.inner().is_retired = true;
        let _one = self.starting.lock().await;
        self.close().await;
    }

    /// Ends it.
    pub async fn close(&self) {
        let connection = self.inner().connection.take();
        let Some(Connection { client, process, .. }) = connection else { return };
        client.peer.close().await;
        drop(client);
        if let Some(process) = process {
            process.end().await;
        }
    }

    fn log(&self, line: String) {
        let mut inner = self.inner();
        if inner.logged.len() == MOST_LOGGED {
            inner.logged.pop_front();
        }
        inner.logged.push_back(line);
    }
}

/// Tells the carrier which arguments it sends a second time.
fn designate(client: &Client, tools: &[ToolDefinition]) {
    let headers = tools.iter().filter_map(|tool| Some((tool.name.clone(), designated(&tool.parameters).ok()?)));
    client.peer.designate(headers.filter(|(_, headers)| !headers.is_empty()).collect());
}

/// What has become of a server whose words cannot run.
fn cannot_start(plan: &StartPlan, cwd: &Path, error: &std::io::Error) -> CallError {
    let words = match plan {
        StartPlan::Stdio { words, .. } => crate::start_plan::shown_words(words),
        StartPlan::Http { url, .. } => url.clone(),
    };
    let folder = if cwd.is_dir() { String::new() } else { format!(" in {}", cwd.display()) };
    CallError::Gone(format!("cannot run {words}{folder}: {error}"))
}
