//! Commands of the front end. The loop runs the screen tasks, and the surrounding program runs the other tasks.

use std::path::PathBuf;

use super::ask::TerminalAsk;
use super::extension::ExtensionTask;
use crate::overlay::sessions::Request;
use crate::overlay::tree::ForecastWish;
use crate::slash::{Argument, AuthAction};
use crate::terminal::NotificationWay;
use offshoot_protocol::{FilesAlong, SandboxMode};
use offshoot_session::provenance::Origin;
use offshoot_session::tree::NodeIx;
use offshoot_settings::{Scope, Value};
use offshoot_workspace::OperationOrder;

/// A command of the front end.
#[derive(Debug, Clone, PartialEq)]
pub enum Cmd {
    Screen(ScreenTask),
    Program(ProgramTask),
}

impl From<ScreenTask> for Cmd {
    fn from(task: ScreenTask) -> Self {
        Self::Screen(task)
    }
}

impl Cmd {
    /// A request to the agent.
    #[must_use]
    pub fn ask(request: impl Into<TerminalAsk>) -> Self {
        ProgramTask::ask(request).into()
    }
}

impl From<ProgramTask> for Cmd {
    fn from(task: ProgramTask) -> Self {
        Self::Program(task)
    }
}

/// A screen task for the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScreenTask {
    /// Ask the terminal to put a text to the clipboard.
    Copy(String),
    /// Tell a person who is elsewhere, in one of the ways of terminals.
    Notify(NotificationWay, String),
    Edit(String),
    /// Keep or remove a provider's key, in a dialogue of its own.
    Auth(AuthAction, Option<String>),
    /// Give the terminal to a group of processes of extensions, whose wish has this number.
    Lend(u64, u32),
    /// Report the terminal's size, even if it is the one before.
    LookAtSize,
    /// Suspend the program and give the terminal to the shell.
    Suspend,
    /// Take the terminal back after the program was stopped.
    TakeBack,
    /// Draw for a new size of the terminal.
    Resize,
    /// Draw the screen again: another program has written on it.
    Redraw,
    /// Ask the terminal for its background; answered with [`super::msg::Msg::Background`], if the terminal answers.
    AskBackground,
}

/// A task for the surrounding program.
#[derive(Debug, Clone, PartialEq)]
pub enum ProgramTask {
    /// Ask the agent; answered with [`super::msg::Msg::Answered`].
    Ask(Box<TerminalAsk>),
    /// Read the state of the open session; answered with [`super::msg::Msg::SessionFacts`].
    ReadSessionFacts,
    /// Read the files of the agents that the open session has started; answered with [`super::msg::Msg::Children`].
    ReadChildren,
    /// Read a snapshot of the open session for an overlay; answered with [`super::msg::Msg::Snapshot`].
    Snapshot(Purpose),
    /// Handle a request of the session selector; answered with [`super::msg::Msg::Sessions`].
    Sessions(Request),
    /// List the available models; answered with [`super::msg::Msg::Models`].
    Models,
    /// Ask the servers of this machine for their models; answered with [`super::msg::Msg::LocalModels`] if there are any.
    LocalModels,
    /// List the models that a key changes between; answered with [`super::msg::Msg::ModelScope`].
    ModelScope,
    /// Change between these models in this session: names, each perhaps with a level; empty for all.
    UseScope(Vec<String>),
    UseModel(String),
    /// Use the next model, or the previous one.
    NextModel {
        /// Whether to use the next model.
        is_forward: bool,
    },
    /// Read the settings; answered with [`super::msg::Msg::Settings`].
    Settings,
    /// Read the themes named in the setting; answered with [`super::msg::Msg::Themes`].
    Themes(Option<String>),
    /// List the themes; answered with [`super::msg::Msg::ThemeList`].
    ThemeList,
    /// Set or remove a value in a settings file; answered with [`super::msg::Msg::Stored`].
    Store(Scope, &'static str, Option<Value>),
    /// List the branches of the session; answered with [`super::msg::Msg::Branches`].
    Branches,
    /// Begin a new session before the entry with this id, id prefix or label.
    Fork(String, FilesAlong),
    /// Open the tree with the comparison of two named entries, or of one and the current entry.
    Compare(String, Option<String>),
    /// Read settings, keys, skills, templates and themes anew; answered with [`super::msg::Msg::Reloaded`].
    Reload,
    /// Find out whether the folder is trusted; answered with [`super::msg::Msg::Trust`].
    Trust,
    /// Keep an answer to the question whether the folder is trusted, and read everything anew.
    KeepTrust(TrustAnswer),
    /// Work out what the next request from an entry would cost, and what would be brought here; answered with
    /// [`super::msg::Msg::Forecast`].
    Forecast(ForecastWish),
    /// Find the original of a copy or of a merge in other sessions; answered with [`super::msg::Msg::Source`].
    FindSource(Origin),
    /// Work out what the files of an entry would change; answered with [`super::msg::Msg::FilesPreview`].
    FilesPreview(String),
    /// Work out what differs in the files of the branches to two entries; answered with [`super::msg::Msg::Patches`].
    Patches(String, String),
    Resume(String),
    Open(PathBuf),
    /// Run an operation on the open session; answered with [`super::msg::Msg::Operated`].
    Operate(OperationOrder),
    /// Describe the session; answered with [`super::msg::Msg::Page`].
    Describe,
    /// Say what the sandbox is, or switch it until the program ends.
    Sandbox(Option<SandboxMode>),
    /// List, explain or remove rules of approval; answered with [`super::msg::Msg::Page`].
    Permissions(Option<String>),
    /// List MCP servers, or connect one again; answered with [`super::msg::Msg::Page`].
    Mcp(Option<String>),
    /// Export the session to a file. Without a name, export a page to the session's folder.
    Export(Option<String>),
    ExportBranch {
        entry: String,
        path: Option<String>,
    },
    Import(String),
    /// List the values of this argument for completion; answered with [`super::msg::Msg::Choices`].
    Choices(Argument),
    /// List the files of the session's folder for completion; answered with [`super::msg::Msg::Files`].
    Files,
    /// Save the draft in the editor, so that it survives a crash. An empty draft removes the saved one.
    SaveDraft(String),
    Remember(String),
    /// Read the prompts that were sent; answered with [`super::msg::Msg::PastPrompts`].
    PastPrompts,
    Extension(ExtensionTask),
    /// Read the clipboard; answered with [`super::msg::Msg::Clipboard`].
    Paste,
    /// Copy a text, and say which way it went; [`super::msg::Msg::CopyByTerminal`] hands it back to the screen.
    Copy {
        text: String,
        /// What it is, for the notice.
        what: &'static str,
    },
}

impl ProgramTask {
    /// A request to the agent.
    #[must_use]
    pub fn ask(request: impl Into<TerminalAsk>) -> Self {
        Self::Ask(Box::new(request.into()))
    }
}

/// The purpose of a session snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Tree,
    /// To go to the entry at which the user goes on.
    GoOn,
    /// To compare two entries.
    Compare(NodeIx, NodeIx),
    Transcript,
    /// To choose a message and begin a new session before it.
    Fork,
    /// To choose a message and continue from it in the same session.
    BranchHere,
}

/// The answers to the question whether a folder is trusted that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustAnswer {
    Folder,
    /// The folder above it, with all that is in it.
    Parent,
    Never,
}

impl TrustAnswer {
    pub const ALL: [Self; 3] = [Self::Folder, Self::Parent, Self::Never];
}
