//! Extensions as an embedder may write them: they say what a test wants, or panic wherever they are asked.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::extensions::{
    Asked, CallVerdict, EndAdditions, EndedTurn, Extensions, Happening, Leaving, Question, RequestContext,
    RunAdditions, RunStart, Said, SaidVerdict, ShellVerdict, StreamEvent, SummaryQuestion, SummaryVerdict,
};
use offshoot_agent::provider::{HeaderChange, Provider};
use offshoot_agent::tool::ToolOutcome;
use offshoot_agent::turn::{Call, EndOutcome};
use offshoot_agent::{KeySource, Limits};
use offshoot_protocol::message::{CustomMessage, Message};
use offshoot_protocol::request::AppendEntry;
use offshoot_protocol::{Event, Secret, SessionReason};
use serde_json::{Value, json};

#[derive(Default)]
pub(crate) struct TestExtensions {
    /// Added to the end of the next turn.
    pub(crate) drafts: Mutex<Vec<Value>>,
    pub(crate) refused: Mutex<Vec<String>>,
    /// Added to the next prompt.
    pub(crate) messages: Mutex<Vec<CustomMessage>>,
    /// Appends an entry through this when the session is left.
    pub(crate) farewell: Mutex<Option<AgentSession>>,
    pub(crate) panics: bool,
}

impl TestExtensions {
    fn said<T: Send + 'static>(&self, said: T) -> Asked<'_, T> {
        let panics = self.panics;
        Box::pin(async move {
            assert!(!panics, "an extension of a test");
            said
        })
    }
}

impl Extensions for TestExtensions {
    fn provider(&self, usual: Arc<dyn Provider>) -> Arc<dyn Provider> {
        usual
    }

    fn keys(&self, usual: Arc<dyn KeySource>) -> Arc<dyn KeySource> {
        usual
    }

    fn answers(&self, _: Question) -> bool {
        true
    }

    fn tell(&self, _: &Arc<Event>, then: Box<dyn FnOnce() + Send>) {
        assert!(!self.panics, "an extension of a test");
        then();
    }

    fn pass(&self, then: Box<dyn FnOnce() + Send>) {
        assert!(!self.panics, "an extension of a test");
        then();
    }

    fn tell_happening(&self, _: Happening) {
        assert!(!self.panics, "an extension of a test");
    }

    fn command(&self, _: String) -> Asked<'_, Option<()>> {
        self.said(None)
    }

    fn said(&self, said: Said) -> Asked<'_, SaidVerdict> {
        Self::said(self, SaidVerdict::Continue(said))
    }

    fn before_run(&self, _: RunStart) -> Asked<'_, RunAdditions> {
        let messages = std::mem::take(&mut *self.messages.lock().unwrap());
        Self::said(self, RunAdditions { messages, system: None })
    }

    fn context(&self, _: RequestContext) -> Asked<'_, Option<RequestContext>> {
        Self::said(self, None)
    }

    fn before_call(&self, call: Call) -> Asked<'_, CallVerdict> {
        Self::said(self, CallVerdict::Run(call))
    }

    fn after_call(&self, _: Call, outcome: ToolOutcome) -> Asked<'_, ToolOutcome> {
        Self::said(self, outcome)
    }

    fn before_headers(&self, _: Vec<(String, Secret)>) -> Asked<'_, Option<Vec<HeaderChange>>> {
        Self::said(self, None)
    }

    fn before_body(&self, _: String) -> Asked<'_, Option<String>> {
        Self::said(self, None)
    }

    fn after_response(&self, _: u16, _: Vec<(String, String)>) -> Asked<'_, ()> {
        Self::said(self, ())
    }

    fn stream_event(&self, _: StreamEvent) -> Asked<'_, ()> {
        Self::said(self, ())
    }

    fn message_end(&self, message: Message, _: bool) -> Asked<'_, Message> {
        Self::said(self, message)
    }

    fn turn_end(&self, _: EndedTurn) -> Asked<'_, EndAdditions> {
        let entries = std::mem::take(&mut *self.drafts.lock().unwrap());
        Self::said(self, EndAdditions { entries, continues: false })
    }

    fn before_settling(&self, _: EndOutcome) -> Asked<'_, EndAdditions> {
        Self::said(self, EndAdditions::default())
    }

    fn refused(&self, event: &'static str, why: String) {
        self.refused.lock().unwrap().push(format!("{event}: {why}"));
    }

    fn before_shell(&self, _: String, _: bool, _: PathBuf) -> Asked<'_, ShellVerdict> {
        let panics = self.panics;
        Box::pin(async move {
            assert!(!panics, "an extension of a test");
            ShellVerdict::Usual
        })
    }

    fn may_leave(&self, _: Leaving) -> Asked<'_, bool> {
        Self::said(self, true)
    }

    fn leaves(&self, reason: SessionReason, _: Option<PathBuf>) -> Asked<'_, ()> {
        let farewell = self.farewell.lock().unwrap().take();
        Box::pin(async move {
            assert!(!self.panics, "an extension of a test");
            let Some(agent) = farewell else { return };
            let data = Some(json!({"reason": reason}).to_string());
            agent.ask(AppendEntry { custom_type: "farewell".to_owned(), data }).await.unwrap();
        })
    }

    fn entered(&self, _: SessionReason, _: Option<PathBuf>) -> Asked<'_, ()> {
        Self::said(self, ())
    }

    fn before_compaction(&self, _: SummaryQuestion) -> Asked<'_, SummaryVerdict> {
        Self::said(self, SummaryVerdict::Usual)
    }

    fn before_move(&self, _: SummaryQuestion) -> Asked<'_, SummaryVerdict> {
        Self::said(self, SummaryVerdict::Usual)
    }

    fn dealt_with(&self) -> Asked<'_, ()> {
        Self::said(self, ())
    }

    fn limit(&self, _: Limits) {
        assert!(!self.panics, "an extension of a test");
    }

    fn stop(&self) {
        assert!(!self.panics, "an extension of a test");
    }
}
