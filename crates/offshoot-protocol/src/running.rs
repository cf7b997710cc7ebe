//! How an agent runs: retries of failed requests, compactions, queues of texts, what it stores of its prompt.

use std::collections::BTreeMap;

use offshoot_session::compact;

/// How failed requests are retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Retry {
    pub enabled: bool,
    pub max_retries: u32,
    /// The first wait, in milliseconds; doubled each time.
    pub base_delay_ms: u64,
    /// Also limits the wait that the server asks for.
    pub max_delay_ms: u64,
    /// After a failure for which the server asks for a longer wait there is no further attempt; `None` for any.
    pub max_asked_ms: Option<u64>,
}

impl Default for Retry {
    fn default() -> Self {
        Self { enabled: true, max_retries: 3, base_delay_ms: 2000, max_delay_ms: 60_000, max_asked_ms: Some(60_000) }
    }
}

/// How much of a queue is sent at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum QueueMode {
    #[default]
    OneAtATime,
    All,
}

/// How much of the prompt is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PromptStorage {
    /// The tools, where they are not the usual ones.
    #[default]
    UnusualTools,
    /// All of it, as pi stores it.
    Whole,
}

/// The settings that may change while the agent runs.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct RunSettings {
    pub retry: Retry,
    /// When contexts are compacted, and how much is kept.
    pub compaction: compact::Settings,
    /// Overrides for single models, by `provider/id`.
    pub compaction_for: BTreeMap<String, compact::Settings>,
    /// Tokens of the model's window that a branch summary leaves free.
    pub branch_reserve: u64,
    /// Whether the calls of an answer run at once.
    pub parallel_tools: bool,
    pub prompt_storage: PromptStorage,
}
