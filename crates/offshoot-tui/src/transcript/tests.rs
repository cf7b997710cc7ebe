//! Tests of the transcript, with sessions in memory.

use offshoot_session::compose::{NewCompaction, NewEntry};
use offshoot_session::entry::{Entry, Source};
use offshoot_session::error::Result;
use offshoot_session::header::Dialect;
use offshoot_session::json::Json;
use offshoot_session::kind::Kind;
use offshoot_session::session::{NewSession, Options, Session};

use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::text::Line;

use super::*;
use crate::image::CellSize;
use crate::message::PictureSize;
use crate::text;
use crate::theme::Token;

mod agent;
mod bounds;
mod screens;
mod search;

fn session(messages: &[&str]) -> Session {
    let mut session =
        Session::in_memory(&NewSession { cwd: "/work", ..NewSession::default() }, Options::default()).unwrap();
    let entries: Vec<_> = messages.iter().map(|json| entry(json)).collect();
    // A compaction summarises the entries before it in the file.
    let mut rest = entries.as_slice();
    while !rest.is_empty() {
        let next =
            rest.iter().skip(1).position(|entry| entry.kind() == Kind::Compaction).map_or(rest.len(), |at| at + 1);
        let (batch, behind) = rest.split_at(next);
        session.append_all(batch).unwrap();
        rest = behind;
    }
    session
}

fn entry(json: &str) -> NewEntry {
    let json = Json::parse(json).unwrap();
    match json.str("type").as_deref() {
        None => NewEntry::message(json).unwrap(),
        Some("compaction") => {
            let summary = json.str("summary").unwrap();
            let new = NewCompaction { summary: &summary, tokens_before: 48_120, ..NewCompaction::default() };
            NewEntry::compaction(&new, Dialect::Pi)
        }
        Some(_) => NewEntry::from_json(json).unwrap(),
    }
}

fn opened(session: &Session) -> Transcript {
    assert_lengths(session);
    let mut transcript = Transcript::new(Habits::default());
    transcript.open(Path::of(session.tree(), session.leaf()));
    transcript
}

/// The tests' conversations, in which results follow answers, summaries and nothing.
fn assert_lengths(session: &Session) {
    let (tree, leaf) = (session.tree(), session.leaf());
    for above in leaf.into_iter().flat_map(|leaf| tree.ancestors(leaf)).take(12) {
        let expected =
            PathLength { entries: Path::of(tree, leaf).entries(), groups_above: Path::of(tree, Some(above)).len() };
        assert_eq!(PathLength::of(tree, leaf, Some(above)), expected);
    }
    assert_eq!(PathLength::of(tree, leaf, None).groups_above, 0);
}

fn screen(transcript: &mut Transcript, source: &dyn Source, width: u16, height: u16) -> String {
    fill(transcript, source, &Theme::default(), Size::new(width, height));
    drawn(transcript, width, height)
}

/// Lays out and reads a screen of an unchanged conversation.
fn fill(transcript: &mut Transcript, source: &dyn Source, theme: &Theme, size: Size) {
    transcript.fill(source, &Conversation::default(), theme, size).unwrap();
}

fn lay_out(transcript: &mut Transcript, size: Size) -> Vec<NodeIx> {
    transcript.lay_out(&Conversation::default(), &Theme::default(), size)
}

fn drawn(transcript: &Transcript, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    transcript.view(&Theme::default(), area, &mut buf);
    let row = |y| {
        let (mut row, mut x) = (String::new(), 0);
        while x < width {
            let symbol = buf[(x, y)].symbol();
            row.push_str(symbol);
            // A wide symbol also takes the next cell.
            x += u16::try_from(text::width(symbol)).unwrap().max(1);
        }
        row.trim_end().to_owned() + "\n"
    };
    (0..height).map(row).collect()
}

fn numbered(count: usize) -> Session {
    let turn = |n: usize| {
        [
            format!(r#"{{"role":"user","content":"question {n}"}}"#),
            format!(r#"{{"role":"assistant","content":[{{"type":"text","text":"answer {n}"}}],"stopReason":"stop"}}"#),
        ]
    };
    let messages: Vec<_> = (1..=count).flat_map(turn).collect();
    session(&messages.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_session_opens_at_its_end_and_scrolls_to_its_beginning() {
    let session = numbered(30);
    let mut transcript = opened(&session);
    let go = |transcript: &mut Transcript, to| {
        transcript.go(to);
        let screen = screen(transcript, &session, 30, 8);
        screen
            .lines()
            .filter(|line| !line.is_empty())
            .map(|line| line.trim_start_matches(['›', ' ']).to_owned())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let at = go(&mut transcript, Move::Bottom);
    assert_eq!(at, "question 29, answer 29, question 30, answer 30");
    for (to, expected) in [
        (Move::Up(1), "answer 28, question 29, answer 29, question 30"),
        (Move::Up(1), "answer 28, question 29, answer 29, question 30"),
        (Move::Down(1), "answer 28, question 29, answer 29, question 30"),
        (Move::PageUp, "question 27, answer 27, question 28, answer 28"),
        (Move::PreviousUser, "question 26, answer 26, question 27, answer 27"),
        (Move::PreviousUser, "question 25, answer 25, question 26, answer 26"),
        (Move::NextUser, "question 26, answer 26, question 27, answer 27"),
        (Move::Top, "question 1, answer 1, question 2, answer 2"),
        (Move::Up(5), "question 1, answer 1, question 2, answer 2"),
        (Move::PreviousUser, "question 1, answer 1, question 2, answer 2"),
        (Move::PageDown, "answer 2, question 3, answer 3, question 4"),
        (Move::Down(1_000), "question 29, answer 29, question 30, answer 30"),
        (Move::Up(2), "answer 28, question 29, answer 29, question 30"),
        (Move::NextUser, "question 29, answer 29, question 30, answer 30"),
        (Move::NextUser, "question 29, answer 29, question 30, answer 30"),
    ] {
        assert_eq!(go(&mut transcript, to), expected, "{to:?}");
    }
    assert!(transcript.scroll_position().is_at_end);
}
