//! The seam to models: a request in, a stream of deltas out. Knows messages and tools' descriptions, no sessions.

use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use serde_json::Value;

use crate::message::{AssistantMessage, Message, StopReason};

/// What a model costs in US dollars per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Price {
    /// Tokens read.
    pub input: f64,
    /// Tokens written.
    pub output: f64,
    /// Tokens read from a cache.
    pub cache_read: f64,
    /// Tokens written to a cache.
    pub cache_write: f64,
}

/// A model and how to reach it.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Its id, as the provider knows it.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// The wire format: `anthropic-messages`, `openai-responses`, `openai-completions`, `google-generative-ai`.
    pub api: String,
    /// The provider's name.
    pub provider: String,
    /// Where requests go.
    pub base_url: String,
    /// Whether it thinks.
    pub reasoning: bool,
    /// Whether it takes pictures.
    pub images: bool,
    /// How many tokens a context may have.
    pub context_window: u64,
    /// How many tokens an answer may have.
    pub max_tokens: u64,
    /// What it costs.
    pub price: Price,
    /// Headers that every request carries.
    pub headers: Vec<(String, String)>,
}

/// How much a model shall think.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThinkingLevel {
    /// Not at all.
    #[default]
    Off,
    /// Least.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Most.
    XHigh,
}

/// What a model is told of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// A secret that shows itself to nobody: `Debug` prints `…`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for a request header and for nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

/// One request. Its messages are complete: every call of a tool is followed by its result.
#[derive(Debug, Clone)]
pub struct Request {
    /// The model.
    pub model: Arc<Model>,
    /// The system prompt.
    pub system: String,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// What the model may call.
    pub tools: Vec<ToolSpec>,
    /// How much it shall think.
    pub thinking: ThinkingLevel,
    /// At most so many tokens of answer; `None`: the model's limit.
    pub max_tokens: Option<u64>,
    /// The key, if the provider wants one.
    pub key: Option<Secret>,
    /// Lets a provider find its cache again.
    pub session_id: Option<String>,
}

/// What happens while an answer comes in. `index` is the place of the block in the answer's content.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// The response began.
    Start,
    /// A text block began.
    TextStart {
        /// Which block.
        index: usize,
    },
    /// More text.
    Text {
        /// Which block.
        index: usize,
        /// What came.
        delta: String,
    },
    /// A text block is complete.
    TextEnd {
        /// Which block.
        index: usize,
    },
    /// A thinking block began.
    ThinkingStart {
        /// Which block.
        index: usize,
    },
    /// More thinking.
    Thinking {
        /// Which block.
        index: usize,
        /// What came.
        delta: String,
    },
    /// A thinking block is complete.
    ThinkingEnd {
        /// Which block.
        index: usize,
    },
    /// A tool call began: its id and name are known.
    ToolCallStart {
        /// Which block.
        index: usize,
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of the arguments' JSON text.
    ToolCall {
        /// Which block.
        index: usize,
        /// What came.
        delta: String,
    },
    /// A tool call is complete.
    ToolCallEnd {
        /// Which block.
        index: usize,
    },
    /// The answer is complete: the last delta of every stream, whatever happened. A failed one has
    /// [`StopReason::Error`], the provider's words as `error_message`, and what had come in until then.
    Done(Box<Answer>),
}

/// How an answer ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The message as it goes into the session.
    pub message: AssistantMessage,
    /// For a failure: what may be done about it.
    pub failure: Option<Failure>,
}

/// Why a request failed, as far as it decides what to do next.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// Whether the same request may succeed later (connection lost, 408, 429, 5xx, 529, "overloaded").
    pub is_transient: bool,
    /// Whether the context is too long for the model.
    pub is_overflow: bool,
    /// How long the server asked to wait, in milliseconds.
    pub retry_after: Option<u64>,
}

/// A stream of deltas. Dropping it ends the request.
pub type Deltas = Pin<Box<dyn Stream<Item = Delta> + Send>>;

/// Something that answers requests. The stream always ends with [`Delta::Done`].
pub trait Provider: Send + Sync {
    /// Sends the request when the stream is first polled.
    fn stream(&self, request: Request) -> Deltas;
}

impl StopReason {
    /// Whether the answer counts: not failed, not stopped.
    pub fn is_complete(self) -> bool {
        !matches!(self, Self::Error | Self::Aborted)
    }
}
