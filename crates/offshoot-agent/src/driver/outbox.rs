//! Events and answers that wait, in order, until the writes before them are durable.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;

use super::Waiter;
use crate::command::Reply;
use crate::error::AgentError;
use crate::event::Event;

pub(super) type Answers = Vec<(Waiter, Result<Reply, AgentError>)>;

enum Out {
    Event(Arc<Event>),
    /// Told once the oldest write that is under way is durable.
    Write(Vec<Event>),
    Answers(Answers),
}

/// Subscribers' channels are not bounded: no event may be lost, and the agent waits for no front end. What a front end
/// that stands still costs is the text of the answers and, ten times a second while a tool prints, 50 KB of its output.
#[derive(Default)]
pub(super) struct Outbox {
    subscribers: Vec<UnboundedSender<Arc<Event>>>,
    queue: VecDeque<Out>,
}

impl Outbox {
    pub(super) fn subscribe(&mut self, subscriber: UnboundedSender<Arc<Event>>) {
        self.subscribers.push(subscriber);
    }

    /// Tells an event, after everything that stands before it.
    pub(super) fn tell(&mut self, event: Event) {
        let event = Arc::new(event);
        if self.queue.is_empty() { self.deliver(&event) } else { self.queue.push_back(Out::Event(event)) }
    }

    /// Whether nothing waits: no write is under way.
    pub(super) fn is_quiet(&self) -> bool {
        self.queue.is_empty()
    }

    /// A write has been handed over; these events announce it.
    pub(super) fn after_write(&mut self, then: Vec<Event>) {
        self.queue.push_back(Out::Write(then));
    }

    /// The oldest write is durable, and this is what came of it besides. Gives back who is to be answered now.
    pub(super) fn written(&mut self, event: Option<Event>) -> Vec<Answers> {
        if let Some(Out::Write(then)) = self.queue.pop_front() {
            then.into_iter().chain(event).for_each(|event| self.deliver(&Arc::new(event)));
        }
        self.drain()
    }

    /// The oldest write failed: what it would have announced is not told.
    pub(super) fn lost(&mut self) -> Vec<Answers> {
        drop(self.queue.pop_front());
        self.drain()
    }

    /// Everything before has ended; these answers follow.
    pub(super) fn settle(&mut self, answers: Answers) -> Vec<Answers> {
        self.queue.push_back(Out::Answers(answers));
        self.drain()
    }

    fn drain(&mut self) -> Vec<Answers> {
        let mut ended = Vec::new();
        loop {
            match self.queue.pop_front() {
                Some(Out::Event(event)) => self.deliver(&event),
                Some(Out::Answers(answers)) => ended.push(answers),
                Some(write @ Out::Write(_)) => {
                    self.queue.push_front(write);
                    return ended;
                }
                None => return ended,
            }
        }
    }

    fn deliver(&mut self, event: &Arc<Event>) {
        self.subscribers.retain(|subscriber| subscriber.send(event.clone()).is_ok());
    }
}
