//! Claude Code: whole trees, and what the notes beside the fixtures expect.

use std::path::{Path, PathBuf};

use offshoot_foreign::Agent;
use offshoot_session::entry::Source as _;
use offshoot_session::session::Session;

use crate::support::{files, fixtures, golden, open, spelled, subagents_of};

fn transcript(digit: char) -> PathBuf {
    let id = format!("{}-2222-4222-8222-222222222222", digit.to_string().repeat(8));
    fixtures("claude-code").join("projects/-home-u-work-demo").join(format!("{id}.jsonl"))
}

fn uuid(number: u32) -> String {
    format!("a{number:07x}-1111-4111-8111-{number:012x}")
}

fn children(session: &Session, id: &str) -> Vec<String> {
    let tree = session.tree();
    let ix = session.find(id).unwrap();
    tree.children(ix).filter_map(|child| tree.node(child).id().map(|id| id.as_str().to_owned())).collect()
}

#[test]
fn every_session_has_its_whole_tree() {
    let root = fixtures("claude-code");
    let mut text = String::new();
    for file in files(&root.join("projects"), ".jsonl") {
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        if !name.ends_with("journal.jsonl") {
            text += &format!("== {name}\n{}", spelled(&open(&file).session));
        }
    }
    golden("claude.txt", &text);
}

#[test]
fn rewinds_are_branches_and_parallel_calls_are_not() {
    let session = open(&transcript('1')).session;
    assert_eq!(children(&session, &uuid(0x0a)), [uuid(0x0b), uuid(0x0f)], "a prompt was edited");
    // The answer, then the results of its two calls, in one line.
    assert_eq!(children(&session, &uuid(3)), [uuid(6)]);
    assert_eq!(children(&session, &uuid(6)), [uuid(8)]);
    let branching = session.tree().entries().filter(|ix| session.tree().children(*ix).count() > 1);
    assert_eq!(branching.count(), 1);
    let path = session.tree().path(session.leaf().unwrap());
    let said = path.iter().rev().map(|ix| session.tree().node(*ix)).find(|node| node.role().is_some()).unwrap();
    assert_eq!(said.id().unwrap().as_str(), uuid(0x20), "where the agent would continue");
    assert_eq!(session.name().unwrap().as_deref(), Some("wordcount blanks"));
    let outputs = session.tree().entries().filter_map(|ix| {
        let usage = session.entry(ix).unwrap().message()?.get("usage")?.get("output")?.as_f64()?;
        Some(usage as u64)
    });
    assert_eq!(outputs.sum::<u64>(), 439, "streamed usage counts once");
}

#[test]
fn a_compaction_says_what_was_kept() {
    let session = open(&transcript('1')).session;
    let entry = session.entry(session.find(&uuid(0x1b)).unwrap()).unwrap();
    assert_eq!(entry.str("firstKeptEntryId").unwrap(), uuid(0x18));
    assert_eq!(entry.str("parentId").unwrap(), uuid(0x1a).replace("1a", "19"), "the answer of which 1a is a part");
    assert_eq!(entry.get("tokensBefore").unwrap().text(), "139314");
    assert!(entry.str("summary").unwrap().contains("wordcount should count words."));
}

#[test]
fn the_last_prompt_decides_between_two_roots() {
    let session = open(&transcript('6')).session;
    let tree = session.tree();
    let roots = tree.entries().filter(|ix| tree.parent(*ix).is_none()).count();
    let leaf = tree.node(tree.parent(session.leaf().unwrap()).unwrap()).id().unwrap();
    assert_eq!((roots, leaf.as_str()), (2, uuid(0x192).as_str()));
}

#[test]
fn a_session_that_continues_another_file_begins_with_its_compaction() {
    let session = open(&transcript('4')).session;
    let first = session.tree().entries().next().unwrap();
    assert_eq!(session.tree().node(first).id().unwrap().as_str(), uuid(0xdd));
    assert!(session.tree().parent(first).is_none());
    assert!(session.diagnostics().is_empty(), "{:?}", session.diagnostics());
    assert_eq!(session.header().parent_session(), Some("11111111-2222-4222-8222-222222222222"));
    // It is not where the record is only named, nor in a file that is a link.
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("44444444-2222-4222-8222-222222222222.jsonl");
    std::fs::copy(transcript('4'), &alone).unwrap();
    let named = std::fs::read_to_string(transcript('4')).unwrap().replace("44444444", "55555555");
    std::fs::write(folder.path().join("named.jsonl"), named).unwrap();
    std::os::unix::fs::symlink(transcript('1'), folder.path().join("link.jsonl")).unwrap();
    assert_eq!(open(&alone).session.header().parent_session(), None);
}

#[test]
fn damage_is_told_and_costs_nothing_else() {
    let session = open(&transcript('7')).session;
    let told: Vec<&str> = session.diagnostics().iter().map(|told| told.code.as_str()).collect();
    assert_eq!(told, ["orphan", "nul-bytes", "torn-tail"], "a line that stands twice is one entry");
    assert_eq!(session.tree().len(), 3);
}

/// A hostile path in a result names nothing outside the session's own folder.
#[test]
fn a_spilled_result_is_read_from_the_sessions_own_folder_only() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret.txt");
    std::fs::write(&secret, "the secret").unwrap();
    let own = folder.path().join("s/tool-results");
    std::fs::create_dir_all(&own).unwrap();
    std::os::unix::fs::symlink(&secret, own.join("link.txt")).unwrap();
    std::fs::write(own.join("own.txt"), "the whole output").unwrap();
    let text = |path: &str| {
        let line = format!(
            r#"{{"type":"user","sessionId":"s","uuid":"u","parentUuid":null,"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"<persisted-output>preview"}}]}},"toolUseResult":{{"persistedOutputPath":"{path}"}}}}"#
        );
        let file = folder.path().join("s.jsonl");
        std::fs::write(&file, line + "\n").unwrap();
        let session = open(&file).session;
        session.entry(session.leaf().unwrap()).unwrap().line().to_owned()
    };
    assert!(text("/elsewhere/own.txt").contains("the whole output"));
    let secret = secret.display().to_string();
    for path in [&secret, "../../secret.txt", "link.txt", "/dev/zero", "..", ""].map(|path: &str| path.to_owned()) {
        let line = text(&path);
        assert!(line.contains("preview") && !line.contains("the secret"), "{path}: {line}");
    }
}

#[test]
fn reading_leaves_every_byte_and_time_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    copy(&fixtures("claude-code"), &store);
    let look = || -> Vec<(PathBuf, u64, std::time::SystemTime, Vec<u8>)> {
        files(&store, "")
            .into_iter()
            .map(|file| {
                let meta = std::fs::metadata(&file).unwrap();
                (file.clone(), meta.len(), meta.modified().unwrap(), std::fs::read(&file).unwrap())
            })
            .collect()
    };
    let before = look();
    for file in files(&store.join("projects"), ".jsonl") {
        if let Some(mut foreign) = offshoot_foreign::open_foreign(&file, Default::default).unwrap() {
            spelled(&foreign.session);
            let message = offshoot_session::json::Json::parse(r#"{"role":"user","content":"x"}"#).unwrap();
            let entry = offshoot_session::compose::NewEntry::message(message).unwrap();
            let refused = foreign.session.append(&entry).unwrap_err().to_string();
            assert!(refused.contains("could not lock"), "{refused}");
        }
    }
    assert_eq!(look(), before);
}

fn copy(from: &Path, to: &Path) {
    for file in files(from, "") {
        let target = to.join(file.strip_prefix(from).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(&file, &target).unwrap();
    }
}

/// Two hundred thousand answers to one prompt: each walk is a loop, and no list is searched for each.
#[test]
fn two_hundred_thousand_forks_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("11111111-2222-4222-8222-222222222222.jsonl");
    let line = |number: u32, parent: &str, text: &str| {
        format!(
            r#"{{"type":"user","sessionId":"s","uuid":"{number:08x}-0000-4000-8000-000000000000","parentUuid":{parent},"message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let mut text = line(0, "null", "first") + "\n";
    for number in 1..=200_000 {
        text += &line(number, "\"00000000-0000-4000-8000-000000000000\"", "again");
        text.push('\n');
    }
    std::fs::write(&file, text).unwrap();
    let session = open(&file).session;
    let tree = session.tree();
    let first = tree.roots().next().unwrap();
    assert_eq!((tree.len(), tree.children(first).count()), (200_001, 200_000));
    assert_eq!(tree.path(session.leaf().unwrap()).len(), 2);
}

/// The calls of one that no note names, and of a workflow, are nobody's.
#[test]
fn subagents_are_below_the_entries_whose_calls_made_them() {
    let file = transcript('1');
    let session = open(&file).session;
    let list = subagents_of(Agent::Claude, &file, Some(&session), i64::MAX);
    let rows: Vec<String> = list.children.iter().map(|child| format!("{}: {}", child.words(), child.task)).collect();
    assert_eq!(
        rows,
        ["agent-a1b2c3d4e5f60718 · Explore · completed: review", "agent-b9 · workflow-subagent · completed: "]
    );
    let first = &list.children[0];
    assert_eq!(first.parent_entry.as_deref(), Some(uuid(0x12).as_str()));
    assert_eq!((first.tool_call_id.as_deref(), first.messages), (Some("toolu_05"), 4));
    assert_eq!(list.left_out, 0);
}

/// Links lead elsewhere, a note of megabytes and one that is no JSON say nothing, and a damaged transcript is opened as others are.
#[test]
fn subagents_of_hostile_folders_cost_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("11111111-2222-4222-8222-222222222222.jsonl");
    std::fs::copy(transcript('1'), &file).unwrap();
    let below = file.with_extension("").join("subagents");
    std::fs::create_dir_all(below.join("agent-folder.jsonl")).unwrap();
    std::os::unix::fs::symlink(transcript('2'), below.join("agent-link.jsonl")).unwrap();
    std::fs::write(below.join("agent-empty.jsonl"), "").unwrap();
    std::fs::write(below.join("agent-a.b.jsonl"), "{\"type\":\"user\"\n\0\0\n").unwrap();
    std::fs::write(below.join("agent-a.b.meta.json"), "{".repeat(1 << 20)).unwrap();
    std::fs::write(below.join("agent-empty.meta.json"), r#"{"toolUseId":7,"agentType":{"a":1}}"#).unwrap();
    let list = subagents_of(Agent::Claude, &file, Some(&open(&file).session), i64::MAX);
    let rows: Vec<(&str, usize)> = list.children.iter().map(|child| (child.id.as_str(), child.depth())).collect();
    assert_eq!((rows, list.left_out), (vec![("agent-a-b", 1), ("agent-empty", 1)], 0));
}

/// Nobody says how they ended but their own last records; one that calls itself is below nobody.
#[test]
fn a_subagent_stands_as_its_records_say() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("11111111-2222-4222-8222-222222222222.jsonl");
    std::fs::copy(transcript('1'), &file).unwrap();
    let below = file.with_extension("").join("subagents");
    std::fs::create_dir_all(&below).unwrap();
    let line = |kind: &str, rest: &str| {
        format!(r#"{{"type":"{kind}","sessionId":"s","uuid":"u-{kind}","message":{{{rest}}}}}"#)
    };
    let asked = line("user", r#""role":"user","content":"go""#);
    let stopped = line("user", r#""role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]"#);
    let answer = |stop: &str, id: &str| {
        let call = format!(r#"{{"type":"tool_use","id":"{id}","name":"Agent","input":{{}}}}"#);
        line("assistant", &format!(r#""role":"assistant","id":"m","stop_reason":{stop},"content":[{call}]"#))
    };
    let failed = answer("null", "t").replacen('{', r#"{"isApiErrorMessage":true,"#, 1);
    for (name, end, call) in [
        ("ended", answer(r#""end_turn""#, "t"), ""),
        ("stopped", stopped, ""),
        ("failed", failed, ""),
        ("runs", answer("null", "toolu_below"), ""),
        ("inner", asked.clone(), "toolu_below"),
        ("circle", answer("null", "toolu_circle"), "toolu_circle"),
        ("answered", asked.clone(), "toolu_05"),
    ] {
        std::fs::write(below.join(format!("agent-{name}.jsonl")), format!("{asked}\n{end}\n")).unwrap();
        std::fs::write(below.join(format!("agent-{name}.meta.json")), format!(r#"{{"toolUseId":"{call}"}}"#)).unwrap();
    }
    let rows = |now: i64| {
        let list = subagents_of(Agent::Claude, &file, None, now);
        list.children.iter().map(|child| (child.id.clone(), child.status.clone().unwrap())).collect::<Vec<_>>()
    };
    let expected = |open: &str| {
        [
            ("agent-answered", "completed"),
            ("agent-circle", open),
            ("agent-ended", "completed"),
            ("agent-failed", "failed"),
            ("agent-runs", open),
            ("agent-runs.agent-inner", open),
            ("agent-stopped", "aborted"),
        ]
        .map(|(id, status)| (id.to_owned(), status.to_owned()))
    };
    assert_eq!(rows(i64::MAX), expected("unknown"));
    assert_eq!(rows(0), expected("running"));
}
