//! Ids and names of calls that no server accepts: as servers send them, and as files have them. The tool runs at most
//! once, and the next request is valid, with every wire.

use offshoot_agent::provider::{Api, Outgoing};
use offshoot_agent::request::{self, Frame};
use offshoot_agent::testing::check;
use offshoot_agent::testing::script::Reply;
use offshoot_agent::testing::seen::Seen;
use offshoot_agent::testing::server::KEY;
use offshoot_protocol::{Settled, ThinkingLevel};
use offshoot_session::compose::NewEntry;
use offshoot_session::json::Json;
use offshoot_session::session::{NewSession, Options, Session};
use serde_json::{Value, json};

use crate::wires::model;
use crate::world::{World, run};

/// A call as a server sends it: members that are `None` are missing.
#[derive(Clone)]
struct Sent {
    id: Option<Value>,
    name: Option<Value>,
    arguments: Value,
}

fn sent(id: Option<Value>, name: Option<Value>, arguments: Value) -> Sent {
    Sent { id, name, arguments }
}

fn with(mut object: Value, members: [(&str, &Option<Value>); 2]) -> Value {
    for (name, value) in members {
        if let Some(value) = value {
            object[name] = value.clone();
        }
    }
    object
}

/// An answer of calls that a server may send, in the way of each wire.
fn body(api: Api, calls: &[Sent]) -> String {
    let line = |event: Value| format!("data: {event}\n\n");
    let mut events = Vec::new();
    match api {
        Api::Anthropic => {
            events.push(json!({"type": "message_start", "message": {"id": "m"}}));
            for (at, call) in calls.iter().enumerate() {
                let block = with(json!({"type": "tool_use", "input": {}}), [("id", &call.id), ("name", &call.name)]);
                events.push(json!({"type": "content_block_start", "index": at, "content_block": block}));
                let delta = json!({"type": "input_json_delta", "partial_json": call.arguments.to_string()});
                events.push(json!({"type": "content_block_delta", "index": at, "delta": delta}));
                events.push(json!({"type": "content_block_stop", "index": at}));
            }
            events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
            events.push(json!({"type": "message_stop"}));
        }
        Api::Responses => {
            for (at, call) in calls.iter().enumerate() {
                let item = json!({"type": "function_call", "id": format!("fc_{at}"), "arguments": ""});
                let mut item = with(item, [("call_id", &call.id), ("name", &call.name)]);
                events.push(json!({"type": "response.output_item.added", "output_index": at, "item": item}));
                item["arguments"] = json!(call.arguments.to_string());
                events.push(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
            }
            events.push(json!({"type": "response.completed", "response": {"status": "completed"}}));
        }
        Api::Bedrock => {}
        Api::Completions | Api::Mistral => {
            for (at, call) in calls.iter().enumerate() {
                let function = json!({"arguments": call.arguments.to_string()});
                let function = with(function, [("name", &call.name), ("", &None)]);
                let piece = with(json!({"index": at, "function": function}), [("id", &call.id), ("", &None)]);
                events.push(json!({"choices": [{"delta": {"tool_calls": [piece]}}]}));
            }
            events.push(json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}));
        }
        Api::Google => {
            let part = |call: &Sent| {
                let function = with(json!({"args": call.arguments}), [("id", &call.id), ("name", &call.name)]);
                json!({"functionCall": function})
            };
            let parts: Vec<Value> = calls.iter().map(part).collect();
            events.push(json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}));
        }
    }
    events.into_iter().map(line).collect()
}

/// The ids and names of the calls in a session's file, and the ids of the results.
fn recorded(lines: &[String]) -> (Vec<(String, String)>, Vec<String>) {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for line in lines {
        let entry: Value = serde_json::from_str(line).unwrap();
        let message = &entry["message"];
        results.extend(message["toolCallId"].as_str().map(str::to_owned));
        for block in message["content"].as_array().into_iter().flatten().filter(|block| block["type"] == "toolCall") {
            let text = |name: &str| block[name].as_str().unwrap().to_owned();
            calls.push((text("id"), text("name")));
        }
    }
    (calls, results)
}

#[test]
fn a_call_without_an_id_of_its_own_gets_one_when_it_is_recorded() {
    let write = |id: Option<Value>, path: &str| sent(id, Some(json!("write")), json!({"path": path, "content": "x\n"}));
    let ids = [None, Some(Value::Null), Some(json!("")), Some(json!("same")), Some(json!("a b:c/é"))];
    for api in Api::OF_TEXT {
        for id in &ids {
            run(async {
                let replies = [body(api, &[write(id.clone(), "a"), write(id.clone(), "b")])];
                let replies = replies.map(|body| Reply { body: Some(body), ..Reply::default() });
                let world = World::speaking(api, replies.into_iter().chain([Reply::text("done"), Reply::text("more")]));
                let (agent, _events) = world.start();
                assert_eq!(agent.prompt("write").await, Ok(Settled::Done), "{api:?} {id:?}");
                assert_eq!(agent.prompt("on").await, Ok(Settled::Done), "{api:?} {id:?}");
                agent.close().await;
                world.no_problems();
                assert!(world.path("a").exists() && world.path("b").exists(), "{api:?} {id:?}");
                let (calls, results) = recorded(&world.lines());
                let ids: Vec<String> = calls.into_iter().map(|(id, _)| id).collect();
                assert_eq!(ids, results, "{api:?} {id:?}");
                assert!(ids[0] != ids[1] && !ids[0].is_empty(), "{api:?} {ids:?}");
            });
        }
    }
}

#[test]
fn a_name_of_no_tool_stays_in_the_file_and_is_mapped_in_requests() {
    let long = "x".repeat(300);
    let names = [
        None,
        Some(Value::Null),
        Some(json!("")),
        Some(json!("write file!")),
        Some(json!("multi_tool_use.parallel")),
        Some(json!("7 läuft")),
        Some(json!(long)),
    ];
    for api in Api::OF_TEXT {
        run(async {
            let calls: Vec<Sent> =
                names.iter().map(|name| sent(Some(json!("c")), name.clone(), json!({"path": "a"}))).collect();
            let first = Reply { body: Some(body(api, &calls)), ..Reply::default() };
            let world = World::speaking(api, [first, Reply::text("sorry"), Reply::text("more")]);
            let (agent, _events) = world.start();
            assert_eq!(agent.prompt("write").await, Ok(Settled::Done), "{api:?}");
            assert_eq!(agent.prompt("on").await, Ok(Settled::Done), "{api:?}");
            agent.close().await;
            world.no_problems();
            let (calls, _) = recorded(&world.lines());
            let kept: Vec<String> = calls.into_iter().map(|(_, name)| name).collect();
            assert_eq!(kept, ["", "", "", "write file!", "multi_tool_use.parallel", "7 läuft", &long], "{api:?}");
            let entries = world.entries();
            assert!(
                entries.contains("the call names no tool") && entries.contains("no tool named write file!"),
                "{entries}"
            );
        });
    }
}

/// Calls and results that other programs wrote, and offshoot before it made ids.
#[test]
fn odd_calls_of_a_file_are_repaired_in_every_request() {
    let call = |members: Value| {
        let mut call = json!({"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "a"}});
        for (name, value) in members.as_object().unwrap() {
            match value {
                Value::String(text) if text == "missing" => drop(call.as_object_mut().unwrap().remove(name)),
                value => call[name] = value.clone(),
            }
        }
        call
    };
    let long = "y".repeat(300);
    let cases = [
        (json!({"id": ""}), json!("")),
        (json!({"id": null}), json!(null)),
        (json!({"id": "missing"}), json!("missing")),
        (json!({"id": 5}), json!(5)),
        (json!({"id": 5}), json!("5")),
        (json!({"id": "|fc_1"}), json!("|fc_1")),
        (json!({"id": "a|"}), json!("a|")),
        (json!({"id": "a b:c/é"}), json!("a b:c/é")),
        (json!({"id": "___"}), json!("___")),
        (json!({"id": long}), json!(long)),
        (json!({}), json!("another")),
        (json!({"name": ""}), json!("c")),
        (json!({"name": null}), json!("c")),
        (json!({"name": "missing"}), json!("c")),
        (json!({"name": "write file!"}), json!("c")),
        (json!({"name": long}), json!("c")),
        (json!({"arguments": "missing"}), json!("c")),
        (json!({"arguments": null}), json!("c")),
        (json!({"arguments": "{\"path\": \"a"}), json!("c")),
        (json!({"arguments": [1]}), json!("c")),
        (json!({"argumentsError": 5, "thoughtSignature": null}), json!("c")),
        (json!({"arguments": {"path": "half"}, "argumentsError": "cut"}), json!("c")),
    ];
    for (members, result_id) in cases {
        for writer in Api::ALL {
            let call = call(members.clone());
            let mut session = Session::in_memory(&NewSession::default(), Options::default()).unwrap();
            let mut append = |message: Value| {
                let json = message.to_string();
                session.append(&NewEntry::message(Json::parse(&json).unwrap()).unwrap()).unwrap();
            };
            let from = model(writer, "");
            for _ in 0..2 {
                append(json!({"role": "user", "content": "go"}));
                append(json!({"role": "assistant", "content": [call, call], "stopReason": "toolUse",
                    "api": from.api, "provider": from.provider, "model": from.id}));
                for _ in 0..2 {
                    let mut result = json!({"role": "toolResult", "toolCallId": result_id, "toolName": "odd name!",
                        "content": [{"type": "text", "text": "r"}], "isError": null});
                    if result_id == "missing" {
                        result.as_object_mut().unwrap().remove("toolCallId");
                    }
                    append(result);
                }
            }
            append(json!({"role": "user", "content": "on"}));
            for api in Api::ALL {
                let frame = Frame {
                    model: model(api, "http://127.0.0.1:1").into(),
                    thinking: ThinkingLevel::High,
                    system: String::new(),
                    tools: Vec::new(),
                    key: None,
                };
                let built = request::build(&session, frame);
                let request = built.unwrap_or_else(|error| panic!("{members} {writer:?} to {api:?}: {error}")).request;
                let outgoing = Outgoing::new(&request).unwrap();
                let calls = outgoing.body.matches("\"half\"").count();
                assert_eq!(calls, 0, "arguments with an error are not sent: {}", outgoing.body);
                let path = format!("/models/{}:streamGenerateContent", request.model.id);
                let seen = Seen { api: Some(api), path, headers: Vec::new(), body: outgoing.body };
                assert_eq!(check::problems(&seen, KEY, &[]), [""; 0], "{members} {writer:?} to {api:?}");
            }
        }
    }
}
