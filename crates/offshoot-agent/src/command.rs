//! The commands of a front end, and their replies. Knows no front end.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use offshoot_protocol::{ApprovalDecision, ApprovalMode, QueueMode, ThinkingLevel};
use tokio::sync::mpsc::UnboundedSender;

use crate::event::{BashResult, CompactionResult};
use crate::limits::Limits;
use crate::message::{Block, Content, CustomMessage};
use crate::operate::HeldOperation;
use crate::provider::Model;
use crate::resources::SharedResources;
use crate::setup::{ReloadedSetup, Rules};
use crate::tool::{Tool, ToolContext, ToolOutcome, ToolSource};
use crate::turn::{BringBack, Call, Navigated, Navigation, Settled};

/// See the methods of [`crate::agent_session::AgentSession`].
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Command {
    /// Replied to when nothing continues by itself.
    Prompt(UserPrompt),
    /// For the model after the current turn.
    Steer(UserPrompt),
    /// For the model when it would stop.
    FollowUp(UserPrompt),
    /// A message of an extension.
    Inject { message: CustomMessage, delivery: Delivery },
    /// What an extension says in the user's place. Neither skills nor templates are looked for.
    InjectUser { content: Content, delivery: Delivery },
    /// Data of an extension, which the model never sees; replied to with the entry's id. The data are JSON.
    AppendEntry { custom_type: String, data: Option<String> },
    /// The tools of a source, in place of all that it had before; an empty list removes the source. Tools of other sources
    /// stay. Which tool of a name is used says [`ToolSource`].
    SetTools { source: ToolSource, tools: ToolList },
    /// The names of the tools that the model gets.
    SetActiveTools(Vec<String>),
    /// Removes the queued messages.
    ClearQueue,
    /// Stops everything; replied to when it has stopped.
    Abort,
    /// Replied to when nothing is running.
    WaitForIdle,
    /// Runs a command in the shell and records it.
    Bash { command: String, exclude_from_context: bool },
    /// Stops the running shell command.
    AbortBash,
    /// Stops what is running first.
    Compact { instructions: Option<String> },
    /// Refused during a run.
    NavigateTree(Navigation),
    /// Runs an operation on the session; replied to when it has its outcome, which goes to whoever began it.
    Operate(HeldOperation),
    /// Refused during a run; replied to as a move in the tree.
    BringBack(BringBack),
    /// Stops what is running first, as the next three do. The header names the parent's file.
    NewSession { parent: Option<String> },
    /// An existing session file. The folder is the session's or that of the start; without one only the session's counts, and
    /// only at or below that of the start: see [`crate::WorkFolders`].
    SwitchSession { file: PathBuf, folder: Option<PathBuf> },
    /// A session with the path before a user message.
    Fork { entry: String },
    /// Starts a session with the path up to this entry.
    ForkAt { entry: String },
    /// A session with the path to the leaf.
    Clone,
    /// Changes a session that an extension prepares into another; extensions are not asked and hear nothing.
    PrepareSession(PreparedSession),
    /// From the next request on.
    SetModel(Arc<Model>),
    /// From the next request on.
    SetThinkingLevel(ThinkingLevel),
    /// An empty name clears it.
    SetName(String),
    /// `None` removes the label.
    SetLabel { entry: String, label: Option<String> },
    /// How many steering messages are sent at once.
    SetSteeringMode(QueueMode),
    /// How many follow-up messages are sent at once.
    SetFollowUpMode(QueueMode),
    /// Compact automatically near the limit.
    SetAutoCompaction(bool),
    /// Retry failed requests.
    SetAutoRetry(bool),
    /// Replaces the settings of retries and compactions.
    SetRules(Box<Rules>),
    /// From the next request on.
    SetSystemPrompt(String),
    /// Replaces the skills and prompt templates, from the next prompt on.
    SetResources(SharedResources),
    /// Replaces what the start has read of settings, keys and resources; refused during a run. The model, the thinking
    /// level, the approval mode and the allowed calls of this run stay.
    Reload(ReloadedSetup),
    /// Answers an [`crate::event::Event::ApprovalRequest`]. The model sees the message of a rejection.
    Approve { id: u64, decision: ApprovalDecision, message: Option<String> },
    /// From the next call on.
    SetApproval(ApprovalMode),
    /// A tool of offshoot's own by its name, for an extension that wraps it.
    BuiltIn(String),
    /// Runs a call that a running tool makes, as one of the model: replied to with its outcome. Who no longer waits for
    /// the reply stops it.
    RunNested(NestedCall),
    /// Returns the agent's state.
    Inspect,
}

#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct UserPrompt {
    /// Files and piped input, sent before the text.
    pub before: String,
    /// As it was typed: it may call a skill or a template.
    pub text: String,
    pub images: Vec<Block>,
}

impl UserPrompt {
    /// The files and the piped input, then the text as it was typed.
    pub fn with_files(&self) -> String {
        joined(&self.before, &self.text)
    }
}

/// What is sent when files come before a text.
pub(crate) fn joined(before: &str, text: &str) -> String {
    [before, text].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

impl From<&str> for UserPrompt {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<String> for UserPrompt {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Tools. Two lists are equal if they are the same one.
#[derive(Clone)]
pub struct ToolList(pub Arc<[Arc<dyn Tool>]>);

impl fmt::Debug for ToolList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|tool| tool.name())).finish()
    }
}

impl PartialEq for ToolList {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A tool of offshoot's own, and where it works.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct BuiltInTool {
    /// Only this one.
    pub tool: ToolList,
    pub place: Arc<ToolContext>,
}

impl PartialEq for BuiltInTool {
    fn eq(&self, other: &Self) -> bool {
        self.tool == other.tool && Arc::ptr_eq(&self.place, &other.place)
    }
}

/// A call that a running tool makes.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct NestedCall {
    /// The id of the call whose tool makes it.
    pub parent: String,
    pub call: Call,
    /// Gets the partial outcomes.
    pub steps: UnboundedSender<ToolOutcome>,
}

impl PartialEq for NestedCall {
    fn eq(&self, other: &Self) -> bool {
        self.call == other.call && self.steps.same_channel(&other.steps)
    }
}

/// When a message of an extension is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Between two turns at once, during a run after the current turn. Starts no run.
    Add,
    /// Starts a run; during one as a steering message.
    Steer,
    /// Starts a run; during one when the model would stop.
    FollowUp,
    /// With the next prompt.
    NextPrompt,
}

/// What an extension makes of a session that it prepares.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum PreparedSession {
    /// Without an id it gets a new one. The header names the parent's file.
    New { id: Option<String>, parent: Option<String> },
    /// The session in this file, or a new one there.
    File(PathBuf),
    /// A session with the path to an entry. It keeps its name.
    Path { leaf: String },
}

/// A session that was opened or started in place of another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Forked {
    /// The text of the user message before which it was forked.
    pub text: Option<String>,
    pub session_id: String,
    pub file: Option<PathBuf>,
}

/// The agent's state.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Standing {
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
    pub is_streaming: bool,
    /// How many runs have ended, and how the last one did; `Done` before the first.
    pub settled: (u64, Settled),
    /// Whether a compaction or a move in the tree is running.
    pub is_at_a_job: bool,
    /// Queued for after the current turn.
    pub steering: Vec<String>,
    /// Queued for when the agent would stop.
    pub follow_up: Vec<String>,
    pub system: String,
    /// The tokens of the system prompt and the tools.
    pub overhead: u64,
    /// The skills and prompt templates of the session's folder. Reading them may wait for their search.
    pub resources: SharedResources,
    /// All that there are.
    pub tools: ToolList,
    /// The names of those that the model gets.
    pub active_tools: Vec<String>,
    pub steering_mode: QueueMode,
    pub follow_up_mode: QueueMode,
    pub auto_compaction: bool,
    pub approval: ApprovalMode,
    /// Of agents that extensions start.
    pub limits: Limits,
    /// Tokens of the window that a branch summary leaves free.
    pub branch_reserve: u64,
}

#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Reply {
    Done,
    /// An extension dealt with it: the model does not get it.
    Handled,
    /// `None`: there is no such tool.
    BuiltIn(Option<BuiltInTool>),
    Outcome(ToolOutcome),
    /// The id of the new entry.
    Entry(String),
    Settled(Settled),
    /// The removed texts: steering, follow-up.
    Queue(Vec<String>, Vec<String>),
    Ran(Arc<BashResult>),
    Compacted(Arc<CompactionResult>),
    Navigated(Navigated),
    Session(Forked),
    /// The level in effect, clamped to the model.
    Thinking(ThinkingLevel),
    Standing(Box<Standing>),
}
