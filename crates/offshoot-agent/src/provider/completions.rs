//! OpenAI Chat Completions and compatible servers: request body and stream. Knows no client and no key.

use offshoot_protocol::message::{AssistantMessage, Block, Content, Message};
use offshoot_protocol::model::Model;
use offshoot_protocol::{CacheRetention, ThinkingLevel};
use serde_json::{Map, Value, json};

use super::cache_mark::cache_mark;
use super::decoding::object;
use super::prepare::{CallRules, NameRule, images, joined, max_tokens, plain_id, prepare, short_hash};
use super::sampling::add_sampling;
use super::{Request, ToolSpec, anthropic};
use crate::lenient_json;

mod billed;
mod decode;
mod quirks;

pub(super) use decode::Decoder;
use quirks::Quirks;

/// OpenAI's limit of call ids.
const LONGEST_ID: usize = 40;
/// The tokens that thinking leaves for the answer.
const ROOM: u64 = 1024;
/// The limit of cache keys.
const LONGEST_KEY: usize = 64;
/// The members in which servers send thinking.
const THINKING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

pub(super) fn body(request: &Request) -> String {
    let model = &request.model;
    let quirks = Quirks::of(model);
    let mut messages = messages(request, &quirks);
    let accepted = request.tools.iter().filter(|_| !model.compat.refuses_tools);
    let mut tools: Vec<Value> = accepted.map(|spec| tool(spec, model)).collect();
    let cache = cache_mark(model, quirks.long_cache).filter(|_| quirks.anthropic_cache);
    if let Some(cache) = cache {
        mark(&mut messages, &mut tools, &cache);
    }
    let has_calls = messages.iter().any(|message| message.get("tool_calls").is_some() || message["role"] == "tool");
    let is_long = model.cache_retention == CacheRetention::Long && quirks.long_cache;
    let has_cache_key = match model.compat.prompt_cache_key_mode.as_deref() {
        _ if model.cache_retention == CacheRetention::None => false,
        Some("enabled") => true,
        Some("disabled") => false,
        _ => is_long || model.base_url.contains("api.openai.com"),
    };
    let cache_key = request.session_id.as_ref().filter(|_| has_cache_key);
    let limit = max_tokens(request);
    let mut body = object([
        ("model", Some(json!(model.sent_name()))),
        ("stream", Some(json!(true))),
        ("prompt_cache_key", cache_key.map(|key| json!(key.chars().take(LONGEST_KEY).collect::<String>()))),
        ("prompt_cache_retention", is_long.then(|| json!("24h"))),
        ("stream_options", quirks.usage.then(|| json!({"include_usage": true}))),
        ("store", quirks.store.then(|| json!(false))),
        (&quirks.limit, Some(json!(limit))),
        ("tool_stream", (model.compat.zai_tool_stream == Some(true) && !tools.is_empty()).then(|| json!(true))),
        ("priority", model.compat.vllm_priority.clone()),
        ("provider", model.compat.open_router_routing.clone()),
        ("providerOptions", gateway(model)),
        // Proxies to Anthropic require the member if the conversation has calls.
        ("tools", (!tools.is_empty() || has_calls).then_some(Value::Array(tools))),
    ]);
    let budget = thinking_budget(request, limit);
    thinking(request, &quirks, budget, &mut body);
    if let (Some(field), Some(budget)) = (&quirks.budget, budget) {
        body.insert(field.clone(), json!(budget));
    }
    body.insert("messages".to_owned(), Value::Array(messages));
    add_sampling(&mut body, model, request.thinking);
    Value::Object(body).to_string()
}

fn tool(tool: &ToolSpec, model: &Model) -> Value {
    let strict = (model.compat.supports_strict_mode == Some(true)).then(|| json!(false));
    let function = object([
        ("name", Some(json!(tool.name))),
        ("description", Some(json!(tool.description))),
        ("parameters", Some(tool.parameters.clone())),
        ("strict", strict),
    ]);
    json!({"type": "function", "function": function})
}

/// The choice of servers of Vercel's gateway.
fn gateway(model: &Model) -> Option<Value> {
    let routing = model.compat.vercel_gateway_routing.as_ref()?;
    let members = object(["only", "order"].map(|name| (name, routing.get(name).cloned())));
    (!members.is_empty()).then(|| json!({"gateway": members}))
}

/// The tokens of thinking, so that the answer has room, too; `None` without thinking or without room.
fn thinking_budget(request: &Request, limit: u64) -> Option<u64> {
    let model = &request.model;
    let level = model.clamp(request.thinking);
    let is_on = model.reasoning && level != ThinkingLevel::Off;
    let wanted = is_on.then(|| model.budgets.of(level).unwrap_or_else(|| anthropic::budget(level)))?;
    Some(wanted.min(limit.saturating_sub(ROOM))).filter(|budget| *budget > 0)
}

/// The values for a server's chat template: `{"$var": NAME}` is the switch, the level or the budget of thinking.
fn template_values(values: Option<&Value>, request: &Request, budget: Option<u64>) -> Option<Value> {
    let model = &request.model;
    let level = model.clamp(request.thinking);
    let is_on = level != ThinkingLevel::Off;
    let value = |given: &Value| {
        let Some(variable) = given.get("$var").and_then(Value::as_str) else { return Some(given.clone()) };
        if !is_on && given.get("omitWhenOff") == Some(&Value::Bool(true)) {
            return None;
        }
        match variable {
            "thinking.enabled" => Some(json!(is_on)),
            "thinking.budget" => budget.map(|budget| json!(budget)),
            _ if is_on => Some(json!(model.effort(level))),
            _ => model.off().filter(|name| !name.is_empty()).map(|name| json!(name)),
        }
    };
    let filled = values?.as_object()?.iter().filter_map(|(name, given)| Some((name.clone(), value(given)?)));
    let filled: Map<String, Value> = filled.collect();
    (!filled.is_empty()).then_some(Value::Object(filled))
}

fn thinking(request: &Request, quirks: &Quirks, budget: Option<u64>, body: &mut Map<String, Value>) {
    let model = &request.model;
    if !model.reasoning {
        return;
    }
    let level = model.clamp(request.thinking);
    let on = level != ThinkingLevel::Off;
    let effort = (on && quirks.effort).then(|| json!(model.effort(level)));
    let switch = |on: bool| json!({"type": if on { "enabled" } else { "disabled" }});
    let off = model.off();
    let members = match quirks.thinking.as_str() {
        "deepseek" => [("thinking", (on || off.is_some()).then(|| switch(on))), ("reasoning_effort", effort)],
        "zai" => {
            let thinking = if on { json!({"type": "enabled", "clear_thinking": false}) } else { switch(false) };
            [("thinking", Some(thinking)), ("reasoning_effort", effort)]
        }
        "qwen" => [("enable_thinking", Some(json!(on))), ("reasoning_effort", effort)],
        "qwen-chat-template" => {
            let template = json!({"enable_thinking": on, "preserve_thinking": true});
            [("chat_template_kwargs", Some(template)), ("reasoning_effort", None)]
        }
        "chat-template" => {
            let values = template_values(model.compat.chat_template_kwargs.as_ref(), request, budget);
            [("chat_template_kwargs", values), ("reasoning_effort", None)]
        }
        "baseten" => {
            let values = template_values(model.compat.chat_template_args.as_ref(), request, budget);
            let off = off.filter(|name| !on && quirks.effort && !name.is_empty()).map(|name| json!(name));
            [("chat_template_args", values), ("reasoning_effort", effort.or(off))]
        }
        "ant-ling" => {
            let named = model.named(level).filter(|_| on);
            [("reasoning", named.map(|name| json!({"effort": name}))), ("reasoning_effort", None)]
        }
        "openrouter" => {
            let named = if on {
                Some(model.effort(level))
            } else {
                off.map(|name| if name.is_empty() { "none" } else { name })
            };
            [("reasoning", named.map(|name| json!({"effort": name}))), ("reasoning_effort", None)]
        }
        "together" => [("reasoning", Some(json!({"enabled": on}))), ("reasoning_effort", effort)],
        "string-thinking" => {
            let named = if on {
                Some(model.effort(level))
            } else {
                off.map(|name| if name.is_empty() { "none" } else { name })
            };
            [("thinking", named.map(|name| json!(name))), ("reasoning_effort", None)]
        }
        _ => {
            let off = off.filter(|name| !on && quirks.effort && !name.is_empty()).map(|name| json!(name));
            [("reasoning_effort", effort.or(off)), ("reasoning", None)]
        }
    };
    body.extend(object(members));
}

/// An id for another model's call: the two halves of a Responses id are joined.
fn foreign_id(id: &str, model: &Model) -> String {
    let Some((call, item)) = id.split_once('|') else {
        return if model.provider == "openai" { id.chars().take(LONGEST_ID).collect() } else { id.to_owned() };
    };
    let (call, item) = (plain_id(call, usize::MAX), plain_id(item, usize::MAX));
    let both = if item.is_empty() { call.clone() } else { format!("{call}_{item}") };
    if both.len() <= LONGEST_ID {
        return both;
    }
    let hash: String = short_hash(id).chars().take(8).collect();
    let head: String = call.chars().take(LONGEST_ID - hash.len() - 1).collect();
    format!("{head}_{hash}")
}

/// The messages as they are sent, but for cache marks.
pub(super) fn items(request: &Request) -> Vec<Value> {
    messages(request, &Quirks::of(&request.model))
}

fn messages(request: &Request, quirks: &Quirks) -> Vec<Value> {
    let model = &request.model;
    let rules = CallRules {
        fit_id: &|id, _| foreign_id(id, model),
        accepts_id: &|id| !id.is_empty() && (model.provider != "openai" || id.chars().count() <= LONGEST_ID),
        names: NameRule { marks: "_-", longest: 64, begins_with_letter: false },
    };
    let prepared = prepare(&request.messages, model, rules);
    let mut out = Vec::new();
    if !request.system.is_empty() {
        let role = if model.reasoning && quirks.developer { "developer" } else { "system" };
        out.push(json!({"role": role, "content": request.system}));
    }
    let mut pictures: Vec<Value> = Vec::new();
    let mut after_result = false;
    for message in &prepared {
        if let Message::ToolResult(result) = message {
            let seen = images(&result.content);
            let text = joined(&result.content);
            let text = match (text.is_empty(), seen.is_empty()) {
                (false, _) => text.as_str(),
                (true, false) => "(see attached image)",
                (true, true) => "(no tool output)",
            };
            out.push(Value::Object(object([
                ("role", Some(json!("tool"))),
                ("content", Some(json!(text))),
                ("tool_call_id", Some(json!(result.tool_call_id))),
                ("name", quirks.result_name.then(|| json!(result.tool_name))),
            ])));
            pictures.extend(seen.into_iter().map(|(mime_type, data)| picture(mime_type, data)));
            after_result = true;
            continue;
        }
        after_result &= !show(&mut pictures, quirks, &mut out);
        let is_user = matches!(message, Message::User(_));
        if std::mem::take(&mut after_result) && is_user && quirks.bridge {
            out.push(bridge());
        }
        match message {
            Message::User(user) => out.extend(user_message(&user.content)),
            Message::Assistant(answer) => out.extend(assistant_message(answer, model, quirks)),
            // Prepared as a message of the user.
            Message::ToolResult(_) | Message::Custom(_) => {}
        }
    }
    show(&mut pictures, quirks, &mut out);
    out
}

/// Appends images of results as a user message, because results cannot contain them. Returns whether there were any.
fn show(pictures: &mut Vec<Value>, quirks: &Quirks, out: &mut Vec<Value>) -> bool {
    if pictures.is_empty() {
        return false;
    }
    if quirks.bridge {
        out.push(bridge());
    }
    let mut content = vec![json!({"type": "text", "text": "Attached image(s) from tool result:"})];
    content.append(pictures);
    out.push(json!({"role": "user", "content": content}));
    true
}

fn bridge() -> Value {
    json!({"role": "assistant", "content": "I have processed the tool results."})
}

fn picture(mime_type: &str, data: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": format!("data:{mime_type};base64,{data}")}})
}

fn user_message(content: &Content) -> Option<Value> {
    match content {
        Content::Text(text) => Some(json!({"role": "user", "content": text})),
        Content::Blocks(blocks) => {
            let part = |block: &Block| match block {
                Block::Text { text, .. } => (!text.is_empty()).then(|| json!({"type": "text", "text": text})),
                Block::Image { data, mime_type } => Some(picture(mime_type, data)),
                Block::Thinking { .. } | Block::ToolCall { .. } => None,
            };
            let parts: Vec<Value> = blocks.iter().filter_map(part).collect();
            (!parts.is_empty()).then(|| json!({"role": "user", "content": parts}))
        }
    }
}

fn assistant_message(answer: &AssistantMessage, model: &Model, quirks: &Quirks) -> Option<Value> {
    let mut text = String::new();
    let mut thoughts: Vec<(&str, &str)> = Vec::new();
    let mut details = None;
    let mut calls = Vec::new();
    for block in &answer.content {
        match block {
            Block::Text { text: more, .. } if !more.trim().is_empty() => text.push_str(more),
            Block::Thinking { thinking, thinking_signature, .. } => {
                let signature = thinking_signature.as_deref().unwrap_or_default();
                details = details.or_else(|| reasoning_details(signature));
                if !thinking.trim().is_empty() {
                    thoughts.push((thinking, signature));
                }
            }
            Block::ToolCall { id, name, arguments, .. } => {
                let function = json!({"name": name, "arguments": arguments.to_string()});
                calls.push(json!({"id": id, "type": "function", "function": function}));
            }
            Block::Text { .. } | Block::Image { .. } => {}
        }
    }
    let thinking = |between: &str| thoughts.iter().map(|(thought, _)| *thought).collect::<Vec<_>>().join(between);
    let content = match (quirks.thinking_as_text && !thoughts.is_empty(), text.is_empty()) {
        (true, true) => json!(thinking("\n\n")),
        (true, false) => json!(format!("{}\n\n{text}", thinking("\n\n"))),
        (false, false) => json!(text),
        (false, true) if quirks.empty_content => json!(""),
        (false, true) => Value::Null,
    };
    if content.as_str().is_none_or(str::is_empty) && calls.is_empty() {
        return None;
    }
    let mut message = object([
        ("role", Some(json!("assistant"))),
        ("content", Some(content)),
        ("tool_calls", (!calls.is_empty()).then_some(Value::Array(calls))),
    ]);
    // The signature of plain thinking is the name of its member.
    let member = thoughts.first().and_then(|(_, signature)| THINKING.into_iter().find(|name| name == signature));
    if let (Some(member), None, false) = (member, &details, quirks.thinking_as_text) {
        message.insert(member.to_owned(), json!(thinking("\n")));
    }
    message.extend(object([("reasoning_details", details)]));
    if quirks.always_reasoning && model.reasoning && !message.contains_key("reasoning_content") {
        message.insert("reasoning_content".to_owned(), json!(""));
    }
    Some(Value::Object(message))
}

/// The signature as a router's structured reasoning, if it is that.
fn reasoning_details(signature: &str) -> Option<Value> {
    let known = |detail: &Value| {
        let kind = detail.get("type").and_then(Value::as_str);
        kind.is_some_and(|kind| kind.starts_with("reasoning."))
    };
    let details: Vec<Value> = lenient_json::from_str(signature).ok()?;
    (!details.is_empty() && details.iter().all(known)).then_some(Value::Array(details))
}

/// Sets Anthropic's cache marks: on the system prompt, the last tool and the last message with text.
fn mark(messages: &mut [Value], tools: &mut [Value], cache: &Value) {
    if let Some(system) = messages.iter_mut().find(|message| is_role(message, &["system", "developer"])) {
        mark_text(system, cache);
    }
    if let Some(tool) = tools.last_mut().and_then(Value::as_object_mut) {
        tool.insert("cache_control".to_owned(), cache.clone());
    }
    let mut rest = messages.iter_mut().rev().filter(|message| is_role(message, &["user", "assistant", "tool"]));
    rest.any(|message| mark_text(message, cache));
}

fn is_role(message: &Value, roles: &[&str]) -> bool {
    message.get("role").and_then(Value::as_str).is_some_and(|role| roles.contains(&role))
}

fn mark_text(message: &mut Value, cache: &Value) -> bool {
    let Some(content) = message.get_mut("content") else { return false };
    if let Some(text) = content.as_str().filter(|text| !text.is_empty()) {
        *content = json!([{"type": "text", "text": text, "cache_control": cache}]);
        return true;
    }
    let parts = content.as_array_mut().into_iter().flatten();
    let text = parts.rev().find(|part| part.get("type").is_some_and(|kind| kind == "text"));
    let Some(part) = text.and_then(Value::as_object_mut) else { return false };
    part.insert("cache_control".to_owned(), cache.clone());
    true
}
