//! What the user has set, for the front end: settings, keys and the theme, from their files.

use std::path::{Path, PathBuf};

use offshoot_agent::agent_session::AgentSession;
use offshoot_session::session::Session;
use offshoot_tui::app::msg::Msg;
use offshoot_tui::keymap::Keymap;
use offshoot_tui::message::Level;
use offshoot_tui::overlay::settings::Files as Shown;
use offshoot_tui::settings::{Layers, Scope, Settings, Value};
use offshoot_tui::theme::Theme;

use super::serve::World;
use crate::app::App;
use crate::config::settings::Files;
use crate::error::{CommandError, Result};

/// What counts for a session; what is wrong with the files has been told by who set up the agent.
pub(super) fn of(app: &App, session: &Session) -> Settings {
    let cwd = session.cwd().filter(|cwd| !cwd.is_empty()).map_or_else(|| app.settings.cwd.clone(), PathBuf::from);
    let loaded = Files::of(app.settings.data.as_deref(), &cwd).load();
    loaded.map(|(layers, _)| Settings::from(&layers)).unwrap_or_default()
}

/// The keys, as the user's file has them.
pub(super) fn keymap(app: &App) -> Keymap {
    let Some(file) = app.settings.data.as_ref().map(|data| data.join("keybindings.json")) else {
        return Keymap::default();
    };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => {
            if error.kind() != std::io::ErrorKind::NotFound {
                app.ui.warning(&format!("{} cannot be read: {error}", file.display()));
            }
            return Keymap::default();
        }
    };
    let (keymap, diagnostics) = Keymap::read(&text);
    diagnostics.iter().for_each(|told| app.ui.warning(&format!("{}:{told}", file.display())));
    keymap
}

/// The theme of this name: one that comes with the program, or a file of the folder `themes`.
pub(super) fn theme(app: &App, name: Option<&str>) -> Theme {
    let depth = app.settings.terminal.colours;
    let theme = match name {
        None | Some("dark") => Theme::dark(),
        Some("light") => Theme::light(),
        Some(name) => read(app, name).unwrap_or_else(|why| {
            app.ui.warning(&why);
            Theme::dark()
        }),
    };
    theme.at(depth)
}

fn read(app: &App, name: &str) -> std::result::Result<Theme, String> {
    let folder = app.settings.data.as_deref().unwrap_or(Path::new(".")).join("themes");
    let file = folder.join(name).with_extension("json");
    let text = std::fs::read_to_string(&file);
    let text = text.map_err(|error| format!("the theme {name}: {} cannot be read: {error}", file.display()))?;
    let (theme, odd) = Theme::read(&text, &file.display().to_string()).map_err(|error| error.to_string())?;
    odd.iter().for_each(|odd| app.ui.warning(&format!("{}:{odd}", file.display())));
    Ok(theme)
}

/// Tells what is set, and where.
pub(super) async fn show(world: &World, agent: &AgentSession) {
    let files = files(world, agent).await;
    match files.load() {
        Ok((layers, troubles)) => {
            troubles.into_iter().for_each(|trouble| world.notice(Level::Warning, trouble));
            let short = |file: &PathBuf| world.app.settings.short(&file.display().to_string());
            let global = files.global.as_ref().map(short).unwrap_or_default();
            world.tell(Msg::Settings(layers, Shown { global, project: files.project.as_ref().map(short) }));
        }
        Err(error) => world.notice(Level::Error, in_words(&error)),
    }
}

/// Changes one setting.
pub(super) async fn store(world: &World, agent: &AgentSession, scope: Scope, key: &str, value: Option<Value>) {
    let files = files(world, agent).await;
    let stored: Result<Layers> =
        files.store(scope, key, value.as_ref()).and_then(|()| files.load()).map(|(layers, _)| layers);
    world.tell(Msg::Stored(stored.map_err(|error| in_words(&error))));
}

async fn files(world: &World, agent: &AgentSession) -> Files {
    let cwd = agent.read(|session| session.cwd().filter(|cwd| !cwd.is_empty()).map(PathBuf::from)).await;
    let cwd = cwd.ok().flatten().unwrap_or_else(|| world.app.settings.cwd.clone());
    Files::of(world.app.settings.data.as_deref(), &cwd)
}

fn in_words(error: &CommandError) -> String {
    std::iter::once(&error.message).chain(&error.causes).map(String::as_str).collect::<Vec<_>>().join(": ")
}
