//! `offshoot entry`.

use insta::assert_snapshot;

use crate::world::{VERSION_1, World, message, text};

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

#[test]
fn the_source_of_a_copy_is_found_here_along_the_forks_and_elsewhere() {
    let world = World::with_sample();
    let source = |session: &str| world.run(&format!("entry {session} @ --source"));
    let original = world.stdout("entry sample.jsonl 4e8a");
    assert_snapshot!(source("sample.jsonl"), @"
    [stderr]
    error: the entry was written here: it is no copy and no merge
    [exit code 3]
    ");
    world.run("switch sample.jsonl 30f8");
    world.run("pick sample.jsonl 4e8a");
    assert_eq!(source("sample.jsonl"), original, "in the session");
    // A fork of the path has the copy and not the original.
    let fork = world.stdout("fork sample.jsonl").trim().to_owned();
    let written = std::fs::read_to_string(&fork).unwrap();
    let copy = written.lines().find(|line| line.contains("pickedFrom")).unwrap();
    let copy: serde_json::Value = serde_json::from_str(copy).unwrap();
    let copy = copy["id"].as_str().unwrap();
    assert_eq!(world.run(&format!("entry {fork} {copy} --source")), original, "along the forks");
    world.write("new.jsonl", text("new", "/work", &[&message("aaaa1111", None, 1, "user", "hello")]));
    world.run("import sample.jsonl");
    world.run("pick new.jsonl 4e8a --from sample.jsonl");
    assert_eq!(source("new.jsonl"), original, "in another session");
    world.run("merge new.jsonl 42e6 --from sample.jsonl --summary tried");
    assert_eq!(source("new.jsonl"), world.stdout("entry sample.jsonl 42e6"), "the end of a merge");
    for path in [world.work().join("sample.jsonl"), world.home().join(".local/share/offshoot/sessions")] {
        std::fs::rename(&path, path.with_extension("gone")).unwrap();
    }
    assert_snapshot!(source("new.jsonl"), @"
    [stderr]
    error: source not here: entry 42e6b1f9 of session 019bbbd8-3100-7c42-9d1a-6f20b7e4a581
    [exit code 3]
    ");
}
