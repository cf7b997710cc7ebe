//! The extensions of a parent as its children have them: they may block and change calls and see their results, and nothing else.
//! Events of children are not theirs.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_protocol::message::Message;
use offshoot_protocol::{Event, Secret, SessionReason};

use crate::extensions::{
    Asked, CallVerdict, EndAdditions, EndedTurn, Extensions, Happening, Leaving, Question, RequestContext,
    RunAdditions, RunStart, Said, SaidVerdict, ShellVerdict, StreamEvent, SummaryQuestion, SummaryVerdict,
};
use crate::key_source::KeySource;
use crate::limits::Limits;
use crate::provider::{HeaderChange, Provider};
use crate::tool::ToolOutcome;
use crate::turn::{Call, EndOutcome};

/// What a child has of its parent's extensions.
pub(crate) struct ChildExtensions(pub(crate) Arc<dyn Extensions>);

fn now<'a, T: Send + 'a>(value: T) -> Asked<'a, T> {
    Box::pin(std::future::ready(value))
}

impl Extensions for ChildExtensions {
    /// The parent's provider is an extension's already.
    fn provider(&self, usual: Arc<dyn Provider>) -> Arc<dyn Provider> {
        usual
    }

    fn keys(&self, usual: Arc<dyn KeySource>) -> Arc<dyn KeySource> {
        usual
    }

    fn answers(&self, question: Question) -> bool {
        match question {
            Question::BeforeCall | Question::AfterCall => self.0.answers(question),
            Question::BeforeHeaders | Question::BeforeBody => self.0.answers(question),
            Question::BeforeRun
            | Question::Context
            | Question::BeforeShell
            | Question::BeforeCompaction
            | Question::BeforeMove
            | Question::AfterResponse
            | Question::StreamEvent
            | Question::MessageEnd
            | Question::TurnEnd
            | Question::BeforeSettling => false,
        }
    }

    fn tell(&self, _: &Arc<Event>, then: Box<dyn FnOnce() + Send>) {
        then();
    }

    fn pass(&self, then: Box<dyn FnOnce() + Send>) {
        then();
    }

    fn tell_happening(&self, _: Happening) {}

    fn command(&self, _: String) -> Asked<'_, Option<()>> {
        now(None)
    }

    fn said(&self, said: Said) -> Asked<'_, SaidVerdict> {
        now(SaidVerdict::Continue(said))
    }

    fn before_run(&self, _: RunStart) -> Asked<'_, RunAdditions> {
        now(RunAdditions::default())
    }

    fn context(&self, _: RequestContext) -> Asked<'_, Option<RequestContext>> {
        now(None)
    }

    fn before_call(&self, call: Call) -> Asked<'_, CallVerdict> {
        self.0.before_call(call)
    }

    fn after_call(&self, call: Call, outcome: ToolOutcome) -> Asked<'_, ToolOutcome> {
        self.0.after_call(call, outcome)
    }

    fn before_headers(&self, headers: Vec<(String, Secret)>) -> Asked<'_, Option<Vec<HeaderChange>>> {
        self.0.before_headers(headers)
    }

    fn before_body(&self, body: String) -> Asked<'_, Option<String>> {
        self.0.before_body(body)
    }

    fn after_response(&self, _: u16, _: Vec<(String, String)>) -> Asked<'_, ()> {
        now(())
    }

    fn stream_event(&self, _: StreamEvent) -> Asked<'_, ()> {
        now(())
    }

    fn message_end(&self, message: Message, _: bool) -> Asked<'_, Message> {
        now(message)
    }

    fn turn_end(&self, _: EndedTurn) -> Asked<'_, EndAdditions> {
        now(EndAdditions::default())
    }

    fn before_settling(&self, _: EndOutcome) -> Asked<'_, EndAdditions> {
        now(EndAdditions::default())
    }

    fn refused(&self, _: &'static str, _: String) {}

    fn before_shell(&self, _: String, _: bool, _: PathBuf) -> Asked<'_, ShellVerdict> {
        now(ShellVerdict::Usual)
    }

    fn may_leave(&self, _: Leaving) -> Asked<'_, bool> {
        now(true)
    }

    fn leaves(&self, _: SessionReason, _: Option<PathBuf>) -> Asked<'_, ()> {
        now(())
    }

    fn entered(&self, _: SessionReason, _: Option<PathBuf>) -> Asked<'_, ()> {
        now(())
    }

    fn before_compaction(&self, _: SummaryQuestion) -> Asked<'_, SummaryVerdict> {
        now(SummaryVerdict::Usual)
    }

    fn before_move(&self, _: SummaryQuestion) -> Asked<'_, SummaryVerdict> {
        now(SummaryVerdict::Usual)
    }

    fn dealt_with(&self) -> Asked<'_, ()> {
        now(())
    }

    fn limit(&self, _: Limits) {}

    fn stop(&self) {}
}
