//! What a notice is about.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum NoticeCode {
    /// When a provider can be asked again.
    AskLater,
    /// A rule could not be kept for later sessions.
    ApprovalNotKept,
    /// A command in the background has ended.
    Background,
    Compaction,
    Crashed,
    EmptyAnswer,
    /// Settings of a folder are odd.
    Folder,
    /// An answer lacks a part that its stream did not send.
    LostEvent,
    /// Something beside the conversation is not in the file yet.
    NotRecorded,
    Pictures,
    /// The provider refuses the request.
    Refused,
    Sandbox,
    /// A tool is not used since another has its name.
    ToolHidden,
    /// A source of tools has trouble, such as an MCP server that does not start.
    ToolSource,
    ToolsMissing,
    /// The code of a diagnostic of the session's file.
    File(&'static str),
}

impl NoticeCode {
    /// As in events.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AskLater => "ask-later",
            Self::ApprovalNotKept => "approval-not-kept",
            Self::Background => "background",
            Self::Compaction => "compaction",
            Self::Crashed => "crashed",
            Self::EmptyAnswer => "empty-answer",
            Self::Folder => "folder",
            Self::LostEvent => "lost-event",
            Self::NotRecorded => "not-recorded",
            Self::Pictures => "pictures",
            Self::Refused => "refused",
            Self::Sandbox => "sandbox",
            Self::ToolHidden => "tool-hidden",
            Self::ToolSource => "tool-source",
            Self::ToolsMissing => "tools-missing",
            Self::File(code) => code,
        }
    }
}

impl fmt::Display for NoticeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for NoticeCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A string: the codes of files are the session library's.
impl JsonSchema for NoticeCode {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "NoticeCode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}
