//! Mistral's stream.

use std::borrow::Cow;

use offshoot_protocol::message::{StopReason, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::super::classify::AnswerTrouble;
use super::super::decoding::{self, CachedTokens, Next, cut_off, malformed, reported};
use super::super::draft::AnswerDraft;
use super::super::streamed_calls::{CallChunk, StreamedCalls};

#[derive(Debug, Default)]
pub(in super::super) struct Decoder {
    open: Option<OpenBlock>,
    calls: StreamedCalls,
    stop: Option<Result<StopReason, String>>,
}

/// The block that the last piece of text or thinking went to.
#[derive(Debug, Clone, Copy)]
struct OpenBlock {
    kind: BlockKind,
    place: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Text,
    Thinking,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    object: Option<Cow<'a, str>>,
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
}

#[derive(Deserialize)]
struct Delta<'a> {
    /// A text, or a list of parts.
    #[serde(default)]
    content: Option<Value>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<CallChunk<'a>>>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    total_tokens: Option<u64>,
    #[serde(default, alias = "prompt_token_details")]
    prompt_tokens_details: Option<CachedTokens>,
    #[serde(default)]
    num_cached_tokens: Option<u64>,
}

impl decoding::Decoder for Decoder {
    fn event(&mut self, name: &str, data: &str, draft: &mut AnswerDraft) -> Result<Next, AnswerTrouble> {
        if data.trim() == "[DONE]" {
            return self.end(draft).map(Next::Complete);
        }
        if name == "error" {
            return Err(reported(data));
        }
        let chunk: Chunk<'_> = serde_json::from_str(data).map_err(|error| malformed("Mistral", &error, data))?;
        if chunk.error.as_ref().is_some_and(|error| !error.is_null()) || chunk.object.as_deref() == Some("error") {
            return Err(reported(data));
        }
        draft.response_id(chunk.id.as_deref().unwrap_or_default());
        count(chunk.usage, draft);
        let Some(choice) = chunk.choices.unwrap_or_default().into_iter().next() else { return Ok(Next::More) };
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.stop = Some(stop(&reason));
        }
        if let Some(delta) = choice.delta {
            self.content(delta.content.as_ref(), draft);
            delta.tool_calls.into_iter().flatten().for_each(|call| self.call(call, draft));
        }
        Ok(Next::More)
    }

    fn end(&mut self, _draft: &mut AnswerDraft) -> Result<StopReason, AnswerTrouble> {
        match self.stop.take() {
            Some(Ok(stop)) => Ok(stop),
            Some(Err(text)) => Err(reported(text)),
            None => Err(cut_off("Mistral", "finish_reason")),
        }
    }
}

impl Decoder {
    fn content(&mut self, content: Option<&Value>, draft: &mut AnswerDraft) {
        match content {
            Some(Value::String(text)) => self.more(BlockKind::Text, text, draft),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.part(part, draft)),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {}
        }
    }

    fn part(&mut self, part: &Value, draft: &mut AnswerDraft) {
        let text = |value: Option<&Value>| value.map(decoding::text_of).unwrap_or_default();
        match (part, part.get("type").and_then(Value::as_str)) {
            (Value::String(said), _) => self.more(BlockKind::Text, said, draft),
            (_, Some("thinking")) => self.more(BlockKind::Thinking, &text(part.get("thinking")), draft),
            (_, Some("text")) => self.more(BlockKind::Text, &text(part.get("text")), draft),
            // References and others have no place in an answer.
            _ => {}
        }
    }

    /// An empty piece neither ends nor begins a block: some models send them around thinking and calls.
    fn more(&mut self, kind: BlockKind, text: &str, draft: &mut AnswerDraft) {
        if text.is_empty() {
            return;
        }
        let open = self.open.filter(|open| open.kind == kind).unwrap_or_else(|| {
            self.close(draft);
            let place = match kind {
                BlockKind::Text => draft.text_start(),
                BlockKind::Thinking => draft.thinking_start(),
            };
            OpenBlock { kind, place }
        });
        self.open = Some(open);
        draft.more(open.place, text);
    }

    fn close(&mut self, draft: &mut AnswerDraft) {
        if let Some(open) = self.open.take() {
            draft.end(open.place);
        }
    }

    fn call(&mut self, mut call: CallChunk<'_>, draft: &mut AnswerDraft) {
        self.close(draft);
        // Mistral sends the text "null" for a missing id.
        call.id = call.id.filter(|id| id != "null");
        self.calls.add(&call, draft);
    }
}

fn stop(reason: &str) -> Result<StopReason, String> {
    match reason {
        "stop" => Ok(StopReason::Stop),
        "length" | "model_length" => Ok(StopReason::Length),
        "tool_calls" => Ok(StopReason::ToolUse),
        // The words say that another try may succeed.
        "error" => Err("the provider stopped with: error (server error)".to_owned()),
        other => Err(format!("the provider stopped with: {other}")),
    }
}

/// Cached prompt tokens are subtracted from the input: they are counted once.
fn count(tokens: Option<Tokens>, draft: &mut AnswerDraft) {
    let Some(tokens) = tokens else { return };
    let prompt = tokens.prompt_tokens.unwrap_or(0);
    let cached = tokens.prompt_tokens_details.and_then(|details| details.cached_tokens).or(tokens.num_cached_tokens);
    let cache_read = cached.unwrap_or(0).min(prompt);
    let (input, output) = (prompt - cache_read, tokens.completion_tokens.unwrap_or(0));
    let total = tokens.total_tokens.filter(|total| *total > 0);
    let total_tokens = total.unwrap_or_else(|| prompt.saturating_add(output));
    draft.set_usage(Usage { input, output, cache_read, cache_write: 0, total_tokens, ..draft.usage() });
}
