//! `offshoot fork`.

use std::fs;

use insta::assert_snapshot;

use crate::world::{VERSION_1, World, text};

#[test]
fn the_path_to_an_entry_becomes_a_session() {
    let world = World::with_sample();
    let before = world.snapshot();
    let path = world.stdout("fork sample.jsonl --at d715a9e4");
    assert_snapshot!(world.normalised(&path), @"[HOME]/.local/share/offshoot/sessions/--home-ada-wordcount--/2026-02-01T12-00-00-000Z_[ID1].jsonl");
    let forked = fs::read_to_string(path.trim_end()).unwrap();
    assert_snapshot!(world.normalised(forked.lines().next().unwrap()), @r#"{"type":"session","version":3,"id":"[ID1]","timestamp":"2026-02-01T12:00:00.000Z","cwd":"/home/ada/wordcount","parentSession":"[WORK]/sample.jsonl"}"#);
    assert!(forked.lines().skip(1).take(7).all(|line| crate::world::SAMPLE.contains(line)));
    assert_snapshot!(world.run(&format!("tree {}", path.trim_end())), @r#"
    1b9d   • user: wordcount says 4 for the text "one two three" (two blanks after one). Can you find out why?
    5f06   • assistant: Let me look at how it counts.
    c4d2   • [read: src/main.rs]
    9e3b   • assistant: count splits at every single blank. Two blanks in a row give an empty piece between them, and that piece is counted as a word; the line feed at the end does the same when a blank stands…
    30f8 › • [before the fix] user: Yes. And add a test that would have caught it.
      (5/5)
    "#);
    assert_eq!(world.read("sample.jsonl").as_bytes(), before[&world.work().join("sample.jsonl")].0);
}

#[test]
fn all_branches_and_another_folder() {
    let world = World::with_sample();
    fs::create_dir(world.work().join("other")).unwrap();
    let path = world.stdout("fork sample.jsonl --all --cwd other");
    assert_snapshot!(world.normalised(&path), @"[HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work-other--/2026-02-01T12-00-00-000Z_[ID1].jsonl");
    let forked = fs::read_to_string(path.trim_end()).unwrap();
    let entries = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let name = entries(&forked).pop().unwrap();
    assert_eq!(entries(&forked)[..28], entries(crate::world::SAMPLE));
    assert_snapshot!(world.normalised(&name), @r#"{"type":"session_info","id":"[ID1]","parentId":"42e6b1f9","timestamp":"2026-02-01T12:00:00.000Z","name":"word count off by the blanks (fork)"}"#);
}

/// All forks of a session looked like their source, below it in the list.
#[test]
fn forks_come_first_and_are_told_apart() {
    let world = World::new();
    let [question, answer] = crate::world::talk("why does the build fail?");
    world.own("0000aaaa-1", &[&question, &answer]);
    for later in [1, 2, 3] {
        let mut fork = world.command(&["fork", "latest"]);
        fork.env("OFFSHOOT_NOW", format!("2026-02-01T12:0{later}:00.000Z"));
        assert!(fork.output().unwrap().status.success());
    }
    world.stdout("fork 0000aaaa");
    let shown = world.command(&["list", "--json"]).env("OFFSHOOT_NOW", "2026-02-01T12:05:00.000Z").output().unwrap();
    let listed: Vec<serde_json::Value> = serde_json::from_slice(&shown.stdout).unwrap();
    let names: Vec<&str> = listed.iter().map(|info| info["name"].as_str().unwrap_or_default()).collect();
    let name = |suffix: &str| format!("why does the build fail? {suffix}");
    assert_eq!(names, [&name("(fork 3)"), &name("(fork 2)"), &name("(fork)"), &name("(fork 4)"), ""]);
}

#[test]
fn an_old_file_is_upgraded_in_the_copy_only() {
    let world = World::new();
    world.write("old.jsonl", VERSION_1);
    let before = world.snapshot();
    let path = world.stdout("fork old.jsonl");
    assert_snapshot!(world.normalised(&fs::read_to_string(path.trim_end()).unwrap()), @r#"
    {"type":"session","version":3,"id":"[ID1]","timestamp":"2026-02-01T12:00:00.000Z","cwd":"/old","parentSession":"[WORK]/old.jsonl"}
    {"type":"message","timestamp":"2025-11-01T10:00:01.000Z","message":{"role":"user","content":"first","timestamp":1761991201000},"id":"[ID2]","parentId":null}
    {"type":"message","timestamp":"2025-11-01T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"answer"}],"timestamp":1761991202000},"id":"[ID3]","parentId":"[ID2]"}
    {"type":"session_info","id":"[ID4]","parentId":"[ID3]","timestamp":"2026-02-01T12:00:00.000Z","name":"first (fork)"}
    "#);
    assert!(before.iter().all(|(path, file)| world.snapshot()[path] == *file));
}

#[test]
fn nothing_makes_no_session() {
    let world = World::new();
    world.write("empty.jsonl", text("s", "/w", &[]));
    assert_snapshot!(world.run("fork empty.jsonl"), @"
    [stderr]
    error: the session is empty: there is nothing to copy
    [exit code 2]
    ");
}

#[test]
fn a_dry_run_copies_nothing() {
    let world = World::with_sample();
    let before = world.snapshot();
    assert_snapshot!(world.run("fork sample.jsonl --at 30f8 --dry-run"), @"
    would copy 8 entries up to 30f8  Yes. And add a test that would have caught it.
    named word count off by the blanks (fork)
    4.2k tokens (208 messages, [N] system prompt and tools) · next prompt ≈ $0.02
    ");
    assert_snapshot!(world.run("fork sample.jsonl --all --dry-run --json"), @r#"{"path":null,"name":"word count off by the blanks (fork)","at":null,"entries":28,"forecast":{"contextTokens":2612,"messageTokens":188,"overheadTokens":[N],"cachedTokens":null,"freshTokens":2612,"cacheExpiresInMs":null,"costNow":0.009795,"costLater":0.009795}}"#);
    assert_eq!(world.snapshot(), before);
    let json = world.stdout("fork sample.jsonl --at 30f8 --json");
    assert!(json.contains(r#""at":"30f8c62b","entries":8"#) && json.contains(r#"{"path":"/"#), "{json}");
}
