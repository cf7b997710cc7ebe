//! A run of servers, with an agent that only keeps what it is given.

use std::path::Path;
use std::sync::{Arc, Mutex};

use offshoot_agent::provider::Http;
use offshoot_agent::tool::{
    FormAsker, FormMessage, KeyGuard, LiveTools as _, OutputFolder, Running, Tool, ToolContext, ToolOutcome,
    ToolSource, ToolTaker,
};
use offshoot_mcp::cache::DefinitionCache;
use offshoot_mcp::config_file::{ConfigFile, ConfigScope, ConfigSource, merge};
use offshoot_mcp::oauth::{TokenStore, Tokens};
use offshoot_mcp::server::{Presence, ServerContext, ServerState};
use offshoot_mcp::server_config::ConfigDialect;
use offshoot_mcp::servers::Servers;
use offshoot_mcp::start_plan::Surroundings;
use offshoot_protocol::message::Block;
use offshoot_protocol::{Form, FormAnswer};
use offshoot_session::clock::SystemClock;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::oneshot;

use crate::scripted;

/// Tokens in memory.
#[derive(Default)]
pub(crate) struct KeptTokens(Mutex<Option<Tokens>>);

impl TokenStore for KeptTokens {
    fn tokens(&self) -> Option<Tokens> {
        self.0.lock().unwrap().clone()
    }

    fn keep(&self, tokens: Option<&Tokens>) -> Result<(), String> {
        *self.0.lock().unwrap() = tokens.cloned();
        Ok(())
    }
}

pub(crate) type Answering = Arc<dyn Fn(&Form) -> FormAnswer + Send + Sync>;

/// What servers have asked.
#[derive(Default)]
pub(crate) struct AskedForms {
    pub(crate) forms: Vec<Form>,
    pub(crate) open: Vec<oneshot::Sender<FormAnswer>>,
    pub(crate) withdrawn: usize,
}

/// An agent that only keeps what it is given.
#[derive(Default)]
pub(crate) struct KeptTools {
    pub(crate) tools: Mutex<Vec<Arc<dyn Tool>>>,
    told: Mutex<Vec<String>>,
    /// How questions are answered; without it they stay open.
    pub(crate) answer: Mutex<Option<Answering>>,
    pub(crate) asked: Arc<Mutex<AskedForms>>,
    pub(crate) sets: Mutex<usize>,
}

impl ToolTaker for KeptTools {
    fn set(&self, _: ToolSource, tools: Vec<Arc<dyn Tool>>) {
        *self.sets.lock().unwrap() += 1;
        let mut kept = self.tools.lock().unwrap();
        kept.retain(|known| tools.iter().all(|tool| tool.name() != known.name()));
        kept.extend(tools);
    }

    fn tell(&self, words: String) {
        self.told.lock().unwrap().push(words);
    }

    fn asker(&self) -> FormAsker {
        let (asked, answer) = (self.asked.clone(), self.answer.lock().unwrap().clone());
        FormAsker::new(move |message| {
            let mut asked = asked.lock().unwrap();
            match (message, &answer) {
                (FormMessage::Ask(_, form, reply), Some(answer)) => {
                    reply.send(answer(&form)).unwrap();
                    asked.forms.push(form);
                }
                (FormMessage::Ask(_, form, reply), None) => {
                    asked.forms.push(form);
                    asked.open.push(reply);
                }
                (FormMessage::Withdraw(_), _) => asked.withdrawn += 1,
            }
        })
    }
}

pub(crate) fn context(folder: &Path, tokens: &Arc<KeptTokens>) -> ServerContext {
    let tokens = tokens.clone();
    ServerContext {
        around: surroundings(folder),
        http: Http::new(Arc::new(SystemClock)),
        tokens: Arc::new(move |_, _| tokens.clone()),
        person: Presence::Somebody,
    }
}

/// A run with one server.
pub(crate) struct Run {
    pub(crate) servers: Arc<Servers>,
    pub(crate) agent: Arc<KeptTools>,
    pub(crate) tokens: Arc<KeptTokens>,
    pub(crate) folder: tempfile::TempDir,
}

pub(crate) fn surroundings(folder: &Path) -> Surroundings {
    Surroundings {
        variables: Arc::new(|_| None),
        inherited: vec![("PATH".to_owned(), std::env::var("PATH").unwrap())],
        home: None,
        cwd: folder.to_owned(),
        launcher: None,
        confine: Arc::new(|_, _| Err("there is none here".to_owned())),
        keep_secret: Arc::new(|_| {}),
    }
}

impl Run {
    /// `more` are members of the server's entry.
    pub(crate) fn new(oddities: &str, more: Value) -> Self {
        let mut entry = scripted::entry("serve", oddities);
        for (name, value) in more.as_object().unwrap() {
            match (name.as_str(), &mut entry["env"]) {
                ("env", Value::Object(env)) => env.extend(value.as_object().unwrap().clone()),
                _ => entry[name] = value.clone(),
            }
        }
        Self::of_entry(&entry)
    }

    pub(crate) fn of_entry(entry: &Value) -> Self {
        let file = ConfigFile::of(&json!({"mcpServers": {"odd": entry}}), ConfigDialect::Common);
        let source = ConfigSource { path: "f".into(), scope: ConfigScope::User, dialect: ConfigDialect::Common };
        let (configured, troubles) = merge(&[(Arc::new(source), file)]);
        assert_eq!(troubles, [""; 0]);
        let folder = tempfile::tempdir().unwrap();
        let tokens: Arc<KeptTokens> = Arc::default();
        let cache = DefinitionCache::new(Some(folder.path().join("cache")));
        let servers = Servers::new(configured, &context(folder.path(), &tokens), (cache, Vec::new()));
        Self { servers, agent: Arc::default(), tokens, folder }
    }

    pub(crate) async fn servers_close(&self) {
        self.servers.close().await;
    }

    pub(crate) async fn start(&self) {
        self.servers.start(self.agent.clone());
        self.servers.ready().await;
    }

    /// Waits until the agent has a tool.
    pub(crate) async fn until_declared(&self, name: &str) {
        while self.names().iter().all(|known| known != name) {
            tokio::task::yield_now().await;
        }
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.agent.tools.lock().unwrap().iter().map(|tool| tool.name().to_owned()).collect()
    }

    pub(crate) fn tool(&self, name: &str) -> Arc<dyn Tool> {
        self.agent.tools.lock().unwrap().iter().find(|tool| tool.name() == name).unwrap().clone()
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> (Running, UnboundedReceiver<ToolOutcome>) {
        let context = ToolContext {
            call_id: "c1".to_owned(),
            cwd: self.folder.path().to_owned(),
            home: None,
            outputs: OutputFolder::new(self.folder.path().join("outputs"), "s"),
            session_env: Vec::new(),
            keys: KeyGuard::default(),
            sandbox: None,
            neutral: None,
            conversation: offshoot_agent::tool::ConversationLink::default(),
        };
        let (partial, partials) = unbounded_channel();
        (self.tool(tool).run(arguments, Arc::new(context), partial), partials)
    }

    pub(crate) async fn echo(&self, words: &str) -> (String, bool) {
        let outcome = self.call("mcp__odd__echo", json!({"text": words})).0.await;
        (text_of(&outcome), outcome.is_error)
    }

    pub(crate) fn told(&self) -> Vec<String> {
        self.agent.told.lock().unwrap().clone()
    }

    pub(crate) fn state(&self) -> ServerState {
        self.servers.all()[0].state()
    }
}

pub(crate) fn text_of(outcome: &ToolOutcome) -> String {
    let texts = outcome.content.iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

pub(crate) fn run(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work);
}
