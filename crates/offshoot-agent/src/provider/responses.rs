//! OpenAI Responses: request body and stream. Knows no client and no key.
//!
//! Reasoning items are opaque: they are sent back byte for byte.

use std::collections::HashSet;

use offshoot_protocol::message::{AssistantMessage, Block, Content, Message};
use offshoot_protocol::model::Model;
use offshoot_protocol::{CacheRetention, ThinkingLevel};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::decoding::object;
use super::prepare::{CallRules, NameRule, images, is_plain_id, joined, max_tokens, plain_id, prepare, short_hash};
use super::sampling::add_sampling;
use super::{AZURE_RESPONSES, Request, ToolSpec};
use crate::lenient_json;

mod decode;

pub(super) use decode::Decoder;

const MAX_ID_CHARS: usize = 64;
/// A lower limit is refused.
const LEAST_OUTPUT: u64 = 16;
/// Providers whose ids have two halves, `call|item`.
const TWO_HALVES: [&str; 4] = ["openai", "openai-codex", "opencode", "azure"];

#[derive(Serialize)]
struct Body {
    #[serde(flatten)]
    members: Map<String, Value>,
    input: Vec<Item>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Item {
    Made(Value),
    AsItCame(Box<RawValue>),
}

pub(super) fn body(request: &Request) -> String {
    let model = &request.model;
    let limited = model.compat.supports_max_output_tokens != Some(false);
    let tools: Vec<Value> = request.tools.iter().map(|spec| tool(spec, model)).collect();
    // Azure always gets the key, and nothing says how long.
    let is_azure = model.api == AZURE_RESPONSES;
    let retention = if is_azure { CacheRetention::Short } else { model.cache_retention };
    let has_key =
        retention != CacheRetention::None && model.compat.prompt_cache_key_mode.as_deref() != Some("disabled");
    let is_long = retention == CacheRetention::Long && model.compat.supports_long_cache_retention != Some(false);
    let is_explicit = model.compat.supports_explicit_prompt_cache_mode == Some(true);
    let cache_options = match (retention, is_long) {
        (CacheRetention::None, _) => Some(json!({"mode": "explicit"})),
        (_, true) => Some(json!({"ttl": "30m"})),
        (_, false) => None,
    };
    let key =
        request.session_id.as_ref().filter(|_| has_key).map(|key| key.chars().take(MAX_ID_CHARS).collect::<String>());
    let mut members = object([
        ("model", Some(json!(model.sent_name()))),
        ("stream", Some(json!(true))),
        ("store", Some(json!(false))),
        ("prompt_cache_key", key.map(|key| json!(key))),
        ("prompt_cache_retention", (is_long && !is_explicit).then(|| json!("24h"))),
        ("prompt_cache_options", cache_options.filter(|_| is_explicit)),
        ("max_output_tokens", limited.then(|| json!(max_tokens(request).max(LEAST_OUTPUT)))),
        ("tools", (!tools.is_empty()).then_some(Value::Array(tools))),
    ]);
    members.extend(thinking(request));
    add_sampling(&mut members, model, request.thinking);
    let body = Body { members, input: input(request) };
    // Serialising strings, numbers and raw JSON cannot fail.
    serde_json::to_string(&body).unwrap_or_default()
}

fn tool(tool: &ToolSpec, model: &Model) -> Value {
    let is_strict = model.compat.supports_strict_mode.unwrap_or(model.api == AZURE_RESPONSES);
    let strict = is_strict.then(|| json!(false));
    Value::Object(object([
        ("type", Some(json!("function"))),
        ("name", Some(json!(tool.name))),
        ("description", Some(json!(tool.description))),
        ("parameters", Some(tool.parameters.clone())),
        ("strict", strict),
    ]))
}

fn thinking(request: &Request) -> Map<String, Value> {
    let model = &request.model;
    let include = json!(["reasoning.encrypted_content"]);
    if !model.reasoning {
        return Map::new();
    }
    let level = model.clamp(request.thinking);
    if level != ThinkingLevel::Off {
        let reasoning = json!({"effort": model.effort(level), "summary": "auto"});
        return object([("reasoning", Some(reasoning)), ("include", Some(include))]);
    }
    let off = model.off().map(|name| json!({"effort": if name.is_empty() { "none" } else { name }}));
    object([("reasoning", off), ("include", (model.provider == "xai").then_some(include))])
}

/// Half an id: plain, short, without trailing `_`.
fn part(id: &str) -> String {
    plain_id(id, MAX_ID_CHARS).trim_end_matches('_').to_owned()
}

fn foreign_id(id: &str, answer: &AssistantMessage, model: &Model) -> String {
    let halves = id.split_once('|').filter(|_| TWO_HALVES.contains(&model.provider.as_str()));
    let Some((call, item)) = halves else { return part(id) };
    let foreign = answer.provider != model.provider || answer.api != model.api;
    let item = if foreign { format!("fc_{}", short_hash(item)) } else { part(item) };
    let item = if item.starts_with("fc_") { item } else { part(&format!("fc_{item}")) };
    format!("{}|{item}", part(call))
}

/// The items as they are sent.
pub(super) fn items(request: &Request) -> Vec<Value> {
    // Made values and raw JSON are values.
    input(request).iter().map(|item| serde_json::to_value(item).unwrap_or_default()).collect()
}

fn input(request: &Request) -> Vec<Item> {
    let model = &request.model;
    let rules = CallRules {
        fit_id: &|id, answer| foreign_id(id, answer, model),
        accepts_id: &|id| id.split('|').all(|half| is_plain_id(half, MAX_ID_CHARS)),
        names: NameRule { marks: "_-", longest: 64, begins_with_letter: false },
    };
    let prepared = prepare(&request.messages, model, rules);
    let mut out = Vec::new();
    if !request.system.is_empty() {
        let developer = model.reasoning && model.compat.supports_developer_role != Some(false);
        let role = if developer { "developer" } else { "system" };
        out.push(Item::Made(json!({"role": role, "content": request.system})));
    }
    let mut ids = HashSet::new();
    for (at, message) in prepared.iter().enumerate() {
        match message {
            Message::User(user) => out.extend(user_message(&user.content).map(Item::Made)),
            Message::Assistant(answer) => assistant(answer, model, at, &mut ids, &mut out),
            // Prepared as a message of the user.
            Message::Custom(_) => {}
            Message::ToolResult(result) => {
                let call = result.tool_call_id.split('|').next().unwrap_or_default();
                let output = output(&result.content);
                out.push(Item::Made(json!({"type": "function_call_output", "call_id": call, "output": output})));
            }
        }
    }
    out
}

fn picture(mime_type: &str, data: &str) -> Value {
    json!({"type": "input_image", "detail": "auto", "image_url": format!("data:{mime_type};base64,{data}")})
}

fn user_message(content: &Content) -> Option<Value> {
    let text = |text: &str| json!({"type": "input_text", "text": text});
    let parts: Vec<Value> = match content {
        Content::Text(all) => vec![text(all)],
        Content::Blocks(blocks) => {
            let one = |block: &Block| match block {
                Block::Text { text: all, .. } => Some(text(all)),
                Block::Image { data, mime_type } => Some(picture(mime_type, data)),
                Block::Thinking { .. } | Block::ToolCall { .. } => None,
            };
            blocks.iter().filter_map(one).collect()
        }
    };
    (!parts.is_empty()).then(|| json!({"role": "user", "content": parts}))
}

/// The output of a call: a text, or parts if there are images.
fn output(content: &[Block]) -> Value {
    let text = joined(content);
    let seen = images(content);
    if seen.is_empty() {
        return json!(if text.is_empty() { "(no tool output)" } else { text.as_str() });
    }
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push(json!({"type": "input_text", "text": text}));
    }
    parts.extend(seen.into_iter().map(|(mime_type, data)| picture(mime_type, data)));
    Value::Array(parts)
}

fn assistant(answer: &AssistantMessage, model: &Model, at: usize, ids: &mut HashSet<String>, out: &mut Vec<Item>) {
    let same_api = answer.provider == model.provider && answer.api == model.api;
    let other_model = same_api && answer.model != model.id;
    let (mut texts, begin) = (0, out.len());
    for block in &answer.content {
        match block {
            Block::Thinking { thinking_signature, .. } => {
                let item = thinking_signature.as_deref().and_then(reasoning_item);
                // A session may contain the same turn twice, but a request may contain an item only once.
                out.extend(item.filter(|(id, _)| ids.insert(id.clone())).map(|(_, item)| Item::AsItCame(item)));
            }
            Block::Text { text, text_signature } => {
                let fallback =
                    if texts == 0 { format!("msg_offshoot_{at}") } else { format!("msg_offshoot_{at}_{texts}") };
                texts += 1;
                let (id, phase) = text_signature.as_deref().map_or((None, None), signature);
                let id = match id {
                    Some(id) if id.len() > MAX_ID_CHARS => format!("msg_{}", short_hash(&id)),
                    Some(id) => id,
                    None => fallback,
                };
                let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
                out.push(Item::Made(Value::Object(object([
                    ("type", Some(json!("message"))),
                    ("role", Some(json!("assistant"))),
                    ("content", Some(content)),
                    ("status", Some(json!("completed"))),
                    ("id", ids.insert(id.clone()).then(|| json!(id))),
                    ("phase", phase.map(|phase| json!(phase))),
                ]))));
            }
            Block::ToolCall { id, name, arguments, .. } => {
                let (call, item) = id.split_once('|').map_or((id.as_str(), None), |(call, item)| (call, Some(item)));
                // The provider remembers which thought belongs to which item: another model's items are not named.
                let item = item.filter(|item| item.starts_with("fc_") && !other_model);
                let item = item.filter(|item| ids.insert((*item).to_owned()));
                out.push(Item::Made(Value::Object(object([
                    ("type", Some(json!("function_call"))),
                    ("id", item.map(|item| json!(item))),
                    ("call_id", Some(json!(call))),
                    ("name", Some(json!(name))),
                    ("arguments", Some(json!(arguments.to_string()))),
                ]))));
            }
            Block::Image { .. } => {}
        }
    }
    // A thought is refused if nothing of its answer follows.
    while out.len() > begin && matches!(out.last(), Some(Item::AsItCame(_))) {
        out.pop();
    }
}

/// The reasoning item in a signature, and its id.
fn reasoning_item(signature: &str) -> Option<(String, Box<RawValue>)> {
    let signature = lenient_json::strict_text(signature).ok()?;
    let item: Map<String, Value> = serde_json::from_str(&signature).ok()?;
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    let id = text("id").filter(|_| text("type") == Some("reasoning"))?.to_owned();
    Some((id, RawValue::from_string(signature.into_owned()).ok()?))
}

/// The id and phase in the signature of a text: an object of version 1, or only the id.
fn signature(text: &str) -> (Option<String>, Option<String>) {
    let Ok(object) = lenient_json::from_str::<Map<String, Value>>(text) else { return (Some(text.to_owned()), None) };
    let member = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    (member("id"), member("phase"))
}
