//! Handles keys and pasted text while nothing covers the conversation.

use offshoot_protocol::request::{Abort, AbortBash, ClearQueue, FollowUp, Prompt, RunBash, Steer};
use offshoot_session::transcript::Level;
use ratatui::crossterm::event::KeyEvent;

use super::leaving::take_back_queue;
use super::{approval, commands, end, pasted_pictures, suggestions};
use crate::app::cmd::{Cmd, ProgramTask, Purpose, ScreenTask};
use crate::app::extension::ExtensionTask;
use crate::app::model::{Model, Overlay};
use crate::app::msg::Completeness;
use crate::app::view;
use crate::editor::{Choice, EditorOutcome, Offers, Sent, Submission};
use crate::keymap::{Action, Context};
use crate::slash::Argument;
use offshoot_settings::DoubleEscape;

/// Two presses within this many milliseconds count as a double press.
const DOUBLE: i64 = 500;

pub(super) fn key(model: &mut Model, key: KeyEvent) -> Vec<Cmd> {
    let wanted = model.editor.wants();
    let before = suggestions::text_and_cursor(model);
    let outcome = model.editor.key(&model.preferences.keymap, key);
    let is_escape = matches!(outcome, EditorOutcome::Act(Action::Interrupt));
    let is_moved = outcome == EditorOutcome::Moved;
    if !is_escape && outcome != EditorOutcome::Ignored {
        model.escaped = None;
    }
    let mut cmds = apply(model, outcome);
    if model.editor.wants() != wanted {
        cmds.extend(complete(model));
    }
    if before.is_some() {
        let is_tab = model.preferences.keymap.actions(Context::Editor, key).contains(&Action::Tab);
        if suggestions::text_and_cursor(model) != before || (is_tab && is_moved) {
            cmds.extend(suggestions::ask(model, is_tab));
        }
    }
    cmds
}

/// Does what the editor in place of offshoot's leaves to the program.
pub(super) fn perform(model: &mut Model, action: Action) -> Vec<Cmd> {
    let outcome = model.editor.perform(action);
    if action != Action::Interrupt {
        model.escaped = None;
    }
    apply(model, outcome)
}

/// The text of the editor in place of offshoot's has changed.
pub(super) fn followed(model: &mut Model, text: &str, cursor: Option<usize>) -> Vec<Cmd> {
    let (wanted, before) = (model.editor.wants(), suggestions::text_and_cursor(model));
    model.editor.follow(text, cursor);
    let mut cmds = apply(model, EditorOutcome::Edited);
    if model.editor.wants() != wanted {
        cmds.extend(complete(model));
    }
    if before.is_some() && suggestions::text_and_cursor(model) != before {
        cmds.extend(suggestions::ask(model, false));
    }
    cmds
}

/// Requests the choices for the current completion.
fn complete(model: &mut Model) -> Option<Cmd> {
    match model.editor.wants()? {
        Argument::File => {
            model.editor.offer(Offers::forget_files);
            Some(ProgramTask::Files.into())
        }
        argument @ (Argument::Entry | Argument::Label | Argument::Model) => {
            model.editor.offer(|offers| offers.set(argument, Vec::new()));
            Some(ProgramTask::Choices(argument).into())
        }
        Argument::Called => {
            model.editor.offer(|offers| offers.set(Argument::Called, Vec::new()));
            let draft = model.editor.draft();
            let name = draft.trim_start_matches('/').split(' ').next()?;
            Some(ProgramTask::Extension(ExtensionTask::Complete(name.to_owned())).into())
        }
        // These choices are known, or there are none.
        Argument::Thinking
        | Argument::Approval
        | Argument::Sandbox
        | Argument::FilesOption
        | Argument::Session
        | Argument::Text => None,
    }
}

/// Takes what the user pasted: in a prompt, paths of pictures attach them.
pub(super) fn pasted(model: &mut Model, text: &str) -> Vec<Cmd> {
    let is_prompt = !model.editor.is_bash() && called_command(&model.editor.draft()).is_none();
    let Some(names) = is_prompt.then(|| pasted_pictures::attached(text)).flatten() else { return paste(model, text) };
    let (written, cursor) = model.editor.text_and_cursor();
    let before = written.get(..cursor).and_then(|before| before.chars().next_back());
    let blank = if before.is_some_and(|before| !before.is_whitespace()) { " " } else { "" };
    paste(model, &format!("{blank}{names}"))
}

pub(super) fn paste(model: &mut Model, text: &str) -> Vec<Cmd> {
    let outcome = model.editor.paste(text);
    apply(model, outcome)
}

/// Takes the text from the user's editor.
pub(super) fn written(model: &mut Model, text: Option<String>) -> Vec<Cmd> {
    match &mut model.overlay {
        Some(Overlay::Tree(tree)) => {
            tree.written(text.as_deref());
            return Vec::new();
        }
        Some(Overlay::Dialog(dialog, _)) => {
            dialog.written(text.as_deref());
            return Vec::new();
        }
        _ => {}
    }
    let Some(text) = text else { return Vec::new() };
    model.editor.replace(text.trim_end());
    vec![ProgramTask::SaveDraft(model.kept_draft()).into()]
}

/// Takes the skills and templates that may be called.
pub(super) fn called(model: &mut Model, called: Vec<Choice>, completeness: Completeness) -> Vec<Cmd> {
    if completeness == Completeness::SoFar {
        model.editor.offer(|offers| offers.add_called(called));
        return Vec::new();
    }
    let outcome = model.editor.set_called(called);
    apply(model, outcome)
}

fn apply(model: &mut Model, outcome: EditorOutcome) -> Vec<Cmd> {
    match outcome {
        EditorOutcome::Ignored | EditorOutcome::Moved => Vec::new(),
        EditorOutcome::Edited => {
            model.extensions.typed_at = (!model.editor.is_empty()).then_some(model.now);
            vec![ProgramTask::SaveDraft(model.kept_draft()).into()]
        }
        EditorOutcome::Submit(submission) => submitted(model, submission, false),
        EditorOutcome::FollowUp(submission) => submitted(model, submission, true),
        EditorOutcome::Mistake(mistake) => {
            model.notice(Level::Error, mistake.to_string());
            Vec::new()
        }
        EditorOutcome::External(text) => vec![ScreenTask::Edit(text).into()],
        EditorOutcome::Taken(at) => suggestions::take(model, at),
        EditorOutcome::Act(action) => act(model, action),
    }
}

fn submitted(model: &mut Model, submission: Submission, is_follow_up: bool) -> Vec<Cmd> {
    let mut cmds =
        vec![ProgramTask::SaveDraft(model.kept_draft()).into(), ProgramTask::Remember(submission.text).into()];
    model.extensions.typed_at = None;
    let is_busy = model.is_busy();
    match submission.what {
        Sent::Prompt(text) => cmds.push(match (is_busy, is_follow_up) {
            (false, _) => {
                model.is_working = true;
                model.extensions.called = called_command(&text);
                Cmd::ask(Prompt(text.into()))
            }
            (true, false) => Cmd::ask(Steer(text.into())),
            (true, true) => Cmd::ask(FollowUp(text.into())),
        }),
        Sent::Bash { command, exclude_from_context } => {
            model.conversation.start_shell(&command, exclude_from_context);
            cmds.push(Cmd::ask(RunBash { command, exclude_from_context }));
        }
        Sent::Command(command) => cmds.extend(commands::run(model, command)),
    }
    cmds
}

/// The name of the command that a text calls, with its slash.
fn called_command(text: &str) -> Option<String> {
    text.starts_with('/').then(|| text.split_whitespace().next().unwrap_or_default().to_owned())
}

/// Applies an action of the front end.
pub(super) fn act(model: &mut Model, action: Action) -> Vec<Cmd> {
    match action {
        Action::Interrupt => interrupt(model),
        Action::Clear => clear(model),
        Action::Exit => end(model),
        Action::Suspend => vec![ScreenTask::Suspend.into()],
        Action::NewSession => commands::new(model),
        Action::OpenTree => vec![ProgramTask::Snapshot(Purpose::Tree).into()],
        Action::OpenTranscript => vec![ProgramTask::Snapshot(Purpose::Transcript).into()],
        Action::ForkSession => vec![ProgramTask::Snapshot(Purpose::Fork).into()],
        Action::Resume => commands::resume(model),
        Action::SelectModel => vec![ProgramTask::Models.into()],
        Action::NextModel => commands::next_model(true),
        Action::PreviousModel => commands::next_model(false),
        Action::CycleThinking => commands::cycle_thinking(model),
        Action::SelectApproval => approval::pick(model),
        Action::ToggleThinking => fold(model, true),
        Action::ExpandTools => fold(model, false),
        Action::ToggleTimestamps => toggle_times(model),
        Action::CopyMessage => commands::copy(model),
        Action::Dequeue => vec![Cmd::ask(ClearQueue)],
        Action::GoToDiverged => commands::go_to_diverged(model),
        Action::Help => commands::help(model),
        Action::SearchPrompts => vec![ProgramTask::PastPrompts.into()],
        Action::PasteImage => vec![ProgramTask::Paste.into()],
        _ => Vec::new(),
    }
}

/// Stops the work under way; `None` if there is none.
fn stop(model: &mut Model) -> Option<Vec<Cmd>> {
    if model.is_busy() {
        // Queued messages return to the editor, as in pi.
        return Some(vec![take_back_queue(model), Cmd::ask(Abort)]);
    }
    model.conversation.has_shell().then(|| vec![Cmd::ask(AbortBash)])
}

/// Stops the work under way. Without any, a double press applies the configured action.
fn interrupt(model: &mut Model) -> Vec<Cmd> {
    if let Some(cmds) = stop(model) {
        return cmds;
    }
    if !model.editor.is_empty() {
        return Vec::new();
    }
    let is_second = model.escaped.take().is_some_and(|last| model.now - last < DOUBLE);
    if !is_second {
        model.escaped = Some(model.now);
        return Vec::new();
    }
    match model.preferences.settings.double_escape {
        DoubleEscape::Tree => vec![ProgramTask::Snapshot(Purpose::Tree).into()],
        DoubleEscape::Fork => vec![ProgramTask::Snapshot(Purpose::Fork).into()],
        DoubleEscape::None => Vec::new(),
    }
}

/// Stops the work under way, and keeps the draft. Without any, clears the editor, and a second press soon after ends the
/// front end.
fn clear(model: &mut Model) -> Vec<Cmd> {
    if let Some(cmds) = stop(model) {
        // Who wanted to stop the work must not leave with the next press.
        model.interrupted = None;
        return cmds;
    }
    let is_second = model.interrupted.is_some_and(|last| model.now - last < DOUBLE);
    model.interrupted = Some(model.now);
    if is_second {
        return end(model);
    }
    model.editor.clear();
    vec![ProgramTask::SaveDraft(model.kept_draft()).into()]
}

/// Shows or hides the times of messages that are printed from here on, and of all in the reader.
fn toggle_times(model: &mut Model) -> Vec<Cmd> {
    let is_shown = model.toggle_times();
    let reader = model.preferences.keymap.hint(Action::OpenTranscript);
    model.notice(
        Level::Info,
        match (is_shown, reader) {
            (true, Some(key)) => format!("times are shown from here on; {key} shows those above"),
            (true, None) => "times are shown from here on".to_owned(),
            (false, _) => "times are hidden from here on".to_owned(),
        },
    );
    Vec::new()
}

/// Folds or unfolds the thoughts, or the tools, of the blocks that are not printed yet.
fn fold(model: &mut Model, is_thinking: bool) -> Vec<Cmd> {
    model.reader_block = if is_thinking { None } else { view::folded_block(model) };
    if model.reader_block.is_some() {
        return vec![ProgramTask::Snapshot(Purpose::Transcript).into()];
    }
    let (thinking, tools) = &mut model.folds;
    let open = if is_thinking { thinking } else { tools };
    *open = !*open;
    Vec::new()
}
