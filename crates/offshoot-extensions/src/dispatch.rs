//! The extensions as the agent knows them: one queue keeps events and questions in order.
//!
//! A handler that waits makes the queue wait, never the agent's loop. A question whose asker has gone is dropped, and so is
//! the wait for its handler.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::crash::caught_task;
use offshoot_agent::extensions::{
    Asked, CallVerdict, EndAdditions, EndedTurn, Extensions, Happening, Leaving, Question, RequestContext,
    RunAdditions, RunStart, Said, SaidVerdict, ShellVerdict, StreamEvent, SummaryQuestion, SummaryVerdict,
};
use offshoot_agent::provider::{HeaderChange, Provider};
use offshoot_agent::tool::ToolOutcome;
use offshoot_agent::turn::{Call, EndOutcome};
use offshoot_agent::{KeySource, Limits};
use offshoot_protocol::message::Message;
use offshoot_protocol::{Event, Secret, SessionReason};
use offshoot_session::clock::Clock;
use serde_json::{Value, json};
use tokio::sync::mpsc::error::SendError;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::contract::{Failure, Host, HostFuture, LoadRequest, ProgramMode};
use crate::keys::RoutedKeys;
use crate::payload::PayloadState;
use crate::program::Program;
use crate::providers::RoutedProvider;
use crate::runner::Runner;
use crate::shared::Shared;

type Work = Box<dyn for<'a> FnOnce(&'a mut Runner) -> HostFuture<'a, ()> + Send>;

enum Item {
    Event(Arc<Event>, Box<dyn FnOnce() + Send>),
    /// Handlers have had it.
    Then(Box<dyn FnOnce() + Send>),
    Happening(Box<Happening>),
    /// The user's stop ends it.
    Question(Work),
    /// Not even a stop ends it.
    Step(Work),
}

/// Lists the extensions, in every mode.
const LISTING: &str = "extensions";

/// A set of extensions with their hosts.
pub struct ExtensionSet {
    pub(crate) shared: Arc<Shared>,
    queue: UnboundedSender<Item>,
    idle: Mutex<Option<(Runner, UnboundedReceiver<Item>)>>,
}

impl std::fmt::Debug for ExtensionSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ExtensionSet")
    }
}

impl ExtensionSet {
    /// Nothing is loaded before [`Self::start`].
    #[must_use]
    pub fn new(
        hosts: Vec<(Arc<dyn Host>, LoadRequest)>,
        program: Arc<dyn Program>,
        clock: Arc<dyn Clock + Sync>,
    ) -> Self {
        let (queue, items) = unbounded_channel();
        let (reloads, wanted) = unbounded_channel();
        let all = hosts.iter().map(|(host, _)| host.clone()).collect();
        let shared = Arc::new(Shared::new((program, clock.clone()), all, reloads));
        let state = PayloadState::default();
        let shared_too = shared.clone();
        let runner = Runner {
            shared: shared_too,
            hosts,
            clock,
            state,
            resources: None,
            has_restarted: false,
            is_lost: false,
            reloads: wanted,
        };
        Self { shared, queue, idle: Mutex::new(Some((runner, items))) }
    }

    /// Loads the extensions beside what the agent does. Called once, in the agent's runtime.
    pub fn start(&self, agent: &AgentSession) {
        self.shared.set_agent(agent);
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((runner, items)) = idle {
            drop(tokio::spawn(run(runner, items)));
        }
    }

    /// Loads everything again.
    pub async fn reload(&self) {
        self.shared.reload().await;
    }

    /// Waits until the session has begun for the extensions, with what they add to skills and prompt templates.
    pub async fn begun(&self) {
        self.shared.begun().await;
    }

    /// Waits until the extensions are loaded.
    pub async fn loaded(&self) {
        self.shared.loaded().await;
    }

    /// Each extension with its host, origin, time of loading and what it registered.
    #[must_use]
    pub fn list(&self) -> Vec<Value> {
        let registry = self.shared.registry();
        let item = |extension: &crate::registry::Extension| {
            let loaded = &extension.loaded;
            json!({
                "path": extension.source.path, "kind": extension.source.kind, "origin": extension.source.origin,
                "host": extension.host.name(), "loadMs": loaded.load_ms,
                "error": loaded.error.as_ref().map(|error| error.message.clone()),
                "mayGuard": loaded.may_guard,
                "events": loaded.handlers.iter().map(|handler| handler.event.clone()).collect::<Vec<_>>(),
                "commands": loaded.commands.iter().map(|command| command.name.clone()).collect::<Vec<_>>(),
                "tools": loaded.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>(),
                "shortcuts": loaded.shortcuts.iter().map(|shortcut| shortcut["key"].clone()).collect::<Vec<_>>(),
            })
        };
        registry.extensions.iter().map(item).collect()
    }

    /// The commands in pi's shape.
    #[must_use]
    pub fn commands(&self) -> Vec<Value> {
        self.shared.command_infos()
    }

    /// The providers that `/login` signs in to.
    #[must_use]
    pub fn sign_ins(&self) -> Vec<String> {
        self.shared.sign_ins().into_iter().map(|sign_in| sign_in.provider).collect()
    }

    /// Whether a text calls a command of an extension.
    pub async fn is_command(&self, text: &str) -> bool {
        let Some(called) = text.strip_prefix('/') else { return false };
        self.loaded().await;
        let name = called.split_once(' ').map_or(called, |(name, _)| name);
        self.shared.registry().command(name).is_some()
            || (["login", "logout"].contains(&name) && !self.shared.sign_ins().is_empty())
            || self.is_listing(name)
    }

    /// Whether a name asks for the list of extensions, where the front end has no such command of its own.
    fn is_listing(&self, name: &str) -> bool {
        name == LISTING
            && self.shared.program.mode() != ProgramMode::Tui
            && self.shared.registry().command(name).is_none()
    }

    /// Completions of a command's argument, in pi's shape; `None` if there are none.
    pub async fn completions(&self, name: &str, prefix: &str) -> Option<Value> {
        let (host, ext) = {
            let registry = self.shared.registry();
            let (extension, _) = registry.command(name).filter(|(_, command)| command.has_completions)?;
            (extension.host.clone(), extension.loaded.id)
        };
        let what = json!({"kind": "completions", "ext": ext, "name": name, "prefix": prefix});
        host.invoke(what, unbounded_channel().0).await.ok()
    }

    /// Asks the host that draws for rows, gives it keys, and the like.
    ///
    /// # Errors
    /// The extension failed, or the host has ended.
    pub async fn on_screen(&self, what: Value) -> Result<Value, Failure> {
        let host = self.shared.hosts.first().ok_or_else(|| Failure::gone("no extension is loaded"))?;
        host.invoke(what, unbounded_channel().0).await
    }

    /// Sends a question through the queue. Without an answer it is the usual one.
    fn question<T: Send + 'static>(
        &self,
        usual: T,
        ask: impl for<'a> FnOnce(&'a mut Runner) -> HostFuture<'a, T> + Send + 'static,
    ) -> Asked<'_, T> {
        let (answer, answered) = oneshot::channel();
        self.put(Item::Question(answering(answer, ask)));
        Box::pin(async move { answered.await.unwrap_or(usual) })
    }

    fn step(&self, work: impl for<'a> FnOnce(&'a mut Runner) -> HostFuture<'a, ()> + Send + 'static) -> Asked<'_, ()> {
        let (answer, answered) = oneshot::channel();
        self.put(Item::Step(Box::new(move |runner| {
            Box::pin(async move {
                work(runner).await;
                // The asker may have gone.
                let _ = answer.send(());
            })
        })));
        Box::pin(async move { drop(answered.await) })
    }

    fn put(&self, item: Item) {
        // After the end nobody asks; others still hear of what happens.
        if let Err(SendError(Item::Event(_, then) | Item::Then(then))) = self.queue.send(item) {
            then();
        }
    }
}

fn answering<T: Send + 'static>(
    mut answer: oneshot::Sender<T>,
    ask: impl for<'a> FnOnce(&'a mut Runner) -> HostFuture<'a, T> + Send + 'static,
) -> Work {
    Box::new(move |runner| {
        Box::pin(async move {
            tokio::select! {
                biased;
                () = answer.closed() => {}
                said = ask(runner) => drop(answer.send(said)),
            }
        })
    })
}

async fn run(mut runner: Runner, mut items: UnboundedReceiver<Item>) {
    let shared = runner.shared.clone();
    tokio::select! {
        () = shared.stopped() => {}
        () = told(&shared, runner.load(SessionReason::Startup)) => {}
    }
    runner.give_up_loading();
    tokio::select! {
        () = shared.stopped() => {}
        () = told(&shared, runner.start_session(SessionReason::Startup, None)) => {}
    }
    shared.has_begun.send_replace(true);
    told(&shared, runner.recover()).await;
    loop {
        let item = tokio::select! {
            item = items.recv() => item,
            Some(done) = runner.reloads.recv() => {
                told(&shared, runner.reload()).await;
                // The asker may have gone.
                let _ = done.send(());
                continue;
            }
        };
        let Some(item) = item else { return };
        match item {
            Item::Step(work) => told(&shared, work(&mut runner)).await,
            Item::Question(work) => tokio::select! {
                () = shared.stopped() => {}
                () = told(&shared, work(&mut runner)) => {}
            },
            Item::Event(event, then) => {
                tokio::select! {
                    () = shared.stopped() => {}
                    () = told(&shared, runner.event(&event)) => {}
                }
                then();
            }
            Item::Then(then) => then(),
            Item::Happening(happening) => tokio::select! {
                () = shared.stopped() => {}
                () = told(&shared, runner.happening(*happening)) => {}
            },
        }
        told(&shared, runner.recover()).await;
    }
}

/// Does one thing after the other; one that panics is reported, and the next one is done all the same.
async fn told(shared: &Shared, work: impl Future<Output = ()>) {
    if let Err(crash) = caught_task(|| work).await {
        shared.report("", "offshoot", &Failure::new(format!("the work for the extensions crashed: {crash}")));
    }
}

/// The events whose handlers a question concerns.
fn events_of(question: Question) -> &'static [&'static str] {
    match question {
        Question::BeforeRun => &["before_agent_start"],
        Question::Context => &["context", "context_with_system"],
        Question::BeforeCall => &["tool_call"],
        Question::AfterCall => &["tool_result"],
        Question::BeforeShell => &["user_bash"],
        Question::BeforeCompaction => &["session_before_compact"],
        Question::BeforeMove => &["session_before_tree"],
        Question::BeforeHeaders => &["before_provider_headers"],
        Question::BeforeBody => &["before_provider_request"],
        Question::AfterResponse => &["after_provider_response"],
        Question::StreamEvent => &["provider_stream_event"],
        // What their handlers append comes before the message, as in pi.
        Question::MessageEnd => &["message_end", "message_start", "turn_start", "agent_start"],
        Question::TurnEnd => &["turn_end"],
        // What handlers of a run's end send belongs to what is running.
        Question::BeforeSettling => &["agent_before_settle", "agent_end"],
    }
}

impl Extensions for ExtensionSet {
    fn provider(&self, usual: Arc<dyn Provider>) -> Arc<dyn Provider> {
        let (shared, clock) = (Arc::downgrade(&self.shared), self.shared.clock.clone());
        Arc::new(RoutedProvider { usual, shared, clock })
    }

    fn keys(&self, usual: Arc<dyn KeySource>) -> Arc<dyn KeySource> {
        Arc::new(RoutedKeys { usual, shared: Arc::downgrade(&self.shared) })
    }

    fn answers(&self, question: Question) -> bool {
        !*self.shared.is_loaded.borrow()
            || events_of(question).iter().any(|event| self.shared.registry().listens(event))
    }

    fn tell(&self, event: &Arc<Event>, then: Box<dyn FnOnce() + Send>) {
        self.put(Item::Event(event.clone(), then));
    }

    fn pass(&self, then: Box<dyn FnOnce() + Send>) {
        self.put(Item::Then(then));
    }

    fn tell_happening(&self, happening: Happening) {
        self.put(Item::Happening(Box::new(happening)));
    }

    fn command(&self, text: String) -> Asked<'_, Option<()>> {
        Box::pin(async move {
            let called = text.strip_prefix('/')?;
            self.loaded().await;
            let (name, args) = called.split_once(' ').unwrap_or((called, ""));
            if self.is_listing(name) {
                self.shared.program.tell_user(LISTING, Value::Array(self.list()));
                return Some(());
            }
            if self.shared.sign_in_command(name, args).await.is_some() {
                return Some(());
            }
            let found = || {
                let registry = self.shared.registry();
                let (extension, _) = registry.command(name)?;
                Some((extension.host.clone(), extension.loaded.id, extension.path()))
            };
            let (host, ..) = found()?;
            if !host.is_running() {
                self.step(Runner::after_loss).await;
            }
            let (host, ext, path) = found()?;
            let what = json!({"kind": "command", "ext": ext, "name": name, "args": args});
            let (progress, _) = unbounded_channel();
            tokio::select! {
                biased;
                // The command continues by itself.
                () = self.shared.stopped() => {}
                done = host.invoke(what, progress) => {
                    if let Err(failure) = done {
                        self.shared.report(&path, &format!("command:{name}"), &failure);
                    }
                }
            }
            Some(())
        })
    }

    fn said(&self, said: Said) -> Asked<'_, SaidVerdict> {
        if *self.shared.has_begun.borrow() && !self.shared.registry().listens("input") {
            return Box::pin(std::future::ready(SaidVerdict::Continue(said)));
        }
        let source = match self.shared.program.mode() {
            _ if said.is_of_extension => "extension",
            ProgramMode::Rpc => "rpc",
            ProgramMode::Tui | ProgramMode::Json | ProgramMode::Print => "interactive",
        };
        let usual = SaidVerdict::Continue(said.clone());
        self.question(usual, move |runner| Box::pin(runner.said(said, source)))
    }

    fn before_run(&self, start: RunStart) -> Asked<'_, RunAdditions> {
        self.question(RunAdditions::default(), move |runner| Box::pin(runner.before_run(start)))
    }

    fn context(&self, context: RequestContext) -> Asked<'_, Option<RequestContext>> {
        self.question(None, move |runner| Box::pin(runner.context(context)))
    }

    fn before_call(&self, call: Call) -> Asked<'_, CallVerdict> {
        let reason = "not run: the user stopped the extension that judges this call".to_owned();
        let usual = CallVerdict::Block { reason, ends_run: false };
        self.question(usual, move |runner| Box::pin(runner.before_call(call)))
    }

    fn after_call(&self, call: Call, outcome: ToolOutcome) -> Asked<'_, ToolOutcome> {
        let usual = outcome.clone();
        self.question(usual, move |runner| Box::pin(runner.after_call(call, outcome)))
    }

    fn before_shell(&self, command: String, exclude: bool, cwd: PathBuf) -> Asked<'_, ShellVerdict> {
        self.question(ShellVerdict::Usual, move |runner| {
            Box::pin(async move { runner.before_shell(&command, exclude, cwd).await })
        })
    }

    fn before_headers(&self, headers: Vec<(String, Secret)>) -> Asked<'_, Option<Vec<HeaderChange>>> {
        self.question(None, move |runner| Box::pin(runner.before_headers(headers)))
    }

    fn before_body(&self, body: String) -> Asked<'_, Option<String>> {
        self.question(None, move |runner| Box::pin(runner.before_body(body)))
    }

    fn after_response(&self, status: u16, headers: Vec<(String, String)>) -> Asked<'_, ()> {
        self.question((), move |runner| Box::pin(runner.after_response(status, headers)))
    }

    fn stream_event(&self, event: StreamEvent) -> Asked<'_, ()> {
        self.question((), move |runner| Box::pin(runner.stream_event(event)))
    }

    fn message_end(&self, message: Message, is_new: bool) -> Asked<'_, Message> {
        self.question(message.clone(), move |runner| Box::pin(runner.message_end(message, is_new)))
    }

    fn turn_end(&self, turn: EndedTurn) -> Asked<'_, EndAdditions> {
        self.question(EndAdditions::default(), move |runner| Box::pin(runner.turn_end(turn)))
    }

    fn before_settling(&self, outcome: EndOutcome) -> Asked<'_, EndAdditions> {
        self.question(EndAdditions::default(), move |runner| Box::pin(runner.before_settling(outcome)))
    }

    fn refused(&self, event: &'static str, why: String) {
        self.shared.report("", event, &Failure::new(why));
    }

    fn may_leave(&self, leaving: Leaving) -> Asked<'_, bool> {
        self.question(true, move |runner| Box::pin(async move { runner.may_leave(&leaving).await }))
    }

    fn leaves(&self, reason: SessionReason, target: Option<PathBuf>) -> Asked<'_, ()> {
        self.step(move |runner| Box::pin(runner.leave(reason, target)))
    }

    fn entered(&self, reason: SessionReason, previous: Option<PathBuf>) -> Asked<'_, ()> {
        self.step(move |runner| Box::pin(runner.begin(reason, previous)))
    }

    fn before_compaction(&self, question: SummaryQuestion) -> Asked<'_, SummaryVerdict> {
        self.question(SummaryVerdict::Usual, move |runner| Box::pin(runner.before_compaction(question)))
    }

    fn before_move(&self, question: SummaryQuestion) -> Asked<'_, SummaryVerdict> {
        self.question(SummaryVerdict::Usual, move |runner| Box::pin(runner.before_move(question)))
    }

    fn dealt_with(&self) -> Asked<'_, ()> {
        self.question((), |_| Box::pin(std::future::ready(())))
    }

    fn limit(&self, limits: Limits) {
        self.shared.hosts.iter().for_each(|host| host.limit(&limits.to_string()));
        self.shared.approval_chosen(limits.approval);
    }

    fn stop(&self) {
        self.shared.stop();
    }
}
