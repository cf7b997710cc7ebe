//! The handle by which a front end drives an agent: commands as methods, events as a stream, and the session to read. It may be
//! cloned; the agent ends when [`AgentSession::close`] is called or the last handle is dropped.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_session::session::Session;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::command::{Command, Forked, Reply, Standing, UserPrompt};
use crate::driver::{Driver, DriverInput, Recorded};
use crate::error::AgentError;
use crate::event::{BashResult, CompactionResult, Event};
use crate::provider::{Model, ThinkingLevel};
use crate::setup::Setup;
use crate::stats::{SessionStats, stats};
use crate::turn::{Navigated, Navigation, Settled};
use crate::writer::{ForeignChanges, OwnedSession, Writer};

type Result<T> = std::result::Result<T, AgentError>;

/// An agent at work on a session.
#[derive(Clone)]
pub struct AgentSession {
    inner: Arc<Inner>,
}

struct Inner {
    to: UnboundedSender<DriverInput>,
    driver: std::sync::Mutex<Option<JoinHandle<()>>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        drop(self.to.send(DriverInput::End));
    }
}

impl std::fmt::Debug for AgentSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AgentSession")
    }
}

impl AgentSession {
    /// Starts an agent on a session. Nothing is written before the first prompt. Must be called inside a tokio runtime
    /// with timers.
    ///
    /// # Errors
    /// The system gives no thread for the session.
    pub fn start(session: Session, setup: Setup) -> std::io::Result<Self> {
        let recorded = Recorded::of(&session);
        let writer = Writer::start(session)?;
        let (driver, to) = Driver::new(setup, writer, recorded);
        let driver = std::sync::Mutex::new(Some(tokio::spawn(driver.run())));
        Ok(Self { inner: Arc::new(Inner { to, driver }) })
    }

    /// Everything that happens from now on, in order. Events that announce an entry come when it is in the file.
    pub fn subscribe(&self) -> UnboundedReceiver<Arc<Event>> {
        let (subscriber, events) = unbounded_channel();
        drop(self.inner.to.send(DriverInput::Subscribe(subscriber)));
        events
    }

    /// Says something as an enum; the methods below are the same with types of their own.
    ///
    /// # Errors
    /// [`AgentError`].
    pub async fn ask(&self, command: Command) -> Result<Reply> {
        let (reply, replied) = oneshot::channel();
        self.inner.to.send(DriverInput::Asked(command, reply)).map_err(|_| AgentError::Ended)?;
        replied.await.map_err(|_| AgentError::Ended)?
    }

    /// Says something to the model. Returns when nothing goes on by itself any more: tools, retries, compactions and
    /// queued messages included. The prompt is in the file before the request leaves.
    ///
    /// # Errors
    /// [`AgentError::Busy`] while the agent is at work.
    pub async fn prompt(&self, said: impl Into<UserPrompt>) -> Result<Settled> {
        self.settled(Command::Prompt(said.into())).await
    }

    /// Says something that the model hears after the current turn; begins a run if none is under way.
    ///
    /// # Errors
    /// [`AgentError::Ended`].
    pub async fn steer(&self, said: impl Into<UserPrompt>) -> Result<()> {
        self.ask(Command::Steer(said.into())).await.map(drop)
    }

    /// Says something that the model hears when it would stop; begins a run if none is under way.
    ///
    /// # Errors
    /// [`AgentError::Ended`].
    pub async fn follow_up(&self, said: impl Into<UserPrompt>) -> Result<()> {
        self.ask(Command::FollowUp(said.into())).await.map(drop)
    }

    /// Takes back what waits to be said: steering and follow-up texts.
    ///
    /// # Errors
    /// [`AgentError::Ended`].
    pub async fn clear_queue(&self) -> Result<(Vec<String>, Vec<String>)> {
        match self.ask(Command::ClearQueue).await? {
            Reply::Queue(steering, follow_up) => Ok((steering, follow_up)),
            other => Err(unexpected(&other)),
        }
    }

    /// Stops what is under way and returns when it has stopped. What the model said until then is kept; calls of tools
    /// get results that say that they were stopped. What waits to be said goes on waiting.
    ///
    /// # Errors
    /// [`AgentError::Ended`].
    pub async fn abort(&self) -> Result<Settled> {
        self.settled(Command::Abort).await
    }

    /// Returns when nothing is under way.
    ///
    /// # Errors
    /// [`AgentError::Ended`].
    pub async fn wait_for_idle(&self) -> Result<Settled> {
        self.settled(Command::WaitForIdle).await
    }

    async fn settled(&self, command: Command) -> Result<Settled> {
        match self.ask(command).await? {
            Reply::Settled(how) => Ok(how),
            other => Err(unexpected(&other)),
        }
    }

    /// Runs a command in the shell and records it, at the next place between two turns. With `exclude_from_context` the
    /// model never sees it. Answers its message.
    ///
    /// # Errors
    /// Another command runs; the shell cannot be started.
    pub async fn bash(&self, command: impl Into<String>, exclude_from_context: bool) -> Result<Arc<BashResult>> {
        match self.ask(Command::Bash { command: command.into(), exclude_from_context }).await? {
            Reply::Ran(result) => Ok(result),
            other => Err(unexpected(&other)),
        }
    }

    /// Summarises what is old and keeps what is new. Stops what is under way first.
    ///
    /// # Errors
    /// There is nothing to compact, or nobody can.
    pub async fn compact(&self, instructions: Option<String>) -> Result<Arc<CompactionResult>> {
        match self.ask(Command::Compact { instructions }).await? {
            Reply::Compacted(result) => Ok(result),
            other => Err(unexpected(&other)),
        }
    }

    /// Goes to another entry of the tree, with a summary of what is left behind if that is wanted. A message of the
    /// user is gone back before, and its text given back.
    ///
    /// # Errors
    /// [`AgentError::Busy`]; no such entry.
    pub async fn navigate_tree(&self, navigation: Navigation) -> Result<Navigated> {
        match self.ask(Command::NavigateTree(navigation)).await? {
            Reply::Navigated(navigated) => Ok(navigated),
            other => Err(unexpected(&other)),
        }
    }

    /// Begins another session of the same folder; in memory if this one is.
    ///
    /// # Errors
    /// There is no place for it.
    pub async fn new_session(&self) -> Result<Forked> {
        self.other(Command::NewSession).await
    }

    /// Opens another session, with the model and thinking that it names if they are to be had.
    ///
    /// # Errors
    /// It cannot be opened, or its folder is gone.
    pub async fn switch_session(&self, file: impl Into<PathBuf>) -> Result<Forked> {
        self.other(Command::SwitchSession(file.into())).await
    }

    /// Begins a session with what stands before a message of the user; its text is given back.
    ///
    /// # Errors
    /// The entry is no message of the user.
    pub async fn fork(&self, entry: impl Into<String>) -> Result<Forked> {
        self.other(Command::Fork { entry: entry.into() }).await
    }

    /// Begins a session with all that stands up to the leaf.
    ///
    /// # Errors
    /// There is nothing to copy yet.
    pub async fn clone_session(&self) -> Result<Forked> {
        self.other(Command::Clone).await
    }

    async fn other(&self, command: Command) -> Result<Forked> {
        match self.ask(command).await? {
            Reply::Session(forked) => Ok(forked),
            other => Err(unexpected(&other)),
        }
    }

    /// Uses another model from the next request on, and records that.
    ///
    /// # Errors
    /// [`AgentError::Ended`].
    pub async fn set_model(&self, model: Arc<Model>) -> Result<()> {
        self.ask(Command::SetModel(model)).await.map(drop)
    }

    /// Lets the model think more or less. Answers what the model can of it; recorded if it changes.
    ///
    /// # Errors
    /// [`AgentError::Ended`].
    pub async fn set_thinking_level(&self, level: ThinkingLevel) -> Result<ThinkingLevel> {
        match self.ask(Command::SetThinkingLevel(level)).await? {
            Reply::Thinking(level) => Ok(level),
            other => Err(unexpected(&other)),
        }
    }

    /// Where everything stands.
    ///
    /// # Errors
    /// [`AgentError::Ended`].
    pub async fn standing(&self) -> Result<Standing> {
        match self.ask(Command::Inspect).await? {
            Reply::Standing(standing) => Ok(*standing),
            other => Err(unexpected(&other)),
        }
    }

    /// Looks at the session, after everything that was appended before.
    ///
    /// # Errors
    /// [`AgentError::Ended`].
    pub async fn read<T: Send + 'static>(&self, look: impl FnOnce(&Session) -> T + Send + 'static) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let look = Box::new(move |owned: &mut OwnedSession| drop(answer.send(look(owned.session()))));
        self.inner.to.send(DriverInput::Read(look)).map_err(|_| AgentError::Ended)?;
        answered.await.map_err(|_| AgentError::Ended)
    }

    /// Reads what other programs have appended to the session. Where it is open stays.
    ///
    /// # Errors
    /// The file is not what was read any more: it was shortened; [`AgentError::Ended`].
    pub async fn refresh(&self) -> Result<ForeignChanges> {
        let (answer, answered) = oneshot::channel();
        let look = Box::new(move |owned: &mut OwnedSession| drop(answer.send(owned.refresh())));
        self.inner.to.send(DriverInput::Read(look)).map_err(|_| AgentError::Ended)?;
        answered.await.map_err(|_| AgentError::Ended)?
    }

    /// What the session holds and what it cost: in all, on the open branch, and on every branch. Each entry counts once.
    ///
    /// # Errors
    /// The session cannot be read.
    pub async fn stats(&self) -> Result<SessionStats> {
        Ok(self.read(stats).await??)
    }

    /// Ends the agent: what is under way is dropped, what was appended is written.
    pub async fn close(self) {
        drop(self.inner.to.send(DriverInput::End));
        let driver = self.inner.driver.lock().ok().and_then(|mut driver| driver.take());
        if let Some(driver) = driver {
            // A driver that panicked has ended as well.
            drop(driver.await);
        }
    }
}

fn unexpected(reply: &Reply) -> AgentError {
    AgentError::Failed(format!("the agent answered something else: {reply:?}"))
}
