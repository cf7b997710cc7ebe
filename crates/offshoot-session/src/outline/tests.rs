//! The pictures of the specification.

use super::*;
use crate::session::{Options, Session};

/// A session from words `id:parent:role:text`.
fn session(words: &[&str]) -> Session {
    let mut text = String::from(
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n",
    );
    for (at, word) in words.iter().enumerate() {
        let parts: Vec<&str> = word.splitn(4, ':').collect();
        let parent = if parts[1].is_empty() { "null".to_owned() } else { format!("\"{}\"", parts[1]) };
        let envelope =
            format!(r#""id":"{}","parentId":{parent},"timestamp":"2026-01-01T00:00:{:02}.000Z""#, parts[0], at + 1);
        let line = match parts[2] {
            "label" => format!(r#"{{"type":"label",{envelope},"targetId":"{}","label":"mark"}}"#, parts[3]),
            role => format!(
                r#"{{"type":"message",{envelope},"message":{{"role":"{role}","content":[{{"type":"text","text":"{}"}}]}}}}"#,
                parts[3]
            ),
        };
        text.push_str(&line);
        text.push('\n');
    }
    Session::from_text(&text, Options::default()).unwrap()
}

fn picture(words: &[&str], filter: Filter) -> String {
    let session = session(words);
    let outline = Outline::new(&session, session.leaf(), filter).unwrap();
    let mut lines: Vec<String> = outline.rows(&session).map(|row| row.unwrap().line()).collect();
    lines.push(format!("  {}", outline.footer()));
    lines.iter().fold(String::new(), |all, line| all + "\n" + line)
}

const OLD: [&str; 4] = ["a::user:q1", "b:a:assistant:r1", "c:b:user:q2", "d:c:assistant:r2"];
const NEW: [&str; 4] = ["e:b:user:alt", "f:e:assistant:altr", "g:f:user:alt2", "h:g:assistant:altr2"];

#[test]
fn a_linear_conversation_stays_flush_left() {
    let expected = "
  • user: q1
  • assistant: r1
  • user: q2
› • assistant: r2
  (4/4)";
    assert_eq!(picture(&OLD, Filter::Default), expected);
}

#[test]
fn the_open_branch_comes_first() {
    let expected = "
  • user: q1
  • assistant: r1
  ├⊟ • user: alt
  │     • assistant: altr
  │     • user: alt2
› │     • assistant: altr2
  └⊟ user: q2
        assistant: r2
  (6/8)";
    assert_eq!(picture(&[&OLD[..], &NEW[..]].concat(), Filter::Default), expected);
}

#[test]
fn a_hidden_leaf_selects_the_nearest_shown_ancestor() {
    let words = [&OLD[..], &NEW[..], &["i:f:user:deep", "l:i:label:c"]].concat();
    let expected = "
  • user: q1
  • assistant: r1
  ├⊟ • user: alt
  │     • assistant: altr
› │     ├─ • user: deep
  │     └⊟ user: alt2
  │           assistant: altr2
  └⊟ [mark] user: q2
        assistant: r2
  (5/9)";
    assert_eq!(picture(&words, Filter::Default), expected);
}

#[test]
fn several_roots_have_no_connectors() {
    let words =
        [&OLD[..], &NEW[..], &["i:f:user:deep", "l:i:label:c", "m::user:new root", "n:m:assistant:nr"]].concat();
    let expected = "
  • user: new root
›    • assistant: nr
  user: q1
     assistant: r1
     ├⊟ [mark] user: q2
     │     assistant: r2
     └⊟ user: alt
           assistant: altr
           ├⊟ user: alt2
           │     assistant: altr2
           └─ user: deep
  (2/11)";
    assert_eq!(picture(&words, Filter::Default), expected);
}

#[test]
fn filters_lay_out_what_they_show() {
    let words = [&OLD[..], &NEW[..], &["l:h:label:c"]].concat();
    assert_eq!(
        picture(&words, Filter::UserOnly),
        "\n  • user: q1\n  ├⊟ • user: alt\n› │     • user: alt2\n  └─ [mark] user: q2\n  (3/4) [user-only]"
    );
    assert_eq!(picture(&words, Filter::LabeledOnly), "\n› [mark] user: q2\n  (1/1) [labeled-only]");
    assert!(picture(&words, Filter::All).contains("[label: mark]"));
    let tools = ["a::user:q", "t:a:toolResult:out"];
    assert_eq!(picture(&tools, Filter::NoTools), "\n› • user: q\n  (1/1) [no-tools]");
}

#[test]
fn results_show_their_calls() {
    let lines = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#,
        r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"assistant","stopReason":"toolUse","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"/home/u/a.rs","offset":5,"limit":10}},{"type":"toolCall","id":"c2","name":"bash","arguments":{"command":"echo a\nb"}}]}}"#,
        r#"{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[]}}"#,
        r#"{"type":"message","id":"c","parentId":"b","timestamp":"t","message":{"role":"toolResult","toolCallId":"c2","toolName":"bash","content":[]}}"#,
        r#"{"type":"message","id":"d","parentId":"c","timestamp":"t","message":{"role":"assistant","stopReason":"error","errorMessage":"overloaded","content":[]}}"#,
    ];
    let session = Session::from_text(&(lines.join("\n") + "\n"), Options::default()).unwrap();
    let outline = Outline::with_home(&session, session.leaf(), Filter::Default, Some("/home/u")).unwrap();
    let texts: Vec<String> = outline.rows(&session).map(|row| row.unwrap().text).collect();
    assert_eq!(texts, ["[read: ~/a.rs:5-14]", "[bash: echo a b]", "assistant: overloaded"]);
}
