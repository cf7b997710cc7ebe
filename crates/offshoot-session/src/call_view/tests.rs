//! Calls in every dialect, and what every front end makes of them.

use super::*;
use crate::transcript::{Item, call_blocks};

fn view<'a>(name: &'a str, arguments: &'a str) -> CallView<'a> {
    CallView::of_text(name, arguments)
}

/// Calls in the dialects of pi, oh-my-pi and Claude Code, which every face is tried with: the subject, the files (`*` marks a
/// change) and the number of changes.
const CALLS: &str = include_str!("../../../../conformance/faces/calls.json");

#[test]
fn a_call_is_one_picture_in_every_dialect() {
    for case in Json::parse(CALLS).unwrap().items() {
        let text = |name: &str| case.str(name).unwrap().into_owned();
        let given = case.get("given").unwrap().text();
        let name = text("name");
        let view = view(&name, given);
        let mark = |file: CallFile| format!("{}{}", file.path, if file.is_change { "*" } else { "" });
        let files: Vec<_> =
            case.get("files").unwrap().items().map(|file| file.as_str().unwrap().into_owned()).collect();
        assert_eq!(view.files().into_iter().map(mark).collect::<Vec<_>>(), files, "{name} {given}");
        assert_eq!(view.line(200), format!("{name}: {}", text("subject")), "{given}");
        assert_eq!(view.changes().len().to_string(), case.get("changes").unwrap().text(), "{name} {given}");
    }
    assert_eq!(view("novel", "").line(200), "novel", "no arguments yet");
}

#[test]
fn what_runs_is_what_is_shown() {
    // The last of two members of one name counts, as where the call runs; `null` is not given.
    let twice = view("bash", r#"{"command":"ls","command":"rm x"}"#);
    assert_eq!(twice.line(100), "bash: rm x");
    assert_eq!(view("edit", r#"{"path":null,"file_path":"b"}"#).line(100), "edit: b");
    // The tools here run with `path`.
    assert_eq!(view("read", r#"{"file_path":"b","path":"a"}"#).line(100), "read: a");
    // Nothing of a call is hidden, and nothing is left out.
    let hidden = view("bash", "{\"command\":\"ls \\u001b]; touch P #\\u0007\",\"cwd\":\"/\\u202e\"}");
    assert_eq!(hidden.line(100), "bash: ls ␛]; touch P #␇");
    assert_eq!(hidden.beside_subject(), [("cwd".to_owned(), "/\\u{202e}".to_owned())]);
    let write = view("write", r#"{"path":"a\nb","content":"x","mode":7}"#);
    assert_eq!(write.line(100), "write: a␊b");
    let beside = write.beside_subject();
    assert_eq!(beside, [("content".to_owned(), "x".to_owned()), ("mode".to_owned(), "7".to_owned())]);
    assert_eq!(write.others(), [("mode".to_owned(), "7".to_owned())]);
    assert!(write.is_changed_by("content") && !write.is_changed_by("mode"));
}

/// What is stored in the place of arguments that do not parse looks like a call without any.
#[test]
fn a_call_that_was_not_run_says_so_instead_of_its_arguments() {
    let line = r#"{"type":"message","message":{"role":"assistant","content":[
        {"type":"toolCall","id":"c1","name":"bash","arguments":{},"argumentsError":"cut off at \u001bcharacter 9\n\nThe text:\n{\"com"},
        {"type":"toolCall","id":"c2","name":"write","arguments":{"path":"a"},"argumentsError":"cut off"},
        {"type":"toolCall","id":"c3","name":"bash","arguments":{"command":"ls"},"argumentsError":""}]}}"#;
    let lines = [
        "bash: not run: its arguments cannot be read: cut off at ␛character 9",
        "write: not run: its arguments cannot be read: cut off",
        "bash: ls",
    ];
    let Some(Item::Answer(answer)) = Item::of_line(line) else { panic!("no answer") };
    let json = Json::parse(line).unwrap();
    let blocks: Vec<_> = call_blocks(json.get("message").unwrap()).collect();
    for ((call, block), expected) in answer.calls().zip(blocks).zip(lines) {
        for view in [CallView::of_call(call), CallView::of(block).unwrap()] {
            assert_eq!(view.line(200), expected);
            assert_eq!(view.not_run().is_some(), expected.contains("not run"));
            assert!(view.files().is_empty(), "a call that is not run changes nothing");
        }
    }
}

#[test]
fn arguments_that_stream_in_show_their_beginning() {
    let command = |text: &str| view("bash", text).subject(&str::to_owned);
    assert_eq!(command(r#"{"command":"ls -l \"a"#), r#"ls -l "a"#);
    assert_eq!(command(r#"{"command":"ls \ud83"#), "ls ");
    assert_eq!(command(r#"{"comm"#), "");
    assert_eq!(view("edit", r#"{"file_path":"src/a"#).path().as_deref(), Some("src/a"));
    let path = |name: &str, text: &str| view(name, text).path();
    assert_eq!(path("grep", r#"{"pattern":"path","path":"src"#).as_deref(), Some("src"), "a value is not a member");
    assert_eq!(path("edit", r#"{"edits":[{"path":"inner"}],"path":"out"#).as_deref(), Some("out"));
    assert_eq!(path("write", "{\"content\":\"c\",\"path\":\"a\tb").as_deref(), Some("a\tb"), "a raw control character");
}

#[test]
fn a_page_gets_the_same_tables() {
    let tables = dialects();
    let tables = Json::parse(&tables).unwrap();
    let text = |table: &str, name: &str| tables.get(table).and_then(|table| table.get(name)).unwrap().text();
    assert_eq!(text("verbs", "edit"), r#"["edit","Edit","MultiEdit","NotebookEdit"]"#);
    assert_eq!(text("roles", "edit"), r#"["path","old","new","edits","patch"]"#);
    assert_eq!(text("members", "path"), r#"["path","file_path","notebook_path","paths"]"#);
    assert_eq!(text("roles", "other"), "[]");
}
