//! Wraps extensions: one that panics gives the usual answer, gates stay shut, and somebody is told. Knows no driver.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use offshoot_protocol::message::Message;
use offshoot_protocol::{BashRun, Crash, Event, Secret, SessionReason};

use crate::crash::{caught, caught_task};
use crate::extensions::{
    Asked, CallVerdict, EndAdditions, EndedTurn, Extensions, Happening, Leaving, Question, RequestContext,
    RunAdditions, RunStart, Said, SaidVerdict, ShellVerdict, StreamEvent, SummaryQuestion, SummaryVerdict,
};
use crate::key_source::KeySource;
use crate::limits::Limits;
use crate::provider::{HeaderChange, Provider};
use crate::tool::ToolOutcome;
use crate::turn::{Call, EndOutcome};

/// Gets what crashed, in words.
pub(crate) type CrashListener = Arc<dyn Fn(String) + Send + Sync>;

/// Extensions whose panics are outcomes.
pub(crate) struct GuardedExtensions {
    pub(crate) extensions: Arc<dyn Extensions>,
    pub(crate) listener: CrashListener,
}

/// What follows an event. It happens once, at the latest when those who were to do it let go of it.
struct Following(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Following {
    fn happen(&self) {
        let then = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        then.into_iter().for_each(|then| then());
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.happen();
    }
}

fn following(then: Box<dyn FnOnce() + Send>) -> Box<dyn FnOnce() + Send> {
    let following = Following(Mutex::new(Some(then)));
    Box::new(move || following.happen())
}

impl GuardedExtensions {
    fn crashed(&self, asked: &str, crash: &Crash) {
        (self.listener)(format!("an extension crashed at {asked}: {crash}"));
    }

    fn now<T>(&self, asked: &str, usual: T, ask: impl FnOnce(&dyn Extensions) -> T) -> T {
        caught(|| ask(self.extensions.as_ref())).unwrap_or_else(|crash| {
            self.crashed(asked, &crash);
            usual
        })
    }

    fn later<'a, T: Send + 'a>(
        &'a self,
        asked: &'static str,
        usual: impl FnOnce(&Crash) -> T + Send + 'a,
        ask: impl FnOnce(&'a dyn Extensions) -> Asked<'a, T> + Send + 'a,
    ) -> Asked<'a, T> {
        Box::pin(async move {
            match caught_task(|| ask(self.extensions.as_ref())).await {
                Ok(said) => said,
                Err(crash) => {
                    self.crashed(asked, &crash);
                    usual(&crash)
                }
            }
        })
    }
}

impl Extensions for GuardedExtensions {
    fn provider(&self, usual: Arc<dyn Provider>) -> Arc<dyn Provider> {
        self.now("its provider", usual.clone(), |extensions| extensions.provider(usual))
    }

    fn keys(&self, usual: Arc<dyn KeySource>) -> Arc<dyn KeySource> {
        self.now("its keys", usual.clone(), |extensions| extensions.keys(usual))
    }

    /// Whoever cannot say is asked: a gate stays shut.
    fn answers(&self, question: Question) -> bool {
        self.now("a question", true, |extensions| extensions.answers(question))
    }

    fn tell(&self, event: &Arc<Event>, then: Box<dyn FnOnce() + Send>) {
        let then = following(then);
        self.now("an event", (), |extensions| extensions.tell(event, then));
    }

    fn pass(&self, then: Box<dyn FnOnce() + Send>) {
        let then = following(then);
        self.now("an event", (), |extensions| extensions.pass(then));
    }

    fn tell_happening(&self, happening: Happening) {
        self.now("an event", (), |extensions| extensions.tell_happening(happening));
    }

    fn command(&self, text: String) -> Asked<'_, Option<()>> {
        self.later("a command", |_| Some(()), |extensions| extensions.command(text))
    }

    fn said(&self, said: Said) -> Asked<'_, SaidVerdict> {
        let usual = said.clone();
        self.later("input", |_| SaidVerdict::Continue(usual), |extensions| extensions.said(said))
    }

    fn before_run(&self, start: RunStart) -> Asked<'_, RunAdditions> {
        self.later("the start of a run", |_| RunAdditions::default(), |extensions| extensions.before_run(start))
    }

    fn context(&self, context: RequestContext) -> Asked<'_, Option<RequestContext>> {
        self.later("the context", |_| None, |extensions| extensions.context(context))
    }

    fn before_call(&self, call: Call) -> Asked<'_, CallVerdict> {
        let shut = |crash: &Crash| CallVerdict::Block {
            reason: format!("not run: the extension that judges this call crashed: {crash}"),
            ends_run: false,
        };
        self.later("a tool call", shut, |extensions| extensions.before_call(call))
    }

    fn after_call(&self, call: Call, outcome: ToolOutcome) -> Asked<'_, ToolOutcome> {
        let usual = outcome.clone();
        self.later("a tool result", |_| usual, |extensions| extensions.after_call(call, outcome))
    }

    fn before_headers(&self, headers: Vec<(String, Secret)>) -> Asked<'_, Option<Vec<HeaderChange>>> {
        self.later("the headers of a request", |_| None, |extensions| extensions.before_headers(headers))
    }

    fn before_body(&self, body: String) -> Asked<'_, Option<String>> {
        self.later("the body of a request", |_| None, |extensions| extensions.before_body(body))
    }

    fn after_response(&self, status: u16, headers: Vec<(String, String)>) -> Asked<'_, ()> {
        self.later("a response", |_| (), move |extensions| extensions.after_response(status, headers))
    }

    fn stream_event(&self, event: StreamEvent) -> Asked<'_, ()> {
        self.later("an event of a stream", |_| (), |extensions| extensions.stream_event(event))
    }

    fn message_end(&self, message: Message, is_new: bool) -> Asked<'_, Message> {
        let usual = message.clone();
        self.later("the end of a message", |_| usual, move |extensions| extensions.message_end(message, is_new))
    }

    fn turn_end(&self, turn: EndedTurn) -> Asked<'_, EndAdditions> {
        self.later("the end of a turn", |_| EndAdditions::default(), |extensions| extensions.turn_end(turn))
    }

    fn before_settling(&self, outcome: EndOutcome) -> Asked<'_, EndAdditions> {
        let usual = |_: &Crash| EndAdditions::default();
        self.later("the end of a run", usual, move |extensions| extensions.before_settling(outcome))
    }

    fn refused(&self, event: &'static str, why: String) {
        self.now("an error", (), |extensions| extensions.refused(event, why));
    }

    fn before_shell(&self, command: String, exclude: bool, cwd: PathBuf) -> Asked<'_, ShellVerdict> {
        let shut = |crash: &Crash| {
            let output = format!("not run: the extension that judges this command crashed: {crash}\n");
            ShellVerdict::Given(BashRun { output, ..BashRun::stopped() })
        };
        self.later("a command of the user", shut, move |extensions| extensions.before_shell(command, exclude, cwd))
    }

    fn may_leave(&self, leaving: Leaving) -> Asked<'_, bool> {
        self.later("leaving the session", |_| true, |extensions| extensions.may_leave(leaving))
    }

    fn leaves(&self, reason: SessionReason, target: Option<PathBuf>) -> Asked<'_, ()> {
        self.later("the end of a session", |_| (), move |extensions| extensions.leaves(reason, target))
    }

    fn entered(&self, reason: SessionReason, previous: Option<PathBuf>) -> Asked<'_, ()> {
        self.later("the start of a session", |_| (), move |extensions| extensions.entered(reason, previous))
    }

    fn before_compaction(&self, question: SummaryQuestion) -> Asked<'_, SummaryVerdict> {
        self.later("a compaction", |_| SummaryVerdict::Usual, |extensions| extensions.before_compaction(question))
    }

    fn before_move(&self, question: SummaryQuestion) -> Asked<'_, SummaryVerdict> {
        self.later("a move in the tree", |_| SummaryVerdict::Usual, |extensions| extensions.before_move(question))
    }

    fn dealt_with(&self) -> Asked<'_, ()> {
        self.later("its end", |_| (), |extensions| extensions.dealt_with())
    }

    fn limit(&self, limits: Limits) {
        self.now("a limit", (), |extensions| extensions.limit(limits));
    }

    fn stop(&self) {
        self.now("a stop", (), |extensions| extensions.stop());
    }
}
