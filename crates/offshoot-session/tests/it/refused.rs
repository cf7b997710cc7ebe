//! What picks and merges refuse or leave out, and that nothing is written then.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_session::entry::Source as _;
use offshoot_session::error::{Conflict, Error, Invalid};
use offshoot_session::header::Dialect;
use offshoot_session::merge::MergeRequest;
use offshoot_session::pick::{LeftOut, PickOptions, PickRequest, shared_end};
use offshoot_session::selection::{range, turn};
use offshoot_session::session::{Options, PlannedPick, Session};
use offshoot_session::testing::fixed_options;
use offshoot_session::tree::NodeIx;

use super::common::{line, open_messages, session, text};

const TREE: &[&str] = &["a - U", "b a A", "q b U", "z q A", "r - U", "s r A", "h b U", "i h A"];

fn ix(session: &Session, id: &str) -> NodeIx {
    session.find(id).unwrap()
}

fn plan(here: &Session, from: Option<&Session>, entries: Vec<NodeIx>) -> Result<PlannedPick, Error> {
    let options = PickOptions { settings: true, ..PickOptions::default() };
    let from = from.map(Session::pick_end);
    here.plan_pick(&PickRequest { from, selections: &[entries], onto: here.leaf(), options })
}

struct Shared {
    folder: tempfile::TempDir,
}

impl Shared {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }
}

fn open(path: &Path) -> Session {
    Session::open(path, Options { lock_wait: Duration::from_millis(20), ..fixed_options() }).unwrap()
}

#[test]
fn a_range_stays_on_one_path_and_roots_share_nothing() {
    let mut session = session(TREE);
    let refused = range(session.tree(), Some(ix(&session, "r")), ix(&session, "z"));
    assert!(matches!(refused, Err(Error::Invalid(Invalid::NotOnPath { .. }))), "{refused:?}");
    let refused = range(session.tree(), Some(ix(&session, "z")), ix(&session, "q"));
    assert!(matches!(refused, Err(Error::Invalid(Invalid::NotOnPath { .. }))), "{refused:?}");
    let orphan = super::common::session(&["a - A", "b a A"]);
    assert!(matches!(turn(orphan.tree(), ix(&orphan, "b"), None), Err(Error::Invalid(Invalid::NoUserMessage))));

    // Of another root all of the path comes.
    let other = ix(&session, "s");
    assert_eq!(shared_end(session.pick_end(), None, session.leaf(), other), None);
    let all = range(session.tree(), None, other).unwrap();
    let planned = plan(&session, None, all).unwrap();
    assert_eq!(planned.plan.copies.len(), 2);
    session.pick(&planned).unwrap();
    assert_eq!(open_messages(&session), ["a", "b", "h", "i", "r", "s"]);
    let request = MergeRequest { from: None, tip: ix(&session, "s"), onto: session.leaf(), budget: 0 };
    assert!(session.plan_merge(&request).unwrap().plan.is_empty(), "all of it is here as copies");
}

#[test]
fn a_damaged_source_gives_what_is_whole() {
    let torn = r#"{"type":"message","id":"d","parentId":"ob","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"user","content":"x"#;
    let bad = r#"{"type":"message","id":"e","parentId":"ob","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"user","content":[}}"#;
    let content = format!("{}{bad}\n{}\n{torn}", text(&["oa - U", "ob oa A"]), line("f e U", 4));
    let content = content.replace(r#""id":"s""#, r#""id":"other""#);
    let from = Session::from_text(&content, fixed_options()).unwrap();
    let here = session(TREE);
    let entries = range(from.tree(), None, ix(&from, "f")).unwrap();
    let planned = plan(&here, Some(&from), entries).unwrap();
    let copied: Vec<&str> = planned.plan.copies.iter().map(|copy| copy.id.as_str()).collect();
    assert_eq!(copied, ["oa", "ob", "f"]);
    let left: Vec<_> = planned.plan.left_out.iter().map(|(id, why)| (id.as_str(), *why)).collect();
    assert_eq!(left, [("e", LeftOut::Damaged)]);
}

#[test]
fn a_locked_source_is_read_and_a_locked_session_is_not_written() {
    let shared = Shared::new();
    let source = shared.write("x.jsonl", &text(&["oa - U", "ob oa A"]).replace(r#""id":"s""#, r#""id":"x""#));
    let here = shared.write("s.jsonl", &text(TREE));
    let (mut session, from) = (open(&here), open(&source));
    let lock = File::open(&source).unwrap();
    lock.lock().unwrap();
    let planned = plan(&session, Some(&from), vec![ix(&from, "oa")]).unwrap();
    session.pick(&planned).unwrap();
    lock.unlock().unwrap();

    let before = fs::read(&here).unwrap();
    let lock = File::open(&here).unwrap();
    lock.lock().unwrap();
    let planned = plan(&session, Some(&from), vec![ix(&from, "ob")]).unwrap();
    let refused = session.pick(&planned);
    assert!(matches!(refused, Err(Error::Locked { .. })), "{refused:?}");
    let undo = session.plan_undo().unwrap().unwrap();
    assert!(matches!(session.undo(&undo), Err(Error::Locked { .. })));
    assert_eq!(fs::read(&here).unwrap(), before);
    lock.unlock().unwrap();
    assert!(session.pick(&planned).unwrap().is_some(), "afterwards the plan still holds");
}

#[test]
fn messages_come_from_the_other_dialect_and_settings_do_not() {
    let omp = |pictures: &[&str]| {
        let text = text(pictures).replace(r#""id":"s""#, r#""id":"o""#);
        Session::from_text(&text, Options { dialect: Dialect::Omp, ..fixed_options() }).unwrap()
    };
    let theirs = omp(&[
        "oa - U",
        r#"om oa {"type":"model_change","model":"p/m2","role":"default"}"#,
        r#"ot om {"type":"mode_change","mode":"plan"}"#,
        "ob ot A",
    ]);
    let ours = session(&["a - U", r#"m a {"type":"model_change","provider":"p","modelId":"m3"}"#, "b m A"]);
    let all = |of: &Session| range(of.tree(), None, of.leaf().unwrap()).unwrap();
    let kinds = |planned: &PlannedPick| {
        let left = planned.plan.left_out.iter().map(|(id, why)| format!("{id} {}", why.word()));
        (planned.plan.copies.iter().map(|copy| copy.id.to_string()).collect::<Vec<_>>(), left.collect::<Vec<_>>())
    };
    let there = plan(&ours, Some(&theirs), all(&theirs)).unwrap();
    assert_eq!(kinds(&there).0, ["oa", "ob"]);
    assert_eq!(kinds(&there).1, ["om other-dialect", "ot other-dialect"]);
    let back = plan(&theirs, Some(&ours), all(&ours)).unwrap();
    assert_eq!(kinds(&back), (vec!["a".to_owned(), "b".to_owned()], vec!["m other-dialect".to_owned()]));
}

#[test]
fn a_target_that_is_gone_or_continued_is_a_conflict() {
    type Change = fn(&Path);
    let continued: Change = |path| {
        let mut other = open(path);
        other.switch(ix(&other, "z")).unwrap();
        super::common::say(&mut other, "user", "more");
        // The leaf is as it was for those who look at it only.
        let back = ix(&other, "i");
        other.switch(back).unwrap();
    };
    let deleted: Change = |path| fs::remove_file(path).unwrap();
    let replaced: Change = |path| {
        let new = path.with_extension("new");
        fs::write(&new, text(&TREE[..4])).unwrap();
        fs::rename(new, path).unwrap();
    };
    for (what, change, onto) in [
        ("continued", continued, "z"),
        ("deleted", deleted, "i"),
        ("replaced", replaced, "z"),
        ("replaced", replaced, "i"),
    ] {
        let shared = Shared::new();
        let path = shared.write("s.jsonl", &text(TREE));
        let mut session = open(&path);
        let onto = Some(ix(&session, onto));
        let selections = [vec![ix(&session, "s")]];
        let options = PickOptions::default();
        let pick = session.plan_pick(&PickRequest { from: None, selections: &selections, onto, options }).unwrap();
        let merge = session.plan_merge(&MergeRequest { from: None, tip: ix(&session, "s"), onto, budget: 0 }).unwrap();
        change(&path);
        let before = fs::read(&path).ok();
        let refused = session.pick(&pick);
        assert!(matches!(refused, Err(Error::Conflict { .. })), "{what}: {refused:?}");
        let refused = session.merge(&merge, &merge.plan.in_words("x"));
        assert!(matches!(refused, Err(Error::Conflict { .. })), "{what}: {refused:?}");
        assert_eq!(fs::read(&path).ok(), before, "{what}");
    }
}

/// Between plan and write another program moves the leaf: whatever is planned is refused.
#[test]
fn no_operation_is_written_after_the_leaf_moved() {
    let shared = Shared::new();
    let with_compaction: Vec<&str> = TREE.iter().copied().chain(["k i k=h", "l k U"]).collect();
    let path = shared.write("s.jsonl", &text(&with_compaction));
    let mut session = open(&path);
    let switched = ix(&session, "z");
    session.switch(switched).unwrap();
    let back = ix(&session, "l");
    session.switch(back).unwrap();
    let onto = session.leaf();
    let merge = session.plan_merge(&MergeRequest { from: None, tip: ix(&session, "z"), onto, budget: 0 }).unwrap();
    let undo = session.plan_undo().unwrap().unwrap();
    let uncompact = session.plan_uncompact().unwrap().unwrap();
    let mut other = open(&path);
    let moved = ix(&other, "q");
    other.switch(moved).unwrap();
    let before = fs::read(&path).unwrap();
    let moved = |refused: Option<Error>| matches!(refused, Some(Error::Conflict { why: Conflict::LeafMoved, .. }));
    assert!(moved(session.merge(&merge, &merge.plan.in_words("x")).err()));
    assert!(moved(session.undo(&undo).err()));
    assert!(moved(session.uncompact(&uncompact).err()));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_merge_does_not_go_into_an_open_turn_or_beyond_the_window() {
    let call = r#"t i {"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{}}]}}"#;
    let with_call: Vec<&str> = TREE.iter().copied().chain([call]).collect();
    let session = session(&with_call);
    let (onto, tip) = (session.leaf(), ix(&session, "z"));
    for refused in [
        session.plan_merge(&MergeRequest { from: None, tip, onto, budget: 0 }).map(drop),
        plan(&session, None, vec![tip]).map(drop),
    ] {
        assert!(matches!(refused, Err(Error::Conflict { why: Conflict::OpenToolTurn { .. }, .. })), "{refused:?}");
    }
    assert!(session.refuse_beyond_window(90, 10, 100).is_ok());
    let refused = session.refuse_beyond_window(90, 11, 100).unwrap_err();
    assert!(refused.to_string().contains("90 tokens here and 11 more do not fit into the model's window of 100"));
}
