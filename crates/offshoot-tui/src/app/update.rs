//! The only function that changes the model. Each group of messages has a file.

mod dress;
mod theme_pick;
mod settings;
mod orders;
mod leaving;
mod background;
mod agents;
mod finding;
mod overlay;
mod opened;
mod call_list;
mod approval;
mod agent;
mod operated;
mod commands;
mod suggestions;
mod pasted_pictures;
mod keys;
mod foreign_editor;
mod extension;
mod listening;
mod attention;
#[cfg(test)]
mod tests;

use offshoot_session::clock::Millis;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Size;

use super::cmd::{Cmd, ProgramTask, ScreenTask};
use super::extension::ExtensionMsg;
use super::model::{Model, Overlay};
use super::msg::Msg;
use crate::keymap::{Action, Context};
use crate::overlay::sessions::Answer;
use attention::Situation;

/// The name of the job while the summary of a branch is written.
const LEAVING: &str = "summarising what is left behind";
/// The job while a branch is merged.
const MERGING: &str = "summarising the branch to merge";

/// Resizes within this many milliseconds belong to one movement of the terminal's edge.
const RESIZES_TOGETHER: Millis = 400;

/// Applies a message to the model, and returns the commands.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Cmd> {
    let is_clock = matches!(msg, Msg::Now(_));
    let situation = Situation::of(model);
    if matches!(msg, Msg::Key(_) | Msg::Paste(_)) {
        model.attention.typed(model.now);
    }
    let mut cmds = match listening::held(model, msg) {
        Ok(msg) => apply(model, msg),
        Err(cmds) => cmds,
    };
    if is_clock {
        // Another message follows.
        return cmds;
    }
    cmds.extend(listening::released(model));
    extension::choose_overlay(model);
    // Before a prompt: a command of an extension may write into the editor.
    cmds.splice(..0, foreign_editor::told(model));
    cmds.extend(extension::dressed(model));
    cmds.extend(extension::render(model));
    cmds.extend(extension::end_if_wanted(model));
    cmds.extend(attention::call(model, situation));
    cmds
}

fn apply(model: &mut Model, msg: Msg) -> Vec<Cmd> {
    match msg {
        Msg::Now(now) => {
            model.now = now;
            model.awaited_since = model.is_under_way().then(|| model.awaited_since.unwrap_or(now));
            Vec::new()
        }
        Msg::Cell(cell) => {
            model.cell = cell;
            Vec::new()
        }
        Msg::Idle => overlay::idle(model),
        Msg::Key(key) if redraws(model, key) => vec![ScreenTask::Redraw.into()],
        Msg::Key(key) if matches!(model.overlay, Some(Overlay::Dialog(..))) => extension::dialog_key(model, key),
        Msg::Key(key) if matches!(model.overlay, Some(Overlay::Component(_))) => extension::component_key(model, key),
        Msg::Key(key) if model.overlay.is_some() => overlay::key(model, key),
        Msg::Key(key) => {
            let taken = approval::key(model, key).or_else(|| extension::shortcut(model, key));
            let taken = taken.or_else(|| foreign_editor::key(model, key));
            taken.unwrap_or_else(|| keys::key(model, key))
        }
        Msg::Paste(text) if matches!(model.overlay, Some(Overlay::Component(_))) => {
            extension::component_paste(model, &text)
        }
        Msg::Paste(text) if model.overlay.is_some() => overlay::paste(model, &text),
        Msg::Paste(text) => foreign_editor::paste(model, &text).unwrap_or_else(|| keys::pasted(model, &text)),
        Msg::Clipboard(text) => update(model, Msg::Paste(text)),
        Msg::CopyByTerminal(text) => vec![ScreenTask::Copy(text).into()],
        Msg::Resized(size) => resized(model, size),
        Msg::Focus(has_focus) => {
            model.attention.focus = Some(has_focus);
            Vec::new()
        }
        Msg::OpenPaste(is_open) => {
            model.has_open_paste = is_open;
            Vec::new()
        }
        Msg::PictureShown => Vec::new(),
        Msg::WindowChanged => vec![ScreenTask::LookAtSize.into()],
        Msg::Continued => vec![ScreenTask::TakeBack.into()],
        Msg::Background(background) => dress::background(model, background),
        Msg::Themes(themes) => dress::themes(model, themes),
        Msg::ThemeList(themes) => theme_pick::open(model, themes),
        Msg::Agent(event) => {
            extension::form(model, &event);
            agent::event(model, &event)
        }
        Msg::OfChild(id, event) => agents::heard(model, &id, &event),
        Msg::Children(children) => agents::stored(model, *children),
        Msg::FilesPreview(entry, found) => overlay::files_preview(model, &entry, found.as_ref().map_err(Clone::clone)),
        Msg::Forecast(wish, words) => overlay::forecast(model, wish, words),
        Msg::Source(words) => overlay::source(model, &words),
        Msg::Called(called, completeness) => keys::called(model, called, completeness),
        Msg::Prompts(prompts, spelled) => {
            model.editor.offer(|offers| offers.set_served(prompts, spelled));
            Vec::new()
        }
        Msg::Reloaded(reloaded) => settings::reloaded(model, *reloaded),
        Msg::SessionFolder(file, refusal) => overlay::session_folder(model, file, &refusal),
        Msg::Trust(standing, answers) => overlay::trust(model, &standing, answers),
        Msg::Patches(first, second, patches) => overlay::patches(model, [&first, &second], patches),
        Msg::Operated(order, result) => operated::operated(model, &order, result),
        Msg::Answered(answer) => agent::answered(model, *answer),
        Msg::SessionFacts(facts) => {
            opened::take_facts(model, *facts);
            model.extensions.invalidate_all();
            if std::mem::take(&mut model.goes_to_diverged) { commands::go_to_diverged(model) } else { Vec::new() }
        }
        Msg::Opened(opened) => opened::opened(model, opened),
        Msg::Snapshot(purpose, source, leaf) => overlay::snapshot(model, purpose, source, leaf),
        Msg::Sessions(answer) => finding::answered(model, answer),
        Msg::ModelScope(rows) => overlay::model_scope(model, rows),
        Msg::Models(models) => overlay::models(model, models),
        Msg::LocalModels(models) => overlay::local_models(model, models),
        Msg::Branches(branches) => overlay::branches(model, branches),
        Msg::Settings(layers, files, themes) => settings::open(model, layers, files, themes),
        Msg::Stored(stored) => settings::stored(model, stored),
        Msg::PastPrompts(past) => overlay::past_prompts(model, past),
        Msg::Page(title, lines) => overlay::page(model, title, lines),
        Msg::Choices(argument, choices) => {
            model.editor.offer(|offers| offers.set(argument, choices));
            Vec::new()
        }
        Msg::Files(files) => {
            model.editor.offer(|offers| offers.add_files(files));
            Vec::new()
        }
        Msg::Written(text) => keys::written(model, text),
        Msg::Notice(level, text) => {
            overlay::told(model, &text);
            model.notice(level, text);
            Vec::new()
        }
        Msg::Extension(ExtensionMsg::NotTaken(component, data)) => listening::typed_anew(model, component, &data),
        Msg::Extension(ExtensionMsg::Heard(id, heard)) => listening::heard(model, id, heard),
        Msg::Extension(message) => extension::message(model, message),
        Msg::Suspend => vec![ScreenTask::Suspend.into()],
        Msg::End => end(model),
    }
}

/// Whether a key draws the screen again. A component of an extension has all keys.
fn redraws(model: &Model, key: KeyEvent) -> bool {
    let is_free = !matches!(model.overlay, Some(Overlay::Component(_)));
    is_free && model.preferences.keymap.action(Context::Editor, key) == Some(Action::Redraw)
}

/// Whether a message may change what is on the screen. Skills and templates are shown only while a command is typed.
pub(super) fn changes_screen(model: &Model, msg: &Msg) -> bool {
    !matches!(msg, Msg::WindowChanged | Msg::PictureShown)
        && (!matches!(msg, Msg::Called(..)) || !model.editor.is_empty())
}

/// Whether the drawing may wait for more messages. The first rows of an empty list are awaited: they are drawn at once.
pub(super) fn can_wait(model: &Model, msg: &Msg) -> bool {
    match (msg, &model.overlay) {
        (Msg::Sessions(answer), Some(Overlay::Sessions(sessions))) => !sessions.awaits(answer),
        (Msg::Sessions(Answer::Hits(answer)), Some(Overlay::Search(search))) => !search.awaits(answer),
        _ => msg.comes_in_bursts(),
    }
}

/// Expects the terminal to be resized soon: a window that is being dragged, or a new one that is put in its place.
pub(super) fn expect_resizes(model: &mut Model) {
    model.resizes_until = model.now.saturating_add(RESIZES_TOGETHER);
}

fn resized(model: &mut Model, size: Size) -> Vec<Cmd> {
    let before = std::mem::replace(&mut model.size, size);
    if before != Size::default() {
        expect_resizes(model);
        model.resized_at = Some(model.now);
    }
    model.measure();
    model.editor.resize(size.width, size.height);
    match &mut model.overlay {
        Some(Overlay::Tree(tree)) => tree.resize(size.width, size.height),
        Some(Overlay::Help(help)) => help.resize(size),
        Some(Overlay::Dialog(dialog, _)) => dialog.resize(size),
        Some(
            Overlay::Sessions(_)
            | Overlay::Fork(..)
            | Overlay::Transcript(_)
            | Overlay::Search(_)
            | Overlay::Reader(..)
            | Overlay::Settings(_)
            | Overlay::Page(_)
            | Overlay::Pick(..)
            | Overlay::ModelScope(_)
            | Overlay::Prompts(_)
            | Overlay::Component(_),
        )
        | None => {}
    }
    vec![ScreenTask::Resize.into()]
}

/// Ends the front end, unless a question comes first.
fn end(model: &mut Model) -> Vec<Cmd> {
    if background::asks_before_end(model) { Vec::new() } else { end_now(model) }
}

/// Ends the front end. The draft is kept.
fn end_now(model: &mut Model) -> Vec<Cmd> {
    model.is_ending = true;
    vec![ProgramTask::SaveDraft(model.kept_draft()).into()]
}
