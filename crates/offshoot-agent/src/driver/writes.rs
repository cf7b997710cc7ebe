//! Writes that events wait for: an event that announces an entry is emitted when the entry is in the file.

use offshoot_protocol::{AgentError, Event, RawJson};
use offshoot_session::compose::NewEntry;
use offshoot_session::json::Json;

use super::outbox::Announcement;
use super::{Driver, DriverInput, reply_to_all};
use crate::request;
use crate::turn::{Record, RunNumber, Ticket, TurnInput};
use crate::writer::{OwnedSession, RunEntries};

/// What came of a write that events wait for.
pub(crate) struct WriteEnd {
    /// What the write emits itself.
    result: Result<Vec<Event>, AgentError>,
    notices: Vec<Event>,
    of: WriteOf,
}

/// Whose write it was.
pub(super) enum WriteOf {
    /// Of a run: what was to be recorded, and who waits for that.
    Run { run: RunNumber, records: Vec<Record>, ticket: Option<Ticket> },
    /// Beside the conversation, in words: what is in effect all the same.
    Beside(&'static str),
}

impl WriteOf {
    /// Of a run, without records that could come back.
    pub(super) fn entry(run: RunNumber) -> Self {
        Self::Run { run, records: Vec::new(), ticket: None }
    }
}

impl Driver {
    /// Sends entries to the writer. A prompt adds what its branch lacks: model, thinking level, tools, system prompt.
    pub(super) fn record(
        &mut self,
        run: RunNumber,
        (records, ticket): (Vec<Record>, Option<Ticket>),
        then: impl Into<Announcement>,
        at: i64,
    ) {
        let is_said = records.iter().any(Record::is_said);
        let settings = is_said.then(|| self.settings_of_prompt(at));
        let entries: Result<Vec<NewEntry>, AgentError> = records.iter().map(compose).collect();
        self.write(then, WriteOf::Run { run, records, ticket }, move |owned| {
            let system = owned.append_of_run(RunEntries { run, entries: entries?, settings })?;
            Ok(system.into_iter().flat_map(told_of_system))
        });
    }

    /// Runs a write on the writer's thread; emits the write's own events and then `then` once it is durable.
    pub(super) fn write<Emitted: IntoIterator<Item = Event>>(
        &mut self,
        then: impl Into<Announcement>,
        of: WriteOf,
        work: impl FnOnce(&mut OwnedSession) -> Result<Emitted, AgentError> + Send + 'static,
    ) {
        let own = self.own.clone();
        self.outbox.after_write(then.into());
        let work = move |owned: &mut OwnedSession| {
            let emitted = work(owned).map(|events| events.into_iter().collect());
            (emitted, owned.take_notices())
        };
        self.writer.handle().send(work, move |done| {
            let (result, notices) = done.unwrap_or_else(|crash| (Err(crash), Vec::new()));
            drop(own.send(DriverInput::Written(Box::new(WriteEnd { result, notices, of }))));
        });
    }

    pub(super) fn written(&mut self, WriteEnd { result, notices, of }: WriteEnd) {
        reply_to_all(match &result {
            Ok(own) => self.outbox.written(own, notices),
            Err(_) => self.outbox.lost(),
        });
        match (result, of) {
            (Ok(_), WriteOf::Run { ticket: Some(ticket), .. }) => self.step(TurnInput::Recorded { ticket }),
            (Ok(_), WriteOf::Run { ticket: None, .. } | WriteOf::Beside(_)) => {}
            (Err(error), WriteOf::Run { run, records, .. }) => {
                self.step(TurnInput::WriteFailed { run, error, records });
            }
            (Err(error), WriteOf::Beside(what)) => self.outbox.tell(crate::event::not_recorded(what, &error)),
        }
    }
}

/// The events of a prompt's system message.
pub(super) fn told_of_system(message: RawJson) -> [Event; 2] {
    [Event::SystemStart { message: message.clone() }, Event::SystemEnd { message }]
}

fn compose(record: &Record) -> Result<NewEntry, AgentError> {
    match record {
        Record::Message(message) => request::to_entry(message),
        Record::Rules(names) => {
            let names = serde_json::Value::from(names.clone()).to_string();
            let names = Json::parse(&names).map_err(|error| format!("could not write the names of rules: {error}"))?;
            Ok(NewEntry::ttsr_injection(names)?)
        }
        Record::Bash(result) => {
            let json = result.to_json();
            let json = Json::parse(&json).map_err(|error| format!("could not write a command: {error}"))?;
            Ok(NewEntry::message(json)?)
        }
    }
}
