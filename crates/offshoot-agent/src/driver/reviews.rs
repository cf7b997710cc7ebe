//! Messages that extensions may replace before they are recorded. What the turn does next waits for their answer, in order.

use std::collections::VecDeque;
use std::sync::Arc;

use offshoot_protocol::Event;
use offshoot_protocol::message::Message;

use super::outbox::Announcement;
use super::writes::told_of_system;
use super::{Driver, DriverInput};
use crate::extensions::{Happening, Question};
use crate::turn::{Effect, Record, RunNumber, Ticket};

/// Records that wait, and what waits for them.
pub(super) struct Review {
    run: RunNumber,
    records: Vec<Record>,
    then: Vec<Event>,
    ticket: Option<Ticket>,
    /// When the records were said.
    at: i64,
    held: VecDeque<Effect>,
}

/// What extensions made of the records, and what else they have had of the write.
pub(crate) struct Reviewed {
    messages: Vec<Message>,
    told: Vec<Event>,
}

impl Driver {
    /// The effect, unless it has to wait for a review.
    pub(super) fn unless_held(&mut self, effect: Effect) -> Option<Effect> {
        match &mut self.review {
            Some(review) => {
                review.held.push_back(effect);
                None
            }
            None => Some(effect),
        }
    }

    /// Records messages; extensions that want to, get them before. A message that an extension adds between two runs is not
    /// shown to them, as in pi.
    pub(super) fn append(
        &mut self,
        run: RunNumber,
        (records, ticket): (Vec<Record>, Option<Ticket>),
        then: Vec<Event>,
    ) {
        let extensions = self.extensions_for(Question::MessageEnd).filter(|_| !self.state.is_idle());
        let messages: Vec<Message> = records.iter().filter_map(message).collect();
        let at = self.setup.clock.now();
        let Some(extensions) = extensions.filter(|_| !messages.is_empty()) else {
            return self.record(run, (records, ticket), then, at);
        };
        let is_new = then.iter().any(|event| matches!(event, Event::MessageStart { .. }));
        let settings = records.iter().any(Record::is_said).then(|| self.settings_of_prompt(at));
        self.review = Some(Review { run, records, then, ticket, at, held: VecDeque::new() });
        let (own, writer) = (self.own.clone(), self.writer.handle().clone());
        // Not a task of the turn: what was said is recorded even if the turn is stopped.
        drop(tokio::spawn(async move {
            let due = match settings {
                Some(now) => writer.ask(move |owned| owned.system_due(&now)).await.ok().flatten(),
                None => None,
            };
            let told: Vec<Event> = due.into_iter().flat_map(told_of_system).collect();
            told.iter().for_each(|event| extensions.tell(&Arc::new(event.clone()), Box::new(|| ())));
            let mut reviewed = Vec::with_capacity(messages.len());
            for message in messages {
                reviewed.push(extensions.message_end(message, is_new).await);
            }
            drop(own.send(DriverInput::Reviewed(Reviewed { messages: reviewed, told })));
        }));
    }

    pub(super) fn reviewed(&mut self, Reviewed { messages: reviewed, told }: Reviewed) {
        let Some(Review { run, mut records, mut then, ticket, at, mut held }) = self.review.take() else { return };
        let before: Vec<Message> = records.iter().filter_map(message).collect();
        for (before, now) in before.iter().zip(&reviewed).filter(|(before, now)| before != now) {
            self.state.replace_message(before, now);
            let is_it = |record: &&mut Record| matches!(record, Record::Message(message) if message == before);
            records.iter_mut().filter(is_it).for_each(|record| *record = Record::Message(now.clone()));
            then.iter_mut().for_each(|event| replace(event, before, now));
            for effect in &mut held {
                match effect {
                    Effect::Emit(event) => replace(event, before, now),
                    Effect::CloseTurn { results, .. } => {
                        if let (Message::ToolResult(before), Message::ToolResult(now)) = (before, now) {
                            results
                                .iter_mut()
                                .filter(|result| *result == before)
                                .for_each(|result| result.clone_from(now));
                        }
                    }
                    _ => {}
                }
            }
        }
        self.record(run, (records, ticket), Announcement { events: then, is_told: true, told }, at);
        held.into_iter().for_each(|effect| self.execute(effect));
    }

    /// Emits an event. Extensions also hear of a compaction that failed.
    pub(super) fn emit(&mut self, event: Event) {
        if let (Some(extensions), Event::CompactionEnd { reason, result: None, aborted, will_retry, error_message }) =
            (&self.setup.extensions, &event)
        {
            extensions.tell_happening(Happening::CompactionFailed {
                reason: *reason,
                error: error_message.clone().filter(|_| !aborted),
                is_aborted: *aborted,
                will_retry: *will_retry,
            });
        }
        self.outbox.tell(event);
    }
}

fn message(record: &Record) -> Option<Message> {
    match record {
        Record::Message(message) => Some(message.clone()),
        Record::Bash(_) | Record::Rules(_) => None,
    }
}

/// Puts another message in the place of one that an event announces.
fn replace(event: &mut Event, before: &Message, now: &Message) {
    let put = |message: &mut Message| {
        if message == before {
            message.clone_from(now);
        }
    };
    match event {
        Event::MessageEnd { message } => put(message),
        Event::AgentEnd { messages, .. } => messages.iter_mut().for_each(put),
        Event::TurnEnd { message, tool_results } => {
            put(message);
            if let (Message::ToolResult(before), Message::ToolResult(now)) = (before, now) {
                tool_results.iter_mut().filter(|result| *result == before).for_each(|result| result.clone_from(now));
            }
        }
        _ => {}
    }
}
