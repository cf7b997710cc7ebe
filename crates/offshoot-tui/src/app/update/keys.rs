//! What keys and pasted text do.

use offshoot_agent::command::Command;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::end;
use crate::app::cmd::Cmd;
use crate::app::model::Model;

/// Within so many milliseconds a second press counts as a double one.
const DOUBLE: i64 = 500;

pub(super) fn key(model: &mut Model, key: KeyEvent) -> Vec<Cmd> {
    if key.kind == KeyEventKind::Release {
        return Vec::new();
    }
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if is_control => interrupt(model),
        KeyCode::Char('d') if is_control && model.editor.is_empty() => end(model),
        KeyCode::Char('z') if is_control => vec![Cmd::Suspend],
        KeyCode::Esc if model.is_working => vec![Cmd::Ask(Box::new(Command::Abort))],
        KeyCode::Enter => submit(model, key.modifiers.contains(KeyModifiers::ALT)),
        KeyCode::Backspace => {
            model.editor.pop();
            Vec::new()
        }
        KeyCode::Char(typed) if !is_control => {
            model.editor.push(typed);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

pub(super) fn paste(model: &mut Model, text: &str) -> Vec<Cmd> {
    model.editor.push_str(text);
    Vec::new()
}

/// Clears the editor; a second press soon after ends.
fn interrupt(model: &mut Model) -> Vec<Cmd> {
    let is_second = model.interrupted.is_some_and(|last| model.now - last < DOUBLE);
    model.interrupted = Some(model.now);
    if is_second {
        return end(model);
    }
    model.editor.clear();
    Vec::new()
}

fn submit(model: &mut Model, is_follow_up: bool) -> Vec<Cmd> {
    let text = std::mem::take(&mut model.editor).trim().to_owned();
    if text.is_empty() {
        return Vec::new();
    }
    let command = match (model.is_working, is_follow_up) {
        (false, _) => Command::Prompt(text.into()),
        (true, false) => Command::Steer(text.into()),
        (true, true) => Command::FollowUp(text.into()),
    };
    vec![Cmd::Ask(Box::new(command))]
}
