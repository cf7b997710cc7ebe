//! Half a surrogate pair in a stream: halves that meet are one character, others become U+FFFD.

use offshoot_agent::provider::{Answer, Api, Delta, Reader};
use offshoot_protocol::message::{Block, text_of};
use serde_json::json;

use super::{model, request, user};

/// A stream whose thinking, text and arguments are these pieces, as they are written within a JSON string.
fn stream(api: Api, pieces: &[&str]) -> Vec<String> {
    let pieces = || pieces.iter().map(|piece| (*piece).to_owned());
    let arguments = || [r#"{\"path\":\""#.to_owned()].into_iter().chain(pieces()).chain([r#"\"}"#.to_owned()]);
    let mut events: Vec<String> = Vec::new();
    match api {
        Api::Anthropic => {
            events.push(r#"{"type":"message_start","message":{}}"#.to_owned());
            let mut block = |index: usize,
                             start: &str,
                             kind: &str,
                             member: &str,
                             pieces: &mut dyn Iterator<Item = String>| {
                events.push(format!(r#"{{"type":"content_block_start","index":{index},"content_block":{start}}}"#));
                events.extend(pieces.map(|piece| {
                    format!(r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"{kind}","{member}":"{piece}"}}}}"#)
                }));
                events.push(format!(r#"{{"type":"content_block_stop","index":{index}}}"#));
            };
            block(0, r#"{"type":"thinking","thinking":""}"#, "thinking_delta", "thinking", &mut pieces());
            block(1, r#"{"type":"text","text":""}"#, "text_delta", "text", &mut pieces());
            let call = r#"{"type":"tool_use","id":"c","name":"read","input":{}}"#;
            block(2, call, "input_json_delta", "partial_json", &mut arguments());
            events.push(r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#.to_owned());
            events.push(r#"{"type":"message_stop"}"#.to_owned());
        }
        Api::Completions => {
            let chunk = |delta: String| format!(r#"{{"choices":[{{"delta":{{{delta}}}}}]}}"#);
            events.extend(pieces().map(|piece| {
                chunk(format!(
                    r#""reasoning":"{piece}","reasoning_details":[{{"type":"reasoning.text","text":"{piece}"}}]"#
                ))
            }));
            events.extend(pieces().map(|piece| chunk(format!(r#""content":"{piece}""#))));
            events.push(chunk(
                r#""tool_calls":[{"index":0,"id":"c","function":{"name":"read","arguments":""}}]"#.to_owned(),
            ));
            events.extend(
                arguments().map(|piece| {
                    chunk(format!(r#""tool_calls":[{{"index":0,"function":{{"arguments":"{piece}"}}}}]"#))
                }),
            );
            events.push(r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#.to_owned());
            events.push("[DONE]".to_owned());
        }
        Api::Mistral => {
            let chunk = |delta: String| format!(r#"{{"choices":[{{"delta":{{{delta}}}}}]}}"#);
            events.extend(pieces().map(|piece| {
                chunk(format!(r#""content":[{{"type":"thinking","thinking":[{{"type":"text","text":"{piece}"}}]}}]"#))
            }));
            events.extend(pieces().map(|piece| chunk(format!(r#""content":"{piece}""#))));
            let call = r#""index":0,"id":"c","function":{"name":"read","arguments":""}"#;
            events.push(chunk(format!(r#""tool_calls":[{{{call}}}]"#)));
            events.extend(
                arguments().map(|piece| {
                    chunk(format!(r#""tool_calls":[{{"index":0,"function":{{"arguments":"{piece}"}}}}]"#))
                }),
            );
            events.push(r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#.to_owned());
        }
        Api::Bedrock => {}
        Api::Responses => {
            let mut item = |index: usize, item: &str, kind: &str, pieces: &mut dyn Iterator<Item = String>| {
                let step = |step: &str| {
                    format!(r#"{{"type":"response.output_item.{step}","output_index":{index},"item":{item}}}"#)
                };
                events.push(step("added"));
                events.extend(pieces.map(|piece| {
                    format!(r#"{{"type":"response.{kind}.delta","output_index":{index},"delta":"{piece}"}}"#)
                }));
                events.push(step("done"));
            };
            item(0, r#"{"type":"reasoning","id":"rs_1"}"#, "reasoning_summary_text", &mut pieces());
            item(1, r#"{"type":"message","id":"msg_1"}"#, "output_text", &mut pieces());
            let call = r#"{"type":"function_call","id":"fc_1","call_id":"c","name":"read"}"#;
            item(2, call, "function_call_arguments", &mut arguments());
            events.push(r#"{"type":"response.completed","response":{"status":"completed"}}"#.to_owned());
        }
        Api::Google => {
            let parts = |parts: String| format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}]}}}}]}}"#);
            events.extend(pieces().map(|piece| parts(format!(r#"{{"text":"{piece}","thought":true}}"#))));
            events.extend(pieces().map(|piece| parts(format!(r#"{{"text":"{piece}"}}"#))));
            // Calls are never split.
            let whole: String = pieces().collect();
            events.push(parts(format!(r#"{{"functionCall":{{"id":"c","name":"read","args":{{"path":"{whole}"}}}}}}"#)));
            events.push(r#"{"candidates":[{"finishReason":"STOP"}]}"#.to_owned());
        }
    }
    events
}

fn read(api: Api, events: &[String]) -> (Vec<Delta>, Answer) {
    let mut reader = Reader::new(&request(model(api, "http://x"), vec![user("x")]), 7).unwrap();
    let mut deltas = reader.start();
    for event in events {
        deltas.extend(reader.push(format!("data: {event}\n\n").as_bytes()));
    }
    deltas.extend(reader.end());
    match deltas.pop() {
        Some(Delta::Done(answer)) => (deltas, *answer),
        other => panic!("ended with {other:?}"),
    }
}

/// Thinking, text and arguments, first of the deltas, then of the message.
fn said(deltas: &[Delta], answer: &Answer) -> [[String; 3]; 2] {
    let mut streamed = [const { String::new() }; 3];
    for delta in deltas {
        match delta {
            Delta::Thinking { delta, .. } => streamed[0].push_str(delta),
            Delta::Text { delta, .. } => streamed[1].push_str(delta),
            Delta::ToolCall { delta, .. } => streamed[2].push_str(delta),
            _ => {}
        }
    }
    let content = &answer.message.content;
    let thought = content.iter().find_map(|block| match block {
        Block::Thinking { thinking, .. } => Some(thinking.clone()),
        _ => None,
    });
    let call = content.iter().find_map(|block| match block {
        Block::ToolCall { arguments, .. } => Some(arguments.to_string()),
        _ => None,
    });
    [streamed, [thought.unwrap_or_default(), text_of(content), call.unwrap_or_default()]]
}

#[test]
fn halves_that_meet_are_one_character_and_others_are_replaced() {
    for api in Api::OF_TEXT {
        for (pieces, whole) in [
            (&[r"a\ud83d", r"\ude00b"][..], "a😀b"),
            (&[r"\ud83d", "", r"\ude00"], "😀"),
            (&[r"a\ud83d\ude00\uD83D", r"\uDe00"], "a😀😀"),
            (&[r"a\ud83d", "b"], "a\u{fffd}b"),
            (&[r"a\ude00", r"\ud83db"], "a\u{fffd}\u{fffd}b"),
            (&[r"\ud83d", r"\ud83d", r"\ude00"], "\u{fffd}😀"),
            (&["a", r"\ud83d"], "a\u{fffd}"),
        ] {
            let (deltas, answer) = read(api, &stream(api, pieces));
            let arguments = json!({"path": whole}).to_string();
            let expected = [whole.to_owned(), whole.to_owned(), arguments];
            assert_eq!(answer.failure, None, "{api:?} {pieces:?}: {:?}", answer.message.error_message);
            assert_eq!(said(&deltas, &answer), [expected.clone(), expected], "{api:?} {pieces:?}");
            if let (Api::Completions, Block::Thinking { thinking_signature: Some(details), .. }) =
                (api, &answer.message.content[0])
            {
                assert_eq!(details, &json!([{"type": "reasoning.text", "text": whole}]).to_string(), "{pieces:?}");
            }
        }
    }
}

#[test]
fn a_half_that_waits_is_told_before_its_block_ends_or_the_stream_breaks() {
    for api in Api::OF_TEXT {
        let events = stream(api, &["a", r"\ud83d"]);
        let (deltas, answer) = read(api, &events);
        let texts = said(&deltas, &answer);
        assert_eq!(texts[0][1], "a\u{fffd}");
        let end = deltas.iter().position(|delta| matches!(delta, Delta::TextEnd { .. })).unwrap();
        let last = deltas.iter().rposition(|delta| matches!(delta, Delta::Text { .. })).unwrap();
        assert!(last < end, "{api:?}");
        // The connection ends within the pair.
        let cut = events.iter().rposition(|event| event.contains(r"\ud83d") && !event.contains("path")).unwrap();
        let (deltas, answer) = read(api, &events[..=cut]);
        assert_eq!(said(&deltas, &answer)[0][1], "a\u{fffd}", "{api:?}");
        assert_eq!(text_of(&answer.message.content), "a\u{fffd}", "{api:?}");
    }
}

#[test]
fn names_ids_signatures_and_errors_may_have_half_a_character() {
    let start = r#"{"type":"message_start","message":{"id":"m\ud83d"}}"#;
    let call = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c\ud83d","name":"re\ud83dad","input":{}}}"#;
    let events =
        [start, call, r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#, r#"{"type":"message_stop"}"#];
    let (deltas, answer) = read(Api::Anthropic, &events.map(str::to_owned));
    assert_eq!(answer.failure, None);
    assert_eq!(answer.message.response_id.as_deref(), Some("m\u{fffd}"));
    let Block::ToolCall { id, name, .. } = &answer.message.content[0] else { panic!("{answer:?}") };
    assert_eq!((id.as_str(), name.as_str()), ("c\u{fffd}", "re\u{fffd}ad"));
    assert!(deltas.iter().any(|delta| matches!(delta, Delta::ToolCallStart { name, .. } if name == "re\u{fffd}ad")));
    let item = r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x","n":"\ud83d"}"#;
    let events = [
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1"}}"#.to_owned(),
        format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#),
        r#"{"type":"response.completed","response":{"status":"completed"}}"#.to_owned(),
    ];
    let (_, answer) = read(Api::Responses, &events);
    let Block::Thinking { thinking_signature: Some(signature), .. } = &answer.message.content[0] else {
        panic!("{answer:?}")
    };
    assert!(signature.contains(r#""encrypted_content":"x","n":""#), "{signature}");
    let (_, answer) = read(Api::Completions, &[r#"{"error":{"message":"no \ud83d"}}"#.to_owned()]);
    assert!(answer.message.error_message.unwrap().contains("no "));
}

#[test]
fn numbers_and_depth_that_javascript_reads_end_no_answer() {
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    for (api, odd) in [
        (Api::Anthropic, format!(r#"{{"type":"ping","x":1e999,"y":{deep}}}"#)),
        (Api::Completions, format!(r#"{{"choices":[],"x":1e999,"y":{deep},"usage":{{"prompt_tokens":1e999}}}}"#)),
        (Api::Responses, format!(r#"{{"type":"response.in_progress","x":1e999,"y":{deep}}}"#)),
        (Api::Mistral, format!(r#"{{"choices":[],"x":1e999,"y":{deep},"usage":{{"prompt_tokens":1e999}}}}"#)),
        (Api::Google, format!(r#"{{"x":1e999,"y":{deep}}}"#)),
    ] {
        let mut events = stream(api, &["a"]);
        events.insert(1, odd);
        let (deltas, answer) = read(api, &events);
        assert_eq!(answer.failure, None, "{api:?}: {:?}", answer.message.error_message);
        assert_eq!(said(&deltas, &answer)[1][1], "a", "{api:?}");
    }
}
