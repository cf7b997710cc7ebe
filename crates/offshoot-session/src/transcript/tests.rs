//! What entries say, and what the tree says of them before they are read.

use super::*;
use crate::json::Json;

fn said(line: &str) -> Option<Item> {
    Item::of_line(line)
}

fn system(label: &str) -> Option<Item> {
    Some(Item::System { label: label.to_owned(), parts: Vec::new() })
}

#[test]
fn settings_are_system_rows() {
    for (line, label) in [
        (r#"{"type":"model_change","provider":"a","modelId":"b"}"#, "model: a/b"),
        (r#"{"type":"model_change","model":"a/b"}"#, "model: a/b"),
        (r#"{"type":"thinking_level_change","thinkingLevel":"low"}"#, "thinking: low"),
        (r#"{"type":"mode_change","mode":"plan"}"#, "mode: plan"),
        (r#"{"type":"context_edit","targetId":"x"}"#, "context edit of x"),
        (r#"{"type":"no_such_thing","text":"x"}"#, "no_such_thing"),
        (r#"{"type":"message","message":{"role":"system"}}"#, "system"),
        (r#"{"type":"custom_message","customType":"todo","display":false}"#, "todo"),
    ] {
        assert_eq!(said(line), system(label), "{line}");
    }
}

/// A reader asks the tree first and the body later: both must say the same.
#[test]
fn the_tree_tells_what_an_entry_is() {
    for kind in Kind::KNOWN {
        let word = kind.word().unwrap();
        for role in Role::KNOWN {
            let message = format!(r#"{{"role":"{}","content":"x"}}"#, role.word().unwrap());
            let line = format!(r#"{{"type":"{word}","message":{message},"customType":"x"}}"#);
            let role = (*kind == Kind::Message).then_some(*role);
            match said(&line) {
                Some(item) => assert_eq!(Some(item.shape()), shape_as_shown(*kind, role), "{line}"),
                None => assert!(ItemShape::of(*kind, role).is_none() || *kind == Kind::Custom, "{line}"),
            }
        }
    }
}

/// A reset is shown as a notice, and separates results from calls as a summary does.
fn shape_as_shown(kind: Kind, role: Option<Role>) -> Option<ItemShape> {
    if kind == Kind::ResetBoundary { Some(ItemShape::Other) } else { ItemShape::of(kind, role) }
}

#[test]
fn results_are_joined_with_their_calls() {
    let answer = Item::of_message(
        Role::Assistant,
        Json::parse(r#"{"content":[{"type":"toolCall","id":"a","name":"ls","arguments":{}}],"model":"m"}"#).unwrap(),
    );
    let Item::Answer(answer) = answer else { panic!("{answer:?}") };
    let results = ["b", "a"].map(|call| Arc::new(ToolResult { call: call.to_owned(), ..ToolResult::default() }));
    let call = answer.calls().next().unwrap();
    assert_eq!(call.result(&results), Some(results[1].as_ref()));
    assert_eq!(results.each_ref().map(|result| answer.has_called_for(result)), [false, true]);
    assert_eq!(answer.model, "m");
}

#[test]
fn an_answer_that_failed_says_so() {
    let end = |json: &str| match Item::of_message(Role::Assistant, Json::parse(json).unwrap()) {
        Item::Answer(answer) => answer.end,
        other => panic!("{other:?}"),
    };
    assert_eq!(end(r#"{"stopReason":"stop"}"#), End::Done);
    assert_eq!(end(r#"{"stopReason":"error","errorMessage":"overloaded"}"#), End::Error("overloaded".to_owned()));
    assert_eq!(end(r#"{"errorMessage":"overloaded"}"#), End::Error("overloaded".to_owned()));
    assert_eq!(end(r#"{"stopReason":"aborted","errorMessage":"x"}"#), End::Aborted);
}

#[test]
fn errors_of_providers_are_told_in_words() {
    let cases = [
        (r#"529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "529 Overloaded"),
        (r#"400 {"error": "no such model"}"#, "400 no such model"),
        (r#"{"message":"slow down"}"#, "slow down"),
        (r#"500 {"oops""#, r#"500 {"oops""#),
        ("the connection was closed", "the connection was closed"),
    ];
    for (error, expected) in cases {
        assert_eq!(error_words(error), expected);
    }
}
