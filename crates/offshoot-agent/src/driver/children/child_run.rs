//! The life of a child: its session, its prompts, and how its work ends.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use offshoot_protocol::message::{Message, text_of};
use offshoot_protocol::request::{Abort, Prompt, Spoken, Steer};
use offshoot_protocol::{AgentError, AgentEvent, ChildState, ChildStatus, Event, SessionChangeReason, Settled};
use offshoot_session::child::{ChildEnd, ChildStart};
use offshoot_session::entry::Source as _;
use offshoot_session::session::{NewSession, Options, Session};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::ChildInput;
use super::fork::ForkPoint;
use super::known::{LastWords, last_words};
use super::live_call::LiveCall;
use super::report::ChildReport;
use crate::driver::{Driver, DriverInput, leave_foreign_turn};
use crate::output_schema::OutputSchema;
use crate::request_queue::{Askable as _, Asked, Continue, ReplyTo};
use crate::setup::Setup;
use crate::spending::{Spending, Spent};
use crate::tool::TaskLimits;
use crate::writer::Writer;

/// The beginning of what a child says, for rows.
const LONGEST_ROW: usize = 200;
/// When it has spent this part of a limit, a child gets a message to finish.
const NEARLY: f64 = 0.8;
const FINISH: &str =
    "You have used most of what you may use. Finish now: your next message should report what you have.";
/// So often a child is asked again for an answer of the form that was ordered.
const REMINDERS: usize = 2;

/// A child from its start to its end.
pub(super) struct Child {
    pub(super) setup: Setup,
    pub(super) slots: Arc<tokio::sync::Semaphore>,
    pub(super) file: Option<PathBuf>,
    pub(super) parent_file: Option<String>,
    pub(super) beginning: ChildStart,
    /// The prompt with the task.
    pub(super) first_words: String,
    pub(super) schema: Option<OutputSchema>,
    pub(super) limits: TaskLimits,
    pub(super) spending: Spending,
    pub(super) report: ChildReport,
    pub(super) live: Arc<LiveCall>,
    pub(super) parent: UnboundedSender<DriverInput>,
    /// Whether its file was there.
    pub(super) is_known: bool,
    /// Its parent's context, with which it begins.
    pub(super) fork: Option<ForkPoint>,
    /// What a person says to it, if it had ended.
    pub(super) said: Option<String>,
}

/// What a child begins with.
enum Beginning {
    /// Its task.
    Task,
    /// Where its session stands.
    There,
    /// What a person says to it after its end.
    Spoken(String),
    /// Nothing: it had said this when the program ended.
    Said(String),
    /// Nothing: its work is done.
    Done(ChildEnd),
}

/// A child at work, as its task follows it.
struct Following {
    to: UnboundedSender<DriverInput>,
    events: UnboundedReceiver<AgentEvent>,
    stop: oneshot::Receiver<()>,
    is_stopping: bool,
    was_warned: bool,
}

/// How a child has ended.
struct Ended {
    status: ChildStatus,
    why: Option<String>,
}

impl Child {
    pub(super) async fn run(mut self, mut stop: oneshot::Receiver<()>) {
        let slots = Arc::clone(&self.slots);
        let slot = tokio::select! {
            biased;
            _ = &mut stop => None,
            slot = slots.acquire() => slot.ok(),
        };
        let clock = Arc::clone(&self.setup.clock);
        let begun = clock.now();
        self.report.state.status = ChildStatus::Running;
        self.tell(|child| Event::ChildStart { child });
        let ended = match slot {
            Some(_) => self.work(stop).await,
            None => Ended { status: ChildStatus::Aborted, why: None },
        };
        self.report.milliseconds = u64::try_from(clock.now().saturating_sub(begun)).unwrap_or_default();
        let state = &mut self.report.state;
        (state.status, state.why, state.current_tool) = (ended.status, ended.why, None);
        self.tell(|child| Event::ChildEnd { child });
    }

    /// Shows where the child stands, to the call and to front ends.
    fn tell(&mut self, event: fn(Box<ChildState>) -> Event) {
        self.report.spent = self.spending.spent();
        let Spent { usd, tokens, requests, .. } = self.report.spent;
        let state = &mut self.report.state;
        (state.cost, state.tokens, state.requests) = (usd, tokens, requests);
        self.live.set(self.report.clone());
        let input = ChildInput::Stands(Box::new(event(Box::new(self.report.state.clone()))));
        drop(self.parent.send(DriverInput::Child(input)));
    }

    async fn work(&mut self, stop: oneshot::Receiver<()>) -> Ended {
        let failed = |why: String| Ended { status: ChildStatus::Failed, why: Some(why) };
        let (session, beginning) = match self.open().await {
            Ok(opened) => opened,
            Err(why) => return failed(why),
        };
        if let Beginning::Done(end) = beginning {
            self.report.output = end.output;
            return Ended { status: ChildStatus::parse(&end.status).unwrap_or(ChildStatus::Failed), why: end.why };
        }
        let writer = match Writer::start(session) {
            Ok(writer) => writer,
            Err(error) => return failed(format!("its session cannot be written: {error}")),
        };
        let handle = writer.handle().clone();
        let mut setup = self.setup.clone();
        let file = self.file.clone();
        let opened = handle.ask(|owned| {
            let session = owned.session();
            let leaf = session.leaf().and_then(|leaf| session.tree().node(leaf).id().map(|id| id.as_str().to_owned()));
            (session.id().to_owned(), leaf)
        });
        let (id, leaf) = opened.await.unwrap_or_default();
        setup.tool_context.set_session(&id, file.as_deref());
        self.pass(AgentEvent::of_root(Arc::new(Event::SessionChanged {
            reason: if self.is_known { SessionChangeReason::Resume } else { SessionChangeReason::New },
            session_id: id,
            session_file: self.report.state.file.clone(),
            leaf_id: leaf,
            grown_from: None,
        })));
        let (driver, to) = Driver::new(setup, writer, None);
        let (subscriber, events) = unbounded_channel();
        drop(to.send(DriverInput::Subscribe(subscriber)));
        let driving = tokio::spawn(driver.run());
        let own = ChildInput::Runs { id: self.report.state.id.clone(), to: to.clone() };
        drop(self.parent.send(DriverInput::Child(own)));
        let mut following = Following { to: to.clone(), events, stop, is_stopping: false, was_warned: false };
        let ended = self.follow(beginning, &mut following).await;
        let end = self.end_entry(&ended);
        let written = handle.ask(move |owned| owned.append(&[end.entry()])).await;
        drop(to.send(DriverInput::End));
        drop(driving.await);
        let gone = ChildInput::Gone(self.report.state.id.clone());
        drop(self.parent.send(DriverInput::Child(gone)));
        match written {
            Ok(Ok(_)) => ended,
            // What kept it from going on says more.
            Ok(Err(_)) | Err(_) if ended.status == ChildStatus::Failed => ended,
            Ok(Err(error)) | Err(error) => failed(format!("its end cannot be recorded: {error}")),
        }
    }

    /// Creates its session with the entry that says where it comes from, or opens it where it has got to.
    async fn open(&mut self) -> Result<(Session, Beginning), String> {
        let (sessions, beginning) = (Arc::clone(&self.setup.sessions), self.beginning.clone());
        let (file, parent) = (self.file.clone(), self.parent_file.clone());
        let (cwd, is_known) = (self.setup.tool_context.cwd.display().to_string(), self.is_known);
        let (fork, said) = (self.fork.take(), self.said.take());
        let opened = tokio::task::spawn_blocking(move || {
            let new = NewSession { id: None, cwd: &cwd, parent_session: parent.as_deref() };
            let mut session = match file {
                Some(file) if is_known => sessions.open(&file)?,
                Some(file) => sessions.open_or_create(&file, &new)?,
                None => Session::in_memory(&new, Options::default())?,
            };
            drop(leave_foreign_turn(&mut session));
            let stands = match (is_known, said) {
                (true, Some(words)) => Beginning::Spoken(words),
                (true, None) => stands(&session)?,
                (false, _) => Beginning::Task,
            };
            if !is_known {
                if !session.tree().is_empty() {
                    return Ok(None);
                }
                session.append(&beginning.entry())?;
            }
            if let (Some(fork), Beginning::Task) = (fork, &stands) {
                fork.copy_to(&mut session)?;
            }
            Ok::<_, offshoot_session::error::Error>(Some((session, stands)))
        });
        match opened.await {
            Ok(Ok(Some(opened))) => Ok(opened),
            Ok(Ok(None)) => Err("another program has started an agent with this name in this session".to_owned()),
            Ok(Err(error)) => Err(format!("its session cannot be opened: {}", offshoot_protocol::in_words(&error))),
            Err(error) => Err(format!("its session cannot be opened: {error}")),
        }
    }

    /// Has it work, and asks again for an answer of the form that was ordered.
    async fn follow(&mut self, beginning: Beginning, following: &mut Following) -> Ended {
        let mut time_up = std::pin::pin!(after(self.limits.seconds));
        let (reply, replied) = ReplyTo::channel();
        let first = match beginning {
            Beginning::Said(output) => {
                self.report.output = output;
                None
            }
            Beginning::Spoken(words) => Some(Prompt(words.as_str().into()).asked(reply)),
            Beginning::Task => Some(Prompt(self.first_words.as_str().into()).asked(reply)),
            Beginning::There | Beginning::Done(_) => Some(Continue.asked(reply)),
        };
        let mut settled = match first {
            Some(asked) => self.watch(asked, replied, following, time_up.as_mut()).await,
            None => Ok(Settled::Done),
        };
        let Some(schema) = self.schema.clone() else { return Self::ended(settled) };
        for reminder in 0..=REMINDERS {
            if !matches!(settled, Ok(Settled::Done)) {
                break;
            }
            let why = match schema.fitting(&self.report.output) {
                Ok(fitting) => {
                    self.report.output = fitting;
                    break;
                }
                Err(why) => why,
            };
            if reminder == REMINDERS {
                let why = format!("its last message does not fit the ordered schema: {why}");
                return Ended { status: ChildStatus::Failed, why: Some(why) };
            }
            let words = format!(
                "Your last message does not fit the schema: {why}. Send one JSON value that fits it, without any other words."
            );
            let (reply, replied) = ReplyTo::channel();
            settled =
                self.watch(Prompt(words.as_str().into()).asked(reply), replied, following, time_up.as_mut()).await;
        }
        Self::ended(settled)
    }

    /// Asks, and follows what the child does until it has settled.
    async fn watch(
        &mut self,
        asked: Asked,
        mut replied: oneshot::Receiver<Result<Spoken<Settled>, AgentError>>,
        following: &mut Following,
        mut time_up: std::pin::Pin<&mut impl Future<Output = ()>>,
    ) -> Result<Settled, AgentError> {
        let Following { to, events, stop, is_stopping, was_warned } = following;
        drop(to.send(DriverInput::Asked(asked)));
        let mut is_late = false;
        let settled = loop {
            tokio::select! {
                biased;
                _ = &mut *stop, if !*is_stopping => {
                    *is_stopping = true;
                    abort(to);
                }
                () = &mut time_up, if !*is_stopping => {
                    (*is_stopping, is_late) = (true, true);
                    abort(to);
                }
                Some(told) = events.recv() => {
                    self.heard(told);
                    if !*was_warned && self.spending.part_spent() >= NEARLY {
                        *was_warned = true;
                        drop(to.send(DriverInput::Asked(Steer(FINISH.into()).asked(ReplyTo::channel().0))));
                    }
                }
                settled = &mut replied => break settled.unwrap_or(Err(AgentError::Ended)),
            }
        };
        while let Ok(told) = events.try_recv() {
            self.heard(told);
        }
        match settled? {
            Spoken::Taken(Settled::Aborted) if is_late => {
                let seconds = self.limits.seconds.unwrap_or_default();
                Err(AgentError::LimitReached(format!("stopped: limit seconds {seconds} reached")))
            }
            Spoken::Taken(how) => Ok(how),
            Spoken::Handled => Ok(Settled::Done),
        }
    }

    fn heard(&mut self, told: AgentEvent) {
        let mut is_news = true;
        match told.event.as_ref() {
            Event::MessageEnd { message: Message::Assistant(said) } => {
                let text = text_of(&said.content);
                if !text.trim().is_empty() {
                    self.report.state.last_text = Some(text.trim().chars().take(LONGEST_ROW).collect());
                    self.report.output = text;
                }
            }
            Event::ToolExecutionStart { tool_name, .. } => self.report.state.current_tool = Some(tool_name.clone()),
            Event::ToolExecutionEnd { .. } => self.report.state.current_tool = None,
            _ => is_news = false,
        }
        if is_news {
            self.tell(|child| Event::ChildUpdate { child });
        }
        self.pass(told);
    }

    /// Passes an event of its own on, for front ends that follow it.
    fn pass(&self, told: AgentEvent) {
        let input = ChildInput::Told { id: self.report.state.id.clone(), told };
        drop(self.parent.send(DriverInput::Child(input)));
    }

    fn ended(settled: Result<Settled, AgentError>) -> Ended {
        let (status, why) = match settled {
            Ok(Settled::Done) => (ChildStatus::Completed, None),
            Ok(Settled::Aborted) => (ChildStatus::Aborted, None),
            Ok(Settled::Failed(AgentError::LimitReached(why))) | Err(AgentError::LimitReached(why)) => {
                (ChildStatus::Limit, Some(why))
            }
            Ok(Settled::Failed(why) | Settled::Broken(why)) | Err(why) => (ChildStatus::Failed, Some(why.to_string())),
        };
        Ended { status, why }
    }

    fn end_entry(&self, ended: &Ended) -> ChildEnd {
        let Spent { usd, tokens, requests, .. } = self.spending.spent();
        ChildEnd {
            status: ended.status.as_str().to_owned(),
            why: ended.why.clone(),
            output: self.report.output.clone(),
            requests,
            tokens,
            cost: usd,
        }
    }
}

/// Where the session of a child stands.
fn stands(session: &Session) -> offshoot_session::error::Result<Beginning> {
    if let Some(end) = ChildEnd::of(session)? {
        return Ok(Beginning::Done(end));
    }
    Ok(match last_words(session)? {
        LastWords::None => Beginning::Task,
        LastWords::Answer(text) => Beginning::Said(text),
        LastWords::Open => Beginning::There,
    })
}

fn abort(to: &UnboundedSender<DriverInput>) {
    drop(to.send(DriverInput::Asked(Abort.asked(ReplyTo::channel().0))));
}

async fn after(seconds: Option<u64>) {
    match seconds {
        Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
        None => std::future::pending().await,
    }
}
