//! `switch`, `pop` and `navigate`.

use offshoot_agent::operate::{AfterPlan, PlanAnswer, Steps};
use offshoot_session::session::Session;
use offshoot_session::summariser::Drafted;

use super::{Folder, done, json, line, said, text};
use crate::{ArgValue, Given, Note, Outcome, OutcomeWait, Output, Place, Words, find_operation};

/// `question00`, `answer0001`, `question02` and `answer0003`, one below the other.
fn talk() -> Folder {
    let header = r#"{"type":"session","version":3,"id":"0198c2aa","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
    Folder::with(&[
        header.to_owned(),
        line("question00", None, "user", "the question"),
        line("answer0001", Some("question00"), "assistant", "the answer"),
        line("question02", Some("answer0001"), "user", "another question"),
        line("answer0003", Some("question02"), "assistant", "another answer"),
    ])
}

#[test]
fn a_switch_goes_there_and_one_to_here_does_nothing() {
    let folder = talk();
    let before = folder.text();
    let there = [("entry", text("answer0001"))];
    let planned = done(folder.run(("switch", true), &there));
    assert_eq!(folder.text(), before);
    assert!(json(planned.as_ref()).starts_with(r#"{"id":null,"to":"answer0001","left":2,"forecast":{"#));
    assert!(said(planned.as_ref()).starts_with("would go to answ"), "{}", said(planned.as_ref()));
    let went = done(folder.run(("switch", false), &there));
    let leaf = folder.session().leaf_id().unwrap().to_string();
    assert_eq!(json(went.as_ref()), format!(r#"{{"id":"{leaf}","to":"answer0001","left":2}}"#));
    assert_eq!(said(went.as_ref()), "now at answer0001  the answer");
    let Ok(Outcome::Nothing { why, output }) = folder.run(("switch", false), &there) else { panic!("moved twice") };
    assert_eq!(
        (why.plain().as_str(), json(output.as_ref()).as_str()),
        ("the session is at answer0001  the answer", "null")
    );
}

#[test]
fn a_pop_leaves_a_summary_until_nothing_is_left() {
    let folder = talk();
    let words = said(done(folder.run(("pop", false), &[("summary", text("a dead end"))])).as_ref());
    assert!(words.starts_with("back at question02  another question\n1 entry left behind, summarised in "), "{words}");
    assert!(words.ends_with("switch goes back to what was left"), "{words}");
    assert!(folder.text().contains("a dead end"));
    // Without a model the summary is put together by rule.
    let by_rule = done(folder.run(("pop", false), &[]));
    assert!(json(by_rule.as_ref()).contains(r#""to":"question00","left":"#), "{}", json(by_rule.as_ref()));
    let Ok(Outcome::Nothing { output, .. }) = folder.run(("pop", false), &[("entry", text("question00"))]) else {
        panic!("something was left")
    };
    assert_eq!(json(output.as_ref()), "null");
}

fn begin(folder: &Folder, place: &Place, given: &[(&'static str, ArgValue)]) -> (Box<dyn Steps>, OutcomeWait, Session) {
    let mut all = Given::default();
    given.iter().for_each(|(name, value)| all.put(name, value.clone()));
    let (held, outcome) = find_operation("navigate").unwrap().hold(all, place, false).unwrap();
    (held.into_steps(), outcome, folder.session())
}

/// Whoever holds the session asks extensions about every move, and may be told of another label.
#[test]
fn a_move_goes_before_a_message_of_the_user_with_a_summary_and_a_label() {
    let folder = talk();
    let place = folder.place();
    let given = [
        ("entry", text("question02")),
        ("summarize", ArgValue::Flag),
        ("instructions", text("mind the tests")),
        ("label", text("tried")),
    ];
    let (mut steps, outcome, mut session) = begin(&folder, &place, &given);
    let AfterPlan::Ask(question) = steps.plan(&session, None) else { panic!("nobody is asked") };
    assert_eq!(format!("{question:?}").matches("Focus(\"mind the tests\")").count(), 1, "{question:?}");
    let moves = question.moves.unwrap();
    assert_eq!((moves.target.as_str(), moves.label.as_deref()), ("question02", Some("tried")));
    let drafted = Some(Drafted { text: "Left.".to_owned(), details: "{}".to_owned(), usage: None });
    let label = Some("of an extension".to_owned());
    assert!(steps.answered(&session, PlanAnswer { drafted, is_given: true, warning: None, label }));
    steps.write(&mut session);
    let output: Box<dyn Output> = done(outcome.outcome());
    let mut words = Words::default();
    output.words(&mut words);
    assert_eq!((words.to_edit.as_deref(), words.plain().as_str()), (Some("another question"), ""));
    let written = folder.text();
    let last: Vec<&str> = written.lines().rev().take(2).collect();
    assert!(last[1].contains(r#""parentId":"answer0001""#) && last[1].contains(r#""fromHook":true"#), "{written}");
    assert!(last[0].contains("of an extension") && json(output.as_ref()).contains("another question"), "{written}");
    assert!(place.take_notes().iter().all(|note| !matches!(note, Note::Warning(_))));
}

#[test]
fn a_move_behind_a_message_needs_no_summary_and_returns_no_text() {
    let folder = talk();
    let place = folder.place();
    let given = [("entry", text("question02")), ("behind", ArgValue::Flag)];
    let (mut steps, outcome, mut session) = begin(&folder, &place, &given);
    assert!(matches!(steps.plan(&session, None), AfterPlan::Ask(question) if question.summary.is_none()));
    assert!(steps.answered(&session, PlanAnswer::default()));
    steps.write(&mut session);
    assert_eq!(json(done(outcome.outcome()).as_ref()), r#"{"editorText":null,"summaryEntryId":null}"#);
    assert!(folder.text().lines().last().unwrap().contains(r#""parentId":"question02""#));
}

#[test]
fn before_the_first_message_there_is_no_entry() {
    let folder = talk();
    let place = folder.place();
    let (mut steps, outcome, mut session) = begin(&folder, &place, &[("entry", text("question00"))]);
    assert!(matches!(steps.plan(&session, None), AfterPlan::Ask(_)));
    assert!(steps.answered(&session, PlanAnswer::default()));
    steps.write(&mut session);
    assert_eq!(json(done(outcome.outcome()).as_ref()), r#"{"editorText":"the question","summaryEntryId":null}"#);
    assert_eq!(session.leaf(), None);
}
