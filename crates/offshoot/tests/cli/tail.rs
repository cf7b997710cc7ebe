//! `offshoot tail`.

use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Read as _};
use std::process::{Child, ChildStdout, Stdio};

use insta::assert_snapshot;

use crate::world::World;

const USER: &str = r#"{"type":"message","message":{"role":"user","content":"why?"}}"#;

fn follow(world: &World, arguments: &[&str]) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child = world.command(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

#[test]
fn entries_show_as_other_programs_append_them() {
    let world = World::with_sample();
    let (mut child, mut lines) = follow(&world, &["tail", "sample.jsonl", "-n", "1", "--json"]);
    assert!(lines.next().unwrap().unwrap().contains(r#""id":"42e6b1f9""#), "the last one first");
    for _ in 0..2 {
        let answer = world.run_with("append sample.jsonl", USER);
        assert!(answer.starts_with(r#"{"id":""#));
        let shown = lines.next().unwrap().unwrap();
        assert_eq!(Some(shown.as_str()), world.read("sample.jsonl").lines().last(), "the line as it stands");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Regression: a session of another agent was shown once, and then nothing came.
#[test]
fn entries_of_another_agent_show_when_they_are_whole() {
    let world = World::new();
    let file = world.work().join("claude.jsonl");
    let line = |kind: &str, id: &str, parent: &str, message: &str| {
        let above = if parent.is_empty() { "null".to_owned() } else { format!("{parent:?}") };
        let head = format!(r#"{{"type":"{kind}","sessionId":"s","cwd":"/w","uuid":"{id}","parentUuid":{above}"#);
        format!("{head},\"message\":{message}}}\n")
    };
    let answer = |block: &str| format!(r#"{{"role":"assistant","id":"m","model":"c","content":[{block}]}}"#);
    let prompt = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let append = |text: String| {
        use std::io::Write as _;
        let mut file = fs::File::options().append(true).create(true).open(&file).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    append(line("user", "a", "", &prompt("first")));
    let (mut child, mut lines) = follow(&world, &["tail", "claude.jsonl", "--json"]);
    let mut next = || lines.next().unwrap().unwrap();
    assert!(next().contains(r#""id":"a""#));
    // Nothing follows the answer, which shows when it no longer grows. When it does, it shows again.
    append(line("assistant", "b", "a", &answer(r#"{"type":"text","text":"I look."}"#)));
    let shown = next();
    assert!(shown.contains("I look.") && !shown.contains(r#""toolCall""#), "{shown}");
    append(line("assistant", "c", "b", &answer(r#"{"type":"tool_use","id":"t","name":"Read","input":{}}"#)));
    let shown = next();
    assert!(shown.contains("I look.") && shown.contains(r#""toolCall""#), "{shown}");
    append(line("user", "d", "c", &prompt("second")) + &line("user", "e", "d", &prompt("third")));
    assert!(next().contains(r#""id":"d""#));
    assert!(next().contains(r#""id":"e""#));
    fs::remove_file(&file).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

/// `tail | head -1` stood still until somebody appended to the session.
#[test]
fn it_ends_when_nobody_reads() {
    let world = World::with_sample();
    let (mut child, mut lines) = follow(&world, &["tail", "sample.jsonl", "-n", "1", "--json"]);
    lines.next().unwrap().unwrap();
    drop(lines);
    assert!(child.wait().unwrap().success());
}

#[test]
fn an_entry_on_another_branch_says_where_it_stands() {
    let world = World::with_sample();
    let (mut child, mut lines) = follow(&world, &["tail", "sample.jsonl", "-n", "1", "--color", "never"]);
    let mut until = |end: &str| {
        let mut text = String::new();
        while !text.contains(end) {
            text += &(lines.next().unwrap().unwrap() + "\n");
        }
        text
    };
    until("--lines");
    world.run_with("append sample.jsonl --parent 9e3b", USER);
    let shown = until("why?");
    assert!(shown.contains("below 9e3b57f0"), "{shown}");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Follows the sample until it has it open, then lets something happen to the file; answers how it ended.
fn ended_by(change: impl FnOnce(&World)) -> (Option<i32>, String) {
    let world = World::with_sample();
    let mut child = world.command(&["tail", "sample.jsonl", "-n", "0"]).stderr(Stdio::piped()).spawn().unwrap();
    // The session is open once it holds the file; deleting it before that would be "not found".
    let open = |pid: u32| {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
        files.flatten().any(|fd| fs::read_link(fd.path()).is_ok_and(|path| path.ends_with("sample.jsonl")))
    };
    while !open(child.id()) {
        std::thread::yield_now();
    }
    // What it says first: then it has read the file.
    world.run_with("append sample.jsonl", USER);
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    change(&world);
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    (child.wait().unwrap().code(), world.normalised(&stderr))
}

#[test]
fn a_file_that_goes_away_ends_it() {
    let (code, said) = ended_by(|world| fs::remove_file(world.work().join("sample.jsonl")).unwrap());
    assert_eq!(code, Some(5));
    assert_snapshot!(said, @"error: sample.jsonl: the file was replaced or deleted");
}

#[test]
fn a_file_that_another_takes_the_place_of_ends_it() {
    let (code, said) = ended_by(|world| {
        let other = world.write("other.jsonl", world.read("sample.jsonl"));
        fs::rename(other, world.work().join("sample.jsonl")).unwrap();
    });
    assert_eq!(code, Some(5));
    assert_snapshot!(said, @"error: sample.jsonl: the file was replaced or deleted");
}

#[test]
fn a_file_that_is_shortened_ends_it() {
    let (code, said) = ended_by(|world| {
        fs::OpenOptions::new().write(true).open(world.work().join("sample.jsonl")).unwrap().set_len(100).unwrap();
    });
    assert_eq!(code, Some(5));
    assert_snapshot!(said, @"error: sample.jsonl: another program shortened the file; open the session again");
}
