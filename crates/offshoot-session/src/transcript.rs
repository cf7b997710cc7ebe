//! A session as people read it: messages, tool calls with results, summaries, notices, changed settings. Every front
//! end renders these items. Texts are as stored: front ends clean them (see [`crate::text`]). Knows no layout and
//! decodes no image.

mod content;
mod summary_words;
mod decode;

use std::sync::Arc;

pub(crate) use content::context_edit;
pub use content::{call_blocks, calls, error_words, line_range, value_text};
pub use summary_words::summary_words;

use crate::entry::Source;
use crate::error::Result;
use crate::kind::{Kind, Role};
use crate::text::counted;
use crate::tree::NodeIx;

/// One item of a transcript.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub enum Item {
    User(Vec<ItemPart>),
    Answer(Answer),
    /// A tool's result that is not shown with its call.
    Result(ToolResult),
    /// A command that the user ran.
    Run(Run),
    /// A compaction or a branch summary.
    Summary(Summary),
    /// A message of an extension; `label` names it.
    Note {
        label: String,
        parts: Vec<ItemPart>,
    },
    /// A short remark about the conversation.
    Notice(Level, String),
    /// Shown in full transcripts only: a changed setting, a system prompt, an extension's message that is not
    /// displayed, an entry of an unknown kind.
    System {
        /// Names the item, or is all of it: `model: x/y`.
        label: String,
        parts: Vec<ItemPart>,
    },
}

/// The class of an item, as far as the tree shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub enum ItemShape {
    User,
    Answer,
    Result,
    /// A compaction, a branch summary or a reset. Results after it do not belong to calls before it.
    Summary,
    /// A command, a note or a notice.
    Other,
    /// Shown in full transcripts only.
    System,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub enum ItemPart {
    Text(String),
    Thinking(String),
    Call(ToolCall),
    Picture(Arc<StoredPicture>),
    /// A block of another type, with the type.
    Other(String),
}

/// An image as a message stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPicture {
    /// Base64, or a reference to a blob.
    pub data: String,
    /// Such as `image/png`.
    pub mime_type: String,
}

/// A message of the model.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct Answer {
    pub parts: Vec<ItemPart>,
    /// The model's id, if the message has it.
    pub model: String,
    pub end: End,
}

/// How a message of the model ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub enum End {
    #[default]
    Done,
    /// The user stopped it.
    Aborted,
    /// It reached the token limit.
    Length,
    /// It failed with this message.
    Error(String),
}

impl End {
    /// What every front end says below the answer; `None` if it ended as it should.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        match self {
            Self::Done => None,
            Self::Aborted => Some("stopped".to_owned()),
            Self::Length => Some("cut off: the answer reached its length limit".to_owned()),
            Self::Error(why) => Some(format!("error: {}", error_words(why))),
        }
    }
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// JSON; while it streams, the start of it.
    pub arguments: String,
    /// What is wrong with the arguments as they came; empty if nothing is. Such a call is not run.
    pub arguments_error: String,
}

/// A tool's result.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct ToolResult {
    /// The call's id.
    pub call: String,
    pub tool: String,
    pub parts: Vec<ItemPart>,
    /// JSON that only people and renderers see.
    pub details: Option<String>,
    /// How long a command took, in words, if it was over a second.
    pub duration: Option<String>,
    pub is_error: bool,
    /// Whether the tool still runs.
    pub is_partial: bool,
}

/// A command that the user ran.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct Run {
    pub language: RunLanguage,
    pub command: String,
    pub output: String,
    /// The exit code, that it was stopped, where the whole output is.
    pub remarks: Vec<String>,
    /// Whether the command failed or was stopped.
    pub is_error: bool,
    /// Whether the model does not see it.
    pub is_private: bool,
}

/// The language of a user's command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say it")]
pub enum RunLanguage {
    #[default]
    Bash,
    Python,
}

/// A compaction or a branch summary.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Summary {
    /// `compaction` or `branch summary`.
    pub label: &'static str,
    pub of: Summarised,
    pub text: String,
}

/// The part of the conversation that a summary replaces. Older entries do not name it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Summarised {
    Unknown,
    Tokens(u64),
    /// The branch that ended at the entry with this id.
    BranchTo(String),
}

impl Summarised {
    /// How much a compaction replaced, in words.
    #[must_use]
    pub fn size_words(&self) -> Option<String> {
        match self {
            Self::Tokens(tokens) => Some(format!("{} summarised", counted(*tokens, "token", "tokens"))),
            Self::Unknown | Self::BranchTo(_) => None,
        }
    }
}

/// The importance of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Level {
    Info,
    Warning,
    Error,
}

/// The items of a path. Entries without an item are skipped.
pub fn items<'a>(source: &'a dyn Source, path: &'a [NodeIx]) -> impl Iterator<Item = Result<(NodeIx, Item)>> + use<'a> {
    path.iter().filter_map(move |ix| match source.entry(*ix) {
        Ok(entry) => Item::of_entry(&entry).map(|item| Ok((*ix, item))),
        Err(error) => Some(Err(error)),
    })
}

#[expect(missing_docs, reason = "the name says it")]
impl Item {
    /// Whether the item is part of the conversation, not only of full transcripts.
    #[must_use]
    pub fn is_conversation(&self) -> bool {
        self.shape() != ItemShape::System
    }

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
    /// The class of an entry's item, without its body; `None` if it never has one.
    #[must_use]
    pub fn of(kind: Kind, role: Option<Role>) -> Option<Self> {
        match kind {
            Kind::Message => Some(Self::of_role(role.unwrap_or(Role::Unknown))),
            Kind::Compaction | Kind::BranchSummary | Kind::ResetBoundary => Some(Self::Summary),
            // Repairs leave such an entry, which has an item.
            Kind::CustomMessage | Kind::Custom => Some(Self::Other),
            Kind::ModelChange | Kind::ThinkingLevelChange | Kind::ModeChange | Kind::ContextEdit | Kind::Unknown => {
                Some(Self::System)
            }
            Kind::TtsrInjection
            | Kind::SessionInit
            | Kind::ServiceTierChange
            | Kind::CredentialPin
            | Kind::Label
            | Kind::SessionInfo
            | Kind::TitleChange
            | Kind::Usage
            | Kind::ModelUsage
            | Kind::Session
            | Kind::Title => None,
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
    /// The calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            ItemPart::Call(call) => Some(call),
            ItemPart::Text(_) | ItemPart::Thinking(_) | ItemPart::Picture(_) | ItemPart::Other(_) => None,
        })
    }

    /// Whether one of the calls has this result.
    #[must_use]
    pub fn has_called_for(&self, result: &ToolResult) -> bool {
        self.calls().any(|call| call.id == result.call)
    }
}

impl ToolCall {
    /// The call's result among results in any order.
    #[must_use]
    pub fn result<'a>(&self, results: &'a [Arc<ToolResult>]) -> Option<&'a ToolResult> {
        results.iter().find(|result| result.call == self.id).map(Arc::as_ref)
    }
}

#[expect(missing_docs, reason = "the name says it")]
impl RunLanguage {
    /// The prompt that is shown before a command.
    #[must_use]
    pub fn prompt(self) -> &'static str {
        match self {
            Self::Bash => "$",
            Self::Python => ">>>",
        }
    }

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
