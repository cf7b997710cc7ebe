//! An editor of an extension in place of offshoot's: it gets the keys. offshoot's own follows its text, so that drafts,
//! completion and sending are the same.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{end, keys};
use crate::app::cmd::{Cmd, ProgramTask};
use crate::app::extension::{ComponentId, ExtensionTask};
use crate::app::model::Model;
use crate::keymap::{Action, Context, bytes};
use offshoot_session::clock::Millis;
use offshoot_session::transcript::Level;

/// An editor that has not dealt with a key for so many milliseconds hangs.
const HANGS: Millis = 1_000;
/// Two presses within this many milliseconds count as a double press.
const DOUBLE: Millis = 500;
/// What offshoot does itself while a list of completions is open.
const OF_LISTS: [Action; 7] = [
    Action::SelectUp,
    Action::SelectDown,
    Action::SelectPageUp,
    Action::SelectPageDown,
    Action::SelectConfirm,
    Action::SelectCancel,
    Action::Tab,
];

fn task(task: ExtensionTask) -> Vec<Cmd> {
    vec![ProgramTask::Extension(task).into()]
}

/// Gives it a key; `None` if it has no place, or the key belongs to the list of completions.
pub(super) fn key(model: &mut Model, key: KeyEvent) -> Option<Vec<Cmd>> {
    let editor = model.extensions.editor()?;
    let place = if model.editor.is_completing() { Context::Completion } else { Context::Editor };
    let actions = model.preferences.keymap.actions(place, key);
    let is_of_list = |action: &Action| OF_LISTS.contains(action);
    let first = actions.iter().find(|action| is_of_list(action) || action.group() != crate::keymap::Group::App);
    if first.is_some_and(|first| is_of_list(first) && (place == Context::Completion || *first == Action::Tab)) {
        return None;
    }
    let is_control_c = key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL;
    if is_control_c && model.interrupted.is_some_and(|last| model.now - last < DOUBLE) {
        // Whatever the editor makes of it.
        return Some(end(model));
    }
    if is_control_c {
        model.interrupted = Some(model.now);
    }
    let hangs = model.extensions.unhandled.is_some_and(|(known, since)| known == editor && model.now - since > HANGS);
    if hangs && (is_control_c || key.code == KeyCode::Esc) {
        return Some(leave(model, editor));
    }
    let bytes = bytes(key)?;
    Some(input(model, editor, bytes))
}

pub(super) fn paste(model: &mut Model, text: &str) -> Option<Vec<Cmd>> {
    let editor = model.extensions.editor()?;
    Some(input(model, editor, format!("\x1b[200~{text}\x1b[201~")))
}

fn input(model: &mut Model, editor: ComponentId, bytes: String) -> Vec<Cmd> {
    let (waiting, since) = *model.extensions.unhandled.get_or_insert((editor, model.now));
    if waiting == editor && model.now - since > HANGS && !model.extensions.is_hanging {
        model.extensions.is_hanging = true;
        model.notice(Level::Warning, "the editor of an extension does not answer: escape brings back offshoot's");
    }
    task(ExtensionTask::Input(editor, bytes))
}

/// Takes its place back.
fn leave(model: &mut Model, editor: ComponentId) -> Vec<Cmd> {
    (model.extensions.unhandled, model.extensions.screen.editor) = (None, None);
    model.extensions.is_hanging = false;
    task(ExtensionTask::LeaveEditor(editor))
}

/// Its text has changed.
pub(super) fn changed(model: &mut Model, editor: ComponentId, text: &str, cursor: Option<usize>) -> Vec<Cmd> {
    if model.extensions.screen.editor != Some(editor) {
        return Vec::new();
    }
    let cmds = keys::followed(model, text, cursor);
    model.extensions.editor_text = model.editor.draft();
    model.extensions.invalidate(&[editor]);
    cmds
}

pub(super) fn submitted(model: &mut Model, editor: ComponentId, text: &str) -> Vec<Cmd> {
    if model.extensions.screen.editor != Some(editor) {
        return Vec::new();
    }
    model.editor.follow(text, None);
    keys::perform(model, Action::Submit)
}

pub(super) fn acted(model: &mut Model, editor: ComponentId, action: Action) -> Vec<Cmd> {
    if model.extensions.screen.editor != Some(editor) {
        return Vec::new();
    }
    keys::perform(model, action)
}

/// Gives it the text that offshoot has changed.
pub(super) fn told(model: &mut Model) -> Vec<Cmd> {
    let Some(component) = model.extensions.screen.editor else { return Vec::new() };
    let text = model.editor.draft();
    if text == model.extensions.editor_text {
        return Vec::new();
    }
    let after = model.editor.after_cursor();
    model.extensions.editor_text.clone_from(&text);
    task(ExtensionTask::EditorText { component, text, after })
}
