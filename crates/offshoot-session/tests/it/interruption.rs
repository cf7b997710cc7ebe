//! A session that ends in the middle of a turn says so.

use offshoot_session::entry::Source as _;
use offshoot_session::pick::{PickOptions, PickRequest};
use offshoot_session::session::{Options, Session};
use offshoot_session::testing::fixed_options;
use offshoot_session::transcript::{Item, Level};

use super::common::{HEADER, assistant, result, text};

fn session(messages: &[(&str, &str)]) -> Session {
    let mut text = format!("{HEADER}\n");
    for (at, (parent, message)) in messages.iter().enumerate() {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        text +=
            &format!(r#"{{"type":"message","id":"e{at}","parentId":{parent},"timestamp":"t","message":{message}}}"#);
        text.push('\n');
    }
    Session::from_text(&text, Options::default()).unwrap()
}

#[test]
fn a_turn_that_was_interrupted_says_so() {
    const PROMPT: &str = r#"{"role":"user","content":"why?"}"#;
    const CALL: &str = r#"{"role":"assistant","stopReason":"toolUse","content":[{"type":"toolCall","id":"c","name":"ls","arguments":{}}]}"#;
    const RESULT: &str = r#"{"role":"toolResult","toolCallId":"c","toolName":"ls","content":[]}"#;
    const ANSWER: &str = r#"{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":"so"}]}"#;
    const STOPPED: &str = r#"{"role":"assistant","stopReason":"aborted","content":[]}"#;
    for (messages, is_interrupted) in [
        (&[][..], false),
        (&[("", PROMPT)], true),
        (&[("", PROMPT), ("e0", CALL)], true),
        (&[("", PROMPT), ("e0", CALL), ("e1", RESULT)], true),
        (&[("", PROMPT), ("e0", CALL), ("e1", RESULT), ("e2", ANSWER)], false),
        // It says itself that it was stopped.
        (&[("", PROMPT), ("e0", STOPPED)], false),
    ] {
        let session = session(messages);
        let notice = session.interruption().unwrap();
        let told = matches!(&notice, Some(Item::Notice(Level::Warning, words)) if words.contains("interrupted"));
        assert_eq!((told, notice.is_some()), (is_interrupted, is_interrupted), "{messages:?}");
    }
    // The answer is on the way to another leaf.
    let mut session = session(&[("", PROMPT), ("e0", ANSWER)]);
    session.branch("e0").unwrap();
    assert_eq!((session.leaf(), session.interruption().unwrap()), (session.tree().find("e0"), None));
}

/// A pick that ends with a result is not a turn that was cut off: nobody answers copies.
#[test]
fn a_pick_is_no_interruption() {
    let pictures = ["a - U".to_owned(), format!("t a {}", assistant(&["c"], "")), format!("r t {}", result("c"))];
    let more = ["b a A".to_owned()];
    let pictures: Vec<&str> = pictures.iter().chain(&more).map(String::as_str).collect();
    let mut session = Session::from_text(&text(&pictures), fixed_options()).unwrap();
    let selections = [vec![session.find("t").unwrap()]];
    let (onto, options) = (session.leaf(), PickOptions::default());
    let planned = session.plan_pick(&PickRequest { from: None, selections: &selections, onto, options }).unwrap();
    session.pick(&planned).unwrap();
    assert_eq!((planned.plan.copies.len(), session.interruption().unwrap()), (2, None));
}
