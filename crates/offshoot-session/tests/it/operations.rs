//! Operations that move the leaf: undoing them, and what a crash leaves of them.

use offshoot_session::check::check;
use offshoot_session::compose::{NewBranchSummary, NewCompaction, NewEntry};
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Code, Conflict, Error};
use offshoot_session::header::Dialect;
use offshoot_session::kind::Operation;
use offshoot_session::medium::FileMedium;
use offshoot_session::session::Session;

use super::common::{line, open_messages, say, session, text};

const TREE: &[&str] = &["a - U", "b a A", "c b U", "d c A", "e b U", "f e A"];

fn undo(session: &mut Session) -> Option<Operation> {
    let plan = session.plan_undo().unwrap()?;
    session.undo(&plan).unwrap();
    Some(plan.operation)
}

fn switch(session: &mut Session, id: &str) {
    session.switch(session.find(id).unwrap()).unwrap();
}

#[test]
fn undo_goes_back_and_twice_is_redo() {
    let mut session = session(TREE);
    let before = open_messages(&session);
    switch(&mut session, "d");
    let after = open_messages(&session);
    assert_ne!(before, after);
    for expected in [&before, &after, &before, &after] {
        assert!(undo(&mut session).is_some());
        assert_eq!(&open_messages(&session), expected);
    }
    assert_eq!(undo(&mut session), Some(Operation::Undo));
}

#[test]
fn every_operation_without_a_marker_can_be_undone() {
    let summary = NewBranchSummary { summary: "tried", ..NewBranchSummary::default() };
    let mut popped = session(TREE);
    let before = open_messages(&popped);
    popped.pop(popped.find("b").unwrap(), &summary).unwrap();
    assert_ne!(open_messages(&popped), before);
    assert_eq!(undo(&mut popped), Some(Operation::Pop));
    assert_eq!(open_messages(&popped), before);

    let mut compacted = session(TREE);
    let values = NewCompaction { summary: "S", first_kept: Some("e"), tokens_before: 9, ..NewCompaction::default() };
    compacted.append(&NewEntry::compaction(&values, Dialect::Pi)).unwrap();
    assert_ne!(open_messages(&compacted), before);
    assert_eq!(undo(&mut compacted), Some(Operation::Compact));
    assert_eq!(open_messages(&compacted), before);

    // After a switch, a compaction's parent is the switch's marker.
    switch(&mut compacted, "d");
    let before = open_messages(&compacted);
    let values = NewCompaction { first_kept: Some("c"), ..values };
    compacted.append(&NewEntry::compaction(&values, Dialect::Pi)).unwrap();
    assert_eq!(undo(&mut compacted), Some(Operation::Compact));
    assert_eq!(open_messages(&compacted), before);
}

#[test]
fn labels_and_settings_do_not_block_an_undo_but_messages_do() {
    let mut session = session(TREE);
    let before = open_messages(&session);
    switch(&mut session, "d");
    session.append(&NewEntry::label("a", Some("start"))).unwrap();
    session.append(&NewEntry::thinking_level("high", Dialect::Pi)).unwrap();
    let named = session.append(&NewEntry::session_info("name")).unwrap();
    assert_eq!(undo(&mut session), Some(Operation::Switch));
    assert_eq!(open_messages(&session), before);
    assert!(session.tree().label(&"a".into()).is_some(), "the label stays");

    let said = say(&mut session, "user", "more");
    let Err(Error::Conflict { why: Conflict::SaidSince { message, before, .. }, .. }) = session.plan_undo() else {
        panic!("a message blocks");
    };
    assert_eq!((message.as_str(), before.unwrap().as_str()), (said.as_str(), named.as_str()));
}

#[test]
fn what_names_no_place_to_go_back_to_cannot_be_undone() {
    let marker = r#"{"type":"custom","customType":"offshoot.leaf"}"#;
    let gone = r#"{"type":"custom","customType":"offshoot.leaf","data":{"op":"switch","before":"gone"}}"#;
    for pictures in [
        TREE.to_vec(),
        [TREE, &[&format!("m d {marker}")]].concat(),
        [TREE, &[&format!("m d {gone}")]].concat(),
        // Some programs name the place to which they went.
        [TREE, &["s b bs=tried"]].concat(),
        Vec::new(),
    ] {
        assert_eq!(session(&pictures).plan_undo().unwrap(), None, "{pictures:?}");
    }
}

/// A pick of three entries, of which `written` are in the file.
fn cut_off(written: usize) -> String {
    let marker = r#"{"type":"custom","customType":"offshoot.op","data":{"op":"pick","before":"f","lines":3}}"#;
    let copied = |from: &str, role: &str| {
        format!(r#"{{"type":"message","pickedFrom":"{from}","message":{{"role":"{role}","content":"{from}"}}}}"#)
    };
    let lines = [
        format!("m f {marker}"),
        format!("x m {}", copied("c", "user")),
        format!("y x {}", copied("d", "assistant")),
        r#"z y {"type":"model_change","provider":"p","modelId":"m"}"#.to_owned(),
    ];
    lines.iter().take(written + 1).fold(text(TREE), |text, picture| text + &line(picture, 50) + "\n")
}

#[test]
fn a_session_opens_before_an_operation_that_was_cut_off() {
    for written in 0..3 {
        let open = || Session::from_text(&cut_off(written), offshoot_session::testing::fixed_options()).unwrap();
        let session = open();
        let told: Vec<_> = session.diagnostics().iter().map(|told| (told.code, told.message.clone())).collect();
        let message = format!("a pick was interrupted after {written} of 3 entries; the session opens before it");
        assert_eq!(told, [(Code::UnfinishedOperation, message)]);
        assert_eq!(session.leaf_id().unwrap().as_str(), "f");
        assert_eq!(open_messages(&session), open_messages(&super::common::session(TREE)));

        // Undo makes that last for every program, and redo goes to the rest.
        let mut session = open();
        assert_eq!(undo(&mut session), Some(Operation::Pick));
        assert_eq!(session.tree().last(), session.leaf());
        assert_eq!(undo(&mut session), Some(Operation::Undo));
        let rest = open_messages(&session);
        assert_eq!(rest.len(), open_messages(&super::common::session(TREE)).len() + written.min(2));

        // A switch to the rest lasts, too.
        let mut session = open();
        session.switch(session.tree().last().unwrap()).unwrap();
        assert_eq!(session.tree().last(), session.leaf());
        assert_eq!(open_messages(&session), rest);
    }
    let whole = Session::from_text(&cut_off(3), offshoot_session::testing::fixed_options()).unwrap();
    assert!(whole.diagnostics().is_empty());
    assert_eq!(whole.leaf_id().unwrap().as_str(), "z");
}

#[test]
fn check_reports_an_operation_that_was_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    for (written, expected) in [(1, vec![Code::UnfinishedOperation]), (3, Vec::new())] {
        std::fs::write(&path, cut_off(written)).unwrap();
        let told = check(&FileMedium::open(&path).unwrap()).unwrap();
        assert_eq!(told.iter().map(|told| told.code).collect::<Vec<_>>(), expected, "{told:?}");
    }
}

/// Another program may continue below the rest. Its work counts.
#[test]
fn a_rest_that_was_continued_is_not_left_out() {
    let continued = cut_off(1) + &line("g x U", 59) + "\n";
    let session = Session::from_text(&continued, offshoot_session::testing::fixed_options()).unwrap();
    assert_eq!(session.leaf_id().unwrap().as_str(), "g");
    assert!(session.diagnostics().is_empty());
}

#[test]
fn a_fork_has_nothing_to_undo() {
    let mut session = session(TREE);
    switch(&mut session, "d");
    let fork = offshoot_session::session::NewFork {
        part: offshoot_session::session::SessionPart::Path(session.leaf().unwrap()),
        ..Default::default()
    };
    session.become_fork(&fork, |_, _| unreachable!()).unwrap();
    assert_eq!(session.plan_undo().unwrap(), None);
}

/// A label as the snapshot's last entry is not in the fork; what came after it still follows the summary.
#[test]
fn a_fork_of_a_snapshot_s_compaction_keeps_the_same_context() {
    let compaction = |preserved: &str| {
        format!(
            r#"k d {{"type":"compaction","summary":"S","firstKeptEntryId":"","tokensBefore":1,"providerReplayThroughEntryId":"l","preserveData":{preserved}}}"#
        )
    };
    for preserved in [
        r#"{"anthropicCompaction":{"provider":"anthropic","content":"S"}}"#,
        r#"{"openaiRemoteCompaction":{"provider":"openai","replacementHistory":[]}}"#,
    ] {
        let omp = r#"x - {"type":"title_change","title":"T"}"#;
        let mut session =
            session(&[omp, "a x U", "b a A", "l b l=a=name", "c l U", "d c A", &compaction(preserved), "f k U"]);
        let expected = ["compactionSummary(S)", "c", "d", "f"];
        assert_eq!(open_messages(&session), expected);
        let part = offshoot_session::session::SessionPart::Path(session.leaf().unwrap());
        let fork = offshoot_session::session::NewFork { part, ..Default::default() };
        session.become_fork(&fork, |_, _| unreachable!()).unwrap();
        assert_eq!(open_messages(&session), expected);
    }
}
