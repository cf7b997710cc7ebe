//! What an answer becomes: text, thinking, calls, stop reasons, usage and cost, alike in all wire formats.

use offshoot_agent::provider::{Api, Delta};
use offshoot_agent::testing::script::{Reply, Say};
use offshoot_protocol::message::{Block, StopReason, Usage};
use serde_json::json;

use super::ask_once;

fn joined(deltas: &[Delta]) -> (String, String, String) {
    let (mut text, mut thinking, mut arguments) = (String::new(), String::new(), String::new());
    for delta in deltas {
        match delta {
            Delta::Text { delta, .. } => text.push_str(delta),
            Delta::Thinking { delta, .. } => thinking.push_str(delta),
            Delta::ToolCall { delta, .. } => arguments.push_str(delta),
            _ => {}
        }
    }
    (text, thinking, arguments)
}

#[test]
fn a_text_comes_in_pieces_and_whole() {
    for api in Api::ALL {
        let said = "Grüße, 日本: 😀 and \"quotes\"\n\\ back.";
        let (deltas, answer) = ask_once(api, Reply::text(said));
        assert_eq!(deltas[0], Delta::Start, "{api:?}");
        assert_eq!(deltas[1], Delta::TextStart { index: 0 }, "{api:?}");
        assert_eq!(deltas.last(), Some(&Delta::TextEnd { index: 0 }), "{api:?}");
        assert!(deltas.len() > 5, "{api:?}: {deltas:?}");
        assert_eq!(joined(&deltas).0, said, "{api:?}");
        let message = answer.message;
        assert!(matches!(&message.content[..], [Block::Text { text, .. }] if text == said), "{api:?}: {message:?}");
        assert_eq!((message.stop_reason, &message.error_message), (StopReason::Stop, &None), "{api:?}");
        let id = (api != Api::Bedrock).then_some("resp_0001");
        assert_eq!((message.api.as_str(), message.response_id.as_deref()), (api.as_str(), id));
        assert_eq!((message.timestamp, answer.failure), (super::NOW, None));
    }
}

#[test]
fn thinking_text_and_parallel_calls_keep_their_order_and_arguments() {
    let say = || {
        let call = |id: &str, path: &str| Say::Call {
            call: "read".to_owned(),
            id: id.to_owned(),
            arguments: json!({"path": path, "n": [1, {"deep": null}]}).as_object().cloned().unwrap(),
            signature: None,
        };
        [
            Say::Thinking { thinking: "Let me think.".to_owned(), signature: Some("c2lnbmVk".to_owned()) },
            Say::Text { text: "Looking.".to_owned() },
            call("c1", "a.txt"),
            call("c2", "ö \"b\".txt"),
        ]
    };
    for api in Api::ALL {
        let (deltas, answer) = ask_once(api, Reply::say(say()));
        let message = answer.message;
        assert_eq!(message.stop_reason, StopReason::ToolUse, "{api:?}");
        let [Block::Thinking { thinking, thinking_signature, redacted }, Block::Text { text, .. }, first, second] =
            &message.content[..]
        else {
            panic!("{api:?}: {:?}", message.content)
        };
        assert_eq!((thinking.as_str(), text.as_str(), redacted), ("Let me think.", "Looking.", &None), "{api:?}");
        // Mistral signs nothing.
        let signature = thinking_signature.clone().unwrap_or_default();
        assert_eq!(signature.contains("c2lnbmVk"), api != Api::Mistral, "{api:?}: {signature}");
        for (call, path) in [(first, "a.txt"), (second, "ö \"b\".txt")] {
            let Block::ToolCall { name, arguments, .. } = call else { panic!("{api:?}: {call:?}") };
            assert_eq!(name, "read");
            assert_eq!(*arguments, json!({"path": path, "n": [1, {"deep": null}]}), "{api:?}");
        }
        assert_ne!(first, second);
        let (text, thinking, arguments) = joined(&deltas);
        assert_eq!((text.as_str(), thinking.as_str()), ("Looking.", "Let me think."), "{api:?}");
        assert!(arguments.starts_with("{\"path\"") && arguments.contains("}{"), "{api:?}: {arguments}");
        assert_eq!(deltas.iter().filter(|delta| matches!(delta, Delta::ToolCallEnd { .. })).count(), 2, "{api:?}");
    }
}

#[test]
fn hidden_thinking_is_kept_without_words() {
    // Mistral hides nothing.
    for api in Api::ALL.into_iter().filter(|api| *api != Api::Mistral) {
        let (_, answer) = ask_once(
            api,
            Reply::say([Say::Redacted { redacted: "aGlkZGVu".to_owned() }, Say::Text { text: "ok".to_owned() }]),
        );
        let (signature, redacted) = match &answer.message.content[0] {
            Block::Thinking { thinking_signature, redacted, .. } => (thinking_signature, *redacted),
            Block::Text { text_signature, .. } if api == Api::Google => (text_signature, None),
            other => panic!("{api:?}: {other:?}"),
        };
        assert!(signature.as_deref().unwrap().contains("aGlkZGVu"), "{api:?}");
        assert_eq!(redacted, matches!(api, Api::Anthropic | Api::Bedrock).then_some(true), "{api:?}");
    }
}

#[test]
fn stop_reasons_mean_the_same_everywhere() {
    for api in Api::ALL {
        for stop in [StopReason::Stop, StopReason::Length] {
            let reply = Reply { stop: Some(stop), ..Reply::text("x") };
            assert_eq!(ask_once(api, reply).1.message.stop_reason, stop, "{api:?}");
        }
        let reply = Reply { stop: Some(StopReason::Error), ..Reply::text("x") };
        let (_, answer) = ask_once(api, reply);
        assert_eq!(answer.message.stop_reason, StopReason::Error, "{api:?}");
        let failure = answer.failure.unwrap();
        assert!(!failure.is_transient && !failure.is_overflow, "{api:?}: {failure:?}");
        let text = answer.message.error_message.unwrap();
        let reason = match api {
            Api::Anthropic => "refused",
            Api::Responses | Api::Completions | Api::Mistral => "content_filter",
            Api::Google => "SAFETY",
            Api::Bedrock => "guardrail_intervened",
        };
        assert!(text.contains(reason), "{api:?}: {text}");
    }
}

#[test]
fn tokens_of_the_cache_are_counted_once_and_cost_their_own_price() {
    for api in Api::ALL {
        // Google and Mistral do not tell what they wrote to their cache.
        let cache_write = if matches!(api, Api::Google | Api::Mistral) { 0 } else { 300 };
        let usage = Usage { input: 1000, output: 200, cache_read: 5000, cache_write, ..Usage::default() };
        let (_, answer) = ask_once(api, Reply { usage, ..Reply::text("x") });
        let got = answer.message.usage;
        assert_eq!((got.input, got.output, got.cache_read, got.cache_write), (1000, 200, 5000, cache_write), "{api:?}");
        assert_eq!(got.total_tokens, 6200 + cache_write, "{api:?}");
        let parts = [got.cost.input, got.cost.output, got.cost.cache_read, got.cost.cache_write];
        let expected = [0.002, 0.002, 0.001, cache_write as f64 * 2.5 / 1e6];
        assert!(parts.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-12), "{api:?}: {parts:?}");
        assert!((got.cost.total - parts.iter().sum::<f64>()).abs() < 1e-12);
    }
}
