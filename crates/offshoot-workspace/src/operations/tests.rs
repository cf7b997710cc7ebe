//! Rows on a session in a temporary folder: what they plan, write, print as JSON and say.

#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "tests")]

mod compact;
mod merge;
mod moves;
mod pick;
mod planned;
mod reads;
mod uncompact;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agent::forecast::RequestForecast;
use offshoot_session::forecast::Forecast;
use offshoot_session::json::quote;
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::tree::NodeIx;
use tempfile::TempDir;

use crate::{
    ArgValue, Given, NextRequest, Outcome, Output, Place, PlaceOptions, Result, ScreenSize, Words, WordsBlock,
    find_operation,
};

/// A model with this window, whose prices nobody knows.
struct Window(u64);

impl NextRequest for Window {
    fn forecast(&self, _: &Session, _: Option<NodeIx>, more_tokens: u64) -> Result<RequestForecast> {
        let tokens = Forecast { context_tokens: more_tokens, ..Forecast::default() };
        Ok(RequestForecast { tokens, cost_now: None, cost_later: None })
    }

    fn window(&self, _: &Session) -> Result<Option<(u64, u64)>> {
        Ok(Some((self.0, 0)))
    }

    fn overhead(&self, _: &Session) -> Result<u64> {
        Ok(0)
    }
}

/// A folder with one session file.
struct Folder {
    folder: TempDir,
    window: u64,
}

/// A line of a message.
fn line(id: &str, parent: Option<&str>, role: &str, text: &str) -> String {
    let parent = parent.map_or("null".to_owned(), quote);
    let content = format!(r#"[{{"type":"text","text":{}}}]"#, quote(text));
    let message = format!(r#"{{"role":"{role}","content":{content},"timestamp":1767225600000}}"#);
    let stamp = "2026-01-01T00:00:00.000Z";
    format!(r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"{stamp}","message":{message}}}"#)
}

impl Folder {
    /// `question00` was answered twice: by `answer0001`, and by `answer0002`, the leaf.
    fn with_two_branches() -> Self {
        let header =
            r#"{"type":"session","version":3,"id":"0198c2aa","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
        Self::with(&[
            header.to_owned(),
            line("question00", None, "user", "the question"),
            line("answer0001", Some("question00"), "assistant", "the first answer"),
            line("answer0002", Some("question00"), "assistant", "the second answer"),
        ])
    }

    fn with(lines: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = Self { folder, window: 1_000_000 };
        std::fs::write(made.file(), lines.join("\n") + "\n").unwrap();
        made
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("s.jsonl")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap()
    }

    fn place(&self) -> Place {
        Place::new(PlaceOptions {
            now: Some(1_767_225_700_000),
            next_request: Arc::new(Window(self.window)),
            ..PlaceOptions::in_folder(self.folder.path())
        })
    }

    fn session(&self) -> Session {
        self.place().open_file(&self.file(), SpillPolicy::Temporary).unwrap()
    }

    /// Runs an operation on the session.
    fn run(&self, (name, is_dry): (&str, bool), given: &[(&'static str, ArgValue)]) -> Result<Outcome<dyn Output>> {
        let mut all = Given::default();
        all.put_text("session", self.file().to_str().unwrap());
        given.iter().for_each(|(name, value)| all.put(name, value.clone()));
        find_operation(name).unwrap().run(all, &self.place(), is_dry)
    }
}

fn text(text: &str) -> ArgValue {
    ArgValue::Text(text.to_owned())
}

fn done(outcome: Result<Outcome<dyn Output>>) -> Box<dyn Output> {
    match outcome.unwrap() {
        Outcome::Done(output) => output,
        Outcome::Nothing { why, .. } => panic!("nothing to do: {}", why.plain()),
    }
}

fn json(output: &dyn Output) -> String {
    let mut out = Vec::new();
    output.json(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The words: lines, the cells of tables, notes and next operations.
fn said(output: &dyn Output) -> String {
    let mut words = Words::default();
    output.words(&mut words);
    let mut lines = Vec::new();
    let mut say = |block: &WordsBlock| {
        match block {
            WordsBlock::Line(line) => lines.push(line.plain()),
            WordsBlock::Table(table) => lines.extend(table.rows.iter().map(|(cells, _)| cells.join(" | "))),
        }
        Ok(())
    };
    words.blocks.iter().try_for_each(&mut say).unwrap();
    if words.is_streamed {
        output.stream(ScreenSize::default(), &mut say).unwrap();
    }
    lines.extend(words.notes.iter().map(|note| format!("{note:?}")));
    lines.extend(words.next.iter().map(|next| format!("{} {}", next.operation, next.says)));
    lines.join("\n")
}
