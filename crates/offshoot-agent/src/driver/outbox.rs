//! Events and replies that wait, in order, until earlier writes are durable.

use std::collections::VecDeque;
use std::sync::Arc;

use offshoot_protocol::{AgentEvent, Event};
use tokio::sync::mpsc::UnboundedSender;

use crate::extensions::Extensions;
use crate::request_queue::PendingReply;

/// The events of a write.
#[derive(Default)]
pub(super) struct Announcement {
    pub(super) events: Vec<Event>,
    /// Whether extensions have had them before the write.
    pub(super) is_told: bool,
    /// Of the events that the write itself emits, those that extensions have had.
    pub(super) told: Vec<Event>,
}

impl From<Vec<Event>> for Announcement {
    fn from(events: Vec<Event>) -> Self {
        Self { events, is_told: false, told: Vec::new() }
    }
}

enum Out {
    Event(Arc<Event>),
    /// Emitted once the oldest running write is durable.
    Write(Announcement),
    Replies(Vec<PendingReply>),
}

/// Channels of subscribers are unbounded: no event may be lost, and the agent waits for no front end. A stalled front
/// end costs the text of the answers and, ten times a second while a tool prints, 50 KB of its output.
pub(super) struct Outbox {
    extensions: Option<Arc<dyn Extensions>>,
    subscribers: Vec<UnboundedSender<AgentEvent>>,
    queue: VecDeque<Out>,
}

impl Outbox {
    pub(super) fn new(extensions: Option<Arc<dyn Extensions>>) -> Self {
        Self { extensions, subscribers: Vec::new(), queue: VecDeque::new() }
    }

    pub(super) fn subscribe(&mut self, subscriber: UnboundedSender<AgentEvent>) {
        self.subscribers.push(subscriber);
    }

    /// Emits an event, after everything queued before it.
    pub(super) fn tell(&mut self, event: Event) {
        let event = Arc::new(event);
        if self.queue.is_empty() { self.deliver(&event) } else { self.queue.push_back(Out::Event(event)) }
    }

    /// Emits an event at once, to front ends alone: extensions that crash at every event would crash at this one, too.
    pub(super) fn tell_front_ends(&mut self, event: Event) {
        self.announcing(&Arc::new(event))();
    }

    /// Passes on what a child has told, to front ends alone: it is durable in the child's file, and waits for no write of this agent.
    pub(super) fn tell_of_child(&mut self, told: &AgentEvent) {
        self.subscribers.retain(|subscriber| !subscriber.is_closed());
        self.subscribers.iter().for_each(|subscriber| drop(subscriber.send(told.clone())));
    }

    /// Whether anybody gets events.
    pub(super) fn has_listeners(&self) -> bool {
        self.subscribers.iter().any(|subscriber| !subscriber.is_closed())
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.queue.is_empty()
    }

    /// Queues the events that announce a write.
    pub(super) fn after_write(&mut self, then: Announcement) {
        self.queue.push_back(Out::Write(then));
    }

    /// The oldest write is durable, and caused `own` events before those that announce it. Returns the replies that are due.
    pub(super) fn written(&mut self, own: &[Event], notices: Vec<Event>) -> Vec<PendingReply> {
        if let Some(Out::Write(Announcement { events, is_told, told })) = self.queue.pop_front() {
            let own = own.iter().map(|event| (event.clone(), told.contains(event)));
            let events = events.into_iter().map(|event| (event, is_told));
            let notices = notices.into_iter().map(|notice| (notice, false));
            for (event, is_known) in own.chain(events).chain(notices) {
                let event = Arc::new(event);
                if is_known { self.pass(&event) } else { self.deliver(&event) }
            }
        }
        self.drain()
    }

    /// The oldest write failed: its events are dropped.
    pub(super) fn lost(&mut self) -> Vec<PendingReply> {
        drop(self.queue.pop_front());
        self.drain()
    }

    /// Queues replies after everything that is queued.
    pub(super) fn settle(&mut self, replies: Vec<PendingReply>) -> Vec<PendingReply> {
        self.queue.push_back(Out::Replies(replies));
        self.drain()
    }

    fn drain(&mut self) -> Vec<PendingReply> {
        let mut due = Vec::new();
        loop {
            match self.queue.pop_front() {
                Some(Out::Event(event)) => self.deliver(&event),
                Some(Out::Replies(replies)) => due.extend(replies),
                Some(write @ Out::Write(_)) => {
                    self.queue.push_front(write);
                    return due;
                }
                None => return due,
            }
        }
    }

    /// Front ends hear of it when the extensions have dealt with it, as in pi.
    fn deliver(&mut self, event: &Arc<Event>) {
        let then = self.announcing(event);
        match &self.extensions {
            None => then(),
            Some(extensions) => extensions.tell(event, Box::new(then)),
        }
    }

    /// Emits an event that extensions have already had, after all events before it.
    pub(super) fn pass(&mut self, event: &Arc<Event>) {
        let then = self.announcing(event);
        match &self.extensions {
            None => then(),
            Some(extensions) => extensions.pass(Box::new(then)),
        }
    }

    fn announcing(&mut self, event: &Arc<Event>) -> impl FnOnce() + Send + 'static {
        self.subscribers.retain(|subscriber| !subscriber.is_closed());
        let (subscribers, news) = (self.subscribers.clone(), AgentEvent::of_root(event.clone()));
        move || subscribers.iter().for_each(|subscriber| drop(subscriber.send(news.clone())))
    }
}
