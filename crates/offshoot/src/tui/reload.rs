//! `/reload` and `/trust`: reads again what the start has read, and keeps an answer to the question of trust.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::request_queue::Reload;
use offshoot_agent::resources::Resources;
use offshoot_agent::{Approver, ReloadedSetup};
use offshoot_app::agent::{self, UserRules};
use offshoot_app::app::App;
use offshoot_app::config::trust_file::{TrustFile, real};
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::trust::Trust;
use offshoot_session::session::Session;
use offshoot_session::text::counted;
use offshoot_session::transcript::Level;
use offshoot_settings::Settings;
use offshoot_tui::app::cmd::TrustAnswer;
use offshoot_tui::app::extension::ExtensionMsg;
use offshoot_tui::app::model::Preferences;
use offshoot_tui::app::msg::{Msg, Reloaded};
use offshoot_tui::editor::Choice;

use super::actions::read;
use super::choices;
use super::job_context::{JobContext, blocking};
use super::preferences::preferences;

/// Reads settings, keys, skills, templates, context files and themes again, for the agent and the front end. Nothing changes
/// if a part cannot be read.
pub(super) async fn reload(context: &JobContext, agent: &AgentSession) -> Result<()> {
    let (app, args) = (context.app.clone(), Arc::clone(&context.args));
    let (ui, warnings) = app.ui.collecting();
    let app = App { ui, ..app };
    let read = read(agent, move |session: &Session| {
        let files = app.settings_files(&app.folder_of(session));
        let approver = Approver::FrontEnd(Arc::new(UserRules::of(&app, &app.folder_of(session))));
        let setup = agent::setup(&app, &args, session, approver)?;
        Ok((setup, preferences(&app, &args, &files, session.cwd().unwrap_or_default())?))
    });
    let (setup, preferences) = read.await?;
    let resources = setup.resources.clone();
    agent
        .ask(Reload(ReloadedSetup(Arc::new(setup))))
        .await
        .map_err(|error| CommandError::new(FailureKind::Failed, error.to_string()))?;
    if let Some(extensions) = &context.extensions {
        extensions.reload().await;
    }
    // With those that extensions add.
    let resources = agent.state().await.map_or(resources, |state| state.resources);
    let Preferences { keymap, themes, settings, .. } = preferences;
    let called = called(context, &resources, &settings);
    context.tell(Msg::Reloaded(Box::new(Reloaded { keymap, themes, settings, called })));
    let warnings = std::mem::take(&mut *warnings.lock().unwrap_or_else(PoisonError::into_inner));
    warnings
        .into_iter()
        .chain(resources.troubles().iter().cloned())
        .for_each(|warning| context.notice(Level::Warning, warning));
    let skills = counted(resources.skills.len(), "skill", "skills");
    let templates = counted(resources.templates.len(), "template", "templates");
    context.notice(Level::Info, format!("read again: settings, keys, themes, {skills}, {templates}"));
    Ok(())
}

/// Skills, templates and commands of extensions.
fn called(context: &JobContext, resources: &Resources, settings: &Settings) -> Vec<Choice> {
    let called = choices::called(resources, settings);
    match &context.extensions {
        Some(extensions) => {
            context.tell(Msg::Extension(ExtensionMsg::Shortcuts(extensions.shortcuts())));
            choices::with_commands(called, extensions)
        }
        None => called,
    }
}

/// Takes what the front end has of the settings of the session's folder, which was not the one before. The agent has taken the
/// rest.
pub(super) async fn follow_folder(context: &JobContext, agent: &AgentSession) -> Result<()> {
    let (app, args) = (context.app.clone(), Arc::clone(&context.args));
    let app = App { ui: app.ui.quiet(), ..app };
    let read = read(agent, move |session: &Session| {
        let files = app.settings_files(&app.folder_of(session));
        let approver = Approver::FrontEnd(Arc::new(UserRules::of(&app, &app.folder_of(session))));
        let resources = agent::setup(&app, &args, session, approver)?.resources;
        Ok((resources, preferences(&app, &args, &files, session.cwd().unwrap_or_default())?))
    });
    let (resources, Preferences { keymap, themes, settings, .. }) = read.await?;
    let called = called(context, &resources, &settings);
    context.tell(Msg::Reloaded(Box::new(Reloaded { keymap, themes, settings, called })));
    Ok(())
}

/// Shows whether the folder is trusted, and why.
pub(super) async fn ask_trust(context: &JobContext, agent: &AgentSession) {
    let app = context.app.clone();
    let asked = read(agent, move |session: &Session| Ok(trust_state(&app, &app.folder_of(session)))).await;
    match asked {
        Ok((state, answers)) => context.tell(Msg::Trust(state, answers)),
        Err(error) => context.notice(Level::Error, error.with_hints_on_one_line()),
    }
}

fn trust_state(app: &App, folder: &Path) -> (String, [String; 3]) {
    let short = |folder: &Path| app.environment.short(&folder.display().to_string());
    let folder = real(folder);
    let parent = folder.parent().unwrap_or(&folder);
    let word = match app.trust_of(&folder) {
        (Trust::Given, _) => "is trusted",
        (Trust::Refused, _) => "is not trusted",
        (Trust::Unasked, _) => "is not trusted yet",
    };
    let answers = [
        "its settings, skills and templates count".to_owned(),
        format!("{} and all folders in it", short(parent)),
        "its settings, skills and templates never count".to_owned(),
    ];
    (format!("{} {word}", short(&folder)), answers)
}

/// Keeps an answer, and follows it at once if the agent is idle.
pub(super) async fn keep_trust(context: &JobContext, agent: &AgentSession, answer: TrustAnswer) -> Result<()> {
    let data = context.app.environment.data.clone();
    let data =
        data.ok_or_else(|| CommandError::new(FailureKind::Failed, "there is no data folder to keep the answer in"))?;
    let app = context.app.clone();
    let folder = read(agent, move |session: &Session| Ok(app.folder_of(session))).await?;
    blocking(move || {
        let file = TrustFile::of(&data);
        match answer {
            TrustAnswer::Folder => file.save(&folder, true),
            TrustAnswer::Parent => file.save_parent(&folder),
            TrustAnswer::Never => file.save(&folder, false),
        }
    })
    .await?;
    reload(context, agent).await
}
