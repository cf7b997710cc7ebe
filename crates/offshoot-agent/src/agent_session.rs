//! The handle by which a front end drives an agent: commands as methods, events as a stream, and the session to read.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use offshoot_protocol::model::Model;
use offshoot_protocol::request::{
    Abort, ClearQueue, ClearedQueue, CloneSession, Compact, FollowUp, Fork, ForkAt, Forked, Prompt, RunBash, SetModel,
    SetThinkingLevel, Spoken, StartSession, Steer, SwitchSession, UserPrompt, WaitForIdle,
};
use offshoot_protocol::{
    AgentError, AgentEvent, BashResult, CompactionResult, FilesAlong, SessionReason, Settled, ThinkingLevel,
};
use offshoot_session::entry::Source as _;
use offshoot_session::session::Session;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::driver::{Driver, DriverInput, leave_foreign_turn, tool_taker, unanswered};
use crate::extensions::{Extensions, Leaving, Said, SaidVerdict, StreamingBehavior};
use crate::key_source::KeySource;
use crate::model::KeyedModel;
use crate::provider::{Deltas, Provider, Request};
use crate::request_queue::{AgentState, Askable, Asked, Inspect, ReplyTo};
use crate::setup::{Approver, Setup};
use crate::stats::{SessionStats, stats};
use crate::tool::LiveTools;
use crate::work_folder::WorkFolders;
use crate::writer::{OwnedSession, Writer, WriterHandle};

type Result<T> = std::result::Result<T, AgentError>;

/// An agent at work on a session. Clones drive the same agent, which ends with [`AgentSession::close`] or when the last
/// clone is dropped. After that every method fails with [`AgentError::Ended`].
#[derive(Clone)]
pub struct AgentSession {
    inner: Arc<Inner>,
    /// A handler of an extension must not wait until handlers are done.
    is_extensions: bool,
}

struct Inner {
    to: UnboundedSender<DriverInput>,
    driver: std::sync::Mutex<Option<JoinHandle<()>>>,
    extensions: Option<Arc<dyn Extensions>>,
    live_tools: Option<Arc<dyn LiveTools>>,
    session: WriterHandle,
    provider: Arc<dyn Provider>,
    keys: Arc<dyn KeySource>,
    /// Held by what is said until it has reached the agent.
    saying: tokio::sync::Mutex<()>,
    folders: WorkFolders,
}

/// What extensions hear after a reply.
enum AfterReply {
    Nothing,
    /// What has happened before it.
    Heard,
    /// Another session is open, or this one again.
    Entered {
        reason: SessionReason,
        previous: Option<PathBuf>,
    },
}

/// An agent that ends without regard to this, for its extensions.
#[derive(Clone)]
pub struct WeakAgentSession(Weak<Inner>);

impl WeakAgentSession {
    /// The agent, if it has not ended.
    #[must_use]
    pub fn get(&self) -> Option<AgentSession> {
        self.0.upgrade().map(|inner| AgentSession { inner, is_extensions: true })
    }
}

impl std::fmt::Debug for WeakAgentSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WeakAgentSession")
    }
}

/// How long the handlers of a session's end may take.
const FAREWELL: Duration = Duration::from_secs(10);

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
    /// The writer's thread cannot be started.
    pub fn start(mut session: Session, setup: Setup) -> std::io::Result<Self> {
        let opening = leave_foreign_turn(&mut session);
        let writer = Writer::start(session)?;
        let (handle, keys, folders) = (writer.handle().clone(), setup.keys.clone(), setup.folders.clone());
        let live_tools = setup.live_tools.clone();
        let (driver, to) = Driver::new(setup, writer, opening);
        live_tools.iter().for_each(|live| live.start(tool_taker(&to, driver.asker())));
        let (provider, extensions) = (driver.metered_provider(), driver.extensions());
        let driver = std::sync::Mutex::new(Some(tokio::spawn(driver.run())));
        Ok(Self {
            inner: Arc::new(Inner {
                to,
                driver,
                extensions,
                live_tools,
                session: handle,
                provider,
                keys,
                folders,
                saying: tokio::sync::Mutex::default(),
            }),
            is_extensions: false,
        })
    }

    /// The same agent for those who must not keep it from ending.
    #[must_use]
    pub fn weak(&self) -> WeakAgentSession {
        WeakAgentSession(Arc::downgrade(&self.inner))
    }

    /// The extensions, if there are any.
    #[must_use]
    pub fn extensions(&self) -> Option<Arc<dyn Extensions>> {
        self.inner.extensions.clone()
    }

    /// The sources of tools that come and go, if there are any.
    #[must_use]
    pub fn live_tools(&self) -> Option<Arc<dyn LiveTools>> {
        self.inner.live_tools.clone()
    }

    /// The thread that owns the session, for those who read it without the agent's loop.
    #[must_use]
    pub fn session_thread(&self) -> WriterHandle {
        self.inner.session.clone()
    }

    /// All events from now on, in order. An event that announces an entry is sent when the entry is in the file.
    pub fn subscribe(&self) -> UnboundedReceiver<AgentEvent> {
        let (subscriber, events) = unbounded_channel();
        drop(self.inner.to.send(DriverInput::Subscribe(subscriber)));
        events
    }

    /// Asks for anything; the other methods wrap it.
    pub async fn ask<R: Askable>(&self, request: R) -> Result<R::Reply> {
        let (reply, replied) = ReplyTo::channel();
        let mut asked = request.asked(reply);
        let is_prompt = matches!(asked, Asked::Prompt(..));
        if let (
            Some(live),
            Asked::Prompt(Prompt(said), _) | Asked::Steer(Steer(said), _) | Asked::FollowUp(FollowUp(said), _),
        ) = (&self.inner.live_tools, &mut asked)
        {
            // They may register sources.
            if let (Some(extensions), true) = (self.inner.extensions.as_deref(), is_prompt) {
                self.heard(extensions).await;
            }
            live.ready().await;
            if let Some(expanded) = live.expand(&said.text).await {
                said.text = expanded.map_err(AgentError::Failed)?;
            }
        }
        let after = match self.inner.extensions.as_deref() {
            Some(extensions) => self.begin(extensions, asked).await?,
            None => self.post(asked),
        };
        let reply = self.replied(replied).await;
        match (after, self.inner.extensions.as_deref()) {
            (AfterReply::Heard, Some(extensions)) => self.heard(extensions).await,
            (AfterReply::Entered { reason, previous }, Some(extensions)) => {
                extensions.entered(if reply.is_ok() { reason } else { SessionReason::Reload }, previous).await;
            }
            (AfterReply::Nothing, _) | (_, None) => {}
        }
        reply
    }

    /// Puts a request into the queue after what extensions do before it. Returns what they do after its reply.
    async fn begin(&self, extensions: &dyn Extensions, asked: Asked) -> Result<AfterReply> {
        match asked {
            Asked::Prompt(Prompt(said), reply) => self.say(extensions, said, None, Prompt, reply).await,
            Asked::Steer(Steer(said), reply) => {
                self.say(extensions, said, Some(StreamingBehavior::Steer), Steer, reply).await
            }
            Asked::FollowUp(FollowUp(said), reply) => {
                self.say(extensions, said, Some(StreamingBehavior::FollowUp), FollowUp, reply).await
            }
            Asked::Abort(..) => {
                extensions.stop();
                self.post(asked);
                Ok(AfterReply::Heard)
            }
            Asked::StartSession(..) => self.leave(extensions, Leaving::New, asked).await,
            Asked::SwitchSession(SwitchSession { ref file, ref folder }, _) => {
                // Extensions do not hear of an end that does not come.
                self.inner.folders.check(file, folder.as_deref())?;
                self.leave(extensions, Leaving::Resume(file.clone()), asked).await
            }
            Asked::Fork(Fork { ref entry, .. }, _) => {
                let leaving = Leaving::Fork { entry: entry.clone(), is_before: true };
                self.leave(extensions, leaving, asked).await
            }
            Asked::ForkAt(ForkAt { ref entry }, _) => {
                let leaving = Leaving::Fork { entry: entry.clone(), is_before: false };
                self.leave(extensions, leaving, asked).await
            }
            Asked::CloneSession(..) => {
                let leaf = self.read(|session| session.leaf_id().map(|leaf| leaf.as_str().to_owned())).await?;
                let leaving = Leaving::Fork { entry: leaf.unwrap_or_default(), is_before: false };
                self.leave(extensions, leaving, asked).await
            }
            Asked::WaitForIdle(..) | Asked::Compact(..) | Asked::Operate(..) | Asked::RunBash(..) => {
                self.post(asked);
                Ok(AfterReply::Heard)
            }
            asked => Ok(self.post(asked)),
        }
    }

    /// Waits until those who listen have heard of all that has happened.
    async fn heard(&self, extensions: &dyn Extensions) {
        if !self.is_extensions {
            extensions.dealt_with().await;
        }
    }

    /// Extensions get what is said first. During a run a prompt is only looked at for a command: it is refused. What is said
    /// reaches the agent in the order in which it was said, except for commands of extensions.
    async fn say<R: Askable<Reply = Spoken<T>>, T: Send + 'static>(
        &self,
        extensions: &dyn Extensions,
        said: UserPrompt,
        while_streaming: Option<StreamingBehavior>,
        request: fn(UserPrompt) -> R,
        reply: ReplyTo<Spoken<T>>,
    ) -> Result<AfterReply> {
        if said.text.starts_with('/') {
            if while_streaming.is_none() {
                self.heard(extensions).await;
            }
            if extensions.command(said.text.clone()).await.is_some() {
                reply.answer(Spoken::Handled);
                return Ok(AfterReply::Nothing);
            }
        }
        let _in_order = self.inner.saying.lock().await;
        if while_streaming.is_none() {
            self.heard(extensions).await;
        }
        let is_busy = self.send(Inspect).await?.is_streaming;
        if is_busy && while_streaming.is_none() {
            return Ok(self.post(request(said).asked(reply)));
        }
        let UserPrompt { before, text, images } = said;
        let while_streaming = while_streaming.filter(|_| is_busy);
        match extensions.said(Said { text, images, while_streaming, is_of_extension: false }).await {
            SaidVerdict::Continue(Said { text, images, .. }) => {
                Ok(self.post(request(UserPrompt { before, text, images }).asked(reply)))
            }
            SaidVerdict::Handled => {
                reply.answer(Spoken::Handled);
                Ok(AfterReply::Nothing)
            }
        }
    }

    /// Opens another session, if extensions allow it; they hear of the end of this one and the start of the other.
    async fn leave(&self, extensions: &dyn Extensions, leaving: Leaving, asked: Asked) -> Result<AfterReply> {
        let (reason, target) = match &leaving {
            Leaving::New => (SessionReason::New, None),
            Leaving::Resume(file) => (SessionReason::Resume, Some(file.clone())),
            Leaving::Fork { .. } => (SessionReason::Fork, None),
        };
        if !extensions.may_leave(leaving).await {
            return Err(AgentError::Cancelled);
        }
        let previous = self.read(|session| session.file().map(PathBuf::from)).await?;
        extensions.leaves(reason, target).await;
        self.post(asked);
        Ok(AfterReply::Entered { reason, previous })
    }

    /// Asks without the extensions.
    async fn send<R: Askable>(&self, request: R) -> Result<R::Reply> {
        let (reply, replied) = ReplyTo::channel();
        self.post(request.asked(reply));
        self.replied(replied).await
    }

    /// If the agent has ended, the reply says so.
    fn post(&self, asked: Asked) -> AfterReply {
        drop(self.inner.to.send(DriverInput::Asked(asked)));
        AfterReply::Nothing
    }

    async fn replied<T>(&self, replied: oneshot::Receiver<Result<T>>) -> Result<T> {
        replied.await.unwrap_or_else(|_| Err(unanswered(&self.inner.to)))
    }

    /// Sends a prompt. Returns when nothing continues by itself: tools, retries, compactions and queued messages
    /// included. The prompt is in the file before the request is sent.
    ///
    /// # Errors
    /// [`AgentError::Busy`] during another run.
    pub async fn prompt(&self, said: impl Into<UserPrompt>) -> Result<Settled> {
        let Some(extensions) = &self.inner.extensions else { return self.settled(said.into()).await };
        let (before, _) = self.state().await?.settled;
        let settled = self.settled(said.into()).await?;
        // What handlers of its end have begun belongs to it, also what has ended since.
        loop {
            extensions.dealt_with().await;
            let AgentState { is_streaming, settled: (ended, last), .. } = self.state().await?;
            if !is_streaming {
                return Ok(if ended > before { last } else { settled });
            }
            self.wait_for_idle().await?;
        }
    }

    /// Queues a message for the model after the current turn; starts a run if none is active.
    pub async fn steer(&self, said: impl Into<UserPrompt>) -> Result<()> {
        self.ask(Steer(said.into())).await.map(drop)
    }

    /// Queues a message for the model when it would stop; starts a run if none is active.
    pub async fn follow_up(&self, said: impl Into<UserPrompt>) -> Result<()> {
        self.ask(FollowUp(said.into())).await.map(drop)
    }

    /// Removes and returns the queued steering and follow-up texts.
    pub async fn clear_queue(&self) -> Result<ClearedQueue> {
        self.ask(ClearQueue).await
    }

    /// Stops what is running and returns when it has stopped. The answer so far is kept, and interrupted tool calls get
    /// results that say so. Queued messages stay queued.
    pub async fn abort(&self) -> Result<Settled> {
        self.ask(Abort).await
    }

    /// Stops what is running without ending the wait for extensions, and does not wait for the end.
    pub async fn abort_run(&self) {
        drop(self.send(Abort).await);
    }

    /// Sends a request of its own beside the conversation, with the key of its model. Counts towards the limits of the run.
    ///
    /// # Errors
    /// There is no key for the model.
    pub async fn stream(&self, request: Request) -> Result<Deltas> {
        let KeyedModel { model, key } = self.inner.keys.access(&request.model).await?;
        Ok(self.inner.provider.stream(Request { model, key, ..request }))
    }

    /// Returns when nothing is running.
    pub async fn wait_for_idle(&self) -> Result<Settled> {
        self.ask(WaitForIdle).await
    }

    async fn settled(&self, said: UserPrompt) -> Result<Settled> {
        match self.ask(Prompt(said)).await? {
            Spoken::Taken(how) => Ok(how),
            Spoken::Handled => Ok(Settled::Done),
        }
    }

    /// Runs a command in the shell and records it between two turns. With `exclude_from_context` the model never sees
    /// it.
    ///
    /// # Errors
    /// Another command is running, or the shell cannot be started.
    pub async fn bash(&self, command: impl Into<String>, exclude_from_context: bool) -> Result<Arc<BashResult>> {
        self.ask(RunBash { command: command.into(), exclude_from_context }).await
    }

    /// Stops what is running and compacts the session.
    ///
    /// # Errors
    /// There is nothing to compact, or no summariser.
    pub async fn compact(&self, instructions: Option<String>) -> Result<Arc<CompactionResult>> {
        self.ask(Compact(instructions)).await
    }

    /// Starts another session in the same folder; in memory if this one is. `parent` is the file that its header names as
    /// the session from which it is made.
    ///
    /// # Errors
    /// The session cannot be created.
    pub async fn new_session(&self, parent: Option<String>) -> Result<Forked> {
        self.ask(StartSession { parent }).await
    }

    /// Opens another session, with its own model and thinking level if they are available.
    ///
    /// # Errors
    /// The session cannot be opened, or its folder must be named ([`AgentSession::switch_session_in`]).
    pub async fn switch_session(&self, file: impl Into<PathBuf>) -> Result<Forked> {
        self.ask(SwitchSession { file: file.into(), folder: None }).await
    }

    /// Opens another session in this folder: its own, or that of the start.
    ///
    /// # Errors
    /// The session cannot be opened, or the folder is another.
    pub async fn switch_session_in(&self, file: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Result<Forked> {
        self.ask(SwitchSession { file: file.into(), folder: Some(folder.into()) }).await
    }

    /// Starts a session with the path before a user message; returns the message's text.
    ///
    /// # Errors
    /// The entry is not a user message.
    pub async fn fork(&self, entry: impl Into<String>) -> Result<Forked> {
        self.ask(Fork { entry: entry.into(), files: FilesAlong::Stay }).await
    }

    /// Starts a session with the path up to an entry.
    ///
    /// # Errors
    /// The entry does not exist, or an extension refuses.
    pub async fn fork_at(&self, entry: impl Into<String>) -> Result<Forked> {
        self.ask(ForkAt { entry: entry.into() }).await
    }

    /// Starts a session with the path to the leaf.
    ///
    /// # Errors
    /// There is nothing to copy.
    pub async fn clone_session(&self) -> Result<Forked> {
        self.ask(CloneSession).await
    }

    /// Uses another model from the next request on, and records it.
    pub async fn set_model(&self, model: Arc<Model>) -> Result<()> {
        self.ask(SetModel(model)).await
    }

    /// Requests a thinking level. Returns the level clamped to the model; it is recorded if it changes.
    pub async fn set_thinking_level(&self, level: ThinkingLevel) -> Result<ThinkingLevel> {
        self.ask(SetThinkingLevel(level)).await
    }

    /// The agent's state.
    pub async fn state(&self) -> Result<AgentState> {
        self.ask(Inspect).await
    }

    /// Who answers from the next call on that needs approval.
    ///
    /// # Errors
    /// The agent has ended.
    pub fn set_approver(&self, approver: Approver) -> Result<()> {
        self.inner.to.send(DriverInput::Approver(approver)).map_err(|_| AgentError::Ended)
    }

    /// Reads the session, after all appends sent before. Walks need not ask whether they saw the whole tree.
    ///
    /// # Errors
    /// The agent has ended, or a part of the tree could not be read meanwhile.
    pub async fn read<T: Send + 'static>(&self, look: impl FnOnce(&Session) -> T + Send + 'static) -> Result<T> {
        let read = move |owned: &mut OwnedSession| {
            let found = look(owned.session());
            owned.session().tree().whole(found)
        };
        Ok(self.on_session(read).await??)
    }

    /// Reads entries that other programs appended. The leaf stays.
    ///
    /// # Errors
    /// The file was shortened or replaced.
    pub async fn refresh(&self) -> Result<bool> {
        self.on_session(OwnedSession::refresh).await?
    }

    /// Runs a job after all appends sent before.
    async fn on_session<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut OwnedSession) -> T + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let send = Box::new(move |writer: &WriterHandle| writer.send(job, move |done| drop(answer.send(done))));
        self.inner.to.send(DriverInput::Read(send)).map_err(|_| AgentError::Ended)?;
        answered.await.map_err(|_| unanswered(&self.inner.to))?
    }

    /// Counts and costs of the session: in all, on the open branch, and on every branch. Each entry counts once.
    ///
    /// # Errors
    /// The session cannot be read.
    pub async fn stats(&self) -> Result<SessionStats> {
        Ok(self.read(stats).await??)
    }

    /// Ends the agent. What is running is dropped, sent appends are written.
    pub async fn close(self) {
        if let Some(extensions) = &self.inner.extensions {
            // A handler that takes longer is not waited for.
            drop(tokio::time::timeout(FAREWELL, extensions.leaves(SessionReason::Quit, None)).await);
        }
        if let Some(live) = &self.inner.live_tools {
            live.close().await;
        }
        drop(self.inner.to.send(DriverInput::End));
        let driver = self.inner.driver.lock().ok().and_then(|mut driver| driver.take());
        if let Some(driver) = driver {
            // A driver that panicked has ended as well.
            drop(driver.await);
        }
    }
}
