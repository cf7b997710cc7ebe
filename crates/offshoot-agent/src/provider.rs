//! The interface to models: a request in, a stream of deltas out. Knows messages and descriptions of tools, no
//! sessions.
//!
//! Each wire format (`anthropic`, `responses`, `completions`, `google`) is a pure request builder and a pure decoder.
//! `prepare` fits a conversation to a model; only `http` uses the network.

mod secret;
mod level;
mod retry_after;
mod classify;
mod problems;
mod prepare;
mod sse;
mod price;
mod limits;
mod draft;
mod decoding;
mod halves;
mod anthropic;
mod responses;
mod completions;
mod google;
mod wire;
mod named_message;
mod picture_limits;
mod hooks;
mod roots;
mod http;

use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use offshoot_protocol::{ThinkingBudgets, ThinkingLevel};
use serde::Deserialize;
use serde_json::Value;

use offshoot_protocol::message::{AssistantMessage, Message, StopReason, Usage};

pub(crate) use classify::{is_about_pictures, is_of_request};
pub use classify::{is_cut_short, is_silent_overflow};
pub use draft::{answer_of, failed_answer};
pub use hooks::{HeaderChange, Hooked, Hooks, RequestHooks};
pub use http::Http;
pub use level::Levels;
pub(crate) use named_message::named_message;
pub(crate) use picture_limits::PictureLimits;
pub use problems::{Problem, problems};
pub use roots::ExtraRoots;
pub use secret::{MASK, Secret, Secrets};
pub use wire::{Api, Outgoing, Reader, Unsendable};

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Price {
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
}

/// The price of requests with a larger context.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PriceTier {
    /// Applies above this many input tokens, cached ones included.
    pub above: u64,
    /// For the whole request.
    pub price: Price,
}

/// A model and how to reach it.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Model {
    /// The provider's id.
    pub id: String,
    pub name: String,
    /// The wire format: `anthropic-messages`, `openai-responses`, `openai-completions`, `google-generative-ai`.
    pub api: String,
    pub provider: String,
    pub base_url: String,
    /// Whether it can think.
    pub reasoning: bool,
    /// Whether it accepts images.
    pub images: bool,
    /// In tokens.
    pub context_window: u64,
    /// The limit of an answer, in tokens.
    pub max_tokens: u64,
    pub price: Price,
    /// Prices for large contexts.
    pub tiers: Vec<PriceTier>,
    /// Its names of the thinking levels.
    pub levels: Levels,
    pub compat: Compat,
    /// Sent with every request. Their values may be keys.
    pub headers: Vec<(String, Secret)>,
    /// Whether the key is also sent as `Authorization: Bearer`, beside the wire format's own place.
    pub auth_header: bool,
    /// The user's thinking tokens of each level, for models that take a number.
    pub budgets: ThinkingBudgets,
}

/// Differences of an endpoint from others of its wire format. `None` is guessed from provider and address.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Compat {
    /// Anthropic: the model decides how much to think; it gets an effort instead of a budget.
    pub force_adaptive_thinking: Option<bool>,
    /// Anthropic: thinking without a signature may be sent back as thinking.
    pub allow_empty_signature: Option<bool>,
    /// Anthropic: tools may request streaming of arguments.
    pub supports_eager_tool_input_streaming: Option<bool>,
    pub supports_cache_control_on_tools: Option<bool>,
    /// OpenAI: the system prompt has the role `developer` for models that think.
    pub supports_developer_role: Option<bool>,
    pub supports_max_output_tokens: Option<bool>,
    pub supports_store: Option<bool>,
    pub supports_reasoning_effort: Option<bool>,
    pub supports_usage_in_streaming: Option<bool>,
    /// Completions: streams end with a `finish_reason`.
    pub supports_finish_reason: Option<bool>,
    pub supports_strict_mode: Option<bool>,
    /// Completions: `max_tokens` or `max_completion_tokens`.
    pub max_tokens_field: Option<String>,
    /// Completions: results name their tool.
    pub requires_tool_result_name: Option<bool>,
    /// Completions: an assistant message must separate a result from a user message.
    pub requires_assistant_after_tool_result: Option<bool>,
    /// Completions: thinking is sent back as text.
    pub requires_thinking_as_text: Option<bool>,
    /// Completions: every assistant message has `reasoning_content`.
    pub requires_reasoning_content_on_assistant_messages: Option<bool>,
    /// Completions: how thinking is requested: `openai`, `openrouter`, `deepseek`, `zai`, `qwen`, `qwen-chat-template`,
    /// `together`, `string-thinking`.
    pub thinking_format: Option<String>,
    /// Completions: `anthropic` if messages carry Anthropic's cache marks.
    pub cache_control_format: Option<String>,
}

/// A tool's description for a model.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON Schema.
    pub parameters: Value,
}

/// One request. Every tool call in its messages is followed by its result.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Request {
    pub model: Arc<Model>,
    pub system: String,
    /// Oldest first.
    pub messages: Vec<Message>,
    pub tools: Vec<ToolSpec>,
    /// As requested; the model clamps it.
    pub thinking: ThinkingLevel,
    /// The limit of the answer; `None`: the model's.
    pub max_tokens: Option<u64>,
    pub key: Option<Secret>,
    /// Identifies the conversation to the provider's cache.
    pub session_id: Option<String>,
    pub hooks: Hooks,
}

/// A step of a streaming answer. `index` is the index of its block.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Delta {
    /// The response started.
    Start,
    /// A text block started.
    TextStart { index: usize },
    /// More text.
    Text { index: usize, delta: String },
    /// A text block is complete.
    TextEnd { index: usize },
    /// A thinking block started.
    ThinkingStart { index: usize },
    /// More thinking.
    Thinking { index: usize, delta: String },
    /// A thinking block is complete.
    ThinkingEnd { index: usize },
    /// A tool call started.
    ToolCallStart { index: usize, id: String, name: String },
    /// More of the arguments' JSON text.
    ToolCall { index: usize, delta: String },
    /// A tool call is complete.
    ToolCallEnd { index: usize },
    /// An event could not be read, and was left out.
    LostEvent { what: String },
    /// The tokens so far, if the provider reports them before the end.
    Usage(Usage),
    /// The last delta of every stream. A failed answer has [`StopReason::Error`], the provider's words as
    /// `error_message`, and the content received so far.
    Done(Box<Answer>),
}

#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Answer {
    /// The message to store.
    pub message: AssistantMessage,
    pub failure: Option<Failure>,
}

/// Why a request failed, as far as it decides the next step.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The HTTP status.
    pub status: Option<u16>,
    /// Whether the same request may succeed later (connection lost, 408, 429, 5xx, 529, "overloaded").
    pub is_transient: bool,
    /// Whether the context is too long for the model.
    pub is_overflow: bool,
    /// Whether it is about pictures of the request: their number, size or bytes.
    pub is_about_pictures: bool,
    /// The wait that the server asked for, in milliseconds.
    pub retry_after: Option<u64>,
    /// What a person can do if the provider refuses the request, in words.
    pub way_round: Option<String>,
}

/// Dropping the stream ends the request.
pub type Deltas = Pin<Box<dyn Stream<Item = Delta> + Send>>;

/// Answers requests. The stream always ends with [`Delta::Done`].
pub trait Provider: Send + Sync {
    /// The request is sent when the stream is first polled.
    fn stream(&self, request: Request) -> Deltas;

    /// Whether pictures are sent to models that see.
    fn sends_images(&self) -> bool {
        true
    }
}

impl Model {
    pub(crate) fn blank_answer(&self, timestamp: i64) -> AssistantMessage {
        AssistantMessage {
            content: Vec::new(),
            api: self.api.clone(),
            provider: self.provider.clone(),
            model: self.id.clone(),
            response_id: None,
            usage: Usage::default(),
            stop_reason: StopReason::Pending,
            error_message: None,
            timestamp,
        }
    }
}
