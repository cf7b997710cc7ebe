//! `offshoot entry`.

use insta::assert_snapshot;

use crate::world::{VERSION_1, World, text};

#[test]
fn a_record_comes_byte_for_byte() {
    let world = World::new();
    let odd = "{\"type\":\"novel\", \"id\":\"aaaa1111\",\"parentId\":null,\"timestamp\":\"2026-02-01T11:00:00.000Z\",\"x\":\"\u{1b}\t\"}\r";
    let mut bytes = text("s", "/w", &[odd]).into_bytes();
    bytes.extend_from_slice(b"{\"type\":\"novel\",\"id\":\"bbbb2222\",\"parentId\":\"aaaa1111\",\"x\":\"\xff\"}\n");
    world.write("s.jsonl", bytes);
    let run = |entry: &str| world.command(&["entry", "s.jsonl", entry]).output().unwrap().stdout;
    assert_eq!(run("aaaa"), format!("{odd}\n").as_bytes());
    assert_eq!(run("bbbb2222"), b"{\"type\":\"novel\",\"id\":\"bbbb2222\",\"parentId\":\"aaaa1111\",\"x\":\"\xff\"}\n");
}

#[test]
fn an_old_record_comes_as_it_stands() {
    let world = World::new();
    world.write("old.jsonl", VERSION_1);
    let id = world.stdout("tree old.jsonl --flat").split(' ').nth(1).unwrap().to_owned();
    let line = world.stdout(&format!("entry old.jsonl {id}"));
    assert_eq!(line.trim_end(), VERSION_1.lines().nth(1).unwrap());
}

#[test]
fn what_is_not_there_is_not_found() {
    assert_snapshot!(World::with_sample().run("entry sample.jsonl nothing"), @"
    [stderr]
    error: entry nothing not found
    hint: `offshoot tree SESSION --flat` lists every entry with its id
    [exit code 3]
    ");
}
