//! Vectors observed on the peers, operation by operation. Where offshoot differs on purpose, the test says so and
//! `docs/format.md` has the row.

use std::fs;
use std::path::Path;

use offshoot_session::compose::{NewBranchSummary, NewCompaction, NewEntry};
use offshoot_session::context;
use offshoot_session::entry::Source as _;
use offshoot_session::header::Dialect;
use offshoot_session::json::Json;
use offshoot_session::list::session_info;
use offshoot_session::medium::MemoryMedium;
use offshoot_session::session::{NewFork, Options, Session, SessionPart};
use offshoot_session::store::{DirStore, Flavour, Root, Store as _};
use offshoot_session::testing::fixed_options;

use super::common::{HEADER, at, context_json, ids, messages, open_messages, say, session, shape, text};

const V1_HEADER: &str = r#"{"type":"session","id":"s","timestamp":"2025-12-08T10:00:00.000Z","cwd":"/w"}"#;

fn v1(records: &[&str]) -> String {
    let record = |what: &&str| match what.split_once('=') {
        Some(("compaction", index)) => {
            format!(
                r#"{{"type":"compaction","timestamp":"2025-12-08T10:00:01.000Z","summary":"S","firstKeptEntryIndex":{index},"tokensBefore":9}}"#
            )
        }
        _ => {
            let role = if what.starts_with('u') { "user" } else { "assistant" };
            format!(
                r#"{{"type":"message","timestamp":"2025-12-08T10:00:01.000Z","message":{{"role":"{role}","content":[{{"type":"text","text":"{what}"}}]}}}}"#
            )
        }
    };
    let lines = records.iter().map(record);
    std::iter::once(V1_HEADER.to_owned()).chain(lines).fold(String::new(), |text, line| text + &line + "\n")
}

fn v1_messages(records: &[&str]) -> Vec<String> {
    open_messages(&Session::from_text(&v1(records), Options::default()).unwrap())
}

#[test]
fn vector_01_two_messages() {
    let session = session(&["a - U", "b a A"]);
    assert_eq!(shape(&session), "0a 1b");
    assert_eq!(session.leaf_id().unwrap().as_str(), "b");
    assert_eq!(
        context_json(&session),
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"b"}],"provider":"p","model":"m"}],"thinkingLevel":"off","model":{"provider":"p","modelId":"m"}}"#
    );
}

#[test]
fn vectors_02_to_04_version_1_indexes() {
    assert_eq!(v1_messages(&["u1", "a1", "u2", "compaction=2", "u3"]), ["compactionSummary(S)", "a1", "u2", "u3"]);
    // Index 0 is the header and keeps everything. The peers lose u1 here.
    assert_eq!(v1_messages(&["u1", "compaction=0", "u3"]), ["compactionSummary(S)", "u1", "u3"]);
    assert_eq!(v1_messages(&["u1", "compaction=3", "u3"]), ["compactionSummary(S)", "u3"]);
}

#[test]
fn vector_05_nested_compactions() {
    let session = session(&["a - U", "b a A", "k1 b k=a", "c k1 U", "d c A", "k2 d k=b", "e k2 U"]);
    assert_eq!(open_messages(&session), ["compactionSummary(Sk2)", "b", "c", "d", "e"]);
}

#[test]
fn vector_06_a_kept_entry_that_is_not_there() {
    for (kept, diagnostics) in [("nope", 1), ("k", 0)] {
        let session = session(&["a - U", "b a A", &format!("k b k={kept}"), "c k U"]);
        assert_eq!(open_messages(&session), ["compactionSummary(Sk)", "c"], "{kept}");
        assert_eq!(session.context().unwrap().diagnostics.len(), diagnostics, "{kept}");
    }
}

#[test]
fn vector_07_labels_are_cleared_by_the_last_word() {
    let session = session(&["a - U", "b a A", "l1 b l=a=x", "l2 l1 l=a="]);
    assert_eq!(session.tree().label(&"a".into()), None);
    assert_eq!(session.leaf_id().unwrap().as_str(), "l2");
    assert_eq!(shape(&session), "0a 1b 2l1 3l2");
}

#[test]
fn vector_08_a_branch() {
    let mut session = session(&["a - U", "b a A"]);
    session.branch("a").unwrap();
    let c = say(&mut session, "user", "c");
    let children: Vec<_> = session.tree().children(session.find("a").unwrap()).collect();
    assert_eq!(children, [session.find("b").unwrap(), session.find(&c).unwrap()]);
    assert_eq!(open_messages(&session), ["a", "c"]);
}

#[test]
fn vector_09_an_empty_branch_summary_says_nothing() {
    assert_eq!(open_messages(&session(&["a - U", "b a A", "s a bs=", "c s U"])), ["a", "c"]);
    assert_eq!(open_messages(&session(&["a - U", "b a A", "s a bs=X", "c s U"])), ["a", "branchSummary(X)", "c"]);
}

#[test]
fn vector_10_an_orphan_is_a_root() {
    let session = session(&["a - U", "c zzz U", "d c A"]);
    assert_eq!(shape(&session), "0a 0c 1d");
    assert_eq!(open_messages(&session), ["c", "d"]);
    assert_eq!(session.diagnostics().len(), 1);
}

#[test]
fn vector_11_of_duplicate_ids_the_later_counts() {
    let second = r#"b a {"type":"message","message":{"role":"assistant","content":"second"}}"#;
    let session = session(&["a - U", "b a A", second, "c b U"]);
    assert_eq!(ids(&session), ["a", "b", "b", "c"]);
    assert_eq!(open_messages(&session), ["a", "second", "c"]);
}

#[test]
fn vector_12_no_leaf_is_an_empty_context() {
    let session = session(&["a - U"]);
    let mut out = Vec::new();
    context::build(&session, None, Dialect::Pi).unwrap().write_json(&session, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), r#"{"messages":[],"thinkingLevel":"off","model":null}"#);
}

#[test]
fn vector_13_the_first_prompt_is_on_disk_at_once() {
    // pi waits for the first answer, and loses the prompt if none comes.
    let folder = tempfile::tempdir().unwrap();
    let store = DirStore::new(Root::new(folder.path(), Flavour::Flat), Vec::new());
    let mut session = store.create(&at("/w"), fixed_options()).unwrap();
    let file = session.file().unwrap().to_path_buf();
    assert!(!file.exists());
    say(&mut session, "user", "q");
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 2);
    say(&mut session, "assistant", "r");
    let on_disk = fs::read_to_string(&file).unwrap();
    assert!(on_disk.ends_with('\n'));
    let types: Vec<_> =
        on_disk.lines().map(|line| Json::parse(line).unwrap().str("type").unwrap().into_owned()).collect();
    assert_eq!(types, ["session", "message", "message"]);
}

#[test]
fn vector_14_extraction_rechains_around_labels() {
    let mut session = session(&["u - U", "a u A", "l a l=u=mark", "u2 l U", "k u2 k=l", "u3 k U"]);
    let before = open_messages(&session);
    let leaf = session.find("u3").unwrap();
    let part = SessionPart::Path(leaf);
    session.become_fork(&NewFork { part, ..NewFork::default() }, |_, _| unreachable!("in memory")).unwrap();
    assert_eq!(ids(&session), ["u", "a", "u2", "k", "u3", "00000001"]);
    assert_eq!(shape(&session), "0u 1a 2u2 3k 4u3 500000001");
    let k = session.entry(session.find("k").unwrap()).unwrap();
    assert_eq!(k.str("firstKeptEntryId").unwrap(), "u2");
    let label = session.entry(session.leaf().unwrap()).unwrap();
    assert_eq!(label.str("timestamp").unwrap(), "2026-01-01T00:00:03.000Z", "the label's own time");
    assert_eq!(open_messages(&session), before);
}

#[test]
fn vector_15_a_context_edit() {
    let session = session(&["u - U", "u2 u U", "k u2 k=u2", "u3 k U", r#"e u3 edit=u2={"content":"EDIT"}"#]);
    assert_eq!(open_messages(&session), ["compactionSummary(Sk)", "EDIT", "u3"]);
    let raw = session.raw_line(session.find("u2").unwrap()).unwrap();
    assert!(String::from_utf8(raw).unwrap().contains(r#""text":"u2""#), "the entry itself is unchanged");
}

#[test]
fn vector_16_branch_summaries_name_the_leaf_that_was_left() {
    let mut session = session(&["a - U", "x a A"]);
    let new = NewBranchSummary { summary: "bs", ..NewBranchSummary::default() };
    let id = session.branch_with_summary(Some("a"), &new).unwrap();
    let entry = session.entry(session.find(id.as_str()).unwrap()).unwrap();
    assert_eq!((entry.str("parentId").unwrap(), entry.str("fromId").unwrap()), ("a".into(), "x".into()));
    let root = session.branch_with_summary(None, &new).unwrap();
    let entry = session.entry(session.find(root.as_str()).unwrap()).unwrap();
    assert!(entry.get("parentId").unwrap().is_null());
    assert_eq!(entry.str("fromId").unwrap(), id.as_str());
    let mut fresh = Session::in_memory(&at("/w"), fixed_options()).unwrap();
    let first = fresh.branch_with_summary(None, &new).unwrap();
    assert_eq!(fresh.entry(fresh.find(first.as_str()).unwrap()).unwrap().str("fromId").unwrap(), "root");
    assert!(matches!(
        fresh.branch_with_summary(Some("?"), &new),
        Err(offshoot_session::error::Error::EntryNotFound { .. })
    ));
    assert_eq!(fresh.leaf_id(), Some(&first), "a refused branch moves nothing");
}

#[test]
fn vector_17_a_fork_copies_all_branches() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source.jsonl");
    let lines = text(&["a - U", "b a A", "c a A"]) + "{broken\n";
    fs::write(&source, &lines).unwrap();
    let target = folder.path().join("target.jsonl");
    let fork_file = |source: &Path, target: &Path| {
        let fork = NewFork { cwd: Some("/other"), ..NewFork::default() };
        Session::open(source, fixed_options())?.export(&fork, |_, _| target.to_path_buf())
    };
    fork_file(&source, &target).unwrap();
    let forked = Session::open(&target, Options::default()).unwrap();
    assert_eq!(forked.leaf_id().unwrap().as_str(), "c", "the last entry of the source");
    assert_eq!((forked.cwd(), forked.header().version()), (Some("/other"), 3));
    assert_eq!(forked.header().parent_session(), source.to_str());
    let copied = fs::read_to_string(&target).unwrap();
    assert_eq!(
        copied.split_once('\n').unwrap().1,
        lines.split_once('\n').unwrap().1,
        "every line, also the broken one"
    );
    // A version 1 source is upgraded in the copy; pi writes entries without ids here.
    fs::write(&source, v1(&["u1", "a1", "u2"])).unwrap();
    let target = folder.path().join("from-v1.jsonl");
    fork_file(&source, &target).unwrap();
    assert_eq!(open_messages(&Session::open(&target, Options::default()).unwrap()), ["u1", "a1", "u2"]);
    assert!(fork_file(&folder.path().join("none.jsonl"), &target).is_err());
}

#[test]
fn vector_18_a_list_of_a_version_1_file() {
    let medium = MemoryMedium::new(v1(&["u1", "a1", "u2", "a2"]).into_bytes());
    let info = session_info(&medium, None, true).unwrap();
    assert_eq!((info.message_count, info.first_message.as_str()), (4, "u1"));
    let bare =
        format!("{V1_HEADER}\n{}\n", r#"{"type":"message","timestamp":"?","message":{"role":"user","content":"x"}}"#);
    let info = session_info(&MemoryMedium::new(bare.into_bytes()), None, false).unwrap();
    assert_eq!(info.modified, info.created, "without a usable time, the header's");
}

#[test]
fn vector_19_a_session_that_begins_with_settings_and_failures() {
    let error = |id: &str, parent: &str| {
        format!(
            r#"{id} {parent} {{"type":"message","message":{{"role":"assistant","content":[],"provider":"p","model":"m","stopReason":"error","errorMessage":"x"}}}}"#
        )
    };
    let model = r#"m - {"type":"model_change","provider":"p","modelId":"m"}"#;
    let level = r#"t m {"type":"thinking_level_change","thinkingLevel":"high"}"#;
    let file = text(&[model, level, "u t U", &error("e1", "u"), &error("e2", "e1")]);
    let session = Session::from_text(&file, Options::default()).unwrap();
    assert_eq!(shape(&session), "0m 1t 2u 3e1 4e2");
    assert_eq!(messages(&session, session.leaf()).len(), 3, "failed attempts stay in the session's context");
    let info = session_info(&MemoryMedium::new(file.into_bytes()), None, false).unwrap();
    assert_eq!((info.message_count, info.first_message.as_str()), (3, "u"));
    assert!(HEADER.len() > 1);
}

#[test]
fn compactions_without_a_kept_entry_name_themselves() {
    let mut session = session(&["a - U", "b a A"]);
    let new = NewCompaction { summary: "S", tokens_before: 5, ..NewCompaction::default() };
    let id = session.append(&NewEntry::compaction(&new, Dialect::Pi)).unwrap();
    let entry = session.entry(session.find(id.as_str()).unwrap()).unwrap();
    assert_eq!(entry.str("firstKeptEntryId").unwrap(), id.as_str());
    assert_eq!(open_messages(&session), ["compactionSummary(S)"]);
}
