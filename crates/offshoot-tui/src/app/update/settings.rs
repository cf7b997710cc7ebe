//! `/settings`: the program stores each change. Changes that concern the running session apply at once.

use offshoot_protocol::RunSettings;
use offshoot_protocol::request::{SetApproval, SetFollowUpMode, SetRunSettings, SetSteeringMode};

use super::{dress, theme_pick};
use crate::app::cmd::{Cmd, ProgramTask};
use crate::app::model::{Model, Overlay};
use crate::app::msg::Reloaded;
use crate::keymap::Action;
use crate::overlay::settings::{Files, Settings as SettingsList, SettingsOutcome};
use offshoot_session::transcript::Level;
use offshoot_settings::{Layers, Settings};

/// Opens the list with the values of the files.
pub(super) fn open(model: &mut Model, layers: Layers, files: Files, themes: Vec<String>) -> Vec<Cmd> {
    let mut list = SettingsList::new(layers, files);
    list.offer("theme", themes);
    model.overlay = Some(Overlay::Settings(Box::new(list)));
    Vec::new()
}

pub(super) fn outcome(model: &mut Model, outcome: SettingsOutcome) -> Vec<Cmd> {
    match outcome {
        SettingsOutcome::Open => Vec::new(),
        SettingsOutcome::Closed => {
            model.overlay = None;
            Vec::new()
        }
        SettingsOutcome::Store { scope, key, value } => vec![ProgramTask::Store(scope, key, value).into()],
    }
}

/// Handles a stored change, or the failure to store it.
pub(super) fn stored(model: &mut Model, stored: Result<Layers, String>) -> Vec<Cmd> {
    let (layers, failed) = match stored {
        Ok(layers) => (Some(layers), None),
        Err(why) => (None, Some(why)),
    };
    let mut cmds = layers.as_ref().map_or_else(Vec::new, |layers| minded(model, Settings::from(layers)));
    let is_read = |cmd: &Cmd| matches!(cmd, Cmd::Program(ProgramTask::Themes(_)));
    let settled = theme_pick::settle(model);
    cmds.extend(settled.filter(|_| !cmds.iter().any(is_read)));
    if let Some(Overlay::Settings(list)) = &mut model.overlay {
        layers.into_iter().for_each(|layers| list.stored(layers));
        failed.into_iter().for_each(|why| list.failed(why));
    } else {
        match failed {
            Some(why) => model.notice(Level::Error, why),
            None => model.notice(Level::Info, "kept in the settings"),
        }
    }
    cmds
}

/// Takes what was read anew. The terminal, the session, the draft and the queue stay as they are. The agent has taken its
/// part.
pub(super) fn reloaded(model: &mut Model, new: Reloaded) -> Vec<Cmd> {
    let habits = &mut model.preferences.habits;
    habits.expand_key = new.keymap.hint(Action::ExpandTools).unwrap_or_default();
    habits.thinking_key = new.keymap.hint(Action::ToggleThinking).unwrap_or_default();
    (model.preferences.keymap, model.preferences.themes) = (new.keymap, new.themes);
    model.editor.offer(|offers| offers.set_called(new.called));
    // The agent keeps its mode, and has followed the rest.
    drop(minded(model, new.settings));
    vec![ProgramTask::ReadSessionFacts.into()]
}

/// Applies the changed settings that concern the running session. The others apply at the next start.
fn minded(model: &mut Model, new: Settings) -> Vec<Cmd> {
    let old = std::mem::replace(&mut model.preferences.settings, new);
    let new = &model.preferences.settings;
    let changed = [
        (old.steering != new.steering).then(|| Cmd::ask(SetSteeringMode(new.steering))),
        (old.follow_up != new.follow_up).then(|| Cmd::ask(SetFollowUpMode(new.follow_up))),
        (old.permissions.mode != new.permissions.mode).then(|| Cmd::ask(SetApproval(new.permissions.mode))),
        (run_settings(&old) != run_settings(new)).then(|| Cmd::ask(SetRunSettings(Box::new(run_settings(new))))),
    ];
    let mut cmds: Vec<Cmd> = changed.into_iter().flatten().collect();
    if old.theme != new.theme {
        cmds.push(ProgramTask::Themes(new.theme.clone()).into());
    }
    if old.hide_thinking != new.hide_thinking {
        model.folds.0 = !new.hide_thinking;
    }
    model.apply_settings();
    model.measure();
    dress::dress(model);
    cmds
}

/// The settings of runs.
fn run_settings(settings: &Settings) -> RunSettings {
    RunSettings {
        retry: settings.retry,
        compaction: settings.compaction,
        compaction_for: settings.compaction_for.clone(),
        branch_reserve: settings.branch_reserve,
        parallel_tools: settings.parallel_tools,
        prompt_storage: settings.prompt_storage,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::msg::Msg;
    use crate::app::update::update;
    use offshoot_settings::{Layer, Scope};

    fn layers(text: &str) -> Layers {
        Layers { global: Layer::read(text, Scope::Global).unwrap().0, ..Layers::default() }
    }

    #[test]
    fn what_is_stored_counts_at_once() {
        let mut model = Model::default();
        update(&mut model, Msg::Settings(Layers::default(), Files::default(), Vec::new()));
        assert!(matches!(model.overlay, Some(Overlay::Settings(_))));
        let text = r#"{"steeringMode":"all","compaction":{"enabled":false},"hideThinkingBlock":true,"theme":"mine"}"#;
        let cmds = update(&mut model, Msg::Stored(Ok(layers(text))));
        assert_eq!(cmds.len(), 3, "{cmds:?}");
        assert!(cmds.contains(&ProgramTask::Themes(Some("mine".to_owned())).into()));
        let settings = Box::new(run_settings(&model.preferences.settings));
        assert!(!settings.compaction.enabled && cmds.contains(&Cmd::ask(SetRunSettings(settings))));
        assert!(!model.folds.0);
        assert_eq!(update(&mut model, Msg::Stored(Ok(layers(text)))), []);
        assert_eq!(update(&mut model, Msg::Stored(Err("the disk is full".to_owned()))), []);
    }

    #[test]
    fn the_user_knows_best_how_pictures_are_sent() {
        use offshoot_settings::ImageProtocol::{Iterm2, Sixel};
        let mut model = Model::default();
        let set = |model: &mut Model, value: &str| {
            let text = format!(r#"{{"terminal":{{"images":{value}}}}}"#);
            update(model, Msg::Stored(Ok(layers(&text))));
            (model.preferences.protocol(), model.preferences.habits.picture_size.is_some())
        };
        assert_eq!(set(&mut model, "\"iterm2\""), (Some(Iterm2), true), "where none was found");
        assert_eq!(set(&mut model, "\"auto\""), (None, false));
        model.preferences.images = Some(Iterm2);
        assert_eq!(set(&mut model, "\"auto\""), (Some(Iterm2), true));
        assert_eq!(set(&mut model, "\"sixel\""), (Some(Sixel), true));
        assert!(!set(&mut model, "false").1);
    }

    #[test]
    fn how_it_looks_is_another_at_once() {
        let mut model = Model::default();
        update(&mut model, Msg::Resized(ratatui::layout::Size::new(80, 24)));
        let height = |model: &mut Model| crate::app::view::bottom(model).draw(model).rows.area.height;
        let take = |model: &mut Model, text: &str| assert_eq!(minded(model, Settings::from(&layers(text))), []);
        let before = height(&mut model);
        take(&mut model, r#"{"outputPad":0}"#);
        assert!(model.preferences.habits.is_flush);
        take(&mut model, r#"{"outputPad":0,"editorPaddingX":3}"#);
        model.editor.replace(&"x".repeat(76));
        assert_eq!(height(&mut model), before + 1, "74 columns are left");
        take(&mut model, "{}");
        assert!(!model.preferences.habits.is_flush);
        assert_eq!(height(&mut model), before);
    }
}
