//! `merge`: what a model is asked, when, and what is written of its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use offshoot_agent::operate::{AfterPlan, PlanAnswer};
use offshoot_session::summariser::Drafted;

use super::writer::Writer;
use super::{Folder, Window, done, json, line, said, text};
use crate::{ArgValue, FailureKind, Given, Outcome, Output, Place, Result, find_operation};

struct Merging {
    folder: Folder,
    asked: Arc<AtomicUsize>,
    text: &'static str,
}

impl Merging {
    fn of(folder: Folder) -> Self {
        Self { folder, asked: Arc::default(), text: "Written:" }
    }

    fn place(&self) -> Place {
        let window = Window(self.folder.window);
        let writer = Writer { window, asked: self.asked.clone(), text: self.text };
        self.folder.place().with_next_request(Arc::new(writer))
    }

    fn run(&self, is_dry: bool, given: &[(&'static str, ArgValue)]) -> Result<Outcome<dyn Output>> {
        let mut all = Given::default();
        all.put_text("session", self.folder.file().to_str().unwrap());
        all.put_text("source", "answer0001");
        given.iter().for_each(|(name, value)| all.put(name, value.clone()));
        find_operation("merge").unwrap().run(all, &self.place(), is_dry)
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

#[test]
fn a_model_writes_the_summary_of_a_merge_and_a_dry_run_asks_none() {
    let merging = Merging::of(Folder::with_two_branches());
    let before = merging.folder.text();
    let planned = done(merging.run(true, &[]));
    assert_eq!((merging.asked(), merging.folder.text()), (0, before));
    assert!(json(planned.as_ref()).contains(r#""id":null,"summary":null,"forecast":{"#));
    assert!(json(planned.as_ref()).ends_with(r#""summaryCost":0.5}"#), "{}", json(planned.as_ref()));
    assert!(said(planned.as_ref()).starts_with("would merge 1 entry, about "), "{}", said(planned.as_ref()));

    let merged = done(merging.run(false, &[("instructions", text("mind the tests"))]));
    assert_eq!(merging.asked(), 1);
    let leaf = merging.folder.session().leaf_id().unwrap().to_string();
    let words = said(merged.as_ref());
    let first = format!("merged 1 entry as a summary in {leaf}\nafter ques  the question\n");
    assert!(words.starts_with(&first) && words.ends_with("undo takes it back"), "{words}");
    let summary = "Written: [Assistant]: the first answer mind the tests";
    assert!(json(merged.as_ref()).contains(&format!(r#""id":"{leaf}","summary":"{summary}""#)));
    assert!(merging.folder.text().contains(summary));

    let Ok(Outcome::Nothing { why, .. }) = merging.run(false, &[]) else { panic!("merged twice") };
    assert_eq!((why.plain().as_str(), merging.asked()), ("nothing new on that branch", 1));
}

#[test]
fn words_of_the_user_and_copies_need_no_model() {
    let own = Merging::of(Folder::with_two_branches());
    done(own.run(false, &[("summary", text("it was a dead end"))]));
    assert!(own.folder.text().contains("it was a dead end"));
    let copies = Merging::of(Folder::with_two_branches());
    let words = said(done(copies.run(false, &[("entries", ArgValue::Flag)])).as_ref());
    assert!(words.starts_with("copied 1 entry, about "), "{words}");
    assert_eq!((own.asked(), copies.asked(), copies.folder.text().matches("the first answer").count()), (0, 0, 2));
    let empty = own.run(false, &[("summary", text(""))]).err().unwrap();
    assert_eq!(empty.to_string(), "the argument \"summary\" must be a text that is not empty");
}

/// The summary is measured before an old session is upgraded: a refusal leaves every byte as it was.
#[test]
fn a_summary_beyond_the_window_changes_nothing_not_even_an_old_session() {
    let header = r#"{"type":"session","version":2,"id":"0198c2aa","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
    let lines = [
        header.to_owned(),
        line("question00", None, "user", "the question"),
        line("answer0001", Some("question00"), "assistant", "the first answer"),
        line("answer0002", Some("question00"), "assistant", "the second answer"),
    ];
    let long = "many words and more of them, far too many for the window of this model, whose window is small";
    let merging = Merging { text: long, ..Merging::of(Folder { window: 20, ..Folder::with(&lines) }) };
    let before = merging.folder.text();
    let refused = merging.run(false, &[]).err().unwrap();
    assert_eq!((refused.kind(), merging.asked(), merging.folder.text()), (FailureKind::Conflict, 1, before));
    done(merging.run(false, &[("force", ArgValue::Flag)]));
    let written = merging.folder.text();
    assert!(written.contains(r#""version":3"#) && written.contains(long), "{written}");
}

/// Whoever holds the session asks its own model, and may be stopped meanwhile.
#[test]
fn a_held_merge_waits_for_its_summary_and_one_that_is_dropped_was_stopped() {
    let merging = Merging::of(Folder::with_two_branches());
    let mut given = Given::default();
    given.put_text("source", "answer0001");
    let begin = || {
        let (held, outcome) = find_operation("merge").unwrap().hold(given.clone(), &merging.place(), false).unwrap();
        (held.into_steps(), outcome)
    };
    let mut session = merging.folder.session();

    let (mut steps, outcome) = begin();
    let AfterPlan::Ask(question) = steps.plan(&session, None) else { panic!("asks no model") };
    assert!((question.branch)(&session, 0).unwrap().has_messages());
    let drafted = Drafted { text: "Held.".to_owned(), details: "{}".to_owned(), usage: None };
    let warning = Some("no key".to_owned());
    assert!(steps.answered(&session, PlanAnswer { drafted: Some(drafted), warning, ..PlanAnswer::default() }));
    steps.write(&mut session);
    assert!(said(done(outcome.outcome()).as_ref()).starts_with("merged 1 entry"));
    assert!(merging.folder.text().contains("Held.") && merging.asked() == 0);

    let (steps, outcome) = begin();
    drop(steps);
    assert_eq!(outcome.outcome().err().unwrap().kind(), FailureKind::Stopped);
}
