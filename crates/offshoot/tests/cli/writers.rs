//! Several programs at one session, with the real one: whose branches lie side by side, who holds the lock, and how durable it is.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use insta::assert_snapshot;

use crate::world::{World, message, text};

const USER: &str = r#"{"type":"message","message":{"role":"user","content":"why?"}}"#;

fn world() -> World {
    let world = World::new();
    world.write("s.jsonl", text("s", "/w", &[&message("aaaa1111", None, 10, "user", "q")]));
    world
}

#[test]
fn who_appends_beside_another_program_is_told() {
    let world = world();
    let mut child = world.command(&["append", "s.jsonl"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = || {
        writeln!(stdin, "{USER}").unwrap();
        answers.next().unwrap().unwrap()
    };
    let first = ask();
    let other = world.run_with("append s.jsonl", USER);
    let second = ask();
    let third = ask();
    drop(stdin);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success());
    let opened = world.run("show s.jsonl");
    let opened = opened.split("[stderr]\n").nth(1).unwrap_or_default();
    assert_snapshot!(world.normalised(&[&first, &other, &second, &third, "", &said, opened].map(|part| part.trim().to_owned()).join("\n")), @r#"
    {"id":"[ID1]"}
    {"id":"[ID1]"}
    {"id":"[ID2]","diagnostics":[{"code":"diverged","severity":"note","line":4,"offset":410,"entryId":"[ID3]","message":"another program appended 1 entry on a branch beside this one: “why?”, now"}]}
    {"id":"[ID4]"}

    note: another program appended 1 entry on a branch beside this one: “why?”, now
    hint: `offshoot switch s.jsonl [ID3]` goes there
    "#);
}

/// A program that holds the lock: `flock` that has become `cat`, so that it is one process.
pub(crate) fn holder(world: &World) -> Option<Child> {
    let path = world.work().join("s.jsonl");
    let mut child = Command::new("flock").arg("-F").arg(&path).arg("cat").stdin(Stdio::piped()).spawn().ok()?;
    let file = File::open(path).unwrap();
    while file.try_lock().is_ok() {
        file.unlock().unwrap();
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::yield_now();
    }
    Some(child)
}

/// A stopped holder blocks nobody for ever, and is named; one that was killed blocks nobody.
#[test]
fn a_stopped_holder_is_named_and_a_killed_one_is_gone() {
    let world = world();
    let Some(mut holder) = holder(&world) else {
        let _written = writeln!(std::io::stderr(), "NOT TESTED: a stopped holder: there is no flock program here");
        return;
    };
    let pid = holder.id().to_string();
    assert!(Command::new("kill").args(["-STOP", &pid]).status().unwrap().success());
    let before = world.read("s.jsonl");
    let mut command = world.command(&["append", "s.jsonl"]);
    let mut child = command.env("OFFSHOOT_LOCK_WAIT", "0.05").stdin(Stdio::piped()).spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{USER}").unwrap();
    let shown = world.shown(&child.wait_with_output().unwrap());
    assert_snapshot!(shown.replace(&pid, "PID"), @r#"
    {"error":"s.jsonl is locked: process PID did not release it within 1 s","line":1}
    [stderr]
    error: line 1 of the input: s.jsonl is locked: process PID did not release it within 1 s
    hint: nothing was written; `kill -CONT PID` wakes a process that was stopped
    [exit code 5]
    "#);
    assert_eq!(world.read("s.jsonl"), before);
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(world.run_with("append s.jsonl", USER).starts_with(r#"{"id":""#));
}

#[test]
fn how_durable_is_a_choice() {
    let world = world();
    for level in ["os", "data", "full"] {
        let shown = world.run_with(&format!("append s.jsonl --durability {level}"), USER);
        assert!(shown.starts_with(r#"{"id":""#) && !shown.contains("exit"), "{shown}");
    }
    let lines = fs::read_to_string(world.work().join("s.jsonl")).unwrap().lines().count();
    assert_eq!(lines, 5);
    assert_snapshot!(world.run("append s.jsonl --durability most"), @r#"
    [stderr]
    error: invalid value 'most' for '--durability <LEVEL>': "most" is not a durability: use os, data or full

    For more information, try '--help'.
    [exit code 2]
    "#);
    let output = world.command(&["list"]).env("OFFSHOOT_DURABILITY", "most").output().unwrap();
    assert_snapshot!(world.shown(&output), @r#"
    [stderr]
    error: OFFSHOOT_DURABILITY: "most" is not a durability: use os, data or full
    [exit code 2]
    "#);
}
