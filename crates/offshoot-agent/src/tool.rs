//! The interface to tools, and the tools: arguments in, blocks out. A tool knows files and processes, no sessions,
//! models or front ends.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use offshoot_protocol::Crash;
use offshoot_protocol::message::Block;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use crate::provider::ToolSpec;
use crate::sandbox::Sandbox;

pub mod truncate;
mod args;
mod decode;
mod diff;
mod hide;
mod key_guard;
mod output_folder;
mod output;
mod paths;
mod tier;
mod files;
mod picture;
mod background;
mod conversation;
pub mod bash;
mod read;
mod replace;
mod edit;
pub(crate) mod walk;
mod listing;
mod find;
mod grep;
mod ls;
mod write;
mod choice;
mod source;
mod ask;
mod todo;
mod plan;
mod task;

pub use ask::{ASK_TOOL, Ask};
pub(crate) use background::EndedCommand;
pub use background::{
    BASH_LIST_TOOL, BASH_OUTPUT_TOOL, BASH_STOP_TOOL, BackgroundCommands, BackgroundNews, BashList, BashOutput,
    BashStop,
};
pub use bash::{BASH_TOOL, Bash, NeutralCommand, Shell};
pub use choice::{DEFAULT, ToolChoice, ToolChoiceError, ToolFilter, select};
pub use conversation::{
    AcceptedPlan, ConversationLink, FormAsker, FormMessage, PlanKeeper, ReadList, TaskCall, TaskLimits, TaskOrder,
    TaskRunner, TodoLists,
};
pub(crate) use diff::change;
pub use edit::Edit;
pub(crate) use edit::edit_in_memory;
pub use find::Find;
pub use grep::Grep;
pub(crate) use hide::Hide;
pub use key_guard::KeyGuard;
pub use ls::Ls;
pub use output_folder::OutputFolder;
pub use paths::{FoundPath, PathBase};
pub use picture::stored_picture;
pub(crate) use plan::LONGEST_PLAN;
pub use plan::{PLAN_TOOL, PlanTool};
pub use read::Read;
pub(crate) use replace::Replacement;
pub use source::{Expanding, LiveTools, NextPrompts, SourcePrompt, ToolSource, ToolTaker, Waiting};
pub use task::{TASK_TOOL, Task};
pub use tier::Tier;
pub use todo::{Todo, TodoEdit, todo_words};
pub use write::Write;

/// The variable with the session's id.
const SESSION_ID: &str = "OFFSHOOT_SESSION_ID";
/// The variable with the session's file.
const SESSION_FILE: &str = "OFFSHOOT_SESSION_FILE";

/// The environment of a tool.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ToolContext {
    /// The model's id of the call.
    pub call_id: String,
    /// Relative paths start here.
    pub cwd: PathBuf,
    pub home: Option<PathBuf>,
    /// Where long outputs are kept.
    pub outputs: OutputFolder,
    /// Variables that tell commands which session they belong to.
    pub session_env: Vec<(String, String)>,
    pub keys: KeyGuard,
    /// `None`: commands do what the user could do.
    pub sandbox: Option<Sandbox>,
    /// What runs in the place of the command of the call.
    pub neutral: Option<NeutralCommand>,
    pub conversation: ConversationLink,
}

impl ToolContext {
    /// The session's id.
    pub(crate) fn session_id(&self) -> Option<&str> {
        let named = self.session_env.iter().find(|(name, _)| name == SESSION_ID);
        named.map(|(_, id)| id.as_str())
    }

    /// The session's file.
    pub(crate) fn session_file(&self) -> Option<&Path> {
        let named = self.session_env.iter().find(|(name, _)| name == SESSION_FILE);
        named.map(|(_, file)| Path::new(file.as_str()))
    }

    /// From now on commands belong to this session: their variables name it, and their outputs count as its own.
    pub fn set_session(&mut self, id: &str, file: Option<&Path>) {
        self.outputs = self.outputs.of_session(id);
        let file = file.map(|file| file.display().to_string());
        let named = ["OFFSHOOT_SESSION", SESSION_FILE].map(|name| Some((name, file.clone()?)));
        let variables = [Some((SESSION_ID, id.to_owned()))].into_iter().chain(named).flatten();
        self.session_env = variables.map(|(name, value)| (name.to_owned(), value)).collect();
    }
}

/// The end of a stopped call's result.
const STOPPED: &str = "The user stopped this tool call before it was done.";

#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ToolOutcome {
    /// For the model.
    pub content: Vec<Block>,
    /// For people and renderers, in pi's shape.
    pub details: Option<Value>,
    /// The calls that the tool itself has made, in pi's shape.
    pub nested_calls: Option<Box<Value>>,
    pub is_error: bool,
    /// The run ends with it, if every call of the answer says so.
    pub ends_run: bool,
    /// Why the sandbox may have stopped the call. Boxed, because outcomes are handed around and few have it.
    pub sandbox_refusal: Option<Box<SandboxRefusal>>,
}

/// Why the sandbox may have stopped a call, as a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxRefusal(pub String);

impl ToolOutcome {
    /// A text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        let block = Block::Text { text: text.into(), text_signature: None };
        Self { content: vec![block], ..Self::default() }
    }

    /// The text should help the model to correct its call.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// The result of a call whose tool panicked.
    pub(crate) fn crashed(name: &str, crash: &Crash) -> Self {
        Self::failed(format!("The tool {name} crashed: {crash}. What it was doing may be half done."))
    }

    /// Adds a text of its own, if there is one.
    pub(crate) fn noted(mut self, note: Option<&str>) -> Self {
        self.content.extend(note.map(Block::text));
        self
    }

    /// Adds to the last text.
    fn with_end(mut self, end: &str) -> Self {
        match self.content.last_mut() {
            _ if end.is_empty() => {}
            Some(Block::Text { text, .. }) => text.push_str(end),
            _ => self.content.push(Block::text(end.trim_start())),
        }
        self
    }

    /// Says which file it is about, if that is not exactly the one that the call names.
    fn of_found(self, found: &FoundPath) -> Self {
        let Some(note) = found.note() else { return self };
        let mut outcome = self.with_end(&format!("\n\n[{note}]"));
        let details = outcome.details.get_or_insert_with(|| Value::Object(serde_json::Map::new()));
        if let Some(details) = details.as_object_mut() {
            details.insert("path".to_owned(), found.path.to_string_lossy().into());
        }
        outcome
    }

    /// The outcome of a stopped call: its last partial outcome and a note.
    pub fn stopped(shown: Option<Self>) -> Self {
        let mut outcome = shown.unwrap_or_default();
        outcome.is_error = true;
        match outcome.content.last_mut() {
            Some(Block::Text { text, .. }) if !text.is_empty() => {
                let gap = if text.ends_with('\n') { "\n" } else { "\n\n" };
                *text = format!("{text}{gap}{STOPPED}");
            }
            _ => outcome.content.push(Block::text(STOPPED)),
        }
        outcome
    }
}

/// Dropping this stops the tool: none of its processes survives. Its last partial outcome, which may be sent during the
/// drop, is kept in the result.
pub type Running = Pin<Box<dyn Future<Output = ToolOutcome> + Send>>;

/// The arguments of a call as it runs, or its result if they do not fit the tool.
pub type Prepared = Pin<Box<dyn Future<Output = Result<Value, ToolOutcome>> + Send>>;

/// A tool. Arguments that do not fit its schema give a failed outcome, never a panic. Needs a tokio runtime with timers
/// and I/O.
pub trait Tool: Send + Sync {
    /// The name by which the model calls it.
    fn name(&self) -> &str;

    /// The description for the model.
    fn spec(&self) -> ToolSpec;

    /// Whether every call does more than read: the approval mode `read-only` refuses all of them.
    fn only_changes(&self) -> bool {
        false
    }

    /// Whether it is of use only where a person can be asked; elsewhere requests do not have it.
    fn needs_person(&self) -> bool {
        false
    }

    /// Whether agents that it starts may change files while it runs, whatever its tier is.
    fn starts_agents(&self) -> bool {
        false
    }

    /// Whether the calls of an answer that calls it run one after another, in their order. Otherwise they all run at once.
    fn is_sequential(&self) -> bool {
        false
    }

    /// A few words for the list in the system prompt; `None`: it is not listed.
    fn summary(&self) -> Option<&str> {
        None
    }

    /// Rules for the system prompt while the tool is enabled.
    fn guidelines(&self) -> Vec<&str> {
        Vec::new()
    }

    /// The extension that brought the tool; `None` for one that is built in.
    fn provider(&self) -> Option<&str> {
        None
    }

    /// The arguments with which a call is judged and runs, from those that the model wrote.
    fn prepare(&self, arguments: Value) -> Prepared {
        Box::pin(std::future::ready(Ok(arguments)))
    }

    /// The change that a call would make to a file, as numbered lines; `None`: it makes none, or it cannot be foretold. Called
    /// where it may block.
    fn preview(&self, _arguments: Value, _context: &ToolContext) -> Option<String> {
        None
    }

    /// The result of a call that would fail and change nothing, as far as that can be told. Called where it may block.
    fn foresee_failure(&self, _arguments: Value, _context: &ToolContext) -> Option<ToolOutcome> {
        None
    }

    /// What a call would do; decides whether somebody is asked first.
    fn tier(&self, _arguments: &Value, _place: &ToolContext) -> Tier {
        Tier::Exec
    }

    /// Makes ready what calls need that takes time: the model is being asked, or has begun to write so many calls of one answer. Takes
    /// milliseconds at most: everything else waits meanwhile.
    fn make_ready(&self, _context: &ToolContext, _calls: usize) {}

    /// Starts a call. Each partial outcome replaces the previous one.
    fn run(&self, arguments: Value, place: Arc<ToolContext>, partial: UnboundedSender<ToolOutcome>) -> Running;
}

/// Every tool, in the order of the descriptions for models.
pub fn all(shell: &Shell) -> Vec<Arc<dyn Tool>> {
    let bash = Bash { shell: shell.clone() };
    vec![
        Arc::new(Read),
        Arc::new(bash),
        Arc::new(Edit),
        Arc::new(Write),
        Arc::new(Grep),
        Arc::new(Find),
        Arc::new(Ls),
        Arc::new(Ask),
        Arc::new(Todo),
        Arc::new(PlanTool),
        Arc::new(Task),
        Arc::new(BashOutput),
        Arc::new(BashStop),
        Arc::new(BashList),
    ]
}

/// Works on files outside the runtime's threads. A change that has begun is completed even if its future is dropped.
async fn blocking(work: impl FnOnce() -> Result<ToolOutcome, ToolOutcome> + Send + 'static) -> ToolOutcome {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(outcome) | Err(outcome)) => outcome,
        Err(error) => ToolOutcome::failed(format!("the tool broke down, which is a bug of offshoot: {error}")),
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! What the tests of every tool need.

    use super::{Arc, Block, ConversationLink, KeyGuard, OutputFolder, Tool, ToolContext, ToolOutcome, Value};

    /// A place that ends at this folder.
    pub(crate) fn place(dir: &std::path::Path) -> ToolContext {
        ToolContext {
            call_id: String::new(),
            cwd: dir.to_owned(),
            home: Some(dir.join("home")),
            outputs: OutputFolder::new(dir.join("spill"), "s"),
            session_env: Vec::new(),
            keys: KeyGuard::default(),
            sandbox: None,
            neutral: None,
            conversation: ConversationLink::default(),
        }
    }

    /// Runs a tool to its end.
    pub(super) fn call(tool: &dyn Tool, arguments: Value, place: ToolContext) -> ToolOutcome {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (partial, _) = tokio::sync::mpsc::unbounded_channel();
        runtime.block_on(tool.run(arguments, Arc::new(place), partial))
    }

    pub(super) fn text_of(outcome: &ToolOutcome) -> String {
        let texts = outcome.content.iter().filter_map(|block| match block {
            Block::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}
