//! Google Generative AI: request body and stream. Knows no client and no key.

use offshoot_protocol::ThinkingLevel;
use offshoot_protocol::message::{AssistantMessage, Block, Content, Message, ToolResultMessage};
use offshoot_protocol::model::Model;
use serde_json::{Map, Value, json};

use super::decoding::object;
use super::prepare::{CallRules, NO_PROMPT, NameRule, images, is_plain_id, joined, max_tokens, plain_id, prepare};
use super::{Request, ToolSpec};

mod decode;

pub(super) use decode::Decoder;

const MAX_ID_CHARS: usize = 64;

pub(super) fn body(request: &Request) -> String {
    let model = &request.model;
    let contents = contents(request);
    let tools: Vec<Value> = request.tools.iter().map(tool).collect();
    let system = (!request.system.is_empty()).then(|| json!({"role": "user", "parts": [{"text": request.system}]}));
    let config = object([
        ("maxOutputTokens", Some(json!(max_tokens(request)))),
        ("thinkingConfig", thinking(model, request.thinking)),
    ]);
    let body = object([
        ("systemInstruction", system),
        ("tools", (!tools.is_empty()).then(|| json!([{"functionDeclarations": tools}]))),
        ("generationConfig", Some(Value::Object(config))),
        ("contents", Some(Value::Array(contents))),
    ]);
    Value::Object(body).to_string()
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters})
}

/// Newer models take a level, older ones a number of tokens.
fn thinking(model: &Model, level: ThinkingLevel) -> Option<Value> {
    if !model.reasoning {
        return None;
    }
    let wanted = level != ThinkingLevel::Off;
    let level = model.clamp(level);
    let on = level != ThinkingLevel::Off;
    if has_levels(&model.id) {
        let named = on.then(|| model.effort(level).to_uppercase());
        return Some(match (wanted && on, named) {
            (true, named) => json!({"includeThoughts": true, "thinkingLevel": named}),
            // It cannot be turned off: the lowest level.
            (false, Some(named)) => json!({"thinkingLevel": named}),
            (false, None) => json!({"thinkingBudget": 0}),
        });
    }
    Some(if wanted && on {
        {
            let own = model.budgets.of(level).and_then(|tokens| i64::try_from(tokens).ok());
            json!({"includeThoughts": true, "thinkingBudget": own.unwrap_or_else(|| budget(&model.id, level))})
        }
    } else {
        json!({"thinkingBudget": 0})
    })
}

fn has_levels(id: &str) -> bool {
    let id = id.to_lowercase();
    let three = id.split_once("gemini-3").is_some_and(|(_, rest)| {
        let rest = rest.strip_prefix('.').map_or(rest, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        rest.starts_with("-pro") || rest.starts_with("-flash")
    });
    let latest = ["gemini-flash-latest", "gemini-flash-lite-latest"].contains(&id.as_str());
    let later = id.split_once("gemini-").is_some_and(|(_, rest)| {
        let digits = rest.chars().take_while(char::is_ascii_digit).count();
        digits > 1 && !rest.starts_with('0') || rest.starts_with(['4', '5', '6', '7', '8', '9'])
    });
    three || later || latest || id.contains("gemma-4") || id.contains("gemma4")
}

fn budget(id: &str, level: ThinkingLevel) -> i64 {
    let (least, most) = match () {
        () if id.contains("2.5-pro") => (128, 32768),
        () if id.contains("2.5-flash-lite") => (512, 24576),
        () if id.contains("2.5-flash") => (128, 24576),
        // The model chooses.
        () => return -1,
    };
    match level {
        ThinkingLevel::Off | ThinkingLevel::Minimal => least,
        ThinkingLevel::Low => 2048,
        ThinkingLevel::Medium => 8192,
        ThinkingLevel::High | ThinkingLevel::XHigh | ThinkingLevel::Max => most,
    }
}

fn generation(id: &str) -> Option<u32> {
    let id = id.to_lowercase();
    let rest = id.strip_prefix("gemini-")?;
    let rest = rest.strip_prefix("live-").unwrap_or(rest);
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Whether calls and results have ids.
fn has_ids(id: &str) -> bool {
    id.starts_with("claude-") || id.starts_with("gpt-oss-") || generation(id).is_some_and(|number| number >= 3)
}

pub(super) fn contents(request: &Request) -> Vec<Value> {
    let model = &request.model;
    let has_ids = has_ids(&model.id);
    let rules = CallRules {
        fit_id: &|id, _| if has_ids { plain_id(id, MAX_ID_CHARS) } else { id.to_owned() },
        accepts_id: &|id| !has_ids || is_plain_id(id, MAX_ID_CHARS),
        names: NameRule { marks: "_.:-", longest: 64, begins_with_letter: true },
    };
    let prepared = prepare(&request.messages, model, rules);
    let mut out: Vec<Value> = Vec::new();
    // The results of a turn share one message; images that results cannot contain follow it.
    let mut results: Vec<Value> = Vec::new();
    let mut pictures: Vec<Value> = Vec::new();
    for message in &prepared {
        if let Message::ToolResult(result) = message {
            results.push(tool_result(result, model, &mut pictures));
            continue;
        }
        show(&mut results, &mut pictures, &mut out);
        let (role, parts) = match message {
            Message::User(user) => ("user", user_parts(&user.content)),
            Message::Assistant(answer) => ("model", model_parts(answer, model)),
            // Prepared as a message of the user.
            Message::ToolResult(_) | Message::Custom(_) => continue,
        };
        match last_model_parts(role, &mut out) {
            Some(earlier) => earlier.extend(parts),
            None if !parts.is_empty() => out.push(json!({"role": role, "parts": parts})),
            None => {}
        }
    }
    show(&mut results, &mut pictures, &mut out);
    if out.first().is_some_and(|first| first.get("role").is_some_and(|role| role == "model")) {
        out.insert(0, json!({"role": "user", "parts": [{"text": NO_PROMPT}]}));
    }
    out
}

/// The parts that another answer continues: a call is refused if the content before it is the model's.
fn last_model_parts<'a>(role: &str, out: &'a mut [Value]) -> Option<&'a mut Vec<Value>> {
    let last = out.last_mut().filter(|last| role == "model" && last.get("role").is_some_and(|role| role == "model"))?;
    last.get_mut("parts")?.as_array_mut()
}

fn show(results: &mut Vec<Value>, pictures: &mut Vec<Value>, out: &mut Vec<Value>) {
    if !results.is_empty() {
        out.push(json!({"role": "user", "parts": std::mem::take(results)}));
    }
    if !pictures.is_empty() {
        let mut parts = vec![json!({"text": "Tool result image:"})];
        parts.append(pictures);
        out.push(json!({"role": "user", "parts": parts}));
    }
}

fn picture(mime_type: &str, data: &str) -> Value {
    json!({"inlineData": {"mimeType": mime_type, "data": data}})
}

fn user_parts(content: &Content) -> Vec<Value> {
    match content {
        Content::Text(text) => vec![json!({"text": text})],
        Content::Blocks(blocks) => {
            let part = |block: &Block| match block {
                Block::Text { text, .. } => Some(json!({"text": text})),
                Block::Image { data, mime_type } => Some(picture(mime_type, data)),
                Block::Thinking { .. } | Block::ToolCall { .. } => None,
            };
            blocks.iter().filter_map(part).collect()
        }
    }
}

fn model_parts(answer: &AssistantMessage, model: &Model) -> Vec<Value> {
    let mut parts = Vec::new();
    for block in &answer.content {
        let (part, signature) = match block {
            Block::Text { text, text_signature } => {
                let signature = signed(text_signature);
                if text.trim().is_empty() && signature.is_none() {
                    continue;
                }
                (object([("text", Some(json!(text)))]), signature)
            }
            Block::Thinking { thinking, thinking_signature, .. } => {
                let signature = signed(thinking_signature);
                if thinking.trim().is_empty() && signature.is_none() {
                    continue;
                }
                (object([("thought", Some(json!(true))), ("text", Some(json!(thinking)))]), signature)
            }
            Block::ToolCall { id, name, arguments, thought_signature, .. } => {
                let id = has_ids(&model.id).then(|| json!(id));
                let call = object([("name", Some(json!(name))), ("args", Some(arguments.clone())), ("id", id)]);
                (object([("functionCall", Some(Value::Object(call)))]), signed(thought_signature))
            }
            Block::Image { .. } => continue,
        };
        let mut part: Map<String, Value> = part;
        part.extend(object([("thoughtSignature", signature.map(|signature| json!(signature)))]));
        parts.push(Value::Object(part));
    }
    parts
}

/// A signature that Google accepts: base64.
fn signed(signature: &Option<String>) -> Option<&str> {
    let base64 = |text: &&str| {
        let body = text.trim_end_matches('=');
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/');
        !body.is_empty() && text.len().is_multiple_of(4) && text.len() - body.len() <= 2 && body.chars().all(plain)
    };
    signature.as_deref().filter(base64)
}

/// Images become part of the result or, for models that cannot take them there, go to `pictures`.
fn tool_result(result: &ToolResultMessage, model: &Model, pictures: &mut Vec<Value>) -> Value {
    let seen: Vec<Value> = images(&result.content).into_iter().map(|(mime, data)| picture(mime, data)).collect();
    let text = joined(&result.content);
    let text = if text.is_empty() && !seen.is_empty() { "(see attached image)" } else { text.as_str() };
    let response = if result.is_error { json!({"error": text}) } else { json!({"output": text}) };
    let inside = generation(&model.id).is_none_or(|number| number >= 3);
    let (inner, outer) = if inside { (seen, Vec::new()) } else { (Vec::new(), seen) };
    pictures.extend(outer);
    let function = object([
        ("name", Some(json!(result.tool_name))),
        ("response", Some(response)),
        ("parts", (!inner.is_empty()).then_some(Value::Array(inner))),
        ("id", has_ids(&model.id).then(|| json!(result.tool_call_id))),
    ]);
    json!({"functionResponse": function})
}
