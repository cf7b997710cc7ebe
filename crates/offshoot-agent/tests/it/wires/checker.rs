//! The server's own eyes: it must see each thing that a provider would refuse.

use offshoot_agent::provider::{Api, is_silent_overflow, problems};
use offshoot_agent::testing::check;
use offshoot_agent::testing::script::{Reply, Say};
use offshoot_agent::testing::seen::Seen;
use offshoot_agent::testing::server::KEY;
use offshoot_protocol::message::{AssistantMessage, Message, StopReason, Usage};
use serde_json::{Value, json};

use super::{ask_once, results, text, user};

fn seen(api: Api, body: &Value) -> Vec<String> {
    let seen = Seen { api: Some(api), path: "/x".to_owned(), headers: Vec::new(), body: body.to_string() };
    check::problems(&seen, KEY, &[])
}

#[test]
fn orphans_are_seen_in_every_wire() {
    let call = json!({"type": "tool_use", "id": "c", "name": "read", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "c", "content": "x"});
    let asked = json!({"role": "user", "content": [{"type": "text", "text": "x"}]});
    let anthropic = |messages: Value| json!({"max_tokens": 9, "messages": messages});
    let tool_call = json!({"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}});
    let said = json!({"role": "user", "parts": [{"text": "x"}]});
    let gemini = |name: &str| json!({name: {"name": "read", "id": "c"}});
    let cases = [
        (Api::Anthropic, anthropic(json!([asked, {"role": "assistant", "content": [call]}, asked]))),
        (Api::Anthropic, anthropic(json!([{"role": "user", "content": [result]}]))),
        (
            Api::Completions,
            json!({"messages": [{"role": "assistant", "tool_calls": [tool_call]}, {"role": "user", "content": "x"}]}),
        ),
        (Api::Completions, json!({"messages": [{"role": "tool", "tool_call_id": "c", "content": "x"}]})),
        (
            Api::Responses,
            json!({"input": [{"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}, {"role": "user", "content": "x"}]}),
        ),
        (Api::Responses, json!({"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]})),
        (Api::Google, json!({"contents": [said, {"role": "model", "parts": [gemini("functionCall")]}, said]})),
        (Api::Google, json!({"contents": [{"role": "user", "parts": [gemini("functionResponse")]}]})),
    ];
    for (api, body) in cases {
        assert_eq!(seen(api, &body).len(), 1, "{api:?} {body}: {:?}", seen(api, &body));
    }
}

#[test]
fn the_order_of_roles_and_repeated_calls_are_seen() {
    let asked = json!({"role": "user", "content": [{"type": "text", "text": "x"}]});
    let said = json!({"role": "assistant", "content": [{"type": "text", "text": "x"}]});
    let body = json!({"max_tokens": 9, "messages": [said, asked]});
    assert_eq!(seen(Api::Anthropic, &body), ["the first message is not the user's"]);
    let (user, model) =
        (json!({"role": "user", "parts": [{"text": "x"}]}), json!({"role": "model", "parts": [{"text": "x"}]}));
    let body = json!({"contents": [user, model, model, user]});
    assert_eq!(seen(Api::Google, &body), ["content 2: the model speaks before the user"]);
    let call = |id: &str| json!({"role": "assistant", "tool_calls": [{"id": id, "function": {"name": "read", "arguments": "{}"}}]});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "x"});
    let body = |second: &str| json!({"messages": [call("c"), result("c"), call(second), result(second)]});
    assert_eq!(seen(Api::Completions, &body("d")), [""; 0]);
    assert_eq!(seen(Api::Completions, &body("c")).len(), 1);
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"});
    let result = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "x"});
    let body = |second: &str| json!({"input": [call("c"), result("c"), call(second), result(second)]});
    assert_eq!(seen(Api::Responses, &body("d")), [""; 0]);
    assert_eq!(seen(Api::Responses, &body("c")).len(), 1);
}

#[test]
fn a_key_in_the_wrong_place_and_a_strange_signature_are_seen() {
    let body = json!({"max_tokens": 9, "messages": [{"role": "user", "content": [{"type": "text", "text": KEY}]}]});
    assert_eq!(seen(Api::Anthropic, &body), ["the key is not only in a header"]);
    let thought = json!({"type": "thinking", "thinking": "x", "signature": "forged"});
    let asked = json!({"role": "user", "content": [{"type": "text", "text": "x"}]});
    let body = json!({"max_tokens": 9, "messages": [asked, {"role": "assistant", "content": [thought]}, asked]});
    assert_eq!(seen(Api::Anthropic, &body), ["the signature `forged` is none of this model"]);
}

#[test]
fn problems_are_named_by_their_message() {
    let (_, answer) = ask_once(Api::Anthropic, Reply::call("read", "c1", json!({})));
    let turn = answer.message;
    let asked = Message::from(turn.clone());
    let answered = results(&turn, &[text("x")]).remove(0);
    let found = |messages: &[Message]| {
        let named = problems(messages).into_iter().map(|problem| format!("{}: {}", problem.message, problem.what));
        named.collect::<Vec<_>>()
    };
    assert_eq!(found(&[user("x"), asked.clone(), answered.clone(), user("y")]), [""; 0]);
    assert_eq!(found(std::slice::from_ref(&asked)), ["0: call `c1` has no result"]);
    assert_eq!(found(&[asked.clone(), user("x")]), ["0: call `c1` has no result"]);
    assert_eq!(found(std::slice::from_ref(&answered)), ["0: the result is of call `c1`, which is not open"]);
    assert_eq!(found(&[asked, answered.clone(), answered]), ["2: the result is of call `c1`, which is not open"]);
    let failed = AssistantMessage { stop_reason: StopReason::Aborted, ..turn };
    assert_eq!(found(&[failed.into()]), ["0: the answer failed or was stopped"]);
}

#[test]
fn an_overflow_that_nobody_mentions_shows_in_the_numbers() {
    let (_, answer) = ask_once(Api::Anthropic, Reply::text("x"));
    let with = |stop_reason, input, output| AssistantMessage {
        stop_reason,
        usage: Usage { input, output, cache_read: 10, ..Usage::default() },
        ..answer.message.clone()
    };
    assert!(is_silent_overflow(&with(StopReason::Stop, 991, 5), 1000));
    assert!(!is_silent_overflow(&with(StopReason::Stop, 990, 5), 1000));
    assert!(is_silent_overflow(&with(StopReason::Length, 980, 0), 1000));
    assert!(!is_silent_overflow(&with(StopReason::Length, 980, 1), 1000));
    assert!(!is_silent_overflow(&with(StopReason::Stop, 991, 5), 0));
}

#[test]
fn a_script_is_read_line_by_line() {
    let script = "{\"say\": [{\"thinking\": \"t\", \"signature\": \"s\"}, {\"text\": \"x\"}, {\"call\": \"read\", \"id\": \"c\"}, \
                  {\"redacted\": \"r\"}], \"usage\": {\"input\": 3}, \"then\": \"drop\"}\n\n{\"status\": 429, \"body\": \"no\"}\n";
    let replies = Reply::parse_lines(script).unwrap();
    assert_eq!(replies.len(), 2);
    let [Say::Thinking { .. }, Say::Text { .. }, Say::Call { .. }, Say::Redacted { .. }] = &replies[0].say[..] else {
        panic!("{:?}", replies[0].say)
    };
    assert_eq!((replies[0].usage.input, replies[1].status), (3, 429));
    assert!(Reply::parse_lines("{}\n{\"sya\": []}").unwrap_err().contains("line 2"));
}
