//! `offshoot label`.

use insta::assert_snapshot;

use crate::world::{VERSION_1, World};

#[test]
fn a_label_is_put_on_and_taken_off() {
    let world = World::with_sample();
    assert_snapshot!(world.run("label sample.jsonl 1b9d 'where it began'"), @"1b9d40c6 [where it began]");
    assert_snapshot!(world.run("tree sample.jsonl --filter labeled-only"), @r#"
    1b9d   • [where it began] user: wordcount says 4 for the text "one two three" (two blanks after one). Can you find out why?
    30f8   • [before the fix] user: Yes. And add a test that would have caught it.
    c86f › • [tests pass] assistant: Fixed: runs of blanks no longer count, and two new assertions hold that down. The test passes.
      (3/3) [labeled-only]
    "#);
    let before = world.snapshot();
    assert_snapshot!(world.run("label sample.jsonl 1b9d"), @"1b9d40c6 [where it began]");
    assert_snapshot!(world.run("label sample.jsonl 1b9d 'where it began'"), @"nothing to do: 1b9d40c6 [where it began]");
    assert_eq!(world.snapshot(), before, "showing a label, and setting the same one, writes nothing");
    assert_snapshot!(world.run("label sample.jsonl 1b9d --clear"), @"1b9d40c6 has no label");
    assert_snapshot!(world.run("label sample.jsonl 1b9d --clear"), @"nothing to do: 1b9d40c6 has no label");
    assert_snapshot!(world.run("label sample.jsonl 1b9d"), @"1b9d40c6 has no label");
    assert!(!world.run("tree sample.jsonl").contains("where it began"));
}

/// An empty text removed the label, so a script with an empty variable did.
#[test]
fn an_empty_label_is_refused() {
    let world = World::with_sample();
    let before = world.snapshot();
    assert_snapshot!(world.run("label sample.jsonl c86f ''"), @"
    [stderr]
    error: the label is empty
    hint: `offshoot label sample.jsonl c86f --clear` removes the label
    [exit code 2]
    ");
    assert_eq!(world.snapshot(), before);
}

/// The first change to a file of an old version upgrades it; a command with nothing to change does not.
#[test]
fn nothing_to_do_leaves_an_old_file_as_it_is() {
    let world = World::new();
    world.write("old.jsonl", VERSION_1);
    let id = world.stdout("tree old.jsonl --flat").split(' ').nth(1).unwrap().to_owned();
    let before = world.snapshot();
    world.run(&format!("label old.jsonl {id} --clear"));
    assert_snapshot!(world.run("name old.jsonl ''"), @"nothing to do: the session has no name");
    assert_eq!(world.snapshot(), before);
}

#[test]
fn a_label_needs_its_entry() {
    let world = World::with_sample();
    let before = world.snapshot();
    assert_snapshot!(world.run("label sample.jsonl nothing text"), @"
    [stderr]
    error: entry nothing not found
    hint: `offshoot tree SESSION --flat` lists every entry with its id
    [exit code 3]
    ");
    assert_eq!(world.snapshot(), before);
}

#[test]
fn an_old_file_is_upgraded_by_its_first_append() {
    let world = World::new();
    world.write("old.jsonl", VERSION_1);
    let id = world.stdout("tree old.jsonl --flat").split(' ').nth(1).unwrap().to_owned();
    assert_snapshot!(world.run(&format!("label old.jsonl {id} first")), @"
    [ID1] [first]
    [stderr]
    note: upgraded from version 1; the old file is kept as old.jsonl.v1.bak
    ");
    assert_snapshot!(world.normalised(&world.read("old.jsonl")), @r#"
    {"type":"session","id":"old-one","timestamp":"2025-11-01T10:00:00.000Z","cwd":"/old","provider":"anthropic","modelId":"claude","thinkingLevel":"off","version":3}
    {"type":"message","timestamp":"2025-11-01T10:00:01.000Z","message":{"role":"user","content":"first","timestamp":1761991201000},"id":"[ID1]","parentId":null}
    {"type":"message","timestamp":"2025-11-01T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"answer"}],"timestamp":1761991202000},"id":"[ID2]","parentId":"[ID1]"}
    {"type":"label","id":"[ID3]","parentId":"[ID2]","timestamp":"2026-02-01T12:00:00.000Z","targetId":"[ID1]","label":"first"}
    "#);
    assert_eq!(world.read("old.jsonl.v1.bak"), VERSION_1);
}
