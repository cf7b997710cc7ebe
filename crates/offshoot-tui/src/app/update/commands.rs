//! The commands that begin with `/`, and the keys with the same effect.

use offshoot_protocol::ThinkingLevel;
use offshoot_protocol::request::{CloneSession, Compact, SetApproval, SetThinkingLevel, StartSession};

use super::leaving::{Leave, leave};
use super::orders::{file_flags, going};
use super::{agents, approval, background, end, finding, orders};
use crate::app::cmd::{Cmd, ProgramTask, Purpose, ScreenTask};
use crate::app::extension::ExtensionTask;
use crate::app::model::{Model, Overlay, Picking};
use crate::conversation::ConversationBlock;
use crate::overlay::help::Help;
use crate::overlay::pick::{Choice, Pick};
use crate::overlay::sessions::{Sessions, Setting};
use crate::slash::SlashCommand;
use offshoot_session::transcript::Level;

pub(super) fn run(model: &mut Model, command: SlashCommand) -> Vec<Cmd> {
    match command {
        SlashCommand::New => new(model),
        SlashCommand::Resume(None) => resume(model),
        SlashCommand::Resume(Some(named)) => leave(model, ProgramTask::Resume(named), Leave::OpenSession),
        SlashCommand::Search(words) => finding::search(model, words.as_deref()),
        SlashCommand::Tree => vec![ProgramTask::Snapshot(Purpose::Tree).into()],
        SlashCommand::Branches => vec![ProgramTask::Branches.into()],
        SlashCommand::Switch(entry, along) | SlashCommand::BranchHere(Some(entry), along) => {
            orders::begin(model, going(Some(entry), file_flags(along)))
        }
        SlashCommand::BranchHere(None, _) => vec![ProgramTask::Snapshot(Purpose::BranchHere).into()],
        SlashCommand::Fork(None, _) => vec![ProgramTask::Snapshot(Purpose::Fork).into()],
        SlashCommand::Fork(Some(entry), along) => leave(model, ProgramTask::Fork(entry, along), Leave::Fork),
        SlashCommand::Clone => leave(model, Cmd::ask(CloneSession), Leave::Clone),
        SlashCommand::Pop(entry, along) => {
            orders::begin(model, going(entry, &[&["summarize"], file_flags(along)].concat()))
        }
        SlashCommand::Compare(entry, other) => vec![ProgramTask::Compare(entry, other).into()],
        SlashCommand::Operation(order) => orders::begin(model, order),
        SlashCommand::ExportBranch { entry, path } => vec![ProgramTask::ExportBranch { entry, path }.into()],
        SlashCommand::AskName => ask_name(model),
        SlashCommand::Compact { instructions } => vec![Cmd::ask(Compact(instructions))],
        SlashCommand::Model(None) => vec![ProgramTask::Models.into()],
        SlashCommand::Model(Some(named)) => vec![ProgramTask::UseModel(named).into()],
        SlashCommand::Thinking(None) => pick_thinking(model),
        SlashCommand::Thinking(Some(level)) => vec![Cmd::ask(SetThinkingLevel(level))],
        SlashCommand::Approval(None) => approval::pick(model),
        SlashCommand::Approval(Some(mode)) => vec![Cmd::ask(SetApproval(mode))],
        SlashCommand::Background => background::list(model),
        SlashCommand::Agents => agents::list(model),
        SlashCommand::Sandbox(mode) => vec![ProgramTask::Sandbox(mode).into()],
        SlashCommand::Permissions(words) => vec![ProgramTask::Permissions(words).into()],
        SlashCommand::Mcp(words) => vec![ProgramTask::Mcp(words).into()],
        SlashCommand::Auth(action, provider) => vec![ScreenTask::Auth(action, provider).into()],
        SlashCommand::Session => vec![ProgramTask::Describe.into()],
        SlashCommand::Export(path) => vec![ProgramTask::Export(path).into()],
        SlashCommand::Import(path) => leave(model, ProgramTask::Import(path), Leave::OpenSession),
        SlashCommand::Copy => copy(model),
        SlashCommand::Settings => vec![ProgramTask::Settings.into()],
        SlashCommand::Theme => vec![ProgramTask::ThemeList.into()],
        SlashCommand::Reload => vec![ProgramTask::Reload.into()],
        SlashCommand::Extensions => vec![ProgramTask::Extension(ExtensionTask::List).into()],
        SlashCommand::ScopedModels => vec![ProgramTask::ModelScope.into()],
        SlashCommand::Trust => vec![ProgramTask::Trust.into()],
        SlashCommand::Help => help(model),
        SlashCommand::Quit => end(model),
    }
}

/// Starts a new session.
pub(super) fn new(model: &mut Model) -> Vec<Cmd> {
    leave(model, Cmd::ask(StartSession { parent: None }), Leave::StartSession)
}

/// Opens the session selector.
pub(super) fn resume(model: &mut Model) -> Vec<Cmd> {
    model.goes_on_at = None;
    let setting = Setting {
        now: model.now,
        home: model.preferences.home.as_ref().map(Into::into),
        current: model.facts.path.clone(),
        keymap: model.preferences.keymap.clone(),
    };
    let mut sessions = Box::new(Sessions::new(setting));
    let requests = sessions.requests();
    model.overlay = Some(Overlay::Sessions(sessions));
    requests.into_iter().map(|request| ProgramTask::Sessions(request).into()).collect()
}

/// Puts the name into the editor for editing.
fn ask_name(model: &mut Model) -> Vec<Cmd> {
    if model.facts.name.is_none() {
        model.notice(Level::Info, "the session has no name: type it after /name");
    }
    model.editor.replace(&format!("/name {}", model.facts.name.clone().unwrap_or_default()));
    Vec::new()
}

fn levels(model: &Model) -> Vec<ThinkingLevel> {
    model.facts.model.as_ref().map(|answers| answers.levels()).unwrap_or_default()
}

fn pick_thinking(model: &mut Model) -> Vec<Cmd> {
    let levels = levels(model);
    let choice = |level: &ThinkingLevel| Choice {
        is_current: model.facts.thinking == Some(*level),
        ..Choice::new(level.as_str())
    };
    let pick = Pick::new("How much the model thinks", levels.iter().map(choice).collect());
    model.overlay = Some(Overlay::Pick(Box::new(pick), Picking::Thinking(levels)));
    Vec::new()
}

/// Sets the next thinking level that the model supports.
pub(super) fn cycle_thinking(model: &mut Model) -> Vec<Cmd> {
    let levels = levels(model);
    let now = levels.iter().position(|level| model.facts.thinking == Some(*level));
    let next = now.map_or(0, |now| (now + 1) % levels.len().max(1));
    match levels.get(next) {
        Some(level) if levels.len() > 1 => vec![Cmd::ask(SetThinkingLevel(*level))],
        _ => {
            model.notice(Level::Info, "this model does not think");
            Vec::new()
        }
    }
}

/// Uses the next model, or the previous one.
pub(super) fn next_model(is_forward: bool) -> Vec<Cmd> {
    vec![ProgramTask::NextModel { is_forward }.into()]
}

/// Copies the last answer.
pub(super) fn copy(model: &mut Model) -> Vec<Cmd> {
    let words = model.conversation.blocks().rev().find_map(ConversationBlock::words);
    match words {
        Some(text) => vec![ProgramTask::Copy { text, what: "the last answer" }.into()],
        None => {
            model.notice(Level::Warning, "there is no answer to copy yet");
            Vec::new()
        }
    }
}

/// Goes to newer work on another branch. Before the session is known, it waits for that.
pub(super) fn go_to_diverged(model: &mut Model) -> Vec<Cmd> {
    if model.facts.id.is_empty() {
        model.goes_to_diverged = true;
        return Vec::new();
    }
    match model.facts.diverged.clone() {
        Some(diverged) => orders::begin(model, going(Some(diverged.entry), &["behind"])),
        None => {
            model.notice(Level::Info, "no other branch holds newer work");
            Vec::new()
        }
    }
}

/// Shows commands and keys.
pub(super) fn help(model: &mut Model) -> Vec<Cmd> {
    model.overlay = Some(Overlay::Help(Box::new(Help::new(&model.preferences.keymap, model.size))));
    Vec::new()
}
