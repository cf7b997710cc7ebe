//! The messages that a model is sent and that it answers with, as sessions store them (pi's shapes, camelCase).
//!
//! Signatures and ids are opaque: they are kept byte for byte. Knows no wire format and no session.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A message between a user, a model and its tools. Cloning it copies nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub enum Message {
    /// What the user said.
    User(#[serde(with = "shared")] Arc<UserMessage>),
    /// What the model answered.
    Assistant(#[serde(with = "shared")] Arc<AssistantMessage>),
    /// What a tool gave back.
    ToolResult(#[serde(with = "shared")] Arc<ToolResultMessage>),
}

impl From<UserMessage> for Message {
    fn from(message: UserMessage) -> Self {
        Self::User(Arc::new(message))
    }
}

impl From<AssistantMessage> for Message {
    fn from(message: AssistantMessage) -> Self {
        Self::Assistant(Arc::new(message))
    }
}

impl From<ToolResultMessage> for Message {
    fn from(message: ToolResultMessage) -> Self {
        Self::ToolResult(Arc::new(message))
    }
}

/// A message that several hold is written and read as one that nobody shares.
mod shared {
    use super::{Arc, Deserialize, Serialize};

    pub(super) fn serialize<T: Serialize, S: serde::Serializer>(message: &Arc<T>, to: S) -> Result<S::Ok, S::Error> {
        message.as_ref().serialize(to)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(from).map(Arc::new)
    }
}

/// What the user said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// A string, or text and image blocks.
    pub content: Content,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub timestamp: i64,
}

/// A string or a list of blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Just text.
    Text(String),
    /// Blocks in order.
    Blocks(Vec<Block>),
}

/// One block of content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// The provider's own mark on it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text_signature: Option<String>,
    },
    /// What the model thought.
    Thinking {
        /// Its words; empty when redacted.
        thinking: String,
        /// The provider's signature, or the encrypted thought.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking_signature: Option<String>,
        /// Whether the provider hides it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        redacted: Option<bool>,
    },
    /// A picture.
    Image {
        /// Its bytes in base64.
        data: String,
        /// `image/png` and so on.
        mime_type: String,
    },
    /// A call of a tool.
    ToolCall {
        /// The call's id, as the provider gave it.
        id: String,
        /// The tool.
        name: String,
        /// A JSON object.
        arguments: Value,
        /// The provider's signature of the thought behind the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thought_signature: Option<String>,
    },
}

/// What the model answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssistantMessage {
    /// Blocks in the order in which they came.
    pub content: Vec<Block>,
    /// The wire format, such as `anthropic-messages`.
    pub api: String,
    /// The provider's name.
    pub provider: String,
    /// The model's id.
    pub model: String,
    /// The provider's id of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// Tokens and cost.
    #[serde(default)]
    pub usage: Usage,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// What went wrong, in the provider's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub timestamp: i64,
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultMessage {
    /// The call that it answers.
    pub tool_call_id: String,
    /// The tool.
    pub tool_name: String,
    /// Text and image blocks.
    pub content: Vec<Block>,
    /// What only people and renderers see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub timestamp: i64,
}

/// Tokens used, and what they cost in US dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Tokens read that no cache held.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens read from the provider's cache.
    pub cache_read: u64,
    /// Tokens written to the provider's cache.
    pub cache_write: u64,
    /// All of them.
    pub total_tokens: u64,
    /// The price.
    pub cost: Cost,
}

/// A price in US dollars, by kind of token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Cost {
    /// Of [`Usage::input`].
    pub input: f64,
    /// Of [`Usage::output`].
    pub output: f64,
    /// Of [`Usage::cache_read`].
    pub cache_read: f64,
    /// Of [`Usage::cache_write`].
    pub cache_write: f64,
    /// Of all.
    pub total: f64,
}

/// Why a response ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// None yet: the answer has just begun. Only events say so, never a session.
    Pending,
    /// The model was done.
    Stop,
    /// The answer reached its limit.
    Length,
    /// The model waits for its tools.
    ToolUse,
    /// The provider or the connection failed.
    Error,
    /// The user stopped it.
    Aborted,
}

impl Block {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), text_signature: None }
    }

    /// A thought without signature.
    pub fn thinking(thinking: impl Into<String>) -> Self {
        Self::Thinking { thinking: thinking.into(), thinking_signature: None, redacted: None }
    }

    /// A call without arguments.
    pub fn call(id: impl Into<String>, name: impl Into<String>) -> Self {
        let arguments = Value::Object(serde_json::Map::new());
        Self::ToolCall { id: id.into(), name: name.into(), arguments, thought_signature: None }
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            Self::Thinking { .. } | Self::Image { .. } | Self::ToolCall { .. } => None,
        }
    }
}

/// The text blocks, behind each other.
pub fn text_of(blocks: &[Block]) -> String {
    blocks.iter().filter_map(Block::as_text).collect()
}

impl UserMessage {
    /// A text and pictures.
    pub fn new(text: impl Into<String>, images: Vec<Block>, timestamp: i64) -> Self {
        let blocks = std::iter::once(Block::text(text)).chain(images).collect();
        Self { content: Content::Blocks(blocks), timestamp }
    }

    /// What was said, without pictures.
    pub fn text(&self) -> String {
        match &self.content {
            Content::Text(text) => text.clone(),
            Content::Blocks(blocks) => text_of(blocks),
        }
    }
}
