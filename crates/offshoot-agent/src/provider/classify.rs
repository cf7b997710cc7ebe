//! Classifies failures: may the request succeed later, is the context too long. Uses only status and text.

use offshoot_protocol::message::{AssistantMessage, StopReason};

use super::Failure;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct AnswerTrouble {
    pub(super) status: Option<u16>,
    pub(super) text: String,
    pub(super) retry_after: Option<u64>,
    /// The server's own statement that the same request may succeed later.
    pub(super) may_retry: Option<bool>,
    /// Whether the connection was lost, or never made.
    pub(super) is_lost: bool,
    /// Whether one event could not be read, and the others may be whole.
    pub(super) is_damage: bool,
}

/// Servers' messages about a context that is too long: `#` is a number, `*` is anything. Lower case.
pub const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "prompt too long",
    "prompt exceeds max length",
    "request_too_large",
    "input is too long for requested model",
    "exceeds the context window",
    "exceeds the maximum context length of #",
    "exceeds the maximum context length (#",
    "exceeds maximum context length of #",
    "exceeds maximum context length (#",
    "exceeds model's maximum context length",
    "exceeds the model's maximum context length",
    "input token count*exceeds the maximum",
    "maximum prompt length is #",
    "reduce the length of the messages",
    "maximum context length is # tokens",
    "exceeds the maximum allowed input length of #",
    "exceeds maximum allowed input length of #",
    "tokens) is longer than the model*s context length",
    "exceeds the limit of #",
    "exceeds the available context size",
    "greater than the context length",
    "context window exceeds limit",
    "context window exceeded",
    "exceeded model token limit",
    "too large for model with # maximum context length",
    "prompt has # token*but the configured context size is #",
    "model_context_window_exceeded",
    "range of input length should be",
    "context_length_exceeded",
    "context length exceeded",
    "too many tokens",
    "token limit exceeded",
];

/// Messages of throttled servers, some of which also match `TOO_LONG`.
const THROTTLED: &[&str] = &["rate limit", "too many requests", "throttling error", "service unavailable"];

/// Messages about an exhausted account: waiting a little does not help.
const SPENT: &[&str] = &[
    "gousagelimiterror",
    "freeusagelimiterror",
    "monthly usage limit reached",
    "available balance",
    "insufficient_quota",
    "out of budget",
    "quota exceeded",
    "billing",
    "\"code\":\"1308\"",
    "\"code\": \"1308\"",
    "\"code\":1308",
    "\"code\": 1308",
];

/// Messages of temporary failures, for errors without a status.
const PASSING: &[&str] = &[
    "overloaded",
    "server_busy",
    "servers are currently busy",
    "at capacity",
    "high demand",
    "rate limit",
    "rate_limit",
    "too many requests",
    "service unavailable",
    "server error",
    "server_error",
    "internal error",
    "internal_error",
    "api_error",
    "network error",
    "network_error",
    "timeout",
    "timed out",
    "retry your request",
    "try your request again",
    "retry delay",
    "provider returned error",
    "provider returned an error",
    "upstream connect",
    "upstream request failed",
    "upstream_request_failed",
    "upstream_stream_read_error",
    "unable to forward upstream",
    "retrying upstream",
    "resourceexhausted",
    "resource_exhausted",
    "unavailable",
    "connection error",
    "connection_error",
    "connection refused",
    "connection reset",
    "connection lost",
    "connection closed",
    "connection was closed",
    "other side closed",
    "fetch failed",
    "reset before headers",
    "socket hang up",
    "getaddrinfo",
    "enotfound",
    "eai_again",
    "econnreset",
    "econnrefused",
    "econnaborted",
    "etimedout",
    "epipe",
    "failed, reason:",
    "terminated",
    "ended without",
    "stream ended before",
    "stream was interrupted",
    "stream disconnected",
    "stream has been canceled",
    "http/2 stream failed",
    "http2 request did not get a response",
    "websocket closed",
    "websocket error",
    "websocket connection limit reached",
    "websocket_connection_limit_reached",
    "cut short after the reply had begun",
];

/// The status codes as numbers in the text of an error that has no status of its own.
const PASSING_NUMBERS: &[&str] = &["429", "500", "502", "503", "504", "520", "524", "529"];

impl AnswerTrouble {
    pub(super) fn lost(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_lost: true, ..Self::default() }
    }

    /// What the failure of a request to this provider means.
    pub(super) fn failure_of(&self, provider: &str) -> Failure {
        let words = self.text.to_lowercase();
        let says = |list: &[&str]| list.iter().any(|pattern| has(&words, pattern));
        // Cerebras says nothing else of a context that is too long.
        let is_silent = provider == "cerebras" && self.status == Some(400) && words.ends_with("(no body)");
        let is_too_long = self.status == Some(413) || is_silent || (says(TOO_LONG) && !says(THROTTLED));
        let is_overflow = !self.is_lost && is_too_long;
        let passing = match self.status {
            Some(408 | 409 | 425 | 429) | Some(500..) => true,
            Some(_) => words.contains("overloaded"),
            None => self.is_lost || says(PASSING) || has_number(&words),
        };
        let is_transient = !is_overflow && self.may_retry.unwrap_or(passing && !says(SPENT));
        Failure {
            status: self.status,
            is_transient,
            is_overflow,
            is_about_pictures: false,
            retry_after: self.retry_after,
            way_round: None,
        }
    }
}

/// Whether the context was too long without an error: the model read more input than its window, or its input was cut
/// to fill the window and left no room for an answer.
pub fn is_silent_overflow(message: &AssistantMessage, window: u64) -> bool {
    let read = message.usage.input + message.usage.cache_read;
    match message.stop_reason {
        StopReason::Stop => window > 0 && read > window,
        StopReason::Length => window > 0 && message.usage.output == 0 && read * 100 >= window * 99,
        StopReason::Pending | StopReason::ToolUse | StopReason::Error | StopReason::Aborted => false,
    }
}

/// Whether an answer reached a length limit before `limit` tokens: the context or the server had no more room. `limit`
/// is the wanted length, before it was fitted into the window.
pub fn is_cut_short(message: &AssistantMessage, limit: u64) -> bool {
    message.stop_reason == StopReason::Length && limit > 0 && message.usage.output < limit
}

/// Whether a provider refused a request with pictures because of them: their number, size, type or bytes.
pub(crate) fn is_about_pictures(failure: &Failure, text: &str) -> bool {
    let words = text.to_lowercase();
    let names_them = ["image", "picture", "media"].iter().any(|word| words.contains(word));
    failure.status == Some(413) || (matches!(failure.status, Some(400 | 415 | 422)) && names_them)
}

/// Whether a provider refused what the request says: not its size, its key or its price, and not for the moment.
pub(crate) fn is_of_request(failure: &Failure, text: &str) -> bool {
    let words = text.to_lowercase();
    let says = |list: &[&str]| list.iter().any(|pattern| has(&words, pattern));
    let is_invalid = match failure.status {
        Some(400 | 422) => true,
        Some(_) => false,
        None => says(&["invalid_request", "invalid_argument"]),
    };
    is_invalid && !failure.is_transient && !failure.is_overflow && !says(SPENT) && !says(&["api key", "api_key"])
}

/// Whether one of the numbers is in the text, and not part of a longer word or number.
fn has_number(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| PASSING_NUMBERS.contains(&word))
}

fn has(text: &str, pattern: &str) -> bool {
    let mut from = text;
    let (first, rest) = split(pattern);
    while let Some(at) = from.find(first) {
        let after = from.get(at + first.len()..).unwrap_or_default();
        if follows(after, rest) {
            return true;
        }
        from = from.get(at + 1..).unwrap_or_default();
    }
    false
}

/// Whether `text` starts with a pattern that is empty or begins with a wild card.
fn follows(text: &str, pattern: &str) -> bool {
    if let Some(rest) = pattern.strip_prefix('*') {
        return has(text, rest);
    }
    let Some(rest) = pattern.strip_prefix('#') else { return true };
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',');
    let (literal, more) = split(rest);
    after.len() < text.len() && after.strip_prefix(literal).is_some_and(|after| follows(after, more))
}

fn split(pattern: &str) -> (&str, &str) {
    pattern.split_at(pattern.find(['#', '*']).unwrap_or(pattern.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `provider TAB status TAB verdict TAB pi's verdict TAB text`: conformance/failures.test.mjs asks pi for the fourth.
    const VECTORS: &str = include_str!("classify/failures.tsv");

    #[test]
    fn each_providers_words_mean_overflow_retry_or_the_end() {
        let mut seen = 0;
        for line in VECTORS.lines().filter(|line| !line.starts_with('#')) {
            let [provider, status, expected, _, text] = line.splitn(5, '\t').collect::<Vec<_>>()[..] else {
                panic!("not five columns: {line}")
            };
            let status = (status != "-").then(|| status.parse().unwrap());
            let text = status.map_or_else(|| text.to_owned(), |status: u16| format!("{status} {text}"));
            let failure = AnswerTrouble { status, text, ..AnswerTrouble::default() }.failure_of(provider);
            let got = match (failure.is_overflow, failure.is_transient) {
                (true, false) => "overflow",
                (false, true) => "retry",
                (false, false) => "final",
                (true, true) => "both",
            };
            assert_eq!(got, expected, "{line}");
            seen += 1;
        }
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn a_refusal_of_what_a_request_says_is_told_from_others() {
        for (status, text, expected) in [
            (Some(400), "messages.1: wrong", true),
            (Some(422), "body -> messages -> 1: wrong", true),
            (None, "invalid_request_error: messages.1: wrong", true),
            (None, "The model refused", false),
            (Some(401), "invalid x-api-key", false),
            (Some(400), "API key not valid. Please pass a valid API key.", false),
            (Some(400), "Your credit balance is too low. Please go to Plans & Billing", false),
            (Some(400), "prompt is too long: 2 tokens > 1 maximum", false),
            (Some(429), "invalid_request: rate limit", false),
        ] {
            let failure = AnswerTrouble { status, text: text.to_owned(), ..AnswerTrouble::default() }.failure_of("any");
            assert_eq!(is_of_request(&failure, text), expected, "{text}");
        }
    }

    #[test]
    fn the_servers_word_on_retrying_counts() {
        let no = AnswerTrouble { status: Some(500), may_retry: Some(false), ..AnswerTrouble::default() };
        assert!(!no.failure_of("any").is_transient);
        assert!(AnswerTrouble::lost("connection reset").failure_of("any").is_transient);
    }
}
