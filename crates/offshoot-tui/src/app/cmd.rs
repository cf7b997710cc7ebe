//! What the front end wants done: by the loop, what concerns the screen; by the program around it, everything else.

use std::path::PathBuf;

use offshoot_agent::command::Command;

use crate::overlay::sessions::Request;
use crate::slash::{Argument, LabelRequest};
use offshoot_settings::{Scope, Value};

/// Something to be done.
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
    /// Says this to the agent.
    #[must_use]
    pub fn ask(command: Command) -> Self {
        ProgramTask::Ask(Box::new(command)).into()
    }
}

impl From<ProgramTask> for Cmd {
    fn from(task: ProgramTask) -> Self {
        Self::Program(task)
    }
}

/// What the loop does with the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScreenTask {
    Copy(String),
    Edit(String),
    /// Give the terminal back to the shell for a while.
    Suspend,
    /// Take the terminal back: the program goes on after it was stopped.
    TakeBack,
    /// Draw for another size of the terminal.
    Resize,
    /// Ask the terminal for its background; answered with [`super::msg::Msg::Background`], if it answers.
    AskBackground,
}

/// What the program around the front end does.
#[derive(Debug, Clone, PartialEq)]
pub enum ProgramTask {
    /// Say this to the agent; answered with [`super::msg::Msg::Answered`].
    Ask(Box<Command>),
    /// Find out about the open session; answered with [`super::msg::Msg::Looked`].
    Look,
    /// Find the branch that git has checked out in the session's folder; answered with [`super::msg::Msg::GitBranch`].
    GitBranch,
    /// Show the open session to an overlay; answered with [`super::msg::Msg::Snapshot`].
    Snapshot(Purpose),
    /// Something that the selector of sessions needs; answered with [`super::msg::Msg::Sessions`].
    Sessions(Request),
    /// Which models can be asked; answered with [`super::msg::Msg::Models`].
    Models,
    UseModel(String),
    /// Use the model behind, or before, the one that answers.
    NextModel {
        /// Behind it.
        is_forward: bool,
    },
    /// Show what is set; answered with [`super::msg::Msg::Settings`].
    Settings,
    /// Read the themes that the setting names; answered with [`super::msg::Msg::Themes`].
    Themes(Option<String>),
    /// Put a value into a file of settings, or take it out; answered with [`super::msg::Msg::Stored`].
    Store(Scope, &'static str, Option<Value>),
    /// The branches of the session; answered with [`super::msg::Msg::Branches`].
    Branches,
    /// Something with an entry that the user named by its id, the start of one, or its label.
    Named(EntryAction, String),
    /// Back to the last message of the user, with a summary of what is left.
    Pop,
    Resume(String),
    Open(PathBuf),
    /// Show, set or remove the label of the last entry.
    Label(LabelRequest),
    /// Tell about the session; answered with [`super::msg::Msg::Page`].
    Describe,
    /// Write the session into a file; no name: a page in the session's folder.
    Export(Option<String>),
    ExportBranch {
        entry: String,
        path: Option<String>,
    },
    Import(String),
    /// Find what this argument may be, for completion; answered with [`super::msg::Msg::Choices`].
    Choices(Argument),
    /// Find the files of the session's folder, for completion; answered with [`super::msg::Msg::Files`].
    Files,
    /// Keep what is being written, so that it survives a crash; nothing to keep removes it.
    SaveDraft(String),
    Remember(String),
    /// Find out what the clipboard holds; answered with [`super::msg::Msg::Clipboard`].
    Paste,
}

/// What the session is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Tree,
    Transcript,
    /// A message to begin a session before.
    Fork,
    /// A message to go on from, in the same session.
    BranchHere,
}

/// What is done with an entry that was named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryAction {
    Switch,
    /// Go behind it, whatever it is.
    GoOn,
    Pop,
    /// Begin a session before it.
    Fork,
}
