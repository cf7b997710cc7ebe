//! What the turn machine hears and what it wants done. Data only: the driver gives it a meaning.

use offshoot_session::clock::Millis;
use serde_json::Value;

use crate::error::AgentError;
use crate::event::{Event, Raw, Reason};
use crate::message::{AssistantMessage, Message, UserMessage};
use crate::provider::Delta;
use crate::tool::Outcome;

/// Ties an answer to the effect that asked for it. What was asked before a stop is nobody's answer any more.
pub type Ticket = u64;

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The call's id, as the model gave it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
}

/// What goes into the session.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// A message of the conversation.
    Message(Box<Message>),
    /// A command that the user ran, as the JSON of a `bashExecution` message.
    Bash(Raw),
}

impl Record {
    /// Whether the user says something to the model.
    pub fn is_users(&self) -> bool {
        matches!(self, Self::Message(message) if matches!(**message, Message::User(_)))
    }
}

/// Work beside the turns that ends in one entry.
#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    /// Summarise and cut.
    Compaction {
        /// Why.
        reason: Reason,
        /// What the summary shall mind.
        instructions: Option<String>,
    },
    /// Go to another place in the tree; where to is the driver's.
    Navigation,
}

/// What a job came to before anything is written.
#[derive(Debug, Clone, PartialEq)]
pub enum Draft {
    /// There is something to write.
    Ready {
        /// Why the summary was put together without a model, if it was.
        warning: Option<String>,
    },
    /// There is nothing to do, and why.
    Nothing(&'static str),
    /// It failed, and why.
    Failed(AgentError),
}

/// How far trying again for a summary is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trying {
    /// The request failed and will be sent again.
    Scheduled {
        /// Which attempt, from 1.
        attempt: u32,
        /// How many there may be.
        max_attempts: u32,
        /// After so many milliseconds.
        delay_ms: u64,
        /// What went wrong.
        error_message: String,
    },
    /// It is sent again now.
    Started,
    /// There is a summary, or there will be none.
    Finished,
}

/// Everything that can happen to a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// The user says something.
    Prompt(Vec<UserMessage>),
    /// The user says something that is to be heard after the current turn.
    Steer(UserMessage),
    /// The user says something that is to be heard when the agent would stop.
    FollowUp(UserMessage),
    /// The user takes back what waits to be said.
    ClearQueue,
    /// The user wants a job done.
    Do(Job),
    /// The user stops everything.
    Abort {
        /// When.
        at: Millis,
    },
    /// A command of the user ended: the JSON of its message.
    Ran(Raw),
    /// The request is complete.
    Built {
        /// Whose.
        ticket: Ticket,
        /// How many tokens it has, as far as one can tell.
        tokens: u64,
        /// The answer before anything of it came in.
        blank: Box<AssistantMessage>,
    },
    /// No request can be made of the session.
    BuildFailed {
        /// Whose.
        ticket: Ticket,
        /// Why.
        error: AgentError,
    },
    /// Something of the answer.
    Delta {
        /// Whose.
        ticket: Ticket,
        /// What.
        delta: Delta,
    },
    /// What was to be appended with this ticket is in the file.
    Recorded {
        /// Whose.
        ticket: Ticket,
    },
    /// The session cannot be written.
    WriteFailed {
        /// Why.
        error: AgentError,
    },
    /// A tool shows what it has so far.
    Partial {
        /// Whose.
        ticket: Ticket,
        /// Which call of the answer.
        call: usize,
        /// What.
        outcome: Outcome,
    },
    /// A tool ended.
    Ended {
        /// Whose.
        ticket: Ticket,
        /// Which call of the answer.
        call: usize,
        /// With what.
        outcome: Outcome,
        /// When.
        at: Millis,
    },
    /// The time to wait is over.
    Elapsed {
        /// Whose.
        ticket: Ticket,
    },
    /// A compaction has something to summarise, and begins.
    Planned {
        /// Whose.
        ticket: Ticket,
    },
    /// The request for a summary is tried again.
    Trying {
        /// Whose.
        ticket: Ticket,
        /// How far that is.
        trying: Trying,
    },
    /// A job has something to write, or not.
    Drafted {
        /// Whose.
        ticket: Ticket,
        /// What it came to.
        draft: Draft,
    },
    /// What a job came to is in the file: the result for people.
    Committed {
        /// Whose.
        ticket: Ticket,
        /// What compactions tell.
        result: Raw,
    },
}

/// How everything that was asked for ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// With an answer.
    Done,
    /// The model or the way to it failed.
    Failed(AgentError),
    /// The user stopped it.
    Aborted,
    /// The session cannot be written.
    Broken(AgentError),
}

/// What is to be done. The driver does them in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Tell everybody, after everything that stands before.
    Emit(Event),
    /// Append to the session; when it is in the file, tell `then`, and answer [`Input::Recorded`] if there is a ticket.
    Append {
        /// What, in this order.
        records: Vec<Record>,
        /// What is told once it is durable.
        then: Vec<Event>,
        /// For an answer.
        ticket: Option<Ticket>,
    },
    /// Leave the last answer out of what the model sees; it stays in the file.
    OmitAnswer,
    /// Make a request of the session as it stands after everything appended before.
    Build {
        /// For the answer.
        ticket: Ticket,
    },
    /// Send the request that was made.
    Send {
        /// For the answers.
        ticket: Ticket,
    },
    /// Run a tool.
    Run {
        /// For the answers.
        ticket: Ticket,
        /// Which call of the answer.
        index: usize,
        /// The call.
        call: Call,
    },
    /// Wait.
    Wait {
        /// For the answer.
        ticket: Ticket,
        /// So many milliseconds.
        ms: u64,
    },
    /// Begin a job, up to the point where something is to be written.
    Draft {
        /// For the answer.
        ticket: Ticket,
        /// Which.
        job: Job,
    },
    /// Write what the job came to.
    Commit {
        /// For the answer.
        ticket: Ticket,
    },
    /// Drop all that is under way: request, tools, waiting, job.
    Cancel,
    /// Everything has ended; the machine is idle.
    Settle(Settled),
}
