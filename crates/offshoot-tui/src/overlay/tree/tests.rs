//! Tests of the selector: keys in, screens and outcomes out.

mod hostile;
mod layouts;
mod screens;
mod walking;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use offshoot_session::session::Session;
use offshoot_session::testing::{NEW, OLD, told};

use super::*;
use crate::testing::{screen_of, working};
use crate::theme::Theme;

/// Five minutes into 2026.
const NOW: Millis = 1_767_225_900_000;

pub(super) fn opened(words: &[&str], size: (u16, u16)) -> TreeSelector {
    over(told(words), size)
}

fn at_work(size: (u16, u16)) -> TreeSelector {
    over(working(), size)
}

fn over(session: Session, size: (u16, u16)) -> TreeSelector {
    let leaf = session.leaf();
    TreeSelector::new(Arc::new(session), leaf, Setup { size, now: NOW, ..Setup::default() }).unwrap()
}

/// A selector in the pi layout.
fn opened_as_pi(words: &[&str], size: (u16, u16)) -> TreeSelector {
    as_pi(told(words), size)
}

fn as_pi(session: Session, size: (u16, u16)) -> TreeSelector {
    let (leaf, layout) = (session.leaf(), TreeLayout::Pi);
    TreeSelector::new(Arc::new(session), leaf, Setup { size, layout, now: NOW, ..Setup::default() }).unwrap()
}

/// The whole screen as text, the same in every theme.
fn picture(selector: &TreeSelector) -> String {
    let (columns, rows) = selector.setup.size;
    screen_of(columns, rows, |theme, area, buf| selector.view(theme, (area, ""), buf))
}

fn press(selector: &mut TreeSelector, keys: &str) -> TreeOutcome {
    let mut outcome = TreeOutcome::Stay;
    for word in keys.split(' ') {
        let (modifiers, name) = match word.rsplit_once('+') {
            Some(("ctrl", name)) => (KeyModifiers::CONTROL, name),
            Some(("shift", name)) => (KeyModifiers::SHIFT, name),
            Some((_, name)) => (KeyModifiers::CONTROL | KeyModifiers::SHIFT, name),
            None => (KeyModifiers::NONE, word),
        };
        let code = match name {
            "up" => KeyCode::Up,
            "down" => KeyCode::Down,
            "left" => KeyCode::Left,
            "right" => KeyCode::Right,
            "enter" => KeyCode::Enter,
            "esc" => KeyCode::Esc,
            "back" => KeyCode::Backspace,
            "end" => KeyCode::End,
            "home" => KeyCode::Home,
            _ => {
                for c in name.chars() {
                    outcome = selector.key(KeyEvent::new(KeyCode::Char(c), modifiers));
                }
                continue;
            }
        };
        outcome = selector.key(KeyEvent::new(code, modifiers));
    }
    outcome
}

/// Only the rows, with the line below them.
fn rows(selector: &TreeSelector) -> String {
    let lines = selector.lines(&Theme::default(), 60, 40);
    let mut rows: Vec<String> = lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect();
    rows.push(format!("  {}", selector.status()));
    rows.join("\n")
}
