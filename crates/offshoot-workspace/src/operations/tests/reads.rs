//! Operations that read: what they write as JSON, what they say while it is made, and what failed meanwhile.

use super::*;
use crate::FrontEnd;

fn flag(name: &'static str) -> (&'static str, ArgValue) {
    (name, ArgValue::Flag)
}

#[test]
fn a_context_is_written_as_it_is_sent_and_with_its_tokens() {
    let folder = Folder::with_two_branches();
    let context = |given: &[_]| done(folder.run(("context", false), given));
    let whole = json(context(&[]).as_ref());
    assert!(whole.starts_with(r#"{"messages":[{"role":"user""#) && whole.ends_with('}'), "{whole}");
    let tokens = json(context(&[flag("tokens")]).as_ref());
    assert!(
        tokens.starts_with(r#"{"tokens":"#) && tokens.contains(r#""messages":[{"entryId":"question00""#),
        "{tokens}"
    );
    let said = said(context(&[]).as_ref());
    assert!(said.contains("the second answer") && said.contains("2 messages, "), "{said}");
}

#[test]
fn a_tree_is_drawn_flat_or_folded() {
    let folder = Folder::with_two_branches();
    let tree = |given: &[_]| said(done(folder.run(("tree", false), given)).as_ref());
    assert!(tree(&[]).starts_with("ques         • user: the question"), "{}", tree(&[]));
    let flat = tree(&[flag("flat")]);
    assert_eq!(flat.lines().collect::<Vec<_>>()[..2], ["0 question00 message user", "1 answer0001 message assistant"]);
    let wrong = folder.run(("tree", false), &[("filter", text("nothing"))]).err().unwrap().to_string();
    assert_eq!(wrong, "the argument \"filter\" must be one of default, no-tools, user-only, labeled-only, all");
}

/// What is shown is written where a client reads it, later than it was asked for.
#[test]
fn what_is_shown_stays_as_it_was_when_the_session_goes_on() {
    let folder = Folder::with_two_branches();
    let (show, tree) = (done(folder.run(("show", false), &[])), done(folder.run(("tree", false), &[])));
    let before = (json(show.as_ref()), json(tree.as_ref()));
    done(folder.run(("label", false), &[("entry", text("question00")), ("text", text("asked"))]));
    assert_eq!((json(show.as_ref()), json(tree.as_ref())), before);
    assert_ne!(json(done(folder.run(("tree", false), &[])).as_ref()), before.1);
}

#[test]
fn an_entry_is_its_bytes_and_not_for_clients_that_read_json() {
    let folder = Folder::with_two_branches();
    let entry = done(folder.run(("entry", false), &[("entry", text("answer0001"))]));
    assert_eq!(json(entry.as_ref()), folder.text().lines().nth(2).unwrap());
    let row = find_operation("entry").unwrap();
    assert!(row.is_raw && row.is_on(FrontEnd::CommandLine) && !row.is_on(FrontEnd::Rpc));
}

/// One file that cannot be read does not hide what is found in the others.
#[test]
fn a_check_goes_on_behind_what_cannot_be_read() {
    let folder = Folder::with_two_branches();
    let file = folder.file().to_str().unwrap().to_owned();
    let missing = folder.folder.path().join("missing.jsonl").to_str().unwrap().to_owned();
    let check = |sessions: Vec<String>| folder.run(("check", false), &[("session", ArgValue::Many(sessions))]);
    let both = done(check(vec![missing.clone(), file.clone()]));
    assert!(said(both.as_ref()).contains(&format!("{file}: ok")), "{}", said(both.as_ref()));
    assert_eq!((both.failed().len(), both.failure().unwrap().to_string().as_str()), (1, "1 input could not be read"));
    assert_eq!(json(both.as_ref()).matches("\"error\":\"").count(), 1);
    let alone = check(vec![missing]).err().unwrap();
    assert!(alone.to_string().starts_with("could not open "), "{alone}");
    assert!(done(check(vec![file])).failure().is_none());
}
