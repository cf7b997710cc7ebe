//! Gives the turn machine's effects a meaning: one loop over one channel, tasks for what takes time, the writer's thread
//! for the session.
//!
//! An event that announces an entry waits until the entry is in the file, and every later event waits behind it.
//! Dropping a task stops what it does.

mod commands;
mod outbox;
mod replace;
mod jobs;
mod veil;
mod shell;

use std::collections::VecDeque;
use std::sync::Arc;

use offshoot_session::compose::NewEntry;
use offshoot_session::json::Json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use crate::command::{Command, Navigated, Reply};
use crate::error::AgentError;
use crate::event::Event;
use crate::model::Access;
use crate::provider::{Delta, Deltas, Request, is_cut_short, is_silent_overflow};
use crate::request::{self, Built, Frame};
use crate::setup::Setup;
use crate::tool::bash::{BashRun, Printed};
use crate::tool::{Outcome, Place, Tool};
use crate::turn::{Call, Config, Draft, Effect, Input, Record, Settled, State, Ticket, step};
use crate::writer::{Owned, Writer};
use jobs::Ready;
use outbox::Outbox;
pub(crate) use replace::Recorded;
use replace::Replaced;
use veil::Veil;

/// What wakes the driver.
pub(crate) enum In {
    /// Something for the machine.
    Machine(Input),
    /// A front end wants something.
    Asked(Command, Waiter),
    /// A front end wants to hear events.
    Subscribe(UnboundedSender<Arc<Event>>),
    /// Somebody wants to look at the session.
    Read(Box<dyn FnOnce(&mut Owned) + Send>),
    /// The oldest append that is under way has ended.
    Written { result: Written, ticket: Option<Ticket> },
    /// A request is made.
    Built { ticket: Ticket, built: Box<Result<Built, AgentError>> },
    /// A job has something to write.
    Drafted { ticket: Ticket, ready: Box<Result<Ready, Draft>> },
    /// What a job came to is in the file.
    Committed { ticket: Ticket, result: Result<jobs::Committed, AgentError> },
    /// Another session is open, or not.
    Replaced { result: Box<Result<Replaced, AgentError>>, reply: Waiter },
    /// A change of the session outside the turns is in the file, or not.
    Changed { result: Written, reply: Waiter, with: Reply },
    /// A command of the user printed something.
    Printed { run_number: u64, printed: Printed },
    /// A command of the user ended.
    Ran { run_number: u64, run: Result<BashRun, String> },
    /// The front end has gone.
    End,
}

pub(crate) type Waiter = oneshot::Sender<Result<Reply, AgentError>>;

/// What a write came to: an event that it brings about.
type Written = Result<Option<Event>, AgentError>;

/// The user's own command that runs.
struct Shelled {
    command: String,
    exclude: bool,
    stop: Option<oneshot::Sender<()>>,
    reply: Waiter,
}

/// What somebody waits for when everything has settled.
enum Waiting {
    /// How it ended.
    Settled(Waiter),
    /// What the compaction came to.
    Compaction(Waiter),
    /// Where the walk led.
    Navigation(Waiter),
}

pub(crate) struct Driver {
    setup: Setup,
    state: State,
    writer: Writer,
    inbox: UnboundedReceiver<In>,
    own: UnboundedSender<In>,
    outbox: Outbox,
    tasks: Vec<AbortHandle>,
    built: Option<Request>,
    /// What the first request of a prompt needs; asked for before the prompt is recorded.
    access: Option<Access>,
    /// Hides the key of the last request.
    veil: Veil,
    ready: Option<Ready>,
    navigation: Option<crate::command::Navigation>,
    navigated: Option<Navigated>,
    compacted: Option<Result<crate::event::Raw, AgentError>>,
    waiting: Vec<Waiting>,
    /// Commands that wait until nothing is under way.
    deferred: VecDeque<(Command, Waiter)>,
    is_replacing: bool,
    bash: Option<Shelled>,
    /// Commands of the user so far.
    runs: u64,
    /// Whether a write has failed.
    is_broken: bool,
    recorded: Recorded,
    auto_compaction: bool,
}

impl Driver {
    /// A driver, and the way to it.
    pub(crate) fn new(setup: Setup, writer: Writer, recorded: Recorded) -> (Self, UnboundedSender<In>) {
        let (own, inbox) = unbounded_channel();
        let auto_compaction = setup.compaction.enabled;
        let mut driver = Self {
            setup,
            state: State::default(),
            writer,
            inbox,
            own: own.clone(),
            outbox: Outbox::default(),
            tasks: Vec::new(),
            built: None,
            access: None,
            veil: Veil::default(),
            ready: None,
            navigation: None,
            navigated: None,
            compacted: None,
            waiting: Vec::new(),
            deferred: VecDeque::new(),
            is_replacing: false,
            bash: None,
            runs: 0,
            is_broken: false,
            recorded,
            auto_compaction,
        };
        driver.configure();
        (driver, own)
    }

    /// Runs until the front end goes.
    pub(crate) async fn run(mut self) {
        while let Some(input) = self.inbox.recv().await {
            if matches!(input, In::End) {
                break;
            }
            self.take(input);
        }
        self.cancel();
    }

    fn take(&mut self, input: In) {
        match input {
            In::Machine(input) => self.step(input),
            In::Asked(command, reply) => self.asked(command, reply),
            In::Subscribe(subscriber) => self.outbox.subscribe(subscriber),
            In::Read(look) => self.writer.desk().give(look),
            In::Written { result, ticket } => self.written(result, ticket),
            In::Built { ticket, built } => self.request_built(ticket, *built),
            In::Drafted { ticket, ready } => self.drafted(ticket, *ready),
            In::Committed { ticket, result } => self.committed(ticket, result),
            In::Replaced { result, reply } => self.replaced(*result, reply),
            In::Changed { result, reply, with } => self.changed(result, reply, with),
            In::Printed { run_number, printed } => self.printed(run_number, printed),
            In::Ran { run_number, run } => self.ran(run_number, run),
            In::End => {}
        }
        self.catch_up();
    }

    fn step(&mut self, input: Input) {
        for effect in step(&mut self.state, input) {
            self.execute(effect);
        }
    }

    fn execute(&mut self, effect: Effect) {
        match effect {
            Effect::Emit(event) => self.tell(event),
            Effect::Append { records, then, ticket } => self.append(&records, then, ticket),
            Effect::OmitAnswer => self.write(Vec::new(), None, Owned::omit_answer),
            Effect::Build { ticket } => self.build(ticket),
            Effect::Send { ticket } => self.send(ticket),
            Effect::Run { ticket, index, call } => self.run_tool(ticket, index, call),
            Effect::Wait { ticket, ms } => self.wait(ticket, ms),
            Effect::Draft { ticket, job } => self.draft(ticket, job),
            Effect::Commit { ticket } => self.commit(ticket),
            Effect::Cancel => self.cancel(),
            Effect::Settle(how) => self.settle(&how),
        }
    }

    fn tell(&mut self, event: Event) {
        if let Event::CompactionEnd { result, error_message, aborted, .. } = &event {
            let why = || error_message.clone().unwrap_or_else(|| "the compaction gave nothing".to_owned());
            self.compacted = Some(match (result, aborted) {
                (Some(result), _) => Ok(result.clone()),
                (None, true) => Err(AgentError::Failed("the compaction was stopped".to_owned())),
                (None, false) => Err(AgentError::Failed(why())),
            });
        }
        self.outbox.tell(event);
    }

    /// Hands entries to the writer. The first prompt brings along what the session does not say yet of model and
    /// thinking.
    fn append(&mut self, records: &[Record], then: Vec<Event>, ticket: Option<Ticket>) {
        let is_said = records.iter().any(Record::is_users);
        let mut entries = if is_said { self.settings_entries() } else { Vec::new() };
        let composed: Result<Vec<NewEntry>, AgentError> = records.iter().map(compose).collect();
        self.recorded.has_entries = true;
        self.write(then, ticket, move |owned| {
            entries.extend(composed?);
            owned.append(&entries).map(|_| None)
        });
    }

    /// Has the writer do something, and tells `then`, and what comes of it, once it is durable.
    fn write(
        &mut self,
        then: Vec<Event>,
        ticket: Option<Ticket>,
        work: impl FnOnce(&mut Owned) -> Written + Send + 'static,
    ) {
        let own = self.own.clone();
        self.outbox.after_write(then);
        self.writer.desk().give(move |owned| {
            let result = work(owned);
            drop(own.send(In::Written { result, ticket }));
        });
    }

    fn written(&mut self, result: Written, ticket: Option<Ticket>) {
        match result {
            Ok(event) => {
                let ended = self.outbox.written(event);
                self.answer_all(ended);
                if let Some(ticket) = ticket {
                    self.step(Input::Recorded { ticket });
                }
            }
            Err(error) => {
                let ended = self.outbox.lost();
                self.answer_all(ended);
                // The writes behind it fail for the same reason.
                if !std::mem::replace(&mut self.is_broken, true) {
                    self.step(Input::WriteFailed { error });
                }
            }
        }
    }

    fn frame(&mut self) -> Result<Frame, AgentError> {
        let access = self.access.take();
        let setup = &self.setup;
        let Access { model, key } = access.map_or_else(|| setup.keys.access(&setup.model), Ok)?;
        self.veil = Veil::new(key.clone());
        let tools = setup.tools.iter().map(|tool| tool.spec()).collect();
        Ok(Frame { model, thinking: setup.thinking(), system: setup.system.clone(), tools, key })
    }

    fn build(&mut self, ticket: Ticket) {
        let frame = self.frame();
        let own = self.own.clone();
        self.writer.desk().give(move |owned| {
            let built = frame.and_then(|frame| request::build(owned.session(), frame));
            drop(own.send(In::Built { ticket, built: Box::new(built) }));
        });
    }

    fn request_built(&mut self, ticket: Ticket, built: Result<Built, AgentError>) {
        match built {
            Ok(Built { request, tokens, .. }) => {
                let blank = Box::new(request.model.blank_answer(self.setup.clock.now()));
                self.built = Some(request);
                self.step(Input::Built { ticket, tokens, blank });
            }
            Err(error) => self.step(Input::BuildFailed { ticket, error }),
        }
    }

    fn send(&mut self, ticket: Ticket) {
        let Some(request) = self.built.take() else { return };
        let room = (request.model.context_window, request.max_tokens.unwrap_or(request.model.max_tokens));
        let deltas = self.setup.provider.stream(request);
        let own = self.own.clone();
        self.spawn(listen(deltas, room, move |delta| own.send(In::Machine(Input::Delta { ticket, delta })).is_ok()));
    }

    fn run_tool(&mut self, ticket: Ticket, index: usize, call: Call) {
        let own = self.own.clone();
        let clock = self.setup.clock.clone();
        let tool = self.setup.tools.iter().find(|tool| tool.spec().name == call.name).cloned();
        let place = Arc::new(Place { hidden: self.veil.key(), ..self.setup.place.clone() });
        let veil = self.veil.clone();
        self.spawn(async move {
            let outcome = match tool {
                Some(tool) => {
                    run_tool(tool.as_ref(), call.arguments, place, |outcome| {
                        let outcome = veil.outcome(outcome);
                        drop(own.send(In::Machine(Input::Partial { ticket, call: index, outcome })));
                    })
                    .await
                }
                None => Outcome::failed(format!("there is no tool named {}", call.name)),
            };
            let (outcome, at) = (veil.outcome(outcome), clock.now());
            drop(own.send(In::Machine(Input::Ended { ticket, call: index, outcome, at })));
        });
    }

    fn wait(&mut self, ticket: Ticket, ms: u64) {
        let own = self.own.clone();
        self.spawn(async move {
            tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
            drop(own.send(In::Machine(Input::Elapsed { ticket })));
        });
    }

    fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.retain(|task| !task.is_finished());
        self.tasks.push(tokio::spawn(task).abort_handle());
    }

    fn cancel(&mut self) {
        for task in self.tasks.drain(..) {
            task.abort();
        }
        self.built = None;
        self.ready = None;
    }

    fn settle(&mut self, how: &Settled) {
        let waiting = std::mem::take(&mut self.waiting);
        let answers = waiting.into_iter().map(|waiting| self.answer_for(waiting, how)).collect();
        let ended = self.outbox.settle(answers);
        self.answer_all(ended);
    }

    fn answer_for(&mut self, waiting: Waiting, how: &Settled) -> (Waiter, Result<Reply, AgentError>) {
        match waiting {
            Waiting::Settled(waiter) => (waiter, Ok(Reply::Settled(how.clone()))),
            Waiting::Compaction(waiter) => {
                let nothing = || Err(AgentError::Failed("nothing was compacted".to_owned()));
                (waiter, self.compacted.take().unwrap_or_else(nothing).map(Reply::Compacted))
            }
            Waiting::Navigation(waiter) => {
                let navigated = self.navigated.take();
                let result = match (how, navigated) {
                    (Settled::Aborted, _) => Ok(Navigated { aborted: true, ..Navigated::default() }),
                    (Settled::Failed(why) | Settled::Broken(why), _) => Err(why.clone()),
                    (Settled::Done, Some(navigated)) => Ok(navigated),
                    (Settled::Done, None) => Err(AgentError::Failed("nothing was gone to".to_owned())),
                };
                (waiter, result.map(Reply::Navigated))
            }
        }
    }

    fn answer_all(&mut self, answers: Vec<outbox::Answers>) {
        for (waiter, answer) in answers.into_iter().flatten() {
            // Who does not wait any more needs no answer.
            drop(waiter.send(answer));
        }
    }

    /// What the machine goes by, from the settings and the model.
    fn configure(&mut self) {
        let setup = &self.setup;
        let window = setup.model.context_window;
        let is_on = self.auto_compaction && window > 0;
        self.state.config = Config {
            retry: setup.retry,
            compact_above: is_on.then(|| window.saturating_sub(setup.compaction().reserve_tokens)),
            recover_overflow: self.auto_compaction,
            steering: setup.steering,
            follow_up: setup.follow_up,
            shared: setup.tools.iter().filter(|tool| tool.is_shared()).map(|tool| tool.spec().name).collect(),
        };
    }

    /// Entries for what the session does not say yet of model and thinking.
    fn settings_entries(&mut self) -> Vec<NewEntry> {
        let (model, thinking) = (&self.setup.model, self.setup.thinking());
        let now = Recorded {
            model: Some((model.provider.clone(), model.id.clone())),
            thinking: Some(thinking),
            ..self.recorded
        };
        let mut entries = Vec::new();
        if now.model != self.recorded.model {
            entries.push(NewEntry::model(&model.provider, &model.id, now.dialect));
        }
        if now.thinking != self.recorded.thinking {
            entries.push(NewEntry::thinking_level(thinking.as_str(), now.dialect));
        }
        self.recorded = now;
        entries
    }
}

fn compose(record: &Record) -> Result<NewEntry, AgentError> {
    match record {
        Record::Message(message) => request::to_entry(message),
        Record::Bash(json) => {
            let json = Json::parse(&json.0).map_err(|error| format!("could not write a command: {error}"))?;
            Ok(NewEntry::message(json)?)
        }
    }
}

/// Hands on what comes in until the answer is complete or nobody listens.
async fn listen(mut deltas: Deltas, (window, limit): (u64, u64), hand_on: impl Fn(Delta) -> bool) {
    while let Some(mut delta) = std::future::poll_fn(|context| deltas.as_mut().poll_next(context)).await {
        let is_last = matches!(delta, Delta::Done(_));
        if let Delta::Done(answer) = &mut delta
            && answer.failure.is_none()
            && (is_silent_overflow(&answer.message, window) || is_cut_short(&answer.message, limit))
        {
            answer.failure = Some(crate::provider::Failure {
                status: None,
                is_transient: false,
                is_overflow: true,
                retry_after: None,
            });
        }
        if !hand_on(delta) || is_last {
            return;
        }
    }
}

/// Runs a tool and hands on what it shows on the way, the last of it before the end.
async fn run_tool(tool: &dyn Tool, arguments: serde_json::Value, place: Arc<Place>, show: impl Fn(Outcome)) -> Outcome {
    let (partial, mut partials) = unbounded_channel();
    let running = tool.run(arguments, place, partial);
    tokio::pin!(running);
    loop {
        tokio::select! {
            biased;
            Some(outcome) = partials.recv() => show(outcome),
            outcome = &mut running => return outcome,
        }
    }
}
