//! Random damage to the streams of all wires: no answer ends a session, and no tool runs with arguments that are not
//! whole.

use offshoot_agent::provider::{Api, Outgoing};
use offshoot_agent::request::{self, Frame};
use offshoot_agent::testing::check;
use offshoot_agent::testing::script::{Reply, Say};
use offshoot_agent::testing::seen::Seen;
use offshoot_agent::testing::server::{KEY, body};
use offshoot_protocol::ThinkingLevel;
use offshoot_protocol::message::{Block, Message, ToolResultMessage};
use offshoot_session::session::{NewSession, Options, Session};
use serde_json::json;

use super::cut_arguments::{Played, play};
use super::{model, user};

const STREAMS: u64 = 1000;

/// Numbers from a seed, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end.max(1)
    }
}

fn whole(api: Api, piece: usize) -> Vec<u8> {
    let call = |id: &str, name: &str, arguments: serde_json::Value| Say::Call {
        call: name.to_owned(),
        id: id.to_owned(),
        arguments: arguments.as_object().unwrap().clone(),
        signature: None,
    };
    let reply = Reply::say([
        Say::Thinking { thinking: "Hm, 考.".to_owned(), signature: Some("c2lnbmVk".to_owned()) },
        Say::Text { text: "Grüße 😀".to_owned() },
        call("c1", "write", json!({"path": "ä.txt", "content": "one {\"two\": [3]}\n"})),
        call("c2", "bash", json!({"command": "rm -rf build/cache/tmp", "timeout": 3})),
    ]);
    body(&Reply { piece, ..reply }, api, "m")
}

/// What servers put where a value was.
const ODD: [&str; 14] =
    ["null", "\"\"", "[]", "{}", "-1", "1e999", "true", "\"\\ud83d\"", "\n\n", "data: ", "\u{0}", "}", "\"", "\\"];

fn damage(body: &mut Vec<u8>, dice: &mut Dice) {
    if body.is_empty() {
        return;
    }
    let (from, length) = (dice.below(body.len()), dice.below(30) + 1);
    let to = (from + length).min(body.len());
    match dice.below(9) {
        0 => drop(body.drain(from..to)),
        1 => body.truncate(from),
        2 => {
            let again = body[from..to].to_vec();
            body.splice(to..to, again);
        }
        3 => body[from] = u8::try_from(dice.below(256)).unwrap(),
        4 => drop(body.splice(from..from, ODD[dice.below(ODD.len())].bytes())),
        // An event is lost, comes twice, or comes at another place.
        way @ 5..=7 => {
            let text = String::from_utf8_lossy(body).into_owned();
            let mut events: Vec<&str> = text.split_inclusive("\n\n").collect();
            let event = events[dice.below(events.len())];
            let at = events.iter().position(|known| *known == event).unwrap();
            let to = dice.below(events.len());
            match way {
                5 => drop(events.remove(at)),
                6 => events.insert(to, event),
                _ => {
                    events.remove(at);
                    events.insert(to.min(events.len()), event);
                }
            }
            *body = events.concat().into_bytes();
        }
        // A value becomes another one.
        _ => {
            let colons: Vec<usize> = (0..body.len()).filter(|at| body[*at] == b':').collect();
            let Some(colon) = colons.get(dice.below(colons.len())) else { return };
            let end = (colon + 1..body.len()).find(|at| matches!(body[*at], b',' | b'}' | b'\n')).unwrap_or(body.len());
            drop(body.splice(colon + 1..end, ODD[dice.below(ODD.len())].bytes()));
        }
    }
}

/// Whether every bracket is closed and nothing follows.
fn is_closed(text: &str) -> bool {
    let (mut depth, mut is_in_string, mut is_escaped, mut ends) = (0_i32, false, false, 0);
    for c in text.trim().chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_in_string => is_escaped = true,
            '"' => is_in_string = !is_in_string,
            '{' | '[' if !is_in_string => depth += 1,
            '}' | ']' if !is_in_string => depth -= 1,
            _ => {}
        }
        ends += i32::from(depth == 0);
    }
    depth == 0 && !is_in_string && ends <= 1
}

/// What the next prompt would send, checked as its provider would.
fn next_request(session: &Session, api: Api) -> Vec<String> {
    let model = model(api, "http://127.0.0.1:1").into();
    let frame = Frame { model, thinking: ThinkingLevel::High, system: "x".to_owned(), tools: Vec::new(), key: None };
    let request = request::build(session, frame).unwrap().request;
    let path = format!("/models/{}:streamGenerateContent", request.model.id);
    let seen = Seen { api: Some(api), path, headers: Vec::new(), body: Outgoing::new(&request).unwrap().body };
    let found = check::problems(&seen, KEY, &[]).into_iter();
    // The damaged signatures are nobody's.
    found.filter(|problem| !problem.starts_with("the signature ")).collect()
}

fn recorded(played: &Played) -> Session {
    let mut session = Session::in_memory(&NewSession::default(), Options::default()).unwrap();
    let result = |block: &Block| match block {
        Block::ToolCall { id, name, .. } => Some(Message::from(ToolResultMessage {
            tool_call_id: id.clone(),
            tool_name: name.clone(),
            content: vec![Block::text("r")],
            details: None,
            nested_calls: None,
            is_error: false,
            timestamp: 1,
        })),
        _ => None,
    };
    let results = played.answer.content.iter().filter_map(result);
    let said = [user("x"), played.answer.clone().into()];
    for message in said.into_iter().chain(results).chain([user("next")]) {
        session.append(&request::to_entry(&message).unwrap()).unwrap();
    }
    session
}

/// No damaged stream ends a session or runs a tool with half of its arguments.
fn holds(number: usize) {
    let api = Api::ALL[number];
    let (mut ran, mut refused, mut failed) = (0, 0, 0);
    for seed in 0..STREAMS {
        let mut dice = Dice(seed * 4 + number as u64 + 1);
        let mut body = whole(api, 3 + dice.below(30));
        for _ in 0..=dice.below(3) {
            damage(&mut body, &mut dice);
        }
        let played = play(api, &body);
        for call in &played.calls {
            assert!(call.arguments.is_object(), "{api:?} {seed}: {call:?}");
            let text = played.written.get(&call.id).map(String::as_str).unwrap_or_default();
            let is_sent_as_text = matches!(api, Api::Anthropic | Api::Completions | Api::Mistral);
            assert!(!is_sent_as_text || is_closed(text), "{api:?} {seed}: {text} was run as {call:?}");
        }
        ran += usize::from(!played.calls.is_empty());
        refused += usize::from(!played.results.is_empty());
        failed += usize::from(!played.answer.stop_reason.is_complete());
        let session = recorded(&played);
        let other = Api::ALL[(number + 1 + dice.below(Api::ALL.len() - 1)) % Api::ALL.len()];
        for next in [api].into_iter().chain((seed % 4 == 0).then_some(other)) {
            let found = next_request(&session, next);
            let shown = String::from_utf8_lossy(&body);
            assert_eq!(found, [""; 0], "{api:?} to {next:?}, seed {seed}: {:?}\n{shown}", played.answer);
        }
    }
    assert!(ran > 100 && failed > 100, "{api:?}: {ran} ran a tool, {refused} refused one, {failed} failed");
}

#[test]
fn damaged_anthropic_messages() {
    holds(0);
}

#[test]
fn damaged_responses() {
    holds(1);
}

#[test]
fn damaged_chat_completions() {
    holds(2);
}

#[test]
fn damaged_google_streams() {
    holds(3);
}

#[test]
fn damaged_mistral_streams() {
    holds(4);
}
