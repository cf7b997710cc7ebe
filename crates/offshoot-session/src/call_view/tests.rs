//! Calls in every dialect, and what every front end makes of them.

use super::*;
use crate::transcript::{Item, call_blocks};

fn view<'a>(name: &'a str, arguments: &'a str) -> CallView<'a> {
    CallView::of_text(name, arguments)
}

/// Calls in the dialects of pi, oh-my-pi and Claude Code, and what every front end makes of them: the line, the files (`*`
/// marks a change) and the number of changes.
const CALLS: [(&str, &str, &str, &str, usize); 30] = [
    ("read", r#"{"path":"src/a.rs"}"#, "read: src/a.rs", "src/a.rs", 0),
    ("read", r#"{"path":"a","offset":5,"limit":10}"#, "read: a:5-14", "a", 0),
    ("Read", r#"{"file_path":"/w/a.rs","limit":3}"#, "Read: /w/a.rs:1-3", "/w/a.rs", 0),
    ("_read", r#"{"path":"a.rs:10-20"}"#, "_read: a.rs:10-20", "a.rs:10-20", 0),
    ("write", r#"{"path":"a","content":"x\ny\n"}"#, "write: a", "a*", 0),
    ("write", r#"{"file_path":"a","content":"x"}"#, "write: a", "a*", 0),
    ("Write", r#"{"file_path":"a","content":"x"}"#, "Write: a", "a*", 0),
    (
        "edit",
        r#"{"path":"a","edits":[{"oldText":"b","newText":"c"},{"oldText":"d","newText":"e"}]}"#,
        "edit: a",
        "a*",
        2,
    ),
    ("edit", r#"{"path":"a","oldText":"b","newText":"c"}"#, "edit: a", "a*", 1),
    ("edit", r#"{"file_path":"a","old_string":"b","new_string":"c"}"#, "edit: a", "a*", 1),
    ("edit", r#"{"path":"a","edits":{"oldText":"b","newText":"c"}}"#, "edit: a", "a*", 1),
    ("edit", r#"{"path":"a","edits":"[{\"oldText\":\"b\",\"newText\":\"c\"}]"}"#, "edit: a", "a*", 1),
    ("edit", r#"{"path":"a","edits":[{"op":"update","diff":"@@\n-b\n+c"}]}"#, "edit: a", "a*", 1),
    (
        "edit",
        r#"{"input":"*** Begin Patch\n*** Update File: a\n@@\n-b\n+c\n*** Add File: d\n+e\n*** End Patch"}"#,
        "edit: a, d",
        "a* d*",
        1,
    ),
    ("Edit", r#"{"file_path":"a","old_string":"b","new_string":"c","replace_all":true}"#, "Edit: a", "a*", 1),
    ("MultiEdit", r#"{"file_path":"a","edits":[{"old_string":"b","new_string":"c"}]}"#, "MultiEdit: a", "a*", 1),
    (
        "NotebookEdit",
        r#"{"notebook_path":"n.ipynb","new_source":"x","cell_id":"1"}"#,
        "NotebookEdit: n.ipynb",
        "n.ipynb*",
        1,
    ),
    ("bash", r#"{"command":"ls\n-l","timeout":5}"#, "bash: ls -l", "", 0),
    ("Bash", r#"{"command":"ls","description":"lists"}"#, "Bash: ls", "", 0),
    ("grep", r#"{"pattern":"p","path":"src"}"#, "grep: /p/ in src", "", 0),
    ("grep", r#"{"pattern":"p","file_path":"src"}"#, "grep: /p/ in src", "", 0),
    ("grep", r#"{"pattern":"p","paths":["a","b"]}"#, r#"grep: /p/ in ["a","b"]"#, "", 0),
    ("Grep", r#"{"pattern":"p","output_mode":"count"}"#, "Grep: /p/ in .", "", 0),
    ("find", r#"{"pattern":"*.rs"}"#, "find: *.rs in .", "", 0),
    ("Glob", r#"{"pattern":"*.rs","path":"src"}"#, "Glob: *.rs in src", "", 0),
    ("ls", "{}", "ls: .", "", 0),
    ("LS", r#"{"path":"src"}"#, "LS: src", "", 0),
    ("web_search", r#"{"query":"rust","n":1}"#, r#"web_search: {"query":"rust","n":1}"#, "", 0),
    ("novel", "", "novel", "", 0),
    ("write", r#"{"path":["a"],"content":1}"#, r#"write: ["a"]"#, "", 0),
];

#[test]
fn a_call_is_one_picture_in_every_dialect() {
    for (name, arguments, line, files, changes) in CALLS {
        let view = view(name, arguments);
        let mark = |file: CallFile| format!("{}{}", file.path, if file.is_change { "*" } else { "" });
        let named: Vec<_> = view.files().into_iter().map(mark).collect();
        assert_eq!((view.line(200).as_str(), named.join(" ").as_str()), (line, files), "{name} {arguments}");
        assert_eq!(view.changes().len(), changes, "{name} {arguments}");
    }
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
