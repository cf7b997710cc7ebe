//! Children that go on beside the conversation, as commands in the background do: front ends see them among the others, and the model
//! hears of an end with the next prompt on the branch whose call started the child.

use offshoot_protocol::{ChildState, ChildStatus, Event, NoticeCode};

use super::Driver;
use super::live_call::CallGuard;
use super::report::{ChildReport, words};

/// The type of the message about commands and agents that have ended in the background.
pub(crate) const BACKGROUND: &str = "offshoot.background";

/// The children that go on after the answer to their call.
#[derive(Default)]
pub(crate) struct StayingChildren {
    calls: Vec<StayingCall>,
}

struct StayingCall {
    live: Box<CallGuard>,
    /// The entry with the call.
    origin: Option<String>,
    /// Places in the call of which the model has been told.
    told: Vec<usize>,
}

/// A child that has ended, for a message to the model.
pub(crate) struct EndedChild {
    pub(crate) state: ChildState,
    /// As the result of a call has it.
    pub(crate) words: String,
}

impl StayingChildren {
    pub(super) fn add(&mut self, live: Box<CallGuard>, origin: Option<String>) {
        // Of those that could not be started, the answer to the call has said why.
        let told =
            live.0.reports().into_iter().filter(|report| report.state.status.is_end() && report.state.file.is_none());
        let told = told.map(|report| report.state.index).collect();
        self.calls.push(StayingCall { live, origin, told });
    }

    /// The places of children that have ended without the model's knowledge.
    pub(crate) fn untold(&self) -> Vec<Option<String>> {
        let untold = self.calls.iter().filter(|call| !call.untold().is_empty());
        untold.map(|call| call.origin.clone()).collect()
    }

    /// Those of these places. The model will be told.
    pub(crate) fn take_untold(&mut self, origins: &[Option<String>]) -> Vec<EndedChild> {
        let mut ended = Vec::new();
        for call in self.calls.iter_mut().filter(|call| origins.contains(&call.origin)) {
            let untold = call.untold();
            call.told.extend(untold.iter().map(|report| report.state.index));
            ended.extend(untold.into_iter().map(|report| EndedChild { words: words(&report), state: report.state }));
        }
        self.calls.retain(|call| call.live.0.reports().iter().any(|report| !call.told.contains(&report.state.index)));
        ended
    }

    /// Whether this child goes on beside the conversation.
    fn has(&self, id: &str) -> bool {
        self.calls.iter().any(|call| call.live.0.reports().iter().any(|report| report.state.id == id))
    }

    fn running(&self) -> Vec<String> {
        let reports = self.calls.iter().flat_map(|call| call.live.0.reports());
        reports.filter(|report| !report.state.status.is_end()).map(|report| report.state.id).collect()
    }
}

impl StayingCall {
    fn untold(&self) -> Vec<ChildReport> {
        let reports = self.live.0.reports().into_iter();
        reports.filter(|report| report.state.status.is_end() && !self.told.contains(&report.state.index)).collect()
    }
}

impl Driver {
    /// Says that a child has ended beside the conversation. Whoever stopped it knows.
    pub(super) fn tell_of_staying(&mut self, state: &ChildState) {
        if state.status != ChildStatus::Aborted && self.children.staying().has(&state.id) {
            let message = format!("ended in the background ({}): the agent {}", state.status.as_str(), state.id);
            self.outbox.tell(Event::Notice { code: NoticeCode::Background, message, entry_id: None });
        }
    }

    /// Nothing outlives the agent.
    pub(in crate::driver) fn end_staying_children(&mut self) {
        let running = self.children.staying().running();
        if !running.is_empty() {
            let message = format!("stopped in the background: the agents {}", running.join(", "));
            self.outbox.tell(Event::Notice { code: NoticeCode::Background, message, entry_id: None });
        }
        *self.children.staying() = StayingChildren::default();
    }
}
