//! Codex: whole trees, and what the notes beside the fixtures expect.

use std::path::{Path, PathBuf};

use offshoot_session::entry::Source as _;
use offshoot_session::session::Session;

use crate::support::{files, fixtures, golden, open, spelled};

fn rollouts() -> Vec<PathBuf> {
    files(&fixtures("codex"), ".jsonl")
        .into_iter()
        .chain(files(&fixtures("codex"), ".zst"))
        .filter(|file| is_rollout(file))
        .collect()
}

fn is_rollout(file: &Path) -> bool {
    file.file_name().unwrap().to_string_lossy().starts_with("rollout-")
}

fn rollout(end: &str) -> Session {
    let end = format!("-{end}.jsonl");
    open(rollouts().iter().find(|file| file.to_string_lossy().ends_with(&end)).unwrap()).session
}

/// What a person typed, with the number of entries above it.
fn prompts(session: &Session) -> Vec<(String, usize)> {
    let tree = session.tree();
    let text = |ix| session.entry(ix).unwrap().message_text("").unwrap();
    let is_prompt = |ix: &_| tree.node(*ix).role() == Some(offshoot_session::kind::Role::User);
    tree.entries().filter(is_prompt).map(|ix| (text(ix), tree.path(ix).len() - 1)).collect()
}

#[test]
fn every_thread_has_its_whole_tree() {
    let root = fixtures("codex");
    let mut text = String::new();
    for file in rollouts() {
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        text += &format!("== {name}\n{}", spelled(&open(&file).session));
    }
    golden("codex.txt", &text);
}

#[test]
fn a_rollback_is_a_branch_and_injected_texts_are_no_prompts() {
    let session = rollout("8c7a-000000000001");
    let tree = session.tree();
    let texts: Vec<String> = prompts(&session).into_iter().map(|(text, _)| text).collect();
    assert_eq!(
        texts,
        [
            "why does wordcount count blanks?",
            "rename it to zanzibar",
            "rename it to xylophone instead",
            "what is in this picture?"
        ]
    );
    let branching: Vec<_> = tree.entries().filter(|ix| tree.children(*ix).count() > 1).collect();
    assert_eq!(branching.len(), 1);
    let words = |ix| session.entry(ix).unwrap().message_text("").unwrap();
    let children: Vec<String> = tree.children(branching[0]).map(words).collect();
    assert_eq!(children, ["rename it to zanzibar", "rename it to xylophone instead"]);
    assert_eq!(words(branching[0]), "Runs of blanks count once now.", "the end of the first turn");
    assert_eq!(session.name().unwrap().as_deref(), Some("wordcount blanks"));
    let customs = tree.entries().filter(|ix| session.entry(*ix).unwrap().str("customType").is_some());
    let customs: Vec<String> =
        customs.map(|ix| session.entry(ix).unwrap().str("customType").unwrap().into_owned()).collect();
    assert_eq!(
        customs,
        ["codex.permissions", "codex.environment-context", "codex.turn-aborted", "codex.kept", "codex.kept"]
    );
}

#[test]
fn a_fork_shares_its_ids_with_its_parent() {
    let (parent, fork) = (rollout("8c7a-000000000001"), rollout("8c7a-000000000002"));
    let is_shared = |ix: &_| parent.find(fork.tree().node(*ix).id().unwrap().as_str()).is_ok();
    let own = fork.tree().entries().filter(|ix| !is_shared(ix)).count();
    assert_eq!((own, fork.header().parent_session()), (2, Some("01a0d387-4530-74a2-8c7a-000000000001")));
}

#[test]
fn a_paginated_fork_and_a_reverted_thread_begin_with_the_file_before() {
    let texts = |session: &Session| prompts(session).into_iter().map(|(text, _)| text).collect::<Vec<_>>();
    let fork = rollout("8c7a-000000000004");
    assert_eq!(texts(&fork), ["why does wordcount count blanks?", "rename it to zanzibar", "paginated question"]);
    assert_eq!((fork.id(), fork.cwd()), ("01a0d387-4530-74a2-8c7a-000000000004", Some("/home/u/work/demo")));
    assert_eq!(
        texts(&rollout("74a2-8c7a-000000000005_01a0d387-4530-74a2-8c7a-000000000006")),
        ["kept turn", "after the revert"]
    );
}

#[test]
fn rollouts_from_before_envelopes_and_compressed_ones_are_read() {
    let texts = |session: &Session| prompts(session).into_iter().map(|(text, _)| text).collect::<Vec<_>>();
    assert_eq!(texts(&rollout("47-c27a914d-0000-4000-8000-000000000001")), ["a question from before envelopes"]);
    let packed = files(&fixtures("codex"), ".zst");
    assert_eq!(texts(&open(&packed[0]).session), ["a cold question"]);
}

/// Codex compresses a rollout, or unpacks one, between the moment in which it was listed and the one in which it is read.
#[test]
fn a_rollout_whose_form_has_changed_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = rollouts().into_iter().find(|file| file.to_string_lossy().ends_with(".zst")).unwrap();
    let packed = folder.path().join(fixture.file_name().unwrap());
    std::fs::copy(&fixture, &packed).unwrap();
    let plain = packed.with_extension("");
    let open = |path: &Path| (offshoot_foreign::Agent::Codex.format().open)(path, Default::default());
    let lines = |path: &Path| spelled(&open(path).unwrap());
    let expected = lines(&packed);
    assert_eq!(lines(&plain), expected);
    let bytes = zstd::decode_all(std::fs::File::open(&packed).unwrap()).unwrap();
    std::fs::remove_file(&packed).unwrap();
    let gone = open(&plain).unwrap_err().to_string();
    assert!(gone.contains(&*plain.to_string_lossy()), "{gone}");
    std::fs::write(&plain, bytes).unwrap();
    assert_eq!(lines(&packed), expected);
}
