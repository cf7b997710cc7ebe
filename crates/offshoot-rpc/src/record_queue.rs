//! What waits to be written for the client. A thread of its own writes, so that a slow client stops nobody.
//!
//! A client that is behind gets partial records joined: deltas of one block become one, and of a tool's progress only the
//! newest stays. Every other record is kept, in order; the newest ones in memory, older ones in a file. Knows no commands.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use offshoot_app::agent::RpcVersion;
use offshoot_protocol::{AgentEvent, AgentId, Event, Update};
use tokio::sync::Notify;

use crate::overflow::{Overflow, OverflowPart};
use crate::version::AnswerSoFar;

/// While more bytes of responses wait, no further command is read.
const FULL: usize = 64 << 20;
/// Records that wait in memory; with more, all but the newest go into the file.
const IN_MEMORY: usize = 256;
/// Those that stay: later ones may join them.
const STAY: usize = 32;
/// What is made ready at a time.
const READY: usize = 1 << 20;
/// Output of the user's shell command that is kept for a client that is behind.
const SHELL_TAIL: usize = 1 << 20;
/// How far back a tool's older progress is looked for.
const LOOKED_BACK: usize = 16;

pub(crate) type StreamedRecord = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send>;

enum RpcRecord {
    Event {
        told: AgentEvent,
        /// Of the `bash` command that prints.
        bash: Option<Arc<str>>,
    },
    Line(String),
    /// A response that is written as it is read.
    Streamed(StreamedRecord),
}

struct Waiting {
    /// Older than the records.
    overflow: Overflow<StreamedRecord>,
    records: VecDeque<RpcRecord>,
    /// Of responses, also of those in the file.
    bytes: usize,
    /// Of those in the file.
    bytes_in_file: usize,
    /// For clients of pi 0.31.
    answer: Option<AnswerSoFar>,
    has_ended: bool,
    /// Why nothing can be written any more.
    broken: Option<io::Error>,
}

/// Cloning it shares it.
#[derive(Clone)]
pub(crate) struct RecordQueue {
    shared: Arc<Shared>,
}

struct Shared {
    version: RpcVersion,
    waiting: Mutex<Waiting>,
    news: Condvar,
    /// The client has read something, or has gone.
    written: Notify,
}

/// What is written next, without holding up who adds records.
enum Ready {
    Records(VecDeque<RpcRecord>),
    Bytes(Vec<u8>),
    Part(OverflowPart<StreamedRecord>),
    End,
}

impl RecordQueue {
    /// For a client that reads the records of that version. The folder is for what it has not read.
    pub(crate) fn new(version: RpcVersion, folder: PathBuf) -> Self {
        let waiting = Waiting {
            overflow: Overflow::new(folder),
            records: VecDeque::new(),
            bytes: 0,
            bytes_in_file: 0,
            answer: (version == RpcVersion::V031).then(AnswerSoFar::default),
            has_ended: false,
            broken: None,
        };
        let (news, written) = (Condvar::new(), Notify::new());
        Self { shared: Arc::new(Shared { version, waiting: Mutex::new(waiting), news, written }) }
    }

    pub(crate) fn version(&self) -> RpcVersion {
        self.shared.version
    }

    /// Writes what comes until [`RecordQueue::end`], or until the client has gone.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start<W: Write>(&self, open: impl FnOnce() -> W + Send + 'static) -> io::Result<JoinHandle<()>> {
        let queue = self.clone();
        std::thread::Builder::new().name("rpc-out".to_owned()).spawn(move || queue.write(open()))
    }

    /// Adds an event. [`RecordQueue::wake`] has it written: events come many at a time.
    pub(crate) fn event(&self, told: AgentEvent, bash: Option<&Arc<str>>) {
        let mut waiting = self.waiting();
        if joined(&mut waiting.records, &told) {
            return;
        }
        let is_shell = matches!(told.event.as_ref(), Event::BashExecutionUpdate { .. });
        self.push(waiting, RpcRecord::Event { told, bash: bash.filter(|_| is_shell).cloned() });
    }

    /// A record without its line feed.
    pub(crate) fn line(&self, line: String) {
        self.push(self.waiting(), RpcRecord::Line(line));
        self.wake();
    }

    pub(crate) fn streamed(&self, write: StreamedRecord) {
        self.push(self.waiting(), RpcRecord::Streamed(write));
        self.wake();
    }

    /// Has what was added written.
    pub(crate) fn wake(&self) {
        self.shared.news.notify_all();
    }

    /// Nothing more comes.
    pub(crate) fn end(&self) {
        self.waiting().has_ended = true;
        self.shared.news.notify_all();
    }

    pub(crate) fn has_room(&self) -> bool {
        let waiting = self.waiting();
        waiting.bytes < FULL || waiting.broken.is_some()
    }

    /// Why nothing can be written any more; a client that has gone is a broken pipe.
    pub(crate) fn broken(&self) -> Option<io::Error> {
        let waiting = self.waiting();
        waiting.broken.as_ref().map(|error| io::Error::new(error.kind(), error.to_string()))
    }

    /// Returns when the client has read something, or has gone.
    pub(crate) async fn written(&self) {
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
        if waiting.records.len() > IN_MEMORY
            && let Err(error) = waiting.overflow()
        {
            waiting.broken = Some(error);
            waiting.records.clear();
            self.shared.written.notify_one();
        }
    }

    fn write(&self, mut out: impl Write) {
        let ended = loop {
            let written = match self.take() {
                Ok(Ready::Records(records)) => write_all(records, &mut out),
                Ok(Ready::Bytes(bytes)) => out.write_all(&bytes).and_then(|()| out.flush()),
                Ok(Ready::Part(OverflowPart::Lines(part))) => part.write(&mut out).and_then(|()| out.flush()),
                Ok(Ready::Part(OverflowPart::Later(write))) => {
                    write(&mut out).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush())
                }
                Ok(Ready::End) => break None,
                Err(error) => Err(error),
            };
            if let Err(error) = written {
                break Some(error);
            }
            self.shared.written.notify_one();
        };
        let mut waiting = self.waiting();
        waiting.broken = waiting.broken.take().or(ended);
        waiting.records.clear();
        drop(waiting);
        self.shared.written.notify_one();
    }

    /// The next of what waits, once something does.
    fn take(&self) -> io::Result<Ready> {
        let is_idle = |waiting: &mut Waiting| {
            waiting.records.is_empty() && waiting.overflow.is_empty() && !waiting.has_ended && waiting.broken.is_none()
        };
        let waiting = self.shared.news.wait_while(self.waiting(), is_idle);
        waiting.unwrap_or_else(PoisonError::into_inner).ready()
    }
}

impl Waiting {
    fn ready(&mut self) -> io::Result<Ready> {
        if let Some(part) = self.overflow.pop()? {
            return Ok(Ready::Part(part));
        }
        self.bytes = self.bytes.saturating_sub(std::mem::take(&mut self.bytes_in_file));
        let is_last = self.has_ended || self.broken.is_some();
        if self.answer.is_none() {
            self.bytes = 0;
            let records = std::mem::take(&mut self.records);
            return Ok(if is_last && records.is_empty() { Ready::End } else { Ready::Records(records) });
        }
        // Each record needs those before it, also those that go into the file meanwhile: in order, under the lock.
        let mut bytes = Vec::new();
        while bytes.len() < READY {
            match self.records.pop_front() {
                None => break,
                Some(streamed @ RpcRecord::Streamed(_)) if !bytes.is_empty() => {
                    self.records.push_front(streamed);
                    break;
                }
                Some(record) => {
                    self.bytes = self.bytes.saturating_sub(record.size());
                    match record.say(self.answer.as_mut(), &mut bytes) {
                        Ok(()) => {}
                        Err(later) => return Ok(Ready::Part(OverflowPart::Later(later))),
                    }
                }
            }
        }
        let is_end = is_last && bytes.is_empty() && self.records.is_empty();
        Ok(if is_end { Ready::End } else { Ready::Bytes(bytes) })
    }

    /// Moves all but the newest records into the file.
    fn overflow(&mut self) -> io::Result<()> {
        let old = self.records.len().saturating_sub(STAY);
        let mut bytes = Vec::new();
        for record in self.records.drain(..old) {
            self.bytes_in_file += record.size();
            bytes.clear();
            match record.say(self.answer.as_mut(), &mut bytes) {
                Ok(()) => self.overflow.push(&bytes)?,
                Err(later) => self.overflow.push_later(later),
            }
        }
        Ok(())
    }
}

fn write_all(records: VecDeque<RpcRecord>, out: &mut impl Write) -> io::Result<()> {
    let mut bytes = Vec::new();
    for record in records {
        match record.say(None, &mut bytes) {
            Ok(()) if bytes.len() < READY => continue,
            Ok(()) => out.write_all(&bytes)?,
            Err(later) => {
                out.write_all(&bytes)?;
                later(out)?;
                out.write_all(b"\n")?;
            }
        }
        bytes.clear();
    }
    out.write_all(&bytes)?;
    out.flush()
}

impl RpcRecord {
    /// Of events only the number counts.
    fn size(&self) -> usize {
        match self {
            Self::Event { .. } | Self::Streamed(_) => 256,
            Self::Line(line) => line.len(),
        }
    }

    /// Adds its line, or gives back what writes itself. In order: each record of an older version needs those before it.
    fn say(self, answer: Option<&mut AnswerSoFar>, lines: &mut Vec<u8>) -> Result<(), StreamedRecord> {
        let line = match self {
            Self::Event { told, bash } => {
                let json = match answer {
                    Some(answer) if told.agent == AgentId::Root => answer.record(&told.event),
                    // Its clients know one agent.
                    Some(_) => None,
                    None => Some(told.to_json()),
                };
                let Some(json) = json else { return Ok(()) };
                match bash {
                    Some(id) => format!("{{\"id\":{id},{}", json.get(1..).unwrap_or_default()),
                    None => json,
                }
            }
            Self::Line(line) => line,
            Self::Streamed(write) => return Err(write),
        };
        lines.extend_from_slice(line.as_bytes());
        lines.push(b'\n');
        Ok(())
    }
}

/// Whether the event went into a partial record that still waits.
fn joined(records: &mut VecDeque<RpcRecord>, told: &AgentEvent) -> bool {
    let event = told.event.as_ref();
    if let Event::ToolExecutionUpdate { tool_call_id, .. } = event {
        let is_older = |record: &RpcRecord| {
            matches!(record, RpcRecord::Event { told: older, .. }
                if older.agent == told.agent
                    && matches!(older.event.as_ref(), Event::ToolExecutionUpdate { tool_call_id: id, .. } if id == tool_call_id))
        };
        let older = records.iter().rev().take(LOOKED_BACK).position(is_older);
        if let Some(back) = older {
            // The newer one comes at the end.
            records.remove(records.len() - 1 - back);
        }
        return false;
    }
    let Some(RpcRecord::Event { told: last, .. }) = records.back_mut() else { return false };
    if last.agent != told.agent || !is_continued(&last.event, event) {
        return false;
    }
    continue_with(Arc::make_mut(&mut last.event), event);
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
    use offshoot_protocol::message::{ToolResultMessage, Usage};

    use super::*;

    fn delta(index: usize, text: &str) -> AgentEvent {
        let assistant_message_event = Update::TextDelta { content_index: index, delta: text.to_owned() };
        AgentEvent::of_root(Arc::new(Event::MessageUpdate { usage: Usage::default(), assistant_message_event }))
    }

    fn progress(call: &str, at: i64) -> AgentEvent {
        let result = ToolResultMessage {
            tool_call_id: call.to_owned(),
            tool_name: "bash".to_owned(),
            content: Vec::new(),
            details: None,
            nested_calls: None,
            is_error: false,
            timestamp: at,
        };
        AgentEvent::of_root(Arc::new(Event::ToolExecutionUpdate {
            tool_call_id: call.to_owned(),
            tool_name: "bash".to_owned(),
            args: at.into(),
            partial_result: Arc::new(result),
        }))
    }

    /// The records of a client that reads only after the last event.
    fn read(queue: &RecordQueue) -> String {
        queue.end();
        let mut out = Vec::new();
        queue.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn queue() -> (RecordQueue, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        (RecordQueue::new(RpcVersion::V087, folder.path().to_owned()), folder)
    }

    #[test]
    fn deltas_of_a_block_are_joined_and_others_keep_their_place() {
        let (queue, _folder) = queue();
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
        assert_eq!(shared, delta(0, "a"));
    }

    #[test]
    fn the_newest_progress_of_a_call_stays() {
        let (queue, _folder) = queue();
        for (call, at) in [("a", 1), ("b", 2), ("a", 3), ("a", 4)] {
            queue.event(progress(call, at), None);
        }
        let text = read(&queue);
        let seen: Vec<&str> = text.lines().map(|line| &line[line.find("\"args\":").unwrap() + 7..][..1]).collect();
        assert_eq!(seen, ["2", "4"]);
    }

    #[test]
    fn events_of_different_agents_are_not_joined_and_older_clients_hear_of_one() {
        let told = |queue: &RecordQueue| {
            let of = |agent: AgentId, text: &str| AgentEvent { agent, ..delta(0, text) };
            queue.event(of(AgentId::Root, "a"), None);
            queue.event(of(AgentId::Child("c".into()), "b"), None);
            queue.event(of(AgentId::Child("c".into()), "d"), None);
            let text = read(queue);
            text.lines()
                .map(|line| line.rsplit_once("\"delta\":").map_or(line, |it| it.1).to_owned())
                .collect::<Vec<_>>()
        };
        let (queue, folder) = queue();
        assert_eq!(told(&queue), ["\"a\"}}", "\"bd\"},\"agent\":\"c\"}"]);
        assert!(
            told(&RecordQueue::new(RpcVersion::V031, folder.path().to_owned())).iter().all(|it| !it.contains("bd"))
        );
    }

    #[test]
    fn what_a_command_prints_is_joined_and_cut_to_its_end() {
        let (queue, _folder) = queue();
        let id: Arc<str> = "\"r1\"".into();
        let printed =
            |delta: String, omitted| AgentEvent::of_root(Arc::new(Event::BashExecutionUpdate { delta, omitted }));
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
        let (queue, _folder) = queue();
        queue.line("{}".to_owned());
        queue.write(Gone);
        assert_eq!(queue.broken().unwrap().kind(), io::ErrorKind::BrokenPipe);
        queue.line("{}".to_owned());
        assert!(queue.waiting().records.is_empty());
    }

    /// A record that says its number.
    fn numbered(number: i64) -> AgentEvent {
        AgentEvent::of_root(Arc::new(Event::ToolExecutionStart {
            tool_call_id: "c".to_owned(),
            tool_name: "t".to_owned(),
            args: number.into(),
        }))
    }

    #[test]
    fn a_client_far_behind_gets_all_in_order_and_memory_holds_few() {
        let (queue, _folder) = queue();
        for number in 0..2000 {
            match number % 100 {
                0 => queue.streamed(Box::new(move |out| write!(out, "{{\"args\":{number}}}"))),
                1 => queue.line(format!("{{\"args\":{number}}}")),
                _ => queue.event(numbered(number), None),
            }
            assert!(queue.waiting().records.len() <= IN_MEMORY);
        }
        assert!(!queue.waiting().overflow.is_empty());
        let numbers: Vec<i64> = read(&queue)
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["args"].as_i64().unwrap())
            .collect();
        assert_eq!(numbers, (0..2000).collect::<Vec<_>>());
    }

    #[test]
    fn what_cannot_be_kept_ends_the_queue_and_is_said() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let queue = RecordQueue::new(RpcVersion::V087, file.path().to_owned());
        (0..=300).for_each(|number| queue.event(numbered(number), None));
        assert!(queue.broken().is_some());
        queue.write(io::sink());
    }
}
