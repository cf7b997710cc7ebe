//! The interface to models: a request in, a stream of deltas out. Knows messages and descriptions of tools, no
//! sessions.
//!
//! Each wire format (`anthropic`, `bedrock`, `responses`, `completions`, `mistral`, `google`) is a pure request builder and a pure decoder.
//! `prepare` fits a conversation to a model; only `http` uses the network.

mod address;
mod retry_after;
mod classify;
mod problems;
mod prepare;
mod sse;
mod event_frames;
mod limits;
mod draft;
mod decoding;
mod held_texts;
mod halves;
mod cache_mark;
mod sampling;
mod anthropic;
mod bedrock;
mod responses;
mod streamed_calls;
mod completions;
mod mistral;
mod google;
mod wire;
mod named_message;
mod picture_limits;
mod hooks;
mod roots;
mod signing;
mod http;
mod key_check;
mod local_server;
mod local_answers;
mod local_models;

use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use offshoot_protocol::model::Model;
use offshoot_protocol::{Secret, ThinkingLevel};
use serde_json::Value;

use offshoot_protocol::message::{AssistantMessage, Message, Usage};

pub(crate) use address::{percent_encoded, url_host};
pub use classify::{TOO_LONG, is_cut_short, is_silent_overflow};
pub(crate) use classify::{is_about_pictures, is_of_request};
pub use draft::{answer_of, failed_answer};
pub(crate) use held_texts::TextFilter;
pub use hooks::{HeaderChange, Hooked, Hooks, RequestHooks};
pub use http::Http;
pub use key_check::KeyCheck;
pub use local_models::{LocalAnswer, LocalQuestion};
pub use local_server::{LocalModel, LocalModels, LocalServer, LocalThinking};
pub(crate) use named_message::named_message;
pub(crate) use picture_limits::PictureLimits;
pub use problems::{Problem, problems};
pub use roots::ExtraRoots;
pub use sse::{Sse, TooLong};
pub use wire::{Api, Outgoing, Reader, Unsendable};

/// The name of Responses at Azure, which differ in the place of the key, the address, and in headers that are not sent.
pub(crate) const AZURE_RESPONSES: &str = "azure-openai-responses";

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
    /// The last delta of every stream. A failed answer has
    /// [`StopReason::Error`](offshoot_protocol::message::StopReason::Error), the provider's words as `error_message`, and the
    /// content received so far.
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
