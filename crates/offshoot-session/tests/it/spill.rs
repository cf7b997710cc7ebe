//! Entries that cannot be written are kept in a spill file and put back in their place.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_session::check::check;
use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Code, Conflict, Error, Severity};
use offshoot_session::id::EntryId;
use offshoot_session::json::Json;
use offshoot_session::medium::FileMedium;
use offshoot_session::session::{Durability, NewFork, Options, Session, SessionPart, SpillPolicy};
use offshoot_session::testing::{Fault, FaultMedium, Operation, fixed_options};

use super::common::{at, ids, open_messages, say, shape, text};

fn user(said: &str) -> NewEntry {
    NewEntry::message(Json::parse(&format!(r#"{{"role":"user","content":"{said}"}}"#)).unwrap()).unwrap()
}

fn options(folder: &Path) -> Options {
    let spill = Some(folder.join("state/spill"));
    Options { spill, durability: Durability::Data, ids: Options::default().ids, ..fixed_options() }
}

fn over(disk: &FaultMedium, folder: &Path) -> Session {
    Session::over_medium(Box::new(disk.clone()), &at("/w"), options(folder)).unwrap()
}

/// The spill file and the ids in the error of an append that could not write.
fn spilled(refused: Result<Vec<EntryId>, Error>) -> (PathBuf, Vec<EntryId>) {
    match refused {
        Err(Error::Spilled { spill, ids, .. }) => (spill, ids),
        other => panic!("not spilled: {other:?}"),
    }
}

#[test]
fn what_a_full_disk_refuses_is_kept_and_written_first_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let before = text(&["a - U", "b a A"]);
    let disk = FaultMedium::new(before.clone().into_bytes());
    let mut session = over(&disk, folder.path());
    disk.set_full(true);
    let (place, one) = spilled(session.append_all(&[user("one"), user("two")]));
    assert_eq!(ids(&session), ["a", "b"], "the tree does not run ahead of the file");
    assert_eq!(disk.bytes(), before.as_bytes());
    let (_, three) = spilled(session.append_all(&[user("three")]));
    let kept = fs::read_to_string(&place).unwrap();
    assert_eq!(kept.lines().count(), 4, "{kept}");
    assert!(kept.starts_with(r#"{"type":"offshoot.spill","version":1,"sessionId":"s","file":"#), "{kept}");
    disk.set_full(false);
    let four = session.append(&user("four")).unwrap();
    assert_eq!(shape(&session), format!("0a 1b 2{} 3{} 4{} 5{four}", one[0], one[1], three[0]));
    assert_eq!(session.leaf_id(), Some(&four));
    assert_eq!(shape(&over(&disk, folder.path())), shape(&session));
    assert!(!place.exists(), "nothing is left to bring back");
}

/// The fork of a session that cannot be written lacked what was said last.
#[test]
fn a_copy_elsewhere_has_what_could_not_be_written_here() {
    let folder = tempfile::tempdir().unwrap();
    let disk = FaultMedium::new(text(&["a - U", "b a A", "l b l=a=mark"]).into_bytes());
    let mut session = over(&disk, folder.path());
    disk.set_full(true);
    let (_, one) = spilled(session.append_all(&[user("one")]));
    let (_, two) = spilled(session.append_all(&[user("two")]));
    assert!(session.has_waiting());
    let fork = NewFork { part: SessionPart::Path(session.leaf().unwrap()), name: Some("f"), ..NewFork::default() };
    let path = folder.path().join("fork.jsonl");
    session.export(&fork, |_, _| path.clone()).unwrap();
    let copy = Session::open(&path, options(folder.path())).unwrap();
    assert_eq!(open_messages(&copy), ["a", "b", "one", "two"]);
    assert_eq!(copy.tree().parent_id(copy.find(two[0].as_str()).unwrap()), Some(&one[0]));
    let odd = check(&FileMedium::open(&path).unwrap()).unwrap();
    assert!(odd.iter().all(|told| told.severity() < Severity::Warning), "{odd:?}");
    // From an entry that was chosen, they are another branch.
    session.branch("b").unwrap();
    let fork = NewFork { part: SessionPart::Path(session.leaf().unwrap()), ..NewFork::default() };
    let path = folder.path().join("other.jsonl");
    session.export(&fork, |_, _| path.clone()).unwrap();
    assert_eq!(open_messages(&Session::open(&path, options(folder.path())).unwrap()), ["a", "b"]);
}

/// A command can be typed again: what can never be written is not kept for it. A full disk is another matter.
#[test]
fn what_can_never_be_written_is_kept_for_an_agent_alone() {
    let folder = tempfile::tempdir().unwrap();
    let append_to_deleted = |spill_policy: SpillPolicy| {
        let file = folder.path().join("s.jsonl");
        fs::write(&file, text(&["a - U"])).unwrap();
        let mut session = Session::open(&file, Options { spill_policy, ..options(folder.path()) }).unwrap();
        fs::remove_file(&file).unwrap();
        session.append_all(&[user("one")])
    };
    let refused = append_to_deleted(SpillPolicy::Temporary);
    assert!(matches!(refused, Err(Error::Conflict { why: Conflict::Deleted, .. })), "{refused:?}");
    assert!(!folder.path().join("state").exists(), "nothing is kept");
    spilled(append_to_deleted(SpillPolicy::Everything));
    let disk = FaultMedium::new(text(&["a - U"]).into_bytes());
    let temporary = Options { spill_policy: SpillPolicy::Temporary, ..options(folder.path()) };
    let mut session = Session::over_medium(Box::new(disk.clone()), &at("/w"), temporary).unwrap();
    disk.set_full(true);
    spilled(session.append_all(&[user("two")]));
}

/// Moving the leaf is the caller's decision; entries spilled before stay below the old one.
#[test]
fn a_moved_leaf_does_not_go_below_what_was_spilled() {
    let folder = tempfile::tempdir().unwrap();
    let disk = FaultMedium::new(text(&["a - U", "b a A"]).into_bytes());
    let mut session = over(&disk, folder.path());
    disk.set_full(true);
    let (_, one) = spilled(session.append_all(&[user("one")]));
    session.branch("a").unwrap();
    let (_, two) = spilled(session.append_all(&[user("two")]));
    let to = session.find("b").unwrap();
    let marker = match session.switch(to) {
        Err(Error::Spilled { ids, .. }) => ids[0].clone(),
        other => panic!("{other:?}"),
    };
    disk.set_full(false);
    let three = session.append(&user("three")).unwrap();
    assert_eq!(shape(&session), format!("0a 1{} 1b 2{} 2{marker} 3{three}", two[0], one[0]));
}

/// Every operation of a script fails permanently; then there is space again and another program puts the entries back.
/// Nothing acknowledged as kept or written is missing or doubled.
#[test]
fn whatever_fails_an_entry_is_written_or_kept_or_refused() {
    let (mut kept, mut written) = (0, 0);
    for fault in [Fault::Fail, Fault::Short, Fault::Forget] {
        for first in 0..40 {
            let folder = tempfile::tempdir().unwrap();
            let disk = FaultMedium::new(text(&["a - U"]).into_bytes());
            let faults = (first..first + 12).fold(disk.clone(), |disk, operation| disk.with_fault(operation, fault));
            let Ok(mut session) = Session::over_medium(Box::new(faults), &at("/w"), options(folder.path())) else {
                continue;
            };
            let mut given = Vec::new();
            for word in 0..8 {
                match session.append_all(&[user(&format!("word {word}"))]) {
                    Ok(ids) => {
                        written += 1;
                        given.extend(ids);
                    }
                    Err(Error::Spilled { ids, .. }) => {
                        kept += 1;
                        given.extend(ids);
                    }
                    Err(other) => panic!("neither written nor kept: {other:?}"),
                }
            }
            // The disk may still fail, so retry.
            let again = || Session::over_medium(Box::new(disk.clone()), &at("/w"), options(folder.path()));
            let tries = (0..30).find(|_| again().and_then(|mut session| session.append_spilled()).is_ok());
            assert!(tries.is_some(), "{fault:?} from {first}");
            let again = over(&disk, folder.path());
            let found = ids(&again);
            let lines: Vec<Vec<u8>> = again.tree().entries().map(|ix| again.raw_line(ix).unwrap()).collect();
            for word in 0..8 {
                let word = format!("word {word}");
                let count = lines.iter().filter(|line| String::from_utf8_lossy(line).contains(&word)).count();
                assert!(count <= 1, "{fault:?} from {first}: {word:?} is there {count} times");
            }
            for id in &given {
                assert_eq!(
                    found.iter().filter(|known| *known == id.as_str()).count(),
                    1,
                    "{fault:?} from {first}: {id}"
                );
            }
        }
    }
    assert!(kept > 100 && written > 100, "{kept} kept, {written} written");
}

/// Putting back may be interrupted anywhere; the next attempt continues and writes nothing twice.
#[test]
fn bringing_back_may_be_cut_off_anywhere() {
    let mut cut = 0;
    for operation in 0..40 {
        for fault in [Fault::Fail, Fault::Short] {
            let folder = tempfile::tempdir().unwrap();
            let disk = FaultMedium::new(text(&["a - U", "b a A"]).into_bytes());
            let mut session = over(&disk, folder.path());
            disk.set_full(true);
            let (place, given) = spilled(session.append_all(&[user("one"), user("two"), user("three")]));
            disk.set_full(false);
            let mut second = over(&disk, folder.path());
            let at = disk.log().len() + operation;
            let disk = disk.with_fault(at, fault);
            if second.append_spilled().is_err() {
                cut += 1;
                assert!(place.exists(), "kept until it is there");
                over(&disk, folder.path()).append_spilled().unwrap();
            }
            assert!(!place.exists());
            if disk.log().len() <= at {
                continue; // over before it
            }
            let again = over(&disk, folder.path());
            assert_eq!(shape(&again), format!("0a 1b 2{} 3{} 4{}", given[0], given[1], given[2]));
            let errors = check(&disk).unwrap().into_iter().filter(|found| found.severity() == Severity::Error);
            assert_eq!(errors.count(), 0);
        }
    }
    assert!(cut > 10, "{cut}");
}

/// The entries are in the session, but the program ended before it removed the spill file.
#[test]
fn what_is_back_already_is_not_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let disk = FaultMedium::new(text(&["a - U"]).into_bytes());
    let mut session = over(&disk, folder.path());
    disk.set_full(true);
    let (place, given) = spilled(session.append_all(&[user("one"), user("two")]));
    disk.set_full(false);
    let kept = fs::read(&place).unwrap();
    session.append_spilled().unwrap();
    let bytes = disk.bytes();
    fs::write(&place, [&kept[..], b"{torn"].concat()).unwrap();
    let mut second = over(&disk, folder.path());
    assert_eq!(second.append_spilled().unwrap(), given);
    assert_eq!(disk.bytes(), bytes, "not one byte more");
    assert!(!place.exists());
    assert_eq!(second.append_spilled().unwrap(), []);
}

#[test]
fn opening_says_what_is_kept_and_does_not_touch_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, text(&["a - U"])).unwrap();
    let mut session = Session::open(&path, options(folder.path())).unwrap();
    fs::remove_file(&path).unwrap();
    let (place, given) = spilled(session.append_all(&[user("one")]));
    fs::write(&path, text(&["a - U"])).unwrap();
    let kept = fs::read(&place).unwrap();
    let mut again = Session::open(&path, options(folder.path())).unwrap();
    let told: Vec<_> = again.diagnostics().iter().filter(|told| told.code == Code::Spilled).collect();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].entry.as_ref(), Some(&given[0]));
    assert!(told[0].message.starts_with("1 entry that could not be written to this session is in "), "{}", told[0]);
    say(&mut again, "user", "others go on");
    assert_eq!(fs::read(&place).unwrap(), kept, "only who spilled it brings it back unasked");
    assert_eq!(again.append_spilled().unwrap(), given);
    assert!(again.diagnostics().iter().all(|told| told.code != Code::Spilled));
    assert_eq!(open_messages(&Session::open(&path, options(folder.path())).unwrap()).last().unwrap(), "one");
}

/// The file could not be created; it is when the spilled entries come back, with its header.
#[test]
fn a_session_that_could_not_begin_begins_with_what_was_spilled() {
    let folder = tempfile::tempdir().unwrap();
    // A file is where the session's folder should be.
    fs::write(folder.path().join("sessions"), "").unwrap();
    let path = folder.path().join("sessions/s.jsonl");
    let mut session = Session::create(&at("/w"), options(folder.path()), |_, _| path.clone()).unwrap();
    let (_, one) = spilled(session.append_all(&[user("one")]));
    let (_, two) = spilled(session.append_all(&[user("two")]));
    fs::remove_file(folder.path().join("sessions")).unwrap();
    let three = session.append(&user("three")).unwrap();
    let again = Session::open(&path, options(folder.path())).unwrap();
    assert_eq!(again.id(), session.id());
    assert_eq!(shape(&again), format!("0{} 1{} 2{three}", one[0], two[0]));
}

/// The path now has another session, which must not get these entries.
#[test]
fn another_session_does_not_get_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, text(&["a - U"])).unwrap();
    let mut session = Session::open(&path, options(folder.path())).unwrap();
    fs::remove_file(&path).unwrap();
    let (place, _) = spilled(session.append_all(&[user("one")]));
    let other = text(&["a - U"]).replacen(r#""id":"s""#, r#""id":"other""#, 1);
    fs::write(&path, &other).unwrap();
    let refused = Session::open(&path, options(folder.path())).unwrap().append_spilled();
    assert!(matches!(refused, Err(Error::Conflict { why: Conflict::ForeignSpill { .. }, .. })), "{refused:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), other);
    assert!(place.exists());
    // A new session at an existing path is refused, not spilled.
    let mut late = Session::create(&at("/w"), options(folder.path()), |_, _| path.clone()).unwrap();
    assert!(matches!(late.append(&user("x")), Err(Error::Conflict { why: Conflict::Exists, .. })));
}

/// Without a spill folder, or if spilling fails too, only the caller has the entry.
#[test]
fn an_entry_that_cannot_be_kept_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("state"), "no folder").unwrap();
    for options in [fixed_options(), options(folder.path())] {
        let disk = FaultMedium::new(text(&["a - U"]).into_bytes());
        disk.set_full(true);
        let mut session = Session::over_medium(Box::new(disk.clone()), &at("/w"), options).unwrap();
        assert!(matches!(session.append(&user("one")), Err(Error::Io { action: "append to", .. })));
        disk.set_full(false);
        session.append(&user("one")).unwrap();
        assert_eq!(open_messages(&session), ["a", "one"]);
    }
    assert!(FaultMedium::default().log().iter().all(|operation| *operation != Operation::Append));
}
