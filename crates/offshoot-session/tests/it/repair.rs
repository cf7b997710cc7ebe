//! Repairs: removed bytes are kept, readable records stay, and the result is sound.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_session::check::check;
use offshoot_session::error::{Code, Conflict, Error, Invalid};
use offshoot_session::medium::{FileMedium, Medium as _, MemoryMedium};
use offshoot_session::repair::{Action, RepairPlan, Repaired, plan};
use offshoot_session::session::Session;
use offshoot_session::testing::fixed_options;
use proptest::prelude::*;

use super::common::{HEADER, ids, line, open_messages, say, text};

struct File {
    folder: tempfile::TempDir,
}

impl File {
    fn new(content: impl AsRef<[u8]>) -> Self {
        let file = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(file.path(), content).unwrap();
        file
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("s.jsonl")
    }

    fn quarantine(&self) -> Vec<u8> {
        fs::read(self.folder.path().join("s.jsonl.quarantine")).unwrap_or_default()
    }

    fn repair(&self) -> (RepairPlan, Repaired) {
        let mut medium = FileMedium::open(&self.path()).unwrap();
        let plan = plan(&medium).unwrap();
        let repaired = plan.apply(&mut medium).unwrap();
        (plan, repaired)
    }
}

fn line_errors(path: &Path) -> Vec<Code> {
    let about_lines = [Code::MalformedLine, Code::TornTail, Code::NulBytes, Code::DamagedEntry];
    let found = check(&FileMedium::open(path).unwrap()).unwrap();
    found.iter().map(|diagnostic| diagnostic.code).filter(|code| about_lines.contains(code)).collect()
}

fn steps(plan: &RepairPlan) -> Vec<(u64, &'static str, &'static str)> {
    plan.steps.iter().map(|step| (step.line, step.code.as_str(), step.action.as_str())).collect()
}

#[test]
fn what_is_no_record_moves_out_and_the_rest_stays() {
    let (a, b, c) = (line("a - U", 1), line("b a A", 2), line("c b U", 3));
    let before = format!("{HEADER}\n{a}\nno json \u{1}\n\0\0{b}{c}\n{{\"type\":\"mess");
    let file = File::new(&before);
    let (plan, repaired) = file.repair();
    assert_eq!(
        steps(&plan),
        [
            (3, "malformed-line", "quarantine"),
            (4, "nul-bytes", "quarantine"),
            (4, "malformed-line", "own-line"),
            (5, "torn-tail", "quarantine"),
        ]
    );
    assert_eq!(fs::read_to_string(file.path()).unwrap(), format!("{HEADER}\n{a}\n{b}\n{c}\n"));
    assert_eq!(fs::read_to_string(&repaired.backup).unwrap(), before);
    assert!(repaired.backup.ends_with("s.jsonl.bak"));
    let at = before.find("no json").unwrap();
    let expected = format!(
        "{{\"type\":\"quarantined\",\"file\":\"s.jsonl\",\"code\":\"malformed-line\",\"line\":3,\"offset\":{at},\"length\":9}}\nno json \u{1}\n"
    );
    assert!(file.quarantine().starts_with(expected.as_bytes()), "{}", String::from_utf8_lossy(&file.quarantine()));
    for (step, bytes) in plan.steps.iter().zip([&b"no json \x01"[..], b"\0\0"]) {
        assert_eq!(&before.as_bytes()[step.offset as usize..][..step.length as usize], bytes);
    }
    assert_eq!(line_errors(&file.path()), []);
    let mut session = Session::open(&file.path(), fixed_options()).unwrap();
    assert_eq!(open_messages(&session), ["a", "b", "c"]);
    say(&mut session, "user", "on");
}

/// Its children keep their parent in every program. Peers drop a damaged line and lose the path above it.
#[test]
fn a_damaged_entry_with_children_leaves_an_empty_one_in_its_place() {
    let damaged = line("b a A", 2).replace("\"text\":\"b\"", "\"text\":b");
    let file = File::new(format!("{HEADER}\n{}\n{damaged}\n{}\n", line("a - U", 1), line("c b U", 3)));
    let (plan, _) = file.repair();
    assert_eq!(steps(&plan), [(3, "damaged-entry", "hold-place")]);
    assert_eq!(plan.steps[0].action, Action::HoldPlace);
    let session = Session::open(&file.path(), fixed_options()).unwrap();
    assert_eq!(ids(&session), ["a", "b", "c"]);
    assert_eq!(open_messages(&session), ["a", "c"]);
    let expected = r#"{"type":"custom","customType":"offshoot.damaged","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02.000Z"}"#;
    assert_eq!(session.raw_line(session.find("b").unwrap()).unwrap(), expected.as_bytes());
    assert!(String::from_utf8(file.quarantine()).unwrap().ends_with(&(damaged + "\n")));
    assert_eq!(line_errors(&file.path()), []);
}

/// After a system crash, NUL bytes replace a line feed: the record before them is complete and readable even before a
/// repair.
#[test]
fn a_record_that_nuls_were_glued_to_loses_them() {
    let whole = text(&["a - U", "b a A"]);
    let file = File::new(whole.trim_end().to_owned() + "\0\0\0\0");
    assert_eq!(open_messages(&Session::open(&file.path(), fixed_options()).unwrap()), ["a", "b"]);
    file.repair();
    assert_eq!(fs::read_to_string(file.path()).unwrap(), whole);
}

#[test]
fn a_torn_line_with_a_record_glued_to_it_gives_the_record_back() {
    let file = File::new(format!(
        "{HEADER}\n{}\n{{\"type\":\"message\",\"id\":\"x\",\"mess{}\n",
        line("a - U", 1),
        line("b a A", 2)
    ));
    file.repair();
    assert_eq!(fs::read_to_string(file.path()).unwrap(), text(&["a - U", "b a A"]));
}

#[test]
fn nothing_to_repair_is_said_and_nothing_written() {
    for content in
        [text(&["a - U"]), text(&["a - U"]).trim_end().to_owned(), String::new(), text(&["a gone U", "a a U"])]
    {
        let file = File::new(&content);
        let mut medium = FileMedium::open(&file.path()).unwrap();
        let plan = plan(&medium).unwrap();
        assert_eq!(plan.steps, []);
        let refused = plan.apply(&mut medium);
        assert!(matches!(&refused, Err(Error::Invalid(Invalid::NothingToRepair { .. }))), "{refused:?}");
        assert_eq!(fs::read_to_string(file.path()).unwrap(), content);
        assert_eq!(fs::read_dir(file.folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn what_cannot_be_repaired_is_left_alone() {
    let old = MemoryMedium::new(b"{\"type\":\"session\",\"id\":\"s\"}\nno json\n".to_vec());
    assert!(
        matches!(plan(&old), Err(Error::Invalid(Invalid::NotUpgraded { version: 1 }))),
        "the ids of old versions are made of line numbers"
    );
    assert!(matches!(plan(&MemoryMedium::new(b"# Notes\n".to_vec())), Err(Error::NotASession { .. })));
}

#[test]
fn a_file_that_grew_since_it_was_planned_is_not_replaced() {
    let file = File::new(text(&["a - U"]) + "no json\n");
    let mut medium = FileMedium::open(&file.path()).unwrap();
    let plan = plan(&medium).unwrap();
    let mut session = Session::open(&file.path(), fixed_options()).unwrap();
    say(&mut session, "user", "in between");
    assert!(matches!(plan.apply(&mut medium), Err(Error::Conflict { why: Conflict::Changed, .. })));
    say(&mut session, "user", "and on");
    file.repair();
    let refused = session.append(&offshoot_session::compose::NewEntry::session_info("x"));
    assert!(
        matches!(refused, Err(Error::Conflict { why: Conflict::Replaced, .. })),
        "the repaired file is another one: {refused:?}"
    );
    assert_eq!(ids(&Session::open(&file.path(), fixed_options()).unwrap()).len(), 3);
}

#[test]
fn a_second_repair_adds_to_the_quarantine_and_keeps_both_backups() {
    let file = File::new(text(&["a - U"]) + "first\n");
    file.repair();
    let once = file.quarantine();
    let mut grown = fs::read(file.path()).unwrap();
    grown.extend_from_slice(b"second\n");
    fs::write(file.path(), grown).unwrap();
    let (_, repaired) = file.repair();
    assert!(repaired.backup.ends_with("s.jsonl.bak.2"));
    assert!(file.quarantine().starts_with(&once) && file.quarantine().ends_with(b"\nsecond\n"));
}

/// Damage: overwritten bytes, NUL bytes, lost line feeds, and a truncated end.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let whole = text(&["a - U", "b a A", "c b U", "d a A", "e c l=a=x", "f e A"]).into_bytes();
    let behind_header = HEADER.len() + 1;
    let place = behind_header..whole.len();
    let spot = (place, 0..4u8, 1..40usize);
    (prop::collection::vec(spot, 0..6), 0..60usize).prop_map(move |(spots, cut)| {
        let mut bytes = whole.clone();
        for (at, kind, length) in spots {
            let end = (at + length).min(bytes.len());
            match kind {
                0 => bytes[at..end].fill(0),
                1 => bytes[at] = b'x',
                2 => bytes[at..].iter_mut().filter(|byte| **byte == b'\n').take(1).for_each(|byte| *byte = b' '),
                _ => bytes[at] = b'}',
            }
        }
        bytes.truncate(bytes.len().saturating_sub(cut).max(behind_header));
        bytes
    })
}

proptest! {
    #[test]
    fn whatever_the_damage_nothing_readable_is_lost_and_the_result_is_sound(bytes in damaged().prop_map(|b| String::from_utf8_lossy(&b).into_owned())) {
        let file = File::new(&bytes);
        let before = Session::open(&file.path(), fixed_options()).unwrap();
        let planned = plan(&MemoryMedium::new(bytes.clone().into_bytes())).unwrap();
        if planned.steps.is_empty() {
            prop_assert_eq!(line_errors(&file.path()), []);
            return Ok(());
        }
        file.repair();
        prop_assert_eq!(line_errors(&file.path()), []);
        let after = Session::open(&file.path(), fixed_options()).unwrap();
        for id in ids(&before) {
            prop_assert!(id == "-" || ids(&after).contains(&id), "{} is lost", id);
        }
        let medium = FileMedium::open(&file.path()).unwrap();
        prop_assert_eq!(plan(&medium).unwrap().steps, []);
        prop_assert!(medium.len().unwrap() > 0);
        // Removed bytes are in the quarantine, all others in the file.
        let (result, quarantine) = (fs::read(file.path()).unwrap(), file.quarantine());
        let mut left = bytes.clone().into_bytes();
        for step in &planned.steps {
            let range = step.offset as usize..(step.offset + step.length) as usize;
            if step.action == Action::OwnLine {
                prop_assert!(contains(&result, &bytes.as_bytes()[range.clone()]));
            } else {
                prop_assert!(contains(&quarantine, &bytes.as_bytes()[range.clone()]));
            }
            left[range].fill(b'\n');
        }
        for rest in left.split(|byte| *byte == b'\n') {
            prop_assert!(contains(&result, rest.trim_ascii()), "{}", String::from_utf8_lossy(rest));
        }
    }
}

fn contains(all: &[u8], part: &[u8]) -> bool {
    part.is_empty() || all.windows(part.len()).any(|window| window == part)
}
