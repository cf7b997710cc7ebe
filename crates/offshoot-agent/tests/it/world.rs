//! An agent with a real session file and a model server on this machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::provider::{Api, Http};
use offshoot_agent::sessions::Sessions;
use offshoot_agent::testing::script::Reply;
use offshoot_agent::testing::server::{KEY, Server};
use offshoot_agent::tool::{self, Shell};
use offshoot_agent::{Approver, Setup};
use offshoot_protocol::message::Message;
use offshoot_protocol::model::Model;
use offshoot_protocol::{AgentError, AgentEvent, AgentId, Event, Retry, Secret, Settled};
use offshoot_session::clock::SystemClock;
use offshoot_session::error::Result;
use offshoot_session::session::{NewSession, Options, Session};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;

/// A folder, a server, and the model that it plays.
pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) server: Server,
    pub(crate) model: Arc<Model>,
}

/// Sessions as files of one folder.
struct Files(PathBuf);

impl Sessions for Files {
    fn create(&self, new: &NewSession<'_>) -> Result<Session> {
        Session::create(new, Options::default(), |id, time| self.file_path("", id, time))
    }

    fn open(&self, file: &Path) -> Result<Session> {
        Session::open(file, Options::default())
    }

    fn file_path(&self, _cwd: &str, id: &str, timestamp: &str) -> PathBuf {
        self.0.join(offshoot_session::store::file_name(id, timestamp))
    }
}

impl World {
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::speaking(Api::Anthropic, replies)
    }

    pub(crate) fn speaking(api: Api, replies: impl IntoIterator<Item = Reply>) -> Self {
        let server = Server::start(replies).unwrap();
        let model = super::wires::model(api, &server.base_url(api));
        Self { folder: tempfile::tempdir().unwrap(), server, model: Arc::new(model) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Retries come at once; all tools are there.
    pub(crate) fn setup(&self) -> Setup {
        let provider = Arc::new(Http::new(Arc::new(SystemClock)));
        let mut setup = Setup::new(provider, self.model.clone(), self.folder.path(), Approver::Nobody);
        setup.keys = Arc::new(Some(Secret::new(KEY)));
        setup.tools = tool::all(&Shell::default());
        setup.retry = Retry { base_delay_ms: 0, max_delay_ms: 0, ..Retry::default() };
        setup.sessions = Arc::new(Files(self.path("sessions")));
        setup.system = "You are a test.".into();
        setup
    }

    pub(crate) fn session(&self) -> Session {
        let cwd = self.folder.path().display().to_string();
        Files(self.path("sessions")).create(&NewSession { cwd: &cwd, ..NewSession::default() }).unwrap()
    }

    pub(crate) fn start(&self) -> (AgentSession, Events) {
        self.start_with(self.session(), self.setup())
    }

    pub(crate) fn start_with(&self, session: Session, setup: Setup) -> (AgentSession, Events) {
        let agent = AgentSession::start(session, setup).unwrap();
        let events = Events(agent.subscribe());
        (agent, events)
    }

    /// The lines of the only session file.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut files: Vec<_> =
            std::fs::read_dir(self.path("sessions")).unwrap().map(|file| file.unwrap().path()).collect();
        // Those of children are in a folder beside it.
        files.retain(|path| path.is_file());
        assert_eq!(files.len(), 1, "{files:?}");
        let text = std::fs::read_to_string(files.remove(0)).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// The entries of the only session file, in a few words each.
    pub(crate) fn entries(&self) -> String {
        self.lines().iter().skip(1).map(|line| entry(line)).collect::<Vec<_>>().join("\n")
    }

    /// What was wrong with the requests.
    pub(crate) fn no_problems(&self) {
        assert_eq!(self.server.problems(), [""; 0]);
    }
}

/// How long something may take that a test waits for.
pub(crate) const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// Runs a test on one thread, with timers.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let patient = async { tokio::time::timeout(PATIENCE, test).await };
    assert!(runtime.block_on(patient).is_ok(), "waited in vain");
}

/// A prompt that is being answered.
pub(crate) fn prompting(
    agent: &AgentSession,
    words: &'static str,
) -> JoinHandle<std::result::Result<Settled, AgentError>> {
    let agent = agent.clone();
    tokio::spawn(async move { agent.prompt(words).await })
}

/// An entry in a few words.
pub(crate) fn entry(line: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    let word = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    match value["type"].as_str().unwrap() {
        "message" => {
            let json = &value["message"];
            match json["role"].as_str().unwrap() {
                "bashExecution" => format!("bash {}", json["command"].as_str().unwrap()),
                _ => message(&serde_json::from_value(json.clone()).unwrap()),
            }
        }
        "model_change" => format!("model {}/{}", word("provider"), word("modelId")),
        "thinking_level_change" => format!("thinking {}", word("thinkingLevel")),
        "compaction" => format!("compaction {} {}", word("firstKeptEntryId").len(), value["details"]["summariser"]),
        "branch_summary" => format!("branch_summary {:?}", word("summary").lines().next().unwrap_or_default()),
        "custom" => format!("custom {}", word("customType")),
        other => other.to_owned(),
    }
}

/// A message in a few words.
pub(crate) fn message(message: &Message) -> String {
    use offshoot_protocol::message::{Block, text_of};
    match message {
        Message::User(said) => format!("user {:?}", said.text()),
        Message::Assistant(said) => {
            let calls = said.content.iter().filter_map(|block| match block {
                Block::ToolCall { name, .. } => Some(format!(" +{name}")),
                _ => None,
            });
            let calls: String = calls.collect();
            format!("assistant {:?}{calls} {:?}", text_of(&said.content), said.stop_reason)
        }
        Message::Custom(custom) => format!("custom {} {:?}", custom.custom_type, custom.content.text()),
        Message::ToolResult(result) => {
            let sort = if result.is_error { "error" } else { "result" };
            format!("{sort} {} {:?}", result.tool_name, text_of(&result.content))
        }
    }
}

/// The events so far.
pub(crate) struct Events(pub(crate) UnboundedReceiver<AgentEvent>);

impl Events {
    /// The next event that fits; those before it are gone.
    pub(crate) async fn until(&mut self, fits: impl Fn(&Event) -> bool) -> Arc<Event> {
        loop {
            let told = self.0.recv().await.expect("the agent tells on");
            if told.agent == AgentId::Root && fits(&told.event) {
                return told.event;
            }
        }
    }

    /// All events so far.
    pub(crate) fn all(&mut self) -> Vec<Arc<Event>> {
        let told = std::iter::from_fn(|| self.0.try_recv().ok());
        told.filter(|told| told.agent == AgentId::Root).map(|told| told.event).collect()
    }

    /// All events of children so far, with their ids.
    pub(crate) fn of_children(&mut self) -> Vec<(String, Arc<Event>)> {
        let told = std::iter::from_fn(|| self.0.try_recv().ok());
        let of_child = |told: AgentEvent| match told.agent {
            AgentId::Child(id) => Some((id.to_string(), told.event)),
            AgentId::Root => None,
        };
        told.filter_map(of_child).collect()
    }

    /// The names of all events so far, one after the other only once.
    pub(crate) fn names(&mut self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        while let Ok(event) = self.0.try_recv() {
            if event.agent != AgentId::Root {
                continue;
            }
            let json: serde_json::Value = serde_json::from_str(&event.to_json()).unwrap();
            names.push(json["type"].as_str().unwrap().to_owned());
        }
        names.dedup();
        names
    }
}
