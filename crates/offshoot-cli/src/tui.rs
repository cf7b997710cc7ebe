//! `offshoot` on a terminal: the front end's program. Holds the agent and the store, does what the front end wants done,
//! and tells it what came of that.

mod choices;
mod clipboard;
mod deeds;
mod files;
mod hangup;
mod kept;
mod known;
mod pick;
mod program;
mod reading;
mod serve;
mod settings;
mod sessions;
mod signals;
mod stop;

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use offshoot_agent::Setup;
use offshoot_agent::command::{Command, Said};
use offshoot_session::session::Session;
use offshoot_settings::Settings;
use offshoot_tui::app::cmd::Cmd;
use offshoot_tui::app::model::{Model, Wishes};
use offshoot_tui::app::msg::Msg;
use offshoot_tui::app::run::{Inbox, Program as _, run as run_front_end};
use offshoot_tui::editor::{Editor, History};
use offshoot_tui::keymap::Action;
use offshoot_tui::message::{Habits, Level};
use offshoot_tui::theme::Themes;

use crate::agent::{models, settings_files};
use crate::app::App;
use crate::config;
use crate::config::settings::Files as SettingsFiles;
use crate::error::{CommandError, Result};
pub(crate) use clipboard::Tool as ClipboardTool;
use kept::Kept;
pub(crate) use pick::session as pick_session;
use program::Program;
use serve::World;
use sessions::Clerk;
pub(crate) use signals::Signals;

/// Runs the front end until the user ends it. `signals`: those that are heard already.
pub(crate) fn run(app: &App, session: Session, setup: Setup, said: Vec<Said>, signals: Option<Signals>) -> Result<()> {
    let (sender, receiver) = channel();
    // Before the terminal is another than the shell wants it.
    let signals = signals.map_or_else(Signals::listen, Ok)?;
    signals.tell(sender.clone());
    let kept = Kept::of(app, &session);
    let wishes = wishes(app, &settings_files(app, &session), session.cwd().unwrap_or_default())?;
    let editor = Editor::new(History::read(&kept.history()));
    // What was typed on the command line is said; a draft waits for another time.
    let draft = if said.is_empty() { kept.draft() } else { String::new() };
    let app = App { ui: app.ui.quiet(), ..app.clone() };
    let model = Model::new(wishes, editor, &draft);
    let told = Mutex::new(sender.clone());
    let clerk = Clerk::start(&app, move |answer| {
        // A front end that has ended needs no answers.
        if let Ok(told) = told.lock() {
            drop(told.send(Msg::Sessions(answer)));
        }
    })?;
    let world = World { app: app.clone(), news: sender.clone(), kept, clerk: Arc::new(clerk) };
    let mut program = Program::start(world, session, setup)?;
    program.take(Cmd::Look);
    for said in said {
        program.take(Cmd::Ask(Box::new(Command::FollowUp(said))));
    }
    if models::askable(&app).is_empty() {
        drop(sender.send(Msg::Notice(Level::Warning, keyless(&app))));
    }
    hangup::watch(sender.clone())?;
    let inbox = Inbox { sender, receiver };
    let ran = run_front_end(model, &inbox, &mut program, crate::ui::terminal);
    program.close();
    let model = ran.map_err(|error| CommandError::io("use the terminal", &error))?;
    goodbye(&app, &model);
    Ok(())
}

/// What somebody does who has no key yet.
fn keyless(app: &App) -> String {
    let folder = app.settings.data.as_deref().map(|data| app.settings.short(&data.display().to_string()));
    let folder = folder.unwrap_or_default();
    format!(
        "no model can be asked yet: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY and start again, or write \
         {{\"anthropic\": {{\"type\": \"api_key\", \"key\": \"…\"}}}} into {folder}/auth.json (chmod 600) and go on here. \
         `offshoot models --help` tells more"
    )
}

/// Says how to go on.
fn goodbye(app: &App, model: &Model) {
    let (looked, began) = (&model.looked, model.live.finished.all().next().is_some());
    if began && looked.path.is_some() {
        app.ui.loud().hint(&format!("`offshoot --session {}` goes on", looked.id));
    }
}

/// What the user has set, by these files, for a session of this folder. What of the settings has no effect was told when
/// the agent was put together.
fn wishes(app: &App, files: &SettingsFiles, cwd: &str) -> Result<Wishes> {
    let (keymap, troubles) = config::keys::load(app.settings.data.as_deref())?;
    troubles.iter().for_each(|trouble| app.ui.warning(trouble));
    let (layers, _) = files.load()?;
    let settings = Settings::from(&layers);
    let home = app.settings.home.as_ref().map(|home| home.display().to_string());
    let habits = Habits {
        cwd: cwd.to_owned(),
        home: home.clone().unwrap_or_default(),
        expand_key: keymap.hint(Action::ExpandTools).unwrap_or_default(),
        thinking_key: keymap.hint(Action::ToggleThinking).unwrap_or_default(),
        ..Habits::default()
    };
    let background = app.settings.background.unwrap_or_default();
    let themes = themes(app, &settings, &files.place(&layers, "theme"));
    let depth = app.settings.terminal.colours;
    let images = app.settings.terminal.images;
    let wishes = Wishes { themes, background, depth, keymap, habits, settings, home, images, ..Wishes::default() };
    Ok(Wishes { theme: wishes.dressed(), ..wishes })
}

/// The themes of the settings; instead of those that cannot be used, which is told, the built-in ones.
fn themes(app: &App, settings: &Settings, place: &str) -> Themes {
    let loaded = config::themes::named(app.settings.data.as_deref(), settings.theme.as_deref());
    let (themes, troubles) = loaded.unwrap_or_else(|error| {
        let told = std::iter::once(format!("{place}{}", error.message)).chain(error.hints);
        (Themes::default(), told.collect())
    });
    troubles.iter().for_each(|trouble| app.ui.warning(trouble));
    themes
}
