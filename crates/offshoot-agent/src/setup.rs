//! The parts of an agent, except for its session. Builds nothing itself.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use offshoot_protocol::model::Model;
use offshoot_protocol::{
    ApprovalScope, PromptStorage, QueueMode, Retry, RunSettings, SandboxNetwork, Secret, ThinkingLevel,
};
use offshoot_session::branch_summary;
use offshoot_session::clock::{Clock, SystemClock};
use offshoot_session::compact;
use offshoot_session::session::Session;
use offshoot_session::zone::Zone;

use crate::approval::{Permissions, Rule};
use crate::extensions::Extensions;
use crate::family::Family;
use crate::file_entries::FileRecording;
use crate::key_source::KeySource;
use crate::limits::Limits;
use crate::provider::Provider;
use crate::resources::SharedResources;
use crate::sandbox::Sandbox;
use crate::sessions::{InMemory, Sessions};
use crate::spending::RunLimits;
use crate::stored_prompt::ToolSets;
use crate::summarise::AsyncSummariser;
use crate::system_prompt::SystemPrompt;
use crate::tool::bash::Shell;
use crate::tool::{ConversationLink, KeyGuard, LiveTools, OutputFolder, Tool, ToolContext};
use crate::work_folder::WorkFolders;

/// Who answers when a call needs approval. There is no default: everybody who starts an agent decides.
#[derive(Clone)]
pub enum Approver {
    /// Such a call is refused.
    Nobody,
    /// It waits for the front end, which shows [`offshoot_protocol::Event::ApprovalRequest`] and answers with
    /// [`offshoot_protocol::request::Approve`]. What is always allowed is kept here.
    FrontEnd(Arc<dyn RuleStore>),
}

/// Keeps rules beyond the end of the program.
pub trait RuleStore: Send + Sync {
    /// Lets the calls that the rule matches run from now on, in this project or everywhere. Fails with the reason.
    fn allow(&self, rule: &Rule, scope: ApprovalScope) -> Result<(), String>;
}

/// Reads the setup anew when a session of another folder is opened. Called on the thread that owns the session.
pub trait SetupSource: Send + Sync {
    /// The setup of the session's folder, and what is odd about it, in words.
    ///
    /// # Errors
    /// Why there is none, in words.
    fn read(&self, session: &Session) -> Result<(ReloadedSetup, Vec<String>), String>;
}

/// A setup that was read anew. Two are equal if they are the same one.
#[derive(Clone)]
pub struct ReloadedSetup(pub Arc<Setup>);

impl fmt::Debug for ReloadedSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReloadedSetup")
    }
}

impl PartialEq for ReloadedSetup {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[derive(Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Setup {
    pub provider: Arc<dyn Provider>,
    pub keys: Arc<dyn KeySource>,
    pub model: Arc<Model>,
    /// As requested. Each model clamps it: see [`Setup::thinking`].
    pub thinking: ThinkingLevel,
    pub system: SystemPrompt,
    /// What a prompt may call.
    pub resources: SharedResources,
    pub tools: Vec<Arc<dyn Tool>>,
    /// Tools that belong to branches; `None`: they are not stored, and the same on all branches.
    pub tool_sets: Option<ToolSets>,
    pub prompt_storage: PromptStorage,
    pub tool_context: ToolContext,
    /// Which calls run, are asked about or are refused.
    pub permissions: Permissions,
    pub approver: Approver,
    /// For the user's own commands.
    pub shell: Shell,
    /// This program's own file, which guards the commands that run if the program is killed; `None`: they live on then.
    pub launcher: Option<PathBuf>,
    /// Whether the calls of an answer run at once.
    pub parallel_tools: bool,
    pub retry: Retry,
    /// When contexts are compacted, and how much is kept.
    pub compaction: compact::Settings,
    /// Overrides for single models, by `provider/id`.
    pub compaction_for: BTreeMap<String, compact::Settings>,
    /// `None`: the model.
    pub summariser: Option<Arc<dyn AsyncSummariser>>,
    /// Tokens of the model's window that a branch summary leaves free.
    pub branch_reserve: u64,
    pub steering: QueueMode,
    pub follow_up: QueueMode,
    pub limits: RunLimits,
    /// Of the agents that it may start, and its place among them.
    pub family: Family,
    pub sessions: Arc<dyn Sessions>,
    /// The folders in which sessions are continued.
    pub folders: WorkFolders,
    /// `None`: the setup is the same in all folders.
    pub source: Option<Arc<dyn SetupSource>>,
    /// `None`: changes of files are not recorded.
    pub files: Option<FileRecording>,
    /// Sources of tools that come and go by themselves, if there are any.
    pub live_tools: Option<Arc<dyn LiveTools>>,
    /// Other people's code, if there is any.
    pub extensions: Option<Arc<dyn Extensions>>,
    pub clock: Arc<dyn Clock + Sync>,
    /// The user's clock, for times in texts.
    pub zone: Zone,
}

impl Setup {
    pub(crate) fn follow(&mut self, settings: RunSettings) {
        let RunSettings { retry, compaction, compaction_for, branch_reserve, parallel_tools, prompt_storage } =
            settings;
        (self.parallel_tools, self.prompt_storage) = (parallel_tools, prompt_storage);
        (self.retry, self.compaction) = (retry, compaction);
        (self.compaction_for, self.branch_reserve) = (compaction_for, branch_reserve);
    }

    /// Takes what was read anew. The conversation's own choices stay: model, thinking level, approval mode, session.
    pub(crate) fn reload(&mut self, new: Self) {
        let ToolContext { outputs, session_env, .. } = self.tool_context.clone();
        let mode = self.permissions.mode;
        let (model, thinking, summariser) = (Arc::clone(&self.model), self.thinking, self.summariser.take());
        let (approver, clock, limits) = (self.approver.clone(), Arc::clone(&self.clock), self.limits);
        let family = self.family.clone();
        let extensions = self.extensions.take();
        *self = Self { model, thinking, summariser, approver, clock, limits, family, ..new };
        extensions.into_iter().for_each(|extensions| self.extend(extensions));
        self.tool_context = ToolContext { outputs, session_env, ..self.tool_context.clone() };
        self.permissions.mode = mode;
    }

    /// Other people's code, with the providers and the keys that it has of its own.
    pub fn extend(&mut self, extensions: Arc<dyn Extensions>) {
        self.provider = extensions.provider(Arc::clone(&self.provider));
        self.keys = extensions.keys(Arc::clone(&self.keys));
        self.extensions = Some(extensions);
    }

    /// Commands run in this sandbox, and are judged by it.
    pub fn use_sandbox(&mut self, sandbox: Option<Sandbox>) {
        self.permissions.confines_commands = sandbox.as_ref().is_some_and(Sandbox::is_whole);
        self.permissions.confines_to_reading = sandbox.as_ref().is_some_and(|own| own.read_only().is_some());
        self.tool_context.sandbox = sandbox;
    }

    /// Takes other skills and templates, for prompts and for the system prompt.
    pub(crate) fn use_resources(&mut self, resources: SharedResources) {
        if let SystemPrompt::Parts(parts) = &mut self.system {
            Arc::make_mut(parts).resources = resources.clone();
        }
        self.resources = resources;
    }

    /// What an agent that extensions start may do at most.
    pub fn limits(&self) -> Limits {
        let sandbox = self.tool_context.sandbox.as_ref().map(|sandbox| &sandbox.options);
        Limits {
            approval: self.permissions.mode.for_started_agent(),
            sandbox: sandbox.map(|options| options.mode).unwrap_or_default(),
            network: sandbox.map(|options| options.network).unwrap_or(SandboxNetwork::On),
        }
    }

    /// The system prompt for the tools in effect.
    pub fn system_text(&self) -> String {
        self.system.text(&self.tools)
    }

    /// The thinking level, clamped to the model.
    pub fn thinking(&self) -> ThinkingLevel {
        self.model.clamp(self.thinking)
    }

    /// The compaction settings of the model.
    pub fn compaction(&self) -> compact::Settings {
        let name = format!("{}/{}", self.model.provider, self.model.id);
        self.compaction_for.get(&name).copied().unwrap_or(self.compaction)
    }

    /// An agent that works in a folder, without tools, prompt or key, and otherwise with pi's settings.
    pub fn new(provider: Arc<dyn Provider>, model: Arc<Model>, cwd: impl Into<PathBuf>, approver: Approver) -> Self {
        let cwd = cwd.into();
        let folders = WorkFolders::new(&cwd);
        let tool_context = ToolContext {
            call_id: String::new(),
            outputs: OutputFolder::new(cwd.join(".offshoot-output"), ""),
            session_env: Vec::new(),
            cwd,
            home: None,
            keys: KeyGuard::default(),
            sandbox: None,
            neutral: None,
            conversation: ConversationLink::default(),
        };
        Self {
            provider,
            keys: Arc::new(None::<Secret>),
            model,
            thinking: ThinkingLevel::Off,
            system: SystemPrompt::Fixed(String::new()),
            resources: SharedResources::default(),
            tools: Vec::new(),
            tool_sets: None,
            prompt_storage: PromptStorage::default(),
            tool_context,
            permissions: Permissions::default(),
            approver,
            shell: Shell::default(),
            launcher: None,
            parallel_tools: true,
            retry: Retry::default(),
            compaction: compact::Settings::default(),
            compaction_for: BTreeMap::new(),
            summariser: None,
            branch_reserve: branch_summary::RESERVE,
            steering: QueueMode::default(),
            follow_up: QueueMode::default(),
            limits: RunLimits::default(),
            family: Family::default(),
            sessions: Arc::new(InMemory),
            folders,
            source: None,
            files: None,
            live_tools: None,
            extensions: None,
            clock: Arc::new(SystemClock),
            zone: Zone::UTC,
        }
    }
}
