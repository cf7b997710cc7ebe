//! `offshoot repair`.

use insta::assert_snapshot;

use crate::world::{VERSION_1, World, message, talk, text};

fn damaged() -> String {
    let [question, answer] = talk("why?");
    let whole = text("bad", "/w", &["no json", &question]);
    format!("{}\0\0{answer}{}\n{{\"type\":", whole, message("cccc3333", Some("bbbb2222"), 12, "user", "and?"))
}

#[test]
fn damage_moves_out_and_the_file_is_sound() {
    let world = World::new();
    world.write("bad.jsonl", damaged());
    assert_snapshot!(world.run("repair bad.jsonl"), @"
    bad.jsonl:2: 7 bytes from byte 92 on to the quarantine [malformed-line]
    bad.jsonl:4: 2 bytes from byte 284 on to the quarantine [nul-bytes]
    bad.jsonl:4: the record at byte 480 on a line of its own [malformed-line]
    bad.jsonl:5: 8 bytes from byte 670 on to the quarantine [torn-tail]
    the old file is bad.jsonl.bak
    what was taken out is in bad.jsonl.quarantine
    ");
    assert_snapshot!(world.run("check bad.jsonl"), @"bad.jsonl: ok");
    assert_snapshot!(world.run("context bad.jsonl"), @"
    user  aaaa
      why?

    assistant  bbbb
      Yes.

    user  cccc
      and?

    3 messages, ?/?, thinking off
    ");
    assert_snapshot!(world.read("bad.jsonl.quarantine").replace('\0', "[NUL]"), @r#"
    {"type":"quarantined","file":"bad.jsonl","code":"malformed-line","line":2,"offset":92,"length":7}
    no json
    {"type":"quarantined","file":"bad.jsonl","code":"nul-bytes","line":4,"offset":284,"length":2}
    [NUL][NUL]
    {"type":"quarantined","file":"bad.jsonl","code":"torn-tail","line":5,"offset":670,"length":8}
    {"type":
    "#);
    assert_eq!(world.read("bad.jsonl.bak"), damaged());
    assert_snapshot!(world.run("repair bad.jsonl"), @"nothing to do: bad.jsonl has no damaged lines");
    assert_snapshot!(world.run("repair bad.jsonl --json"), @r#"{"file":"bad.jsonl","steps":[],"backup":null,"quarantine":null,"givenBack":[]}"#);
}

#[test]
fn a_dry_run_changes_nothing() {
    let world = World::new();
    world.write("bad.jsonl", damaged());
    let before = world.snapshot();
    assert_snapshot!(world.run("repair bad.jsonl --dry-run"), @"
    bad.jsonl:2: 7 bytes from byte 92 on to the quarantine [malformed-line]
    bad.jsonl:4: 2 bytes from byte 284 on to the quarantine [nul-bytes]
    bad.jsonl:4: the record at byte 480 on a line of its own [malformed-line]
    bad.jsonl:5: 8 bytes from byte 670 on to the quarantine [torn-tail]
    nothing was changed
    ");
    assert_snapshot!(world.run("repair bad.jsonl --dry-run --json"), @r#"{"file":"bad.jsonl","steps":[{"code":"malformed-line","line":2,"offset":92,"length":7,"action":"quarantine"},{"code":"nul-bytes","line":4,"offset":284,"length":2,"action":"quarantine"},{"code":"malformed-line","line":4,"offset":480,"length":189,"action":"own-line"},{"code":"torn-tail","line":5,"offset":670,"length":8,"action":"quarantine"}],"backup":null,"quarantine":null,"givenBack":[]}"#);
    assert_eq!(world.snapshot(), before);
}

#[test]
fn a_damaged_entry_with_children_leaves_its_place() {
    let world = World::new();
    let [question, answer] = talk("why?");
    world.write("bad.jsonl", text("bad", "/w", &[&question.replace("\"why?\"", "why?"), &answer]));
    assert_snapshot!(world.run("repair bad.jsonl --json"), @r#"{"file":"bad.jsonl","steps":[{"code":"damaged-entry","line":2,"offset":92,"length":181,"action":"hold-place"}],"backup":"bad.jsonl.bak","quarantine":"bad.jsonl.quarantine","givenBack":[]}"#);
    assert_snapshot!(world.run("tree bad.jsonl --flat"), @"
    0 aaaa1111 custom
    1 bbbb2222 message assistant
    ");
}

#[test]
fn what_needs_no_repair_or_allows_none_is_left_alone() {
    let world = World::with_sample();
    world.write("old.jsonl", VERSION_1);
    world.write("notes.jsonl", "# Notes\n");
    let before = world.snapshot();
    assert_snapshot!(world.run("repair sample.jsonl"), @"nothing to do: sample.jsonl has no damaged lines");
    assert_snapshot!(world.run("repair old.jsonl"), @"
    [stderr]
    error: the session has version 1: it is upgraded before it is repaired
    hint: `offshoot migrate old.jsonl` upgrades it
    [exit code 2]
    ");
    assert_snapshot!(world.run("repair notes.jsonl"), @r#"
    [stderr]
    error: notes.jsonl is not a session: there is no session header (line 1, byte 0)
    hint: a session file begins with a line like {"type":"session","id":…}
    [exit code 4]
    "#);
    assert_snapshot!(world.run("repair gone.jsonl"), @"
    [stderr]
    error: could not open gone.jsonl
    caused by: No such file or directory (os error 2)
    [exit code 3]
    ");
    assert_eq!(world.snapshot(), before);
}
