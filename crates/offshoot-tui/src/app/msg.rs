//! The messages to the front end.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agent::branch_files::FilePatch;
use offshoot_agent::sandbox::SandboxReport;
use offshoot_protocol::model::Model;
use offshoot_protocol::{ApprovalMode, Event, FolderRefusal, SessionChangeReason, ThinkingLevel};
use offshoot_session::children::ChildList;
use offshoot_session::clock::Millis;
use offshoot_session::todo::TodoList;
use offshoot_session::transcript::Level;
use offshoot_session::tree::NodeIx;
use offshoot_workspace::{FilesPreview, OperationOrder};
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Size;

use super::ask::TerminalAnswer;
use super::cmd::Purpose;
use super::extension::ExtensionMsg;
use crate::conversation::ConversationBlock;
use crate::editor;
use crate::image::CellSize;
use crate::keymap::Keymap;
use crate::overlay::model_scope::ScopeRow;
use crate::overlay::pick::Choice;
use crate::overlay::prompts::PastPrompts;
use crate::overlay::sessions::Answer;
use crate::overlay::settings::Files;
use crate::overlay::tree::{ForecastWish, ForecastWords, Snapshot};
use crate::slash::Argument;
use crate::theme::{Background, Themes};
use offshoot_settings::{Layers, Settings};

/// What an operation said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationSaid {
    pub text: String,
    /// Why its summary was put together without a model.
    pub warning: Option<String>,
    /// What the person said at the new place, to be said otherwise.
    pub to_edit: Option<String>,
    /// Whether it was done; otherwise there was nothing to do.
    pub is_done: bool,
}

/// Why an operation was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationRefusal {
    pub why: String,
    pub cause: RefusalCause,
}

/// What kind of refusal it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalCause {
    /// The agent does something else, which goes on.
    Busy,
    /// The user stopped it.
    Stopped,
    Other,
}

/// A message to the front end.
pub enum Msg {
    Now(Millis),
    /// No event: there is time for pending work.
    Idle,
    Key(KeyEvent),
    Paste(String),
    /// Whether a paste goes on whose end is missing.
    OpenPaste(bool),
    /// The terminal has shown a picture that ended with a question.
    PictureShown,
    /// The terminal may have another size.
    WindowChanged,
    /// The size of a terminal cell in pixels.
    Cell(CellSize),
    Resized(Size),
    Focus(bool),
    Background(Background),
    Agent(Arc<Event>),
    /// An event of an agent that the session has started, with its id.
    OfChild(Arc<str>, Arc<Event>),
    /// The agents that the open session has started, by their files.
    Children(Box<ChildList>),
    /// What the next request from an entry would cost, and what would be brought here.
    Forecast(ForecastWish, ForecastWords),
    /// What the files of an entry would change, or why that cannot be read.
    FilesPreview(String, Result<FilesPreview, String>),
    /// Where the original of a copy or of a merge is, in words.
    Source(String),
    /// What differs in the files of the branches to two entries, or why that cannot be read.
    Patches(String, String, Result<Vec<FilePatch>, String>),
    /// The skills, templates and commands of extensions that may be called.
    Called(Vec<editor::Choice>, Completeness),
    /// The prompts of servers that may be called, and other spellings of their names.
    Prompts(Vec<editor::Choice>, Vec<String>),
    /// What was read anew.
    Reloaded(Box<Reloaded>),
    /// Whether the folder is trusted, in words, and what each answer means, in the order of
    /// [`super::cmd::TrustAnswer::ALL`].
    Trust(String, [String; 3]),
    /// The session of a file is opened where the user chooses.
    SessionFolder(PathBuf, FolderRefusal),
    Answered(Box<TerminalAnswer>),
    /// What an operation said, or why it was refused.
    Operated(OperationOrder, Result<OperationSaid, OperationRefusal>),
    SessionFacts(Box<SessionFacts>),
    Opened(Opened),
    Snapshot(Purpose, Snapshot, Option<NodeIx>),
    Sessions(Answer),
    Models(Vec<ListedModel>),
    /// The same after a search for local models, which are the first ones.
    LocalModels(Vec<ListedModel>),
    /// The models that can be asked; ticked are those that a key changes between, in their order.
    ModelScope(Vec<ScopeRow>),
    /// The branches of the session: the id of the last entry of each, and its choice in the list.
    Branches(Vec<(String, Choice)>),
    Page(String, Vec<String>),
    /// The prompts that were sent.
    PastPrompts(PastPrompts),
    /// The values of the settings files, their paths, and the names of the themes.
    Settings(Layers, Files, Vec<String>),
    /// The configured themes, or the reason why they cannot be used.
    Themes(Result<Box<Themes>, String>),
    /// The themes that can be chosen.
    ThemeList(Vec<ListedTheme>),
    /// The result of storing a setting: the values of the files, or the reason for the failure.
    Stored(Result<Layers, String>),
    /// The values of an argument for completion, in display order.
    Choices(Argument, Vec<editor::Choice>),
    Files(Vec<String>),
    /// The content of the clipboard: text, or the path of a file with its picture.
    Clipboard(String),
    /// No program takes what is copied: the terminal may.
    CopyByTerminal(String),
    /// The text from the user's editor; `None` if it is unchanged.
    Written(Option<String>),
    Notice(Level, String),
    Extension(ExtensionMsg),
    /// The system asks the program to suspend.
    Suspend,
    /// The program continues after a stop.
    Continued,
    End,
}

/// A theme that can be chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedTheme {
    /// As the setting has it.
    pub name: String,
    /// The light and the dark theme of this name, or why it cannot be used.
    pub themes: Result<Box<Themes>, String>,
}

impl Msg {
    /// Whether messages of this kind come in bursts.
    pub(super) fn comes_in_bursts(&self) -> bool {
        matches!(
            self,
            Self::Agent(_)
                | Self::OfChild(..)
                | Self::Extension(_)
                | Self::Resized(_)
                | Self::Sessions(_)
                | Self::Files(_)
                | Self::PictureShown
        )
    }
}

impl std::fmt::Debug for Msg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Msg")
    }
}

/// Why a place was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpenedReason {
    /// The program starts.
    #[default]
    Start,
    /// Its path only became longer: its beginning is on the screen.
    Grown,
    /// As the agent says.
    Changed(SessionChangeReason),
}

/// An opened place in a session, with as many blocks as a screen shows.
#[derive(Debug, Clone, Default)]
pub struct Opened {
    pub reason: OpenedReason,
    pub id: String,
    /// The last blocks, oldest first.
    pub tail: Vec<ConversationBlock>,
    pub hidden: usize,
    pub entries: usize,
    /// Names the wait for extensions, which draw some of the blocks.
    pub held: Option<u64>,
    /// What the rows at the start name: folder, git branch, model and thinking level. At the start only.
    pub start: Option<Box<SessionFacts>>,
}

/// Whether more of a list may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Completeness {
    Whole,
    SoFar,
}

/// Where the session's entries are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Persistence {
    /// In the session's file.
    #[default]
    Durable,
    /// Some entries are in a file next to it, because the session's file could not be written.
    Spilled,
    Deleted,
    /// Only in memory.
    InMemory,
}

/// A model in a list.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ListedModel {
    pub model: Arc<Model>,
    pub has_key: bool,
}

/// Whether the model can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModelAccess {
    /// The provider has a key, or needs none.
    #[default]
    Ready,
    /// The provider has no key, but another model can be used.
    NoKeyForModel,
    /// No model can be used.
    NoKeys,
}

/// The state of the open session and of its model.
#[derive(Debug, Clone, Default)]
pub struct SessionFacts {
    pub id: String,
    pub file: Option<String>,
    /// The canonical path of the file.
    pub path: Option<PathBuf>,
    pub name: Option<String>,
    pub cwd: String,
    /// The git branch that is checked out in the folder.
    pub git_branch: Option<String>,
    pub model: Option<Arc<Model>>,
    pub access: ModelAccess,
    pub thinking: Option<ThinkingLevel>,
    pub approval: Option<ApprovalMode>,
    /// What commands run in; `None` for no sandbox.
    pub sandbox: Option<SandboxReport>,
    /// The estimated number of tokens in the context.
    pub tokens: u64,
    /// The total cost in US dollars.
    pub cost: f64,
    /// The label of the open branch, or its last words.
    pub branch: Option<String>,
    pub branches: usize,
    /// The todo list of the branch.
    pub todo: Option<TodoList>,
    pub persistence: Persistence,
    pub diverged: Option<Diverged>,
}

/// Newer work on a branch other than the open one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diverged {
    pub entry: String,
    pub message: String,
}

/// What `/reload` has read for the front end.
#[derive(Debug)]
pub struct Reloaded {
    pub keymap: Keymap,
    pub themes: Themes,
    pub settings: Settings,
    /// The skills and templates that may be called.
    pub called: Vec<editor::Choice>,
}
