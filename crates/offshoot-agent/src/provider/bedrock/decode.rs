//! The events of Bedrock's ConverseStream.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use offshoot_protocol::message::{Block, StopReason, Usage};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::super::classify::AnswerTrouble;
use super::super::decoding::{self, Next, cut_off, malformed, reported};
use super::super::draft::AnswerDraft;
use super::REDACTED;

#[derive(Debug, Default)]
pub(in super::super) struct Decoder {
    /// The index of each of the service's blocks in the answer.
    open: BTreeMap<u64, usize>,
    /// The bytes of hidden thoughts, which come in pieces.
    hidden: BTreeMap<usize, Vec<u8>>,
    stop: Option<Result<StopReason, String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockStart {
    content_block_index: u64,
    #[serde(default)]
    start: Option<Start>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Start {
    #[serde(default)]
    tool_use: Option<ToolUse>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolUse {
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    input: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockDelta {
    content_block_index: u64,
    #[serde(default)]
    delta: Option<Delta>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Delta {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    tool_use: Option<ToolUse>,
    #[serde(default)]
    reasoning_content: Option<Reasoning>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reasoning {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    signature: Option<String>,
    /// Base64.
    #[serde(default)]
    redacted_content: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockStop {
    content_block_index: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageStart {
    #[serde(default)]
    role: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageStop {
    #[serde(default)]
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    total_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    cache_write_input_tokens: Option<u64>,
    #[serde(default)]
    cache_details: Option<Vec<Written>>,
}

/// What was written to the cache, by how long it is kept.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    #[serde(default)]
    ttl: Option<String>,
    #[serde(default)]
    input_tokens: Option<u64>,
}

#[derive(Deserialize, Default)]
struct Exception {
    #[serde(default, alias = "Message")]
    message: Option<String>,
}

/// Takes an event as an object with one member, whose name is that of the event.
impl decoding::Decoder for Decoder {
    fn event(&mut self, _: &str, data: &str, draft: &mut AnswerDraft) -> Result<Next, AnswerTrouble> {
        let named: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(data).map_err(|error| bad(&error, data))?;
        let Some((name, body)) = named.into_iter().next() else { return Ok(Next::More) };
        match name.as_ref() {
            "messageStart" => {
                let start: MessageStart = read(body)?;
                if start.role.is_some_and(|role| role != "assistant") {
                    return Err(reported("the Bedrock stream began a message of the user"));
                }
            }
            "contentBlockStart" => self.begin(read(body)?, draft),
            "contentBlockDelta" => self.delta(read(body)?, draft),
            "contentBlockStop" => {
                let BlockStop { content_block_index } = read(body)?;
                if let Some(place) = self.open.remove(&content_block_index) {
                    self.sign_hidden(place, draft);
                    draft.end(place);
                }
            }
            "messageStop" => {
                let MessageStop { stop_reason } = read(body)?;
                self.stop = Some(stop(stop_reason.as_deref().unwrap_or_default()));
            }
            "metadata" => {
                let Metadata { usage } = read(body)?;
                count(usage, draft);
                // It is the last event.
                if self.stop.is_some() {
                    return decoding::Decoder::end(self, draft).map(Next::Complete);
                }
            }
            other if other.ends_with("Exception") || other.ends_with("Error") => {
                let message = read::<Exception>(body).unwrap_or_default().message.unwrap_or_default();
                return Err(reported(format!("{}: {message}", prefix(other))));
            }
            // Future events.
            _ => {}
        }
        Ok(Next::More)
    }

    fn end(&mut self, draft: &mut AnswerDraft) -> Result<StopReason, AnswerTrouble> {
        for place in std::mem::take(&mut self.open).into_values() {
            self.sign_hidden(place, draft);
        }
        match self.stop.take() {
            Some(Ok(stop)) => Ok(stop),
            Some(Err(text)) => Err(reported(text)),
            None => Err(cut_off("Bedrock", "a stop reason")),
        }
    }
}

fn read<T: DeserializeOwned>(body: &RawValue) -> Result<T, AnswerTrouble> {
    serde_json::from_str(body.get()).map_err(|error| bad(&error, body.get()))
}

fn bad(error: &serde_json::Error, data: &str) -> AnswerTrouble {
    malformed("Bedrock", error, data)
}

/// The name of a failure as pi prints it. Whether a request is sent again depends on these phrases.
fn prefix(exception: &str) -> &str {
    match exception {
        "internalServerException" => "Internal server error",
        "modelStreamErrorException" => "Model stream error",
        "validationException" => "Validation error",
        "throttlingException" => "Throttling error",
        "serviceUnavailableException" => "Service unavailable",
        other => other,
    }
}

impl Decoder {
    /// Texts and thoughts have no event of their start.
    fn begin(&mut self, event: BlockStart, draft: &mut AnswerDraft) {
        let Some(call) = event.start.and_then(|start| start.tool_use) else { return };
        let (id, name) = (call.tool_use_id.unwrap_or_default(), call.name.unwrap_or_default());
        let place = draft.call_start(&id, &name);
        self.open.insert(event.content_block_index, place);
    }

    fn delta(&mut self, event: BlockDelta, draft: &mut AnswerDraft) {
        let (index, Some(delta)) = (event.content_block_index, event.delta) else { return };
        if let Some(text) = delta.text {
            let place = *self.open.entry(index).or_insert_with(|| draft.text_start());
            if matches!(draft.block(place), Some(Block::Text { .. })) {
                draft.more(place, &text);
            }
        } else if let Some(call) = delta.tool_use {
            let place =
                self.open.get(&index).filter(|place| matches!(draft.block(**place), Some(Block::ToolCall { .. })));
            if let Some(place) = place {
                draft.more(*place, &decoding::arguments_text(call.input.as_ref()));
            }
        } else if let Some(thought) = delta.reasoning_content {
            let place = *self.open.entry(index).or_insert_with(|| draft.thinking_start());
            if matches!(draft.block(place), Some(Block::Thinking { .. })) {
                self.think(place, &thought, draft);
            }
        }
    }

    /// A signature is that of words or the hidden thought itself, never both.
    fn think(&mut self, place: usize, thought: &Reasoning, draft: &mut AnswerDraft) {
        draft.more(place, thought.text.as_deref().unwrap_or_default());
        let hidden = thought.redacted_content.as_deref().filter(|hidden| !hidden.is_empty());
        let Some(Block::Thinking { thinking, thinking_signature, redacted }) = draft.block_mut(place) else { return };
        if let (Some(more), None) = (thought.signature.as_deref().filter(|mark| !mark.is_empty()), &redacted) {
            thinking_signature.get_or_insert_default().push_str(more);
        }
        if let Some(bytes) = hidden.and_then(|hidden| STANDARD.decode(hidden).ok()) {
            if redacted.is_none() {
                *redacted = Some(true);
                *thinking_signature = None;
                thinking.push_str(REDACTED);
            }
            self.hidden.entry(place).or_default().extend(bytes);
        }
    }

    fn sign_hidden(&mut self, place: usize, draft: &mut AnswerDraft) {
        let Some(bytes) = self.hidden.remove(&place) else { return };
        if let Some(Block::Thinking { thinking_signature, .. }) = draft.block_mut(place) {
            *thinking_signature = Some(STANDARD.encode(bytes));
        }
    }
}

fn stop(reason: &str) -> Result<StopReason, String> {
    match reason {
        "end_turn" | "stop_sequence" => Ok(StopReason::Stop),
        "max_tokens" | "model_context_window_exceeded" => Ok(StopReason::Length),
        "tool_use" => Ok(StopReason::ToolUse),
        other => Err(format!("the provider stopped with: {other}")),
    }
}

/// Tokens of the cache are not among the input's.
fn count(tokens: Option<Tokens>, draft: &mut AnswerDraft) {
    let Some(tokens) = tokens else { return };
    let (input, output) = (tokens.input_tokens.unwrap_or(0), tokens.output_tokens.unwrap_or(0));
    let cache_read = tokens.cache_read_input_tokens.unwrap_or(0);
    let cache_write = tokens.cache_write_input_tokens.unwrap_or(0);
    let written = tokens.cache_details.unwrap_or_default();
    let hour = written.iter().filter(|part| part.ttl.as_deref() == Some("1h"));
    let cache_write_1h = hour.fold(0, |sum: u64, part| sum.saturating_add(part.input_tokens.unwrap_or(0)));
    let total = tokens.total_tokens.filter(|total| *total > 0);
    let total_tokens = total.unwrap_or_else(|| input.saturating_add(output));
    draft.set_usage(Usage { input, output, cache_read, cache_write, cache_write_1h, total_tokens, ..draft.usage() });
}
