//! One loop beside the front end's: what the agent says goes to the front end, what the front end wants done is begun, and
//! never waited for.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use offshoot_agent::Setup;
use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::event::Event;
use offshoot_session::session::Session;
use offshoot_tui::app::cmd::Cmd;
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
    mut wanted: UnboundedReceiver<Cmd>,
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
            cmd = wanted.recv() => match cmd {
                None | Some(Cmd::Quit) => break,
                Some(Cmd::SaveDraft(text)) => world.drafts.save(text),
                Some(cmd) => drop(tokio::spawn(act(world.clone(), agent.clone(), cmd))),
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

async fn act(world: World, agent: AgentSession, cmd: Cmd) {
    match cmd {
        Cmd::Ask(command) => ask(&world, &agent, *command).await,
        Cmd::Look => known::look(&world, &agent).await,
        Cmd::Snapshot(purpose) => reading::snapshot(&world, &agent, purpose).await,
        Cmd::Branches => known::branches(&world, &agent).await,
        Cmd::Describe => known::describe(&world, &agent).await,
        Cmd::Paste => clipboard::paste(&world).await,
        Cmd::Choices(argument) => choices::find(&world, &agent, argument).await,
        Cmd::Files => files::find(&world, &agent).await,
        Cmd::Remember(prompt) => world.drafts.remember(prompt),
        Cmd::Sessions(request) => world.session_list.take(request),
        Cmd::Settings => settings::open(&world, &agent).await,
        Cmd::Themes(setting) => settings::themes(&world, setting).await,
        Cmd::Store(scope, key, value) => settings::store(&world, &agent, scope, key, value).await,
        Cmd::Models
        | Cmd::UseModel(_)
        | Cmd::NextModel { .. }
        | Cmd::Named(..)
        | Cmd::Pop
        | Cmd::Resume(_)
        | Cmd::Open(_)
        | Cmd::Label(_)
        | Cmd::Export(_)
        | Cmd::ExportBranch { .. }
        | Cmd::Import(_) => deeds::act(&world, &agent, cmd).await,
        // The loops themselves do the rest.
        Cmd::SaveDraft(_)
        | Cmd::Copy(_)
        | Cmd::Edit(_)
        | Cmd::AskBackground
        | Cmd::Suspend
        | Cmd::TakeBack
        | Cmd::Repaint
        | Cmd::Quit => {}
    }
}
