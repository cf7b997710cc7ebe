//! How requests to models are sent, and how much of an answer is read.

use std::time::Duration;

use crate::cache_retention::CacheRetention;
use crate::thinking::ThinkingBudgets;

/// How requests are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpOptions {
    /// How long a server may send nothing; `None` for ever. Some models think for minutes without sending anything.
    pub silence: Option<Duration>,
    /// How long a server may take until its answer begins; `None`: as [`Self::silence`] says.
    pub response: Option<Duration>,
    /// Requests that fail before their answer begins are sent again.
    pub resend: Resend,
    /// The URL of a proxy for servers that are not on this machine; `None`: the proxy of `HTTPS_PROXY` and `HTTP_PROXY`,
    /// if they are set.
    pub proxy: Option<String>,
    /// Whether models get pictures. Without them, a text says that a picture was left out.
    pub sends_images: bool,
    /// The user's thinking tokens of each level.
    pub budgets: ThinkingBudgets,
    /// How long providers are asked to keep the beginning of a conversation; `None`: as `PI_CACHE_RETENTION` says.
    pub cache_retention: Option<CacheRetention>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            silence: Some(Duration::from_secs(600)),
            response: None,
            resend: Resend::default(),
            proxy: None,
            sends_images: true,
            budgets: ThinkingBudgets::default(),
            cache_retention: None,
        }
    }
}

/// How often a request is sent again before the agent hears of the failure, and the longest wait that a server may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resend {
    /// Times, not counting the first.
    pub most: u32,
    /// In milliseconds; `None` for any.
    pub longest_wait: Option<u64>,
}

impl Default for Resend {
    fn default() -> Self {
        Self { most: 0, longest_wait: Some(60_000) }
    }
}

/// Beyond one of these an answer fails with what was received so far. It is not retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerLimits {
    /// Of the response's body as it is sent.
    pub bytes: u64,
    /// Of text, thinking and tool calls.
    pub blocks: usize,
    /// From the request to the end of the answer.
    pub time: Duration,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        Self { bytes: 64 << 20, blocks: 1000, time: Duration::from_secs(3600) }
    }
}
