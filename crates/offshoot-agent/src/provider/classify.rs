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
const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "prompt too long",
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
];

/// Messages of temporary failures, for errors without a status.
const PASSING: &[&str] = &[
    "overloaded",
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
    "provider returned error",
    "upstream connect",
    "resourceexhausted",
    "resource_exhausted",
    "unavailable",
    " 429",
    " 500",
    " 502",
    " 503",
    " 504",
    " 529",
];

impl AnswerTrouble {
    pub(super) fn lost(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_lost: true, ..Self::default() }
    }

    pub(super) fn failure(&self) -> Failure {
        let words = self.text.to_lowercase();
        let says = |list: &[&str]| list.iter().any(|pattern| has(&words, pattern));
        let is_overflow = !self.is_lost && (self.status == Some(413) || (says(TOO_LONG) && !says(THROTTLED)));
        let passing = match self.status {
            Some(408 | 409 | 425 | 429) | Some(500..) => true,
            Some(_) => words.contains("overloaded"),
            None => self.is_lost || says(PASSING),
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

    fn failure(status: Option<u16>, text: &str) -> (bool, bool) {
        let failure = AnswerTrouble { status, text: text.to_owned(), ..AnswerTrouble::default() }.failure();
        (failure.is_transient, failure.is_overflow)
    }

    #[test]
    fn each_providers_way_to_say_too_long_is_known() {
        for text in [
            "400 {\"type\":\"error\",\"error\":{\"message\":\"prompt is too long: 213462 tokens > 200000 maximum\"}}",
            "413 {\"error\":{\"type\":\"request_too_large\",\"message\":\"Request exceeds the maximum size\"}}",
            "Your input exceeds the context window of this model",
            "Requested token count exceeds the model's maximum context length of 131072 tokens",
            "Input length (265330) exceeds model's maximum context length (262144).",
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
            "Please reduce the length of the messages or completion",
            "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens",
            "Input length 9 exceeds the maximum allowed input length of 8 tokens.",
            "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
            "the request exceeds the available context size, try increasing it",
            "tokens to keep from the initial prompt is greater than the context length",
            "prompt token count of 9 exceeds the limit of 8",
            "invalid params, context window exceeds limit",
            "Your request exceeded model token limit: 8 (requested: 9)",
            "Prompt has 9,000 tokens, but the configured context size is 8,000 tokens",
            "Prompt contains 9 tokens ... too large for model with 8 maximum context length",
            "Range of input length should be [1, 8]",
            "prompt too long; exceeded max context length by 7 tokens",
        ] {
            assert_eq!(failure(Some(400), text), (false, true), "{text}");
        }
    }

    #[test]
    fn a_request_that_is_too_large_is_a_context_that_is_too_long() {
        assert_eq!(failure(Some(413), "413 status code (no body)"), (false, true));
    }

    #[test]
    fn a_throttle_is_no_overflow_and_an_empty_purse_is_not_worth_a_retry() {
        assert_eq!(failure(Some(429), "Throttling error: Too many tokens, please wait"), (true, false));
        assert_eq!(failure(Some(429), "rate limit: too many tokens"), (true, false));
        assert_eq!(failure(Some(429), "{\"code\": \"insufficient_quota\"}"), (false, false));
        assert_eq!(failure(Some(529), "overloaded"), (true, false));
        assert_eq!(failure(Some(401), "invalid x-api-key"), (false, false));
        assert_eq!(failure(None, "{\"type\":\"overloaded_error\"}"), (true, false));
        assert_eq!(failure(None, "The model refused"), (false, false));
        assert_eq!(failure(Some(400), "the limit of exceeds the limit of nothing"), (false, false));
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
            let failure = AnswerTrouble { status, text: text.to_owned(), ..AnswerTrouble::default() }.failure();
            assert_eq!(is_of_request(&failure, text), expected, "{text}");
        }
    }

    #[test]
    fn the_servers_word_on_retrying_counts() {
        let no = AnswerTrouble { status: Some(500), may_retry: Some(false), ..AnswerTrouble::default() };
        assert!(!no.failure().is_transient);
        assert!(AnswerTrouble::lost("connection reset").failure().is_transient);
    }
}
