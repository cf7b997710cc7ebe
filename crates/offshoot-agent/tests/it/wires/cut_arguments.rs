//! Arguments that were cut under a well-formed end: a tool runs only if the whole text parses.

use std::collections::HashMap;

use offshoot_agent::provider::{Api, Delta, Reader, failed_answer};
use offshoot_agent::turn::{Call, Effect, Record, TurnConfig, TurnInput, TurnState, step};
use offshoot_protocol::Event;
use offshoot_protocol::message::{AssistantMessage, Block, Message, StopReason, text_of};
use serde_json::{Value, json};

use super::{model, request, user};

/// The arguments of calls as models write them.
const WRITTEN: [&str; 20] = [
    r#"{}"#,
    r#"{"command":"rm -rf build/cache/tmp"}"#,
    r#"{"command": "ls -la", "timeout": 120}"#,
    r#"{"path":"a.txt","content":"one\ntwo\n"}"#,
    r#"{ "path" : "src/ä 日本 😀.rs" }"#,
    r#"{"path":"a.txt","edits":[{"oldText":"one","newText":"two"}]}"#,
    r#"{"path":"a","edits":[{"oldText":"{\"a\":1}","newText":"{}"},{"oldText":"[","newText":"]"}]}"#,
    r#"{"pattern":"fn \\w+\\(","path":".","limit":50}"#,
    r#"{"pattern":"\u00e9\ud83d\ude00","ignoreCase":true}"#,
    r#"{"a":null,"b":false,"c":true}"#,
    r#"{"n":-1.5e3,"m":0,"k":12345678901234567890}"#,
    r#"{"deep":{"er":{"est":{"list":[[[[1]]]]}}}}"#,
    r#"{"":"","a":{}}"#,
    r#"{"command":"cat <<'X'\n{\"a\": \"}\"}\nX"}"#,
    "{\"command\":\"two\nraw lines\tand a tab\"}",
    "{\"pattern\":\"\\d+\\s\"}",
    "\n  {\"path\": \"a\"}\n\n",
    r#"{"path":"C:\\Users\\x\\"}"#,
    r#"{"content":"// {\"x\": [1,\n","path":"b"}"#,
    r#"{"questions":[{"q":"a?","options":["x","y"]},{"q":"b?","options":[]}],"all":true}"#,
];

/// How the text of one call reaches the end of its answer.
#[derive(Debug, Clone, Copy)]
enum Way {
    Anthropic,
    Completions,
    /// Deltas and every closing event.
    Responses,
    /// Deltas, without `…arguments.done` and without arguments in the item.
    ResponsesDeltas,
    /// No delta: `…arguments.done` alone.
    ResponsesDone,
    /// No delta and no `…arguments.done`: the item alone.
    ResponsesItem,
}

impl Way {
    const ALL: [Self; 6] = [
        Self::Anthropic,
        Self::Completions,
        Self::Responses,
        Self::ResponsesDeltas,
        Self::ResponsesDone,
        Self::ResponsesItem,
    ];

    fn api(self) -> Api {
        match self {
            Self::Anthropic => Api::Anthropic,
            Self::Completions => Api::Completions,
            Self::Responses | Self::ResponsesDeltas | Self::ResponsesDone | Self::ResponsesItem => Api::Responses,
        }
    }

    fn events(self, text: &str) -> Vec<Value> {
        match self {
            Self::Anthropic => vec![
                json!({"type": "message_start", "message": {"id": "m"}}),
                json!({"type": "content_block_start", "index": 0,
                    "content_block": {"type": "tool_use", "id": "c1", "name": "bash", "input": {}}}),
                json!({"type": "content_block_delta", "index": 0,
                    "delta": {"type": "input_json_delta", "partial_json": text}}),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
                json!({"type": "message_stop"}),
            ],
            Self::Completions => {
                let call = json!({"index": 0, "id": "c1", "function": {"name": "bash", "arguments": text}});
                vec![
                    json!({"choices": [{"delta": {"tool_calls": [call]}}]}),
                    json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
                    json!("[DONE]"),
                ]
            }
            Self::Responses | Self::ResponsesDeltas | Self::ResponsesDone | Self::ResponsesItem => self.responses(text),
        }
    }

    fn responses(self, text: &str) -> Vec<Value> {
        let of = |arguments: Option<&str>| {
            let mut item = json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "bash"});
            item.as_object_mut().unwrap().extend(arguments.map(|text| ("arguments".to_owned(), json!(text))));
            item
        };
        let (has_delta, has_done, has_item) = match self {
            Self::Responses => (true, true, true),
            Self::ResponsesDeltas => (true, false, false),
            Self::ResponsesDone => (false, true, false),
            _ => (false, false, true),
        };
        let delta = json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": text});
        let done = json!({"type": "response.function_call_arguments.done", "output_index": 0, "arguments": text});
        let added = json!({"type": "response.output_item.added", "output_index": 0, "item": of(Some(""))});
        let item = of(has_item.then_some(text));
        let mut events = vec![added];
        events.extend(has_delta.then_some(delta));
        events.extend(has_done.then_some(done));
        events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
        events.push(json!({"type": "response.completed", "response": {"status": "completed"}}));
        events
    }
}

fn body(events: &[Value]) -> String {
    let line = |event: &Value| format!("data: {}\n\n", event.as_str().map_or_else(|| event.to_string(), str::to_owned));
    events.iter().map(line).collect()
}

/// What a turn makes of the body of an answer.
pub(super) struct Played {
    pub(super) answer: AssistantMessage,
    /// The calls that it runs.
    pub(super) calls: Vec<Call>,
    /// The results that it gives without running a tool.
    pub(super) results: Vec<String>,
    /// The arguments as they came, by the id of their call.
    pub(super) written: HashMap<String, String>,
}

pub(super) fn play(api: Api, body: &[u8]) -> Played {
    let mut reader = Reader::new(&request(model(api, "http://x"), vec![user("x")]), 7).unwrap();
    let mut deltas = reader.start();
    deltas.extend(reader.push(body));
    deltas.extend(reader.end());
    let mut texts: HashMap<usize, String> = HashMap::new();
    for delta in &deltas {
        if let Delta::ToolCall { index, delta } = delta {
            texts.entry(*index).or_default().push_str(delta);
        }
    }
    let mut state = TurnState::new(TurnConfig::default());
    let mut effects = step(&mut state, TurnInput::Prompt(vec![user("x")]));
    effects.extend(step(&mut state, TurnInput::Admitted { ticket: 1, added: Vec::new(), open: None }));
    let blank = Box::new(failed_answer(&model(api, "http://x"), 7, String::new()).message);
    effects.extend(step(&mut state, TurnInput::Built { ticket: 2, tokens: 1, blank }));
    for delta in deltas {
        effects.extend(step(&mut state, TurnInput::Delta { ticket: 2, delta }));
    }
    effects.extend(step(&mut state, TurnInput::Recorded { ticket: 2 }));
    let (mut calls, mut results, mut answer) = (Vec::new(), Vec::new(), None);
    for effect in effects {
        match effect {
            Effect::Run { call, .. } => calls.push(call),
            Effect::Emit(Event::ToolExecutionEnd { result, .. }) => results.push(text_of(&result.content)),
            Effect::Append { records, .. } => {
                for record in records {
                    if let Record::Message(Message::Assistant(said)) = record {
                        answer = Some(AssistantMessage::clone(&said));
                    }
                }
            }
            _ => {}
        }
    }
    let answer = answer.expect("an answer is recorded");
    let written = answer.content.iter().enumerate().filter_map(|(at, block)| match block {
        Block::ToolCall { id, .. } => Some((id.clone(), texts.remove(&at)?)),
        _ => None,
    });
    let written = written.collect();
    Played { answer, calls, results, written }
}

/// What the model meant: the text as JSON, with raw control characters and wrong escapes allowed in strings.
fn meant(text: &str) -> Option<Value> {
    let escaped = text.replace("two\nraw", "two\\nraw").replace('\t', "\\t").replace("\\d+\\s\"", "\\\\d+\\\\s\"");
    serde_json::from_str(&escaped).ok().filter(Value::is_object)
}

#[test]
fn a_tool_runs_only_if_its_arguments_parse_whole_wherever_they_are_cut() {
    for way in Way::ALL {
        let (mut ran, mut refused) = (0, 0);
        for text in WRITTEN {
            assert!(meant(text).is_some(), "{text}");
            for at in (1..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let cut = &text[..at];
                let Played { answer, calls, results, .. } = play(way.api(), body(&way.events(cut)).as_bytes());
                assert_eq!(answer.stop_reason, StopReason::ToolUse, "{way:?} {cut}");
                // A text of blanks alone says nothing, and so cuts nothing.
                let whole = if cut.trim().is_empty() { Some(json!({})) } else { meant(cut) };
                let got: Vec<&Value> = calls.iter().map(|call| &call.arguments).collect();
                assert_eq!(got, Vec::from_iter(&whole), "{way:?} {cut}");
                if whole.is_some() {
                    ran += 1;
                } else {
                    refused += 1;
                    assert!(
                        results[0].starts_with("Not run") && results[0].contains("character"),
                        "{way:?}: {results:?}"
                    );
                }
            }
        }
        assert!(ran >= WRITTEN.len() && refused > 500, "{way:?}: {ran} ran, {refused} were refused");
    }
}
