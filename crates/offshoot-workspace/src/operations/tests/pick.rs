//! `pick`.

use super::{Folder, done, json, line, said, text};
use crate::{ArgValue, Outcome};

#[test]
fn a_dry_pick_shows_what_a_pick_writes() {
    let folder = Folder::with_two_branches();
    let before = folder.text();
    let planned = done(folder.run(("pick", true), &[("selection", text("answer0001"))]));
    assert_eq!(folder.text(), before);
    assert!(json(planned.as_ref()).contains(r#""operationId":null,"entryIds":null,"forecast":{"#));
    let words = said(planned.as_ref());
    assert!(words.starts_with("pick | answer0001 | assistant | "), "{words}");
    assert!(words.contains("would pick 1 entry below answer0002  the second answer\n"), "{words}");

    let picked = done(folder.run(("pick", false), &[("selection", text("answer0001"))]));
    let leaf = folder.session().leaf_id().unwrap().to_string();
    assert!(json(picked.as_ref()).ends_with(&format!(r#""entryIds":["{leaf}"]}}"#)), "{}", json(picked.as_ref()));
    let words = said(picked.as_ref());
    assert!(words.contains("\npicked 1 entry below answer0002  the second answer\n"), "{words}");
    assert!(words.ends_with("\nundo takes it back"), "{words}");
}

#[test]
fn what_is_here_is_not_picked_and_the_output_says_it_all_the_same() {
    let folder = Folder::with_two_branches();
    let before = folder.text();
    let Outcome::Nothing { why, output } = folder.run(("pick", false), &[("selection", text("question00"))]).unwrap()
    else {
        panic!("something was picked")
    };
    assert_eq!(why.plain(), "all of it is here already");
    assert!(json(output.as_ref()).contains(r#""alreadyHere":[{"entryId":"question00","#));
    assert_eq!(folder.text(), before);
}

#[test]
fn a_pick_beyond_the_window_needs_force() {
    let folder = Folder { window: 3, ..Folder::with_two_branches() };
    let given = ("selection", text("answer0001"));
    let refused = folder.run(("pick", false), std::slice::from_ref(&given)).err().unwrap();
    assert_eq!(refused.kind(), crate::FailureKind::Conflict);
    done(folder.run(("pick", false), &[given, ("force", ArgValue::Flag)]));
}

#[test]
fn an_old_session_is_upgraded_and_what_was_named_is_picked() {
    let header = r#"{"type":"session","version":2,"id":"0198c2aa","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
    let folder = Folder::with(&[
        header.to_owned(),
        line("question00", None, "user", "the question"),
        line("answer0001", Some("question00"), "assistant", "the first answer"),
        line("answer0002", Some("question00"), "assistant", "the second answer"),
    ]);
    let given = [("selection", text("answer0001")), ("onto", text("question00"))];
    let words = said(done(folder.run(("pick", false), &given)).as_ref());
    assert!(words.contains("picked 1 entry below ques  the question"), "{words}");
    assert!(folder.text().contains(r#""version":3"#));
    assert!(folder.text().matches("the first answer").count() == 2, "{}", folder.text());
}
