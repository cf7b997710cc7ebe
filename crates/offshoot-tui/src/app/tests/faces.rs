//! The calls and the hidden texts of `conformance/faces`, on every screen that shows them. The other faces of offshoot are tried
//! with the same two tables.

use offshoot_protocol::{ApprovalDecision, ApprovalTier};
use offshoot_session::session::{Options, Session};
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::app::cmd::Purpose;

const CALLS: &str = include_str!("../../../../../conformance/faces/calls.json");
const HIDDEN: &str = include_str!("../../../../../conformance/faces/hidden.json");
const ENTRIES: &str = include_str!("../../../../../conformance/faces/entries.json");
/// Every row of a call is seen.
const SIZE: (u16, u16) = (130, 40);

#[derive(Deserialize)]
struct CallCase {
    name: String,
    given: Value,
    subject: String,
    removed: Option<String>,
}

#[derive(Deserialize)]
struct HiddenCase {
    text: String,
    spelled: String,
    name: String,
    prose: String,
}

fn cases<T: serde::de::DeserializeOwned>(table: &str) -> Vec<T> {
    serde_json::from_str(table).unwrap()
}

/// The words of a screen, with one blank between them.
fn words(tell: Tell<'_>) -> String {
    spaced(&text_of(&shown(&sent(&Theme::default(), SIZE, tell), SIZE)))
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn called(name: &str, given: &Value) -> String {
    let call = json!({"type": "toolCall", "id": "1", "name": name, "arguments": given});
    json!({"role": "assistant", "content": [call], "stopReason": "toolUse"}).to_string()
}

fn result(name: &str, text: &str) -> String {
    json!({"role": "toolResult", "toolCallId": "1", "toolName": name, "content": [{"type": "text", "text": text}]})
        .to_string()
}

fn conversation(model: &mut Model, name: &str, given: &Value) {
    opened(model, vec![block(&called(name, given), &[&result(name, "ok")])]);
}

fn live(model: &mut Model, name: &str, given: &Value) {
    let call = Content::ToolCall {
        id: "1".to_owned(),
        name: name.to_owned(),
        arguments: given.clone(),
        arguments_error: None,
        thought_signature: None,
    };
    heard(model, Event::AgentStart);
    heard(model, Event::MessageStart { message: answer(Vec::new()) });
    heard(model, Event::MessageEnd { message: answer(vec![call]) });
}

fn question(model: &mut Model, name: &str, given: &Value) {
    asked(model, name, given, None);
}

fn asked(model: &mut Model, name: &str, given: &Value, diff: Option<&str>) {
    let event = Event::ApprovalRequest {
        id: 1,
        tool_call_id: "1".to_owned(),
        tool_name: name.to_owned(),
        args: given.clone(),
        tier: ApprovalTier::Exec,
        reason: "the mode asks".to_owned(),
        diff: diff.map(str::to_owned),
        rule: None,
        rules: Vec::new(),
        options: vec![ApprovalDecision::AllowOnce, ApprovalDecision::Reject],
        waiting: 0,
        following: Vec::new(),
    };
    heard(model, event);
}

fn session(messages: &[String]) -> Session {
    let mut lines = vec![r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#.to_owned()];
    for (at, message) in messages.iter().enumerate() {
        let parent = at.checked_sub(1).map_or("null".to_owned(), |before| format!("\"{before}\""));
        lines.push(format!(
            r#"{{"type":"message","id":"{at}","parentId":{parent},"timestamp":"t","message":{message}}}"#
        ));
    }
    Session::from_text(&(lines.join("\n") + "\n"), Options::default()).unwrap()
}

fn over(model: &mut Model, messages: &[String], purpose: Purpose) {
    let session = session(messages);
    let leaf = session.leaf();
    model.conversation.open_place(Vec::new(), Path::of(session.tree(), leaf).entries());
    update(model, Msg::Snapshot(purpose, Arc::new(session), leaf));
}

fn in_tree(model: &mut Model, name: &str, given: &Value) {
    over(model, &[called(name, given), result(name, "ok")], Purpose::Tree);
    press(model, "ctrl+a");
}

fn transcript(model: &mut Model, name: &str, given: &Value) {
    over(model, &[called(name, given), result(name, "ok")], Purpose::Transcript);
}

/// A screen with a call on it, and how its name and its subject are joined there.
type Face = (&'static str, fn(&mut Model, &str, &Value), fn(&str, &str) -> String);

fn title(name: &str, subject: &str) -> String {
    match name {
        "bash" | "Bash" => format!("$ {subject}"),
        name => format!("{name} {subject}"),
    }
}

const FACES: [Face; 5] = [
    ("conversation", conversation, title),
    ("a call at work", live, title),
    ("approval", question, |name, subject| match title(name, "").as_str() {
        "$ " => format!("Run this command? (the mode asks) {subject}"),
        _ => format!("Run {name}? (the mode asks) {subject}"),
    }),
    ("tree", in_tree, |name, subject| format!("[{name}: {subject}]")),
    ("transcript", transcript, title),
];

#[test]
fn every_screen_shows_the_same_call() {
    for case in cases::<CallCase>(CALLS) {
        for (face, fill, joined) in FACES {
            let shown = words(&|model| fill(model, &case.name, &case.given));
            let wanted = joined(&case.name, &case.subject);
            assert!(shown.contains(&wanted), "{face} does not say {wanted}: {shown}");
        }
        for fill in [conversation, transcript] {
            let shown = words(&|model| fill(model, &case.name, &case.given));
            let removed = case.removed.as_deref().unwrap_or_default();
            assert!(shown.contains(removed), "no change of {}: {shown}", case.given);
        }
    }
}

/// A screen with a text of the table on it, and how the text stands there.
type Place = (&'static str, fn(&mut Model, &str), fn(&HiddenCase) -> Vec<String>);

fn command(text: &str) -> Value {
    json!({ "command": text })
}

/// A question, a command, a path, the content of a file, a change and the name of a tool.
fn in_conversation(model: &mut Model, text: &str) {
    let block = |name: &str, given: Value| block(&called(name, &given), &[&result(name, "ok")]);
    let blocks = vec![
        super::block(&user(text), &[]),
        block("bash", command(text)),
        block("read", json!({ "path": text })),
        block("write", json!({"path": "a", "content": format!("w {text}")})),
        block("edit", json!({"path": "a", "oldText": "b", "newText": format!("e {text}")})),
        block(text, json!({})),
    ];
    opened(model, blocks);
}

const PLACES: [Place; 7] = [
    ("conversation", in_conversation, |HiddenCase { spelled, name, prose, .. }| {
        let rows = [format!("please {prose}"), format!("$ {spelled}"), format!("read {name}")];
        rows.into_iter().chain([format!("w {spelled}"), format!("e {spelled}"), format!("• {name}")]).collect()
    }),
    (
        "a command at work",
        |model, text| live(model, "bash", &command(text)),
        |case| vec![format!("$ {}", case.spelled)],
    ),
    ("may a command run", |model, text| question(model, "bash", &command(text)), |case| vec![case.spelled.clone()]),
    (
        "may a path be read",
        |model, text| question(model, "read", &json!({ "path": text })),
        |case| vec![case.name.clone()],
    ),
    (
        "may a file change",
        |model, text| asked(model, "edit", &json!({"path": "a"}), Some(&format!("+1 x {text}"))),
        |case| vec![case.spelled.clone()],
    ),
    (
        "tree",
        |model, text| {
            over(model, &[user(text), called("bash", &command(text)), result("bash", "ok")], Purpose::Tree);
            press(model, "ctrl+a");
        },
        |case| vec![format!("user: please {}", case.prose), format!("[bash: {}]", in_a_row(&case.spelled))],
    ),
    ("transcript", |model, text| transcript(model, "bash", &command(text)), |case| vec![format!("$ {}", case.spelled)]),
];

/// As pi, the tree shows the first 50 characters of a command.
fn in_a_row(command: &str) -> String {
    let command = spaced(command);
    match command.char_indices().nth(50) {
        Some((cut, _)) => format!("{}...", &command[..cut]),
        None => command,
    }
}

fn user(text: &str) -> String {
    json!({"role": "user", "content": format!("please {text}")}).to_string()
}

#[test]
fn every_screen_spells_hidden_text_out() {
    let cases = cases::<HiddenCase>(HIDDEN);
    assert!(cases.len() >= 200);
    for case in cases {
        for (place, fill, wanted) in PLACES {
            let shown = words(&|model| fill(model, &case.text));
            for row in wanted(&case).iter().flat_map(|text| text.lines()).map(spaced) {
                assert!(shown.contains(&row), "{place} does not say {row}: {shown}");
            }
            let hidden = case.text.chars().find(|c| !case.spelled.contains(*c) && *c != '\n' && shown.contains(*c));
            assert_eq!(hidden, None, "{place}: {shown}");
        }
    }
}

#[test]
fn the_conversation_tells_what_an_entry_says_in_the_words_of_every_face() {
    // The status line says which model answers, and how much it thinks.
    let is_in_status =
        |case: &Value| ["model_change", "thinking_level_change"].iter().any(|kind| case["entry"]["type"] == *kind);
    for case in cases::<Value>(ENTRIES).iter().filter(|case| !is_in_status(case)) {
        let entry = &case["entry"];
        let message = if entry["message"].is_object() { &entry["message"] } else { entry };
        let shown = words(&|model| match message["role"].as_str() {
            // A result is below its call.
            Some("toolResult") => opened(model, vec![block(&called("bash", &command("ls")), &[&message.to_string()])]),
            _ => opened(model, vec![block(&message.to_string(), &[])]),
        });
        // Each remark has a row here.
        let said = case["words"].as_array().unwrap().iter().flat_map(|words| words.as_str().unwrap().split(", "));
        for words in said {
            assert!(shown.contains(words), "{words} is not said: {shown}");
        }
    }
}
