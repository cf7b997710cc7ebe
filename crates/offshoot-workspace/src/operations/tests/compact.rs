//! `compact`: how often a model is asked, what is written of its answer, and what helps when there is nothing to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::writer::Writer;
use super::{Folder, Window, done, json, line, said};
use crate::{ArgValue, Given, Note, Outcome, Output, Place, Result, find_operation};

/// A session of this version with two turns.
fn talk(version: u32) -> Folder {
    let time = "2026-01-01T00:00:00.000Z";
    let header = format!(r#"{{"type":"session","version":{version},"id":"0198c2aa","timestamp":"{time}","cwd":"/w"}}"#);
    Folder::with(&[
        header,
        line("question00", None, "user", &"the question ".repeat(20)),
        line("answer0001", Some("question00"), "assistant", &"the answer ".repeat(20)),
        line("question02", Some("answer0001"), "user", "another question"),
        line("answer0003", Some("question02"), "assistant", "another answer"),
    ])
}

struct Compacting {
    folder: Folder,
    asked: Arc<AtomicUsize>,
    place: Place,
}

impl Compacting {
    fn of(folder: Folder) -> Self {
        let asked = Arc::<AtomicUsize>::default();
        let writer = Writer { window: Window(folder.window), asked: asked.clone(), text: "" };
        let place = folder.place().with_next_request(Arc::new(writer));
        Self { folder, asked, place }
    }

    fn run(&self, is_dry: bool, keep: u64) -> Result<Outcome<dyn Output>> {
        let mut given = Given::default();
        given.put_text("session", self.folder.file().to_str().unwrap());
        given.put_text("instructions", "Mind the tests.");
        given.put("keep_recent_tokens", ArgValue::Number(keep));
        find_operation("compact").unwrap().run(given, &self.place, is_dry)
    }

    fn times(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

#[test]
fn a_dry_run_asks_nobody_and_the_summary_is_written_below_the_last_entry() {
    let compacting = Compacting::of(talk(3));
    let before = compacting.folder.text();
    let planned = said(done(compacting.run(true, 5)).as_ref());
    assert!(
        planned.contains("summarised | question00 | user") && planned.contains("2 messages summarised; 2 kept"),
        "{planned}"
    );
    assert_eq!((compacting.times(), compacting.folder.text()), (0, before));
    let done = done(compacting.run(false, 5));
    assert!(json(done.as_ref()).contains(r#""summary":"Of 2 messages. Mind the tests.""#), "{}", json(done.as_ref()));
    let said = said(done.as_ref());
    assert!(said.starts_with("compacted in ") && said.ends_with("entry shows the summary"), "{said}");
    let last = compacting.folder.text().lines().last().unwrap().to_owned();
    assert!(last.contains(r#""type":"compaction""#) && last.contains(r#""parentId":"answer0003""#), "{last}");
}

#[test]
fn a_session_that_is_upgraded_first_costs_one_summary() {
    let compacting = Compacting::of(talk(2));
    done(compacting.run(false, 5));
    assert_eq!(compacting.times(), 1);
    assert!(compacting.folder.text().contains("Of 2 messages."));
}

#[test]
fn what_is_recent_is_kept_and_what_helps_is_told() {
    let compacting = Compacting::of(talk(3));
    let Ok(Outcome::Nothing { why, output }) = compacting.run(false, 20_000) else { panic!("it was compacted") };
    assert_eq!(
        (why.plain().as_str(), json(output.as_ref()).as_str()),
        ("everything is recent enough to be kept", "null")
    );
    let helps = Note::Helps("--keep-recent-tokens N keeps less than 20000 tokens".to_owned());
    assert!(compacting.place.take_notes().contains(&helps));
    assert_eq!(compacting.times(), 0);
}
