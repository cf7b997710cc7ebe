//! The user's settings for a front end: keys, themes and settings, from the user's files.

use std::path::Path;

use offshoot_app::agent::Args;
use offshoot_app::app::App;
use offshoot_app::config::settings::{SettingsFiles, peer_folders};
use offshoot_app::config::variable;
use offshoot_app::error::Result;
use offshoot_settings::Settings;
use offshoot_tui::app::model::Preferences;
use offshoot_tui::keymap::Action;
use offshoot_tui::message::Habits;
use offshoot_tui::terminal::{Capabilities, detect};
use offshoot_tui::theme::{Background, Themes};

use super::theme_files::theme_files;
use crate::key_bindings;
use crate::themes::{self, ThemeFiles};

/// Reads the settings for a session of this folder. Invalid settings were reported when the agent was set up.
pub(super) fn preferences(app: &App, args: &Args, files: &SettingsFiles, cwd: &str) -> Result<Preferences> {
    let (keymap, troubles) = key_bindings::load(app.environment.data.as_deref(), &peer_folders(&app.environment))?;
    troubles.iter().for_each(|trouble| app.ui.warning(trouble));
    let (layers, _) = files.load()?;
    let mut settings = Settings::from(&layers);
    settings.theme = args.use_theme.clone().or(settings.theme);
    settings.is_quiet &= !args.verbose;
    let home = app.environment.home.as_ref().map(|home| home.display().to_string());
    let habits = Habits {
        cwd: cwd.to_owned(),
        home: home.clone().unwrap_or_default(),
        expand_key: keymap.hint(Action::ExpandTools).unwrap_or_default(),
        thinking_key: keymap.hint(Action::ToggleThinking).unwrap_or_default(),
        ..Habits::default()
    };
    let background = variable("COLORFGBG").and_then(|value| Background::of_variable(&value)).unwrap_or_default();
    let found = || theme_files(app, args, &layers, Path::new(cwd));
    let themes = themes(app, &found, &settings, &files.position_prefix(&layers, "theme"));
    let Capabilities { colours: depth, images, rewraps, animates, answers_modes, notifier, .. } = detect(variable);
    let zone = offshoot_session::zone::Zone::local().jiff();
    let preferences = Preferences {
        themes,
        background,
        depth,
        keymap,
        habits,
        settings,
        home,
        images,
        rewraps,
        animates,
        answers_modes,
        zone,
        notifier,
        ..Preferences::default()
    };
    Ok(Preferences { theme: preferences.theme_for_terminal(), ..preferences })
}

/// The themes of the settings; built-in ones, with a warning, instead of unusable ones.
fn themes(app: &App, files: &dyn Fn() -> ThemeFiles, settings: &Settings, place: &str) -> Themes {
    let loaded = themes::named(files, settings.theme.as_deref());
    let (themes, troubles) = loaded.unwrap_or_else(|error| {
        let told = std::iter::once(format!("{place}{}", error.message)).chain(error.hints);
        (Themes::default(), told.collect())
    });
    troubles.iter().for_each(|trouble| app.ui.warning(trouble));
    themes
}
