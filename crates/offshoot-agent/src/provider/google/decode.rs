//! The stream of Google Generative AI.

use std::borrow::Cow;

use offshoot_protocol::message::{Block, StopReason, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::super::classify::AnswerTrouble;
use super::super::decoding::{self, Next, cut_off, malformed, reported};
use super::super::draft::AnswerDraft;

#[derive(Debug, Default)]
pub(in super::super) struct Decoder {
    open: Option<(usize, bool)>,
    stop: Option<Result<StopReason, String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow, default)]
    response_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(default)]
    usage_metadata: Option<Tokens>,
    #[serde(default)]
    prompt_feedback: Option<Feedback>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(default)]
    finish_reason: Option<String>,
    #[serde(default)]
    finish_message: Option<String>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    parts: Option<Vec<GooglePart<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GooglePart<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(default)]
    thought: Option<bool>,
    #[serde(borrow, default)]
    thought_signature: Option<Cow<'a, str>>,
    #[serde(default)]
    function_call: Option<Call>,
}

#[derive(Deserialize)]
struct Call {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    args: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    #[serde(default)]
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Tokens {
    prompt_token_count: u64,
    cached_content_token_count: u64,
    candidates_token_count: u64,
    thoughts_token_count: u64,
    total_token_count: u64,
}

impl decoding::Decoder for Decoder {
    fn event(&mut self, _: &str, data: &str, draft: &mut AnswerDraft) -> Result<Next, AnswerTrouble> {
        let chunk: Chunk<'_> = serde_json::from_str(data).map_err(|error| malformed("Google", &error, data))?;
        if chunk.error.as_ref().is_some_and(|error| !error.is_null()) {
            return Err(reported(data));
        }
        draft.response_id(chunk.response_id.as_deref().unwrap_or_default());
        if let Some(reason) = chunk.prompt_feedback.and_then(|feedback| feedback.block_reason) {
            return Err(reported(format!("the provider refused the prompt: {reason}")));
        }
        if let Some(candidate) = chunk.candidates.unwrap_or_default().into_iter().next() {
            for part in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
                self.part(part, draft);
            }
            if let Some(reason) = candidate.finish_reason {
                self.stop = Some(stop(&reason, candidate.finish_message));
            }
        }
        count(chunk.usage_metadata, draft);
        Ok(Next::More)
    }

    /// Usage may follow the finish reason: only the end of the body is final.
    fn end(&mut self, draft: &mut AnswerDraft) -> Result<StopReason, AnswerTrouble> {
        match self.stop.take() {
            Some(Ok(StopReason::Stop)) if draft.has_calls() => Ok(StopReason::ToolUse),
            Some(Ok(stop)) => Ok(stop),
            Some(Err(text)) => Err(reported(text)),
            None => Err(cut_off("Google", "a finish reason")),
        }
    }
}

impl Decoder {
    fn part(&mut self, part: GooglePart<'_>, draft: &mut AnswerDraft) {
        let signature = part.thought_signature.filter(|signature| !signature.is_empty());
        if let Some(call) = part.function_call {
            self.close(draft);
            self.call(&call, signature.as_deref(), draft);
        } else if part.text.is_some() || signature.is_some() {
            let place = self.open(part.thought == Some(true), draft);
            draft.more(place, part.text.as_deref().unwrap_or_default());
            if let Some(signature) = signature {
                sign(place, &signature, draft);
            }
        }
    }

    fn open(&mut self, is_thought: bool, draft: &mut AnswerDraft) -> usize {
        if let Some((place, is_open)) = self.open
            && is_open == is_thought
        {
            return place;
        }
        self.close(draft);
        let place = if is_thought { draft.thinking_start() } else { draft.text_start() };
        self.open = Some((place, is_thought));
        place
    }

    fn close(&mut self, draft: &mut AnswerDraft) {
        if let Some((place, _)) = self.open.take() {
            draft.end(place);
        }
    }

    /// Calls are never split.
    fn call(&self, call: &Call, signature: Option<&str>, draft: &mut AnswerDraft) {
        let place = draft.call_start(call.id.as_deref().unwrap_or_default(), call.name.as_deref().unwrap_or_default());
        draft.more(place, &decoding::arguments_text(call.args.as_ref()));
        if let Some(signature) = signature {
            sign(place, signature, draft);
        }
        draft.end(place);
    }
}

/// The last signature of a block counts.
fn sign(place: usize, signature: &str, draft: &mut AnswerDraft) {
    match draft.block_mut(place) {
        Some(
            Block::Text { text_signature: mark, .. }
            | Block::Thinking { thinking_signature: mark, .. }
            | Block::ToolCall { thought_signature: mark, .. },
        ) => *mark = Some(signature.to_owned()),
        Some(Block::Image { .. }) | None => {}
    }
}

fn stop(reason: &str, message: Option<String>) -> Result<StopReason, String> {
    match reason {
        "STOP" => Ok(StopReason::Stop),
        "MAX_TOKENS" => Ok(StopReason::Length),
        other => {
            let message = message.filter(|message| !message.is_empty());
            let more = message.map(|message| format!(" ({message})")).unwrap_or_default();
            Err(format!("the provider stopped with: {other}{more}"))
        }
    }
}

/// Cached prompt tokens are subtracted from the input: they are counted once. Thinking is output.
fn count(tokens: Option<Tokens>, draft: &mut AnswerDraft) {
    let Some(tokens) = tokens else { return };
    let cache_read = tokens.cached_content_token_count;
    draft.set_usage(Usage {
        input: tokens.prompt_token_count.saturating_sub(cache_read),
        output: tokens.candidates_token_count + tokens.thoughts_token_count,
        cache_read,
        cache_write: 0,
        total_tokens: tokens.total_token_count,
        ..draft.usage()
    });
}
