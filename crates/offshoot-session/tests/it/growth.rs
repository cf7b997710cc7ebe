//! Appends: the resulting file, and what happens if something is in the way.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use offshoot_session::compose::{NewBranchSummary, NewEntry};
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Code, Conflict, Error, Invalid};
use offshoot_session::json::Json;
use offshoot_session::session::{NewFork, Options, Session, SessionPart};
use offshoot_session::stats;
use offshoot_session::store::{DirStore, Flavour, Root, Store as _};
use offshoot_session::testing::fixed_options;

use super::common::{at, ids, line, open_messages, say, shape, text};

struct File {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn file(content: impl AsRef<[u8]>) -> File {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, content).unwrap();
    File { _folder: folder, path }
}

fn open(path: &Path) -> Session {
    Session::open(path, fixed_options()).unwrap()
}

fn state(path: &Path) -> (Vec<u8>, SystemTime) {
    (fs::read(path).unwrap(), fs::metadata(path).unwrap().modified().unwrap())
}

const V1: &str = concat!(
    r#"{"type":"session","id":"s","timestamp":"2025-12-08T10:00:00.000Z","cwd":"/w","provider":"p"}"#,
    "\nnot json\n",
    r#"{"type":"message","timestamp":"2025-12-08T10:00:01.000Z","message":{"role":"user","content":"u1","n":1.0}}"#,
    "\n",
    r#"{"type":"message","timestamp":"2025-12-08T10:00:02.000Z","message":{"role":"hookMessage","content":"h"}}"#,
    "\n",
);

#[test]
fn an_append_adds_one_line_and_changes_nothing_else() {
    let before = text(&["a - U", "b a A"]);
    let file = file(&before);
    let mut session = open(&file.path);
    let id = say(&mut session, "user", "c");
    let after = fs::read_to_string(&file.path).unwrap();
    let added = after.strip_prefix(&before).expect("the old bytes are an unchanged prefix");
    assert_eq!(
        added,
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":\"b\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":\"c\"}}]}}}}\n"
        )
    );
    assert_eq!(open_messages(&open(&file.path)), open_messages(&session));
}

#[test]
fn reading_changes_no_byte_and_no_time() {
    for content in [V1.to_owned(), text(&["a - U", "l a l=a=x"]), text(&["a - U"]) + "{torn", String::new()] {
        let file = file(&content);
        let before = state(&file.path);
        let session = open(&file.path);
        let _name = session.name().unwrap();
        let _context = open_messages(&session);
        for ix in session.tree().entries() {
            session.raw_line(ix).unwrap();
        }
        drop(session);
        assert_eq!(state(&file.path), before);
    }
}

#[test]
fn a_torn_tail_is_isolated_and_a_missing_line_feed_added() {
    let whole = text(&["a - U", "b a A"]);
    let start = whole.trim_end().rfind('\n').unwrap() + 1;
    for cut in start..=whole.len() {
        let file = file(&whole[..cut]);
        let mut session = open(&file.path);
        let id = say(&mut session, "user", "c");
        let again = open(&file.path);
        assert_eq!(again.leaf_id().unwrap().as_str(), id, "cut at {cut}");
        let complete = cut >= whole.len() - 1;
        let expected: &[&str] = if complete { &["a", "b", "c"] } else { &["a", "c"] };
        assert_eq!(open_messages(&again), expected, "cut at {cut}");
        let bytes = fs::read_to_string(&file.path).unwrap();
        assert!(bytes.starts_with(&whole[..cut]), "the fragment stays");
    }
}

#[test]
fn an_old_file_is_upgraded_by_its_first_append_with_a_backup() {
    let file = file(V1);
    let mut session = open(&file.path);
    let before = open_messages(&session);
    assert_eq!(before, ["u1", "custom(h)"]);
    let ids_before = ids(&session);
    say(&mut session, "user", "new");
    assert_eq!(fs::read_to_string(file.path.with_extension("jsonl.v1.bak")).unwrap(), V1);
    let on_disk = fs::read_to_string(&file.path).unwrap();
    assert!(on_disk.starts_with(
        r#"{"type":"session","id":"s","timestamp":"2025-12-08T10:00:00.000Z","cwd":"/w","provider":"p","version":3}"#
    ));
    assert!(on_disk.contains("\nnot json\n"), "lines that do not parse stay in their place");
    assert!(on_disk.contains(r#""content":"u1","n":1.0}"#), "numbers stay as they were written");
    let again = open(&file.path);
    assert_eq!(again.version(), 3);
    assert_eq!(ids(&again)[..2], ids_before, "ids given in memory are those on disk");
    assert_eq!(open_messages(&again), ["u1", "custom(h)", "new"]);
    assert_eq!(fs::read_dir(file.path.parent().unwrap()).unwrap().count(), 2, "no temporary file stays");
}

#[test]
fn a_file_that_is_no_session_is_left_alone() {
    let file = file("# my notes\n");
    let before = state(&file.path);
    assert!(matches!(Session::open(&file.path, fixed_options()), Err(Error::NotASession { line: 1, .. })));
    assert!(Session::open_or_create(&file.path, &at("/w"), fixed_options()).is_err());
    assert_eq!(state(&file.path), before);
}

#[test]
fn an_empty_file_gets_its_header_with_the_first_entry() {
    let file = file("");
    let mut session = Session::open_or_create(&file.path, &at("/w"), fixed_options()).unwrap();
    assert_eq!(fs::read(&file.path).unwrap(), b"");
    say(&mut session, "user", "q");
    let again = open(&file.path);
    assert_eq!((again.cwd(), again.tree().len()), (Some("/w"), 1));
}

#[test]
fn a_file_that_is_replaced_shortened_or_deleted_stops_appends() {
    for (change, expected) in
        [("replace", Conflict::Replaced), ("shorten", Conflict::Shortened), ("delete", Conflict::Deleted)]
    {
        let file = file(text(&["a - U", "b a A"]));
        let mut session = open(&file.path);
        match change {
            "replace" => {
                let other = file.path.with_extension("other");
                fs::copy(&file.path, &other).unwrap();
                fs::rename(&other, &file.path).unwrap();
            }
            "shorten" => fs::write(&file.path, text(&["a - U"])).unwrap(),
            _ => fs::remove_file(&file.path).unwrap(),
        }
        let entry = NewEntry::session_info("x");
        for _ in 0..2 {
            let refused = session.append(&entry);
            assert!(matches!(&refused, Err(Error::Conflict { why, .. }) if *why == expected), "{change}: {refused:?}");
        }
        assert_eq!(session.tree().len(), 2, "the tree does not run ahead of the file");
        assert_eq!(session.leaf_id().unwrap().as_str(), "b");
    }
}

#[test]
fn what_another_process_appended_is_read_first() {
    let file = file(text(&["a - U"]));
    let (mut one, mut two) = (open(&file.path), open(&file.path));
    // Both draw the same ids from their fixed sources; the second must notice.
    let first = say(&mut one, "assistant", "one");
    let second = say(&mut two, "assistant", "two");
    assert_ne!(first, second);
    let label = NewEntry::label(&first, Some("theirs"));
    two.append(&label).unwrap();
    assert!(one.refresh().unwrap());
    assert_eq!(shape(&one), shape(&open(&file.path)));
    assert_eq!(one.tree().label(&first.as_str().into()).unwrap().text, "theirs");
    // A foreign line that does not continue the tree.
    let mut odd = fs::read_to_string(&file.path).unwrap();
    odd.push_str("{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"t\",\"message\":{\"role\":\"user\"}}\n{half");
    fs::write(file.path.with_extension("tmp"), &odd).unwrap();
    fs::copy(file.path.with_extension("tmp"), &file.path).unwrap();
    say(&mut one, "user", "three");
    assert_eq!(shape(&one), shape(&open(&file.path)));
}

#[test]
fn switch_makes_every_program_open_there() {
    let file = file(text(&["a - U", "b a A", "c a A"]));
    let mut session = open(&file.path);
    let c = session.find("c").unwrap();
    session.switch(c).unwrap();
    assert_eq!(session.tree().len(), 3, "it opens there anyway");
    let b = session.find("b").unwrap();
    session.switch(b).unwrap();
    let again = open(&file.path);
    assert_eq!(again.tree().skip_leaf_markers(again.leaf().unwrap()), Some(again.find("b").unwrap()));
    assert_eq!(open_messages(&again), ["a", "b"]);
}

/// The person who switches knows what is left; what another program appends there later is news.
#[test]
fn a_switch_silences_newer_work_until_something_is_appended_there() {
    let file = file(text(&["a - U", "b a A", "c a A"]));
    let mut session = open(&file.path);
    session.switch(session.find("b").unwrap()).unwrap();
    let again = open(&file.path);
    assert_eq!((session.newer_work(), again.newer_work()), (None, None));
    assert!(again.diagnostics().iter().all(|told| told.code != Code::Diverged), "{:?}", again.diagnostics());
    let more = fs::read_to_string(&file.path).unwrap() + &line("d c U", 600) + "\n";
    fs::write(&file.path, more).unwrap();
    session.refresh().unwrap();
    assert_eq!(session.newer_work(), Some(session.find("d").unwrap()));
}

#[test]
fn settings_alone_are_no_newer_work_and_no_branch_beside_another() {
    let model = r#"{"type":"model_change","provider":"p","modelId":"m"}"#;
    let level = r#"{"type":"thinking_level_change","thinkingLevel":"high"}"#;
    let [left, chosen, other] = [format!("m b {model}"), format!("t m {level}"), format!("n b {model}")];
    let left_alone = file(text(&["a - U", "b a A", &left, &chosen, &other]));
    let mut session = open(&left_alone.path);
    let ends = |session: &Session| {
        let branches = stats::branches(session, session.leaf()).unwrap();
        let id = |ix| session.tree().node(ix).id().unwrap().as_str().to_owned();
        (branches.iter().map(|branch| id(branch.leaf)).collect::<Vec<_>>(), session.newer_work().map(id))
    };
    assert_eq!(ends(&session), (vec!["n".to_owned()], None), "the one that goes on with them is open there");
    session.branch("b").unwrap();
    assert_eq!(ends(&session), (vec!["b".to_owned()], None));
    session.branch("t").unwrap();
    assert_eq!(ends(&session), (vec!["t".to_owned()], None));
    let went_on = file(text(&["a - U", "b a A", &left, &chosen, &other, "c b U"]));
    let mut session = open(&went_on.path);
    assert_eq!(ends(&session), (vec!["c".to_owned()], None));
    session.branch("a").unwrap();
    assert_eq!(ends(&session), (vec!["a".to_owned(), "c".to_owned()], Some("c".to_owned())));
}

#[test]
fn pops_nest() {
    let mut session = Session::in_memory(&at("/w"), fixed_options()).unwrap();
    let mut last = String::new();
    for (role, text) in [("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")] {
        last = say(&mut session, role, text);
    }
    let new = |summary| NewBranchSummary { summary, ..NewBranchSummary::default() };
    let target = session.pop_target(None).unwrap();
    let popped = session.pop(target, &new("first")).unwrap();
    assert_eq!(popped.left.as_str(), last);
    assert_eq!(open_messages(&session), ["a", "b", "c", "branchSummary(first)"]);
    say(&mut session, "user", "e");
    say(&mut session, "assistant", "f");
    let b = session.tree().entries().nth(1).unwrap();
    session.pop(b, &new("second")).unwrap();
    say(&mut session, "user", "g");
    assert_eq!(open_messages(&session), ["a", "b", "branchSummary(second)", "g"]);
    let leaf = session.leaf();
    assert!(matches!(session.pop_target(leaf), Err(Error::Invalid(Invalid::NothingLeft))));
    let empty = Session::in_memory(&at("/w"), fixed_options()).unwrap();
    assert!(matches!(empty.pop_target(None), Err(Error::Invalid(Invalid::NothingToPop))));
}

#[test]
fn entries_that_point_at_nothing_are_refused() {
    let mut session = super::common::session(&["a - U", "b a A", "c a A"]);
    assert!(matches!(session.append(&NewEntry::label("zzz", Some("x"))), Err(Error::EntryNotFound { .. })));
    let edit = |target: &str| NewEntry::context_edit(target, None, Json::parse("null").unwrap()).unwrap();
    assert!(matches!(session.append(&edit("zzz")), Err(Error::EntryNotFound { .. })));
    assert!(matches!(session.append(&edit("b")), Err(Error::Invalid(Invalid::NotOnActiveBranch { .. }))));
    assert!(session.append(&edit("a")).is_ok());
    assert!(matches!(session.branch("zzz"), Err(Error::EntryNotFound { .. })));
    assert!(!session.diagnostics().iter().any(|d| d.code == Code::Orphan));
}

#[test]
fn omp_files_are_written_as_omp_writes() {
    let slot = offshoot_session::header::TitleSlot::new("T", Some("user"), 0);
    let file = file(format!("{}\n{}", slot.line(), text(&["a - U"])));
    let mut session = open(&file.path);
    assert_eq!(session.title(), Some("T"));
    let dialect = session.dialect();
    session.append(&NewEntry::model("p", "m", dialect)).unwrap();
    let on_disk = fs::read_to_string(&file.path).unwrap();
    assert!(on_disk.starts_with(slot.line()));
    assert!(on_disk.trim_end().ends_with(r#""model":"p/m","resolvedModelIsFallback":false}"#));
}

#[test]
fn parts_become_sessions() {
    let file = file(text(&["a - U", "b a A", "l b l=b=mark", "c l U", "d b U", "k d k=l"]));
    let mut session = open(&file.path);
    let place = |name: &str| {
        let path = file.path.with_file_name(name);
        move |_: &str, _: &str| path
    };
    let part = |part| NewFork { part, ..NewFork::default() };
    let c = session.find("c").unwrap();
    let path = session
        .export(&NewFork { cwd: Some("/x"), ..part(SessionPart::Path(c)) }, place("path.jsonl"))
        .unwrap()
        .file
        .unwrap();
    assert_eq!(shape(&open(&path)), "0a 1b 2c 3".to_owned() + ids(&open(&path)).last().unwrap());
    assert_eq!(open(&path).cwd(), Some("/x"));
    let d = session.find("d").unwrap();
    let subtree = session.export(&part(SessionPart::Subtree(d)), place("subtree.jsonl")).unwrap().file.unwrap();
    assert_eq!(shape(&open(&subtree)), "0d 1k");
    let all = session.export(&NewFork::default(), place("all.jsonl")).unwrap().file.unwrap();
    assert_eq!(shape(&open(&all)), shape(&session));
    assert!(matches!(
        session.export(&NewFork::default(), place("all.jsonl")),
        Err(Error::Conflict { why: Conflict::Exists, .. })
    ));
    let copy = file.path.with_file_name("copy.jsonl");
    session.copy_to(&copy).unwrap();
    assert_eq!(fs::read(&copy).unwrap(), fs::read(&file.path).unwrap());
}

#[test]
fn a_session_is_continued_in_another_folder_and_so_are_its_copies() {
    let file = file(text(&["a - U"]));
    let before = fs::read(&file.path).unwrap();
    let mut session = open(&file.path);
    session.work_in("/elsewhere");
    assert_eq!((session.cwd(), session.header().cwd()), (Some("/elsewhere"), Some("/w")));
    let copy = file.path.with_file_name("fork.jsonl");
    session.export(&NewFork::default(), |_, _| copy.clone()).unwrap();
    assert_eq!(open(&copy).cwd(), Some("/elsewhere"));
    assert_eq!(fs::read(&file.path).unwrap(), before);
    assert_eq!(open(&file.path).cwd(), Some("/w"));
}

#[test]
fn forks_are_named_after_their_parent() {
    let file = file(text(&["a - U", "b a A", "l b l=a=mark", "c b U"]));
    let mut session = open(&file.path);
    assert_eq!(session.fork_name(&|_| false).unwrap().as_deref(), Some("a (fork)"), "the first words");
    session.append(&NewEntry::session_info("parser")).unwrap();
    let b = session.find("b").unwrap();
    for (at, part) in [SessionPart::Path(b), SessionPart::Subtree(b), SessionPart::Everything].into_iter().enumerate() {
        let name = session.fork_name(&|name| name == "parser (fork)").unwrap();
        let fork = NewFork { part, name: name.as_deref(), ..NewFork::default() };
        let path = file.path.with_file_name(format!("fork{at}.jsonl"));
        let made = session.export(&fork, |_, _| path.clone()).unwrap().file.unwrap();
        let copy = open(&made);
        assert_eq!(copy.name().unwrap().as_deref(), Some("parser (fork 2)"));
        assert_eq!(copy.title(), None);
        assert!(copy.diagnostics().is_empty(), "{:?}", copy.diagnostics());
        assert_eq!(copy.fork_name(&|_| false).unwrap().as_deref(), Some("parser (fork 3)"));
        let leaf = copy.leaf().unwrap();
        assert!(copy.tree().parent(leaf).is_some(), "the name is below what was copied: {}", shape(&copy));
    }
    assert_eq!(session.name().unwrap().as_deref(), Some("parser"), "the source keeps its own");
    let empty = Session::in_memory(&at("/w"), fixed_options()).unwrap();
    assert_eq!(empty.fork_name(&|_| false).unwrap(), None);
}

#[test]
fn a_fork_in_omps_dialect_has_its_name_as_title_too() {
    let header =
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","title":"T"}"#;
    let file = file(text(&["a - U", "b a A"]).replacen(super::common::HEADER, header, 1));
    let mut session = open(&file.path);
    let name = session.fork_name(&|_| false).unwrap();
    let fork = NewFork { name: name.as_deref(), ..NewFork::default() };
    let path = file.path.with_file_name("fork.jsonl");
    session.export(&fork, |_, _| path.clone()).unwrap();
    let copy = open(&path);
    assert_eq!((copy.title(), copy.name().unwrap().as_deref()), (Some("T (fork)"), Some("T (fork)")));
}

#[test]
fn a_session_is_created_next_to_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = DirStore::new(Root::new(folder.path(), Flavour::Flat), Vec::new());
    let mut one = store.create(&at("/w"), fixed_options()).unwrap();
    let mut same_name = store.create(&at("/w"), fixed_options()).unwrap();
    say(&mut one, "user", "q");
    let before = fs::read(one.file().unwrap()).unwrap();
    let refused = same_name.append(&NewEntry::session_info("x"));
    assert!(matches!(refused, Err(Error::Conflict { why: Conflict::Exists, .. })), "{refused:?}");
    assert_eq!(fs::read(one.file().unwrap()).unwrap(), before);
}

#[test]
fn sessions_in_memory_never_touch_the_disk() {
    let mut session = Session::in_memory(&at("/w"), Options::default()).unwrap();
    say(&mut session, "user", "q");
    assert_eq!(session.file(), None);
    let entries =
        Json::parse(r#"[{"type":"message","timestamp":"t","message":{"role":"user","content":"old"}}]"#).unwrap();
    let seeded = Session::seeded(entries, &at("/w"), fixed_options()).unwrap();
    assert_eq!(open_messages(&seeded), ["old"]);
}
