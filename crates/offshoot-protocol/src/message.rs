//! The messages of a conversation, as sessions store them (pi's shapes, camelCase).
//!
//! Signatures and ids are opaque: they are kept byte for byte. Knows no wire format and no session.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A message of the conversation. Cloning copies nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "role", rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Message {
    User(
        #[serde(with = "shared")]
        #[schemars(with = "UserMessage")]
        Arc<UserMessage>,
    ),
    Assistant(
        #[serde(with = "shared")]
        #[schemars(with = "AssistantMessage")]
        Arc<AssistantMessage>,
    ),
    ToolResult(
        #[serde(with = "shared")]
        #[schemars(with = "ToolResultMessage")]
        Arc<ToolResultMessage>,
    ),
    /// Of an extension. Requests contain it as a message of the user.
    Custom(
        #[serde(with = "shared")]
        #[schemars(with = "CustomMessage")]
        Arc<CustomMessage>,
    ),
}

impl From<CustomMessage> for Message {
    fn from(message: CustomMessage) -> Self {
        Self::Custom(Arc::new(message))
    }
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

/// Serialises the shared message itself.
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct UserMessage {
    pub content: Content,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub timestamp: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct CustomMessage {
    /// Names its kind; renderers go by it.
    pub custom_type: String,
    pub content: Content,
    /// Whether people see it.
    #[serde(default)]
    pub display: bool,
    /// For renderers; the model does not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub timestamp: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Content {
    Text(String),
    Blocks(Vec<Block>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Block {
    Text {
        text: String,
        /// The provider's signature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text_signature: Option<String>,
    },
    Thinking {
        /// Empty if redacted.
        thinking: String,
        /// The provider's signature, or the encrypted thought.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking_signature: Option<String>,
        /// Whether the provider hides the thought.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        redacted: Option<bool>,
    },
    Image {
        /// Base64.
        data: String,
        /// Such as `image/png`.
        mime_type: String,
    },
    ToolCall {
        /// The provider's id.
        id: String,
        name: String,
        /// A JSON object.
        arguments: Value,
        /// Why the text that the model gave as arguments is none, with that text. The call is never run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments_error: Option<String>,
        /// The provider's signature of the thought before the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thought_signature: Option<String>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct AssistantMessage {
    pub content: Vec<Block>,
    /// The wire format, such as `anthropic-messages`.
    pub api: String,
    pub provider: String,
    pub model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    #[serde(default)]
    pub usage: Usage,
    pub stop_reason: StopReason,
    /// In the provider's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub timestamp: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ToolResultMessage {
    pub tool_call_id: String,
    pub tool_name: String,
    pub content: Vec<Block>,
    /// For people and renderers; the model does not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    pub is_error: bool,
    /// The calls that the tool itself has made, in pi's shape. The model does not see them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nested_calls: Option<Value>,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub timestamp: i64,
}

/// Tokens, and their cost in US dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Usage {
    /// Uncached input.
    pub input: u64,
    pub output: u64,
    /// Read from the provider's cache.
    pub cache_read: u64,
    /// Written to the provider's cache.
    pub cache_write: u64,
    /// The part of these that is kept for an hour, which costs more.
    #[serde(rename = "cacheWrite1h", skip_serializing_if = "is_zero")]
    pub cache_write_1h: u64,
    pub total_tokens: u64,
    pub cost: Cost,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// US dollars, by kind of token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Cost {
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
    pub total: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum StopReason {
    /// A streaming answer; occurs only in events.
    Pending,
    Stop,
    /// The answer reached its token limit.
    Length,
    ToolUse,
    /// The provider or the connection failed.
    Error,
    /// The user stopped it.
    Aborted,
}

impl Block {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), text_signature: None }
    }

    /// A thinking block without signature.
    pub fn thinking(thinking: impl Into<String>) -> Self {
        Self::Thinking { thinking: thinking.into(), thinking_signature: None, redacted: None }
    }

    /// A call without arguments.
    pub fn call(id: impl Into<String>, name: impl Into<String>) -> Self {
        let arguments = Value::Object(serde_json::Map::new());
        Self::ToolCall { id: id.into(), name: name.into(), arguments, arguments_error: None, thought_signature: None }
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            Self::Thinking { .. } | Self::Image { .. } | Self::ToolCall { .. } => None,
        }
    }
}

/// The text blocks, joined.
#[must_use]
pub fn text_of(blocks: &[Block]) -> String {
    blocks.iter().filter_map(Block::as_text).collect()
}

impl Content {
    /// The text, without images.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => text_of(blocks),
        }
    }
}

impl UserMessage {
    /// A text and images.
    pub fn new(text: impl Into<String>, images: Vec<Block>, timestamp: i64) -> Self {
        let blocks = std::iter::once(Block::text(text)).chain(images).collect();
        Self { content: Content::Blocks(blocks), timestamp }
    }

    /// The text, without images.
    pub fn text(&self) -> String {
        self.content.text()
    }
}

impl AssistantMessage {
    /// Everything but the blocks, which are large, and the provider's id and error.
    #[must_use]
    pub fn clone_without_content(&self) -> Self {
        Self {
            content: Vec::new(),
            api: self.api.clone(),
            provider: self.provider.clone(),
            model: self.model.clone(),
            response_id: None,
            usage: self.usage,
            stop_reason: self.stop_reason,
            error_message: None,
            timestamp: self.timestamp,
        }
    }
}

impl StopReason {
    /// Neither failed nor aborted.
    #[must_use]
    pub fn is_complete(self) -> bool {
        !matches!(self, Self::Error | Self::Aborted)
    }
}
