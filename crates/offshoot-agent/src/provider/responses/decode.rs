//! The stream of Responses.

use std::borrow::Cow;

use offshoot_protocol::message::{Block, StopReason, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::super::classify::AnswerTrouble;
use super::super::decoding::{self, BegunBlocks, CachedTokens, Next, cut_off, malformed, reported};
use super::super::draft::AnswerDraft;
use crate::lenient_json;

#[derive(Debug, Default)]
pub(in super::super) struct Decoder {
    begun: BegunBlocks,
    /// The items that have ids, by them: some servers send all with one index.
    items: Vec<(String, usize)>,
    thoughts: Vec<(String, usize)>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(default)]
    output_index: u64,
    #[serde(borrow, default)]
    item_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    delta: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    arguments: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    item: Option<&'a RawValue>,
    #[serde(default)]
    response: Option<Response>,
    #[serde(default)]
    code: Option<Value>,
    #[serde(default)]
    message: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    call_id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<String>,
    #[serde(default)]
    phase: Option<String>,
    #[serde(default)]
    summary: Option<Vec<ResponsePart>>,
    #[serde(default)]
    content: Option<Vec<ResponsePart>>,
}

#[derive(Deserialize)]
struct ResponsePart {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    output: Option<Vec<Value>>,
    #[serde(default)]
    usage: Option<Tokens>,
    #[serde(default)]
    incomplete_details: Option<Reason>,
    #[serde(default)]
    error: Option<Said>,
}

#[derive(Deserialize)]
struct Reason {
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    message: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    total_tokens: u64,
    #[serde(default)]
    input_tokens_details: Option<CachedTokens>,
}

impl decoding::Decoder for Decoder {
    fn event(&mut self, _: &str, data: &str, draft: &mut AnswerDraft) -> Result<Next, AnswerTrouble> {
        if data.trim() == "[DONE]" {
            return Ok(Next::More);
        }
        let wrong = |error: serde_json::Error| malformed("Responses", &error, data);
        let event: Event<'_> = serde_json::from_str(data).map_err(wrong)?;
        let item = event.item.map(|raw| serde_json::from_str::<Item>(raw.get())).transpose().map_err(wrong)?;
        let id = event.item_id.as_deref().or(item.as_ref().and_then(|item| item.id.as_deref()));
        let place = match self.items.iter().rev().find(|(known, _)| id == Some(known)) {
            Some((_, place)) => Ok(Some(*place)),
            None => self.begun.find("Responses", event.output_index),
        };
        match event.kind.as_ref() {
            "response.created" => {
                let id = event.response.and_then(|response| response.id);
                draft.response_id(id.as_deref().unwrap_or_default());
            }
            "response.output_item.added" => {
                if let Some(item) = item {
                    self.begin(event.output_index, &item, draft);
                }
            }
            kind @ ("response.output_text.delta"
            | "response.refusal.delta"
            | "response.reasoning_summary_text.delta"
            | "response.reasoning_text.delta"
            | "response.function_call_arguments.delta") => {
                if let (Some(place), Some(delta)) = (place?, event.delta) {
                    more(place, kind, &delta, draft);
                }
            }
            "response.reasoning_summary_part.done" => {
                if let Some(place) = place? {
                    more(place, "response.reasoning_summary_text.delta", "\n\n", draft);
                }
            }
            "response.function_call_arguments.done" => {
                if let (Some(place), Some(all)) = (place?, event.arguments) {
                    complete_arguments(place, &all, draft);
                }
            }
            "response.output_item.done" => {
                if let (Some(item), Some(raw)) = (item, event.item) {
                    let place = place.unwrap_or_else(|_| self.begin(event.output_index, &item, draft));
                    if let Some(place) = place {
                        self.finish(place, &item, raw.get(), draft);
                    }
                }
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                let stop = event.response.map_or(Ok(StopReason::Stop), |response| self.close(response, draft))?;
                return Ok(Next::Complete(stop));
            }
            "response.failed" => return Err(failed(event.response)),
            "error" => {
                let code = event.code.filter(|code| !code.is_null());
                return Err(match (code, event.message) {
                    (Some(code), Some(message)) => reported(format!("{}: {message}", code.as_str().unwrap_or("error"))),
                    (None, Some(message)) => reported(message),
                    (_, None) => reported(data),
                });
            }
            // Progress that is also in the items, and future events.
            _ => {}
        }
        Ok(Next::More)
    }

    fn end(&mut self, _: &mut AnswerDraft) -> Result<StopReason, AnswerTrouble> {
        Err(cut_off("Responses", "response.completed"))
    }
}

impl Decoder {
    fn begin(&mut self, index: u64, item: &Item, draft: &mut AnswerDraft) -> Option<usize> {
        let place = match item.kind.as_str() {
            "reasoning" => Some(draft.thinking_start()),
            "message" => Some(draft.text_start()),
            "function_call" => {
                let call = item.call_id.as_deref().unwrap_or_default();
                let id = match &item.id {
                    Some(id) => format!("{call}|{id}"),
                    None => call.to_owned(),
                };
                let place = draft.call_start(&id, item.name.as_deref().unwrap_or_default());
                draft.first_arguments(place, item.arguments.as_deref().unwrap_or_default());
                draft.must_have_arguments(place);
                Some(place)
            }
            _ => None,
        };
        self.begun.begin(index, place);
        let id = item.id.as_deref().filter(|id| !id.is_empty());
        self.items.extend(id.zip(place).map(|(id, place)| (id.to_owned(), place)));
        place
    }

    /// The complete item replaces its deltas.
    fn finish(&mut self, place: usize, item: &Item, raw: &str, draft: &mut AnswerDraft) {
        match draft.block_mut(place) {
            Some(Block::Thinking { thinking, thinking_signature, .. }) if item.kind == "reasoning" => {
                let texts = |parts: &Option<Vec<ResponsePart>>| {
                    let texts = parts.iter().flatten().filter_map(|part| part.text.as_deref());
                    texts.collect::<Vec<_>>().join("\n\n")
                };
                let whole = Some(texts(&item.summary)).filter(|text| !text.is_empty());
                let whole = whole.or_else(|| Some(texts(&item.content)).filter(|text| !text.is_empty()));
                if let Some(whole) = whole {
                    *thinking = whole;
                }
                *thinking_signature = Some(raw.to_owned());
                self.thoughts.push((item.id.clone().unwrap_or_default(), place));
            }
            Some(Block::Text { text, text_signature }) if item.kind == "message" => {
                if let Some(parts) = &item.content {
                    let said = |part: &ResponsePart| part.text.clone().or_else(|| part.refusal.clone());
                    *text = parts.iter().filter_map(said).collect();
                }
                *text_signature = item.id.as_deref().map(|id| sign(id, item.phase.as_deref()));
            }
            Some(Block::ToolCall { .. }) if item.kind == "function_call" => {
                if let Some(all) = item.arguments.as_deref().filter(|all| !all.is_empty()) {
                    complete_arguments(place, all, draft);
                }
            }
            _ => return,
        }
        draft.end(place);
    }

    fn close(&self, response: Response, draft: &mut AnswerDraft) -> Result<StopReason, AnswerTrouble> {
        for item in response.output.iter().flatten() {
            self.backfill(item, draft);
        }
        draft.response_id(response.id.as_deref().unwrap_or_default());
        count(response.usage, draft);
        let reason = response.incomplete_details.and_then(|details| details.reason);
        match (response.status.as_deref().unwrap_or("completed"), reason.as_deref()) {
            ("completed" | "in_progress" | "queued", _) if draft.has_calls() => Ok(StopReason::ToolUse),
            ("completed" | "in_progress" | "queued", _) => Ok(StopReason::Stop),
            ("incomplete", Some("max_output_tokens")) => Ok(StopReason::Length),
            ("incomplete", Some(reason)) => Err(reported(format!("the response is incomplete: {reason}"))),
            ("incomplete", None) => Err(reported("the response is incomplete, and the provider does not say why")),
            (status, _) => Err(reported(format!("the provider stopped with: {status}"))),
        }
    }

    /// Some servers send the encrypted thought only with the whole response.
    fn backfill(&self, item: &Value, draft: &mut AnswerDraft) {
        let text = |name: &str| item.get(name).and_then(Value::as_str);
        let (Some("reasoning"), Some(id), Some(encrypted)) = (text("type"), text("id"), text("encrypted_content"))
        else {
            return;
        };
        let place = self.thoughts.iter().find(|(known, _)| known == id).map(|(_, place)| *place);
        let block = place.and_then(|place| draft.block_mut(place));
        let Some(Block::Thinking { thinking_signature: Some(signature), .. }) = block else { return };
        let Ok(mut stored) = lenient_json::from_str::<Map<String, Value>>(signature) else { return };
        if stored.get("encrypted_content").and_then(Value::as_str).is_none_or(str::is_empty) {
            stored.insert("encrypted_content".to_owned(), json!(encrypted));
            *signature = Value::Object(stored).to_string();
        }
    }
}

fn more(place: usize, kind: &str, delta: &str, draft: &mut AnswerDraft) {
    let fits = match draft.block(place) {
        Some(Block::Text { .. }) => matches!(kind, "response.output_text.delta" | "response.refusal.delta"),
        Some(Block::Thinking { .. }) => kind.starts_with("response.reasoning"),
        Some(Block::ToolCall { .. }) => kind == "response.function_call_arguments.delta",
        Some(Block::Image { .. }) | None => false,
    };
    if fits {
        draft.more(place, delta);
    }
}

/// The arguments are complete: the part that has not been sent becomes a delta.
fn complete_arguments(place: usize, all: &str, draft: &mut AnswerDraft) {
    if !matches!(draft.block(place), Some(Block::ToolCall { .. })) {
        return;
    }
    if let Some(rest) = all.strip_prefix(draft.arguments(place)).map(str::to_owned) {
        draft.more(place, &rest);
    }
    draft.set_arguments(place, all);
}

fn sign(id: &str, phase: Option<&str>) -> String {
    let mut object = Map::new();
    object.insert("v".to_owned(), json!(1));
    object.insert("id".to_owned(), json!(id));
    if let Some(phase) = phase {
        object.insert("phase".to_owned(), json!(phase));
    }
    Value::Object(object).to_string()
}

fn failed(response: Option<Response>) -> AnswerTrouble {
    let (error, details) = response.map_or((None, None), |response| (response.error, response.incomplete_details));
    let text = match (error, details.and_then(|details| details.reason)) {
        (Some(error), _) => {
            let code = error.code.unwrap_or_else(|| "unknown".to_owned());
            format!("{code}: {}", error.message.unwrap_or_else(|| "no message".to_owned()))
        }
        (None, Some(reason)) => format!("incomplete: {reason}"),
        (None, None) => "the response failed, and the provider does not say why".to_owned(),
    };
    reported(text)
}

/// Cached input tokens are subtracted from the input: they are counted once.
fn count(tokens: Option<Tokens>, draft: &mut AnswerDraft) {
    let Some(tokens) = tokens else { return };
    let details = tokens.input_tokens_details;
    let (cache_read, cache_write) =
        details.map_or((0, 0), |details| (details.cached_tokens.unwrap_or(0), details.cache_write_tokens.unwrap_or(0)));
    let input = tokens.input_tokens.saturating_sub(cache_read).saturating_sub(cache_write);
    let (output, total_tokens) = (tokens.output_tokens, tokens.total_tokens);
    draft.set_usage(Usage { input, output, cache_read, cache_write, total_tokens, ..draft.usage() });
}
