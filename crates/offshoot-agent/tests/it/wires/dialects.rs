//! What servers do that is not in the book, and what the book allows but few do.

use offshoot_agent::provider::{Answer, Api, Delta, Reader};
use offshoot_protocol::ThinkingLevel;
use offshoot_protocol::message::{AssistantMessage, Block, StopReason};
use offshoot_protocol::model::{Compat, Model};
use serde_json::{Value, json};

use offshoot_agent::testing::server::bedrock_frame;

use super::{model, request, user};

/// An object with one member, whose name is that of the event.
fn frame(event: &Value) -> Vec<u8> {
    let (name, payload) = event.as_object().and_then(|members| members.iter().next()).unwrap();
    bedrock_frame(name, payload)
}

pub(super) fn read_as(model: Model, events: &[Value]) -> Answer {
    let is_bedrock = model.api == Api::Bedrock.as_str();
    let mut reader = Reader::new(&request(model, vec![user("x")]), 7).unwrap();
    let mut deltas = reader.start();
    for event in events {
        let data = event.as_str().map_or_else(|| event.to_string(), str::to_owned);
        let bytes = if is_bedrock { frame(event) } else { format!("data: {data}\n\n").into_bytes() };
        deltas.extend(reader.push(&bytes));
    }
    deltas.extend(reader.end());
    match deltas.pop() {
        Some(Delta::Done(answer)) => *answer,
        other => panic!("ended with {other:?}"),
    }
}

fn read(api: Api, events: &[Value]) -> AssistantMessage {
    let answer = read_as(model(api, "http://x"), events);
    assert_eq!(answer.failure, None, "{:?}", answer.message.error_message);
    answer.message
}

fn chunk(delta: &Value) -> Value {
    json!({"choices": [{"delta": delta}]})
}

fn end(reason: &str) -> Value {
    json!({"choices": [{"delta": {}, "finish_reason": reason}]})
}

#[test]
fn pieces_of_calls_find_each_other_by_index_by_id_or_by_order() {
    let piece = |index: Value, id: &str, name: &str, arguments: Value| {
        let id = if id.is_empty() { Value::Null } else { json!(id) };
        let name = if name.is_empty() { Value::Null } else { json!(name) };
        chunk(&json!({"tool_calls": [{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}]}))
    };
    let null = Value::Null;
    for pieces in [
        [
            piece(json!(0), "a", "read", json!("{\"p\"")),
            piece(json!(1), "b", "read", json!("{\"q\":")),
            piece(json!(0), "", "", json!(":1}")),
            piece(json!(1), "", "", json!("2}")),
        ],
        [
            piece(null.clone(), "a", "read", json!("{\"p\"")),
            piece(null.clone(), "a", "", json!(":1}")),
            piece(null.clone(), "b", "read", json!("{\"q\":")),
            piece(null.clone(), "b", "", json!("2}")),
        ],
        [
            piece(null.clone(), "a", "read", json!("{\"p\"")),
            piece(null.clone(), "", "", json!(":1}")),
            piece(null.clone(), "b", "read", json!({"q": 2})),
            piece(null, "", "", json!("")),
        ],
    ] {
        let mut events = pieces.to_vec();
        events.extend([end("tool_calls"), json!("[DONE]")]);
        let message = read(Api::Completions, &events);
        let calls = message.content.iter().map(|block| match block {
            Block::ToolCall { id, arguments, .. } => (id.as_str(), arguments.clone()),
            other => panic!("{other:?}"),
        });
        assert_eq!(calls.collect::<Vec<_>>(), [("a", json!({"p": 1})), ("b", json!({"q": 2}))]);
    }
}

/// The ids, names and arguments of an answer's calls.
fn calls(message: &AssistantMessage) -> Vec<(String, String, Value)> {
    let call = |block: &Block| match block {
        Block::ToolCall { id, name, arguments, .. } => (id.clone(), name.clone(), arguments.clone()),
        other => panic!("{other:?}"),
    };
    message.content.iter().map(call).collect()
}

/// The second call was lost, or its text was added to the first one's.
#[test]
fn calls_that_share_an_index_or_an_id_are_told_apart() {
    let piece = |index: Value, id: &str, name: &str, arguments: &str| {
        let call = json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}});
        chunk(&json!({"tool_calls": [call]}))
    };
    let zero = json!(0);
    let two = [("a", "read", json!({"p": 1})), ("b", "write", json!({"q": 2}))];
    let made = [("call_7_0", "read", json!({"p": 1})), ("call_7_1", "write", json!({"q": 2}))];
    let repeated = [("a", "read", json!({"p": 1})), ("call_7_1", "read", json!({"q": 2}))];
    let cases = [
        (
            vec![
                piece(zero.clone(), "a", "read", "{\"p\":"),
                piece(zero.clone(), "", "", "1}"),
                piece(zero.clone(), "b", "write", "{\"q\":"),
                piece(zero.clone(), "", "", "2}"),
            ],
            two.clone(),
        ),
        (
            vec![piece(zero.clone(), "a", "read", "{\"p\":1}"), piece(zero.clone(), "b", "write", "{\"q\":2}")],
            two.clone(),
        ),
        (vec![piece(zero.clone(), "", "read", "{\"p\":1}"), piece(zero.clone(), "", "write", "{\"q\":2}")], made),
        (
            vec![piece(zero.clone(), "a", "read", "{\"p\":1}"), piece(zero.clone(), "a", "read", "{\"q\":2}")],
            repeated.clone(),
        ),
        (vec![piece(json!(0), "a", "read", "{\"p\":1}"), piece(json!(1), "a", "read", "{\"q\":2}")], repeated.clone()),
        (vec![piece(Value::Null, "a", "read", "{\"p\":1}"), piece(Value::Null, "a", "read", "{\"q\":2}")], repeated),
        (
            // A server that sends each piece with a new id, and the name again.
            vec![
                piece(zero.clone(), "a", "read", "{\"p\""),
                piece(zero.clone(), "x", "read", ":1}"),
                piece(json!(1), "b", "write", "{\"q\":2"),
                piece(json!(1), "y", "write", "}"),
            ],
            two,
        ),
    ];
    for (mut events, expected) in cases {
        events.extend([end("tool_calls"), json!("[DONE]")]);
        let expected = expected.map(|(id, name, arguments)| (id.to_owned(), name.to_owned(), arguments));
        assert_eq!(calls(&read(Api::Completions, &events)), expected, "{events:?}");
    }
}

#[test]
fn a_call_that_is_sent_again_whole_runs_once() {
    let piece = |id: &str, name: &str, arguments: &str| {
        let call = json!({"index": 0, "id": id, "function": {"name": name, "arguments": arguments}});
        chunk(&json!({"tool_calls": [call]}))
    };
    for id in ["a", ""] {
        let events =
            [piece("a", "read", "{\"p\":"), piece("", "", "1}"), piece(id, "read", "{\"p\":1}"), end("tool_calls")];
        let expected = [("a".to_owned(), "read".to_owned(), json!({"p": 1}))];
        assert_eq!(calls(&read(Api::Completions, &events)), expected, "{id}");
    }
}

#[test]
fn items_of_responses_that_share_an_index_are_told_apart() {
    let item = |number: u8, arguments: &str| json!({"type": "function_call", "id": format!("fc_{number}"), "call_id": "c", "name": "read", "arguments": arguments});
    let delta = |number: u8, delta: &str| json!({"type": "response.function_call_arguments.delta", "item_id": format!("fc_{number}"), "delta": delta});
    let message = read(
        Api::Responses,
        &[
            json!({"type": "response.output_item.added", "item": item(1, "")}),
            json!({"type": "response.output_item.added", "item": item(2, "")}),
            delta(1, "{\"p\":1}"),
            delta(2, "{\"p\":2}"),
            json!({"type": "response.output_item.done", "item": item(1, "{\"p\":1}")}),
            json!({"type": "response.output_item.done", "item": item(2, "{\"p\":2}")}),
            json!({"type": "response.completed", "response": {"status": "completed"}}),
        ],
    );
    let expected = [("c|fc_1", 1), ("call_7_1|fc_2", 2)];
    assert_eq!(calls(&message), expected.map(|(id, p)| (id.to_owned(), "read".to_owned(), json!({"p": p}))));
}

#[test]
fn arguments_come_as_a_text_or_as_an_object_and_other_values_are_not_run_with() {
    let started = |input: Value| {
        let call = json!({"type": "tool_use", "id": "a", "name": "read", "input": input});
        let start = json!({"type": "content_block_start", "index": 0, "content_block": call});
        let stop = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}});
        (Api::Anthropic, vec![start, stop, json!({"type": "message_stop"})])
    };
    let piece = |arguments: Value| {
        let call = json!({"index": 0, "id": "a", "function": {"name": "read", "arguments": arguments}});
        (Api::Completions, vec![chunk(&json!({"tool_calls": [call]})), end("tool_calls")])
    };
    let part = |args: Value| {
        let call = json!({"functionCall": {"name": "read", "args": args, "id": "a"}});
        (Api::Google, vec![json!({"candidates": [{"content": {"parts": [call]}, "finishReason": "STOP"}]})])
    };
    let of = |value: Value| [started(value.clone()), piece(value.clone()), part(value)];
    for value in [json!({"p": 1}), json!("{\"p\": 1}"), json!({}), json!(null), json!("")] {
        let whole = if value.to_string().contains('p') { json!({"p": 1}) } else { json!({}) };
        for (api, events) in of(value.clone()) {
            let message = read(api, &events);
            let [Block::ToolCall { arguments, arguments_error: None, .. }] = &message.content[..] else {
                panic!("{api:?} {value}: {message:?}")
            };
            assert_eq!(*arguments, whole, "{api:?}");
        }
    }
    for value in [json!([1]), json!(5), json!(true), json!("{\"p\": "), json!("[1]")] {
        for (api, events) in of(value.clone()) {
            let message = read(api, &events);
            let [Block::ToolCall { arguments, arguments_error: Some(_), .. }] = &message.content[..] else {
                panic!("{api:?} {value}: {message:?}")
            };
            assert_eq!(*arguments, json!({}), "{api:?}");
        }
    }
    // Some servers send them with the start and in pieces.
    let (_, mut events) = started(json!({"p": 1}));
    let delta = json!({"type": "input_json_delta", "partial_json": "{\"p\": 1}"});
    events.insert(1, json!({"type": "content_block_delta", "index": 0, "delta": delta}));
    assert_eq!(calls(&read(Api::Anthropic, &events))[0].2, json!({"p": 1}));
}

/// As Mistral sends its answers.
#[test]
fn content_comes_as_a_list_of_parts_too() {
    let thinking =
        json!([{"type": "thinking", "thinking": [{"type": "text", "text": "h"}, {"type": "text", "text": "m"}]}]);
    let parts = json!([{"type": "text", "text": "He"}, {"type": "reference", "reference_ids": [1]}, {"type": "text", "text": "re"}]);
    let contents = [json!(""), thinking, parts, json!("."), json!([]), json!({"type": "text", "text": "!"})];
    let mut events: Vec<Value> = contents.iter().map(|content| chunk(&json!({"content": content}))).collect();
    events.push(end("stop"));
    let message = read(Api::Completions, &events);
    let [Block::Thinking { thinking, thinking_signature: None, .. }, Block::Text { text, .. }] = &message.content[..]
    else {
        panic!("{message:?}")
    };
    assert_eq!((thinking.as_str(), text.as_str()), ("hm", "Here.!"));
}

#[test]
fn one_damaged_line_does_not_end_an_answer_but_an_open_call_is_not_run() {
    let damaged = || json!("{\"choices\": [{\"del");
    let said = [chunk(&json!({"content": "He"})), damaged(), chunk(&json!({"content": "re"})), end("stop")];
    let message = read(Api::Completions, &said);
    assert!(matches!(&message.content[..], [Block::Text { text, .. }] if text == "Here"), "{message:?}");
    let piece = |id: Value, arguments: &str| {
        let call = json!({"index": 0, "id": id, "function": {"name": "bash", "arguments": arguments}});
        chunk(&json!({"tool_calls": [call]}))
    };
    // The lost piece would make another command of it, and both are whole.
    let events =
        [piece(json!("a"), "{\"command\": \"rm -rf build"), damaged(), piece(Value::Null, "\"}"), end("tool_calls")];
    let message = read(Api::Completions, &events);
    let [Block::ToolCall { arguments_error: Some(error), .. }] = &message.content[..] else { panic!("{message:?}") };
    assert!(error.contains("could not be read") && error.contains("rm -rf build\"}"), "{error}");
    let only = read_as(model(Api::Completions, "http://x"), &[damaged(), end("stop")]);
    assert!(only.message.error_message.unwrap().contains("could not read an event"));
    let many = read_as(model(Api::Completions, "http://x"), &vec![damaged(); 20]);
    assert!(many.message.error_message.unwrap().contains("could not read an event"));
}

#[test]
fn thinking_under_two_names_comes_once_and_its_name_is_its_signature() {
    let both = chunk(&json!({"reasoning": "hm", "reasoning_content": "hm", "content": null}));
    let message = read(Api::Completions, &[both.clone(), both, end("stop")]);
    let Block::Thinking { thinking, thinking_signature, .. } = &message.content[0] else { panic!("{message:?}") };
    assert_eq!((thinking.as_str(), thinking_signature.as_deref()), ("hmhm", Some("reasoning_content")));
}

#[test]
fn structured_reasoning_is_put_together_as_its_signature() {
    let detail = |detail: Value| chunk(&json!({"reasoning_details": [detail]}));
    let message = read(
        Api::Completions,
        &[
            detail(json!({"type": "reasoning.text", "text": "a", "id": null, "index": 0})),
            detail(json!({"type": "reasoning.text", "text": "b", "signature": "sig", "id": "r"})),
            detail(json!({"type": "reasoning.encrypted", "data": "x"})),
            detail(json!({"type": "unheard-of"})),
            chunk(&json!({"content": "done"})),
            end("stop"),
        ],
    );
    let Block::Thinking { thinking_signature, .. } = &message.content[0] else { panic!("{message:?}") };
    let details: Value = serde_json::from_str(thinking_signature.as_deref().unwrap()).unwrap();
    let text = json!({"type": "reasoning.text", "text": "ab", "id": "r", "index": 0, "signature": "sig"});
    assert_eq!(details, json!([text, {"type": "reasoning.encrypted", "data": "x"}]));
}

#[test]
fn usage_is_found_wherever_a_server_puts_it() {
    for (tokens, expected) in [
        (json!({"prompt_tokens": 10, "completion_tokens": 2, "prompt_cache_hit_tokens": 4}), (6, 4)),
        (json!({"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 3}), (7, 3)),
        (json!({"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 9}}), (0, 9)),
    ] {
        let last = json!({"choices": [{"delta": {}, "finish_reason": "stop", "usage": tokens}]});
        let usage = read(Api::Completions, &[chunk(&json!({"content": "x"})), last]).usage;
        assert_eq!((usage.input, usage.cache_read), expected, "{tokens}");
    }
}

#[test]
fn a_server_that_never_says_why_it_ends_is_believed_only_if_it_is_known_for_it() {
    let events = [chunk(&json!({"content": "x"}))];
    let answer = read_as(model(Api::Completions, "http://x"), &events);
    assert_eq!(
        answer.message.error_message.as_deref(),
        Some("the answer broke off: the Completions stream ended before finish_reason")
    );
    let compat = Compat { supports_finish_reason: Some(false), ..Compat::default() };
    let known = Model { compat, ..model(Api::Completions, "http://x") };
    assert_eq!(read_as(known, &events).message.stop_reason, StopReason::Stop);
}

#[test]
fn an_error_in_a_chunk_or_a_failed_response_keeps_its_words() {
    let failed = json!({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "boom"}}});
    let chunk = json!({"error": {"message": "Provider returned error", "code": 502}});
    for (api, event, words) in [
        (Api::Responses, failed, "server_error: boom"),
        (
            Api::Responses,
            json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow"}),
            "rate_limit_exceeded: slow",
        ),
        (Api::Completions, chunk.clone(), "Provider returned error"),
        (
            Api::Google,
            json!({"error": {"code": 503, "message": "model overloaded", "status": "UNAVAILABLE"}}),
            "model overloaded",
        ),
        (
            Api::Anthropic,
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            "overloaded_error",
        ),
    ] {
        let answer = read_as(model(api, "http://x"), &[event]);
        assert!(answer.message.error_message.as_deref().unwrap().contains(words), "{:?}", answer.message);
        assert!(answer.failure.unwrap().is_transient, "{words}");
    }
}

#[test]
fn arguments_and_encrypted_thoughts_that_come_late_still_count() {
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "c", "name": "read", "arguments": ""});
    let thought = json!({"type": "reasoning", "id": "rs_1", "summary": [{"text": "sum"}]});
    let message = read(
        Api::Responses,
        &[
            json!({"type": "response.output_item.done", "output_index": 0, "item": thought}),
            json!({"type": "response.output_item.added", "output_index": 1, "item": call}),
            json!({"type": "response.function_call_arguments.done", "output_index": 1, "arguments": "{\"p\":1}"}),
            json!({"type": "response.completed", "response": {"status": "completed",
                "output": [{"type": "reasoning", "id": "rs_1", "encrypted_content": "late"}]}}),
        ],
    );
    let [Block::Thinking { thinking, thinking_signature, .. }, Block::ToolCall { id, arguments, .. }] =
        &message.content[..]
    else {
        panic!("{message:?}")
    };
    assert_eq!((thinking.as_str(), id.as_str(), arguments), ("sum", "c|fc_1", &json!({"p": 1})));
    assert!(thinking_signature.as_deref().unwrap().contains("\"encrypted_content\":\"late\""));
    assert_eq!(message.stop_reason, StopReason::ToolUse);
}

#[test]
fn google_calls_without_ids_get_ids_of_their_own() {
    let call = |id: Value| json!({"functionCall": {"name": "read", "args": {"p": 1}, "id": id}});
    let parts = json!([call(Value::Null), call(json!("same")), call(json!("same"))]);
    let message = read(Api::Google, &[json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]})]);
    let ids = message.content.iter().map(|block| match block {
        Block::ToolCall { id, .. } => id.as_str(),
        other => panic!("{other:?}"),
    });
    assert_eq!(ids.collect::<Vec<_>>(), ["call_7_0", "same", "call_7_2"]);
}

#[test]
fn a_prompt_that_google_refuses_and_an_unknown_stop_reason_are_errors() {
    let refused = read_as(model(Api::Google, "http://x"), &[json!({"promptFeedback": {"blockReason": "SAFETY"}})]);
    assert_eq!(refused.message.error_message.as_deref(), Some("the provider refused the prompt: SAFETY"));
    let stopped = json!({"type": "message_delta", "delta": {"stop_reason": "new_reason"}});
    let answer = read_as(model(Api::Anthropic, "http://x"), &[stopped]);
    assert_eq!(answer.message.error_message.as_deref(), Some("the provider stopped with: new_reason"));
}

#[test]
fn each_dialect_is_asked_to_think_in_its_own_way() {
    let ask = |format: &str, level| {
        let compat = Compat { thinking_format: Some(format.to_owned()), ..Compat::default() };
        let mut asked = request(Model { compat, ..model(Api::Completions, "http://x") }, vec![user("x")]);
        asked.thinking = level;
        let body = offshoot_agent::provider::Outgoing::new(&asked).unwrap().body;
        let body: Value = serde_json::from_str(&body).unwrap();
        let names = ["thinking", "reasoning", "reasoning_effort", "enable_thinking", "chat_template_kwargs"];
        names.iter().filter_map(|name| Some(format!("{name}={}", body.get(*name)?))).collect::<Vec<_>>().join(" ")
    };
    let (high, off) = (ThinkingLevel::High, ThinkingLevel::Off);
    assert_eq!(ask("openai", high), r#"reasoning_effort="high""#);
    assert_eq!(ask("openai", off), "");
    assert_eq!(ask("deepseek", high), r#"thinking={"type":"enabled"} reasoning_effort="high""#);
    assert_eq!(ask("deepseek", off), r#"thinking={"type":"disabled"}"#);
    assert_eq!(ask("openrouter", off), r#"reasoning={"effort":"none"}"#);
    assert_eq!(ask("qwen", high), r#"reasoning_effort="high" enable_thinking=true"#);
    assert_eq!(
        ask("qwen-chat-template", off),
        r#"chat_template_kwargs={"enable_thinking":false,"preserve_thinking":true}"#
    );
    assert_eq!(ask("string-thinking", high), r#"thinking="high""#);
}
