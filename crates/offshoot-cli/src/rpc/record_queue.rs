//! What waits to be written for the client. A thread of its own writes, so that a slow client stops nobody.
//!
//! A client that is behind gets partial records joined: deltas of one block become one, and of a tool's progress only the
//! newest stays. Every other record is kept, in order. Knows no commands.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use offshoot_agent::event::{Event, Update};
use tokio::sync::Notify;

/// While more bytes wait, no further command is read.
const FULL: usize = 64 << 20;
/// Output of the user's shell command that is kept for a client that is behind.
const SHELL_TAIL: usize = 1 << 20;
/// How far back a tool's older progress is looked for.
const LOOKED_BACK: usize = 16;

pub(super) type StreamedRecord = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send>;

enum RpcRecord {
    Event {
        event: Arc<Event>,
        /// Of the `bash` command that prints.
        bash: Option<Arc<str>>,
    },
    Line(String),
    /// A response that is written as it is read.
    Streamed(StreamedRecord),
}

#[derive(Default)]
struct Waiting {
    records: VecDeque<RpcRecord>,
    bytes: usize,
    has_ended: bool,
    /// Why nothing can be written any more.
    broken: Option<io::ErrorKind>,
}

/// Cloning it shares it.
#[derive(Clone, Default)]
pub(super) struct RecordQueue {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    news: Condvar,
    /// The client has read something, or has gone.
    written: Notify,
}

impl RecordQueue {
    /// Writes what comes until [`RecordQueue::end`], or until the client has gone.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn start<W: Write>(&self, open: impl FnOnce() -> W + Send + 'static) -> io::Result<JoinHandle<()>> {
        let queue = self.clone();
        std::thread::Builder::new().name("rpc-out".to_owned()).spawn(move || queue.write(open()))
    }

    pub(super) fn event(&self, event: Arc<Event>, bash: Option<&Arc<str>>) {
        let mut waiting = self.waiting();
        if joined(&mut waiting.records, &event) {
            return;
        }
        let is_shell = matches!(event.as_ref(), Event::BashExecutionUpdate { .. });
        self.push(waiting, RpcRecord::Event { event, bash: bash.filter(|_| is_shell).cloned() });
    }

    /// A record without its line feed.
    pub(super) fn line(&self, line: String) {
        self.push(self.waiting(), RpcRecord::Line(line));
    }

    pub(super) fn streamed(&self, write: StreamedRecord) {
        self.push(self.waiting(), RpcRecord::Streamed(write));
    }

    /// Nothing more comes.
    pub(super) fn end(&self) {
        self.waiting().has_ended = true;
        self.shared.news.notify_all();
    }

    pub(super) fn has_room(&self) -> bool {
        let waiting = self.waiting();
        waiting.bytes < FULL || waiting.broken.is_some()
    }

    pub(super) fn is_broken(&self) -> bool {
        self.waiting().broken.is_some()
    }

    /// Returns when the client has read something, or has gone.
    pub(super) async fn written(&self) {
        self.shared.written.notified().await;
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, mut waiting: MutexGuard<'_, Waiting>, record: RpcRecord) {
        if waiting.broken.is_some() || waiting.has_ended {
            return;
        }
        waiting.bytes += record.size();
        waiting.records.push_back(record);
        drop(waiting);
        self.shared.news.notify_all();
    }

    fn write(&self, mut out: impl Write) {
        let ended = loop {
            let (mut records, has_ended) = self.take();
            let written = records.drain(..).try_for_each(|record| record.write(&mut out)).and_then(|()| out.flush());
            if let Err(error) = written {
                break Some(error.kind());
            }
            self.shared.written.notify_one();
            if has_ended {
                break None;
            }
        };
        let mut waiting = self.waiting();
        waiting.broken = ended;
        waiting.records.clear();
        drop(waiting);
        self.shared.written.notify_one();
    }

    /// All that waits, once something does.
    fn take(&self) -> (VecDeque<RpcRecord>, bool) {
        let is_idle = |waiting: &mut Waiting| waiting.records.is_empty() && !waiting.has_ended;
        let waiting = self.shared.news.wait_while(self.waiting(), is_idle);
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        waiting.bytes = 0;
        (std::mem::take(&mut waiting.records), waiting.has_ended)
    }
}

impl RpcRecord {
    /// Events are shared with the agent, so only their number counts.
    fn size(&self) -> usize {
        match self {
            Self::Event { .. } | Self::Streamed(_) => 256,
            Self::Line(line) => line.len(),
        }
    }

    fn write(self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Event { event, bash } => {
                let json = event.to_json();
                match bash {
                    Some(id) => {
                        write!(out, "{{\"id\":{id},")?;
                        out.write_all(json.as_bytes().get(1..).unwrap_or_default())?;
                    }
                    None => out.write_all(json.as_bytes())?,
                }
            }
            Self::Line(line) => out.write_all(line.as_bytes())?,
            Self::Streamed(write) => write(out)?,
        }
        out.write_all(b"\n")
    }
}

/// Whether the event went into a partial record that still waits.
fn joined(records: &mut VecDeque<RpcRecord>, event: &Event) -> bool {
    if let Event::ToolExecutionUpdate { tool_call_id, .. } = event {
        let is_older = |record: &RpcRecord| {
            matches!(record, RpcRecord::Event { event, .. }
                if matches!(event.as_ref(), Event::ToolExecutionUpdate { tool_call_id: id, .. } if id == tool_call_id))
        };
        let older = records.iter().rev().take(LOOKED_BACK).position(is_older);
        if let Some(back) = older {
            // The newer one comes at the end.
            records.remove(records.len() - 1 - back);
        }
        return false;
    }
    let Some(RpcRecord::Event { event: last, .. }) = records.back_mut() else { return false };
    if !is_continued(last, event) {
        return false;
    }
    continue_with(Arc::make_mut(last), event);
    true
}

fn is_continued(last: &Event, next: &Event) -> bool {
    match (last, next) {
        (
            Event::MessageUpdate { assistant_message_event: last, .. },
            Event::MessageUpdate { assistant_message_event: next, .. },
        ) => match (last, next) {
            (Update::TextDelta { content_index: last, .. }, Update::TextDelta { content_index: next, .. })
            | (Update::ThinkingDelta { content_index: last, .. }, Update::ThinkingDelta { content_index: next, .. })
            | (Update::ToolCallDelta { content_index: last, .. }, Update::ToolCallDelta { content_index: next, .. }) => {
                last == next
            }
            _ => false,
        },
        (Event::BashExecutionUpdate { .. }, Event::BashExecutionUpdate { .. }) => true,
        _ => false,
    }
}

fn continue_with(last: &mut Event, next: &Event) {
    match (last, next) {
        (
            Event::MessageUpdate { usage, assistant_message_event: last },
            Event::MessageUpdate { usage: newer, assistant_message_event: next },
        ) => {
            usage.clone_from(newer);
            if let (Some(delta), Some(more)) = (delta_of(last), delta(next)) {
                delta.push_str(more);
            }
        }
        (
            Event::BashExecutionUpdate { delta, omitted },
            Event::BashExecutionUpdate { delta: more, omitted: left_out },
        ) => {
            if *left_out > 0 {
                *omitted += left_out + delta.len() as u64;
                delta.clear();
            }
            delta.push_str(more);
            if delta.len() > 2 * SHELL_TAIL {
                let cut = delta.floor_char_boundary(delta.len() - SHELL_TAIL);
                *omitted += cut as u64;
                delta.drain(..cut);
            }
        }
        _ => {}
    }
}

fn delta(update: &Update) -> Option<&str> {
    match update {
        Update::TextDelta { delta, .. } | Update::ThinkingDelta { delta, .. } | Update::ToolCallDelta { delta, .. } => {
            Some(delta)
        }
        _ => None,
    }
}

fn delta_of(update: &mut Update) -> Option<&mut String> {
    match update {
        Update::TextDelta { delta, .. } | Update::ThinkingDelta { delta, .. } | Update::ToolCallDelta { delta, .. } => {
            Some(delta)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use offshoot_agent::message::{ToolResultMessage, Usage};

    use super::*;

    fn delta(index: usize, text: &str) -> Arc<Event> {
        let assistant_message_event = Update::TextDelta { content_index: index, delta: text.to_owned() };
        Arc::new(Event::MessageUpdate { usage: Usage::default(), assistant_message_event })
    }

    fn progress(call: &str, at: i64) -> Arc<Event> {
        let result = ToolResultMessage {
            tool_call_id: call.to_owned(),
            tool_name: "bash".to_owned(),
            content: Vec::new(),
            details: None,
            is_error: false,
            timestamp: at,
        };
        Arc::new(Event::ToolExecutionUpdate {
            tool_call_id: call.to_owned(),
            tool_name: "bash".to_owned(),
            args: at.into(),
            partial_result: Arc::new(result),
        })
    }

    /// What a client reads that was behind until everything had been told.
    fn read(queue: &RecordQueue) -> String {
        queue.end();
        let mut out = Vec::new();
        queue.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn deltas_of_a_block_are_joined_and_others_keep_their_place() {
        let queue = RecordQueue::default();
        let shared = delta(0, "a");
        queue.event(shared.clone(), None);
        queue.event(delta(0, "b"), None);
        queue.event(delta(1, "c"), None);
        queue.line("{}".to_owned());
        queue.event(delta(1, "d"), None);
        let text = read(&queue);
        let deltas: Vec<&str> =
            text.lines().map(|line| line.rsplit_once("\"delta\":").map_or(line, |it| it.1)).collect();
        assert_eq!(deltas, ["\"ab\"}}", "\"c\"}}", "{}", "\"d\"}}"]);
        // Other listeners have the event as it was.
        assert_eq!(*shared, *delta(0, "a"));
    }

    #[test]
    fn the_newest_progress_of_a_call_stays() {
        let queue = RecordQueue::default();
        for (call, at) in [("a", 1), ("b", 2), ("a", 3), ("a", 4)] {
            queue.event(progress(call, at), None);
        }
        let text = read(&queue);
        let seen: Vec<&str> = text.lines().map(|line| &line[line.find("\"args\":").unwrap() + 7..][..1]).collect();
        assert_eq!(seen, ["2", "4"]);
    }

    #[test]
    fn what_a_command_prints_is_joined_and_cut_to_its_end() {
        let queue = RecordQueue::default();
        let id: Arc<str> = "\"r1\"".into();
        let printed = |delta: String, omitted| Arc::new(Event::BashExecutionUpdate { delta, omitted });
        queue.event(printed("a".repeat(SHELL_TAIL), 0), Some(&id));
        queue.event(printed("é".repeat(SHELL_TAIL), 0), Some(&id));
        queue.event(printed("end".to_owned(), 0), Some(&id));
        let record: serde_json::Value = serde_json::from_str(read(&queue).trim_end()).unwrap();
        let kept = record["delta"].as_str().unwrap();
        assert!(kept.ends_with("éend") && kept.len() <= SHELL_TAIL + 8, "{}", kept.len());
        assert_eq!(record["omitted"].as_u64().unwrap() as usize + kept.len(), 3 * SHELL_TAIL + 3);
        assert_eq!(record["id"], "r1");
    }

    #[test]
    fn a_client_that_has_gone_is_noticed_and_nothing_is_kept_for_it() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let queue = RecordQueue::default();
        queue.line("{}".to_owned());
        queue.write(Gone);
        assert!(queue.is_broken());
        queue.line("{}".to_owned());
        assert!(queue.waiting().records.is_empty());
    }
}
