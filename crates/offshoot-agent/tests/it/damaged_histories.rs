//! Histories that other programs damaged: every wire still gets a valid request, and reading changes no byte.

use std::path::Path;

use offshoot_agent::provider::{Api, Outgoing};
use offshoot_agent::request::{self, Frame};
use offshoot_agent::testing::check::{self, Issued};
use offshoot_agent::testing::seen::Seen;
use offshoot_agent::testing::server::KEY;
use offshoot_protocol::ThinkingLevel;
use offshoot_session::check::check as check_session;
use offshoot_session::compact;
use offshoot_session::entry::Source as _;
use offshoot_session::medium::FileMedium;
use offshoot_session::records::{write_entries, write_tree};
use offshoot_session::session::{Options, Session};
use offshoot_session::{outline, stats, summary, transcript};
use serde_json::{Value, json};

use crate::wires::model;

/// Reproducible, and not evenly spread: that is enough for damage.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.throw(of.len())]
    }
}

/// A conversation with entries of all kinds, in which these wires have answered.
fn sound(wires: [Api; 2]) -> Vec<Value> {
    let mut messages = vec![json!({"role": "user", "content": "first", "timestamp": 1})];
    for (at, api) in wires.into_iter().enumerate() {
        let (asked, call) = (model(api, ""), format!("call_{at}"));
        let signature = json!({"type": "reasoning", "id": format!("rs_{at}"), "summary": []}).to_string();
        messages.push(json!({
            "role": "assistant", "api": asked.api, "provider": asked.provider, "model": asked.id, "stopReason": "toolUse", "timestamp": 2,
            "usage": {"input": 5, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 6,
                "cost": {"input": 0.1, "output": 0.1, "cacheRead": 0, "cacheWrite": 0, "total": 0.2}},
            "content": [
                {"type": "thinking", "thinking": "hm", "thinkingSignature": signature},
                {"type": "text", "text": "I look.", "textSignature": "msg_1"},
                {"type": "toolCall", "id": call, "name": "read", "arguments": {"path": "a.rs", "limit": 5}, "thoughtSignature": "c2ln"}
            ]
        }));
        messages.push(json!({
            "role": "toolResult", "toolCallId": call, "toolName": "read", "isError": false, "timestamp": 3,
            "content": [{"type": "text", "text": "fn main() {}"}], "details": {"truncation": {"by": "lines"}}
        }));
        messages.push(json!({
            "role": "user", "timestamp": 4,
            "content": [{"type": "text", "text": "and this"}, {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]
        }));
    }
    messages.push(json!({"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 1, "cancelled": false, "truncated": false, "timestamp": 5}));
    messages.push(
        json!({"role": "assistant", "api": "x", "provider": "y", "model": "z", "stopReason": "aborted", "content": [
        {"type": "toolCall", "id": "gone", "name": "bash", "arguments": {}}], "timestamp": 6}),
    );
    messages.push(json!({"role": "toolResult", "toolCallId": "gone", "toolName": "bash", "isError": true, "content": [], "timestamp": 6}));
    let mut entries: Vec<Value> =
        messages.into_iter().map(|message| json!({"type": "message", "message": message})).collect();
    let others = [
        json!({"type": "model_change", "provider": "p", "modelId": "m"}),
        json!({"type": "thinking_level_change", "thinkingLevel": "high"}),
        json!({"type": "custom", "customType": "x", "data": {"a": [1, "b"]}}),
        json!({"type": "custom_message", "customType": "x", "content": "noted", "display": true, "details": {"a": 1}}),
        json!({"type": "label", "targetId": "e1", "label": "here"}),
        json!({"type": "session_info", "name": "a name"}),
        json!({"type": "branch_summary", "fromId": "e2", "summary": "tried it", "details": {"readFiles": ["a.rs"]}}),
        json!({"type": "context_edit", "targetId": "e3", "replacement": null}),
    ];
    for (at, other) in others.into_iter().enumerate() {
        entries.insert(2 + 2 * at, other);
    }
    entries.push(json!({"type": "message", "message": {"role": "user", "content": "last", "timestamp": 9}}));
    for (at, entry) in entries.iter_mut().enumerate() {
        entry["id"] = json!(format!("e{at}"));
        entry["parentId"] = at.checked_sub(1).map_or(Value::Null, |before| json!(format!("e{before}")));
        entry["timestamp"] = json!("2026-01-01T00:00:01.000Z");
    }
    entries
}

/// Some value in the entry, chosen evenly among all.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let at = format!("{at}/{name}");
                out.push(at.clone());
                places(value, &at, out);
            }
        }
        Value::Array(items) => {
            for (number, value) in items.iter().enumerate() {
                let at = format!("{at}/{number}");
                out.push(at.clone());
                places(value, &at, out);
            }
        }
        _ => {}
    }
}

/// What JSON has and serde has not, put in as text afterwards.
fn written(entry: &Value) -> String {
    let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
    let text = entry.to_string();
    let text = text.replace("\"@half\"", r#""a\ud83d b\ude00""#).replace("@halfname", r"n\udc00");
    text.replace("\"@huge\"", "1e999").replace("\"@deep\"", &deep).replace("\"@twice\":", r#""role":"user","content":"#)
}

fn damage(entry: &mut Value, dice: &mut Dice) {
    let mut all = Vec::new();
    places(entry, "", &mut all);
    let place = dice.pick(&all).clone();
    let (parent, name) = place.rsplit_once('/').unwrap();
    let odd = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(""),
        json!("  "),
        json!("odd"),
        json!({}),
        json!([]),
        json!({"type": "novel", "text": "x"}),
        json!([{"type": "novel"}, null, 7, "text", [[]]]),
        json!(["a", "b"]),
        json!("@half"),
        json!("@huge"),
        json!("@deep"),
        json!({"@halfname": 1}),
        json!({"type": "text"}),
        json!([{"type": "toolCall"}]),
        json!([{"type": "toolCall", "id": "call_1", "name": "read", "arguments": []}]),
        json!([{"type": "thinking", "thinking": null, "thinkingSignature": 5}]),
    ];
    let old = entry.pointer(&place).cloned().unwrap_or_default();
    let new = match dice.throw(6) {
        0 => None,
        1 => Some(json!([old])),
        2 if old.is_string() => {
            let ids = [
                "call_1",
                "e4",
                "assistant",
                "toolResult",
                "developer",
                "system",
                "custom",
                "error",
                "length",
                "pending",
            ];
            Some(json!(dice.pick(&ids)))
        }
        3 if old.is_string() => Some(json!("@half")),
        _ => Some(dice.pick(&odd).clone()),
    };
    let Some(parent) = entry.pointer_mut(parent) else { return };
    match (parent, new) {
        (Value::Object(members), None) => drop(members.remove(name)),
        (Value::Object(members), Some(new)) => {
            members.insert(name.to_owned(), new);
            if dice.throw(20) == 0 {
                members.insert("@twice".to_owned(), json!("@half"));
            }
        }
        (Value::Array(items), None) => drop(items.remove(name.parse().unwrap())),
        (Value::Array(items), Some(new)) => items[name.parse::<usize>().unwrap()] = new,
        _ => {}
    }
}

fn damaged(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut entries = sound([*dice.pick(&Api::ALL), *dice.pick(&Api::ALL)]);
    // What the user says now is sound: it is in every request.
    let last = entries.len() - 1;
    for _ in 0..=dice.throw(6) {
        damage(&mut entries[dice.throw(last)], &mut dice);
    }
    let header =
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"});
    let lines: Vec<String> = std::iter::once(&header).chain(&entries).map(written).collect();
    format!("{}\n", lines.join("\n"))
}

fn problems(session: &Session, api: Api) -> Vec<String> {
    let model = model(api, "http://127.0.0.1:1").into();
    let frame = Frame {
        model,
        thinking: ThinkingLevel::High,
        system: "You are a test.".to_owned(),
        tools: Vec::new(),
        key: None,
    };
    let request = match request::build(session, frame) {
        Ok(built) => built.request,
        Err(error) => return vec![error.to_string()],
    };
    let body = Outgoing::new(&request).unwrap().body;
    let path = format!("/models/{}:streamGenerateContent", request.model.id);
    let seen = Seen { api: Some(api), path, headers: Vec::new(), body };
    let mut found = check::problems(&seen, KEY, &[] as &[Issued]);
    // A stranger's signature may be any text.
    found.retain(|problem| !problem.starts_with("the signature"));
    if !seen.body.contains("last") {
        found.push("the last words are not sent".to_owned());
    }
    found
}

/// Everything that reads a session.
fn read(session: &Session, path: &Path) {
    let (tree, leaf) = (session.tree(), session.leaf());
    let way = leaf.map(|leaf| tree.path(leaf)).unwrap_or_default();
    let all: Vec<_> = tree.entries().collect();
    write_entries(&mut std::io::sink(), session, &all).unwrap();
    write_tree(&mut std::io::sink(), session).unwrap();
    session.context().unwrap().write_json(session, &mut std::io::sink()).unwrap();
    assert!(transcript::items(session, &way).all(|item| item.is_ok()));
    all.iter().for_each(|ix| drop(outline::entry_text(session, *ix).unwrap()));
    stats::overview(session, leaf).unwrap();
    stats::branches(session, leaf).unwrap();
    summary::extractive(session, &way).unwrap();
    compact::plan(session, leaf, session.dialect(), &compact::Settings::default()).unwrap();
    session.name().unwrap();
    check_session(&FileMedium::open(path).unwrap()).unwrap();
}

/// Everything that is wrong with the histories of some seeds.
fn failures(seeds: std::ops::Range<u64>) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut failed: Vec<String> = Vec::new();
    for seed in seeds {
        let text = damaged(seed);
        std::fs::write(&path, &text).unwrap();
        let session = Session::open(&path, Options::default()).unwrap();
        read(&session, &path);
        for api in Api::ALL {
            failed
                .extend(problems(&session, api).into_iter().map(|problem| format!("seed {seed}, {api:?}: {problem}")));
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "seed {seed}: reading changed the file");
    }
    failed
}

#[test]
fn a_thousand_damaged_histories_make_valid_requests_and_keep_their_bytes() {
    let failed: Vec<String> = std::thread::scope(|scope| {
        let parts: Vec<_> =
            (0..4).map(|part| scope.spawn(move || failures(part * 250 + 1..part * 250 + 251))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    assert!(failed.is_empty(), "{} problems:\n{}", failed.len(), failed[..failed.len().min(40)].join("\n"));
}
