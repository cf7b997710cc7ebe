//! Renders a reply as the body of a response, in each wire format.

use offshoot_protocol::message::StopReason;
use serde_json::{Map, Value, json};

use super::script::{Reply, Say};
use crate::provider::Api;

#[derive(Debug, Clone, Copy)]
pub(super) struct Number(pub(super) usize);

impl Number {
    fn id(self) -> String {
        format!("resp_{:04}", self.0)
    }
}

pub(super) fn render(reply: &Reply, api: Api, model: &str, number: Number) -> Vec<u8> {
    let text = match api {
        Api::Bedrock => return bedrock(reply),
        Api::Anthropic => anthropic(reply, model, number),
        Api::Responses => responses(reply, model, number),
        Api::Completions => completions(reply, model, number),
        Api::Google => google(reply, number),
        Api::Mistral => mistral(reply, model, number),
    };
    text.into_bytes()
}

fn named(out: &mut String, name: &str, mut data: Value) {
    if let Some(object) = data.as_object_mut() {
        object.insert("type".to_owned(), json!(name));
    }
    out.push_str(&format!("event: {name}\ndata: {data}\n\n"));
}

fn plain(out: &mut String, data: &Value) {
    out.push_str(&format!("data: {data}\n\n"));
}

fn pieces(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(size.max(1)).map(|piece| piece.iter().collect()).collect()
}

fn arguments(arguments: &Map<String, Value>) -> String {
    Value::Object(arguments.clone()).to_string()
}

fn anthropic(reply: &Reply, model: &str, number: Number) -> String {
    let mut out = String::new();
    let usage = &reply.usage;
    let tokens = json!({"input_tokens": usage.input, "output_tokens": 1, "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write});
    named(
        &mut out,
        "message_start",
        json!({"message": {"id": number.id(), "role": "assistant", "model": model, "content": [], "usage": tokens}}),
    );
    named(&mut out, "ping", json!({}));
    for (index, say) in reply.say.iter().enumerate() {
        let (start, deltas) = match say {
            Say::Text { text } => (
                json!({"type": "text", "text": ""}),
                pieces(text, reply.piece).into_iter().map(|text| json!({"type": "text_delta", "text": text})).collect(),
            ),
            Say::Thinking { thinking, signature } => {
                let words = pieces(thinking, reply.piece).into_iter();
                let mut deltas: Vec<Value> =
                    words.map(|thinking| json!({"type": "thinking_delta", "thinking": thinking})).collect();
                deltas.extend(signature.iter().map(|mark| json!({"type": "signature_delta", "signature": mark})));
                (json!({"type": "thinking", "thinking": "", "signature": ""}), deltas)
            }
            Say::Redacted { redacted } => (json!({"type": "redacted_thinking", "data": redacted}), Vec::new()),
            Say::Call { call, id, arguments: all, .. } => (
                json!({"type": "tool_use", "id": id, "name": call, "input": {}}),
                pieces(&arguments(all), reply.piece)
                    .into_iter()
                    .map(|part| json!({"type": "input_json_delta", "partial_json": part}))
                    .collect(),
            ),
        };
        named(&mut out, "content_block_start", json!({"index": index, "content_block": start}));
        for delta in deltas {
            named(&mut out, "content_block_delta", json!({"index": index, "delta": delta}));
        }
        named(&mut out, "content_block_stop", json!({"index": index}));
    }
    let stop = match reply.stop() {
        StopReason::Stop => "end_turn",
        StopReason::Length => "max_tokens",
        StopReason::ToolUse => "tool_use",
        StopReason::Pending | StopReason::Error | StopReason::Aborted => "refusal",
    };
    let end = json!({"delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": usage.output}});
    named(&mut out, "message_delta", end);
    named(&mut out, "message_stop", json!({}));
    out
}

fn responses(reply: &Reply, model: &str, number: Number) -> String {
    let mut out = String::new();
    let head = json!({"response": {"id": number.id(), "model": model, "status": "in_progress"}});
    named(&mut out, "response.created", head);
    for (index, say) in reply.say.iter().enumerate() {
        response_item(reply, (number, index), say, &mut out);
    }
    let usage = &reply.usage;
    let read = usage.input + usage.cache_read + usage.cache_write;
    let tokens = json!({"input_tokens": read, "output_tokens": usage.output, "total_tokens": read + usage.output,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write}});
    let (name, status, details) = match reply.stop() {
        StopReason::Stop | StopReason::ToolUse => ("response.completed", "completed", Value::Null),
        StopReason::Length => ("response.incomplete", "incomplete", json!({"reason": "max_output_tokens"})),
        StopReason::Pending | StopReason::Error | StopReason::Aborted => {
            ("response.incomplete", "incomplete", json!({"reason": "content_filter"}))
        }
    };
    let response =
        json!({"id": number.id(), "status": status, "incomplete_details": details, "usage": tokens, "output": []});
    named(&mut out, name, json!({"response": response}));
    out
}

fn response_item(reply: &Reply, (Number(number), index): (Number, usize), say: &Say, out: &mut String) {
    let (start, kind, text, done) = match say {
        Say::Text { text } => {
            let id = format!("msg_{number:04}_{index}");
            let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
            (
                json!({"type": "message", "id": id, "role": "assistant", "content": []}),
                "response.output_text.delta",
                text.clone(),
                json!({"type": "message", "id": id, "role": "assistant", "status": "completed", "content": content}),
            )
        }
        Say::Thinking { thinking, signature } => {
            let id = format!("rs_{number:04}_{index}");
            let summary = json!([{"type": "summary_text", "text": thinking}]);
            (
                json!({"type": "reasoning", "id": id, "summary": []}),
                "response.reasoning_summary_text.delta",
                thinking.clone(),
                json!({"type": "reasoning", "id": id, "summary": summary, "encrypted_content": signature}),
            )
        }
        Say::Redacted { redacted } => {
            let id = format!("rs_{number:04}_{index}");
            let done = json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": redacted});
            (
                json!({"type": "reasoning", "id": id, "summary": []}),
                "response.reasoning_text.delta",
                String::new(),
                done,
            )
        }
        Say::Call { call, id, arguments: all, .. } => {
            let text = arguments(all);
            let item = |text: &str| json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": call, "arguments": text});
            (item(""), "response.function_call_arguments.delta", text.clone(), item(&text))
        }
    };
    named(out, "response.output_item.added", json!({"output_index": index, "item": start}));
    for piece in pieces(&text, reply.piece) {
        named(out, kind, json!({"output_index": index, "delta": piece}));
    }
    named(out, "response.output_item.done", json!({"output_index": index, "item": done}));
}

fn completions(reply: &Reply, model: &str, number: Number) -> String {
    let mut out = String::new();
    let mut choice = |delta: Value, reason: Value| {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
        plain(
            &mut out,
            &json!({"id": number.id(), "object": "chat.completion.chunk", "model": model, "choices": choices}),
        );
    };
    choice(json!({"role": "assistant", "content": ""}), Value::Null);
    let mut calls = 0;
    for say in &reply.say {
        match say {
            Say::Text { text } => {
                pieces(text, reply.piece).into_iter().for_each(|text| choice(json!({"content": text}), Value::Null));
            }
            Say::Thinking { thinking, signature } => {
                for text in pieces(thinking, reply.piece) {
                    choice(json!({"reasoning_content": text}), Value::Null);
                }
                if let Some(data) = signature {
                    let detail = json!({"type": "reasoning.encrypted", "id": "r1", "data": data});
                    choice(json!({"reasoning_details": [detail]}), Value::Null);
                }
            }
            Say::Redacted { redacted } => {
                let detail = json!({"type": "reasoning.encrypted", "id": "r1", "data": redacted});
                choice(json!({"reasoning_details": [detail]}), Value::Null);
            }
            Say::Call { call, id, arguments: all, .. } => {
                let begin =
                    json!({"index": calls, "id": id, "type": "function", "function": {"name": call, "arguments": ""}});
                choice(json!({"tool_calls": [begin]}), Value::Null);
                for part in pieces(&arguments(all), reply.piece) {
                    choice(json!({"tool_calls": [{"index": calls, "function": {"arguments": part}}]}), Value::Null);
                }
                calls += 1;
            }
        }
    }
    choice(json!({}), json!(finish_reason(reply)));
    let usage = &reply.usage;
    let read = usage.input + usage.cache_read + usage.cache_write;
    let tokens = json!({"prompt_tokens": read, "completion_tokens": usage.output, "total_tokens": read + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write}});
    plain(&mut out, &json!({"id": number.id(), "choices": [], "usage": tokens}));
    out.push_str("data: [DONE]\n\n");
    out
}

fn finish_reason(reply: &Reply) -> &'static str {
    match reply.stop() {
        StopReason::Stop => "stop",
        StopReason::Length => "length",
        StopReason::ToolUse => "tool_calls",
        StopReason::Pending | StopReason::Error | StopReason::Aborted => "content_filter",
    }
}

/// A frame of the event stream. Its headers are texts.
pub(super) fn frame(out: &mut Vec<u8>, name: &str, data: &Value) {
    let mut headers = Vec::new();
    for (name, value) in [(":event-type", name), (":content-type", "application/json"), (":message-type", "event")] {
        headers.push(name.len() as u8);
        headers.extend_from_slice(name.as_bytes());
        headers.push(7);
        headers.extend_from_slice(&(value.len() as u16).to_be_bytes());
        headers.extend_from_slice(value.as_bytes());
    }
    let payload = data.to_string();
    let mut frame = ((headers.len() + payload.len() + 16) as u32).to_be_bytes().to_vec();
    frame.extend_from_slice(&(headers.len() as u32).to_be_bytes());
    frame.extend_from_slice(&crc32fast::hash(&frame).to_be_bytes());
    frame.extend_from_slice(&headers);
    frame.extend_from_slice(payload.as_bytes());
    frame.extend_from_slice(&crc32fast::hash(&frame).to_be_bytes());
    out.append(&mut frame);
}

/// Texts and thoughts have no event of their start.
fn bedrock(reply: &Reply) -> Vec<u8> {
    let mut out = Vec::new();
    frame(&mut out, "messageStart", &json!({"role": "assistant"}));
    for (index, say) in reply.say.iter().enumerate() {
        let deltas: Vec<Value> = match say {
            Say::Text { text } => pieces(text, reply.piece).into_iter().map(|text| json!({"text": text})).collect(),
            Say::Thinking { thinking, signature } => {
                let words = pieces(thinking, reply.piece).into_iter().map(|text| json!({"text": text}));
                let marks = signature.iter().map(|mark| json!({"signature": mark}));
                words.chain(marks).map(|thought| json!({"reasoningContent": thought})).collect()
            }
            Say::Redacted { redacted } => vec![json!({"reasoningContent": {"redactedContent": redacted}})],
            Say::Call { call, id, arguments: all, .. } => {
                let start = json!({"toolUse": {"toolUseId": id, "name": call}});
                frame(&mut out, "contentBlockStart", &json!({"contentBlockIndex": index, "start": start}));
                let parts = pieces(&arguments(all), reply.piece).into_iter();
                parts.map(|part| json!({"toolUse": {"input": part}})).collect()
            }
        };
        for delta in deltas {
            frame(&mut out, "contentBlockDelta", &json!({"contentBlockIndex": index, "delta": delta}));
        }
        frame(&mut out, "contentBlockStop", &json!({"contentBlockIndex": index}));
    }
    let stop = match reply.stop() {
        StopReason::Stop => "end_turn",
        StopReason::Length => "max_tokens",
        StopReason::ToolUse => "tool_use",
        StopReason::Pending | StopReason::Error | StopReason::Aborted => "guardrail_intervened",
    };
    frame(&mut out, "messageStop", &json!({"stopReason": stop}));
    let usage = &reply.usage;
    let total = usage.input + usage.output + usage.cache_read + usage.cache_write;
    let tokens = json!({"inputTokens": usage.input, "outputTokens": usage.output, "totalTokens": total,
        "cacheReadInputTokens": usage.cache_read, "cacheWriteInputTokens": usage.cache_write});
    frame(&mut out, "metadata", &json!({"usage": tokens, "metrics": {"latencyMs": 1}}));
    out
}

/// Mistral signs nothing and hides nothing, and sends calls whole.
fn mistral(reply: &Reply, model: &str, number: Number) -> String {
    let mut out = String::new();
    let usage = &reply.usage;
    let read = usage.input + usage.cache_read + usage.cache_write;
    let tokens = json!({"prompt_tokens": read, "completion_tokens": usage.output, "total_tokens": read + usage.output,
        "num_cached_tokens": usage.cache_read});
    let mut choice = |delta: Value, reason: Value| {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
        let mut chunk =
            json!({"id": number.id(), "object": "chat.completion.chunk", "model": model, "choices": choices});
        if let (Some(members), false) = (chunk.as_object_mut(), reason.is_null()) {
            members.insert("usage".to_owned(), tokens.clone());
        }
        plain(&mut out, &chunk);
    };
    choice(json!({"role": "assistant", "content": ""}), Value::Null);
    let mut calls = 0;
    for say in &reply.say {
        match say {
            Say::Text { text } => {
                pieces(text, reply.piece).into_iter().for_each(|text| choice(json!({"content": text}), Value::Null));
            }
            Say::Thinking { thinking, .. } => {
                for text in pieces(thinking, reply.piece) {
                    let part = json!({"type": "thinking", "thinking": [{"type": "text", "text": text}]});
                    choice(json!({"content": [part]}), Value::Null);
                }
            }
            Say::Redacted { .. } => {}
            Say::Call { call, id, arguments: all, .. } => {
                let function = json!({"name": call, "arguments": arguments(all)});
                choice(json!({"tool_calls": [{"index": calls, "id": id, "function": function}]}), Value::Null);
                calls += 1;
            }
        }
    }
    choice(json!({"content": ""}), json!(finish_reason(reply)));
    out.push_str("data: [DONE]\n\n");
    out
}

fn google(reply: &Reply, number: Number) -> String {
    let mut out = String::new();
    let mut part = |part: Value| {
        let content = json!({"role": "model", "parts": [part]});
        plain(&mut out, &json!({"responseId": number.id(), "candidates": [{"content": content, "index": 0}]}));
    };
    for say in &reply.say {
        match say {
            Say::Text { text } => {
                pieces(text, reply.piece).into_iter().for_each(|text| part(json!({"text": text})));
            }
            Say::Thinking { thinking, signature } => {
                pieces(thinking, reply.piece).into_iter().for_each(|text| part(json!({"text": text, "thought": true})));
                if let Some(mark) = signature {
                    part(json!({"text": "", "thought": true, "thoughtSignature": mark}));
                }
            }
            // Google hides thoughts in parts with a signature and no text.
            Say::Redacted { redacted } => part(json!({"text": "", "thoughtSignature": redacted})),
            Say::Call { call, id, arguments, signature } => {
                let mut value = json!({"functionCall": {"id": id, "name": call, "args": arguments}});
                if let (Some(mark), Some(object)) = (signature, value.as_object_mut()) {
                    object.insert("thoughtSignature".to_owned(), json!(mark));
                }
                part(value);
            }
        }
    }
    let reason = match reply.stop() {
        StopReason::Stop | StopReason::ToolUse => "STOP",
        StopReason::Length => "MAX_TOKENS",
        StopReason::Pending | StopReason::Error | StopReason::Aborted => "SAFETY",
    };
    let usage = &reply.usage;
    let read = usage.input + usage.cache_read + usage.cache_write;
    let tokens = json!({"promptTokenCount": read, "candidatesTokenCount": usage.output,
        "cachedContentTokenCount": usage.cache_read, "totalTokenCount": read + usage.output});
    let last = json!({"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": reason}], "usageMetadata": tokens});
    plain(&mut out, &last);
    out
}
