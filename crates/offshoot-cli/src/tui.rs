//! `offshoot` on a terminal: the front end's program. Holds the agent and the store, does what the front end wants done,
//! and tells it what came of that.

mod deeds;
mod files;
mod kept;
mod known;
mod pick;
mod program;
mod reading;
mod serve;
mod settings;
mod sessions;

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use offshoot_agent::Setup;
use offshoot_agent::command::{Command, Said};
use offshoot_session::session::Session;
use offshoot_tui::app::cmd::Cmd;
use offshoot_tui::app::model::{Model, Wishes};
use offshoot_tui::app::msg::Msg;
use offshoot_tui::app::run::{Inbox, Program as _, run as run_front_end};
use offshoot_tui::editor::{Editor, History};
use offshoot_tui::keymap::Action;
use offshoot_tui::message::{Habits, Level};
use offshoot_tui::settings::Settings;
use offshoot_tui::theme::Theme;

use crate::agent::{models, settings_files};
use crate::app::App;
use crate::config;
use crate::error::{CommandError, Result};
use kept::Kept;
pub(crate) use pick::session as pick_session;
use program::Program;
use serve::World;
use sessions::Clerk;

/// Runs the front end until the user ends it.
pub(crate) fn run(app: &App, session: Session, setup: Setup, said: Vec<Said>) -> Result<()> {
    let (sender, receiver) = channel();
    let kept = Kept::of(app, &session);
    let wishes = wishes(app, &session)?;
    let editor = Editor::new(History::read(&kept.history()));
    // What was typed on the command line is said; a draft waits for another time.
    let draft = if said.is_empty() { kept.draft() } else { String::new() };
    let mut app = App { ui: app.ui.quiet(), ..app.clone() };
    app.settings.editor = wishes.settings.external_editor.clone().or(app.settings.editor);
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
        "no model can be asked yet. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY and start again; or write \
         {{\"anthropic\": {{\"type\": \"api_key\", \"key\": \"…\"}}}} into {folder}/auth.json (chmod 600) and go on here. \
         Servers of your own: `offshoot models --help`. /tree, /resume, /import and /export work without a model"
    )
}

/// Says how to go on.
fn goodbye(app: &App, model: &Model) {
    let (looked, began) = (&model.looked, model.live.finished.all().next().is_some());
    if began && looked.path.is_some() {
        app.ui.loud().hint(&format!("`offshoot --session {}` goes on", looked.id));
    }
}

/// What the user has set. What of the settings has no effect was told when the agent was put together.
fn wishes(app: &App, session: &Session) -> Result<Wishes> {
    let (keymap, troubles) = config::keys::load(app.settings.data.as_deref())?;
    troubles.iter().for_each(|trouble| app.ui.warning(trouble));
    let (layers, _) = settings_files(app, session).load()?;
    let settings = Settings::from(&layers);
    let home = app.settings.home.as_ref().map(|home| home.display().to_string());
    let habits = Habits {
        cwd: session.cwd().unwrap_or_default().to_owned(),
        home: home.clone().unwrap_or_default(),
        expand_key: keymap.hint(Action::ExpandTools).unwrap_or_default(),
        thinking_key: keymap.hint(Action::ToggleThinking).unwrap_or_default(),
        ..Habits::default()
    };
    let theme = theme(app, &settings.theme).at(app.settings.terminal.colours);
    Ok(Wishes { theme, keymap, habits, settings, home, ..Wishes::default() })
}

/// A theme by its name: one of offshoot's, else a file of the data folder's `themes`. One that cannot be used is told.
fn theme(app: &App, name: &str) -> Theme {
    let loaded = match name {
        "dark" => Ok((Theme::dark(), Vec::new())),
        "light" => Ok((Theme::light(), Vec::new())),
        name => config::themes::load(app.settings.data.as_deref(), name),
    };
    let (theme, troubles) = loaded.unwrap_or_else(|error| {
        let troubles = [error.message].into_iter().chain(error.hints).collect();
        (Theme::dark(), troubles)
    });
    troubles.iter().for_each(|trouble| app.ui.warning(trouble));
    theme
}
