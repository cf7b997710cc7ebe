//! What may happen to the front end.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agent::command::{Command, Reply};
use offshoot_agent::error::AgentError;
use offshoot_agent::event::Event;
use offshoot_agent::provider::{Model, ThinkingLevel};
use offshoot_session::clock::Millis;
use offshoot_session::transcript::Level;
use offshoot_session::tree::NodeIx;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Size;

use super::cmd::Purpose;
use crate::conversation::ConversationBlock;
use crate::editor;
use crate::image::CellSize;
use crate::overlay::pick::Choice;
use crate::overlay::sessions::Answer;
use crate::overlay::settings::Files;
use crate::overlay::tree::Snapshot;
use crate::slash::Argument;
use crate::theme::{Background, Themes};
use offshoot_settings::Layers;

/// Something that happened.
pub enum Msg {
    Now(Millis),
    /// Nothing: there is time for what is under way.
    Idle,
    Key(KeyEvent),
    Paste(String),
    /// How many pixels a cell of the terminal has.
    Cell(CellSize),
    Resized(Size),
    Focus(bool),
    Background(Background),
    Agent(Arc<Event>),
    /// A branch is about to be left with a summary.
    Leaving,
    Answered(Box<Command>, Result<Reply, AgentError>),
    Looked(Box<Looked>),
    /// The branch that git has checked out in the session's folder.
    GitBranch(Option<String>),
    Opened(Opened),
    Snapshot(Purpose, Snapshot, Option<NodeIx>),
    Sessions(Answer),
    Models(Vec<ListedModel>),
    /// The branches of the session: the last entry of each, and how it is shown.
    Branches(Vec<(String, Choice)>),
    Page(String, Vec<String>),
    /// What the files of settings say, where they are, and which themes there are.
    Settings(Layers, Files, Vec<String>),
    /// The themes that the user has set by now, or in words why there are none.
    Themes(Result<Box<Themes>, String>),
    /// A setting was stored: what the files say now, or in words why it could not be.
    Stored(Result<Layers, String>),
    /// What an argument may be, for completion, in the order in which it is shown.
    Choices(Argument, Vec<editor::Choice>),
    Files(Vec<String>),
    /// What the clipboard holds: text, or the path of a file with its picture.
    Clipboard(String),
    /// A text that was written on in the user's editor; `None`: it stays.
    Written(Option<String>),
    Notice(Level, String),
    /// The system wants the program to stop for a while.
    Suspend,
    /// The program goes on after it was stopped.
    Continued,
    End,
}

impl Msg {
    /// Whether its picture may wait for others of its kind: they come in numbers.
    pub(super) fn can_wait(&self) -> bool {
        matches!(self, Self::Agent(_) | Self::Resized(_) | Self::Sessions(_) | Self::Files(_))
    }
}

impl std::fmt::Debug for Msg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Msg")
    }
}

/// A place in a session, as far back as a screen shows it.
#[derive(Debug, Clone, Default)]
pub struct Opened {
    /// Why it was opened, as the agent says: `new`, `resume`, `fork`, `tree`; empty at the start.
    pub reason: &'static str,
    pub id: String,
    /// What was said last, oldest first.
    pub tail: Vec<ConversationBlock>,
    pub hidden: usize,
    pub entries: usize,
}

/// Where a session's words are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Persistence {
    /// In its file.
    #[default]
    Durable,
    /// Some of them wait beside it, because the file could not be written.
    Spilled,
    Deleted,
    /// Nowhere but in memory.
    InMemory,
}

/// A model in a list.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ListedModel {
    pub model: Arc<Model>,
    pub has_key: bool,
}

/// Whether the model can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModelAccess {
    /// Its provider has a key, or needs none.
    #[default]
    Ready,
    /// Its provider has no key; another model can be asked.
    NoKeyForModel,
    /// No model can be asked.
    NoKeys,
}

/// What is known of the open session and of who answers.
#[derive(Debug, Clone, Default)]
pub struct Looked {
    pub id: String,
    pub file: Option<String>,
    /// The same, without links.
    pub path: Option<PathBuf>,
    pub name: Option<String>,
    pub cwd: String,
    pub model: Option<Arc<Model>>,
    pub access: ModelAccess,
    pub thinking: Option<ThinkingLevel>,
    /// Estimated tokens of the context.
    pub tokens: u64,
    /// What all of it cost, in US dollars.
    pub cost: f64,
    /// The label that names the open branch, or its last words.
    pub branch: Option<String>,
    pub branches: usize,
    pub persistence: Persistence,
    pub diverged: Option<Diverged>,
}

/// Newer work on another branch than the open one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diverged {
    pub entry: String,
    pub message: String,
}
