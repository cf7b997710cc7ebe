//! Tests of the selector: screens, keys, and answers in any order.

mod bounds;
mod deeds;
mod lists;
mod searching;

use std::path::PathBuf;

use offshoot_session::clock::Millis;
use offshoot_session::list::SessionInfo;
use offshoot_workspace::SessionProgram;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;

use super::{Answer, Listed, Preview, Request, Scope, Sessions, SessionsOutcome, Setting, Speaker, Utterance};
use crate::testing::{SIZES, a_megabyte, assert_inside, hostile, hostile_texts, screen_of, text_of};
use crate::theme::{Theme, Token};

const NOW: Millis = 1_765_233_665_292;
const MINUTE: Millis = 60_000;

/// A session: its id, the minutes since its last use, and its name or first message.
struct Told {
    id: &'static str,
    ago: Millis,
    name: Option<&'static str>,
    first: &'static str,
    parent: Option<&'static str>,
    origin: SessionProgram,
}

const WORLD: [Told; 7] = [
    Told {
        id: "01a",
        ago: 3,
        name: Some("the parser"),
        first: "write a parser",
        parent: None,
        origin: SessionProgram::Offshoot,
    },
    Told {
        id: "02b",
        ago: 1,
        name: None,
        first: "the same with\ta table",
        parent: Some("01a"),
        origin: SessionProgram::Offshoot,
    },
    Told {
        id: "03c",
        ago: 90,
        name: None,
        first: "the same by hand",
        parent: Some("01a"),
        origin: SessionProgram::Offshoot,
    },
    Told {
        id: "04d",
        ago: 2000,
        name: Some("slow tests"),
        first: "why slow?",
        parent: Some("03c"),
        origin: SessionProgram::Pi,
    },
    Told { id: "05e", ago: 60, name: None, first: "review 日本語 docs", parent: None, origin: SessionProgram::Omp },
    Told {
        id: "06f",
        ago: 20_000,
        name: None,
        first: "a long question that goes on and on and on, and then some more of it so that it is cut",
        parent: None,
        origin: SessionProgram::Pi,
    },
    Told {
        id: "07g",
        ago: 900_000,
        name: None,
        first: "(no messages)",
        parent: Some("gone"),
        origin: SessionProgram::Offshoot,
    },
];

fn file(id: &str) -> PathBuf {
    PathBuf::from(format!("/home/u/sessions/{id}.jsonl"))
}

fn listed(told: &Told) -> Listed {
    let info = SessionInfo {
        path: file(told.id),
        id: told.id.to_owned(),
        cwd: "/home/u/proj".to_owned(),
        name: told.name.map(str::to_owned),
        parent_session_path: None,
        created: None,
        modified: Some(NOW - told.ago * MINUTE),
        message_count: 12,
        tokens: 0,
        cost: 0.0,
        first_message: told.first.to_owned(),
        all_messages_text: None,
    };
    Listed { real: file(told.id), info, parent: told.parent.map(file), origin: told.origin }
}

fn empty() -> Sessions {
    let setting = Setting { now: NOW, home: Some("/home/u".into()), current: Some(file("02b")), ..Setting::default() };
    Sessions::new(setting)
}

fn filled() -> Sessions {
    let mut sessions = empty();
    sessions.take(Answer::Listed(Scope::Folder, WORLD.iter().map(listed).collect()));
    sessions.take(Answer::Done(Scope::Folder, Ok(0)));
    sessions
}

fn said(by: Speaker, text: &str) -> Utterance {
    Utterance { by, text: text.to_owned() }
}

fn preview() -> Preview {
    Preview {
        first: vec![said(
            Speaker::Person,
            "write a parser for the grammar in docs/grammar.md, by hand, without a generator",
        )],
        last: vec![
            said(Speaker::Person, "and the errors?"),
            said(Speaker::Model, "Each error names its line now.\nThe tests are green."),
        ],
        trouble: None,
    }
}

fn press(sessions: &mut Sessions, code: KeyCode) -> SessionsOutcome {
    sessions.key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn ctrl(sessions: &mut Sessions, letter: char) -> SessionsOutcome {
    sessions.key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL))
}

fn write(sessions: &mut Sessions, text: &str) {
    for letter in text.chars() {
        press(sessions, KeyCode::Char(letter));
    }
}

/// The requested actions, without the reads.
fn deeds(sessions: &mut Sessions) -> Vec<Request> {
    let is_deed = |request: &Request| {
        matches!(request, Request::Rename(..) | Request::Trash(_) | Request::Restore(_) | Request::StopSearch)
    };
    sessions.requests().into_iter().filter(is_deed).collect()
}

fn drawn(sessions: &Sessions, theme: &Theme, columns: u16, rows: u16) -> Buffer {
    let mut buf = Buffer::empty(Rect::new(0, 0, columns, rows));
    sessions.view(theme, buf.area, &mut buf);
    buf
}

/// The screen as text, the same in every theme.
fn screen(sessions: &Sessions, columns: u16, rows: u16) -> String {
    screen_of(columns, rows, |theme, area, buf| sessions.view(theme, area, buf))
}

fn wide(sessions: &Sessions) -> String {
    screen(sessions, 80, 24)
}

fn narrow(sessions: &Sessions) -> String {
    screen(sessions, 40, 12)
}

/// The rows above the list, on a wide and on a narrow screen.
fn above(sessions: &Sessions) -> String {
    let rows = |screen: String, count| screen.lines().take(count).map(str::to_owned).collect::<Vec<_>>();
    [rows(wide(sessions), 4), rows(narrow(sessions), 3)].concat().join("\n")
}

/// The list on a wide screen.
fn list(sessions: &Sessions) -> String {
    let screen = wide(sessions);
    let rows = screen.lines().skip(5).take_while(|row| !row.trim().is_empty());
    rows.collect::<Vec<_>>().join("\n")
}
