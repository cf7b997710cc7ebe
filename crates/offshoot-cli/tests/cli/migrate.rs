//! `offshoot migrate`.

use insta::assert_snapshot;

use crate::world::{VERSION_1, World};

#[test]
fn old_files_are_upgraded_and_kept() {
    let world = World::with_sample();
    world.write("old.jsonl", VERSION_1);
    assert_snapshot!(world.run("migrate old.jsonl sample.jsonl"), @"
    old.jsonl: upgraded from version 1; the old file is old.jsonl.v1.bak
    sample.jsonl: version 3, nothing to do
    ");
    assert_snapshot!(world.run("migrate old.jsonl"), @"old.jsonl: version 3, nothing to do");
    assert_eq!(world.read("old.jsonl.v1.bak"), VERSION_1);
    assert_snapshot!(world.normalised(&world.read("old.jsonl")), @r#"
    {"type":"session","id":"old-one","timestamp":"2025-11-01T10:00:00.000Z","cwd":"/old","provider":"anthropic","modelId":"claude","thinkingLevel":"off","version":3}
    {"type":"message","timestamp":"2025-11-01T10:00:01.000Z","message":{"role":"user","content":"first","timestamp":1761991201000},"id":"[ID1]","parentId":null}
    {"type":"message","timestamp":"2025-11-01T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"answer"}],"timestamp":1761991202000},"id":"[ID2]","parentId":"[ID1]"}
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
