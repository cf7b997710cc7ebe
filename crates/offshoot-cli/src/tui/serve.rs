//! The program's loop: sends the agent's events to the front end, and starts the front end's tasks without waiting for
//! them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use offshoot_agent::Setup;
use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::event::Event;
use offshoot_agent::message::Message;
use offshoot_session::session::Session;
use offshoot_session::transcript::Level;
use offshoot_tui::app::cmd::ProgramTask;
use offshoot_tui::app::msg::Msg;
use tokio::sync::mpsc::UnboundedReceiver;

use super::hangup::HangupNotice;
use super::job_context::{JobContext, ask};
use super::{actions, bring_back, choices, clipboard, files, reload, session_facts, settings, snapshots};

/// The interval of checks for other programs' entries.
const WATCH: Duration = Duration::from_secs(2);

/// Runs tasks and sends events until the end.
pub(super) async fn serve(
    context: JobContext,
    session: Session,
    setup: Setup,
    mut wanted: UnboundedReceiver<ProgramTask>,
    mut hangup: HangupNotice,
) -> io::Result<()> {
    let agent = AgentSession::start(session, setup)?;
    context.extensions.iter().for_each(|extensions| extensions.start(&agent));
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
