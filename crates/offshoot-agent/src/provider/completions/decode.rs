//! The stream of Chat Completions, in the dialects of several servers.

use std::borrow::Cow;

use offshoot_protocol::message::{Block, StopReason, Usage};
use offshoot_protocol::model::Model;
use serde::Deserialize;
use serde_json::Value;

use super::super::classify::AnswerTrouble;
use super::super::decoding::{self, CachedTokens, Next, cut_off, malformed, reported};
use super::super::draft::AnswerDraft;
use super::super::streamed_calls::{CallChunk, StreamedCalls};
use super::billed::Billed;

#[derive(Debug, Default)]
pub(in super::super) struct Decoder {
    text: Option<usize>,
    thinking: Option<usize>,
    calls: StreamedCalls,
    details: Vec<Value>,
    stop: Option<Result<StopReason, String>>,
    /// Whether this server ends streams without a reason.
    may_end: bool,
    /// Whether the server tells what an answer has cost.
    tells_cost: bool,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    usage: Option<Tokens>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(default)]
    finish_reason: Option<String>,
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    /// A text, or a list of parts.
    #[serde(default)]
    content: Option<Value>,
    #[serde(borrow, default)]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(default)]
    reasoning: Option<Value>,
    #[serde(borrow, default)]
    reasoning_text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<CallChunk<'a>>>,
    #[serde(default)]
    reasoning_details: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<CachedTokens>,
    #[serde(default)]
    prompt_cache_hit_tokens: Option<u64>,
    #[serde(default)]
    cached_tokens: Option<u64>,
    #[serde(default)]
    cost: Value,
    #[serde(default)]
    is_byok: Value,
    #[serde(default)]
    cost_details: Value,
}

impl Decoder {
    pub(in super::super) fn new(model: &Model) -> Self {
        let tells_cost = model.provider == "openrouter" || model.base_url.contains("openrouter.ai");
        Self { may_end: model.compat.supports_finish_reason == Some(false), tells_cost, ..Self::default() }
    }
}

impl Decoder {
    /// Cached prompt tokens are subtracted from the input: they are counted once.
    fn count(&self, tokens: Option<Tokens>, draft: &mut AnswerDraft) {
        let Some(tokens) = tokens else { return };
        let details = tokens.prompt_tokens_details;
        let (hit, cache_write) =
            details.map_or((None, 0), |details| (details.cached_tokens, details.cache_write_tokens.unwrap_or(0)));
        let cache_read = hit.or(tokens.prompt_cache_hit_tokens).or(tokens.cached_tokens).unwrap_or(0);
        let input = tokens.prompt_tokens.unwrap_or(0).saturating_sub(cache_read).saturating_sub(cache_write);
        let output = tokens.completion_tokens.unwrap_or(0);
        let total_tokens = input + output + cache_read + cache_write;
        let usage = Usage { input, output, cache_read, cache_write, total_tokens, ..draft.usage() };
        let billed = Billed { cost: tokens.cost, is_byok: tokens.is_byok, cost_details: tokens.cost_details };
        draft.set_billed_usage(usage, billed.dollars().filter(|_| self.tells_cost));
    }
}

impl decoding::Decoder for Decoder {
    fn event(&mut self, name: &str, data: &str, draft: &mut AnswerDraft) -> Result<Next, AnswerTrouble> {
        if data.trim() == "[DONE]" {
            return self.end(draft).map(Next::Complete);
        }
        if name == "error" {
            return Err(reported(data));
        }
        let chunk: Chunk<'_> = serde_json::from_str(data).map_err(|error| malformed("Completions", &error, data))?;
        if chunk.error.as_ref().is_some_and(|error| !error.is_null()) {
            return Err(reported(data));
        }
        draft.response_id(chunk.id.as_deref().unwrap_or_default());
        let choice = chunk.choices.unwrap_or_default().into_iter().next();
        let usage = chunk.usage;
        let Some(choice) = choice else {
            self.count(usage, draft);
            return Ok(Next::More);
        };
        self.count(usage.or(choice.usage), draft);
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.stop = Some(stop(&reason));
        }
        if let Some(delta) = choice.delta {
            self.delta(delta, draft);
        }
        Ok(Next::More)
    }

    fn end(&mut self, draft: &mut AnswerDraft) -> Result<StopReason, AnswerTrouble> {
        if let (Some(place), false) = (self.thinking, self.details.is_empty()) {
            sign(place, &Value::Array(std::mem::take(&mut self.details)).to_string(), draft);
        }
        match self.stop.take() {
            Some(Ok(stop)) => Ok(stop),
            Some(Err(text)) => Err(reported(text)),
            None if self.may_end => Ok(if draft.has_calls() { StopReason::ToolUse } else { StopReason::Stop }),
            None => Err(cut_off("Completions", "finish_reason")),
        }
    }
}

impl Decoder {
    fn delta(&mut self, delta: Delta<'_>, draft: &mut AnswerDraft) {
        self.content(delta.content.as_ref(), draft);
        let reasoning = delta.reasoning.as_ref().and_then(Value::as_str).map(Cow::Borrowed);
        // Some servers send the same thought under two names: the first one counts.
        let thoughts = [delta.reasoning_content, reasoning, delta.reasoning_text];
        let named = super::THINKING.into_iter().zip(thoughts);
        if let Some((name, thought)) =
            named.filter_map(|(name, text)| Some((name, text?))).find(|(_, text)| !text.is_empty())
        {
            let place = self.think(name, draft);
            draft.more(place, &thought);
        }
        for call in delta.tool_calls.into_iter().flatten() {
            self.calls.add(&call, draft);
        }
        for detail in delta.reasoning_details.into_iter().flatten() {
            self.think("", draft);
            merge(&mut self.details, detail);
        }
    }

    fn content(&mut self, content: Option<&Value>, draft: &mut AnswerDraft) {
        match content {
            Some(Value::String(text)) if !text.is_empty() => {
                let place = *self.text.get_or_insert_with(|| draft.text_start());
                draft.more(place, text);
            }
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.content(Some(part), draft)),
            Some(Value::Object(part)) => match part.get("thinking") {
                Some(thinking) => {
                    let thought = decoding::text_of(thinking);
                    if !thought.is_empty() {
                        let place = self.think("", draft);
                        draft.more(place, &thought);
                    }
                }
                None => self.content(part.get("text").filter(|text| text.is_string()), draft),
            },
            Some(Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_)) | None => {}
        }
    }

    fn think(&mut self, signature: &str, draft: &mut AnswerDraft) -> usize {
        *self.thinking.get_or_insert_with(|| {
            let place = draft.thinking_start();
            if !signature.is_empty() {
                sign(place, signature, draft);
            }
            place
        })
    }
}

fn sign(place: usize, signature: &str, draft: &mut AnswerDraft) {
    if let Some(Block::Thinking { thinking_signature, .. }) = draft.block_mut(place) {
        *thinking_signature = Some(signature.to_owned());
    }
}

fn merge(details: &mut Vec<Value>, detail: Value) {
    let member = match detail.get("type").and_then(Value::as_str) {
        Some("reasoning.text") => "text",
        Some("reasoning.summary") => "summary",
        Some("reasoning.encrypted") => return details.push(detail),
        _ => return,
    };
    let same = |last: &&mut Value| last.get("type") == detail.get("type");
    let Some(last) = details.last_mut().filter(same).and_then(Value::as_object_mut) else {
        return details.push(detail);
    };
    let Value::Object(detail) = detail else { return };
    for (name, value) in detail {
        match (name == member, last.get(&name), &value) {
            (true, Some(Value::String(old)), Value::String(more)) => {
                let both = format!("{old}{more}");
                last.insert(name, Value::String(both));
            }
            (_, None | Some(Value::Null), _) => {
                last.insert(name, value);
            }
            _ => {}
        }
    }
}

fn stop(reason: &str) -> Result<StopReason, String> {
    match reason {
        "stop" | "end" => Ok(StopReason::Stop),
        "length" => Ok(StopReason::Length),
        "tool_calls" | "function_call" => Ok(StopReason::ToolUse),
        other => Err(format!("the provider stopped with: {other}")),
    }
}
