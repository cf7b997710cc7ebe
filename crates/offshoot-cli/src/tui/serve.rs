//! The program's loop: sends the agent's events to the front end, and starts the front end's tasks without waiting for
//! them.

use std::io;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use offshoot_agent::Setup;
use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::event::Event;
use offshoot_agent::message::Message;
use offshoot_agent::resources::SharedResources;
use offshoot_extensions::ExtensionSet;
use offshoot_session::session::Session;
use offshoot_session::transcript::Level;
use offshoot_settings::Settings;
use offshoot_tui::app::cmd::ProgramTask;
use offshoot_tui::app::msg::Msg;
use offshoot_tui::editor::Choice;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;

use super::extension_front::TuiFront;
use super::hangup::HangupNotice;
use super::job_context::{JobContext, ask};
use super::{actions, bring_back, choices, clipboard, files, reload, session_facts, settings, snapshots};
use crate::agent;
use crate::app::App;

/// The interval of checks for other programs' entries.
const WATCH: Duration = Duration::from_secs(2);

/// Runs tasks and sends events until the end.
pub(super) async fn serve(
    mut context: JobContext,
    session: Session,
    mut setup: Setup,
    mut wanted: UnboundedReceiver<ProgramTask>,
    mut hangup: HangupNotice,
) -> io::Result<()> {
    // The screen is there: it does not wait for extensions.
    let settings = extend(&mut context, &session, &mut setup);
    let resources = setup.resources.clone();
    let agent = AgentSession::start(session, setup)?;
    if let Some(extensions) = context.extensions.clone() {
        extensions.start(&agent);
        drop(tokio::spawn(offer_commands(context.clone(), extensions, resources, settings)));
    }
    let mut events = agent.subscribe();
    let mut watch = tokio::time::interval(WATCH);
    let told = session_facts::LastWarning::default();
    session_facts::open(&context, &agent, "", session_facts::Leaves::default()).await;
    loop {
        tokio::select! {
            biased;
            Ok(()) = &mut hangup.heard => break,
            event = events.recv() => match event {
                Some(event) => heard(&context, &agent, event).await,
                None => break,
            },
            task = wanted.recv() => match task {
                None => break,
                Some(ProgramTask::SaveDraft(text)) => context.drafts.save(text),
                Some(task) => drop(tokio::spawn(act(context.clone(), agent.clone(), task))),
            },
            _ = watch.tick() => drop(tokio::spawn(session_facts::watch(context.clone(), agent.clone(), told.clone()))),
        }
    }
    agent.close().await;
    Ok(())
}

/// Finds the extensions. What is odd about them becomes a notice.
fn extend(context: &mut JobContext, session: &Session, setup: &mut Setup) -> Settings {
    let (ui, warnings) = context.app.ui.collecting();
    let app = App { ui, ..context.app.clone() };
    let front = Arc::new(TuiFront(context.news.clone()));
    match agent::extend(&app, &context.args, session, setup, front) {
        Ok(extensions) => context.extensions = extensions,
        Err(error) => context.notice(Level::Error, error.with_hints_on_one_line()),
    }
    let warnings = std::mem::take(&mut *warnings.lock().unwrap_or_else(PoisonError::into_inner));
    warnings.into_iter().for_each(|warning| context.notice(Level::Warning, warning));
    let quiet = App { ui: context.app.ui.quiet(), ..context.app.clone() };
    quiet.layers(session).map(|layers| Settings::from(&layers)).unwrap_or_default()
}

/// Offers the commands of extensions beside skills and templates, when they are loaded.
async fn offer_commands(
    context: JobContext,
    extensions: Arc<ExtensionSet>,
    resources: SharedResources,
    settings: Settings,
) {
    extensions.loaded().await;
    let command = |command: &Value| {
        let text = |name: &str| command[name].as_str().unwrap_or_default().to_owned();
        Choice::new(text("name")).with(format!("{} (extension)", text("description")))
    };
    let mut offered: Vec<Choice> = extensions.commands().iter().map(command).collect();
    // The search for skills and templates may not have ended.
    let found = tokio::task::spawn_blocking(move || choices::called(&resources, &settings)).await;
    offered.extend(found.unwrap_or_default());
    context.tell(Msg::Called(offered));
}

/// Passes an event on; after the opening of another session also its last entries, before later events.
async fn heard(context: &JobContext, agent: &AgentSession, event: Arc<Event>) {
    let changed = match event.as_ref() {
        Event::SessionChanged { reason, leaf_id, grown_from, .. } => {
            Some((*reason, session_facts::Leaves { leaf: leaf_id.clone(), grown_from: grown_from.clone() }))
        }
        _ => None,
    };
    if changed.is_some() || matches!(event.as_ref(), Event::MessageEnd { message: Message::User(_) }) {
        session_facts::own_draft(context, agent).await;
    }
    context.tell(Msg::Agent(event));
    if let Some((reason, leaves)) = changed {
        session_facts::open(context, agent, reason, leaves).await;
    }
}

/// Runs a task. An error becomes a notice.
async fn act(context: JobContext, agent: AgentSession, task: ProgramTask) {
    let done = match task {
        ProgramTask::Ask(command) => return ask(&context, &agent, *command).await,
        ProgramTask::Look => return session_facts::look(&context, &agent).await,
        ProgramTask::Snapshot(purpose) => return snapshots::snapshot(&context, &agent, purpose).await,
        ProgramTask::Branches => return session_facts::branches(&context, &agent).await,
        ProgramTask::Describe => return session_facts::describe(&context, &agent).await,
        ProgramTask::Paste => return clipboard::paste(&context).await,
        ProgramTask::Choices(argument) => return choices::find(&context, &agent, argument).await,
        ProgramTask::Files => return files::find(&context, &agent).await,
        ProgramTask::Remember(prompt) => return context.drafts.remember(prompt),
        ProgramTask::Sessions(request) => return context.session_list.take(request),
        ProgramTask::Settings => return settings::open(&context, &agent).await,
        ProgramTask::Themes(setting) => return settings::themes(&context, &agent, setting).await,
        ProgramTask::Store(scope, key, value) => return settings::store(&context, &agent, scope, key, value).await,
        ProgramTask::Models => choices::models(&context).await,
        ProgramTask::ModelScope => choices::model_scope(&context, &agent).await,
        ProgramTask::UseScope(names) => return context.use_scope(names),
        // The loop saves drafts, in order.
        ProgramTask::SaveDraft(_) => Ok(()),
        ProgramTask::UseModel(name) => actions::use_model(&context, &agent, &name).await,
        ProgramTask::NextModel { is_forward } => actions::next_model(&context, &agent, is_forward).await,
        ProgramTask::Named(action, entry) => actions::named(&context, &agent, action, entry).await,
        ProgramTask::Pick(selections) => bring_back::pick(&context, &agent, selections).await,
        ProgramTask::Merge { entry, instructions } => bring_back::merge(&context, &agent, entry, instructions).await,
        ProgramTask::Compare(entry, other) => bring_back::compare(&context, &agent, entry, other).await,
        ProgramTask::Forecast(wish) => return bring_back::forecast(&context, &agent, wish).await,
        ProgramTask::FindSource(origin) => bring_back::find_source(&context, &agent, origin).await,
        ProgramTask::Reload => reload::reload(&context, &agent).await,
        ProgramTask::Trust => return reload::ask_trust(&context, &agent).await,
        ProgramTask::KeepTrust(answer) => reload::keep_trust(&context, &agent, answer).await,
        ProgramTask::Patches(first, second) => return bring_back::patches(&context, &agent, first, second).await,
        ProgramTask::Pop => actions::pop(&context, &agent).await,
        ProgramTask::Resume(given) => actions::resume(&context, &agent, given).await,
        ProgramTask::Open(file) => actions::open(&context, &agent, file).await,
        ProgramTask::Label(request) => actions::label(&context, &agent, request).await,
        ProgramTask::Export(path) => actions::export_session(&context, &agent, None, path).await,
        ProgramTask::ExportBranch { entry, path } => actions::export_session(&context, &agent, Some(entry), path).await,
        ProgramTask::Import(path) => actions::import_file(&context, &agent, path).await,
    };
    if let Err(error) = done {
        context.notice(Level::Error, error.with_hints_on_one_line());
    }
}
