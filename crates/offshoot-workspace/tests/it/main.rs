//! What the rows that read say of a small session.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, reason = "tests")]

mod other_agents;

use std::path::Path;

use offshoot_session::store::{DirStore, Flavour, Root};
use offshoot_workspace::{
    Given, Note, Outcome, Output, Place, PlaceOptions, Result, Words, WordsBlock, find_operation,
};

const SESSION: &str = r#"{"type":"session","version":3,"id":"0198c0de-0000-7000-8000-000000000001","timestamp":"2026-02-01T10:00:00.000Z","cwd":"/w"}
{"type":"message","id":"aaaa1111","parentId":null,"timestamp":"2026-02-01T10:00:01.000Z","message":{"role":"user","content":"why **does** it fail","timestamp":1769940001000}}
{"type":"message","id":"bbbb2222","parentId":"aaaa1111","timestamp":"2026-02-01T10:00:02.000Z","message":{"role":"user","content":"first","timestamp":1769940002000}}
{"type":"message","id":"cccc3333","parentId":"aaaa1111","timestamp":"2026-02-01T10:00:03.000Z","message":{"role":"user","content":"second","timestamp":1769940003000}}
"#;

fn place(folder: &Path) -> Place {
    std::fs::write(folder.join("s.jsonl"), SESSION).unwrap();
    Place::new(PlaceOptions {
        store: Some(DirStore::new(Root::new(folder, Flavour::Flat), Vec::new())),
        now: Some(1_769_940_063_000),
        plain: |text| text.replace('*', ""),
        ..PlaceOptions::in_folder(folder)
    })
}

fn run(place: &Place, name: &str, given: Given) -> Result<Outcome<dyn Output>> {
    find_operation(name).unwrap().run(given, place, false)
}

fn done(outcome: Outcome<dyn Output>) -> Box<dyn Output> {
    match outcome {
        Outcome::Done(output) => output,
        Outcome::Nothing { why, .. } => panic!("nothing to do: {}", why.plain()),
    }
}

fn given(place: &Place) -> Given {
    let mut given = Given::default();
    given.put_text("session", place.cwd().join("s.jsonl").to_string_lossy());
    given
}

fn json(output: &dyn Output) -> String {
    let mut out = Vec::new();
    output.json(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn words(output: &dyn Output) -> Words {
    let mut words = Words::default();
    output.words(&mut words);
    words
}

#[test]
fn branches_are_in_the_order_of_the_file_as_json_and_the_newest_first_for_people() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let output = done(run(&place, "branches", given(&place)).unwrap());
    let json = json(output.as_ref());
    let (first, second) = (json.find("bbbb2222").unwrap(), json.find("cccc3333").unwrap());
    assert!(first < second && json.contains("\"forksFrom\":\"aaaa1111\""), "{json}");
    let words = words(output.as_ref());
    let Some(WordsBlock::Table(table)) = words.blocks.first() else { panic!("no table") };
    let ids: Vec<_> =
        table.rows.iter().map(|(cells, _)| (cells[0].as_str(), cells[1].as_str(), cells[2].as_str())).collect();
    assert_eq!(ids, [("›", "cccc", "1 min"), (" ", "bbbb", "1 min")]);
    assert_eq!(words.plain(), "the whole session: 3 entries");
    assert!(words.is_long && matches!(words.notes.as_slice(), [Note::OddOf(_, odd)] if odd.is_empty()), "{words:?}");
}

#[test]
fn branches_that_are_unmerged_and_the_latest_of_every_folder() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let mut unmerged = given(&place);
    unmerged.put("unmerged", offshoot_workspace::ArgValue::Flag);
    assert!(json(done(run(&place, "branches", unmerged).unwrap()).as_ref()).matches("leafId").count() == 1);
    let mut latest = Given::default();
    latest.put_text("session", "latest");
    assert_eq!(
        run(&place, "branches", latest.clone()).err().unwrap().to_string(),
        format!("no sessions in {} yet", folder.path().display())
    );
    latest.put("all", offshoot_workspace::ArgValue::Flag);
    assert!(json(done(run(&place, "branches", latest).unwrap()).as_ref()).contains("cccc3333"));
    let mut both = given(&place);
    both.put("all", offshoot_workspace::ArgValue::Flag);
    assert_eq!(run(&place, "branches", both).err().unwrap().to_string(), "--all goes with `latest`");
}

#[test]
fn two_branches_part_after_what_both_have() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let mut two = given(&place);
    two.put_text("a", "@");
    two.put_text("b", "bbbb2222");
    let output = done(run(&place, "compare", two.clone()).unwrap());
    let json = json(output.as_ref());
    assert!(json.starts_with(r#"{"ancestorId":"aaaa1111","sides":[{"tipId":"cccc3333","entries":1,"#), "{json}");
    assert!(!json.contains("patches"), "{json}");
    let words = words(output.as_ref());
    assert_eq!(
        words.plain(),
        "common ancestor: aaaa  why **does** it fail\n\nA  cccc  second\n   1 entry · 1 turn · 0 tokens · $0.00 · 1 min\n   “second”\
         \n\nB  bbbb  first\n   1 entry · 1 turn · 0 tokens · $0.00 · 1 min\n   “first”"
    );
    two.put_text("b", "none");
    assert_eq!(run(&place, "compare", two).err().unwrap().to_string(), "entry none not found");
}
