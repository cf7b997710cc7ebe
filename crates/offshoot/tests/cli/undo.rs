//! `offshoot undo`.

use insta::assert_snapshot;

use crate::world::{VERSION_1, World};

#[test]
fn the_last_switch_is_undone_and_redone() {
    let world = World::with_sample();
    world.run("switch sample.jsonl 4e8a");
    let before = world.read("sample.jsonl");
    assert_snapshot!(world.run("undo sample.jsonl --dry-run"), @"
    would undo a switch and go to 42e6  With `--lines` the number of lines follows on a line of its…
    2.6k tokens (188 messages, [N] system prompt and tools) · next prompt ≈ $0.0098
    ");
    assert_eq!(world.read("sample.jsonl"), before, "a dry run writes nothing");
    assert_snapshot!(world.run("undo sample.jsonl"), @"
    undid a switch; now at 42e6  With `--lines` the number of lines follows on a line of its…
    [stderr]
    hint: `offshoot undo sample.jsonl` again is redo
    ");
    let after = world.read("sample.jsonl");
    assert_snapshot!(world.normalised(after.strip_prefix(&before).unwrap()), @r#"{"type":"custom","customType":"offshoot.leaf","data":{"op":"undo","before":"4e8a1f36"},"id":"[ID1]","parentId":"42e6b1f9","timestamp":"2026-02-01T12:00:00.000Z"}"#);
    assert_snapshot!(world.run("undo sample.jsonl"), @"
    undid an undo; now at 4e8a  A dependency or 40 lines, for counting words? Let us go bac…
    [stderr]
    hint: `offshoot undo sample.jsonl` again is redo
    ");
    let open = world.stdout("branches sample.jsonl --json");
    assert!(open.contains(r#""leafId":"4e8a1f36","isOpen":true"#), "{open}");
}

#[test]
fn a_message_since_blocks() {
    let world = World::with_sample();
    world.run("switch sample.jsonl 4e8a");
    let said = r#"{"type":"message","message":{"role":"user","content":"more"}}"#;
    world.run_with("append sample.jsonl", format!("{said}\n"));
    let before = world.snapshot();
    assert_snapshot!(world.run("undo sample.jsonl"), @"
    [stderr]
    error: sample.jsonl: entry [ID1] was added after a switch
    hint: `offshoot switch sample.jsonl 42e6b1f9` goes back anyway
    [exit code 5]
    ");
    let said = world.run("undo sample.jsonl --files");
    assert!(said.contains("`offshoot switch sample.jsonl 42e6b1f9 --files` goes back anyway"), "{said}");
    assert_eq!(world.snapshot(), before);
}

#[test]
fn without_an_operation_there_is_nothing_to_undo() {
    let world = World::with_sample();
    world.write("old.jsonl", VERSION_1);
    world.run("undo sample.jsonl");
    let before = world.snapshot();
    assert_snapshot!(world.run("undo old.jsonl"), @"nothing to do: there is nothing to undo");
    assert_snapshot!(world.run("undo old.jsonl --json"), @"null");
    assert_eq!(world.snapshot(), before);
}

#[test]
fn programs_are_answered_in_json() {
    let world = World::with_sample();
    world.run("switch sample.jsonl 4e8a");
    assert_snapshot!(world.run("undo sample.jsonl --json"), @r#"{"operation":"switch","from":"4e8a1f36","to":"42e6b1f9","id":"[ID1]"}"#);
    assert_snapshot!(world.run("undo sample.jsonl --json --dry-run"), @r#"{"operation":"undo","from":"42e6b1f9","to":"4e8a1f36","id":null,"forecast":{"contextTokens":5101,"messageTokens":341,"overheadTokens":[N],"cachedTokens":null,"freshTokens":5101,"cacheExpiresInMs":null,"costNow":0.[ID1],"costLater":0.[ID1]}}"#);
}

#[test]
fn an_entry_is_named_not_the_marker_below_it() {
    let world = World::with_sample();
    world.run("switch sample.jsonl 4e8a");
    world.run("merge sample.jsonl 42e6 --summary tried");
    assert_snapshot!(world.run("undo sample.jsonl --dry-run"), @"
    would undo a merge and go to 4e8a  A dependency or 40 lines, for counting words? Let us go bac…
    5.1k tokens (341 messages, [N] system prompt and tools) · next prompt ≈ $0.02
    ");
}
