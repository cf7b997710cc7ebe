//! Conversations that go back: signatures byte for byte, results after their calls, other models' turns converted.

use offshoot_agent::provider::{Api, Outgoing, Request, problems};
use offshoot_agent::testing::script::{Reply, Say};
use offshoot_agent::testing::server::Server;
use offshoot_protocol::message::{AssistantMessage, Content, StopReason, UserMessage};
use offshoot_protocol::model::{Compat, Model};
use offshoot_protocol::{Levels, ThinkingBudgets, ThinkingLevel};
use serde_json::json;

use super::{ask, ask_anyway, image, model, request, results, text, user};

fn thoughtful(id: &str, mark: &str) -> Reply {
    let call = |id: String| Say::Call {
        call: "read".to_owned(),
        id,
        arguments: json!({"path": "a"}).as_object().cloned().unwrap(),
        signature: Some(format!("{mark}Y2Fs")),
    };
    Reply::say([
        Say::Thinking { thinking: "Hm.".to_owned(), signature: Some(format!("{mark}+/==")) },
        Say::Redacted { redacted: format!("{mark}aGlk") },
        Say::Text { text: "Looking.".to_owned() },
        call(format!("{id}_1")),
        call(format!("{id}_2")),
    ])
}

/// A server that knows the first turns.
fn server(api: Api, replies: impl IntoIterator<Item = Reply>) -> Server {
    let server = Server::start(replies).unwrap();
    server.remember(&thoughtful("call", "bWFy"), api, &model(api, "").id);
    server
}

/// Asks once with every wire format, each of them with its own session.
fn first_turns() -> Vec<(Api, AssistantMessage)> {
    Api::ALL
        .into_iter()
        .map(|api| {
            let server = Server::start([thoughtful("call", "bWFy")]).unwrap();
            let (_, answer) = ask(request(model(api, &server.base_url(api)), vec![user("x")]));
            assert_eq!(server.problems(), [""; 0]);
            (api, answer.message)
        })
        .collect()
}

#[test]
fn signatures_and_results_go_back_to_the_model_that_they_came_from() {
    for api in Api::ALL {
        let server =
            Server::start([thoughtful("one", "MTEx"), thoughtful("two", "MjIy"), Reply::text("done")]).unwrap();
        let mut messages = vec![user("go")];
        for _ in 0..2 {
            let (_, answer) = ask(request(model(api, &server.base_url(api)), messages.clone()));
            messages.push(answer.message.clone().into());
            messages.extend(results(&answer.message, &[text("content"), image()]));
        }
        let (_, answer) = ask(request(model(api, &server.base_url(api)), messages));
        assert_eq!(answer.message.stop_reason, StopReason::Stop);
        // The server itself compares what it gave out with what came back.
        assert_eq!(server.problems(), [""; 0], "{api:?}");
        assert!(server.seen()[2].body.contains("iVBORw0KGgo="), "{api:?}");
    }
}

#[test]
fn the_thought_of_a_responses_model_goes_back_as_the_text_that_came() {
    // Spaces, an odd number and an escape that a second printing would change.
    let item = r#"{"type": "reasoning","id":"rs_7", "summary":[], "n": 1.0e2,"encrypted_content":"a\u002fb"}"#;
    let added = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_7","summary":[]}}"#;
    let done = format!("{{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{item}}}");
    let end = r#"{"type":"response.completed","response":{"status":"completed"}}"#;
    let stream: String = [added, &done, end].iter().map(|data| format!("data: {data}\n\n")).collect();
    let server = Server::start([Reply::raw(&stream), Reply::text("done")]).unwrap();
    let model = model(Api::Responses, &server.base_url(Api::Responses));
    let (_, mut answer) = ask(request(model.clone(), vec![user("go")]));
    // A thought that nothing follows is not sent.
    answer.message.content.push(text("said"));
    ask(request(model, vec![user("go"), answer.message.into(), user("on")]));
    let body = &server.seen()[1].body;
    assert!(body.contains(item), "{body}");
}

#[test]
fn a_session_of_all_providers_goes_to_each_of_them() {
    let turns = first_turns();
    for api in Api::ALL {
        let server = Server::start([Reply::text("done")]).unwrap();
        let mut messages = vec![user("go")];
        for (_, turn) in turns.iter().filter(|(from, _)| *from != api) {
            messages.push(turn.clone().into());
            messages.extend(results(turn, &[text("content")]));
        }
        ask(request(model(api, &server.base_url(api)), messages));
        // No signature of another model leaves, and every id fits.
        assert_eq!(server.problems(), [""; 0], "{api:?}");
        let body = &server.seen()[0].body;
        assert!(!body.contains("Hm."), "as text, it would be part of the answer: {api:?}");
        assert!(!body.contains("bWFy"), "{api:?}: {body}");
        assert!(!body.contains("[Reasoning redacted]"), "{api:?}: {body}");
    }
}

#[test]
fn another_model_of_the_same_provider_gets_no_signatures() {
    for (api, turn) in first_turns() {
        let server = Server::start([Reply::text("done")]).unwrap();
        let mut other = model(api, &server.base_url(api));
        other.id = format!("{}-2", other.id);
        let mut messages = vec![user("go"), turn.clone().into()];
        messages.extend(results(&turn, &[text("content")]));
        ask(request(other, messages));
        assert_eq!(server.problems(), [""; 0], "{api:?}");
        assert!(!server.seen()[0].body.contains("bWFy"), "{api:?}");
    }
}

#[test]
fn conversations_that_are_broken_are_mended_before_they_leave() {
    for (api, turn) in first_turns() {
        let server = server(api, [Reply::text("done")]);
        let failed = AssistantMessage { stop_reason: StopReason::Error, ..turn.clone() };
        let empty = AssistantMessage { content: vec![text("  ")], stop_reason: StopReason::Stop, ..turn.clone() };
        let stray = results(&turn, &[text("nobody asked")]);
        let one = results(&turn, &[]).into_iter().take(1);
        let mut messages = stray;
        messages.extend([user("go"), failed.into(), empty.into(), user("and")]);
        messages.push(turn.clone().into());
        messages.extend(one);
        // The same ids once more, and never answered.
        messages.extend([user("again"), turn.into(), user("last")]);
        assert!(!problems(&messages).is_empty());
        ask_anyway(request(model(api, &server.base_url(api)), messages));
        assert_eq!(server.problems(), [""; 0], "{api:?}");
    }
}

#[test]
fn pictures_go_to_models_that_see_and_become_words_for_others() {
    for (api, turn) in first_turns() {
        let server = server(api, [Reply::text("seen"), Reply::text("not seen")]);
        let shown = UserMessage { content: Content::Blocks(vec![text("look"), image(), image()]), timestamp: 1 };
        let mut messages = vec![shown.into(), turn.clone().into()];
        messages.extend(results(&turn, &[image()]));
        let mut model = model(api, &server.base_url(api));
        ask(request(model.clone(), messages.clone()));
        model.images = false;
        ask(request(model, messages));
        assert_eq!(server.problems(), [""; 0], "{api:?}");
        let seen = server.seen();
        assert_eq!(seen[0].body.matches("iVBORw0KGgo=").count(), 4, "{api:?}");
        assert!(!seen[1].body.contains("iVBORw0KGgo="), "{api:?}");
        assert_eq!(seen[1].body.matches("(image omitted: model does not support images)").count(), 1, "{api:?}");
        assert_eq!(seen[1].body.matches("(tool image omitted: model does not support images)").count(), 2, "{api:?}");
    }
}

#[test]
fn the_user_says_how_many_tokens_a_level_is() {
    let server = Server::start([Reply::text("x"), Reply::text("x")]).unwrap();
    let budgets = ThinkingBudgets { medium: Some(1500), high: Some(3000), ..ThinkingBudgets::default() };
    let model = Model { budgets, ..model(Api::Anthropic, &server.base_url(Api::Anthropic)) };
    for thinking in [ThinkingLevel::High, ThinkingLevel::Low] {
        ask(Request { thinking, ..request(model.clone(), vec![user("x")]) });
    }
    let sent: Vec<_> = server.seen().iter().map(|seen| seen.json()["thinking"]["budget_tokens"].clone()).collect();
    assert_eq!(sent, [json!(3000), json!(2048)]);
}

#[test]
fn each_wire_marks_its_cache_and_asks_for_thinking_in_its_way() {
    let body = |api| {
        let server = Server::start([Reply::text("x")]).unwrap();
        ask(request(model(api, &server.base_url(api)), vec![user("x")]));
        assert_eq!(server.problems(), [""; 0]);
        server.seen()[0].json()
    };
    let sent = body(Api::Anthropic);
    let mark = json!({"type": "ephemeral"});
    for place in ["/system/0", "/tools/0", "/messages/0/content/0"] {
        assert_eq!(sent.pointer(place).unwrap()["cache_control"], mark, "{place}");
    }
    assert_eq!(sent["thinking"], json!({"type": "enabled", "budget_tokens": 16384, "display": "summarized"}));
    let sent = body(Api::Responses);
    assert_eq!((&sent["prompt_cache_key"], &sent["store"]), (&json!("session-1"), &json!(false)));
    assert_eq!(sent["reasoning"], json!({"effort": "high", "summary": "auto"}));
    assert_eq!(sent["include"], json!(["reasoning.encrypted_content"]));
    let sent = body(Api::Completions);
    assert_eq!(sent["stream_options"], json!({"include_usage": true}));
    assert_eq!((&sent["reasoning_effort"], &sent["messages"][0]["role"]), (&json!("high"), &json!("system")));
    let sent = body(Api::Google);
    assert_eq!(sent["generationConfig"]["thinkingConfig"], json!({"includeThoughts": true, "thinkingLevel": "HIGH"}));
    assert_eq!(sent["systemInstruction"]["parts"][0]["text"], json!("You are a test."));
}

#[test]
fn a_model_that_decides_itself_how_much_to_think_is_told_an_effort() {
    let sent = |levels: Levels, level| {
        let compat = Compat { force_adaptive_thinking: Some(true), ..Compat::default() };
        let model = Model { compat, levels, ..model(Api::Anthropic, "http://x") };
        let mut asked = request(model, vec![user("x")]);
        asked.thinking = level;
        let outgoing = Outgoing::new(&asked).unwrap();
        assert!(outgoing.headers.iter().all(|(name, _)| name != "anthropic-beta"));
        let body: serde_json::Value = serde_json::from_str(&outgoing.body).unwrap();
        (body["thinking"].clone(), body["output_config"].clone())
    };
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    let all = || Levels::new([("off", None), ("xhigh", Some("xhigh".to_owned())), ("max", Some("max".to_owned()))]);
    assert_eq!(sent(all(), ThinkingLevel::Max), (adaptive.clone(), json!({"effort": "max"})));
    assert_eq!(sent(Levels::default(), ThinkingLevel::Max), (adaptive.clone(), json!({"effort": "high"})));
    assert_eq!(sent(all(), ThinkingLevel::Minimal), (adaptive, json!({"effort": "low"})));
    assert_eq!(sent(Levels::default(), ThinkingLevel::Off).0, json!({"type": "disabled"}));
    assert_eq!(sent(all(), ThinkingLevel::Off), (json!(null), json!(null)));
}
