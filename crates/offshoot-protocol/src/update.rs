//! The steps in which an answer arrives.

use schemars::JsonSchema;
use serde::Serialize;

use crate::message::Block;

/// A step of a streaming answer. `contentIndex` is the index of its block.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Update {
    /// A text block started.
    TextStart { content_index: usize },
    /// More text.
    TextDelta { content_index: usize, delta: String },
    /// A text block is complete.
    TextEnd { content_index: usize, content: String },
    /// A thinking block started.
    ThinkingStart { content_index: usize },
    /// More thinking.
    ThinkingDelta { content_index: usize, delta: String },
    /// A thinking block is complete.
    ThinkingEnd { content_index: usize, content: String },
    /// A tool call started.
    #[serde(rename = "toolcall_start")]
    ToolCallStart { content_index: usize, id: String, tool_name: String },
    /// More of the arguments' JSON text.
    #[serde(rename = "toolcall_delta")]
    ToolCallDelta { content_index: usize, delta: String },
    /// A tool call is complete.
    #[serde(rename = "toolcall_end")]
    ToolCallEnd { content_index: usize, tool_call: Block },
}
