//! What extensions show and ask. A question takes the place of the editor when nothing else has it, and not while the
//! user types.

use std::sync::Arc;

use offshoot_protocol::request::AnswerForm;
use offshoot_protocol::{Event, FormAnswer};
use offshoot_session::clock::Millis;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Value, json};

use super::{dress, foreign_editor, suggestions};
use crate::app::cmd::{Cmd, ProgramTask, ScreenTask};
use crate::app::extension::{
    AskedId, AskedQuestion, ComponentId, ComponentRows, ExtensionLook, ExtensionMsg, ExtensionScreen, ExtensionTask,
};
use crate::app::model::{Model, Overlay};
use crate::keymap::{Action, Context, Group, Key, bytes};
use crate::message::DrawnByExtensions;
use crate::overlay::dialog::{Dialog, DialogOutcome};
use crate::text::strip;

/// So many prompts an editor of an extension gets.
const HISTORY: usize = 100;
/// The longest title of a window.
const TITLE: usize = 200;
/// A component that has not dealt with a key for so many milliseconds hangs.
const HANGS: Millis = 1_000;
/// What no extension takes over.
const RESERVED: [Action; 7] = [
    Action::Interrupt,
    Action::Clear,
    Action::Exit,
    Action::Suspend,
    Action::Submit,
    Action::FollowUp,
    Action::AnswerQuestion,
];
/// Two presses within this many milliseconds count as a double press.
const DOUBLE: Millis = 500;

pub(super) fn message(model: &mut Model, message: ExtensionMsg) -> Vec<Cmd> {
    match message {
        ExtensionMsg::Screen(screen) => show(model, *screen),
        ExtensionMsg::Ask(question) => {
            let deadline = question.timeout.map(|wait| model.now.saturating_add_unsigned(wait));
            model.extensions.waiting.push_back((question, deadline));
        }
        ExtensionMsg::Withdraw(id) => {
            withdraw(model, AskedId::Extension(id));
            model.extensions.open.retain(|open| open.id != id);
            let is_shown = match &model.overlay {
                Some(Overlay::Component(open)) => open.id == id,
                _ => false,
            };
            if is_shown {
                model.overlay = None;
            }
        }
        ExtensionMsg::OpenComponent(open) => model.extensions.open.push(open),
        ExtensionMsg::HideComponent(component, is_hidden) => {
            let open = model.extensions.open.iter_mut().filter(|open| open.component == component);
            open.for_each(|open| open.is_hidden = is_hidden);
        }
        ExtensionMsg::FocusComponent(component, is_focused) => focus(model, component, is_focused),
        ExtensionMsg::Invalid(components) => model.extensions.invalidate(&components),
        ExtensionMsg::Rendered(component, columns, drawn) => {
            let drawn =
                drawn.unwrap_or_else(|why| ComponentRows { rows: vec![format!("(not drawn: {why})")], cursor: None });
            let placed = model.extensions.rendered(component, (columns, model.size), drawn);
            return placed.map(|area| task(ExtensionTask::Placed(component, area))).unwrap_or_default();
        }
        ExtensionMsg::DrawnNote { custom_type, text, rows } => drawn(model).keep_note(&custom_type, &text, rows),
        ExtensionMsg::DrawnEntry { custom_type, id, rows } => {
            drawn(model).keep_note(&custom_type, &id, rows);
            model.conversation.add_note(custom_type, id);
        }
        ExtensionMsg::ShownText { text, shown } => drawn(model).keep_text(text, shown),
        ExtensionMsg::HistoryDrawn(number) => model.live.release(number),
        ExtensionMsg::DrawnCall(id, rows) => drawn(model).keep_call(id, rows),
        ExtensionMsg::Handled(component) => {
            model.extensions.unhandled.take_if(|(waiting, _)| *waiting == component);
            model.extensions.is_hanging = false;
            // As in pi, a key is a reason to draw.
            model.extensions.invalidate(&[component]);
        }
        ExtensionMsg::Title(title) => {
            let title: String = strip(&title).chars().take(TITLE).collect();
            model.extensions.title = Some(title);
        }
        ExtensionMsg::SetEditor(text) => {
            model.editor.replace(&text);
            return vec![ProgramTask::SaveDraft(model.kept_draft()).into()];
        }
        ExtensionMsg::PasteToEditor(text) => return super::keys::paste(model, &text),
        ExtensionMsg::SetToolsExpanded(expanded) => model.folds.1 = expanded,
        ExtensionMsg::Shortcuts(keys) => {
            let key = |text: String| Key::parse(&text).ok().map(|key| (key, text));
            model.extensions.shortcuts = keys.into_iter().filter_map(key).collect();
        }
        ExtensionMsg::StaleCalls(calls) => return task(ExtensionTask::Redraw(calls)),
        ExtensionMsg::Approval(mode) => {
            model.approval = mode;
            return vec![ProgramTask::ReadSessionFacts.into()];
        }
        ExtensionMsg::Shutdown => model.extensions.is_ending = true,
        ExtensionMsg::EditorChanged(editor, text, cursor) => {
            return foreign_editor::changed(model, editor, &text, cursor);
        }
        ExtensionMsg::EditorSubmitted(editor, text) => return foreign_editor::submitted(model, editor, &text),
        ExtensionMsg::EditorAction(editor, action) => return foreign_editor::acted(model, editor, action),
        ExtensionMsg::Listens(is_on) => model.extensions.listening.is_on = is_on,
        // Taken before.
        ExtensionMsg::Heard(..) | ExtensionMsg::NotTaken(..) => {}
        ExtensionMsg::Completes(triggers) => {
            model.extensions.completing.triggers = (!triggers.is_empty()).then_some(triggers);
        }
        ExtensionMsg::Suggested(id, found) => suggestions::suggested(model, id, found),
        ExtensionMsg::Applied(id, text, cursor) => return suggestions::applied(model, id, &text, cursor),
        ExtensionMsg::Themes(themes, setting) => {
            if setting.is_some() {
                model.preferences.settings.theme = setting;
            }
            return dress::themes(model, Ok(themes));
        }
        ExtensionMsg::Lend(id, group) => return vec![ScreenTask::Lend(id, group).into()],
        ExtensionMsg::Look(id, what) => return task(ExtensionTask::Seen(id, seen(model, what))),
    }
    Vec::new()
}

fn drawn(model: &mut Model) -> &mut DrawnByExtensions {
    Arc::make_mut(&mut model.preferences.habits.drawn)
}

fn task(task: ExtensionTask) -> Vec<Cmd> {
    vec![ProgramTask::Extension(task).into()]
}

fn seen(model: &mut Model, what: ExtensionLook) -> Value {
    if what == ExtensionLook::Theme {
        model.extensions.theme = Some(model.preferences.theme.clone());
    }
    match what {
        ExtensionLook::EditorText => json!(model.editor.draft()),
        ExtensionLook::ToolsExpanded => json!(model.folds.1),
        ExtensionLook::GitBranch => json!(model.facts.git_branch),
        ExtensionLook::Theme => model.preferences.theme.described(),
        ExtensionLook::Keys => {
            let keys = |action: &Action| {
                let keys = model.preferences.keymap.keys(*action).iter().map(Key::to_string).collect::<Vec<_>>();
                (action.id().to_owned(), json!(keys))
            };
            Value::Object(Action::ALL.iter().map(keys).collect())
        }
        ExtensionLook::Editor => {
            let sent = model.editor.sent();
            let actions = Action::ALL.iter().filter(|action| action.group() == Group::App && **action != Action::Help);
            json!({
                "text": model.editor.draft(),
                "history": sent.get(sent.len().saturating_sub(HISTORY)..),
                "padding": model.preferences.settings.editor_padding,
                "actions": actions.map(|action| action.id()).collect::<Vec<_>>(),
            })
        }
    }
}

/// Tells extensions of other colours, if one has asked for them.
pub(super) fn dressed(model: &mut Model) -> Vec<Cmd> {
    let now = &model.preferences.theme;
    let Some(known) = model.extensions.theme.as_mut().filter(|known| *known != now) else { return Vec::new() };
    known.clone_from(now);
    model.extensions.invalidate_all();
    task(ExtensionTask::Theme(model.preferences.theme.described()))
}

fn show(model: &mut Model, screen: ExtensionScreen) {
    model.preferences.habits.thinking_label.clone_from(&screen.thinking_label);
    if screen.editor != model.extensions.screen.editor {
        // It gets the text that is here.
        model.extensions.editor_text.clear();
        model.extensions.last_editor = screen.editor.or(model.extensions.last_editor);
        model.extensions.is_hanging = false;
    }
    model.extensions.screen = screen;
}

/// Shows the next question or component, if nothing else has the place of the editor.
pub(super) fn choose_overlay(model: &mut Model) {
    if let Some(Overlay::Component(open)) = &model.overlay
        && (model.extensions.top() != Some(*open) || !model.extensions.waiting.is_empty())
    {
        model.overlay = None;
    }
    if model.overlay.is_some() || model.extensions.patience(model.now) != Some(0) {
        return;
    }
    let Some((question, deadline)) = model.extensions.waiting.pop_front() else {
        model.overlay = model.extensions.top().map(Overlay::Component);
        return;
    };
    let dialog = Dialog::new(question.form.clone(), deadline, model.size);
    model.overlay = Some(Overlay::Dialog(Box::new(dialog), Box::new(question)));
}

/// The component that is given the keys comes to the front, as in pi.
fn focus(model: &mut Model, component: ComponentId, is_focused: bool) {
    let open = &mut model.extensions.open;
    let Some(at) = open.iter().position(|known| known.component == component) else { return };
    let mut known = open.remove(at);
    known.is_focused = is_focused;
    open.insert(if is_focused { open.len() } else { at }, known);
}

/// Asks for the rows of components that would draw others.
pub(super) fn render(model: &mut Model) -> Vec<Cmd> {
    let screen = model.size;
    let wanted = model.extensions.to_render(screen).into_iter();
    wanted.flat_map(|(component, columns)| task(ExtensionTask::Render { component, columns, screen })).collect()
}

/// A key for the component in place of the editor. One that does not answer is closed by Escape or Ctrl+C, and any by
/// two presses of Ctrl+C.
pub(super) fn component_key(model: &mut Model, key: KeyEvent) -> Vec<Cmd> {
    let Some(Overlay::Component(open)) = model.overlay else { return Vec::new() };
    let is_control_c = key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL;
    let hangs = model.extensions.unhandled.is_some_and(|(_, since)| model.now - since > HANGS);
    let is_second = is_control_c && model.interrupted.is_some_and(|last| model.now - last < DOUBLE);
    if is_control_c {
        model.interrupted = Some(model.now);
    }
    if is_second || (hangs && (is_control_c || key.code == KeyCode::Esc)) {
        model.interrupted = None;
        model.extensions.unhandled = None;
        model.extensions.open.retain(|known| known.id != open.id);
        model.overlay = None;
        return task(ExtensionTask::Answer(open.id, FormAnswer::Cancel));
    }
    bytes(key).map(|bytes| input(model, open.component, bytes)).unwrap_or_default()
}

pub(super) fn component_paste(model: &mut Model, text: &str) -> Vec<Cmd> {
    let Some(Overlay::Component(open)) = model.overlay else { return Vec::new() };
    input(model, open.component, format!("\x1b[200~{text}\x1b[201~"))
}

fn input(model: &mut Model, component: ComponentId, bytes: String) -> Vec<Cmd> {
    model.extensions.unhandled.get_or_insert((component, model.now));
    task(ExtensionTask::Input(component, bytes))
}

/// Ends the front end for an extension, when nothing runs.
pub(super) fn end_if_wanted(model: &mut Model) -> Vec<Cmd> {
    if !model.extensions.is_ending || model.is_under_way() || model.is_ending {
        return Vec::new();
    }
    super::end(model)
}

/// Runs the extension's shortcut of a key, if it has one. Keys that stop, send and leave are offshoot's own, and letters are
/// text.
pub(super) fn shortcut(model: &Model, key: KeyEvent) -> Option<Vec<Cmd>> {
    let pressed = Key::pressed(key);
    let (_, text) = model.extensions.shortcuts.iter().find(|(known, _)| *known == pressed)?;
    let is_letter = matches!(key.code, KeyCode::Char(_)) && key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
    let own = model.preferences.keymap.actions(Context::Editor, key);
    let is_own = own.iter().any(|action| RESERVED.contains(action));
    (!is_letter && !is_own && !key.is_release()).then(|| task(ExtensionTask::Shortcut(text.clone())))
}

/// A key for the open question.
pub(super) fn dialog_key(model: &mut Model, key: KeyEvent) -> Vec<Cmd> {
    let Some(Overlay::Dialog(dialog, question)) = &mut model.overlay else { return Vec::new() };
    let answer = match dialog.key(&model.preferences.keymap, key, model.size) {
        DialogOutcome::Open => return Vec::new(),
        DialogOutcome::External(text) => return vec![ScreenTask::Edit(text).into()],
        DialogOutcome::Answered(answer) => answer,
    };
    let id = question.id;
    model.overlay = None;
    match id {
        AskedId::Extension(id) => task(ExtensionTask::Answer(id, answer)),
        AskedId::Agent(id) => vec![Cmd::ask(AnswerForm { id, answer })],
    }
}

/// A question of the agent waits for an answer, or does not any more.
pub(super) fn form(model: &mut Model, event: &Event) {
    match event {
        Event::QuestionRequest { id, form } => {
            let asked = AskedQuestion { id: AskedId::Agent(*id), form: form.clone(), timeout: None };
            model.extensions.waiting.push_back((asked, None));
        }
        Event::QuestionEnd { id } => withdraw(model, AskedId::Agent(*id)),
        _ => {}
    }
}

/// Nobody waits for the answer any more.
fn withdraw(model: &mut Model, id: AskedId) {
    model.extensions.waiting.retain(|(waiting, _)| waiting.id != id);
    if matches!(&model.overlay, Some(Overlay::Dialog(_, asked)) if asked.id == id) {
        model.overlay = None;
    }
}
