//! `offshoot branches`.

use insta::assert_snapshot;

use crate::world::{World, text};

#[test]
fn what_each_branch_holds_and_cost() {
    let world = World::with_sample();
    let output = world.command(&["branches", "sample.jsonl"]).env("COLUMNS", "90").output().unwrap();
    assert_snapshot!(world.shown(&output), @"
       LEAF  WHEN  ENTRIES   TOKENS        COST  LABEL       LAST WORDS
    ›  42e6  18 d    13/21  21k/27k  $0.04/0.06  tests pass  With --lines the number of lines…
       4e8a  18 d     7/15  15k/21k  $0.03/0.04              A dependency or 40 lines, for co…
    the whole session: 28 entries, 41k tokens, $0.09
    ");
}

#[test]
fn ids_can_be_left_out() {
    let world = World::with_sample();
    for line in ["branches sample.jsonl", "show sample.jsonl", "tree sample.jsonl", "tree sample.jsonl --layout pi"] {
        assert!(world.stdout(line).contains("42e6"), "{line}");
        assert!(!world.stdout(&format!("{line} --no-ids")).contains("42e6"), "{line}");
    }
}

#[test]
fn json_has_own_and_whole() {
    assert_snapshot!(World::with_sample().run("branches sample.jsonl --json"), @r#"
    [{"leafId":"4e8a1f36","isOpen":false,"label":null,"lastWords":"A dependency or 40 lines, for counting words? Let us go back.","time":"2026-01-14T08:43:00.030Z","forksFrom":"30f8c62b","merged":"no","unmergedMessages":6,"entries":15,"messages":11,"tokens":20644,"cost":0.042378,"own":{"entries":7,"messages":6,"tokens":14570,"cost":0.026916}},
    {"leafId":"42e6b1f9","isOpen":true,"label":"tests pass","lastWords":"With `--lines` the number of lines follows on a line of its own: ``` $ printf 'one two\\nthree\\n' | wordcount --lines 3 2 ```","time":"2026-01-14T08:45:22.030Z","forksFrom":"30f8c62b","merged":"all","unmergedMessages":0,"entries":21,"messages":15,"tokens":26799,"cost":0.058701,"own":{"entries":13,"messages":10,"tokens":20725,"cost":0.043239}}]
    "#);
}

#[test]
fn a_branch_that_was_brought_here_says_so() {
    let world = World::with_sample();
    let row = |world: &World, of: &str| {
        let list = world.stdout(of);
        list.lines().find(|line| line.contains(" 4e8a ")).map(str::to_owned)
    };
    assert!(row(&world, "branches sample.jsonl --unmerged").is_some());
    world.run("pick sample.jsonl f150");
    assert!(row(&world, "branches sample.jsonl").unwrap().contains("partly, 4 since"));
    assert!(
        world.stdout("branches sample.jsonl --unmerged --json").contains(r#""merged":"partly","unmergedMessages":4"#)
    );
    world.run("merge sample.jsonl 4e8a --summary tried");
    assert!(row(&world, "branches sample.jsonl").unwrap().contains(" all "));
    // The branch before the pick is one of its own, and nothing of it is lacking.
    assert_snapshot!(world.run("branches sample.jsonl --unmerged"), @"nothing to do: no branch has messages that this one lacks");
    assert_eq!(world.stdout("branches sample.jsonl --unmerged --json"), "[]\n");
}

#[test]
fn an_empty_session_has_none() {
    let world = World::new();
    world.write("empty.jsonl", text("s", "/w", &[]));
    assert_snapshot!(world.run("branches empty.jsonl"), @"
    [stderr]
    note: the session is empty
    ");
    assert_eq!(world.stdout("branches empty.jsonl --json"), "[]\n");
}
