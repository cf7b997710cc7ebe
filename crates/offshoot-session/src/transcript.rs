//! A session as a person reads it: messages, tool calls with their results, summaries, notices, settings that changed.
//!
//! Owns what an entry says to a person; every front end renders these items. Their texts are as they are stored: whoever
//! shows them makes them harmless (see [`crate::text`]). Knows no layout and decodes no picture.

mod content;
mod decode;

use std::sync::Arc;

pub(crate) use content::{blocks, context_edit};
pub use content::{call_blocks, line_range, value_text};

use crate::entry::Source;
use crate::error::Result;
use crate::kind::{Kind, KindClass, Role};
use crate::tree::NodeIx;

/// One thing that stands in a transcript.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// What the person said.
    User(Vec<ItemPart>),
    /// What the model answered.
    Answer(Answer),
    /// What a tool gave back, where the call is not at hand.
    Result(ToolResult),
    /// A command that the person ran.
    Run(Run),
    /// What stands for a part of the conversation.
    Summary(Summary),
    /// A message of an extension.
    Note {
        /// Whose.
        label: String,
        /// What it says.
        parts: Vec<ItemPart>,
    },
    /// Something about the conversation, in a few words.
    Notice(Level, String),
    /// Something that only a whole transcript shows: a setting that changed, a system prompt, a message that its
    /// extension does not display, an entry of an unknown kind.
    System {
        /// What it is, or all of it: `model: x/y`.
        label: String,
        /// What it says besides.
        parts: Vec<ItemPart>,
    },
}

/// What an item is, as far as the tree tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemShape {
    /// What the person said.
    User,
    /// What the model answered.
    Answer,
    /// What a tool gave back.
    Result,
    /// What stands for a part of the conversation: results after it belong to no call before it.
    Summary,
    /// A command, a note, a notice.
    Other,
    /// What only a whole transcript shows.
    System,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemPart {
    /// Words.
    Text(String),
    /// What the model thought.
    Thinking(String),
    /// A call of a tool.
    Call(Call),
    /// A picture.
    Picture(Arc<StoredPicture>),
    /// A block of another sort, by its type.
    Other(String),
}

/// A picture as a message has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPicture {
    /// Its bytes in base64, or a reference to where they are.
    pub data: String,
    /// Its media type, such as `image/png`.
    pub mime_type: String,
}

/// What the model answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// In the order in which it came.
    pub parts: Vec<ItemPart>,
    /// The model, if the message names it.
    pub model: String,
    /// How it ended, if that is worth a word.
    pub end: End,
}

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum End {
    /// As it should.
    #[default]
    Done,
    /// The person stopped it.
    Aborted,
    /// It reached its limit.
    Length,
    /// It failed, with these words.
    Error(String),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Call {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments as JSON; while they come in, the beginning of it.
    pub arguments: String,
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolResult {
    /// The call that it answers.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// Text and pictures.
    pub parts: Vec<ItemPart>,
    /// What only people and renderers see, as JSON.
    pub details: Option<String>,
    /// Whether it failed.
    pub is_error: bool,
    /// Whether more is to come.
    pub is_partial: bool,
}

/// A command that the person ran.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Run {
    /// What ran it.
    pub language: RunLanguage,
    /// The command.
    pub command: String,
    /// What it printed.
    pub output: String,
    /// What else is to be said: the exit code, that it was stopped, where all the output is.
    pub remarks: Vec<String>,
    /// Whether it failed or was stopped.
    pub is_error: bool,
    /// Whether the model does not see it.
    pub is_private: bool,
}

/// What a command of the person is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunLanguage {
    /// A shell's.
    #[default]
    Bash,
    /// Python.
    Python,
}

/// What stands for a part of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// `compaction`, `branch summary`.
    pub label: &'static str,
    /// What it stands for.
    pub about: String,
    /// The summary.
    pub text: String,
}

/// How loud a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// For whoever looks.
    Info,
    /// To be known.
    Warning,
    /// Something went wrong.
    Error,
}

/// The items of a path; entries that say nothing to a person give none.
pub fn items<'a>(source: &'a dyn Source, path: &'a [NodeIx]) -> impl Iterator<Item = Result<(NodeIx, Item)>> + use<'a> {
    path.iter().filter_map(move |ix| match source.entry(*ix) {
        Ok(entry) => Item::of_entry(&entry).map(|item| Ok((*ix, item))),
        Err(error) => Some(Err(error)),
    })
}

impl Item {
    /// Whether it belongs to the conversation, and not only to a whole transcript.
    #[must_use]
    pub fn is_conversation(&self) -> bool {
        self.shape() != ItemShape::System
    }

    /// What it is.
    #[must_use]
    pub fn shape(&self) -> ItemShape {
        match self {
            Self::User(_) => ItemShape::User,
            Self::Answer(_) => ItemShape::Answer,
            Self::Result(_) => ItemShape::Result,
            Self::Summary(_) => ItemShape::Summary,
            Self::Run(_) | Self::Note { .. } | Self::Notice(..) => ItemShape::Other,
            Self::System { .. } => ItemShape::System,
        }
    }
}

impl ItemShape {
    /// What an entry is for a transcript, without its body; `None` if it never says anything to a person.
    #[must_use]
    pub fn of(kind: Kind, role: Option<Role>) -> Option<Self> {
        match kind {
            Kind::Message => Some(Self::of_role(role.unwrap_or(Role::Unknown))),
            Kind::Compaction | Kind::BranchSummary | Kind::ResetBoundary => Some(Self::Summary),
            // A repair leaves one of these, which says so.
            Kind::CustomMessage | Kind::Custom => Some(Self::Other),
            kind => match kind.class() {
                KindClass::Conversation | KindClass::Setting => Some(Self::System),
                KindClass::State | KindClass::Bookkeeping => None,
            },
        }
    }

    fn of_role(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Assistant => Self::Answer,
            Role::ToolResult => Self::Result,
            Role::BranchSummary | Role::CompactionSummary => Self::Summary,
            Role::System | Role::Developer => Self::System,
            Role::BashExecution
            | Role::PythonExecution
            | Role::Custom
            | Role::HookMessage
            | Role::FileMention
            | Role::Unknown => Self::Other,
        }
    }
}

impl Answer {
    /// The calls in it, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match part {
            ItemPart::Call(call) => Some(call),
            ItemPart::Text(_) | ItemPart::Thinking(_) | ItemPart::Picture(_) | ItemPart::Other(_) => None,
        })
    }

    /// Whether one of its calls has this result.
    #[must_use]
    pub fn has_called_for(&self, result: &ToolResult) -> bool {
        self.calls().any(|call| call.id == result.call)
    }
}

impl Call {
    /// What came of it, among results in any order.
    #[must_use]
    pub fn result<'a>(&self, results: &'a [Arc<ToolResult>]) -> Option<&'a ToolResult> {
        results.iter().find(|result| result.call == self.id).map(Arc::as_ref)
    }
}

impl RunLanguage {
    /// What stands before a command.
    #[must_use]
    pub fn prompt(self) -> &'static str {
        match self {
            Self::Bash => "$",
            Self::Python => ">>>",
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Python => "python",
        }
    }
}

#[cfg(test)]
mod tests;
