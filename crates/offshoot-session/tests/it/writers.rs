//! Several programs on one file: with the lock, without it, and stuck.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Code, Conflict, Diagnostic, Error};
use offshoot_session::medium::{Medium, MediumState};
use offshoot_session::session::{Options, Session};
use offshoot_session::testing::{FaultMedium, TickingClock, fixed_options};

use super::common::{HEADER, at, ids, line, open_messages, say, shape, text};

struct Shared {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Shared {
    fn new(content: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, content).unwrap();
        Self { _folder: folder, path }
    }

    fn open(&self) -> Session {
        let clock = Box::new(TickingClock::starting_at(1_767_225_700_000));
        let options = Options { clock, ids: Options::default().ids, ..fixed_options() };
        Session::open(&self.path, options).unwrap()
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }

    /// Appends as a program without lock does.
    fn foreign(&self, bytes: &str) {
        OpenOptions::new().append(true).open(&self.path).unwrap().write_all(bytes.as_bytes()).unwrap();
    }
}

fn diverged(told: &[Diagnostic]) -> Vec<String> {
    let diverged = told.iter().filter(|told| told.code == Code::Diverged);
    diverged.map(|told| told.entry.as_ref().unwrap().to_string()).collect()
}

fn refusal(session: &mut Session) -> Conflict {
    match session.append(&NewEntry::session_info("x")) {
        Err(Error::Conflict { why, .. }) => why,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn siblings_of_live_writers_are_named_to_each_and_to_who_opens() {
    let shared = Shared::new(&text(&["a - U", "b a A"]));
    let (mut one, mut two) = (shared.open(), shared.open());
    let a1 = say(&mut one, "user", "one, first");
    assert_eq!(one.take_news(), []);
    let b1 = say(&mut two, "user", "two, first");
    let told = two.take_news();
    assert_eq!(diverged(&told), [a1.as_str()]);
    let message = &told[0].message;
    assert_eq!(message, "another program appended 1 entry on a branch beside this one: “one, first”, now");
    let a2 = say(&mut one, "user", "one, second");
    assert_eq!(diverged(&one.take_news()), [b1.as_str()]);
    let b2 = say(&mut two, "user", "two, second");
    assert_eq!(two.take_news(), [], "told once");
    assert_eq!(diverged(one.diagnostics()), [b1], "and remembered");
    let again = shared.open();
    assert_eq!(again.leaf_id().unwrap().as_str(), b2);
    assert_eq!(diverged(again.diagnostics()), [a2.as_str()], "{:?}", again.diagnostics());
    let message = &again.diagnostics().last().unwrap().message;
    assert!(message.starts_with("the branch “one, second” (2 entries, the last now)"), "{message}");
    assert!(message.ends_with(" grew at the same time as the current one"), "{message}");
}

/// What another program appended and had answered, and one continues from there: one branch.
#[test]
fn who_goes_on_from_anothers_answered_entry_has_not_diverged() {
    let shared = Shared::new(&text(&["a - U", "b a A"]));
    let (mut one, mut two) = (shared.open(), shared.open());
    for round in 0..4 {
        let (from, to) = if round % 2 == 0 { (&mut one, &mut two) } else { (&mut two, &mut one) };
        say(from, "user", "go on");
        let said = say(from, "assistant", "gone on");
        to.refresh().unwrap();
        to.branch(&said).unwrap();
    }
    two.append(&NewEntry::label("a", Some("mark"))).unwrap();
    say(&mut one, "user", "beside a label");
    assert_eq!(one.take_news().len() + two.take_news().len(), 0, "a bookmark is no work");
    assert_eq!(diverged(shared.open().diagnostics()), [] as [&str; 0]);
}

/// A process that continues from a prompt before its answer arrives is on another branch afterwards. Each process reports it.
#[test]
fn who_goes_on_from_anothers_unanswered_prompt_has_diverged() {
    let shared = Shared::new(&text(&["a - U", "b a A"]));
    let mut one = shared.open();
    let first = say(&mut one, "user", "one");
    let mut two = shared.open();
    let second = say(&mut two, "user", "two");
    let answer = say(&mut one, "assistant", "to one");
    assert_eq!(diverged(&one.take_news()), [second.as_str()]);
    say(&mut two, "assistant", "to two");
    assert_eq!(diverged(&two.take_news()), [answer.as_str()]);
    assert_eq!(two.tree().parent_id(two.find(&second).unwrap()).unwrap().as_str(), first);
}

/// A process that answers a prompt is left alone, as long as it lives and the prompt has no answer.
#[test]
fn a_prompt_goes_beside_one_that_a_living_process_is_answering() {
    let shared = Shared::new(&text(&["a - U", "b a A"]));
    let turns = shared.path.parent().unwrap().join("turns");
    let open = || {
        let clock = Box::new(TickingClock::starting_at(1_767_225_700_000));
        let ids = Options::default().ids;
        Session::open(&shared.path, Options { clock, ids, turns: Some(turns.clone()), ..fixed_options() }).unwrap()
    };
    let named = |session: &Session| {
        let told = session.diagnostics().iter().filter(|told| told.code == Code::UnansweredPrompt);
        told.map(|told| told.entry.as_ref().unwrap().to_string()).collect::<Vec<_>>()
    };
    let mut one = open();
    one.begin_turn();
    assert_eq!(open().leave_foreign_turn().unwrap(), None, "there is no prompt yet");
    let prompt = say(&mut one, "user", "one");
    assert_eq!(one.leave_foreign_turn().unwrap(), None, "it is its own");
    let mut two = open();
    assert_eq!((named(&two), two.leaf_id().unwrap().as_str()), (vec![prompt.clone()], prompt.as_str()));
    let told = two.leave_foreign_turn().unwrap().unwrap();
    assert_eq!(told.message, "another program is answering “one”: a prompt from here becomes a branch beside it");
    assert_eq!(two.leaf_id().unwrap().as_str(), "b");
    two.begin_turn();
    let second = say(&mut two, "user", "two");

    // A tool's turn is not answered either.
    let call = r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"ls","arguments":{}}],"stopReason":"toolUse"}"#;
    one.append(&NewEntry::message(offshoot_session::json::Json::parse(call).unwrap()).unwrap()).unwrap();
    assert_eq!(diverged(&one.take_news()), [second.as_str()], "both are told");
    let mut three = open();
    three.leave_foreign_turn().unwrap().unwrap();
    assert_eq!(three.leaf_id().unwrap().as_str(), "b");

    // The process has died: what it left is continued, as ever.
    drop((one, two));
    let mut four = open();
    assert_eq!((named(&four), four.leave_foreign_turn().unwrap()), (vec![], None));
    assert_ne!(four.leaf_id().unwrap().as_str(), "b");
    assert_eq!(fs::read_dir(&turns).unwrap().count(), 0);
}

/// The file of a process that was killed stays behind, and says nothing.
#[test]
fn a_turn_that_nobody_holds_counts_for_nothing() {
    let shared = Shared::new(&text(&["a - U", "b a A"]));
    let turns = shared.path.parent().unwrap().join("turns");
    let open = || Session::open(&shared.path, Options { turns: Some(turns.clone()), ..Options::default() }).unwrap();
    let mut one = open();
    one.begin_turn();
    say(&mut one, "user", "one");
    let file = fs::read_dir(&turns).unwrap().next().unwrap().unwrap().path();
    let left = fs::read(&file).unwrap();
    drop(one);
    fs::write(&file, left).unwrap();
    assert_eq!(open().leave_foreign_turn().unwrap(), None);
    assert!(!file.exists());
}

/// Only the file is known, written by whatever program. `*` marks what must be reported.
#[test]
fn opening_tells_alternating_branches_from_ordinary_ones() {
    let leaf = r#"{"type":"custom","customType":"offshoot.leaf"}"#;
    for (what, pictures, told) in [
        ("a branch after another", vec!["a - U", "b a A", "c b U", "d c A", "e b U", "f e A"], None),
        ("an answer asked for again", vec!["a - U", "b a A", "c a A", "d c U"], None),
        ("back and forth once", vec!["a - U", "b a A", "c b U", "d c A", "e b U", "f e A", "g d U", "h g A"], None),
        ("two writers in turn", vec!["a - U", "b a U", "c a U", "d b U", "e c U"], Some("d")),
        ("within one turn", vec!["a - U", "b a U", "c a U", "d b A"], Some("c")),
        ("a tool's result is waited for", vec!["a - U", "b a A", "x - U", "y x A", "c b T"], Some("y")),
        ("labels between", vec!["a - U", "b a A", "l b l=a=mark", "c b U", "d c A"], None),
        ("a switch explains it", vec!["a - U", "b a U", "c a U", "d b U", &format!("m c {leaf}"), "e m U"], None),
    ] {
        // All at the same second, so that nothing is newer.
        let lines = pictures.iter().map(|picture| line(picture, 1) + "\n");
        let session = Shared::new(&lines.fold(format!("{HEADER}\n"), |text, line| text + &line)).open();
        let expected: Vec<&str> = told.into_iter().collect();
        assert_eq!(diverged(session.diagnostics()), expected, "{what}");
    }
}

#[test]
fn a_deleted_file_stops_appends_and_can_be_written_anew() {
    let shared = Shared::new(&text(&["a - U", "b a A"]));
    let mut session = shared.open();
    say(&mut session, "user", "c");
    let before = shared.text();
    fs::remove_file(&shared.path).unwrap();
    for _ in 0..2 {
        assert_eq!(refusal(&mut session), Conflict::Deleted);
        assert!(!shared.path.exists(), "never a file without header");
    }
    session.recreate().unwrap();
    assert_eq!(shared.text(), before, "whole");
    say(&mut session, "user", "d");
    assert_eq!(open_messages(&shared.open()), ["a", "b", "c", "d"]);
    let refused = session.recreate();
    assert!(matches!(refused, Err(Error::Conflict { why: Conflict::Exists, .. })), "never over another file");
}

#[test]
fn a_replaced_file_stops_appends_whatever_its_size() {
    for content in [text(&["a - U"]), text(&["a - U", "b a A"]), text(&["a - U", "b a A", "c b U"]), String::new()] {
        let shared = Shared::new(&text(&["a - U", "b a A"]));
        let mut session = shared.open();
        let other = shared.path.with_extension("new");
        fs::write(&other, &content).unwrap();
        fs::rename(&other, &shared.path).unwrap();
        assert_eq!(refusal(&mut session), Conflict::Replaced);
        assert_eq!(shared.text(), content, "nothing was written to it");
        assert_eq!(ids(&session), ["a", "b"]);
    }
}

#[test]
fn a_shortened_file_stops_appends() {
    let whole = text(&["a - U", "b a A"]);
    for length in [0, 1, whole.len() / 2, whole.len() - 1] {
        let shared = Shared::new(&whole);
        let mut session = shared.open();
        OpenOptions::new().write(true).open(&shared.path).unwrap().set_len(length as u64).unwrap();
        for _ in 0..2 {
            assert_eq!(refusal(&mut session), Conflict::Shortened);
        }
        assert_eq!(shared.text(), whole[..length], "never a file without header");
    }
}

/// The same file, truncated and rewritten, is longer now: what was known about it is void.
#[test]
fn a_file_that_was_written_anew_in_place_is_read_anew() {
    for (content, goes_on) in [
        (text(&["a - U", "b a A", "x b U", "c x A"]), true),
        (text(&["b - A", "a - U", "x b U", "c x A"]), true),
        (text(&["x - U", "y x A", "z y U", "v z U"]), false),
        // As long as the known part, and then a line that seems to continue it.
        (text(&["a - U", "z a A", "c a U"]), false),
    ] {
        let shared = Shared::new(&text(&["a - U", "b a A"]));
        let mut session = shared.open();
        OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(&shared.path)
            .unwrap()
            .write_all(content.as_bytes())
            .unwrap();
        let given = session.append(&NewEntry::session_info("x"));
        if goes_on {
            let given = given.unwrap();
            assert_eq!(shape(&session), shape(&shared.open()));
            assert_eq!(session.tree().parent_id(session.find(given.as_str()).unwrap()).unwrap().as_str(), "b");
        } else {
            let why = given.unwrap_err().to_string();
            assert!(why.ends_with("another program rewrote it without entry b, below which this one belongs"), "{why}");
            assert_eq!(shared.text(), content);
        }
    }
}

#[test]
fn a_foreign_line_without_line_feed_is_not_glued_to() {
    let shared = Shared::new(&text(&["a - U"]));
    let mut session = shared.open();
    shared.foreign(&line("b a A", 2));
    let given = say(&mut session, "user", "c");
    assert_eq!(shape(&shared.open()), format!("0a 1b 1{given}"));
    assert!(shared.open().diagnostics().iter().all(|told| told.code == Code::Diverged));
}

/// Half a line of another program, then ours, then its other half: that line is in pieces with all its bytes, and ours
/// are whole.
#[test]
fn half_a_foreign_line_that_is_completed_later_spoils_nothing_else() {
    let theirs = line("b a A", 2);
    for cut in [1, theirs.len() / 2, theirs.len() - 1] {
        let shared = Shared::new(&text(&["a - U"]));
        let mut session = shared.open();
        shared.foreign(&theirs[..cut]);
        let given = say(&mut session, "user", "c");
        shared.foreign(&format!("{}\n", &theirs[cut..]));
        let more = say(&mut session, "user", "d");
        assert_eq!(shape(&session), format!("0a 1{given} 2{more}"));
        assert_eq!(shape(&shared.open()), shape(&session));
        assert!(shared.text().contains(&format!("\n{}\n", &theirs[..cut])));
        assert!(shared.text().contains(&format!("\n{}\n", &theirs[cut..])));
    }
}

/// A disk on which a program without lock writes between a look and a write, as often as configured.
#[derive(Clone)]
struct Crowded {
    disk: FaultMedium,
    theirs: Vec<String>,
}

impl Medium for Crowded {
    fn path(&self) -> &Path {
        self.disk.path()
    }
    fn len(&self) -> std::io::Result<u64> {
        self.disk.len()
    }
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.disk.read_at(offset, buffer)
    }
    fn lock(&mut self) -> std::io::Result<MediumState> {
        self.disk.lock()
    }
    fn unlock(&mut self) -> std::io::Result<()> {
        self.disk.unlock()
    }
    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if let Some(theirs) = self.theirs.pop() {
            self.disk.append(theirs.as_bytes())?;
        }
        self.disk.append(bytes)
    }
    fn sync(&mut self) -> std::io::Result<()> {
        self.disk.sync()
    }
    fn truncate(&mut self, length: u64) -> std::io::Result<()> {
        self.disk.truncate(length)
    }
}

#[test]
fn a_foreign_write_in_the_same_instant_loses_nothing_acknowledged() {
    let whole = line("b a A", 2) + "\n";
    for (theirs, theirs_are_whole) in [
        (vec![whole.clone()], true),
        (vec!["{\"type\":\"mess".to_owned()], false),
        (vec!["{\"type\":\"mess".to_owned(), "{\"more".to_owned()], false),
    ] {
        let disk = FaultMedium::new(text(&["a - U"]).into_bytes());
        let medium = Crowded { disk: disk.clone(), theirs };
        let mut session = Session::over_medium(Box::new(medium), &at("/w"), fixed_options()).unwrap();
        let given = say(&mut session, "user", "c");
        let more = say(&mut session, "user", "d");
        let beside = if theirs_are_whole { " 1b" } else { "" };
        assert_eq!(shape(&session), format!("0a 1{given} 2{more}{beside}"));
        let again = Session::over_medium(Box::new(disk), &at("/w"), fixed_options()).unwrap();
        assert_eq!(shape(&again), shape(&session));
        for ix in again.tree().entries() {
            assert_eq!(again.raw_line(ix).unwrap(), session.raw_line(ix).unwrap(), "the places are right");
        }
    }
    let endless = vec!["{".to_owned(); 10];
    let medium = Crowded { disk: FaultMedium::new(text(&["a - U"]).into_bytes()), theirs: endless };
    let mut session = Session::over_medium(Box::new(medium), &at("/w"), fixed_options()).unwrap();
    assert_eq!(refusal(&mut session), Conflict::UnlockedWriter);
}

/// The holder is stuck: the wait ends with its id, and nothing was written. Then it releases the lock, and work
/// continues.
#[test]
fn a_lock_that_is_not_given_back_is_waited_for_only_so_long() {
    let shared = Shared::new(&text(&["a - U"]));
    let options = Options { lock_wait: Duration::from_millis(20), ..fixed_options() };
    let mut session = Session::open(&shared.path, options).unwrap();
    let holder = File::open(&shared.path).unwrap();
    holder.lock().unwrap();
    match session.append(&NewEntry::session_info("x")) {
        Err(Error::Locked { by, waited, .. }) => {
            assert!(waited >= Duration::from_millis(20), "{waited:?}");
            assert!(by.is_empty() || by == [std::process::id()], "{by:?}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(shared.text(), text(&["a - U"]));
    drop(holder);
    say(&mut session, "user", "b");
}

#[test]
fn without_locks_a_session_goes_on_and_says_so_once() {
    let disk = FaultMedium::new(text(&["a - U"]).into_bytes()).without_locks();
    let mut session = Session::over_medium(Box::new(disk.clone()), &at("/w"), fixed_options()).unwrap();
    say(&mut session, "user", "b");
    let told = session.take_news();
    assert_eq!(told.iter().map(|told| told.code).collect::<Vec<_>>(), [Code::NoLock]);
    say(&mut session, "user", "c");
    assert_eq!(session.take_news(), []);
    assert_eq!(open_messages(&session), ["a", "b", "c"]);
    // Others are still noticed by the size.
    let mut two = Session::over_medium(
        Box::new(disk.clone()),
        &at("/w"),
        Options { ids: Options::default().ids, ..fixed_options() },
    )
    .unwrap();
    let theirs = say(&mut two, "user", "d");
    say(&mut session, "user", "e");
    assert_eq!(diverged(&session.take_news()), [theirs]);
}
