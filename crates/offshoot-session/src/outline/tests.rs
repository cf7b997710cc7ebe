//! The pictures of the specification, and what else rows show.

use super::*;
use crate::session::{Options, Session};
use crate::testing::{NEW, OLD, PICTURES, told};

fn picture(words: &[&str], filter: Filter) -> String {
    let session = told(words);
    let outline = Outline::new(&session, session.leaf(), filter).unwrap();
    let mut lines: Vec<String> = outline.rows(&session).map(|row| row.unwrap().line()).collect();
    lines.push(format!("  {}", outline.footer()));
    lines.join("\n")
}

#[test]
fn trees_are_laid_out_as_in_the_pictures() {
    for known in PICTURES {
        assert_eq!(format!("\n{}", picture(known.words, Filter::Default)), known.rows, "{}", known.name);
    }
}

#[test]
fn filters_lay_out_what_they_show() {
    let words = [&OLD[..], &NEW[..], &["l:h:label:c"]].concat();
    assert_eq!(
        picture(&words, Filter::UserOnly),
        "  • user: q1\n  ├⊟ • user: alt\n› │     • user: alt2\n  └─ [mark] user: q2\n  (3/4) [user-only]"
    );
    assert_eq!(picture(&words, Filter::LabeledOnly), "› [mark] user: q2\n  (1/1) [labeled-only]");
    assert!(picture(&words, Filter::All).contains("[label: mark]"));
    let tools = ["a::user:q", "t:a:toolResult:out"];
    assert_eq!(picture(&tools, Filter::NoTools), "› • user: q\n  (1/1) [no-tools]");
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
