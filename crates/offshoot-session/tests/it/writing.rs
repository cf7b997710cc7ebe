//! Several entries at once, the creation of a file, and two programs that meet at an old one.

use std::fs;

use offshoot_session::compose::{NewCompaction, NewEntry};
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Conflict, Error, Invalid};
use offshoot_session::id::EntryId;
use offshoot_session::json::Json;
use offshoot_session::session::{Durability, Options, Session};
use offshoot_session::testing::fixed_options;

use super::common::{at, ids, say, shape, text};

fn user(said: &str) -> NewEntry {
    NewEntry::message(Json::parse(&format!(r#"{{"role":"user","content":"{said}"}}"#)).unwrap()).unwrap()
}

#[test]
fn entries_that_are_appended_together_are_a_chain() {
    for durability in [Durability::Os, Durability::Data, Durability::Full] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, text(&["a - U"]) + "{torn").unwrap();
        let mut session = Session::open(&path, Options { durability, ..fixed_options() }).unwrap();
        let label = NewEntry::label("a", Some("start"));
        let given = session.append_all(&[user("one"), label, user("two")]).unwrap();
        assert_eq!(session.leaf_id(), given.last());
        assert_eq!(session.tree().label(&EntryId::new("a")).map(|label| label.text.as_str()), Some("start"));
        let again = Session::open(&path, fixed_options()).unwrap();
        assert_eq!(shape(&again), format!("0a 1{} 2{} 3{}", given[0], given[1], given[2]));
        for ix in again.tree().entries() {
            assert_eq!(again.raw_line(ix).unwrap(), session.raw_line(ix).unwrap(), "the places are right");
            assert_eq!(again.tree().node(ix).line(), session.tree().node(ix).line());
        }
    }
}

#[test]
fn of_entries_that_are_appended_together_all_are_refused_or_none() {
    let mut session = Session::from_text(&text(&["a - U"]), fixed_options()).unwrap();
    let refused = session.append_all(&[user("one"), NewEntry::label("nobody", Some("x"))]);
    assert!(matches!(refused, Err(Error::EntryNotFound { .. })), "{refused:?}");
    let summary = NewCompaction { summary: "s", first_kept: Some("a"), tokens_before: 1, ..NewCompaction::default() };
    let compaction = NewEntry::compaction(&summary, session.dialect());
    let refused = session.append_all(&[user("one"), compaction.clone()]);
    assert!(matches!(refused, Err(Error::Invalid(Invalid::LateCompaction))), "{refused:?}");
    assert_eq!(ids(&session), ["a"]);
    assert_eq!(session.append_all(&[]).unwrap(), []);
    assert_eq!(session.append_all(&[compaction, user("one")]).unwrap().len(), 2);
}

#[test]
fn a_new_file_appears_with_its_first_entries_and_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/deeper/s.jsonl");
    let mut session = Session::create(&at("/w"), fixed_options(), |_, _| path.clone()).unwrap();
    let given = session.append_all(&[user("one"), user("two")]).unwrap();
    say(&mut session, "assistant", "three");
    let again = Session::open(&path, fixed_options()).unwrap();
    assert_eq!(ids(&again).len(), 3);
    assert_eq!(ids(&again)[..2], given.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

/// Both opened the file when it was old. The first append upgrades it; the other program must not upgrade again over
/// later appends.
#[test]
fn a_file_that_another_program_upgraded_is_not_upgraded_over_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let old = concat!(
        r#"{"type":"session","id":"s","timestamp":"2025-12-08T10:00:00.000Z","cwd":"/w"}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-12-08T10:00:01.000Z","message":{"role":"user","content":"u1"}}"#,
        "\n",
    );
    fs::write(&path, old).unwrap();
    let mut one = Session::open(&path, Options::default()).unwrap();
    let mut two = Session::open(&path, Options::default()).unwrap();
    let kept = say(&mut one, "user", "kept");
    for _ in 0..2 {
        assert!(matches!(two.append(&user("late")), Err(Error::Conflict { why: Conflict::Replaced, .. })));
        assert!(matches!(two.upgrade(), Err(Error::Conflict { .. })));
    }
    let mut again = Session::open(&path, Options::default()).unwrap();
    assert_eq!(again.leaf_id().map(ToString::to_string), Some(kept));
    say(&mut again, "user", "on");
    say(&mut one, "user", "and on");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the file and one backup");
}
