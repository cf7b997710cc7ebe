//! `offshoot switch`.

use insta::assert_snapshot;

use crate::world::{VERSION_1, World};

#[test]
fn the_session_opens_where_it_was_sent() {
    let world = World::with_sample();
    let before = world.read("sample.jsonl");
    assert_snapshot!(world.run("switch sample.jsonl 4e8a"), @"now at 4e8a  A dependency or 40 lines, for counting words? Let us go bac…");
    let after = world.read("sample.jsonl");
    let added = after.strip_prefix(&before).unwrap();
    assert_snapshot!(world.normalised(added), @r#"{"type":"custom","customType":"offshoot.leaf","data":{"op":"switch","before":"42e6b1f9"},"id":"[ID1]","parentId":"4e8a1f36","timestamp":"2026-02-01T12:00:00.000Z"}"#);
    let open: Vec<String> =
        world.stdout("branches sample.jsonl").lines().filter(|line| line.starts_with('›')).map(str::to_owned).collect();
    assert!(open.len() == 1 && open[0].contains("4e8a"), "{open:?}");
}

/// The row of several calls had the id of the first: the model was told that the other edit had not been completed.
#[test]
fn a_row_of_several_calls_leads_to_the_place_after_them() {
    let world = World::with_sample();
    let tree = world.stdout("tree sample.jsonl");
    let row = tree.lines().find(|line| line.contains("[edit ×2, bash: cargo test]")).unwrap().to_owned();
    let id = row.split(' ').next().unwrap();
    assert_snapshot!(world.run(&format!("switch sample.jsonl {id}")), @"now at 5b9e  [bash: cargo test]");
    let context = world.stdout("context sample.jsonl --llm");
    assert!(!context.contains("not completed") && context.contains("toolu_06"), "{context}");
    let again = world.stdout("tree sample.jsonl");
    assert!(again.contains("5b9e › • [edit ×2, bash: cargo test]"), "{again}");
    // A call in the middle is a place, too, and says what it leaves out.
    assert_snapshot!(world.run("switch sample.jsonl 93a7"), @"
    now at 93a7  [edit: src/main.rs]
    [stderr]
    note: left out: [edit: src/main.rs, bash: cargo test]; 5b9e includes them
    ");
    for command in ["fork sample.jsonl --at 93a7", "export sample.jsonl --at 71fb -o part.jsonl"] {
        let said = world.run(command);
        assert!(said.contains("note: left out: [") && said.contains("5b9e includes them"), "{said}");
    }
    assert!(!world.run("fork sample.jsonl --at 5b9e").contains("left out"));
}

#[test]
fn a_summary_of_what_is_left_can_go_along() {
    let world = World::with_sample();
    let before = world.read("sample.jsonl");
    assert_snapshot!(world.run("switch sample.jsonl 9e3b --summarize"), @"
    now at 9e3b  `count` splits at every single blank. Two blanks in a row g…
    14 entries left behind, summarised in [ID1]
    ");
    let after = world.read("sample.jsonl");
    let added = world.normalised(after.strip_prefix(&before).unwrap());
    assert!(added.starts_with(r#"{"type":"branch_summary","id":"[ID1]","parentId":"9e3b57f0","#), "{added}");
    assert!(added.contains(r#""fromId":"42e6b1f9""#) && added.contains(r#""summariser":"extractive""#), "{added}");
    // Further down a branch nothing is left behind.
    let world = World::with_sample();
    world.run("switch sample.jsonl 9e3b");
    assert!(!world.run("switch sample.jsonl 42e6 --summarize").contains("left behind"));
}

#[test]
fn a_model_without_a_summary_is_refused() {
    let world = World::with_sample();
    let before = world.snapshot();
    assert_snapshot!(world.run("switch sample.jsonl 9e3b --model haiku"), @"
    [stderr]
    error: --model has no effect: no model writes a summary
    hint: --summarize has a summary written
    [exit code 2]
    ");
    assert!(world.run("pop sample.jsonl --summary 'mine' --thinking low").contains("error: --thinking has no effect"));
    assert_eq!(world.snapshot(), before);
}

/// Every later command repeated that the branch that was left holds newer work.
#[test]
fn the_branch_that_was_left_is_not_newer_work() {
    let world = World::with_sample();
    world.run("switch sample.jsonl 4e8a");
    let shown = world.run("show sample.jsonl");
    assert!(!shown.contains("newer work"), "{shown}");
}

#[test]
fn going_where_one_is_writes_nothing() {
    let world = World::with_sample();
    let before = world.snapshot();
    assert_snapshot!(world.run("switch sample.jsonl 42e6"), @"nothing to do: the session is at 42e6  With `--lines` the number of lines follows on a line of its…");
    assert_eq!(world.snapshot(), before);
}

#[test]
fn an_old_file_is_upgraded_first() {
    let world = World::new();
    world.write("old.jsonl", VERSION_1);
    let id = world.stdout("tree old.jsonl --flat").split(' ').nth(1).unwrap().to_owned();
    assert_snapshot!(world.run(&format!("switch old.jsonl {id}")), @"
    now at 1525  first
    [stderr]
    note: upgraded from version 1; the old file is kept as old.jsonl.v1.bak
    ");
    assert_eq!(world.read("old.jsonl.v1.bak"), VERSION_1);
}

/// A wrong id must not have upgraded the file by the time it is refused.
#[test]
fn an_unknown_entry_changes_nothing() {
    let world = World::new();
    world.write("old.jsonl", VERSION_1);
    let before = world.snapshot();
    assert_snapshot!(world.run("switch old.jsonl nothing"), @"
    [stderr]
    error: entry nothing not found
    hint: `offshoot tree SESSION --flat` lists every entry with its id
    [exit code 3]
    ");
    assert_eq!(world.snapshot(), before);
}

/// The models and prices are those that offshoot comes with; the sample was talked about long ago, so nothing is cached.
#[test]
fn the_bill_comes_before_the_move() {
    let world = World::with_sample();
    let before = world.snapshot();
    assert_snapshot!(world.run("switch sample.jsonl 9e3b --dry-run"), @"
    would go to 9e3b  `count` splits at every single blank. Two blanks in a row g…
    14 entries left behind
    4.1k tokens (196 messages, [N] system prompt and tools) · next prompt ≈ $0.02
    ");
    assert_snapshot!(world.run("switch sample.jsonl 9e3b --dry-run --json"), @r#"{"id":null,"to":"9e3b57f0","left":14,"forecast":{"contextTokens":4138,"messageTokens":196,"overheadTokens":[N],"cachedTokens":null,"freshTokens":4138,"cacheExpiresInMs":null,"costNow":0.0155175,"costLater":0.0155175}}"#);
    assert_eq!(world.snapshot(), before);
    assert_snapshot!(world.run("switch sample.jsonl 9e3b --json"), @r#"{"id":"[ID1]","to":"9e3b57f0","left":14}"#);
    assert_snapshot!(world.run("switch sample.jsonl 9e3b --json"), @"null");
}
