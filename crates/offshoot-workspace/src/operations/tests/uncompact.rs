//! `uncompact`.

use super::{Folder, done, json, line, said};
use crate::{ArgValue, Failure, FailureKind, Outcome};

/// `answer0001` was said after a compaction of `question00`.
fn compacted() -> Folder {
    let header = r#"{"type":"session","version":3,"id":"0198c2aa","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
    let compaction = r#"{"type":"compaction","id":"compact001","parentId":"question00","timestamp":"2026-01-01T00:00:00.000Z","summary":"short","firstKeptEntryId":"question00","tokensBefore":9}"#;
    Folder::with(&[
        header.to_owned(),
        line("question00", None, "user", "the question"),
        compaction.to_owned(),
        line("answer0001", Some("compact001"), "assistant", "the answer"),
    ])
}

#[test]
fn a_compaction_is_taken_back_and_a_dry_run_shows_it() {
    let folder = compacted();
    let before = folder.text();
    let planned = done(folder.run(("uncompact", true), &[]));
    assert_eq!(folder.text(), before);
    assert!(json(planned.as_ref()).contains(r#""operationId":null,"entryIds":null,"forecast":{"#));
    let words = said(planned.as_ref());
    assert!(words.starts_with("would continue before the compaction, after ques"), "{words}");

    let taken = said(done(folder.run(("uncompact", false), &[])).as_ref());
    assert!(
        taken.starts_with("continued before the compaction, after ques  the question\n1 entry copied, about "),
        "{taken}"
    );
    assert!(taken.ends_with("\nundo goes back to the compacted branch"), "{taken}");
    assert_eq!(folder.text().matches("the answer").count(), 2);
    // The branch has no compaction any more.
    let Ok(Outcome::Nothing { why, output }) = folder.run(("uncompact", false), &[]) else { panic!("taken twice") };
    assert_eq!(
        (why.plain().as_str(), json(output.as_ref()).as_str()),
        ("the current branch has no compaction", "null")
    );
}

#[test]
fn what_does_not_fit_the_window_needs_force() {
    let folder = Folder { window: 3, ..compacted() };
    let before = folder.text();
    let refused: Failure = folder.run(("uncompact", false), &[]).err().unwrap();
    assert_eq!((refused.kind(), folder.text()), (FailureKind::Conflict, before));
    done(folder.run(("uncompact", false), &[("force", ArgValue::Flag)]));
}
