//! `offshoot migrate`.

use insta::assert_snapshot;

use crate::world::{VERSION_1, World};

#[test]
fn old_files_are_upgraded_and_kept() {
    let world = World::with_sample();
    world.write("old.jsonl", VERSION_1);
    assert_snapshot!(world.run("migrate old.jsonl sample.jsonl"), @"
    old.jsonl: upgraded from version 1; the old file is old.jsonl.v1.bak
    sample.jsonl: nothing to do: version 3
    2 sessions: 1 upgraded
    ");
    assert_snapshot!(world.run("migrate old.jsonl"), @"old.jsonl: nothing to do: version 3");
    assert_eq!(world.read("old.jsonl.v1.bak"), VERSION_1);
    assert_snapshot!(world.normalised(&world.read("old.jsonl")), @r#"
    {"type":"session","id":"old-one","timestamp":"2025-11-01T10:00:00.000Z","cwd":"/old","provider":"anthropic","modelId":"claude","thinkingLevel":"off","version":3}
    {"type":"message","timestamp":"2025-11-01T10:00:01.000Z","message":{"role":"user","content":"first","timestamp":1761991201000},"id":"[ID1]","parentId":null}
    {"type":"message","timestamp":"2025-11-01T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"answer"}],"timestamp":1761991202000},"id":"[ID2]","parentId":"[ID1]"}
    "#);
}

/// The first file that could not be read ended the run, and those after it stayed old.
#[test]
fn what_cannot_be_upgraded_is_reported_and_the_others_are_upgraded() {
    let world = World::new();
    world.write("notes.jsonl", "# Notes\n");
    world.write("old.jsonl", VERSION_1);
    assert_snapshot!(world.run("migrate gone.jsonl notes.jsonl old.jsonl"), @r#"
    old.jsonl: upgraded from version 1; the old file is old.jsonl.v1.bak
    3 sessions: 1 upgraded, 2 failed
    [stderr]
    error: could not open gone.jsonl
    caused by: No such file or directory (os error 2)
    error: notes.jsonl is not a session: there is no session header (line 1, byte 0)
    hint: a session file begins with a line like {"type":"session","id":…}
    error: 2 sessions could not be upgraded
    [exit code 3]
    "#);
}

#[test]
fn ids_are_those_that_reading_showed() {
    let world = World::new();
    world.write("old.jsonl", VERSION_1);
    let before = world.stdout("tree old.jsonl --flat");
    world.run("migrate old.jsonl");
    assert_eq!(world.stdout("tree old.jsonl --flat"), before);
}
