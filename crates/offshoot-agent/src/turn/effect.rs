//! What the turn machine hears and what it wants done. Data only: the driver gives it a meaning.

use std::sync::Arc;

use offshoot_session::clock::Millis;
use serde_json::Value;

use crate::error::AgentError;
use crate::event::{BashResult, CompactionResult, Event, Reason};
use crate::message::{AssistantMessage, Message, UserMessage};
use crate::provider::Delta;
use crate::tool::ToolOutcome;

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
    Message(Message),
    /// A command that the user ran.
    Bash(Arc<BashResult>),
}

impl Record {
    /// Whether the user says something to the model.
    pub fn is_users(&self) -> bool {
        matches!(self, Self::Message(Message::User(_)))
    }
}

/// Where to go in the tree, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Navigation {
    /// The entry.
    pub target: String,
    /// Whether the walk leads behind the entry also if it is a message of the user, which is not to be said anew.
    pub is_behind: bool,
    /// Whether what is left behind is summarised.
    pub summarize: bool,
    /// What the summary shall mind.
    pub instructions: Option<String>,
    /// Whether the instructions take the place of the usual ones.
    pub replace_instructions: bool,
    /// A bookmark for the summary, or without one for the target.
    pub label: Option<String>,
}

/// What a walk through the tree came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Navigated {
    /// The text of the message that was gone back to: to be said anew, otherwise.
    pub editor_text: Option<String>,
    /// The entry of the summary, if one was written.
    pub summary: Option<String>,
    /// Whether the user stopped it: nothing has changed then.
    pub aborted: bool,
    /// Why the summary was put together without a model, if it was.
    pub warning: Option<String>,
}

/// What a job came to, in the file.
#[derive(Debug, Clone, PartialEq)]
pub enum JobResult {
    /// A summary stands for what is old.
    Compaction(Arc<CompactionResult>),
    /// The session is open at another place.
    Navigation(Navigated),
}

/// Work beside the turns that ends in one entry.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Job {
    /// Summarise and cut.
    Compaction {
        reason: Reason,
        /// What the summary shall mind.
        instructions: Option<String>,
    },
    /// Go to another place in the tree.
    Navigation(Box<Navigation>),
}

impl Job {
    /// Whether the user asked for it and waits for its end.
    pub(super) fn is_users(&self) -> bool {
        match self {
            Self::Compaction { reason, .. } => *reason == Reason::Manual,
            Self::Navigation(_) => true,
        }
    }
}

/// What a job came to before anything is written.
#[derive(Debug, Clone, PartialEq)]
pub enum JobDraft {
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
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Trying {
    /// The request failed and will be sent again.
    Scheduled {
        /// Which attempt, from 1.
        attempt: u32,
        /// How many there may be.
        max_attempts: u32,
        /// After so many milliseconds.
        delay_ms: u64,
        error_message: String,
    },
    /// It is sent again now.
    Started,
    /// There is a summary, or there will be none.
    Finished,
}

/// Everything that can happen to a turn.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum TurnInput {
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
    Abort { at: Millis },
    /// A command of the user ended.
    Ran(Arc<BashResult>),
    /// The model can be asked: there is a key for it, or it needs none.
    Admitted { ticket: Ticket },
    /// The model cannot be asked.
    NotAdmitted { ticket: Ticket, error: AgentError },
    /// The request is complete.
    Built {
        ticket: Ticket,
        /// How many tokens it has, as far as one can tell.
        tokens: u64,
        /// The answer before anything of it came in.
        blank: Box<AssistantMessage>,
    },
    /// No request can be made of the session.
    BuildFailed { ticket: Ticket, error: AgentError },
    /// Something of the answer.
    Delta { ticket: Ticket, delta: Delta },
    /// What was to be appended with this ticket is in the file.
    Recorded { ticket: Ticket },
    /// The session cannot be written.
    WriteFailed { error: AgentError },
    /// A tool shows what it has so far.
    Partial { ticket: Ticket, call: usize, outcome: ToolOutcome },
    /// A tool ended.
    Ended { ticket: Ticket, call: usize, outcome: ToolOutcome, at: Millis },
    /// The time to wait is over.
    Elapsed { ticket: Ticket },
    /// A compaction has something to summarise, and begins.
    Planned { ticket: Ticket },
    /// The request for a summary is tried again.
    Trying { ticket: Ticket, trying: Trying },
    /// A job has something to write, or not.
    Drafted { ticket: Ticket, draft: JobDraft },
    /// What a job came to is in the file.
    Committed { ticket: Ticket, result: JobResult },
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
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Effect {
    /// Tell everybody, after everything that stands before.
    Emit(Event),
    /// Append to the session; when it is in the file, tell `then`, and answer [`TurnInput::Recorded`] if there is a ticket.
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
    /// Find out whether the model can be asked, before a prompt is recorded.
    Admit { ticket: Ticket },
    /// The prompt that was to be admitted is not recorded.
    Refuse(AgentError),
    /// Make a request of the session as it stands after everything appended before.
    Build { ticket: Ticket },
    /// Send the request that was made.
    Send { ticket: Ticket },
    /// Stop the running tools. Each of them still answers [`TurnInput::Ended`].
    StopTools,
    /// Run a tool.
    Run { ticket: Ticket, index: usize, call: Call },
    /// Wait.
    Wait { ticket: Ticket, ms: u64 },
    /// Begin a job, up to the point where something is to be written.
    JobDraft { ticket: Ticket, job: Job },
    /// Write what the job came to.
    Commit { ticket: Ticket },
    /// Drop all that is under way: request, tools, waiting, job.
    Cancel,
    /// Everything has ended; the machine is idle.
    Settle {
        how: Settled,
        /// How the job ended that the user asked for, if there was one since the last time.
        job: Option<Result<JobResult, AgentError>>,
    },
}
