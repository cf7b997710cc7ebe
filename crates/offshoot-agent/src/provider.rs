//! The seam to models: a request in, a stream of deltas out. Knows messages and tools' descriptions, no sessions.
//!
//! Below it: one file a wire format (`anthropic`, `responses`, `completions`, `google`), each a pure request builder and
//! a pure decoder; `prepare` makes a conversation fit a model; `http` alone talks to the network.

mod secret;
mod level;
mod json;
mod retry_after;
mod classify;
mod problems;
mod prepare;
mod sse;
mod draft;
mod decoding;
mod anthropic;
mod responses;
mod completions;
mod google;
mod wire;
mod http;

use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use serde::Deserialize;
use serde_json::Value;

use crate::message::{AssistantMessage, Message, StopReason, Usage};

pub use classify::{is_cut_short, is_silent_overflow};
pub use http::Http;
pub use level::{Levels, ThinkingLevel};
pub use problems::problems;
pub use secret::Secret;
pub use wire::{Api, Outgoing, Reader, Unsendable};

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

/// A price for requests with more than so many input tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tier {
    /// From how many input tokens on, cached ones included.
    pub above: u64,
    /// The price of the whole request.
    pub price: Price,
}

/// A model and how to reach it.
#[derive(Debug, Clone, Default, PartialEq)]
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
    /// What it costs when the context is large.
    pub tiers: Vec<Tier>,
    /// How it is told how much to think.
    pub levels: Levels,
    /// In what it differs from others of its wire format.
    pub compat: Compat,
    /// Headers that every request carries. Their values may be keys.
    pub headers: Vec<(String, Secret)>,
    /// Whether the key goes into `Authorization: Bearer` besides the place where its wire format has it.
    pub auth_header: bool,
}

/// In what an endpoint differs from others of its wire format. What is `None` is guessed from provider and address.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Compat {
    /// Anthropic: the model decides itself how much to think, and is told an effort instead of a budget.
    pub force_adaptive_thinking: Option<bool>,
    /// Anthropic: thinking without a signature may be sent back as thinking.
    pub allow_empty_signature: Option<bool>,
    /// Anthropic: tools may ask for their arguments as they are made.
    pub supports_eager_tool_input_streaming: Option<bool>,
    /// Anthropic: a tool may carry a cache mark.
    pub supports_cache_control_on_tools: Option<bool>,
    /// OpenAI: the system prompt has the role `developer` for models that think.
    pub supports_developer_role: Option<bool>,
    /// Responses: an output limit may be given.
    pub supports_max_output_tokens: Option<bool>,
    /// Completions: `store` is known.
    pub supports_store: Option<bool>,
    /// Completions: `reasoning_effort` is known.
    pub supports_reasoning_effort: Option<bool>,
    /// Completions: usage comes with the stream when asked for.
    pub supports_usage_in_streaming: Option<bool>,
    /// Completions: streams end with a `finish_reason`.
    pub supports_finish_reason: Option<bool>,
    /// OpenAI: tools may say whether they are strict.
    pub supports_strict_mode: Option<bool>,
    /// Completions: `max_tokens` or `max_completion_tokens`.
    pub max_tokens_field: Option<String>,
    /// Completions: results name their tool.
    pub requires_tool_result_name: Option<bool>,
    /// Completions: between a result and a user's message stands one of the assistant.
    pub requires_assistant_after_tool_result: Option<bool>,
    /// Completions: thinking goes back as text.
    pub requires_thinking_as_text: Option<bool>,
    /// Completions: every assistant message has `reasoning_content`.
    pub requires_reasoning_content_on_assistant_messages: Option<bool>,
    /// Completions: how thinking is asked for: `openai`, `openrouter`, `deepseek`, `zai`, `qwen`, `qwen-chat-template`,
    /// `together`, `string-thinking`.
    pub thinking_format: Option<String>,
    /// Completions: `anthropic` if messages carry Anthropic's cache marks.
    pub cache_control_format: Option<String>,
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
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Delta {
    /// The response began.
    Start,
    /// A text block began.
    TextStart { index: usize },
    /// More text.
    Text { index: usize, delta: String },
    /// A text block is complete.
    TextEnd { index: usize },
    /// A thinking block began.
    ThinkingStart { index: usize },
    /// More thinking.
    Thinking { index: usize, delta: String },
    /// A thinking block is complete.
    ThinkingEnd { index: usize },
    /// A tool call began: its id and name are known.
    ToolCallStart { index: usize, id: String, name: String },
    /// More of the arguments' JSON text.
    ToolCall { index: usize, delta: String },
    /// A tool call is complete.
    ToolCallEnd { index: usize },
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

impl Model {
    /// An answer of this model of which nothing has come in.
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

impl StopReason {
    /// Whether the answer counts: not failed, not stopped.
    pub fn is_complete(self) -> bool {
        !matches!(self, Self::Error | Self::Aborted)
    }
}
