//! Runs the turn machine: one loop over one channel, tasks for slow effects, the writer's thread for the session.
//!
//! An event that announces an entry waits until the entry is in the file, and later events wait for it. Dropping a task
//! stops its work.

mod outbox;
mod callers;
mod writes;
mod replace;
mod sandboxes;
mod commands;
mod summaries;
mod asked_summaries;
mod operate;
mod jobs;
mod neutral;
mod permit;
mod foreseen;
mod approvals;
mod children;
mod background;
mod plans;
mod forms;
mod tool_set;
mod files;
mod tools;
mod shell;
mod extensions;
mod stream_rules;
mod requests;
mod reviews;
mod boundaries;
mod wait;
mod half_answer;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use offshoot_protocol::message::Message;
use offshoot_protocol::request::Forked;
use offshoot_protocol::{
    AgentError, AgentEvent, BashResult, BashRun, Crash, Event, NoticeCode, Settled, ShutdownReason,
};
use offshoot_session::compact::Settings;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use crate::crash::{caught, caught_task};
use crate::extensions::{Extensions, Question, RunAdditions, RunStart};
use crate::guarded_extensions::{CrashListener, GuardedExtensions};
use crate::key_redactor::KeyRedactor;
use crate::pictures::PictureFitter;
use crate::provider::{Delta, Request};
use crate::request_queue::{Asked, ReplyTo};
use crate::setup::{Approver, Setup};
use crate::spending::{Hold, Spending};
use crate::told_mode::ToldMode;
use crate::tool::bash::Printed;
use crate::tool::{AcceptedPlan, BackgroundCommands, BackgroundNews, FormMessage};
use crate::turn::{Effect, JobDraft, OpenAnswer, Ticket, TurnConfig, TurnInput, TurnState, step};
use crate::window::window_of;
use crate::writer::{OwnedSession, Writer, WriterHandle};
use approvals::{ApprovalInput, Approvals, CallPlace};
use callers::{Waiting, reply_to_all};
use children::{ChildInput, Children};
use files::DriverFiles;
use forms::Forms;
use jobs::ReadyJob;
use operate::{AskingOperation, Operated};
use outbox::Outbox;
use replace::Replaced;
pub(crate) use replace::leave_foreign_turn;
use reviews::{Review, Reviewed};
use sandboxes::KnownSandbox;
use tool_set::ToolSet;
pub(crate) use tool_set::tool_taker;
use writes::{WriteEnd, WriteOf};

pub(crate) enum DriverInput {
    Machine(TurnInput),
    Asked(Asked),
    Subscribe(UnboundedSender<AgentEvent>),
    Read(Box<dyn FnOnce(&WriterHandle) + Send>),
    Written(Box<WriteEnd>),
    /// There is a key, and extensions have added what they add to the run.
    Admitted {
        ticket: Ticket,
        additions: Box<RunAdditions>,
        /// What an ended program has left open.
        open: Option<Box<OpenAnswer>>,
    },
    /// What extensions may change before it is sent.
    ContextRead {
        ticket: Ticket,
        messages: Result<Vec<String>, AgentError>,
    },
    Built {
        ticket: Ticket,
        built: Box<Result<requests::FittedRequest, AgentError>>,
    },
    Drafted {
        ticket: Ticket,
        ready: Box<Result<ReadyJob, JobDraft>>,
    },
    Committed {
        ticket: Ticket,
        result: Box<Result<jobs::Committed, AgentError>>,
    },
    /// What has arrived of the answer is due to be kept.
    HalfDue(Ticket),
    /// An operation was planned, and written if it asks no model.
    Operated {
        result: Box<Result<Operated, AgentError>>,
        is_alone: bool,
        reply: ReplyTo<()>,
    },
    Replaced {
        result: Box<Result<Replaced, AgentError>>,
        reply: ReplyTo<Forked>,
    },
    Added {
        result: Result<(String, Option<Event>), AgentError>,
        reply: ReplyTo<String>,
    },
    /// Extensions have seen messages that wait to be recorded.
    Reviewed(Reviewed),
    /// All of a turn or a run is in the file.
    EndRecorded(Box<boundaries::RecordedEnd>),
    /// Extensions have added to the end of a turn or a run.
    Bounded(Box<boundaries::Bounded>),
    ExtensionCrashed(String),
    /// A task of a turn has ended without its result.
    TaskCrashed {
        ticket: Ticket,
        crash: Crash,
    },
    Printed(Printed),
    Ran(Result<BashRun, String>, Option<files::CommandFiles>),
    /// Changes of files could not be recorded.
    FilesFailed(String),
    /// By a source of tools, about itself.
    SourceTold(String),
    Approval(ApprovalInput),
    Form(FormMessage),
    Child(ChildInput),
    Background(BackgroundNews),
    /// The person has accepted a plan; the call waits until it is kept.
    Plan(AcceptedPlan, oneshot::Sender<()>),
    Approver(Approver),
    End,
}

/// Why a request has no reply.
pub(crate) fn unanswered(to: &UnboundedSender<DriverInput>) -> AgentError {
    match to.is_closed() {
        true => AgentError::Ended,
        false => AgentError::Failed("a part of the agent crashed while it did this".to_owned()),
    }
}

/// A step of the answer, or why its stream broke off.
type AnswerDelta = (Ticket, Result<Delta, String>);

/// How many steps of an answer may wait for the driver.
const DELTAS_AHEAD: usize = 256;

struct UserCommand {
    command: String,
    exclude: bool,
    stop: Option<oneshot::Sender<()>>,
    reply: ReplyTo<Arc<BashResult>>,
}

/// The machine knows what is running. The driver holds what the machine must not know: channels, tasks, parts of the
/// session, and under the machine's ticket what an effect will send or write.
pub(crate) struct Driver {
    setup: Setup,
    state: TurnState,
    writer: Writer,
    inbox: UnboundedReceiver<DriverInput>,
    own: UnboundedSender<DriverInput>,
    /// The steps of the streaming answer. A server that sends faster than they are handled must wait, and everything
    /// else comes before them: a command stops the fastest answer at once.
    deltas: Receiver<AnswerDelta>,
    answer: Sender<AnswerDelta>,
    outbox: Outbox,
    tasks: Vec<AbortHandle>,
    /// Stops the running tools; each then returns its last partial outcome.
    /// Ends when the newest call of a turn has been allowed or refused.
    judged: Option<(Ticket, oneshot::Receiver<()>)>,
    /// The calls of the answer whose calls were run last.
    answer_calls: Option<(Ticket, foreseen::AnswerCalls)>,
    tool_stops: Vec<oneshot::Sender<()>>,
    /// Of each tool, in the answer that is being written.
    begun_calls: BTreeMap<String, usize>,
    /// For [`Effect::Send`]: a request contains the key, and the machine decides by its size alone.
    /// With the entry of each message.
    built: Option<(Request, Vec<String>, Option<Hold>)>,
    /// For [`Effect::Commit`]: plans belong to the session.
    ready: Option<ReadyJob>,
    /// Until its summary is written.
    asking: Option<AskingOperation>,
    redactor: KeyRedactor,
    approvals: Approvals,
    forms: Forms,
    background: BackgroundCommands,
    waiting: Vec<Waiting>,
    /// Requests that wait until the machine is idle and the session available.
    deferred: VecDeque<Asked>,
    /// Whether another session is being opened: the machine is idle meanwhile.
    is_replacing: bool,
    /// Whether an operation is planned or written that needs an idle machine: it is idle meanwhile.
    is_operating: bool,
    /// How many runs have ended, and how the last one did.
    settled: (u64, Settled),
    /// Runs beside the turns; the machine only gets its result.
    bash: Option<UserCommand>,
    is_ending: bool,
    /// The session as the first front end receives it.
    opening: Option<Event>,
    pictures: Arc<PictureFitter>,
    spending: Spending,
    tool_set: ToolSet,
    /// Of the prompt that waits for its admission.
    run_start: Option<RunStart>,
    /// The system prompt of this run, if an extension changed it.
    run_system: Option<String>,
    /// Messages of extensions that wait for the next prompt.
    with_next_prompt: Vec<Message>,
    /// Whether requests leave out tools that the mode would only refuse: since the start, until the mode is another one.
    leaves_out_changes: bool,
    began: ToldMode,
    /// The mode in the last message about it from this program; `None` before the first one.
    told_mode: Option<ToldMode>,
    /// Whether the model sees the plan that was accepted on this branch, if one was, or will with the next prompt.
    knows_plan: bool,
    known_sandbox: KnownSandbox,
    review: Option<Review>,
    /// The answer of which a half is due to be kept.
    half_due: Option<Ticket>,
    files: DriverFiles,
    rule_watch: stream_rules::RuleWatch,
    children: Children,
    /// The turn that goes on with calls of a program that has ended.
    resumed: Option<Ticket>,
}

impl Driver {
    pub(crate) fn new(
        mut setup: Setup,
        writer: Writer,
        opening: Option<Event>,
    ) -> (Self, UnboundedSender<DriverInput>) {
        // Unbounded: the writer's thread must never wait for the driver, which may wait for the writer. Front ends send
        // one command at a time; tasks send the output of tools a few times a second.
        let (own, inbox) = unbounded_channel();
        let (answer, deltas) = channel(DELTAS_AHEAD);
        let redactor = KeyRedactor::of(setup.keys.as_ref(), None);
        let spending = setup.family.spending().unwrap_or_else(|| Spending::new(setup.limits));
        let told = own.clone();
        let listener: CrashListener = Arc::new(move |words| drop(told.send(DriverInput::ExtensionCrashed(words))));
        setup.extensions = setup.extensions.take().map(|extensions| {
            Arc::new(GuardedExtensions { extensions, listener: listener.clone() }) as Arc<dyn Extensions>
        });
        let extensions = setup.extensions.clone();
        let tool_set = ToolSet::new(&setup);
        let began = ToldMode::at_start(setup.permissions.mode);
        let known_sandbox = KnownSandbox::of(&setup);
        let mut driver = Self {
            setup,
            state: TurnState::default(),
            writer,
            inbox,
            own: own.clone(),
            deltas,
            answer,
            outbox: Outbox::new(extensions),
            tasks: Vec::new(),
            judged: None,
            answer_calls: None,
            tool_stops: Vec::new(),
            begun_calls: BTreeMap::new(),
            built: None,
            ready: None,
            asking: None,
            redactor,
            approvals: Approvals::default(),
            forms: Forms::new(&own),
            background: background::command_list(own.clone()),
            waiting: Vec::new(),
            deferred: VecDeque::new(),
            is_replacing: false,
            is_operating: false,
            settled: (0, Settled::Done),
            bash: None,
            is_ending: false,
            opening,
            pictures: Arc::default(),
            spending,
            tool_set,
            run_start: None,
            run_system: None,
            with_next_prompt: Vec::new(),
            leaves_out_changes: began == ToldMode::Reads,
            began,
            told_mode: None,
            knows_plan: false,
            known_sandbox,
            review: None,
            half_due: None,
            files: DriverFiles::default(),
            rule_watch: stream_rules::RuleWatch::default(),
            children: Children::default(),
            resumed: None,
        };
        driver.configure();
        (driver, own)
    }

    /// Runs until the front end is gone. Then it stops what is running and writes the results.
    pub(crate) async fn run(mut self) {
        loop {
            let input = tokio::select! {
                biased;
                Some(input) = self.inbox.recv() => input,
                Some((ticket, step)) = self.deltas.recv() => DriverInput::Machine(match step {
                    Ok(delta) => TurnInput::Delta { ticket, delta },
                    Err(why) => TurnInput::StreamBroke { ticket, why, at: self.setup.clock.now() },
                }),
                else => break,
            };
            if let Err(crash) = caught(|| self.take(input)) {
                self.crashed(crash);
            }
            if self.is_ending && self.is_at_rest() {
                break;
            }
        }
        for task in self.take_child_tasks() {
            // One that crashed has ended as well.
            drop(task.await);
        }
        self.outbox.tell(Event::SessionShutdown { reason: ShutdownReason::Quit });
    }

    /// Code called by the loop or by a task of a turn has panicked, such as a clock. Ends the run and answers every caller.
    fn crashed(&mut self, crash: Crash) {
        self.cancel();
        self.review = None;
        self.state.give_up();
        let error = AgentError::Crashed { what: "a part of the agent", crash };
        self.outbox.tell(Event::Failed { error: error.to_string() });
        self.outbox.tell(Event::AgentSettled { aborted: false });
        self.ended(Settled::Failed(error), None);
    }

    /// The extensions, whose panics are outcomes.
    pub(crate) fn extensions(&self) -> Option<Arc<dyn Extensions>> {
        self.setup.extensions.clone()
    }

    /// Whether nothing is running, and all announced entries are in the file.
    fn is_at_rest(&self) -> bool {
        let is_waiting = self.review.is_some() || self.is_replacing || self.is_operating;
        let runs = self.bash.is_some() || self.background.running() > 0;
        self.state.is_idle() && !runs && !is_waiting && self.outbox.is_quiet()
    }

    /// The front end is gone: nothing new starts.
    fn end(&mut self) {
        self.is_ending = true;
        self.deferred.clear();
        self.stop_bash();
        self.end_background();
        self.end_staying_children();
        let (steering, follow_up) = self.state.queued();
        if !(steering.is_empty() && follow_up.is_empty()) {
            self.step(TurnInput::ClearQueue);
        }
        self.abort();
    }

    fn take(&mut self, input: DriverInput) {
        match input {
            DriverInput::Machine(input) => {
                if let TurnInput::Ended { ticket, call, .. } = input {
                    self.close_question(CallPlace { ticket, index: call });
                }
                self.step(input);
            }
            DriverInput::Asked(asked) => self.asked(asked),
            DriverInput::Subscribe(subscriber) => {
                self.outbox.subscribe(subscriber);
                self.opening.take().into_iter().for_each(|notice| self.outbox.tell(notice));
            }
            DriverInput::Read(look) => look(self.writer.handle()),
            DriverInput::Approver(approver) => self.setup.approver = approver,
            DriverInput::Written(end) => self.written(*end),
            DriverInput::Admitted { ticket, additions, open } => self.admitted(ticket, *additions, open),
            DriverInput::ContextRead { ticket, messages } => self.context_read(ticket, messages),
            DriverInput::Built { ticket, built } => self.request_built(ticket, *built),
            DriverInput::Drafted { ticket, ready } => self.drafted(ticket, *ready),
            DriverInput::Committed { ticket, result } => self.committed(ticket, *result),
            DriverInput::HalfDue(ticket) => self.keep_half(ticket),
            DriverInput::Operated { result, is_alone, reply } => self.operated(*result, is_alone, reply),
            DriverInput::Replaced { result, reply } => self.replaced(*result, reply),
            DriverInput::Added { result, reply } => self.added(result, reply),
            DriverInput::Reviewed(reviewed) => self.reviewed(reviewed),
            DriverInput::EndRecorded(end) => self.end_recorded(*end),
            DriverInput::Bounded(bounded) => self.bounded(*bounded),
            DriverInput::ExtensionCrashed(message) => {
                self.outbox.tell_front_ends(Event::Notice { code: NoticeCode::Crashed, message, entry_id: None });
            }
            DriverInput::TaskCrashed { ticket, crash } if self.state.is_current(ticket) => self.crashed(crash),
            // What it was for has ended.
            DriverInput::TaskCrashed { .. } => {}
            DriverInput::Printed(printed) => self.printed(printed),
            DriverInput::Ran(run, files) => self.ran(run, files),
            DriverInput::FilesFailed(why) => self.not_recorded(&why),
            DriverInput::SourceTold(words) => self.source_told(words),
            DriverInput::Approval(input) => self.approval(input),
            DriverInput::Form(message) => self.form(message),
            DriverInput::Child(input) => self.child(input),
            DriverInput::Background(news) => self.background_news(news),
            DriverInput::Plan(plan, kept) => self.plan_accepted(plan, kept),
            DriverInput::End => self.end(),
        }
        self.catch_up();
    }

    fn step(&mut self, input: TurnInput) {
        if let (Some(extensions), false) = (&self.setup.extensions, matches!(input, TurnInput::Delta { .. })) {
            self.state.config.changes_requests = extensions.answers(Question::Context);
            self.state.config.asks_before_settling = extensions.answers(Question::BeforeSettling);
        }
        let asks = self.setup.extensions.as_ref().is_some_and(|extensions| extensions.answers(Question::TurnEnd));
        self.state.config.asks_at_turn_end = asks || self.records_files();
        if let TurnInput::Delta { ticket, delta: Delta::ToolCallStart { name, .. } } = &input {
            self.call_begun(*ticket, name);
        }
        let grown = match &input {
            TurnInput::Delta { ticket, delta } => Some((*ticket, stream_rules::grown_part(delta))),
            _ => None,
        };
        for effect in step(&mut self.state, input) {
            self.execute(effect);
        }
        if let Some((ticket, part)) = grown {
            self.keep_half_soon(ticket);
            self.watch(ticket, part);
        }
    }

    fn execute(&mut self, effect: Effect) {
        let Some(effect) = self.unless_held(effect) else { return };
        match effect {
            Effect::Emit(event) => self.emit(event),
            Effect::Append { run, records, then, ticket } => self.append(run, (records, ticket), then),
            Effect::CloseTurn { ticket, answer, results } => self.close_turn(ticket, answer, results),
            Effect::BeforeSettle { ticket, outcome } => self.before_settle(ticket, outcome),
            Effect::OmitAnswer { run } => self.write(Vec::new(), WriteOf::entry(run), OwnedSession::omit_answer),
            Effect::TakeBackPrompt { run } => {
                self.write(Vec::new(), WriteOf::entry(run), OwnedSession::take_back_prompt);
            }
            Effect::Admit { ticket } => self.admit(ticket),
            Effect::Refuse { error, messages } => self.refuse(&error, messages),
            Effect::Measure { ticket } => self.measure(ticket),
            Effect::Build { ticket } => self.build(ticket),
            Effect::Send { ticket } => self.send(ticket),
            Effect::StopTools => self.stop_tools(),
            Effect::Run { ticket, index, call } => self.run_tool(ticket, index, call),
            Effect::Wait { ticket, ms } => self.wait(ticket, ms),
            Effect::JobDraft { ticket, job } => self.draft(ticket, job),
            Effect::Commit { ticket } => self.commit(ticket),
            Effect::Cancel => self.cancel(),
            Effect::Settle { how, job } => self.ended(how, job),
        }
    }

    fn wait(&mut self, ticket: Ticket, ms: u64) {
        let (own, clock) = (self.own.clone(), Arc::clone(&self.setup.clock));
        self.spawn(ticket, async move {
            wait::pass(clock.as_ref(), ms).await;
            drop(own.send(DriverInput::Machine(TurnInput::Elapsed { ticket })));
        });
    }

    /// Runs what a turn waits for. If it panics, the turn ends.
    fn spawn(&mut self, ticket: Ticket, task: impl Future<Output = ()> + Send + 'static) {
        let own = self.own.clone();
        let guarded = async move {
            if let Err(crash) = caught_task(|| task).await {
                drop(own.send(DriverInput::TaskCrashed { ticket, crash }));
            }
        };
        self.tasks.retain(|task| !task.is_finished());
        self.tasks.push(tokio::spawn(guarded).abort_handle());
    }

    fn cancel(&mut self) {
        for task in self.tasks.drain(..) {
            task.abort();
        }
        self.tool_stops.clear();
        self.drop_questions();
        self.built = None;
        self.ready = None;
        self.asking = None;
        self.half_due = None;
    }

    /// Derives the machine's configuration from the settings and the model.
    fn configure(&mut self) {
        let setup = &self.setup;
        let window = setup.model.context_window;
        let is_on = setup.compaction.enabled && window > 0;
        let compaction = setup.compaction();
        self.state.config = TurnConfig {
            retry: setup.retry,
            limit_patience_ms: setup.limits.wait.map_or(0, |wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
            zone: setup.zone.clone(),
            compact_above: Settings { enabled: is_on, ..compaction }.compact_above(window),
            keep_recent: compaction.keep_recent_tokens,
            window: window_of(&setup.model),
            recover_overflow: setup.compaction.enabled,
            steering: setup.steering,
            follow_up: setup.follow_up,
            one_tool_at_a_time: !setup.parallel_tools,
            changes_requests: self.state.config.changes_requests,
            asks_at_turn_end: self.state.config.asks_at_turn_end,
            asks_before_settling: self.state.config.asks_before_settling,
            sequential: setup
                .tools
                .iter()
                .filter(|tool| tool.is_sequential())
                .map(|tool| tool.name().to_owned())
                .collect(),
        };
    }
}
