//! The agent on a thread of its own, and what the front end may have done.

use std::io;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

use offshoot_agent::Setup;
use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::command::Command;
use offshoot_session::clock::Millis;
use offshoot_session::session::Session;
use offshoot_tui::app::cmd::Cmd;
use offshoot_tui::app::msg::{Level, Msg};
use rustix::process::{Signal, getppid, getsid, kill_current_process_group};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::look::look;
use crate::app::App;
use crate::error::{CommandError, Result};

/// The program around the front end.
pub(super) struct Program {
    app: App,
    to: UnboundedSender<Cmd>,
    thread: Option<JoinHandle<()>>,
}

impl Program {
    /// Starts the agent.
    pub(super) fn start(app: &App, session: Session, setup: Setup, news: Sender<Msg>) -> Result<Self> {
        let failed = |error| CommandError::io("start the agent", &error);
        let (to, wanted) = unbounded_channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let own = app.clone();
        let thread = std::thread::Builder::new().name("agent".to_owned()).spawn(move || {
            if let Err(error) = runtime.block_on(serve(own, session, setup, wanted, &news)) {
                drop(news.send(Msg::Notice(Level::Error, format!("the agent could not be started: {error}"))));
            }
            // What runs longer is not waited for.
            runtime.shutdown_background();
        });
        Ok(Self { app: app.clone(), to, thread: Some(thread.map_err(failed)?) })
    }

    /// Returns when everything is written.
    pub(super) fn close(&mut self) {
        drop(self.to.send(Cmd::Quit));
        if let Some(thread) = self.thread.take() {
            // One that panicked has ended as well.
            drop(thread.join());
        }
    }
}

impl offshoot_tui::app::run::Program for Program {
    fn now(&self) -> Millis {
        self.app.now()
    }

    fn take(&mut self, cmd: Cmd) {
        drop(self.to.send(cmd));
    }

    fn stop(&mut self) -> io::Result<()> {
        // Without a shell in the same session nobody could wake us.
        let shell = getppid().map(|shell| getsid(Some(shell))).transpose()?;
        if shell != Some(getsid(None)?) {
            return Err(io::Error::other("there is no shell to come back from: the program goes on"));
        }
        Ok(kill_current_process_group(Signal::STOP)?)
    }
}

/// Does what is wanted, and tells what happens, until the end.
async fn serve(
    app: App,
    session: Session,
    setup: Setup,
    mut wanted: UnboundedReceiver<Cmd>,
    news: &Sender<Msg>,
) -> io::Result<()> {
    let agent = AgentSession::start(session, setup)?;
    let mut events = agent.subscribe();
    let mut end = signal(SignalKind::terminate())?;
    let mut gone = signal(SignalKind::hangup())?;
    let mut stop = signal(SignalKind::from_raw(Signal::TSTP.as_raw()))?;
    let mut resumed = signal(SignalKind::from_raw(Signal::CONT.as_raw()))?;
    loop {
        let msg = tokio::select! {
            biased;
            event = events.recv() => event.map(Msg::Agent),
            _ = end.recv() => Some(Msg::End),
            _ = gone.recv() => Some(Msg::End),
            _ = stop.recv() => Some(Msg::Suspend),
            _ = resumed.recv() => Some(Msg::Continued),
            cmd = wanted.recv() => match cmd {
                None | Some(Cmd::Quit) => break,
                Some(cmd) => {
                    tokio::spawn(act(app.clone(), agent.clone(), cmd, news.clone()));
                    None
                }
            },
        };
        if msg.is_some_and(|msg| news.send(msg).is_err()) {
            break;
        }
    }
    agent.close().await;
    Ok(())
}

async fn act(app: App, agent: AgentSession, cmd: Cmd, news: Sender<Msg>) {
    let msg = match cmd {
        Cmd::Ask(command) => ask(&agent, command).await,
        Cmd::Look => match look(&app, &agent).await {
            Ok(looked) => Msg::Looked(Box::new(looked)),
            Err(why) => Msg::Notice(Level::Error, format!("the session cannot be looked at: {why}")),
        },
        // The loop itself does the rest.
        Cmd::SaveDraft(_) | Cmd::Copy(_) | Cmd::Suspend | Cmd::Repaint | Cmd::Quit => return,
    };
    // A front end that has ended needs no news.
    drop(news.send(msg));
}

async fn ask(agent: &AgentSession, command: Box<Command>) -> Msg {
    let reply = agent.ask(command.as_ref().clone()).await;
    Msg::Answered(command, reply)
}
