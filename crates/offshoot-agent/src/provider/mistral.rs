//! Mistral's Chat Completions: request body and stream. Knows no client and no key.

use std::collections::{HashMap, HashSet};

use offshoot_protocol::message::{AssistantMessage, Block, Content, Message, ToolResultMessage};
use offshoot_protocol::{CacheRetention, ThinkingLevel};
use serde_json::{Value, json};

use super::decoding::object;
use super::prepare::{CallRules, NameRule, images, joined, max_tokens, prepare, short_hash};
use super::{Request, ToolSpec};

mod decode;

pub(super) use decode::Decoder;

/// The length of call ids.
const ID_LENGTH: usize = 9;

pub(super) fn body(request: &Request) -> String {
    let tools: Vec<Value> = request.tools.iter().map(tool).collect();
    let (effort, mode) = thinking(request);
    let is_cached = request.model.cache_retention != CacheRetention::None;
    let body = object([
        ("model", Some(json!(request.model.id))),
        ("stream", Some(json!(true))),
        ("prompt_cache_key", request.session_id.as_ref().filter(|_| is_cached).map(|id| json!(id))),
        ("max_tokens", Some(json!(max_tokens(request)))),
        ("reasoning_effort", effort.map(|effort| json!(effort))),
        ("prompt_mode", mode.map(|mode| json!(mode))),
        ("tools", (!tools.is_empty()).then_some(Value::Array(tools))),
        ("messages", Some(Value::Array(items(request)))),
    ]);
    Value::Object(body).to_string()
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, parameters } = tool;
    let function = json!({"name": name, "description": description, "parameters": parameters, "strict": false});
    json!({"type": "function", "function": function})
}

/// The effort, for models with names of levels, and the mode of the prompt, for others that think.
fn thinking(request: &Request) -> (Option<&str>, Option<&'static str>) {
    let model = &request.model;
    let level = model.clamp(request.thinking);
    let is_on = request.thinking != ThinkingLevel::Off && level != ThinkingLevel::Off;
    match (model.reasoning, model.levels.is_empty(), is_on) {
        (false, ..) | (true, true, false) => (None, None),
        (true, true, true) => (None, Some("reasoning")),
        (true, false, true) => (Some(model.named(level).unwrap_or("high")), None),
        (true, false, false) => (model.named(ThinkingLevel::Off).filter(|name| !name.is_empty()), None),
    }
}

/// The ids of calls in one request: Mistral takes nine letters and digits.
#[derive(Default)]
struct CallIds {
    known: HashMap<String, String>,
    taken: HashSet<String>,
}

impl CallIds {
    fn fit(&mut self, id: &str) -> String {
        if let Some(known) = self.known.get(id) {
            return known.clone();
        }
        let is_fine = id.len() == ID_LENGTH && id.chars().all(|c| c.is_ascii_alphanumeric());
        let mut fitted = if is_fine { id.to_owned() } else { short(id) };
        let mut attempt = 1;
        while !self.taken.insert(fitted.clone()) {
            fitted = short(&format!("{id}:{attempt}"));
            attempt += 1;
        }
        self.known.insert(id.to_owned(), fitted.clone());
        fitted
    }
}

fn short(id: &str) -> String {
    short_hash(id).chars().take(ID_LENGTH).collect()
}

/// The messages as they are sent.
pub(super) fn items(request: &Request) -> Vec<Value> {
    let rules = CallRules {
        fit_id: &|id, _| id.to_owned(),
        accepts_id: &|_| true,
        names: NameRule { marks: "_-", longest: 64, begins_with_letter: false },
    };
    let prepared = prepare(&request.messages, &request.model, rules);
    let mut ids = CallIds::default();
    let system = (!request.system.is_empty()).then(|| json!({"role": "system", "content": request.system}));
    let message = |message: &Message| match message {
        Message::User(user) => user_message(&user.content),
        Message::Assistant(answer) => assistant_message(answer, &mut ids),
        Message::ToolResult(result) => Some(tool_message(result, &mut ids)),
        // Prepared as a message of the user.
        Message::Custom(_) => None,
    };
    system.into_iter().chain(prepared.iter().filter_map(message)).collect()
}

fn picture((mime_type, data): (&str, &str)) -> Value {
    json!({"type": "image_url", "image_url": format!("data:{mime_type};base64,{data}")})
}

fn user_message(content: &Content) -> Option<Value> {
    match content {
        Content::Text(text) => Some(json!({"role": "user", "content": text})),
        Content::Blocks(blocks) => {
            let part = |block: &Block| match block {
                Block::Text { text, .. } => Some(json!({"type": "text", "text": text})),
                Block::Image { data, mime_type } => Some(picture((mime_type, data))),
                Block::Thinking { .. } | Block::ToolCall { .. } => None,
            };
            let parts: Vec<Value> = blocks.iter().filter_map(part).collect();
            (!parts.is_empty()).then(|| json!({"role": "user", "content": parts}))
        }
    }
}

fn assistant_message(answer: &AssistantMessage, ids: &mut CallIds) -> Option<Value> {
    let (mut parts, mut calls) = (Vec::new(), Vec::new());
    for block in &answer.content {
        match block {
            Block::Text { text, .. } if !text.trim().is_empty() => parts.push(json!({"type": "text", "text": text})),
            Block::Thinking { thinking, .. } if !thinking.trim().is_empty() => {
                parts.push(json!({"type": "thinking", "thinking": [{"type": "text", "text": thinking}]}));
            }
            Block::ToolCall { id, name, arguments, .. } => {
                let function = json!({"name": name, "arguments": arguments.to_string()});
                calls.push(json!({"id": ids.fit(id), "type": "function", "function": function, "index": 0}));
            }
            Block::Text { .. } | Block::Thinking { .. } | Block::Image { .. } => {}
        }
    }
    if parts.is_empty() && calls.is_empty() {
        return None;
    }
    Some(Value::Object(object([
        ("role", Some(json!("assistant"))),
        ("prefix", Some(json!(false))),
        ("content", (!parts.is_empty()).then_some(Value::Array(parts))),
        ("tool_calls", (!calls.is_empty()).then_some(Value::Array(calls))),
    ])))
}

fn tool_message(result: &ToolResultMessage, ids: &mut CallIds) -> Value {
    let seen = images(&result.content);
    let text = joined(&result.content);
    let text = match (text.trim(), seen.is_empty()) {
        ("", false) => "(see attached image)",
        ("", true) => "(no tool output)",
        (text, _) => text,
    };
    let mark = if result.is_error { "[tool error] " } else { "" };
    let mut content = vec![json!({"type": "text", "text": format!("{mark}{text}")})];
    content.extend(seen.into_iter().map(picture));
    let id = ids.fit(&result.tool_call_id);
    json!({"role": "tool", "tool_call_id": id, "name": result.tool_name, "content": content})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_nine_letters_and_digits_and_stay_apart() {
        let mut ids = CallIds::default();
        assert_eq!(ids.fit("aB3dE5gH9"), "aB3dE5gH9");
        let long = ids.fit("call_1|fc_1");
        assert!(long.len() == ID_LENGTH && long.chars().all(|c| c.is_ascii_alphanumeric()), "{long}");
        assert_eq!(ids.fit("call_1|fc_1"), long, "a result has the id of its call");
        // An id of Mistral's own that is the short form of another one.
        let short = short("call_2");
        assert_eq!(ids.fit(&short), short);
        assert_ne!(ids.fit("call_2"), short);
    }
}
