//! Checks requests against the rules of their provider.

#![expect(missing_docs, reason = "the names say what they are")]

use std::collections::HashSet;

use serde_json::Value;

use super::script::{Reply, Say};
use super::seen::Seen;
use crate::provider::Api;

/// Ids and signatures of a reply that later requests must return unchanged.
#[derive(Debug, Clone)]
pub struct Issued {
    api: Api,
    model: String,
    calls: Vec<String>,
    signatures: Vec<String>,
}

impl Issued {
    /// Signatures of answers that the server did not give itself.
    pub fn signed(api: Api, model: &str, signatures: impl IntoIterator<Item = String>) -> Self {
        Self { api, model: model.to_owned(), calls: Vec::new(), signatures: signatures.into_iter().collect() }
    }

    pub(super) fn of(reply: &Reply, api: Api, model: &str) -> Self {
        let mut issued = Self { api, model: model.to_owned(), calls: Vec::new(), signatures: Vec::new() };
        for say in &reply.say {
            match say {
                // Mistral signs nothing, and its ids are made anew where they are not its own.
                _ if api == Api::Mistral => {}
                Say::Text { .. } => {}
                Say::Thinking { signature, .. } => issued.signatures.extend(signature.clone()),
                Say::Redacted { redacted } => issued.signatures.push(redacted.clone()),
                Say::Call { id, signature, .. } => {
                    issued.calls.push(id.clone());
                    issued.signatures.extend(signature.clone().filter(|_| api == Api::Google));
                }
            }
        }
        issued
    }
}

pub(super) fn model(seen: &Seen) -> String {
    let named = seen.json().get("model").and_then(Value::as_str).map(str::to_owned);
    let in_path = || Some(seen.path.split_once("/models/")?.1.split_once(':')?.0.to_owned());
    let of_bedrock = || Some(seen.path.split_once("/model/")?.1.strip_suffix("/converse-stream")?.to_owned());
    named.or_else(in_path).or_else(of_bedrock).unwrap_or_default()
}

pub fn problems(seen: &Seen, key: &str, issued: &[Issued]) -> Vec<String> {
    let mut found = Vec::new();
    let body = seen.json();
    if !body.is_object() {
        found.push("the body is no JSON object".to_owned());
    }
    check_key(seen, key, &mut found);
    let Some(api) = seen.api else { return found };
    match api {
        Api::Anthropic => anthropic(&body, &mut found),
        Api::Responses => responses(&body, &mut found),
        Api::Completions => completions(&body, &mut found),
        Api::Google => google(&body, &mut found),
        Api::Mistral => mistral(&body, &mut found),
        Api::Bedrock => bedrock(&body, &mut found),
    }
    check_signatures(&body, api, &model(seen), issued, &mut found);
    found
}

/// The key must be in one header and nowhere else.
fn check_key(seen: &Seen, key: &str, found: &mut Vec<String>) {
    if seen.path.contains(key) || seen.body.contains(key) {
        found.push("the key is not only in a header".to_owned());
    }
    let places = seen.headers.iter().filter(|(_, value)| value.contains(key));
    let places: Vec<&str> = places.map(|(name, _)| name.as_str()).collect();
    let allowed = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];
    if places.len() > 1 || places.iter().any(|place| !allowed.contains(place)) {
        found.push(format!("the key is in the headers {places:?}"));
    }
}

/// Signatures must return with the calls beside them, byte for byte; no others may be sent.
fn check_signatures(body: &Value, api: Api, model: &str, issued: &[Issued], found: &mut Vec<String>) {
    let mut sent = HashSet::new();
    signatures(body, &mut sent);
    let text = body.to_string();
    let own = || issued.iter().filter(|issued| issued.api == api && issued.model == model);
    for turn in own() {
        let is_there = turn.calls.iter().any(|call| text.contains(&format!("\"{call}\"")));
        // At most servers the Completions format has no place for them.
        if is_there && api != Api::Completions {
            let lost = turn.signatures.iter().filter(|signature| !sent.contains(signature.as_str()));
            found.extend(lost.map(|signature| format!("the signature `{signature}` did not come back")));
        }
    }
    let known: HashSet<&str> = own().flat_map(|turn| turn.signatures.iter().map(String::as_str)).collect();
    let foreign = sent.iter().filter(|signature| !known.contains(**signature));
    found.extend(foreign.map(|signature| format!("the signature `{signature}` is none of this model")));
}

fn signatures<'a>(value: &'a Value, out: &mut HashSet<&'a str>) {
    match value {
        Value::Object(object) => {
            let is = |kind: &str| object.get("type").is_some_and(|found| found == kind);
            for (name, value) in object {
                let counts = match name.as_str() {
                    "signature" | "thoughtSignature" | "redactedContent" => true,
                    "data" => is("redacted_thinking") || is("reasoning.encrypted"),
                    "encrypted_content" => is("reasoning"),
                    // Arguments belong to the model, schemas to the tools.
                    "input" if is("tool_use") || object.contains_key("toolUseId") => continue,
                    "args" | "input_schema" | "inputSchema" | "parameters" | "parametersJsonSchema" => continue,
                    _ => false,
                };
                match value.as_str() {
                    Some(text) if counts => drop(out.insert(text)),
                    _ => signatures(value, out),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| signatures(item, out)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_plain(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// The rule of a function's name: its length, and the marks beside letters and digits.
fn is_name(name: &str, longest: usize, marks: &str) -> bool {
    (1..=longest).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || marks.contains(c))
}

fn anthropic(body: &Value, found: &mut Vec<String>) {
    let messages = items(body, "messages");
    if messages.last().is_none_or(|last| text(last, "role") != "user") {
        found.push("the last message is not the user's".to_owned());
    }
    if body.to_string().matches("\"cache_control\"").count() > 4 {
        found.push("more than 4 cache marks".to_owned());
    }
    if messages.first().is_some_and(|first| text(first, "role") != "user") {
        found.push("the first message is not the user's".to_owned());
    }
    let budget = body.pointer("/thinking/budget_tokens").and_then(Value::as_u64).unwrap_or(0);
    if body.get("max_tokens").and_then(Value::as_u64).unwrap_or(0) <= budget {
        found.push("max_tokens is missing or not above the thinking budget".to_owned());
    }
    let mut open: Vec<&str> = Vec::new();
    let mut ids = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let blocks = items(message, "content");
        if blocks.is_empty() {
            found.push(format!("message {at} is empty"));
        }
        let results = blocks.iter().take_while(|block| text(block, "type") == "tool_result");
        let answered: Vec<&str> = results.map(|block| text(block, "tool_use_id")).collect();
        if answered != open {
            found.push(format!("message {at} answers {answered:?} where {open:?} are open"));
        }
        open.clear();
        for block in blocks {
            match text(block, "type") {
                "text" if text(block, "text").trim().is_empty() => {
                    found.push(format!("message {at} has an empty text"));
                }
                "tool_use" => {
                    let id = text(block, "id");
                    open.push(id);
                    if !is_plain(id) || !ids.insert(id) || !block["input"].is_object() {
                        found.push(format!("message {at}: call `{id}` has a bad or repeated id or no object as input"));
                    }
                    if !is_name(text(block, "name"), 128, "_-") {
                        found.push(format!("message {at}: call `{id}` has a bad name"));
                    }
                }
                "thinking" | "redacted_thinking" if text(message, "role") != "assistant" => {
                    found.push(format!("message {at}: the user thinks"));
                }
                _ => {}
            }
        }
    }
    found.extend(open.iter().map(|id| format!("call `{id}` has no result")));
}

fn completions(body: &Value, found: &mut Vec<String>) {
    let mut open: Vec<&str> = Vec::new();
    let mut ids = HashSet::new();
    for (at, message) in items(body, "messages").iter().enumerate() {
        if text(message, "role") == "tool" {
            let id = text(message, "tool_call_id");
            match open.iter().position(|known| *known == id) {
                Some(place) => drop(open.remove(place)),
                None => found.push(format!("message {at}: result of `{id}`, which is not open")),
            }
            continue;
        }
        found.extend(open.drain(..).map(|id| format!("before message {at}: call `{id}` has no result")));
        if text(message, "role") != "assistant" {
            if items(message, "content").is_empty() && message["content"].as_str().is_none() {
                found.push(format!("message {at} has no content"));
            }
            continue;
        }
        let calls = items(message, "tool_calls");
        if calls.is_empty() && message.get("content").is_none_or(Value::is_null) {
            found.push(format!("message {at}: an assistant message without content and calls"));
        }
        for call in calls {
            let id = text(call, "id");
            let arguments = call.pointer("/function/arguments").and_then(Value::as_str).unwrap_or_default();
            let is_object = serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object());
            if id.is_empty() || !ids.insert(id) || !is_object {
                found.push(format!("message {at}: call `{id}` has a bad or repeated id or bad arguments"));
            }
            if !is_name(call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default(), 64, "_-") {
                found.push(format!("message {at}: call `{id}` has a bad name"));
            }
            open.push(id);
        }
    }
    found.extend(open.iter().map(|id| format!("call `{id}` has no result")));
}

fn bedrock(body: &Value, found: &mut Vec<String>) {
    let messages = items(body, "messages");
    for (at, expected) in [(messages.first(), "first"), (messages.last(), "last")] {
        if at.is_none_or(|message| text(message, "role") != "user") {
            found.push(format!("the {expected} message is not the user's"));
        }
    }
    if body.pointer("/inferenceConfig/maxTokens").and_then(Value::as_u64).is_none() {
        found.push("there is no limit of the answer".to_owned());
    }
    let mut open: Vec<&str> = Vec::new();
    let mut ids = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let blocks = items(message, "content");
        if blocks.is_empty() {
            found.push(format!("message {at} is empty"));
        }
        let answered: Vec<&str> =
            blocks.iter().map_while(|block| block.pointer("/toolResult/toolUseId")?.as_str()).collect();
        if answered != open {
            found.push(format!("message {at} answers {answered:?} where {open:?} are open"));
        }
        open.clear();
        let is_blank = |value: Option<&Value>| value.and_then(Value::as_str).is_some_and(|text| text.trim().is_empty());
        for block in blocks {
            let results = block.get("toolResult").map_or(&[][..], |result| items(result, "content"));
            let is_empty_result = block.get("toolResult").is_some() && results.is_empty();
            if is_empty_result || [block].into_iter().chain(results).any(|block| is_blank(block.get("text"))) {
                found.push(format!("message {at} has an empty text or result"));
            }
            if block.get("reasoningContent").is_some() && text(message, "role") != "assistant" {
                found.push(format!("message {at}: the user thinks"));
            }
            let Some(call) = block.get("toolUse") else { continue };
            let id = text(call, "toolUseId");
            open.push(id);
            if !is_plain(id) || !ids.insert(id) || !call["input"].is_object() || !is_name(text(call, "name"), 64, "_-")
            {
                found.push(format!("message {at}: call `{id}` has a bad id, a bad name or no object as input"));
            }
        }
    }
    found.extend(open.iter().map(|id| format!("call `{id}` has no result")));
}

/// Chat Completions with stricter ids and with parts instead of texts.
fn mistral(body: &Value, found: &mut Vec<String>) {
    completions(body, found);
    for (at, message) in items(body, "messages").iter().enumerate() {
        let role = text(message, "role");
        let ids = items(message, "tool_calls").iter().map(|call| text(call, "id"));
        let ids = ids.chain((role == "tool").then(|| text(message, "tool_call_id")));
        let odd = ids.filter(|id| id.len() != 9 || !id.chars().all(|c| c.is_ascii_alphanumeric()));
        found.extend(odd.map(|id| format!("message {at}: id `{id}` is not of nine letters and digits")));
        let is_empty = |part: &&Value| match text(part, "type") {
            "thinking" => items(part, "thinking").iter().all(|part| text(part, "text").trim().is_empty()),
            _ => false,
        };
        found.extend(
            items(message, "content").iter().filter(is_empty).map(|_| format!("message {at}: an empty thought")),
        );
        if role == "tool" && text(message, "name").is_empty() {
            found.push(format!("message {at}: a result without a name"));
        }
    }
    let beyond = ["stream_options", "store"].into_iter().filter(|name| body.get(name).is_some());
    found.extend(beyond.map(|name| format!("Mistral refuses `{name}`")));
}

fn responses(body: &Value, found: &mut Vec<String>) {
    let mut open: Vec<&str> = Vec::new();
    let (mut ids, mut calls) = (HashSet::new(), HashSet::new());
    let mut thought = false;
    for (at, item) in items(body, "input").iter().enumerate() {
        let kind = text(item, "type");
        if std::mem::take(&mut thought) && !matches!(kind, "message" | "function_call" | "reasoning") {
            found.push(format!("item {at}: a thought that nothing follows"));
        }
        let id = text(item, "id");
        if !id.is_empty() && (id.len() > 64 || !ids.insert(id)) {
            found.push(format!("item {at}: id `{id}` is too long or repeated"));
        }
        match kind {
            "reasoning" => thought = true,
            "function_call" => {
                let call = text(item, "call_id");
                let is_object =
                    serde_json::from_str::<Value>(text(item, "arguments")).is_ok_and(|value| value.is_object());
                let bad_id = !id.is_empty() && !id.starts_with("fc_");
                if !is_plain(call) || bad_id || !calls.insert(call) || !is_object {
                    found.push(format!("item {at}: call `{call}` has a bad or repeated id or bad arguments"));
                }
                if !is_name(text(item, "name"), 64, "_-") {
                    found.push(format!("item {at}: call `{call}` has a bad name"));
                }
                open.push(call);
            }
            "function_call_output" => {
                let call = text(item, "call_id");
                match open.iter().position(|known| *known == call) {
                    Some(place) => drop(open.remove(place)),
                    None => found.push(format!("item {at}: output of `{call}`, which is not open")),
                }
            }
            _ if text(item, "role") == "user" => {
                if items(item, "content").is_empty() && text(item, "content").is_empty() {
                    found.push(format!("item {at} is empty"));
                }
                found.extend(open.drain(..).map(|id| format!("before item {at}: call `{id}` has no output")));
            }
            _ => {}
        }
    }
    found.extend(open.iter().map(|id| format!("call `{id}` has no output")));
}

fn google(body: &Value, found: &mut Vec<String>) {
    let mut open: Vec<(&str, &str)> = Vec::new();
    let mut ids = HashSet::new();
    let mut before = "model";
    for (at, content) in items(body, "contents").iter().enumerate() {
        let parts = items(content, "parts");
        if parts.is_empty() {
            found.push(format!("content {at} is empty"));
        }
        // A call must follow the user's turn or results, and the user begins.
        let role = text(content, "role");
        if role == "model" && before == "model" {
            found.push(format!("content {at}: the model speaks before the user"));
        }
        before = role;
        let of = |name: &str| -> Vec<(&str, &str)> {
            parts.iter().filter_map(|part| part.get(name)).map(|call| (text(call, "name"), text(call, "id"))).collect()
        };
        let answered = of("functionResponse");
        if answered != open {
            found.push(format!("content {at} answers {answered:?} where {open:?} are open"));
        }
        open = of("functionCall");
        let is_good =
            |name: &str| is_name(name, 64, "_.:-") && !name.starts_with(|c: char| !c.is_alphabetic() && c != '_');
        let bad = open.iter().filter(|(name, _)| !is_good(name));
        found.extend(bad.map(|(name, _)| format!("content {at}: bad name `{name}`")));
        let ids_of_calls = parts.iter().filter_map(|part| part.pointer("/functionCall/id")?.as_str());
        let odd = ids_of_calls.filter(|id| !is_plain(id));
        found.extend(odd.map(|id| format!("content {at}: bad id `{id}`")));
        let repeated = open.iter().filter(|(_, id)| !id.is_empty() && !ids.insert(*id));
        found.extend(repeated.map(|(_, id)| format!("content {at}: call `{id}` has a repeated id")));
        if !open.is_empty() && text(content, "role") != "model" {
            found.push(format!("content {at}: the user calls"));
        }
    }
    found.extend(open.iter().map(|(name, _)| format!("call of `{name}` has no response")));
}
