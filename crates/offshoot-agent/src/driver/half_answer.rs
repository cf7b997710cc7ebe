//! Keeps what has arrived of an answer, so that a program that is killed loses at most a second of it.

use std::sync::Arc;

use offshoot_protocol::AgentError;
use offshoot_protocol::message::Message;

use super::{Driver, DriverInput, wait};
use crate::request::to_entry;
use crate::turn::Ticket;
use crate::writer::OwnedSession;

/// How long after a change it is kept, in milliseconds.
const PAUSE: u64 = 1000;

impl Driver {
    /// The answer has grown: it is kept in a second, with what arrives until then.
    pub(super) fn keep_half_soon(&mut self, ticket: Ticket) {
        if self.half_due == Some(ticket) || !self.state.is_streaming(ticket) {
            return;
        }
        self.half_due = Some(ticket);
        let (own, clock) = (self.own.clone(), Arc::clone(&self.setup.clock));
        self.spawn(ticket, async move {
            wait::pass(clock.as_ref(), PAUSE).await;
            drop(own.send(DriverInput::HalfDue(ticket)));
        });
    }

    pub(super) fn keep_half(&mut self, ticket: Ticket) {
        self.half_due.take_if(|due| *due == ticket);
        let Some(half) = self.state.half_answer(ticket, self.setup.clock.now()) else { return };
        let half = Message::Assistant(Arc::new(half));
        // If it cannot be kept, the next second tries again.
        let keep = move |owned: &mut OwnedSession| -> Result<(), AgentError> { owned.keep_half(&to_entry(&half)?) };
        self.writer.handle().send(keep, drop);
    }
}
