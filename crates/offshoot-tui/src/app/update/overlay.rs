//! Opens overlays, and handles their keys and requests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_agent::branch_files::FilePatch;
use offshoot_protocol::model::Model as LanguageModel;
use offshoot_protocol::request::{Abort, Fork, SetApproval, SetModel, SetThinkingLevel, SwitchSession};
use offshoot_protocol::{ApprovalMode, ComesBack, FilesAlong, FolderRefusal};
use offshoot_session::text::{counted, spell_name};
use offshoot_session::transcript::Level;
use offshoot_session::tree::NodeIx;
use offshoot_settings::{Scope, Value};
use offshoot_workspace::{ArgValue, FilesPreview, Given, OperationOrder};
use ratatui::crossterm::event::KeyEvent;

use super::leaving::{Leave, leave, stop_and_leave};
use super::{agents, background, end_now, finding, orders, settings, theme_pick};
use crate::app::cmd::{Cmd, ProgramTask, Purpose, ScreenTask, TrustAnswer};
use crate::app::model::{Model, Overlay, PickedModel, Picking};
use crate::app::msg::ListedModel;
use crate::app::page::Page;
use crate::app::pager::Pager;
use crate::keymap::{Action, Context};
use crate::overlay::fork::{ForkOutcome, ForkSelector, ForkUse};
use crate::overlay::help;
use crate::overlay::model_scope::{ModelScopeList, ScopeOutcome, ScopeRow};
use crate::overlay::pick::{self, Choice, Pick};
use crate::overlay::prompts::{PastPrompts, PromptSearch, PromptSearchOutcome};
use crate::overlay::tree::{self, ForecastWish, ForecastWords, Snapshot, TreeSelector};
use crate::text::in_short;

/// The number of bytes that idle work reads at a time.
const AT_A_TIME: usize = 1 << 20;

pub(super) fn key(model: &mut Model, key: KeyEvent) -> Vec<Cmd> {
    if key.is_release() {
        return Vec::new();
    }
    if model.preferences.keymap.action(Context::Editor, key) == Some(Action::Suspend) {
        return vec![ScreenTask::Suspend.into()];
    }
    let Some(overlay) = &mut model.overlay else { return Vec::new() };
    match overlay {
        Overlay::Tree(tree) => {
            tree.tick(model.now);
            let outcome = tree.key(key);
            let kept = tree.take_files_answer().map(|comes| Value::Text(comes.word().to_owned()));
            let mut cmds = tree_outcome(model, outcome);
            cmds.extend(kept.map(|value| ProgramTask::Store(Scope::Global, "treeFiles", Some(value)).into()));
            cmds.extend(ask_forecast(model));
            cmds
        }
        Overlay::Sessions(sessions) => {
            sessions.set_now(model.now);
            let outcome = sessions.key(key);
            finding::sessions_outcome(model, outcome)
        }
        Overlay::Search(search) => {
            search.set_now(model.now);
            let outcome = search.key(key);
            finding::search_outcome(model, outcome)
        }
        Overlay::Reader(..) => finding::reader_key(model, key),
        Overlay::Fork(fork, used) => {
            let (outcome, used) = (fork.key(&model.preferences.keymap, key), *used);
            fork_outcome(model, outcome, used)
        }
        Overlay::Transcript(pager) => {
            if model.preferences.keymap.action(Context::Transcript, key) == Some(Action::ToggleTimestamps) {
                model.toggle_times();
                return Vec::new();
            }
            let stays = pager.key(&model.preferences.keymap, key);
            keep(model, stays)
        }
        Overlay::Help(help) => {
            let stays = help.key(&model.preferences.keymap, key) == help::HelpOutcome::Open;
            keep(model, stays)
        }
        Overlay::Settings(list) => {
            let outcome = list.key(&model.preferences.keymap, key);
            settings::outcome(model, outcome)
        }
        Overlay::Page(page) => {
            let stays = page.key(&model.preferences.keymap, key);
            keep(model, stays)
        }
        Overlay::ModelScope(list) => {
            let outcome = list.key(&model.preferences.keymap, key);
            scope_outcome(model, outcome)
        }
        Overlay::Prompts(search) => {
            let outcome = search.key(&model.preferences.keymap, key);
            prompts_outcome(model, outcome)
        }
        // Its keys are taken before.
        Overlay::Dialog(..) | Overlay::Component(_) => Vec::new(),
        Overlay::Pick(pick, picking) => {
            let (outcome, picking) = (pick.key(&model.preferences.keymap, key), picking.clone());
            picked(model, outcome, &picking)
        }
    }
}

fn keep(model: &mut Model, stays: bool) -> Vec<Cmd> {
    if !stays {
        model.overlay = None;
    }
    Vec::new()
}

pub(super) fn paste(model: &mut Model, text: &str) -> Vec<Cmd> {
    match &mut model.overlay {
        Some(Overlay::Tree(tree)) => tree.paste(text),
        Some(Overlay::Sessions(sessions)) => {
            sessions.paste(text);
            return finding::asks(sessions.requests());
        }
        Some(Overlay::Search(search)) => {
            search.paste(text);
            return finding::hit_asks(search.requests());
        }
        Some(Overlay::Reader(reader, _)) => reader.paste(text),
        Some(Overlay::Pick(pick, _)) => pick.paste(text),
        Some(Overlay::ModelScope(list)) => list.paste(text),
        Some(Overlay::Prompts(search)) => search.paste(text),
        Some(Overlay::Help(help)) => help.paste(text),
        Some(Overlay::Dialog(dialog, _)) => dialog.paste(text),
        Some(Overlay::Settings(list)) => list.paste(text),
        Some(Overlay::Transcript(pager)) => pager.paste(text),
        Some(Overlay::Fork(..) | Overlay::Page(_) | Overlay::Component(_)) | None => {}
    }
    Vec::new()
}

fn tree_outcome(model: &mut Model, outcome: tree::TreeOutcome) -> Vec<Cmd> {
    match outcome {
        tree::TreeOutcome::Stay => Vec::new(),
        tree::TreeOutcome::Close => keep(model, false),
        tree::TreeOutcome::AlreadyHere => {
            model.notice(Level::Info, tree::ALREADY_HERE);
            keep(model, false)
        }
        tree::TreeOutcome::Navigate { target, summarize, instructions, left_out, files } => {
            if let Some(left_out) = left_out {
                model.notice(Level::Warning, left_out);
            }
            let summarizes: &[_] = if summarize { &["summarize"] } else { &[] };
            let flags = [summarizes, orders::file_flags(files)].concat();
            let mut order = orders::going(Some(target), &flags);
            instructions.into_iter().for_each(|text| order.given.put_text("instructions", text));
            orders::begin(model, order)
        }
        tree::TreeOutcome::PreviewFiles(entry) => vec![ProgramTask::FilesPreview(entry).into()],
        tree::TreeOutcome::Abort => vec![Cmd::ask(Abort)],
        tree::TreeOutcome::Operate(order) => orders::begin(model, order),
        tree::TreeOutcome::Label { entry, text } => vec![ProgramTask::Operate(label_order(entry, text)).into()],
        tree::TreeOutcome::Copy(text) => vec![ProgramTask::Copy { text, what: "the entry" }.into()],
        tree::TreeOutcome::OpenAgent(id) => agents::open(model, &id),
        tree::TreeOutcome::Edit(text) => vec![ScreenTask::Edit(text).into()],
        tree::TreeOutcome::FindSource(origin) => vec![ProgramTask::FindSource(origin).into()],
        tree::TreeOutcome::Patches(first, second) => vec![ProgramTask::Patches(first, second).into()],
    }
}

fn fork_outcome(model: &mut Model, outcome: ForkOutcome, used: ForkUse) -> Vec<Cmd> {
    let (entry, files) = match outcome {
        ForkOutcome::Stay => return Vec::new(),
        ForkOutcome::Close => return keep(model, false),
        ForkOutcome::Fork(entry, files) => (entry, files),
    };
    model.overlay = None;
    match used {
        ForkUse::Fork => leave(model, Cmd::ask(Fork { entry, files }), Leave::Fork),
        ForkUse::BranchHere => orders::begin(model, orders::going(Some(entry), orders::file_flags(files))),
    }
}

fn picked(model: &mut Model, outcome: pick::PickOutcome, picking: &Picking) -> Vec<Cmd> {
    if let Picking::Theme(themes) = picking {
        return theme_pick::picked(model, outcome, themes);
    }
    let number = match outcome {
        pick::PickOutcome::Open => return Vec::new(),
        pick::PickOutcome::Cancelled => {
            model.goes_on_at = None;
            return keep(model, false);
        }
        pick::PickOutcome::Picked(number) => number,
    };
    // An agent is read over the list.
    if !matches!(picking, Picking::Agents(_)) {
        model.overlay = None;
    }
    let cmd = match picking {
        Picking::Trust => TrustAnswer::ALL.get(number).map(|answer| ProgramTask::KeepTrust(*answer).into()),
        Picking::Model(models) => match models.get(number) {
            Some(PickedModel::Model(chosen)) => return use_model(model, chosen),
            Some(PickedModel::OfThisMachine) => {
                model.notice(Level::Info, "looking for local models …");
                Some(ProgramTask::LocalModels.into())
            }
            None => None,
        },
        Picking::Thinking(levels) => levels.get(number).map(|level| Cmd::ask(SetThinkingLevel(*level))),
        Picking::Approval => ApprovalMode::ALL.get(number).map(|mode| Cmd::ask(SetApproval(*mode))),
        Picking::SessionFolder(file, folders) => {
            let folder = folders.get(number).cloned();
            model.goes_on_at.take_if(|_| folder.is_none());
            folder.map(|folder| Cmd::ask(SwitchSession { file: file.clone(), folder: Some(folder) }))
        }
        Picking::Leaving(leaving) => {
            model.goes_on_at.take_if(|_| number > 0);
            return if number == 0 { stop_and_leave(model, *leaving.clone()) } else { Vec::new() };
        }
        Picking::Branch(leaves) => {
            let order = leaves.get(number).map(|leaf| orders::going(Some(leaf.clone()), &[]));
            return order.map(|order| orders::begin(model, order)).unwrap_or_default();
        }
        Picking::Ending => return if number == 0 { end_now(model) } else { Vec::new() },
        Picking::Agents(ids) => return ids.get(number).map(|id| agents::open(model, id)).unwrap_or_default(),
        Picking::Background(ids) => ids.get(number).map(|id| background::stop(id)),
        // It was taken before.
        Picking::Theme(_) => None,
    };
    cmd.into_iter().collect()
}
/// The model answers, with the thinking level that the settings have for it.
fn use_model(model: &Model, chosen: &Arc<LanguageModel>) -> Vec<Cmd> {
    let level = model.preferences.settings.thinking_of.get(&format!("{}/{}", chosen.provider, chosen.id));
    let level = level.map(|level| Cmd::ask(SetThinkingLevel(*level)));
    std::iter::once(Cmd::ask(SetModel(Arc::clone(chosen)))).chain(level).collect()
}

pub(super) fn model_scope(model: &mut Model, rows: Vec<ScopeRow>) -> Vec<Cmd> {
    if rows.is_empty() {
        model.notice(Level::Info, "there is no model with a key");
        return Vec::new();
    }
    model.overlay = Some(Overlay::ModelScope(Box::new(ModelScopeList::new(rows, &model.preferences.keymap))));
    Vec::new()
}

fn scope_outcome(model: &mut Model, outcome: ScopeOutcome) -> Vec<Cmd> {
    match outcome {
        ScopeOutcome::Open => Vec::new(),
        ScopeOutcome::Closed => keep(model, false),
        ScopeOutcome::Use(names) => vec![ProgramTask::UseScope(names).into()],
        ScopeOutcome::Keep(names) => {
            model.overlay = None;
            let value = Some(names.clone()).filter(|names| !names.is_empty()).map(Value::Texts);
            let store = ProgramTask::Store(Scope::Global, "enabledModels", value);
            vec![ProgramTask::UseScope(names).into(), store.into()]
        }
    }
}

/// Asks whether the folder is trusted.
pub(super) fn trust(model: &mut Model, standing: &str, answers: [String; 3]) -> Vec<Cmd> {
    let names = ["trust this folder", "trust the folder above", "never trust it"];
    let choices = names.iter().zip(answers).map(|(name, detail)| Choice { detail, ..Choice::new(*name) }).collect();
    model.overlay = Some(Overlay::Pick(Box::new(Pick::new(standing, choices)), Picking::Trust));
    Vec::new()
}

/// Asks in which folder a session from elsewhere is continued. The answer counts for this start.
pub(super) fn session_folder(model: &mut Model, file: PathBuf, refusal: &FolderRefusal) -> Vec<Cmd> {
    let folders: Vec<PathBuf> = refusal.choices().into_iter().map(Path::to_path_buf).collect();
    let names: &[&str] =
        if folders.len() == 1 { &["in this folder"] } else { &["in the session's folder", "in this folder"] };
    let shown = |folder: &PathBuf| spell_name(&folder.display().to_string()).into_owned();
    let mut choices: Vec<Choice> = names
        .iter()
        .zip(&folders)
        .map(|(name, folder)| Choice { detail: shown(folder), ..Choice::new(*name) })
        .collect();
    choices.push(Choice::new("do not open it"));
    let pick = Pick::new("This session belongs to another folder. Where should the agent work?", choices);
    model.overlay = Some(Overlay::Pick(Box::new(pick), Picking::SessionFolder(file, folders)));
    Vec::new()
}

/// Opens the overlay for which the session was read.
pub(super) fn snapshot(model: &mut Model, purpose: Purpose, source: Snapshot, leaf: Option<NodeIx>) -> Vec<Cmd> {
    match purpose {
        Purpose::Tree => {
            open_tree(model, source, leaf);
            let mut cmds = agents::show_in_tree(model);
            cmds.extend(ask_forecast(model));
            return cmds;
        }
        Purpose::GoOn => {
            let Some(entry) = model.goes_on_at.take() else { return Vec::new() };
            let at = source.tree().find(entry.as_str());
            open_tree(model, source, leaf);
            if let (Some(Overlay::Tree(tree)), Some(at)) = (&mut model.overlay, at) {
                let outcome = tree.go_to(at);
                let mut cmds = tree_outcome(model, outcome);
                cmds.extend(ask_forecast(model));
                return cmds;
            }
        }
        Purpose::Compare(first, second) => {
            open_tree(model, source, leaf);
            if let Some(Overlay::Tree(tree)) = &mut model.overlay {
                tree.open_comparison(first, second);
            }
        }
        Purpose::Transcript => {
            let mut pager = Pager::of(&model.conversation, source, leaf, model.preferences.habits.clone());
            if let Some(block) = model.reader_block.take() {
                pager.unfold_at(&model.conversation, block);
            }
            model.overlay = Some(Overlay::Transcript(Box::new(pager)));
        }
        Purpose::Fork | Purpose::BranchHere => {
            let used = if purpose == Purpose::Fork { ForkUse::Fork } else { ForkUse::BranchHere };
            let fork = ForkSelector::new(source, used, files_of_fork(model));
            if fork.is_empty() {
                model.notice(Level::Info, "there is no message of yours yet");
                return Vec::new();
            }
            model.overlay = Some(Overlay::Fork(Box::new(fork), used));
        }
    }
    Vec::new()
}

/// What the setting `treeFiles` says of a session that begins elsewhere: the conversation comes in any case.
fn files_of_fork(model: &Model) -> FilesAlong {
    match model.preferences.settings.tree_files {
        Some(ComesBack::Both | ComesBack::Files) => FilesAlong::Come,
        Some(ComesBack::Messages) | None => FilesAlong::Stay,
    }
}

fn open_tree(model: &mut Model, source: Snapshot, leaf: Option<NodeIx>) {
    let setup = tree::Setup {
        filter: model.preferences.settings.tree_filter,
        layout: model.preferences.settings.tree_layout,
        skips_question: model.preferences.settings.skip_summary_prompt,
        files: model.preferences.settings.tree_files,
        home: model.preferences.home.clone(),
        zone: model.preferences.zone.clone(),
        now: model.now,
        size: (model.size.width, model.size.height),
        keymap: model.preferences.keymap.clone(),
        ..tree::Setup::default()
    };
    match TreeSelector::new(source, leaf, setup) {
        Ok(tree) if tree.is_empty() => model.notice(Level::Info, tree::NO_ENTRIES),
        Ok(tree) => model.overlay = Some(Overlay::Tree(Box::new(tree))),
        Err(error) => model.notice(Level::Error, format!("the tree cannot be shown: {error}")),
    }
}

/// Asks what the next request from the entry under the cursor would cost.
fn ask_forecast(model: &mut Model) -> Vec<Cmd> {
    let Some(Overlay::Tree(tree)) = &mut model.overlay else { return Vec::new() };
    tree.wants_forecast().map(|wish| ProgramTask::Forecast(wish).into()).into_iter().collect()
}

pub(super) fn patches(model: &mut Model, of: [&str; 2], patches: Result<Vec<FilePatch>, String>) -> Vec<Cmd> {
    if let Some(Overlay::Tree(tree)) = &mut model.overlay {
        tree.take_patches(of, patches);
    }
    Vec::new()
}

pub(super) fn files_preview(model: &mut Model, entry: &str, found: Result<&FilesPreview, String>) -> Vec<Cmd> {
    if let Some(Overlay::Tree(tree)) = &mut model.overlay {
        tree.take_files_preview(entry, found);
    }
    Vec::new()
}

pub(super) fn forecast(model: &mut Model, wish: ForecastWish, words: ForecastWords) -> Vec<Cmd> {
    if let Some(Overlay::Tree(tree)) = &mut model.overlay {
        tree.set_forecast(wish, words);
    }
    ask_forecast(model)
}

pub(super) fn source(model: &mut Model, words: &str) -> Vec<Cmd> {
    match &mut model.overlay {
        Some(Overlay::Tree(tree)) => tree.tell(words),
        _ => model.notice(Level::Info, words),
    }
    Vec::new()
}

/// Continues idle work.
pub(super) fn idle(model: &mut Model) -> Vec<Cmd> {
    match &mut model.overlay {
        Some(Overlay::Tree(tree)) => _ = tree.work(AT_A_TIME),
        Some(Overlay::Transcript(pager)) => pager.work(AT_A_TIME),
        Some(Overlay::Reader(reader, _)) => reader.work(AT_A_TIME),
        _ => {}
    }
    Vec::new()
}

pub(super) fn models(model: &mut Model, models: Vec<ListedModel>) -> Vec<Cmd> {
    let now = model.facts.model.as_ref();
    let choice = |ListedModel { model, has_key }: &ListedModel| Choice {
        detail: about(model, *has_key),
        is_current: *has_key && now.is_some_and(|now| (&now.id, &now.provider) == (&model.id, &model.provider)),
        ..Choice::new(&model.id)
    };
    let mut choices: Vec<Choice> = models.iter().map(choice).collect();
    // After the models that can be asked.
    let place = models.iter().position(|listed| !listed.has_key).unwrap_or(models.len());
    let detail = "Ollama · LM Studio · llama.cpp · vLLM".to_owned();
    choices.insert(place, Choice { detail, ..Choice::new("Local models …") });
    let pick = Pick::new("Which model answers ($ per 1M tokens)", choices);
    let mut models: Vec<PickedModel> = models.into_iter().map(|listed| PickedModel::Model(listed.model)).collect();
    models.insert(place, PickedModel::OfThisMachine);
    model.overlay = Some(Overlay::Pick(Box::new(pick), Picking::Model(models)));
    Vec::new()
}

/// Shows the models with the cursor on the first one, not on the one in use.
pub(super) fn local_models(model: &mut Model, found: Vec<ListedModel>) -> Vec<Cmd> {
    let cmds = models(model, found);
    if let Some(Overlay::Pick(pick, _)) = &mut model.overlay {
        pick.go_to(0);
    }
    cmds
}

/// The provider of a model, its context, the price of a million tokens, and whether it has a key.
fn about(model: &LanguageModel, has_key: bool) -> String {
    let price = &model.price;
    let price = if price.input > 0.0 || price.output > 0.0 {
        format!(" · ${} in, ${} out", price.input, price.output)
    } else {
        String::new()
    };
    let key = if has_key { "" } else { "no key · " };
    format!("{key}{} · {} context{price}", model.provider, in_short(model.context_window))
}

pub(super) fn branches(model: &mut Model, branches: Vec<(String, Choice)>) -> Vec<Cmd> {
    if branches.is_empty() {
        model.notice(Level::Info, tree::NO_ENTRIES);
        return Vec::new();
    }
    let (leaves, choices) = branches.into_iter().unzip();
    model.overlay =
        Some(Overlay::Pick(Box::new(Pick::new("Branches of this session", choices)), Picking::Branch(leaves)));
    Vec::new()
}

/// Opens the search, unless something else was opened meanwhile.
pub(super) fn past_prompts(model: &mut Model, past: PastPrompts) -> Vec<Cmd> {
    if let Some((file, lines)) = &past.damaged {
        let lines = counted(*lines as u64, "damaged line", "damaged lines");
        model.notice(Level::Warning, format!("{file} has {lines}, which the search leaves out"));
    }
    let search = PromptSearch::new(past);
    if search.is_empty() {
        model.notice(Level::Info, "no earlier prompts are kept");
    } else if model.overlay.is_none() {
        model.overlay = Some(Overlay::Prompts(Box::new(search)));
    }
    Vec::new()
}

fn prompts_outcome(model: &mut Model, outcome: PromptSearchOutcome) -> Vec<Cmd> {
    match outcome {
        PromptSearchOutcome::Open => Vec::new(),
        PromptSearchOutcome::Closed => keep(model, false),
        PromptSearchOutcome::Taken(text) => {
            model.overlay = None;
            model.editor.replace(&text);
            vec![ProgramTask::SaveDraft(model.kept_draft()).into()]
        }
    }
}

pub(super) fn page(model: &mut Model, title: String, lines: Vec<String>) -> Vec<Cmd> {
    model.overlay = Some(Overlay::Page(Page::new(title, lines)));
    Vec::new()
}

/// Closes the tree at the end of the navigation.
pub(super) fn arrived(model: &mut Model) {
    if matches!(model.overlay, Some(Overlay::Tree(_))) {
        model.overlay = None;
    }
}

/// Reports an error to the selector that waits.
pub(super) fn told(model: &mut Model, why: &str) {
    match &mut model.overlay {
        Some(Overlay::Tree(tree)) => tree.failed(why),
        Some(Overlay::Reader(reader, _)) => reader.tell(why),
        _ => {}
    }
}

/// The user stopped what the selector waits for.
pub(super) fn stopped(model: &mut Model) {
    if let Some(Overlay::Tree(tree)) = &mut model.overlay {
        tree.stopped();
    }
}

fn label_order(entry: String, text: Option<String>) -> OperationOrder {
    let mut given = Given::default();
    given.put_text("entry", entry);
    match text {
        Some(text) => given.put_text("text", text),
        None => given.put("clear", ArgValue::Flag),
    }
    OperationOrder::new("label", given)
}
