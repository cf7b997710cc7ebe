//! The one response to a command. It is sent when it is known; a command whose work is given up is answered all the same.

use std::io::{self, Write};
use std::sync::Arc;

use offshoot_app::agent::RpcVersion;
use offshoot_app::error::CommandError;
use offshoot_app::lines::HeldBack;
use offshoot_protocol::AgentError;
use offshoot_session::json::{Object, quote};
use serde::Serialize;
use tokio::sync::mpsc::UnboundedSender;

use crate::record_queue::{RecordQueue, StreamedRecord};
use crate::version::older_data;

/// Why a command is not carried out, for the client.
#[derive(Debug)]
pub(crate) struct RpcFailure(pub(crate) String);

impl From<AgentError> for RpcFailure {
    fn from(error: AgentError) -> Self {
        Self(error.to_string())
    }
}

impl From<offshoot_session::error::Error> for RpcFailure {
    fn from(error: offshoot_session::error::Error) -> Self {
        CommandError::from(error).into()
    }
}

impl From<CommandError> for RpcFailure {
    fn from(error: CommandError) -> Self {
        Self(error.on_one_line())
    }
}

impl From<serde_json::Error> for RpcFailure {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<&str> for RpcFailure {
    fn from(why: &str) -> Self {
        Self(why.to_owned())
    }
}

/// What a command answers.
pub(crate) enum RpcData {
    /// Success, and nothing else to say.
    Nothing,
    Json(String),
    /// Written where the client reads, so that no answer needs to fit into memory.
    Streamed(StreamedRecord),
}

impl RpcData {
    pub(crate) fn of(value: &impl Serialize) -> Result<Self, RpcFailure> {
        Ok(Self::Json(serde_json::to_string(value)?))
    }

    pub(crate) fn streamed(write: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static) -> Self {
        Self::Streamed(Box::new(write))
    }
}

pub(crate) type Answered = Result<RpcData, RpcFailure>;

/// A response on its way to the loop, which passes on the events that come before it first.
pub(crate) struct Response {
    responder: Responder,
    answer: Answered,
}

impl Response {
    pub(crate) fn write(self) {
        self.responder.write(self.answer);
    }
}

/// Owes a response; dropped without one it says that the agent has ended.
pub(crate) struct Responder {
    /// JSON, as the client wrote it.
    id: Option<String>,
    command: String,
    queue: RecordQueue,
    to: UnboundedSender<Response>,
    /// Held until the response is sent, if the end of the input waits for it.
    owed: Option<Arc<()>>,
    is_done: bool,
}

impl Responder {
    pub(crate) fn new(
        id: Option<String>,
        command: &str,
        (queue, to): (&RecordQueue, &UnboundedSender<Response>),
    ) -> Self {
        Self { id, command: command.to_owned(), queue: queue.clone(), to: to.clone(), owed: None, is_done: false }
    }

    pub(crate) fn owing(mut self, owed: &Arc<()>) -> Self {
        self.owed = Some(owed.clone());
        self
    }

    /// As JSON.
    pub(crate) fn id(&self) -> Option<Arc<str>> {
        self.id.as_deref().map(Arc::from)
    }

    /// Responds after the events so far.
    pub(crate) fn send(self, answer: Answered) {
        let to = self.to.clone();
        if let Err(unsent) = to.send(Response { responder: self, answer }) {
            // The loop has ended.
            unsent.0.write();
        }
    }

    /// Responds at once.
    pub(crate) fn write(mut self, answer: Answered) {
        self.is_done = true;
        self.owed = None;
        match self.in_version(answer) {
            Ok(RpcData::Nothing) => self.queue.line(format!("{}}}", self.success())),
            Ok(RpcData::Json(data)) => self.queue.line(format!("{},\"data\":{data}}}", self.success())),
            Ok(RpcData::Streamed(write)) => {
                let (head, failed) = (format!("{},\"data\":", self.success()), self.head());
                self.queue.streamed(Box::new(move |out| stream(head, &failed, write, out)));
            }
            Err(RpcFailure(why)) => self.queue.line(failure(&self.head(), &why)),
        }
    }

    fn in_version(&self, answer: Answered) -> Answered {
        match (self.queue.version(), answer) {
            (RpcVersion::V031, Ok(RpcData::Json(data))) => {
                Ok(older_data(&self.command, data).map_or(RpcData::Nothing, RpcData::Json))
            }
            (_, answer) => answer,
        }
    }

    fn head(&self) -> String {
        let id = self.id.as_ref().map(|id| format!("\"id\":{id},")).unwrap_or_default();
        format!("{{{id}\"type\":\"response\",\"command\":{}", quote(&self.command))
    }

    fn success(&self) -> String {
        format!("{},\"success\":true", self.head())
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if !self.is_done {
            self.queue.line(failure(&self.head(), &AgentError::Ended.to_string()));
        }
    }
}

fn failure(head: &str, why: &str) -> String {
    format!("{head},\"success\":false,\"error\":{}}}", quote(why))
}

fn stream(
    head: String,
    failed: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut held = HeldBack::new(head, out);
    match write(&mut held) {
        Ok(()) => held.release()?.write_all(b"}"),
        Err(error) => held.discard(&error.to_string())?.write_all(failure(failed, &error.to_string()).as_bytes()),
    }
}

/// A line that is no command.
pub(crate) fn refuse_line(queue: &RecordQueue, why: &str) {
    let object = Object::new().str("type", "response").str("command", "parse").raw("success", false);
    queue.line(object.str("error", why).finish());
}
