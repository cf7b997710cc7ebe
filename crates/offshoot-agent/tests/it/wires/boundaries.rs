//! Streams cut anywhere: into pieces, which changes nothing, and off, which is never a complete answer.

use offshoot_agent::provider::{Answer, Api, Delta, Reader, Request};
use offshoot_agent::testing::script::{Reply, Say, Then};
use offshoot_agent::testing::server::Server;
use offshoot_protocol::message::{Block, StopReason};
use serde_json::json;

use super::{ask, model, request, user};

fn reply() -> Reply {
    Reply::say([
        Say::Thinking { thinking: "Hm, 考.".to_owned(), signature: Some("c2lnbmVk".to_owned()) },
        Say::Text { text: "Grüße 😀".to_owned() },
        Say::Call {
            call: "read".to_owned(),
            id: "c1".to_owned(),
            arguments: json!({"path": "ä.txt"}).as_object().cloned().unwrap(),
            signature: None,
        },
    ])
}

fn asked(api: Api) -> Request {
    request(model(api, "http://127.0.0.1:1"), vec![user("x")])
}

/// The body as a server sends it, recorded.
fn body(api: Api) -> Vec<u8> {
    offshoot_agent::testing::server::body(&reply(), api, &model(api, "").id)
}

fn read(api: Api, chunks: &[&[u8]]) -> (Vec<Delta>, Answer) {
    let mut reader = Reader::new(&asked(api), 7).unwrap();
    let mut deltas = reader.start();
    chunks.iter().for_each(|chunk| deltas.extend(reader.push(chunk)));
    deltas.extend(reader.end());
    match deltas.pop() {
        Some(Delta::Done(answer)) => (deltas, *answer),
        other => panic!("{api:?}: ended with {other:?}"),
    }
}

#[test]
fn pieces_of_any_size_give_the_same_deltas() {
    for api in Api::ALL {
        let body = body(api);
        let whole = read(api, &[&body]);
        assert_eq!(whole.1.message.stop_reason, StopReason::ToolUse, "{api:?}: {:?}", whole.1);
        for at in 0..=body.len() {
            assert_eq!(read(api, &[&body[..at], &body[at..]]), whole, "{api:?} split at {at}");
        }
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(read(api, &bytes), whole, "{api:?} byte by byte");
    }
}

/// Where a stream may end and still be whole: its last event is there, and nothing of it is missing.
fn is_whole(api: Api, sent: &[u8]) -> bool {
    if api == Api::Bedrock {
        return ends_between_frames(sent) && sent.windows(11).any(|part| part == b"messageStop");
    }
    let sent = String::from_utf8_lossy(sent);
    match api {
        Api::Anthropic => sent.contains("{\"type\":\"message_stop\"}"),
        Api::Responses => sent.contains("\"type\":\"response.completed\"}"),
        Api::Completions => sent.contains("\"finish_reason\":\"tool_calls\"}]}") && ends_between_events(&sent),
        Api::Bedrock => false,
        Api::Mistral => sent.contains("\"finish_reason\":\"tool_calls\"}]") && ends_between_events(&sent),
        Api::Google => sent.contains("\"finishReason\":\"STOP\"") && ends_between_events(&sent),
    }
}

/// A frame begins with its length.
fn ends_between_frames(mut sent: &[u8]) -> bool {
    while let Some((length, _)) = sent.split_first_chunk::<4>() {
        match sent.split_at_checked(u32::from_be_bytes(*length) as usize) {
            Some((_, rest)) => sent = rest,
            None => return false,
        }
    }
    sent.is_empty()
}

/// What comes last is no part of an event's data.
fn ends_between_events(sent: &str) -> bool {
    let last = sent.trim_end().rsplit('\n').next().unwrap_or_default();
    let data = last.strip_prefix("data:").unwrap_or_default().trim();
    data.is_empty() || data == "[DONE]" || serde_json::from_str::<serde_json::Value>(data).is_ok()
}

#[test]
fn a_stream_that_ends_early_is_an_error_and_keeps_what_came() {
    for api in Api::ALL {
        let body = body(api);
        let mut failed = 0;
        for at in 0..body.len() {
            let (_, answer) = read(api, &[&body[..at]]);
            if is_whole(api, &body[..at]) {
                assert_eq!(answer.message.stop_reason, StopReason::ToolUse, "{api:?} cut at {at}");
                continue;
            }
            failed += 1;
            assert_eq!(answer.message.stop_reason, StopReason::Error, "{api:?} cut at {at}: {answer:?}");
            assert!(answer.failure.is_some() && answer.message.error_message.is_some());
            for block in &answer.message.content {
                if let Block::ToolCall { arguments, .. } = block {
                    assert!(arguments.is_object(), "{api:?} cut at {at}");
                }
            }
        }
        assert!(failed * 10 > body.len() * 7, "{api:?}: only {failed} of {} cuts were errors", body.len());
    }
}

#[test]
fn an_answer_cut_off_on_the_network_is_never_complete() {
    for api in Api::ALL {
        let whole = body(api);
        let cuts: Vec<usize> = (0..whole.len()).filter(|at| !is_whole(api, &whole[..*at])).step_by(61).collect();
        let replies = cuts
            .iter()
            .flat_map(|at| [Then::End, Then::Drop].map(|then| Reply { cut: Some(*at), then, chunk: 7, ..reply() }));
        let server = Server::start(replies).unwrap();
        let asked = request(model(api, &server.base_url(api)), vec![user("x")]);
        for at in cuts {
            for then in [Then::End, Then::Drop] {
                let (_, answer) = ask(asked.clone());
                assert_eq!(answer.message.stop_reason, StopReason::Error, "{api:?} {then:?} at {at}");
                let failure = answer.failure.unwrap();
                let text = answer.message.error_message.unwrap();
                assert!(failure.is_transient || text.contains("could not read an event"), "{api:?} at {at}: {text}");
            }
        }
        assert_eq!(server.problems(), [""; 0]);
    }
}

#[test]
fn broken_utf8_and_broken_events_are_errors_or_shown_as_such() {
    for api in Api::OF_TEXT {
        let broken = "event: message_start\ndata: {\"type\": \"message_start\", \"choices\": {{\n\n";
        let (_, answer) = read(api, &[broken.as_bytes()]);
        let text = answer.message.error_message.unwrap();
        assert!(text.contains("could not read an event"), "{api:?}: {text}");
        let (_, answer) = read(api, &[b"data: \xff\xfe{}\n\n"]);
        assert_eq!(answer.message.stop_reason, StopReason::Error);
    }
}
