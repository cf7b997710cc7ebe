//! Anthropic Messages: request body and stream. Knows no client and no key.

use std::borrow::Cow;

use offshoot_protocol::ThinkingLevel;
use offshoot_protocol::message::{AssistantMessage, Block, Content, Message, StopReason, ToolResultMessage, Usage};
use offshoot_protocol::model::Model;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::cache_mark::cache_mark;
use super::classify::AnswerTrouble;
use super::decoding::{self, BegunBlocks, Next, cut_off, malformed, reported};
use super::draft::AnswerDraft;
use super::prepare::{CallRules, NO_PROMPT, NameRule, is_plain_id, joined, max_tokens, plain_id, prepare};
use super::{Request, ToolSpec};

/// Call ids are letters, digits, `_` and `-`, at most this many.
const LONGEST_ID: usize = 64;
/// The text of a thought that the provider hides.
const REDACTED: &str = "[Reasoning redacted]";
/// The minimum left for the answer when thinking shares its limit.
const ANSWER: u64 = 1024;

/// The betas that the request needs, as the value of a header.
pub(super) fn beta(request: &Request) -> Option<String> {
    let model = &request.model;
    let budgeted = model.reasoning && request.thinking != ThinkingLevel::Off && !is_adaptive(model);
    let is_eager = model.compat.supports_eager_tool_input_streaming != Some(false);
    let is_fine = !is_eager && !request.tools.is_empty();
    let betas = [
        is_fine.then_some("fine-grained-tool-streaming-2025-05-14"),
        budgeted.then_some("interleaved-thinking-2025-05-14"),
    ];
    let betas: Vec<&str> = betas.into_iter().flatten().collect();
    (!betas.is_empty()).then(|| betas.join(","))
}

fn is_adaptive(model: &Model) -> bool {
    model.compat.force_adaptive_thinking == Some(true)
}

pub(super) fn body(request: &Request) -> String {
    let model = &request.model;
    let mut messages = messages(request);
    let cache = cache_mark(model, model.compat.supports_long_cache_retention != Some(false));
    mark_last(&mut messages, cache.as_ref());
    let mut limit = max_tokens(request);
    let mut body = Map::new();
    let thinking = thinking(request, &mut limit);
    body.insert("model".to_owned(), json!(model.id));
    body.insert("max_tokens".to_owned(), json!(limit));
    body.insert("stream".to_owned(), json!(true));
    if !request.system.is_empty() {
        let system =
            [("type", Some(json!("text"))), ("text", Some(json!(request.system))), ("cache_control", cache.clone())];
        body.insert("system".to_owned(), json!([decoding::object(system)]));
    }
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), tools(&request.tools, model, cache.as_ref()));
    }
    body.extend(thinking);
    body.insert("messages".to_owned(), Value::Array(messages));
    Value::Object(body).to_string()
}

fn tools(tools: &[ToolSpec], model: &Model, cache: Option<&Value>) -> Value {
    let eager = model.compat.supports_eager_tool_input_streaming != Some(false);
    let marks = model.compat.supports_cache_control_on_tools != Some(false);
    let one = |(at, tool): (usize, &ToolSpec)| {
        let of = |name: &str, none: Value| tool.parameters.get(name).cloned().unwrap_or(none);
        let mut schema =
            json!({"type": "object", "properties": of("properties", json!({})), "required": of("required", json!([]))});
        // Properties refer to the definitions; choices at the root are refused.
        for name in ["additionalProperties", "$defs", "definitions"] {
            if let Some(more) = tool.parameters.get(name) {
                schema[name] = more.clone();
            }
        }
        let is_last = at + 1 == tools.len();
        Value::Object(decoding::object([
            ("name", Some(json!(tool.name))),
            ("description", Some(json!(tool.description))),
            ("eager_input_streaming", eager.then(|| json!(true))),
            ("input_schema", Some(schema)),
            ("cache_control", cache.filter(|_| marks && is_last).cloned()),
        ]))
    };
    Value::Array(tools.iter().enumerate().map(one).collect())
}

/// `thinking` and `output_config`. A budget reduces `limit`.
fn thinking(request: &Request, limit: &mut u64) -> Map<String, Value> {
    let model = &request.model;
    if !model.reasoning {
        return Map::new();
    }
    if request.thinking == ThinkingLevel::Off {
        let disabled = model.off().map(|_| json!({"type": "disabled"}));
        return decoding::object([("thinking", disabled)]);
    }
    if is_adaptive(model) {
        let thinking = json!({"type": "adaptive", "display": "summarized"});
        let config = json!({"effort": effort(model, model.clamp(request.thinking))});
        return decoding::object([("thinking", Some(thinking)), ("output_config", Some(config))]);
    }
    let level = model.clamp(request.thinking);
    let wanted = model.budgets.of(level).unwrap_or_else(|| budget(level));
    if request.max_tokens.is_some() {
        *limit = limit.saturating_add(wanted).min(model.max_tokens.max(*limit));
    }
    let budget = wanted.min(limit.saturating_sub(ANSWER)).max(ANSWER);
    *limit = (*limit).max(budget + 1);
    decoding::object([("thinking", Some(json!({"type": "enabled", "budget_tokens": budget, "display": "summarized"})))])
}

fn effort(model: &Model, level: ThinkingLevel) -> &str {
    match model.effort(level) {
        "minimal" | "off" => "low",
        name => name,
    }
}

/// The thinking tokens of each level, for models that take a number.
pub(super) fn budget(level: ThinkingLevel) -> u64 {
    match level {
        ThinkingLevel::Off | ThinkingLevel::Minimal => 1024,
        ThinkingLevel::Low => 2048,
        ThinkingLevel::Medium => 8192,
        ThinkingLevel::High | ThinkingLevel::XHigh | ThinkingLevel::Max => 16384,
    }
}

pub(super) fn messages(request: &Request) -> Vec<Value> {
    let model = &request.model;
    let rules = CallRules {
        fit_id: &|id, _| plain_id(id, LONGEST_ID),
        accepts_id: &|id| is_plain_id(id, LONGEST_ID),
        names: NameRule { marks: "_-", longest: 128, begins_with_letter: false },
    };
    let prepared = prepare(&request.messages, model, rules);
    let mut out: Vec<Value> = Vec::new();
    let (mut results, mut pictures): (Vec<Value>, Vec<Value>) = Default::default();
    for message in &prepared {
        if let Message::ToolResult(result) = message {
            results.push(tool_result(result));
            pictures.extend(user_content(&Content::Blocks(pictures_of_failure(result))));
            continue;
        }
        if !results.is_empty() {
            results.append(&mut pictures);
            out.push(json!({"role": "user", "content": std::mem::take(&mut results)}));
        }
        let (role, content) = match message {
            Message::User(user) => ("user", user_content(&user.content)),
            Message::Assistant(answer) => ("assistant", assistant_content(answer, model)),
            // Prepared as a message of the user.
            Message::ToolResult(_) | Message::Custom(_) => continue,
        };
        if !content.is_empty() {
            out.push(json!({"role": role, "content": content}));
        }
    }
    if !results.is_empty() {
        results.append(&mut pictures);
        out.push(json!({"role": "user", "content": results}));
    }
    if out.first().is_some_and(|first| first.get("role").is_some_and(|role| role == "assistant")) {
        out.insert(0, json!({"role": "user", "content": [{"type": "text", "text": NO_PROMPT}]}));
    }
    out
}

/// Sets the cache mark on the last user message: everything before it may be cached.
fn mark_last(messages: &mut [Value], cache: Option<&Value>) {
    let Some(cache) = cache else { return };
    let Some(last) = messages.last_mut().filter(|last| last.get("role") == Some(&json!("user"))) else { return };
    let blocks = last.get_mut("content").and_then(Value::as_array_mut);
    if let Some(block) = blocks.and_then(|blocks| blocks.last_mut()).and_then(Value::as_object_mut) {
        block.insert("cache_control".to_owned(), cache.clone());
    }
}

fn image(mime_type: &str, data: &str) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": mime_type, "data": data}})
}

/// Without empty texts, which are refused.
fn user_content(content: &Content) -> Vec<Value> {
    let text = |text: &str| (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
    match content {
        Content::Text(all) => text(all).into_iter().collect(),
        Content::Blocks(blocks) => {
            let one = |block: &Block| match block {
                Block::Text { text: all, .. } => text(all),
                Block::Image { data, mime_type } => Some(image(mime_type, data)),
                Block::Thinking { .. } | Block::ToolCall { .. } => None,
            };
            blocks.iter().filter_map(one).collect()
        }
    }
}

/// Text blocks are joined, unless there are images between them.
fn tool_result(result: &ToolResultMessage) -> Value {
    let content = if super::prepare::images(&result.content).is_empty() {
        json!(joined(&result.content))
    } else if result.is_error {
        json!(joined(&without_pictures(&result.content)))
    } else {
        let mut blocks = user_content(&Content::Blocks(result.content.clone()));
        if blocks.iter().all(|block| block.get("text").is_none()) {
            blocks.insert(0, json!({"type": "text", "text": "(see attached image)"}));
        }
        Value::Array(blocks)
    };
    json!({"type": "tool_result", "tool_use_id": result.tool_call_id, "content": content, "is_error": result.is_error})
}

/// The result of a failed call must be text. Its pictures follow the last result.
pub(super) fn without_pictures(content: &[Block]) -> Vec<Block> {
    let note = Block::text("(image attached after the tool results)");
    let mut texts: Vec<Block> = Vec::new();
    for block in content {
        match block {
            Block::Image { .. } if texts.last() == Some(&note) => {}
            Block::Image { .. } => texts.push(note.clone()),
            Block::Text { .. } | Block::Thinking { .. } | Block::ToolCall { .. } => texts.push(block.clone()),
        }
    }
    texts
}

/// The pictures of a failed call's result, below a heading.
pub(super) fn pictures_of_failure(result: &ToolResultMessage) -> Vec<Block> {
    let pictures = result.content.iter().filter(|block| result.is_error && matches!(block, Block::Image { .. }));
    let pictures: Vec<Block> = pictures.cloned().collect();
    if pictures.is_empty() {
        return Vec::new();
    }
    let ToolResultMessage { tool_call_id, tool_name, .. } = result;
    let heading = format!("Images from the error result of tool call {tool_call_id} ({tool_name}):");
    [vec![Block::text(heading)], pictures].concat()
}

fn assistant_content(answer: &AssistantMessage, model: &Model) -> Vec<Value> {
    let text = |text: &str| (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
    let one = |block: &Block| match block {
        Block::Text { text: all, .. } => text(all),
        Block::Thinking { thinking_signature, redacted: Some(true), .. } => {
            Some(json!({"type": "redacted_thinking", "data": thinking_signature.as_deref().unwrap_or_default()}))
        }
        Block::Thinking { thinking, thinking_signature, .. } => {
            match thinking_signature.as_deref().filter(|signature| !signature.trim().is_empty()) {
                Some(signature) => Some(json!({"type": "thinking", "thinking": thinking, "signature": signature})),
                None if thinking.trim().is_empty() => None,
                None if model.compat.allow_empty_signature == Some(true) => {
                    Some(json!({"type": "thinking", "thinking": thinking, "signature": ""}))
                }
                None => text(thinking),
            }
        }
        Block::ToolCall { id, name, arguments, .. } => {
            Some(json!({"type": "tool_use", "id": id, "name": name, "input": arguments}))
        }
        Block::Image { .. } => None,
    };
    answer.content.iter().filter_map(one).collect()
}

#[derive(Debug, Default)]
pub(super) struct Decoder {
    begun: BegunBlocks,
    stop: Option<StopReason>,
    refusal: Option<String>,
    has_begun: bool,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default)]
    index: u64,
    #[serde(borrow, default)]
    delta: Option<Piece<'a>>,
    #[serde(borrow, default)]
    content_block: Option<Piece<'a>>,
    #[serde(default)]
    message: Option<Head>,
    #[serde(default)]
    usage: Option<Tokens>,
}

/// A starting block, an addition to it, or the end of the message.
#[derive(Deserialize)]
struct Piece<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    signature: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    partial_json: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    data: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(default)]
    input: Option<Value>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    stop_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    explanation: Option<String>,
}

#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_creation: Option<Written>,
}

#[derive(Deserialize)]
struct Written {
    ephemeral_1h_input_tokens: Option<u64>,
}

impl decoding::Decoder for Decoder {
    fn event(&mut self, name: &str, data: &str, draft: &mut AnswerDraft) -> Result<Next, AnswerTrouble> {
        if name == "error" {
            return Err(reported(data));
        }
        let event: Event<'_> = serde_json::from_str(data).map_err(|error| malformed("Anthropic", &error, data))?;
        match event.kind.as_ref() {
            "message_start" => self.begin(event.message, draft),
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.block(event.index, &block, draft);
                }
            }
            "content_block_delta" => {
                if let (Some(delta), Some(at)) = (event.delta, self.begun.find("Anthropic", event.index)?) {
                    more(at, &delta, draft);
                }
            }
            "content_block_stop" => {
                if let Some(at) = self.begun.find("Anthropic", event.index)? {
                    draft.end(at);
                }
            }
            "message_delta" => {
                if let Some(reason) = event.delta.as_ref().and_then(|delta| delta.stop_reason.as_deref()) {
                    let details = event.delta.as_ref().and_then(|delta| delta.stop_details.as_ref());
                    self.stop(reason, details)?;
                }
                count(event.usage, draft);
            }
            "message_stop" => return self.finish().map(Next::Complete),
            "error" => return Err(reported(data)),
            // Pings and future events.
            _ => {}
        }
        Ok(Next::More)
    }

    fn end(&mut self, _: &mut AnswerDraft) -> Result<StopReason, AnswerTrouble> {
        Err(cut_off("Anthropic", if self.has_begun { "message_stop" } else { "message_start" }))
    }
}

impl Decoder {
    fn begin(&mut self, head: Option<Head>, draft: &mut AnswerDraft) {
        self.has_begun = true;
        if let Some(head) = head {
            draft.response_id(head.id.as_deref().unwrap_or_default());
            count(head.usage, draft);
        }
    }

    fn block(&mut self, index: u64, block: &Piece<'_>, draft: &mut AnswerDraft) {
        let place = Some(match block.kind.as_ref() {
            "text" => {
                let place = draft.text_start();
                draft.more(place, block.text.as_deref().unwrap_or_default());
                place
            }
            "thinking" => {
                let place = draft.thinking_start();
                draft.more(place, block.thinking.as_deref().unwrap_or_default());
                sign(place, block.signature.as_deref().unwrap_or_default(), draft);
                place
            }
            "redacted_thinking" => {
                let place = draft.thinking_start();
                if let Some(Block::Thinking { thinking, thinking_signature, redacted }) = draft.block_mut(place) {
                    REDACTED.clone_into(thinking);
                    *thinking_signature = Some(block.data.as_deref().unwrap_or_default().to_owned());
                    *redacted = Some(true);
                }
                place
            }
            "tool_use" => {
                let text = |text: &Option<Cow<'_, str>>| text.as_deref().unwrap_or_default().to_owned();
                let place = draft.call_start(&text(&block.id), &text(&block.name));
                // Some servers send all arguments at once.
                draft.first_arguments(place, &decoding::arguments_text(block.input.as_ref()));
                place
            }
            // Blocks of the provider's own tools, and future ones.
            _ => return self.begun.begin(index, None),
        });
        self.begun.begin(index, place);
    }

    fn stop(&mut self, reason: &str, details: Option<&Details>) -> Result<(), AnswerTrouble> {
        self.stop = Some(match reason {
            "end_turn" | "stop_sequence" | "pause_turn" => StopReason::Stop,
            "max_tokens" => StopReason::Length,
            "tool_use" => StopReason::ToolUse,
            "refusal" => {
                let explanation = details.and_then(|details| details.explanation.clone());
                let text = explanation.filter(|text| !text.is_empty());
                self.refusal = Some(text.unwrap_or_else(|| "the model refused to answer".to_owned()));
                StopReason::Error
            }
            other => return Err(reported(format!("the provider stopped with: {other}"))),
        });
        Ok(())
    }

    fn finish(&mut self) -> Result<StopReason, AnswerTrouble> {
        match (self.refusal.take(), self.stop) {
            (Some(text), _) => Err(reported(text)),
            (None, Some(stop)) => Ok(stop),
            (None, None) => Err(cut_off("Anthropic", "a stop reason")),
        }
    }
}

fn more(at: usize, delta: &Piece<'_>, draft: &mut AnswerDraft) {
    match (delta.kind.as_ref(), draft.block(at)) {
        ("text_delta", Some(Block::Text { .. })) => draft.more(at, delta.text.as_deref().unwrap_or_default()),
        ("thinking_delta", Some(Block::Thinking { .. })) => {
            draft.more(at, delta.thinking.as_deref().unwrap_or_default());
        }
        ("input_json_delta", Some(Block::ToolCall { .. })) => {
            draft.more(at, delta.partial_json.as_deref().unwrap_or_default());
        }
        ("signature_delta", Some(Block::Thinking { .. })) => {
            sign(at, delta.signature.as_deref().unwrap_or_default(), draft);
        }
        _ => {}
    }
}

fn sign(at: usize, signature: &str, draft: &mut AnswerDraft) {
    if let Some(Block::Thinking { thinking_signature, .. }) = draft.block_mut(at) {
        thinking_signature.get_or_insert_default().push_str(signature);
    }
}

/// Missing counts keep their old values.
fn count(tokens: Option<Tokens>, draft: &mut AnswerDraft) {
    let Some(tokens) = tokens else { return };
    let old = draft.usage();
    let input = tokens.input_tokens.unwrap_or(old.input);
    let output = tokens.output_tokens.unwrap_or(old.output);
    let cache_read = tokens.cache_read_input_tokens.unwrap_or(old.cache_read);
    let cache_write = tokens.cache_creation_input_tokens.unwrap_or(old.cache_write);
    let hour = tokens.cache_creation.and_then(|written| written.ephemeral_1h_input_tokens);
    let cache_write_1h = hour.unwrap_or(old.cache_write_1h);
    let total_tokens = input + output + cache_read + cache_write;
    draft.set_usage(Usage { input, output, cache_read, cache_write, cache_write_1h, total_tokens, ..old });
}
