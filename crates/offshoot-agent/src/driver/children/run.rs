//! One call of the tool `task`: its children are started, watched to their ends, and reported.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use offshoot_protocol::message::{Message, text_of};
use offshoot_protocol::{AgentError, AgentEvent, ChildState, ChildStatus, Event, SessionChangeReason, Settled};
use offshoot_session::child::{ChildEnd, ChildStart, child_file};
use offshoot_session::entry::Source as _;
use offshoot_session::session::{NewSession, Options, Session};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, oneshot};

use super::ChildInput;
use super::known::{KnownChild, LastWords, known_children, last_words};
use super::made::{ChildPlan, is_free, wanted_id};
use super::report::{ChildReport, outcome};
use crate::driver::{Driver, DriverInput, leave_foreign_turn};
use crate::family::ChildPlace;
use crate::request_queue::{Askable as _, Continue, ReplyTo};
use crate::setup::Setup;
use crate::spending::{Spending, Spent};
use crate::tool::{Running, TaskCall, TaskLimits, TaskOrder, TaskRunner, ToolOutcome};
use crate::writer::{Writer, WriterHandle};
use offshoot_protocol::request::{Abort, Prompt, Spoken, Steer};

/// So often at most a call shows how far its children are.
const SHOWN_EVERY: Duration = Duration::from_millis(150);
/// The beginning of what a child says, for rows.
const LONGEST_ROW: usize = 200;
/// From this part of a limit on a child is told to finish.
const NEARLY: f64 = 0.8;
const FINISH: &str =
    "You have used most of what you may use. Finish now: your next message should report what you have.";

/// Starts the children of one call.
pub(crate) struct CallChildren {
    /// As the parent is now.
    pub(super) setup: Setup,
    pub(super) call_id: String,
    pub(super) spending: Spending,
    pub(super) session: WriterHandle,
    pub(super) parent: UnboundedSender<DriverInput>,
    /// Whether the call was begun by a program that has ended: children that it started go on.
    pub(super) resumes: bool,
}

/// Where the parent's session is.
struct ParentPlace {
    id: String,
    /// The entry with the call.
    entry: Option<String>,
    file: Option<PathBuf>,
    /// Its own id, if it is a child.
    child: Option<ChildStart>,
}

/// What is shown of the children of a call.
#[derive(Default)]
struct Shown {
    reports: Mutex<Vec<ChildReport>>,
    changed: Notify,
}

impl Shown {
    fn set(&self, at: usize, report: ChildReport) {
        if let Some(shown) = self.reports.lock().unwrap_or_else(PoisonError::into_inner).get_mut(at) {
            *shown = report;
        }
        self.changed.notify_one();
    }

    fn all(&self) -> Vec<ChildReport> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl TaskRunner for CallChildren {
    fn run(&self, call: TaskCall, partial: UnboundedSender<ToolOutcome>) -> Running {
        let parent = Self {
            setup: self.setup.clone(),
            call_id: self.call_id.clone(),
            spending: self.spending.clone(),
            session: self.session.clone(),
            parent: self.parent.clone(),
            resumes: self.resumes,
        };
        Box::pin(async move { parent.run_all(call, partial).await })
    }
}

impl CallChildren {
    async fn run_all(self, call: TaskCall, partial: UnboundedSender<ToolOutcome>) -> ToolOutcome {
        let begun = self.setup.clock.now();
        let place = match self.place().await {
            Ok(place) => place,
            Err(error) => return ToolOutcome::failed(format!("Nothing is started: {error}")),
        };
        if let (None, Some(_), Some(path)) =
            (&self.setup.family.own, &place.file, self.setup.family.ledger_of(&place.id))
        {
            let run = format!("{:x}-{begun:x}", std::process::id());
            if let Err(why) = self.spending.record_in(path, run).await {
                return ToolOutcome::failed(format!("Nothing is started: {why}."));
            }
        }
        let shown = Arc::new(Shown::default());
        let mut running = Vec::new();
        let known = if self.resumes { self.known(&place).await } else { Vec::new() };
        for (index, order) in call.tasks.iter().enumerate() {
            let known = known.iter().find(|child| child.beginning.index == index);
            let started = self.start(&place, (index, order, call.context.as_ref()), known, &shown);
            let report = match started {
                Ok((child, report)) => {
                    running.push(child);
                    report
                }
                Err(why) => self.unstarted(index, order, why),
            };
            shown.reports.lock().unwrap_or_else(PoisonError::into_inner).push(report);
        }
        let ended = async {
            for child in &mut running {
                // A task that crashed has said nothing more.
                drop((&mut child.ended).await);
            }
        };
        let clock = self.setup.clock.clone();
        let took = move || u64::try_from(clock.now().saturating_sub(begun)).unwrap_or_default();
        tokio::pin!(ended);
        loop {
            tokio::select! {
                biased;
                () = &mut ended => break,
                () = shown.changed.notified() => {
                    drop(partial.send(outcome(&shown.all(), took())));
                    tokio::select! {
                        biased;
                        () = &mut ended => break,
                        () = tokio::time::sleep(SHOWN_EVERY) => {}
                    }
                }
            }
        }
        outcome(&shown.all(), took())
    }

    async fn place(&self) -> Result<ParentPlace, AgentError> {
        let own = self.setup.family.own.is_some();
        let found = self.session.ask(move |owned| {
            use offshoot_session::kind::Role;
            let session = owned.session();
            let tree = session.tree();
            let is_answer = |ix: &offshoot_session::tree::NodeIx| tree.node(*ix).role() == Some(Role::Assistant);
            let entry = session.leaf().and_then(|leaf| tree.ancestors(leaf).find(is_answer));
            let entry = entry.and_then(|ix| tree.node(ix).id().map(|id| id.as_str().to_owned()));
            // A child that somebody has opened by itself goes on being one.
            let child = if own { None } else { ChildStart::of(session)? };
            let file = session.file().map(PathBuf::from);
            Ok::<_, offshoot_session::error::Error>(ParentPlace { id: session.id().to_owned(), entry, file, child })
        });
        Ok(found.await??)
    }

    /// The folder of the files of all children of the root.
    fn folder(&self, place: &ParentPlace) -> Option<PathBuf> {
        match (&self.setup.family.own, &place.child, &place.file) {
            (Some(own), ..) => own.folder.clone(),
            (None, Some(_), Some(file)) => file.parent().map(PathBuf::from),
            (None, _, file) => file.as_deref().map(offshoot_session::child::children_folder),
        }
    }

    /// Children that the call has started before.
    async fn known(&self, place: &ParentPlace) -> Vec<KnownChild> {
        let Some(folder) = self.folder(place) else { return Vec::new() };
        let (id, entry, call) = (place.id.clone(), place.entry.clone(), self.call_id.clone());
        let is_of_call = move |child: &ChildStart| {
            child.parent_id == id && child.parent_entry == entry && child.tool_call_id == call
        };
        let found = tokio::task::spawn_blocking(move || known_children(&folder, is_of_call));
        found.await.unwrap_or_default()
    }

    /// What a task that cannot be started says.
    fn unstarted(&self, index: usize, order: &TaskOrder, why: String) -> ChildReport {
        let agent = order.agent.clone().unwrap_or_else(|| crate::resources::USUAL_AGENT.to_owned());
        let id = order.name.clone().unwrap_or_else(|| agent.clone());
        let state = ChildState { why: Some(why), status: ChildStatus::Failed, ..self.state(index, order, (id, agent)) };
        ChildReport { state, output: String::new(), spent: Spent::default(), milliseconds: 0 }
    }

    fn state(&self, index: usize, order: &TaskOrder, (id, agent): (String, String)) -> ChildState {
        let model = &self.setup.model;
        ChildState {
            id,
            agent,
            parent_tool_call_id: self.call_id.clone(),
            index,
            task: order.task.clone(),
            file: None,
            model: format!("{}/{}", model.provider, model.id),
            status: ChildStatus::Pending,
            requests: 0,
            tokens: 0,
            cost: 0.0,
            current_tool: None,
            last_text: None,
            why: None,
        }
    }

    /// Starts one child; it waits by itself until it may run.
    fn start(
        &self,
        place: &ParentPlace,
        (index, order, context): (usize, &TaskOrder, Option<&String>),
        known: Option<&KnownChild>,
        shown: &Arc<Shown>,
    ) -> Result<(StartedChild, ChildReport), String> {
        let family = &self.setup.family;
        let own = family.own.as_ref();
        let depth = place.child.as_ref().map_or_else(|| family.depth(), |child| child.depth) + 1;
        if depth > family.limits().depth {
            return Err(format!("agents of depth {depth} are not started; {} is the limit", family.limits().depth));
        }
        let plan = ChildPlan::new(&self.setup, order, context)?;
        let folder = self.folder(place);
        let above = own.map(|own| own.id.clone()).or_else(|| place.child.as_ref().map(|child| child.id.clone()));
        let wanted = wanted_id(order, &plan.definition, above.as_deref());
        let id = match known {
            Some(known) => Some(known.beginning.id.clone()),
            None => family.take_id(&wanted, |id| is_free(folder.as_deref(), id)),
        };
        let Some(id) = id else {
            return Err(format!("{} agents were started in this run, which is the limit", family.limits().children));
        };
        let spending =
            self.spending.below(&id, order.limits, plan.definition.turns.and_then(|turns| turns.try_into().ok()));
        if let Some(known) = known {
            spending.credit(&self.spending.spent_before(&known.beginning.id).unwrap_or(known.spent));
        }
        let mut setup = plan.setup(&self.setup, depth);
        setup.family = family.of_child(ChildPlace {
            id: id.clone(),
            depth,
            folder: folder.clone(),
            spawns: plan.definition.spawns.clone(),
            spending: spending.clone(),
            asker: self.setup.tool_context.conversation.asker_for(&id),
        });
        let file = folder.as_deref().map(|folder| child_file(folder, &id));
        let model = format!("{}/{}", plan.model.provider, plan.model.id);
        let agent = plan.definition.about.name.clone();
        let state = ChildState {
            file: file.as_ref().map(|file| file.display().to_string()),
            model,
            ..self.state(index, order, (id.clone(), agent.clone()))
        };
        let beginning = ChildStart {
            parent_id: place.id.clone(),
            parent_entry: place.entry.clone(),
            tool_call_id: self.call_id.clone(),
            index,
            id,
            agent,
            depth,
            task: order.task.clone(),
            context: context.cloned(),
            limits: limits_json(&order.limits),
        };
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let report = ChildReport { state, output: String::new(), spent: Spent::default(), milliseconds: 0 };
        let child = Child {
            setup,
            slots: family.slots(depth),
            file,
            parent_file: place.file.as_ref().map(|file| file.display().to_string()),
            beginning,
            limits: order.limits,
            spending,
            report: report.clone(),
            at: index,
            shown: Arc::clone(shown),
            parent: self.parent.clone(),
            is_known: known.is_some(),
        };
        let task = tokio::spawn(async move {
            child.run(stopped).await;
            drop(end);
        });
        drop(self.parent.send(DriverInput::Child(ChildInput::Spawned(task))));
        Ok((StartedChild { ended, _stop: stop }, report))
    }
}

fn limits_json(limits: &TaskLimits) -> String {
    let TaskLimits { usd, tokens, requests, seconds } = limits;
    let members = [
        usd.map(|usd| ("usd", serde_json::json!(usd))),
        tokens.map(|tokens| ("tokens", serde_json::json!(tokens))),
        requests.map(|requests| ("requests", serde_json::json!(requests))),
        seconds.map(|seconds| ("seconds", serde_json::json!(seconds))),
    ];
    let members = members.into_iter().flatten().map(|(name, value)| (name.to_owned(), value));
    serde_json::Value::Object(members.collect()).to_string()
}

/// A child as its call holds it: dropping this stops it.
struct StartedChild {
    ended: oneshot::Receiver<()>,
    _stop: oneshot::Sender<()>,
}

/// A child from its start to its end.
struct Child {
    setup: Setup,
    slots: Arc<tokio::sync::Semaphore>,
    file: Option<PathBuf>,
    parent_file: Option<String>,
    beginning: ChildStart,
    limits: TaskLimits,
    spending: Spending,
    report: ChildReport,
    at: usize,
    shown: Arc<Shown>,
    parent: UnboundedSender<DriverInput>,
    /// Whether its file was there.
    is_known: bool,
}

/// What a child begins with.
enum Beginning {
    /// Its task.
    Task,
    /// Where its session stands.
    There,
    /// Nothing: it had said this when the program ended.
    Said(String),
    /// Nothing: its work is done.
    Done(ChildEnd),
}

/// How a child has ended, and what it has said last.
struct Ended {
    status: ChildStatus,
    why: Option<String>,
}

impl Child {
    async fn run(mut self, mut stop: oneshot::Receiver<()>) {
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
        self.shown.set(self.at, self.report.clone());
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
        let settled = match beginning {
            Beginning::Said(output) => {
                self.report.output = output;
                Ok(Settled::Done)
            }
            Beginning::Task | Beginning::There | Beginning::Done(_) => {
                let begins = matches!(beginning, Beginning::Task);
                self.watch(&to, begins, events, stop).await
            }
        };
        let ended = self.ended(settled);
        let end = self.end_entry(&ended);
        let written = handle.ask(move |owned| owned.append(&[end.entry()])).await;
        drop(to.send(DriverInput::End));
        drop(driving.await);
        let gone = ChildInput::Gone(self.report.state.id.clone());
        drop(self.parent.send(DriverInput::Child(gone)));
        match written {
            Ok(Ok(_)) => ended,
            Ok(Err(error)) | Err(error) => failed(format!("its end cannot be recorded: {error}")),
        }
    }

    /// Creates its session with the entry that says where it comes from, or opens it where it has got to.
    async fn open(&self) -> Result<(Session, Beginning), String> {
        let (sessions, beginning) = (Arc::clone(&self.setup.sessions), self.beginning.clone());
        let (file, parent) = (self.file.clone(), self.parent_file.clone());
        let (cwd, is_known) = (self.setup.tool_context.cwd.display().to_string(), self.is_known);
        let opened = tokio::task::spawn_blocking(move || {
            let new = NewSession { id: None, cwd: &cwd, parent_session: parent.as_deref() };
            let mut session = match file {
                Some(file) if is_known => sessions.open(&file)?,
                Some(file) => sessions.open_or_create(&file, &new)?,
                None => Session::in_memory(&new, Options::default())?,
            };
            drop(leave_foreign_turn(&mut session));
            let stands = if is_known { stands(&session)? } else { Beginning::Task };
            if !is_known {
                if !session.tree().is_empty() {
                    return Ok(None);
                }
                session.append(&beginning.entry())?;
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

    /// Says the task, and follows what the child does until it has settled.
    async fn watch(
        &mut self,
        to: &UnboundedSender<DriverInput>,
        begins: bool,
        mut events: UnboundedReceiver<AgentEvent>,
        mut stop: oneshot::Receiver<()>,
    ) -> Result<Settled, AgentError> {
        let (reply, mut replied) = ReplyTo::channel();
        let asked = match begins {
            true => Prompt(self.beginning.task.as_str().into()).asked(reply),
            false => Continue.asked(reply),
        };
        drop(to.send(DriverInput::Asked(asked)));
        let mut time_up = std::pin::pin!(after(self.limits.seconds));
        let (mut is_stopping, mut was_warned, mut is_late) = (false, false, false);
        let settled = loop {
            tokio::select! {
                biased;
                _ = &mut stop, if !is_stopping => {
                    is_stopping = true;
                    abort(to);
                }
                () = &mut time_up, if !is_stopping => {
                    (is_stopping, is_late) = (true, true);
                    abort(to);
                }
                Some(told) = events.recv() => {
                    self.heard(told);
                    if !was_warned && self.spending.part_spent() >= NEARLY {
                        was_warned = true;
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

    fn ended(&self, settled: Result<Settled, AgentError>) -> Ended {
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
