//! One loop beside the front end's: what the agent says goes to the front end, what the front end wants done is begun, and
//! never waited for.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use offshoot_agent::Setup;
use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::event::Event;
use offshoot_session::session::Session;
use offshoot_session::transcript::Level;
use offshoot_tui::app::cmd::ProgramTask;
use offshoot_tui::app::msg::Msg;
use tokio::sync::mpsc::UnboundedReceiver;

use super::world::{World, ask};
use super::{choices, clipboard, deeds, files, known, reading, settings};

/// How often it is looked whether another program has written to the session.
const WATCH: Duration = Duration::from_secs(2);

/// Does what is wanted, and tells what happens, until the end.
pub(super) async fn serve(
    world: World,
    session: Session,
    setup: Setup,
    mut wanted: UnboundedReceiver<ProgramTask>,
) -> io::Result<()> {
    let agent = AgentSession::start(session, setup)?;
    let mut events = agent.subscribe();
    let mut watch = tokio::time::interval(WATCH);
    let told = known::Told::default();
    known::open(&world, &agent, "").await;
    loop {
        tokio::select! {
            biased;
            event = events.recv() => match event {
                Some(event) => heard(&world, &agent, event).await,
                None => break,
            },
            task = wanted.recv() => match task {
                None => break,
                Some(ProgramTask::SaveDraft(text)) => world.drafts.save(text),
                Some(task) => drop(tokio::spawn(act(world.clone(), agent.clone(), task))),
            },
            _ = watch.tick() => drop(tokio::spawn(known::watch(world.clone(), agent.clone(), told.clone()))),
        }
    }
    agent.close().await;
    Ok(())
}

/// An event goes on; before what follows another session's opening, what stands in it.
async fn heard(world: &World, agent: &AgentSession, event: Arc<Event>) {
    let reason = if let Event::SessionChanged { reason, .. } = event.as_ref() { Some(*reason) } else { None };
    world.tell(Msg::Agent(event));
    if let Some(reason) = reason {
        known::open(world, agent, reason).await;
    }
}

/// Does one task. What goes wrong is a notice.
async fn act(world: World, agent: AgentSession, task: ProgramTask) {
    let done = match task {
        ProgramTask::Ask(command) => return ask(&world, &agent, *command).await,
        ProgramTask::Look => return known::look(&world, &agent).await,
        ProgramTask::Snapshot(purpose) => return reading::snapshot(&world, &agent, purpose).await,
        ProgramTask::Branches => return known::branches(&world, &agent).await,
        ProgramTask::Describe => return known::describe(&world, &agent).await,
        ProgramTask::Paste => return clipboard::paste(&world).await,
        ProgramTask::Choices(argument) => return choices::find(&world, &agent, argument).await,
        ProgramTask::Files => return files::find(&world, &agent).await,
        ProgramTask::Remember(prompt) => return world.drafts.remember(prompt),
        ProgramTask::Sessions(request) => return world.session_list.take(request),
        ProgramTask::Settings => return settings::open(&world, &agent).await,
        ProgramTask::Themes(setting) => return settings::themes(&world, setting).await,
        ProgramTask::Store(scope, key, value) => return settings::store(&world, &agent, scope, key, value).await,
        ProgramTask::Models => world.model_table().await.map(|table| world.tell(Msg::Models(table.usable()))),
        // The loop saves drafts, in their order.
        ProgramTask::SaveDraft(_) => Ok(()),
        ProgramTask::UseModel(name) => deeds::use_model(&world, &agent, &name).await,
        ProgramTask::NextModel { is_forward } => deeds::next_model(&world, &agent, is_forward).await,
        ProgramTask::Named(deed, entry) => deeds::named(&world, &agent, deed, entry).await,
        ProgramTask::Pop => deeds::pop(&world, &agent).await,
        ProgramTask::Resume(given) => deeds::resume(&world, &agent, given).await,
        ProgramTask::Open(file) => deeds::open(&world, &agent, file).await,
        ProgramTask::Label(text) => deeds::label(&world, &agent, text).await,
        ProgramTask::Export(path) => deeds::export_session(&world, &agent, None, path).await,
        ProgramTask::ExportBranch { entry, path } => deeds::export_session(&world, &agent, Some(entry), path).await,
        ProgramTask::Import(path) => deeds::import_file(&world, &agent, path).await,
    };
    if let Err(error) = done {
        world.notice(Level::Error, error.with_hints_on_one_line());
    }
}
