//! Bedrock's ConverseStream: request body and stream. Knows no client, no key and no signature.

use offshoot_protocol::message::{AssistantMessage, Block, Content, Message, ToolResultMessage};
use offshoot_protocol::model::Model;
use offshoot_protocol::{CacheRetention, ThinkingLevel};
use serde_json::{Map, Value, json};

use super::address::percent_encoded;
use super::anthropic::{budget, pictures_of_failure, without_pictures};
use super::decoding::object;
use super::prepare::{CallRules, NO_PROMPT, NameRule, is_plain_id, max_tokens, plain_id, prepare};
use super::{Request, ToolSpec};

mod decode;
mod family;

pub(super) use decode::Decoder;
use family::{Family, has_binding, has_cache, has_xhigh, is_adaptive};

/// The limit of call ids, which are letters, digits, `_` and `-`.
const LONGEST_ID: usize = 64;
/// In the place of a text that must not be blank.
const BLANK: &str = "<empty>";
/// The text of a thought that the service hides.
const REDACTED: &str = "[Reasoning redacted]";
/// The tokens that thinking leaves for the answer.
const ANSWER: u64 = 1024;

pub(super) fn body(request: &Request) -> String {
    let model = &request.model;
    let mut limit = max_tokens(request);
    let fields = thinking(request, &mut limit);
    let mut messages = messages(request);
    let mut system = vec![json!({"text": request.system})];
    if let Some(point) = cache_point(model) {
        system.push(point.clone());
        mark_last(&mut messages, point);
    }
    let tools: Vec<Value> = request.tools.iter().map(tool).collect();
    let body = object([
        ("inferenceConfig", Some(json!({"maxTokens": limit}))),
        ("additionalModelRequestFields", fields),
        ("system", (!request.system.is_empty()).then_some(Value::Array(system))),
        ("toolConfig", (!tools.is_empty()).then(|| json!({"tools": tools}))),
        ("messages", Some(Value::Array(messages))),
    ]);
    Value::Object(body).to_string()
}

/// The path of a model's stream. An id may be an ARN, with colons and slashes.
pub(super) fn path(model: &Model) -> String {
    format!("/model/{}/converse-stream", percent_encoded(&model.id))
}

/// The mark up to which the cache keeps a request.
fn cache_point(model: &Model) -> Option<Value> {
    let point = match model.cache_retention {
        CacheRetention::None => return None,
        CacheRetention::Short => json!({"type": "default"}),
        CacheRetention::Long => json!({"type": "default", "ttl": "1h"}),
    };
    has_cache(model).then(|| json!({"cachePoint": point}))
}

/// Everything before the end of the last message of the user may be cached.
fn mark_last(messages: &mut [Value], point: Value) {
    let last = messages.last_mut().filter(|last| last["role"] == "user");
    if let Some(content) = last.and_then(|last| last.get_mut("content")).and_then(Value::as_array_mut) {
        content.push(point);
    }
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, parameters } = tool;
    json!({"toolSpec": {"name": name, "description": description, "inputSchema": {"json": parameters}}})
}

/// The members by which each family thinks. A budget of tokens shares the answer's limit.
fn thinking(request: &Request, limit: &mut u64) -> Option<Value> {
    let model = &request.model;
    let level = model.clamp(request.thinking);
    if !model.reasoning || request.thinking == ThinkingLevel::Off || level == ThinkingLevel::Off {
        return None;
    }
    match Family::of(model) {
        Family::Claude if is_adaptive(model) => Some(adaptive(model, level)),
        Family::Claude => Some(budgeted(request, level, limit)),
        Family::GptOss => Some(json!({"reasoning_effort": low_to_high(level)})),
        Family::Gpt => {
            let usual = if level == ThinkingLevel::Minimal { "low" } else { level.as_str() };
            Some(json!({"reasoning": {"effort": model.named(level).unwrap_or(usual)}}))
        }
        Family::Other => None,
    }
}

fn low_to_high(level: ThinkingLevel) -> &'static str {
    match level {
        ThinkingLevel::Off | ThinkingLevel::Minimal | ThinkingLevel::Low => "low",
        ThinkingLevel::Medium => "medium",
        ThinkingLevel::High | ThinkingLevel::XHigh | ThinkingLevel::Max => "high",
    }
}

/// GovCloud refuses the newer members.
fn is_gov_cloud(model: &Model) -> bool {
    let id = model.id.to_lowercase();
    id.starts_with("us-gov.") || id.starts_with("arn:aws-us-gov:") || model.base_url.contains(".us-gov-")
}

/// The model decides how much to think. Thoughts are bound to the prompt and the tools that they were made with; without the
/// member for that, the service refuses a conversation whose tools have changed.
fn adaptive(model: &Model, level: ThinkingLevel) -> Value {
    let is_gov = is_gov_cloud(model);
    let is_bound = !is_gov && has_binding(model);
    let effort = match (level, model.named(level)) {
        (ThinkingLevel::XHigh, _) if has_xhigh(model) => "xhigh",
        (_, Some(name)) => name,
        (level, None) => low_to_high(level),
    };
    let thinking = object([
        ("type", Some(json!("adaptive"))),
        ("display", (!is_gov).then(|| json!("summarized"))),
        ("block_binding", is_bound.then(|| json!({"prefix_mismatch_behavior": "drop_block"}))),
    ]);
    Value::Object(object([
        ("thinking", Some(Value::Object(thinking))),
        ("output_config", Some(json!({"effort": effort}))),
        ("anthropic_beta", is_bound.then(|| json!(["thinking-binding-controls-2026-08-01"]))),
    ]))
}

fn budgeted(request: &Request, level: ThinkingLevel, limit: &mut u64) -> Value {
    let model = &request.model;
    let wanted = model.budgets.of(level).unwrap_or_else(|| budget(level));
    if request.max_tokens.is_some() {
        *limit = limit.saturating_add(wanted).min(model.max_tokens.max(*limit));
    }
    let tokens = wanted.min(limit.saturating_sub(ANSWER)).max(ANSWER);
    *limit = (*limit).max(tokens + 1);
    let thinking = object([
        ("type", Some(json!("enabled"))),
        ("budget_tokens", Some(json!(tokens))),
        ("display", (!is_gov_cloud(model)).then(|| json!("summarized"))),
    ]);
    json!({"thinking": thinking, "anthropic_beta": ["interleaved-thinking-2025-05-14"]})
}

/// The messages as they are sent, but for marks of the cache.
pub(super) fn messages(request: &Request) -> Vec<Value> {
    let model = &request.model;
    let rules = CallRules {
        fit_id: &|id, _| plain_id(id, LONGEST_ID),
        accepts_id: &|id| is_plain_id(id, LONGEST_ID),
        names: NameRule { marks: "_-", longest: 64, begins_with_letter: false },
    };
    let is_claude = Family::of(model) == Family::Claude;
    let mut out: Vec<Value> = Vec::new();
    // The results of a turn share one message; pictures that failed calls cannot have follow them.
    let (mut results, mut pictures): (Vec<Value>, Vec<Value>) = Default::default();
    for message in &prepare(&request.messages, model, rules) {
        if let Message::ToolResult(result) = message {
            results.push(tool_result(result, is_claude));
            if is_claude {
                pictures.extend(pictures_of_failure(result).iter().filter_map(block));
            }
            continue;
        }
        flush(&mut results, &mut pictures, &mut out);
        let (role, content) = match message {
            Message::User(user) => ("user", user_content(&user.content)),
            Message::Assistant(answer) => ("assistant", assistant_content(answer, is_claude)),
            // Prepared as a message of the user.
            Message::ToolResult(_) | Message::Custom(_) => continue,
        };
        if !content.is_empty() {
            out.push(json!({"role": role, "content": content}));
        }
    }
    flush(&mut results, &mut pictures, &mut out);
    if out.first().is_some_and(|first| first["role"] == "assistant") {
        out.insert(0, json!({"role": "user", "content": [{"text": NO_PROMPT}]}));
    }
    out
}

fn flush(results: &mut Vec<Value>, pictures: &mut Vec<Value>, out: &mut Vec<Value>) {
    if !results.is_empty() {
        results.append(pictures);
        out.push(json!({"role": "user", "content": std::mem::take(results)}));
    }
}

fn text(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"text": text}))
}

/// A text or a picture.
fn block(block: &Block) -> Option<Value> {
    match block {
        Block::Text { text: all, .. } => text(all),
        Block::Image { data, mime_type } => {
            let format = match mime_type.rsplit('/').next().unwrap_or_default() {
                "jpg" => "jpeg",
                format => format,
            };
            Some(json!({"image": {"format": format, "source": {"bytes": data}}}))
        }
        Block::Thinking { .. } | Block::ToolCall { .. } => None,
    }
}

fn not_empty(mut content: Vec<Value>) -> Vec<Value> {
    if content.is_empty() {
        content.push(json!({"text": BLANK}));
    }
    content
}

fn user_content(content: &Content) -> Vec<Value> {
    not_empty(match content {
        Content::Text(all) => text(all).into_iter().collect(),
        Content::Blocks(blocks) => blocks.iter().filter_map(block).collect(),
    })
}

fn tool_result(result: &ToolResultMessage, is_claude: bool) -> Value {
    let content: Vec<Value> = match result.is_error && is_claude {
        true => without_pictures(&result.content).iter().filter_map(block).collect(),
        false => result.content.iter().filter_map(block).collect(),
    };
    let status = if result.is_error { "error" } else { "success" };
    json!({"toolResult": {"toolUseId": result.tool_call_id, "content": not_empty(content), "status": status}})
}

fn assistant_content(answer: &AssistantMessage, is_claude: bool) -> Vec<Value> {
    let one = |block: &Block| match block {
        Block::Text { text: all, .. } => text(all),
        Block::Thinking { thinking_signature, redacted: Some(true), .. } => {
            let hidden = thinking_signature.as_deref().filter(|hidden| is_base64(hidden))?;
            Some(json!({"reasoningContent": {"redactedContent": hidden}}))
        }
        Block::Thinking { thinking, thinking_signature, .. } if !thinking.trim().is_empty() => {
            let signature = thinking_signature.as_deref().filter(|signature| !signature.trim().is_empty());
            match (is_claude, signature) {
                // Other families refuse the member, and Claude a thought without it.
                (false, _) => Some(json!({"reasoningContent": {"reasoningText": {"text": thinking}}})),
                (true, None) => text(thinking),
                (true, Some(signature)) => {
                    Some(json!({"reasoningContent": {"reasoningText": {"text": thinking, "signature": signature}}}))
                }
            }
        }
        Block::ToolCall { id, name, arguments, .. } => {
            Some(json!({"toolUse": {"toolUseId": id, "name": name, "input": named(arguments)}}))
        }
        Block::Thinking { .. } | Block::Image { .. } => None,
    };
    answer.content.iter().filter_map(one).collect()
}

fn is_base64(text: &str) -> bool {
    use base64::Engine as _;
    !text.is_empty() && base64::engine::general_purpose::STANDARD.decode(text).is_ok()
}

/// A value without members that have no name, which the service refuses.
fn named(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(named).collect()),
        Value::Object(members) => {
            let named = members.iter().filter(|(name, _)| !name.is_empty());
            Value::Object(named.map(|(name, value)| (name.clone(), self::named(value))).collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arn_is_one_part_of_the_path() {
        let model =
            Model { id: "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.x-v1:0".to_owned(), ..Model::default() };
        let expected = "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Feu.x-v1%3A0/converse-stream";
        assert_eq!(path(&model), expected);
    }

    #[test]
    fn members_without_a_name_are_left_out() {
        assert_eq!(named(&json!({"": 1, "a": [{"": 2, "b": 3}]})), json!({"a": [{"b": 3}]}));
    }
}
