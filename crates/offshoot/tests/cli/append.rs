//! `offshoot append`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use insta::assert_snapshot;

use crate::world::{VERSION_1, World};

const USER: &str = r#"{"type":"message","message":{"role":"user","content":"why?"}}"#;

#[test]
fn entries_go_below_each_other() {
    let world = World::with_sample();
    let input = format!("{USER}\n\n{{\"type\":\"novel\",\"x\":1e400}}");
    assert_snapshot!(world.run_with("append sample.jsonl --parent 9e3b", input), @r#"
    {"id":"[ID1]"}
    {"id":"[ID2]"}
    "#);
    let tail: Vec<String> = world.read("sample.jsonl").lines().skip(29).map(str::to_owned).collect();
    assert_snapshot!(world.normalised(&tail.join("\n")), @r#"
    {"type":"message","id":"[ID1]","parentId":"9e3b57f0","timestamp":"2026-02-01T12:00:00.000Z","message":{"role":"user","content":"why?"}}
    {"type":"novel","id":"[ID2]","parentId":"[ID1]","timestamp":"2026-02-01T12:00:00.000Z","x":1e400}
    "#);
}

/// Each answer is there before the next line is sent: programs wait for it.
#[test]
fn every_line_is_answered_when_it_is_on_disk() {
    let world = World::with_sample();
    let mut child = world.command(&["append", "sample.jsonl"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for count in 30..33 {
        writeln!(stdin, "{USER}").unwrap();
        let answer = answers.next().unwrap().unwrap();
        let id = answer.strip_prefix(r#"{"id":""#).unwrap().strip_suffix(r#""}"#).unwrap();
        let text = world.read("sample.jsonl");
        assert_eq!(text.lines().count(), count);
        assert!(text.lines().last().unwrap().contains(id));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_bad_line_ends_the_run_and_what_was_before_it_stays() {
    let world = World::with_sample();
    for (line, expected) in [
        ("{\"type\":", "not JSON"),
        (r#"{"type":"message","id":"mine","message":{"role":"user"}}"#, "comes from the session"),
        (r#"{"type":"session","id":"x"}"#, "is not an entry"),
        ("[1]", "JSON object"),
    ] {
        let before = world.read("sample.jsonl").lines().count();
        let shown = world.run_with("append sample.jsonl", format!("{USER}\n{line}\n{USER}\n"));
        assert!(shown.contains(expected) && shown.ends_with("[exit code 2]\n"), "{shown}");
        assert_eq!(world.read("sample.jsonl").lines().count(), before + 1, "{line}");
    }
    assert_snapshot!(world.run_with("append sample.jsonl", "\n{\"type\":1}\n"), @r#"
    {"error":"an entry is a JSON object with a string \"type\"","line":2}
    [stderr]
    error: line 2 of the input: an entry is a JSON object with a string "type"
    [exit code 2]
    "#);
}

#[test]
fn a_path_that_is_not_there_becomes_a_session() {
    let world = World::new();
    assert_snapshot!(world.run_with("append new/s.jsonl --cwd /srv/x", USER), @r#"{"id":"[ID1]"}"#);
    assert_snapshot!(world.normalised(&world.read("new/s.jsonl")), @r#"
    {"type":"session","version":3,"id":"[ID1]","timestamp":"2026-02-01T12:00:00.000Z","cwd":"/srv/x"}
    {"type":"message","id":"[ID2]","parentId":null,"timestamp":"2026-02-01T12:00:00.000Z","message":{"role":"user","content":"why?"}}
    "#);
    assert_snapshot!(world.run_with("append other.jsonl", ""), @"");
    assert!(!world.work().join("other.jsonl").exists());
}

#[test]
fn a_new_session_in_the_store() {
    let world = World::new();
    assert_snapshot!(world.run_with("append --new", USER), @r#"
    {"id":"[ID1]"}
    [stderr]
    note: the session is [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-02-01T12-00-00-000Z_[ID2].jsonl
    "#);
    assert!(world.run("list").ends_with("         1  why?\n"), "{}", world.run("list"));
}

#[test]
fn an_old_file_is_upgraded_first() {
    let world = World::new();
    world.write("old.jsonl", VERSION_1);
    assert_snapshot!(world.run_with("append old.jsonl", USER), @r#"
    {"id":"[ID1]"}
    [stderr]
    note: upgraded from version 1; the old file is kept as old.jsonl.v1.bak
    "#);
    assert_eq!(world.read("old.jsonl.v1.bak"), VERSION_1);
    assert_eq!(world.read("old.jsonl").lines().count(), 4);
}

#[test]
fn it_needs_a_session_or_a_new_one() {
    assert_snapshot!(World::new().run("append"), @"
    [stderr]
    error: the following required arguments were not provided:
      <SESSION>

      tip: for the latest session: `offshoot append latest`

    Usage: offshoot append <SESSION>

    For more information, try '--help'.
    [exit code 2]
    ");
    assert_snapshot!(World::new().run("append x --new"), @"
    [stderr]
    error: the argument '[SESSION]' cannot be used with '--new'

    Usage: offshoot append <SESSION>

    For more information, try '--help'.
    [exit code 2]
    ");
}
