//! The settings files for `/settings`: reads them and changes one value.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_app::app::App;
use offshoot_app::config::settings::SettingsFiles;
use offshoot_app::config::trust_file::TrustFile;
use offshoot_app::error::Result;
use offshoot_session::transcript::Level;
use offshoot_settings::{Layers, Scope, Settings, Value};
use offshoot_tui::app::msg::{ListedTheme, Msg};
use offshoot_tui::overlay::settings::Files as Shown;
use offshoot_tui::theme::Themes;

use super::job_context::{JobContext, blocking};
use super::theme_files::theme_files;
use crate::themes;

pub(super) async fn open(context: &JobContext, agent: &AgentSession) {
    let Some(files) = files(context, agent).await else { return };
    let short = |file: &std::path::PathBuf| context.app.environment.short(&file.display().to_string());
    let shown = Shown {
        global: files.global.as_ref().map(short).unwrap_or_default(),
        project: files.project.as_ref().map(short),
    };
    let (app, args) = (context.app.clone(), Arc::clone(&context.args));
    let folder = folder(context, agent).await;
    let read = blocking(move || {
        let layers = files.load()?.0;
        let names = themes::names(&theme_files(&app, &args, &layers, &folder));
        Ok((layers, names))
    });
    let read = read.await;
    context.tell(match read {
        Ok((layers, names)) => Msg::Settings(layers, shown, names),
        Err(error) => Msg::Notice(Level::Error, error.with_hints_on_one_line()),
    });
}

pub(super) async fn themes(context: &JobContext, agent: &AgentSession, setting: Option<String>) {
    let Some(files) = files(context, agent).await else { return };
    let (app, args) = (context.app.clone(), Arc::clone(&context.args));
    let folder = folder(context, agent).await;
    let named = blocking(move || {
        let layers = files.load()?.0;
        themes::named(&|| theme_files(&app, &args, &layers, &folder), setting.as_deref())
    });
    let (themes, troubles) = match named.await {
        Ok((themes, troubles)) => (Ok(Box::new(themes)), troubles),
        Err(error) => (Err(error.with_hints_on_one_line()), Vec::new()),
    };
    troubles.into_iter().for_each(|trouble| context.notice(Level::Warning, trouble));
    context.tell(Msg::Themes(themes));
}

/// Sends every theme that can be chosen, with what it stands for: also a pair that the settings name.
pub(super) async fn theme_list(context: &JobContext, agent: &AgentSession) -> Result<()> {
    let Some(files) = files(context, agent).await else { return Ok(()) };
    let (app, args) = (context.app.clone(), Arc::clone(&context.args));
    let folder = folder(context, agent).await;
    let listed = blocking(move || {
        let layers = files.load()?.0;
        let files = theme_files(&app, &args, &layers, &folder);
        let mut names = vec![Themes::AUTOMATIC.to_owned()];
        let now = Settings::from(&layers).theme;
        for name in themes::names(&files).into_iter().chain(now) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let read = |name: String| {
            let read = themes::named(&|| files.clone(), Some(&name));
            let themes = read.map(|(themes, _)| Box::new(themes)).map_err(|error| error.on_one_line());
            ListedTheme { name, themes }
        };
        Ok(names.into_iter().map(read).collect())
    });
    context.tell(Msg::ThemeList(listed.await?));
    Ok(())
}

pub(super) async fn store(
    context: &JobContext,
    agent: &AgentSession,
    scope: Scope,
    key: &'static str,
    value: Option<Value>,
) {
    let Some(files) = files(context, agent).await else { return };
    let app = context.app.clone();
    let stored = blocking(move || store_in(&app, &files, (scope, key), value.as_ref())).await;
    context.tell(Msg::Stored(stored.map_err(|error| error.with_hints_on_one_line())));
}

/// Stores a value. Who makes a project's file here trusts it.
fn store_in(
    app: &App,
    files: &SettingsFiles,
    (scope, key): (Scope, &'static str),
    value: Option<&Value>,
) -> Result<Layers> {
    let folder = files.project.as_deref().filter(|_| scope == Scope::Project).and_then(|file| file.parent()?.parent());
    let is_new = files.project.as_ref().is_some_and(|file| file.symlink_metadata().is_err());
    files.store(scope, key, value)?;
    if let (Some(folder), Some(data), true) = (folder, &app.environment.data, is_new) {
        TrustFile::of(data).save(folder, true)?;
    }
    Ok(files.load()?.0)
}

/// The folder of the open session.
async fn folder(context: &JobContext, agent: &AgentSession) -> PathBuf {
    let app = context.app.clone();
    let cwd = context.app.environment.cwd.clone();
    agent.read(move |session| app.folder_of(session)).await.unwrap_or(cwd)
}

async fn files(context: &JobContext, agent: &AgentSession) -> Option<SettingsFiles> {
    let app = context.app.clone();
    match agent.read(move |session| app.settings_files(&app.folder_of(session))).await {
        Ok(files) => Some(files),
        Err(error) => {
            context.notice(Level::Error, format!("the settings cannot be found: {error}"));
            None
        }
    }
}
