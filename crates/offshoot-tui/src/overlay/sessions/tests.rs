//! The selector as a person meets it: screens, keys, and answers that come in any order.

use std::path::PathBuf;

use offshoot_session::clock::Millis;
use offshoot_session::list::SessionInfo;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;

use super::{Answer, Listed, Origin, Outcome, Preview, Request, Said, Scope, Sessions, Setting, Speaker};
use crate::overlay::testing::{assert_inside, hostile, text_of};
use crate::theme::{Theme, Token};

const NOW: Millis = 1_765_233_665_292;
const MINUTE: Millis = 60_000;

/// A session: id, minutes since it was used, and its name or first words.
struct Told {
    id: &'static str,
    ago: Millis,
    name: Option<&'static str>,
    first: &'static str,
    parent: Option<&'static str>,
    origin: Origin,
}

const WORLD: [Told; 7] = [
    Told { id: "01a", ago: 3, name: Some("the parser"), first: "write a parser", parent: None, origin: Origin::Own },
    Told { id: "02b", ago: 1, name: None, first: "the same with\ta table", parent: Some("01a"), origin: Origin::Own },
    Told { id: "03c", ago: 90, name: None, first: "the same by hand", parent: Some("01a"), origin: Origin::Own },
    Told {
        id: "04d",
        ago: 2000,
        name: Some("slow tests"),
        first: "why slow?",
        parent: Some("03c"),
        origin: Origin::Pi,
    },
    Told { id: "05e", ago: 60, name: None, first: "review 日本語 docs", parent: None, origin: Origin::Omp },
    Told {
        id: "06f",
        ago: 20_000,
        name: None,
        first: "a long question that goes on and on and on, and then some more of it so that it is cut",
        parent: None,
        origin: Origin::Pi,
    },
    Told { id: "07g", ago: 900_000, name: None, first: "(no messages)", parent: Some("gone"), origin: Origin::Own },
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
        first_message: told.first.to_owned(),
        all_messages_text: None,
    };
    Listed { real: file(told.id), info, parent: told.parent.map(file), origin: told.origin }
}

fn empty() -> Sessions {
    let setting = Setting { now: NOW, home: Some("/home/u".into()), current: Some(file("02b")) };
    Sessions::new(setting)
}

fn filled() -> Sessions {
    let mut sessions = empty();
    sessions.take(Answer::Listed(Scope::Folder, WORLD.iter().map(listed).collect()));
    sessions.take(Answer::Done(Scope::Folder, Ok(0)));
    sessions
}

fn said(by: Speaker, text: &str) -> Said {
    Said { by, text: text.to_owned() }
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

fn press(sessions: &mut Sessions, code: KeyCode) -> Outcome {
    sessions.key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn ctrl(sessions: &mut Sessions, letter: char) -> Outcome {
    sessions.key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL))
}

fn write(sessions: &mut Sessions, text: &str) {
    for letter in text.chars() {
        press(sessions, KeyCode::Char(letter));
    }
}

/// What it wants done, and not only read.
fn deeds(sessions: &mut Sessions) -> Vec<Request> {
    let is_deed = |request: &Request| {
        matches!(request, Request::Rename(..) | Request::Trash(_) | Request::Restore(_) | Request::StopSearch)
    };
    sessions.requests().into_iter().filter(is_deed).collect()
}

fn drawn(sessions: &Sessions, theme: &Theme, columns: u16, rows: u16) -> Buffer {
    let area = Rect::new(0, 0, columns, rows);
    let mut buf = Buffer::empty(area);
    sessions.view(theme, area, &mut buf);
    buf
}

/// The words on the screen: the same in both themes.
fn screen(sessions: &Sessions, columns: u16, rows: u16) -> String {
    let dark = text_of(&drawn(sessions, &Theme::dark(), columns, rows));
    assert_eq!(dark, text_of(&drawn(sessions, &Theme::light(), columns, rows)));
    dark
}

fn wide(sessions: &Sessions) -> String {
    screen(sessions, 80, 24)
}

fn narrow(sessions: &Sessions) -> String {
    screen(sessions, 40, 12)
}

#[test]
fn families_stand_together_the_busiest_first() {
    let mut sessions = filled();
    sessions.requests();
    sessions.take(Answer::Preview(file("01a"), preview()));
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    Enter open · Tab scope · re: pattern · "…" phrase · Esc leave
    Ctrl+S sort · Ctrl+N named · Ctrl+P path · Ctrl+R rename · Ctrl+D trash
    >

    › the parser                                                               12 3m
         ├─ the same with a table                                              12 1m
         └─ the same by hand                                                   12 1h
            └─ slow tests                                                   pi 12 1d
      review 日本語 docs                                                   omp 12 1h
      a long question that goes on and on and on, and then some more of i…  pi 12 1w
      (no messages)                                                            12 1y



      (1/7)
    ── 3m · 12 messages · ~/proj · 01a ─────────────────────────────────────────────
    › write a parser for the grammar in docs/grammar.md, by hand, without a
      generator
      ⋯
    › and the errors?
      Each error names its line now. The tests are green.
    "#);
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume   ◉ folder ○ all · all · threaded
    Tab all · ^S sort · ^N named · ^R name …
    >
    › the parser                       12 3m
         ├─ the same with a table      12 1m
         └─ the same by hand           12 1h
            └─ slow tests           pi 12 1d
      review 日本語 docs           omp 12 1h
      (1/7)
    ── 3m · 12 messages · ~/proj · 01a ─────
    › write a parser for the grammar in doc…
      Each error names its line now. The te…
    ");
}

#[test]
fn other_orders_and_paths() {
    let mut sessions = filled();
    press(&mut sessions, KeyCode::Down);
    ctrl(&mut sessions, 's');
    ctrl(&mut sessions, 'p');
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session                ◉ current folder | ○ all  Names: all  Sort: recent
    Enter open · Tab scope · re: pattern · "…" phrase · Esc leave
    Ctrl+S sort · Ctrl+N named · Ctrl+P no path · Ctrl+R rename · Ctrl+D trash
    >

    › the same with a table                               ~/sessions/02b.jsonl 12 1m
      the parser                                          ~/sessions/01a.jsonl 12 3m
      review 日本語 docs                              ~/sessions/05e.jsonl omp 12 1h
      the same by hand                                    ~/sessions/03c.jsonl 12 1h
      slow tests                                       ~/sessions/04d.jsonl pi 12 1d
      a long question that goes on and on and on, an…  ~/sessions/06f.jsonl pi 12 1w
      (no messages)                                       ~/sessions/07g.jsonl 12 1y



      (1/7)
    ── 1m · 12 messages · ~/proj · 02b ─────────────────────────────────────────────
    "#);
    ctrl(&mut sessions, 's');
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume  ◉ folder ○ all · all · relevance
    Tab all · ^S sort · ^N named · ^R name …
    >
    › the same …  ~/sessions/02b.jsonl 12 1m
      the parser  ~/sessions/01a.jsonl 12 3m
      review 日…  …sions/05e.jsonl omp 12 1h
      the same …  ~/sessions/03c.jsonl 12 1h
      slow tests  …ssions/04d.jsonl pi 12 1d
      (1/7)
    ── 1m · 12 messages · ~/proj · 02b ─────
    ");
}

#[test]
fn every_folder_s_sessions_show_their_folder() {
    let mut sessions = filled();
    press(&mut sessions, KeyCode::Tab);
    assert!(sessions.requests().contains(&Request::List(Scope::All)));
    sessions.take(Answer::Listed(Scope::All, WORLD.iter().map(listed).collect()));
    sessions.take(Answer::Done(Scope::All, Ok(0)));
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session              ○ current folder | ◉ all  Names: all  Sort: threaded
    Enter open · Tab scope · re: pattern · "…" phrase · Esc leave
    Ctrl+S sort · Ctrl+N named · Ctrl+P path · Ctrl+R rename · Ctrl+D trash
    >

    › the parser                                                        ~/proj 12 3m
         ├─ the same with a table                                       ~/proj 12 1m
         └─ the same by hand                                            ~/proj 12 1h
            └─ slow tests                                            ~/proj pi 12 1d
      review 日本語 docs                                            ~/proj omp 12 1h
      a long question that goes on and on and on, and then some mo…  ~/proj pi 12 1w
      (no messages)                                                     ~/proj 12 1y



      (1/7)
    ── 3m · 12 messages · ~/proj · 01a ─────────────────────────────────────────────
    "#);
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume   ○ folder ◉ all · all · threaded
    Tab all · ^S sort · ^N named · ^R name …
    >
    › the parser                ~/proj 12 3m
         ├─ the same with a t…  ~/proj 12 1m
         └─ the same by hand    ~/proj 12 1h
            └─ slow tests    ~/proj pi 12 1d
      review 日本語 docs    ~/proj omp 12 1h
      (1/7)
    ── 3m · 12 messages · ~/proj · 01a ─────
    ");
    press(&mut sessions, KeyCode::Tab);
    press(&mut sessions, KeyCode::Tab);
    assert!(!sessions.requests().contains(&Request::List(Scope::All)), "it is known already");
}

#[test]
fn only_what_is_named() {
    let mut sessions = filled();
    ctrl(&mut sessions, 'n');
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session            ◉ current folder | ○ all  Names: named  Sort: threaded
    Enter open · Tab scope · re: pattern · "…" phrase · Esc leave
    Ctrl+S sort · Ctrl+N named · Ctrl+P path · Ctrl+R rename · Ctrl+D trash
    >

    › the parser                                                               12 3m
      slow tests                                                            pi 12 1d








      (1/2) of 7
    ── 3m · 12 messages · ~/proj · 01a ─────────────────────────────────────────────
    "#);
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume ◉ folder ○ all · named · threaded
    Tab all · ^S sort · ^N named · ^R name …
    >
    › the parser                       12 3m
      slow tests                    pi 12 1d



      (1/2) of 7
    ── 3m · 12 messages · ~/proj · 01a ─────
    ");
}

#[test]
fn a_search_shows_what_it_knows_and_then_what_was_said() {
    let mut sessions = filled();
    write(&mut sessions, "\"parser\"");
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    Enter open · Tab scope · re: pattern · "…" phrase · Esc leave
    Ctrl+S sort · Ctrl+N named · Ctrl+P path · Ctrl+R rename · Ctrl+D trash
    > "parser"

    › the parser                                                               12 3m









      (1/1) of 7 · 7 still to be searched
    ── 3m · 12 messages · ~/proj · 01a ─────────────────────────────────────────────
    "#);
    insta::assert_snapshot!(narrow(&sessions), @r#"
    Resume   ◉ folder ○ all · all · threaded
    Tab all · ^S sort · ^N named · ^R name …
    > "parser"
    › the parser                       12 3m




      (1/1) of 7 · 7 still to be searched
    ── 3m · 12 messages · ~/proj · 01a ─────
    "#);
    let requests = sessions.requests();
    let Some(Request::Search { search, query, files }) =
        requests.iter().find(|request| matches!(request, Request::Search { .. }))
    else {
        panic!("{requests:?}");
    };
    assert_eq!((query.as_str(), files.len()), ("\"parser\"", WORLD.len()));
    assert_eq!(files.first(), Some(&file("02b")), "the newest is searched first");
    sessions.take(Answer::Judged(search - 1, vec![(file("06f"), Some(0.0))]));
    assert!(!wide(&sessions).contains("a long question"), "an answer to another search");
    sessions.take(Answer::Judged(*search, vec![(file("06f"), Some(2.0)), (file("01a"), Some(3.0))]));
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    Enter open · Tab scope · re: pattern · "…" phrase · Esc leave
    Ctrl+S sort · Ctrl+N named · Ctrl+P path · Ctrl+R rename · Ctrl+D trash
    > "parser"

    › a long question that goes on and on and on, and then some more of i…  pi 12 1w
      the parser                                                               12 3m








      (1/2) of 7 · 5 still to be searched
    ── 1w · 12 messages · of pi · ~/proj · 06f ─────────────────────────────────────
    "#);
    let rest: Vec<_> =
        files.iter().filter(|at| ![file("06f"), file("01a")].contains(at)).map(|at| (at.clone(), None)).collect();
    sessions.take(Answer::Judged(*search, rest));
    insta::assert_snapshot!(narrow(&sessions), @r#"
    Resume   ◉ folder ○ all · all · threaded
    Tab all · ^S sort · ^N named · ^R name …
    > "parser"
    › a long question that goes o…  pi 12 1w
      the parser                       12 3m



      (1/2) of 7
    ── 1w · 12 messages · of pi · ~/proj ·…
    "#);
}

#[test]
fn sessions_that_come_during_a_search_are_searched_too() {
    let mut sessions = empty();
    write(&mut sessions, "tests");
    assert_eq!(sessions.requests(), [Request::List(Scope::Folder)]);
    sessions.take(Answer::Listed(Scope::Folder, WORLD.iter().take(4).map(listed).collect()));
    let files = |sessions: &mut Sessions| {
        sessions.requests().into_iter().find_map(|request| match request {
            Request::Search { files, .. } => Some(files),
            _ => None,
        })
    };
    assert_eq!(files(&mut sessions).map(|files| files.len()), Some(4));
    sessions.take(Answer::Listed(Scope::Folder, WORLD.iter().skip(4).map(listed).collect()));
    assert_eq!(files(&mut sessions).map(|files| files.len()), Some(3));
    assert_eq!(files(&mut sessions), None);
    write(&mut sessions, "x");
    assert_eq!(files(&mut sessions).map(|files| files.len()), Some(7));
}

#[test]
fn a_search_that_is_none_says_why() {
    let mut sessions = filled();
    write(&mut sessions, "re:(");
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume   ◉ folder ○ all · all · threaded
    Tab all · ^S sort · ^N named · ^R name …
    > re:(
      no pattern: unclosed group
    ");
    assert!(!sessions.requests().iter().any(|request| matches!(request, Request::Search { .. })));
    write(&mut sessions, "x)|zzz");
    assert!(wide(&sessions).contains("searching…"), "{}", wide(&sessions));
}

#[test]
fn a_session_is_renamed_in_its_place() {
    let mut sessions = filled();
    press(&mut sessions, KeyCode::Down);
    ctrl(&mut sessions, 'r');
    write(&mut sessions, "the table");
    insta::assert_snapshot!(wide(&sessions), @"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    Enter saves the name · Esc leaves it

    Name: the table

      the parser                                                               12 3m
    ›    ├─ the same with a table                                              12 1m
         └─ the same by hand                                                   12 1h
            └─ slow tests                                                   pi 12 1d
      review 日本語 docs                                                   omp 12 1h
      a long question that goes on and on and on, and then some more of i…  pi 12 1w
      (no messages)                                                            12 1y



      (2/7)
    ── 1m · 12 messages · ~/proj · 02b ─────────────────────────────────────────────
    ");
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume   ◉ folder ○ all · all · threaded
    Enter saves the name · Esc leaves it
    Name: the table
      the parser                       12 3m
    ›    ├─ the same with a table      12 1m
         └─ the same by hand           12 1h
            └─ slow tests           pi 12 1d
      review 日本語 docs           omp 12 1h
      (2/7)
    ── 1m · 12 messages · ~/proj · 02b ─────
    ");
    assert_eq!(press(&mut sessions, KeyCode::Enter), Outcome::Open);
    assert_eq!(deeds(&mut sessions), [Request::Rename(file("02b"), "the table".to_owned())]);
    sessions.take(Answer::Renamed(file("02b"), Ok("the table".to_owned())));
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume   ◉ folder ○ all · all · threaded
    named the table
    >
      the parser                       12 3m
    ›    ├─ the table                  12 1m
         └─ the same by hand           12 1h
            └─ slow tests           pi 12 1d
      review 日本語 docs           omp 12 1h
      (2/7)
    ── 1m · 12 messages · ~/proj · 02b ─────
    ");
    ctrl(&mut sessions, 'r');
    ctrl(&mut sessions, 'u');
    assert_eq!(press(&mut sessions, KeyCode::Enter), Outcome::Open, "an empty name is none");
    assert_eq!(press(&mut sessions, KeyCode::Esc), Outcome::Open);
    assert_eq!(press(&mut sessions, KeyCode::Esc), Outcome::Cancelled);
    sessions.take(Answer::Renamed(file("02b"), Err("write: no space left".to_owned())));
    assert!(wide(&sessions).contains("no space left"));
}

#[test]
fn the_trash_is_asked_for_twice_and_gives_back() {
    let mut sessions = filled();
    ctrl(&mut sessions, 'd');
    insta::assert_snapshot!(wide(&sessions), @"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    Into the trash? Enter yes · Esc no

    >

    › the parser                                                               12 3m
         ├─ the same with a table                                              12 1m
         └─ the same by hand                                                   12 1h
            └─ slow tests                                                   pi 12 1d
      review 日本語 docs                                                   omp 12 1h
      a long question that goes on and on and on, and then some more of i…  pi 12 1w
      (no messages)                                                            12 1y



      (1/7)
    ── 3m · 12 messages · ~/proj · 01a ─────────────────────────────────────────────
    ");
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume   ◉ folder ○ all · all · threaded
    Into the trash? Enter yes · Esc no
    >
    › the parser                       12 3m
         ├─ the same with a table      12 1m
         └─ the same by hand           12 1h
            └─ slow tests           pi 12 1d
      review 日本語 docs           omp 12 1h
      (1/7)
    ── 3m · 12 messages · ~/proj · 01a ─────
    ");
    write(&mut sessions, "x");
    assert_eq!(press(&mut sessions, KeyCode::Esc), Outcome::Open);
    sessions.key(KeyEvent::new(KeyCode::Backspace, KeyModifiers::CONTROL));
    assert_eq!(press(&mut sessions, KeyCode::Enter), Outcome::Open);
    assert_eq!(deeds(&mut sessions), [Request::Trash(file("01a"))]);
    assert!(wide(&sessions).contains("the parser"), "it is there until it is gone");
    sessions.take(Answer::Trashed(file("01a"), Ok(())));
    insta::assert_snapshot!(wide(&sessions), @"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    in the trash (Ctrl+Y brings it back): the parser

    >

    › the same with a table                                                    12 1m
      review 日本語 docs                                                   omp 12 1h
      the same by hand                                                         12 1h
         └─ slow tests                                                      pi 12 1d
      a long question that goes on and on and on, and then some more of i…  pi 12 1w
      (no messages)                                                            12 1y




      (1/6)
    ── 1m · 12 messages · ~/proj · 02b ─────────────────────────────────────────────
    ");
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume   ◉ folder ○ all · all · threaded
    in the trash (Ctrl+Y undoes): the parser
    >
    › the same with a table            12 1m
      review 日本語 docs           omp 12 1h
      the same by hand                 12 1h
         └─ slow tests              pi 12 1d
      a long question that goes o…  pi 12 1w
      (1/6)
    ── 1m · 12 messages · ~/proj · 02b ─────
    ");
    ctrl(&mut sessions, 'y');
    assert_eq!(deeds(&mut sessions), [Request::Restore(file("01a"))]);
    sessions.take(Answer::Restored(file("01a"), Ok(())));
    insta::assert_snapshot!(wide(&sessions), @"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    brought back: the parser

    >

    › the parser                                                               12 3m
         ├─ the same with a table                                              12 1m
         └─ the same by hand                                                   12 1h
            └─ slow tests                                                   pi 12 1d
      review 日本語 docs                                                   omp 12 1h
      a long question that goes on and on and on, and then some more of i…  pi 12 1w
      (no messages)                                                            12 1y



      (1/7)
    ── 3m · 12 messages · ~/proj · 01a ─────────────────────────────────────────────
    ");
    ctrl(&mut sessions, 'y');
    assert!(deeds(&mut sessions).is_empty(), "nothing is left to bring back");
}

#[test]
fn the_open_session_stays() {
    let mut sessions = filled();
    press(&mut sessions, KeyCode::Down);
    ctrl(&mut sessions, 'd');
    assert!(wide(&sessions).contains("cannot go to the trash"));
    assert_eq!(press(&mut sessions, KeyCode::Enter), Outcome::Chosen(file("02b")), "nothing was begun");
    let mut sessions = filled();
    write(&mut sessions, "a");
    sessions.key(KeyEvent::new(KeyCode::Backspace, KeyModifiers::CONTROL));
    assert_eq!(
        press(&mut sessions, KeyCode::Enter),
        Outcome::Chosen(file("01a")),
        "with a search the key deletes a word"
    );
}

#[test]
fn nothing_is_there() {
    let mut sessions = empty();
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume        reading 0 · all · threaded
    Tab all · ^S sort · ^N named · ^R name …
    >
      reading the sessions…
    ");
    sessions.take(Answer::Done(Scope::Folder, Ok(0)));
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    Enter open · Tab scope · re: pattern · "…" phrase · Esc leave
    Ctrl+S sort · Ctrl+N named · Ctrl+P path · Ctrl+R rename · Ctrl+D trash
    >

      no sessions of this folder yet · Tab shows every folder's
    "#);
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume   ◉ folder ○ all · all · threaded
    Tab all · ^S sort · ^N named · ^R name …
    >
      no sessions of this folder yet · Tab …
    ");
    ctrl(&mut sessions, 'n');
    assert!(wide(&sessions).contains("none is named here"));
    ctrl(&mut sessions, 'n');
    sessions.take(Answer::Done(Scope::Folder, Ok(2)));
    assert!(wide(&sessions).contains("2 files cannot be read: `offshoot doctor` says why"), "{}", wide(&sessions));
    sessions.take(Answer::Done(Scope::Folder, Err("read folder /s: denied".to_owned())));
    assert!(wide(&sessions).contains("the list cannot be read: read folder /s: denied"));
    for key in [KeyCode::Down, KeyCode::PageUp, KeyCode::End, KeyCode::Enter] {
        assert_eq!(press(&mut sessions, key), Outcome::Open);
    }
    ctrl(&mut sessions, 'd');
    ctrl(&mut sessions, 'r');
    assert_eq!(press(&mut sessions, KeyCode::Esc), Outcome::Cancelled);
}

#[test]
fn the_chosen_session_stays_chosen_while_others_come_in() {
    let mut sessions = empty();
    sessions.take(Answer::Progress(Scope::Folder, 3, Some(7)));
    sessions.take(Answer::Listed(Scope::Folder, WORLD.iter().skip(4).map(listed).collect()));
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session                           reading 3/7  Names: all  Sort: threaded
    Enter open · Tab scope · re: pattern · "…" phrase · Esc leave
    Ctrl+S sort · Ctrl+N named · Ctrl+P path · Ctrl+R rename · Ctrl+D trash
    >

    › review 日本語 docs                                                   omp 12 1h
      a long question that goes on and on and on, and then some more of i…  pi 12 1w
      (no messages)                                                            12 1y







      (1/3)
    ── 1h · 12 messages · of omp · ~/proj · 05e ────────────────────────────────────
    "#);
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume      reading 3/7 · all · threaded
    Tab all · ^S sort · ^N named · ^R name …
    >
    › review 日本語 docs           omp 12 1h
      a long question that goes o…  pi 12 1w
      (no messages)                    12 1y


      (1/3)
    ── 1h · 12 messages · of omp · ~/proj …
    ");
    press(&mut sessions, KeyCode::Down);
    sessions.take(Answer::Listed(Scope::Folder, WORLD.iter().take(4).map(listed).collect()));
    assert_eq!(press(&mut sessions, KeyCode::Enter), Outcome::Chosen(file("06f")));
    ctrl(&mut sessions, 's');
    assert_eq!(press(&mut sessions, KeyCode::Enter), Outcome::Chosen(file("06f")));
}

#[test]
fn previews_are_asked_for_once_and_late_ones_dropped() {
    let mut sessions = filled();
    let asked = |sessions: &mut Sessions| {
        let mut requests = sessions.requests();
        requests.retain(|request| matches!(request, Request::Preview(_)));
        requests
    };
    assert_eq!(asked(&mut sessions), [Request::Preview(file("01a"))]);
    assert!(asked(&mut sessions).is_empty());
    press(&mut sessions, KeyCode::Down);
    press(&mut sessions, KeyCode::Down);
    assert_eq!(asked(&mut sessions), [Request::Preview(file("03c"))], "what is passed over is not asked for");
    sessions.take(Answer::Preview(file("01a"), preview()));
    assert!(!wide(&sessions).contains("tests are green"));
    sessions.take(Answer::Preview(file("03c"), preview()));
    assert!(wide(&sessions).contains("tests are green"));
    sessions
        .take(Answer::Preview(file("03c"), Preview { trouble: Some("open: gone".to_owned()), ..Preview::default() }));
    assert!(wide(&sessions).contains("open: gone"));
}

#[test]
fn pages_and_ends() {
    let mut sessions = empty();
    let many: Vec<Listed> = (0..95)
        .map(|at| {
            let mut one = listed(&WORLD[4]);
            one.info.path = file(&format!("n{at:03}"));
            one.real = one.info.path.clone();
            one.info.modified = Some(NOW - at * MINUTE);
            one
        })
        .collect();
    sessions.take(Answer::Listed(Scope::Folder, many));
    let mut at = |code| {
        press(&mut sessions, code);
        match press(&mut sessions, KeyCode::Enter) {
            Outcome::Chosen(file) => file.file_stem().unwrap().to_string_lossy().into_owned(),
            other => panic!("{other:?}"),
        }
    };
    let keys =
        [KeyCode::PageDown, KeyCode::Down, KeyCode::End, KeyCode::Down, KeyCode::PageUp, KeyCode::Home, KeyCode::Up];
    assert_eq!(keys.map(&mut at), ["n010", "n011", "n094", "n094", "n084", "n000", "n000"]);
}

#[test]
fn deep_families_keep_room_for_words() {
    let mut sessions = empty();
    let deep: Vec<Listed> = (0..200)
        .map(|at: i64| {
            let mut one = listed(&WORLD[0]);
            one.info.path = file(&format!("d{at:03}"));
            one.real = one.info.path.clone();
            one.parent = (at > 0).then(|| file(&format!("d{:03}", at - 1)));
            one
        })
        .collect();
    sessions.take(Answer::Listed(Scope::Folder, deep));
    press(&mut sessions, KeyCode::End);
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume        reading 0 · all · threaded
    Tab all · ^S sort · ^N named · ^R name …
    >
      …          └─ the parser         12 3m
      …          └─ the parser         12 3m
      …          └─ the parser         12 3m
      …          └─ the parser         12 3m
    › …          └─ the parser         12 3m
      (200/200)
    ── 3m · 12 messages · ~/proj · 01a ─────
    ");
}

#[test]
fn colours_say_what_a_session_is() {
    let mut sessions = filled();
    sessions.key(KeyEvent::new(KeyCode::Char('d'), KeyModifiers::CONTROL));
    for theme in [Theme::dark(), Theme::light()] {
        let screen = drawn(&sessions, &theme, 80, 24);
        let colour_of = |word: &str| {
            let text = text_of(&screen);
            let (y, line) = text.lines().enumerate().find(|(_, line)| line.contains(word)).unwrap();
            let x = line.find(word).map(|at| crate::text::width(&line[..at])).unwrap();
            screen[(u16::try_from(x).unwrap(), u16::try_from(y).unwrap())].fg
        };
        let colour = |token| theme.style(token).fg.unwrap_or_default();
        assert_ne!(colour(Token::Error), colour(Token::Warning));
        assert_eq!(colour_of("the parser"), colour(Token::Error), "about to go");
        assert_eq!(colour_of("the same with"), colour(Token::Accent), "open");
        assert_eq!(colour_of("slow tests"), colour(Token::Warning), "named");
        assert_eq!(colour_of("the same by"), colour(Token::Text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn hostile_text_stays_inside(
        texts in proptest::collection::vec(hostile(), 6),
        columns in 0..90_u16,
        rows in 0..26_u16,
        keys in proptest::collection::vec(0..8_usize, 0..6),
    ) {
        let mut sessions = Sessions::new(Setting { now: NOW, home: Some("/home/u".into()), current: None });
        let info = SessionInfo {
            path: PathBuf::from(&texts[0]),
            id: texts[1].clone(),
            cwd: texts[2].clone(),
            name: Some(texts[3].clone()),
            first_message: texts[4].clone(),
            ..listed(&WORLD[0]).info
        };
        let other = Listed { real: "/other".into(), parent: Some("/real".into()), origin: Origin::Pi, info: SessionInfo { name: None, ..info.clone() } };
        sessions.take(Answer::Listed(Scope::Folder, vec![Listed { real: "/real".into(), parent: None, origin: Origin::Omp, info }, other]));
        sessions.requests();
        let spoken = vec![said(Speaker::Person, &texts[5]), said(Speaker::Model, &texts[4])];
        let preview = Preview { first: spoken.clone(), last: spoken, trouble: Some(texts[5].clone()) };
        sessions.take(Answer::Preview(PathBuf::from(&texts[0]), preview));
        for key in keys {
            match key {
                0 => drop(ctrl(&mut sessions, 'p')),
                1 => drop(ctrl(&mut sessions, 'r')),
                2 => drop(ctrl(&mut sessions, 'd')),
                3 => drop(press(&mut sessions, KeyCode::Down)),
                4 => drop(press(&mut sessions, KeyCode::Tab)),
                5 => sessions.paste(&texts[5]),
                6 => sessions.take(Answer::Trashed(PathBuf::from(&texts[0]), Ok(()))),
                _ => sessions.take(Answer::Renamed(PathBuf::from(&texts[0]), Err(texts[4].clone()))),
            }
            assert_inside(columns, rows, |area, buf| sessions.view(&Theme::default(), area, buf));
        }
        assert_inside(columns, rows, |area, buf| sessions.view(&Theme::default(), area, buf));
    }
}

#[test]
fn a_line_of_a_megabyte_costs_what_is_seen_of_it() {
    let mut one = listed(&WORLD[1]);
    one.info.first_message = "\u{1b}[31mx ".repeat(200_000);
    let mut sessions = empty();
    sessions.take(Answer::Listed(Scope::Folder, vec![one]));
    assert!(sessions.chosen().is_some_and(|row| row.first.len() < 1000));
    assert_inside(80, 24, |area, buf| sessions.view(&Theme::default(), area, buf));
}
