//! Inputs and effects of the turn machine. Data only: the driver runs the effects.

use std::sync::Arc;

use offshoot_protocol::message::{AssistantMessage, Message, ToolResultMessage};
use offshoot_protocol::{AgentError, BashResult, CompactionResult, Event, Reason, Settled};
use offshoot_session::clock::Millis;
use serde_json::Value;

use crate::provider::Delta;
use crate::tool::ToolOutcome;

/// Ties a reply to its effect. Replies to effects from before a stop are ignored.
pub type Ticket = u64;

/// Counts what is done one after the other: a run with all that it records, or one record between two runs.
pub type RunNumber = u64;

#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Call {
    /// Given by the model.
    pub id: String,
    pub name: String,
    pub arguments: Value,
}

/// An entry to append.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Record {
    Message(Message),
    Bash(Arc<BashResult>),
    /// The names of rules that the branch has had.
    Rules(Vec<String>),
}

/// An answer some of whose calls have no results: the program ended while they ran.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenAnswer {
    /// As it is in the file.
    pub answer: Arc<AssistantMessage>,
    /// The calls without results, which are the last ones. Those with an outcome are not run again.
    pub calls: Vec<(Call, Option<ToolOutcome>)>,
}

/// What the model gets when its answer was stopped by rules.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleInjection {
    /// The rules in words.
    pub message: Message,
    /// Their names.
    pub rules: Vec<String>,
}

/// Rules that an answer fits and that do not stop it.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleNote {
    /// They stand before the result of a call.
    #[expect(missing_docs, reason = "the names say what they are")]
    Call { id: String, text: String, rules: Vec<String> },
    /// They follow when the agent would stop.
    After(RuleInjection),
}

impl RuleNote {
    pub(super) fn after(self) -> Option<RuleInjection> {
        match self {
            Self::After(injection) => Some(injection),
            Self::Call { .. } => None,
        }
    }
}

impl Record {
    /// Whether it asks the model for something: a prompt of the user, or a message of an extension.
    pub fn is_said(&self) -> bool {
        matches!(self, Self::Message(Message::User(_) | Message::Custom(_)))
    }
}

/// The result of a written job.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum JobResult {
    Compaction(Arc<CompactionResult>),
    /// Its outcome goes to whoever began it.
    Operation,
}

impl JobResult {
    pub(crate) fn compaction(self) -> Option<Arc<CompactionResult>> {
        if let Self::Compaction(result) = self { Some(result) } else { None }
    }

    pub(crate) fn operation(self) -> Option<()> {
        if let Self::Operation = self { Some(()) } else { None }
    }
}

/// Work beside the turns that ends in one entry.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Job {
    Compaction {
        reason: Reason,
        instructions: Option<String>,
    },
    /// An operation that was planned, and waits for its summary.
    Operation,
}

impl Job {
    /// Whether the user asked for it and waits for its end.
    pub(super) fn is_users(&self) -> bool {
        match self {
            Self::Compaction { reason, .. } => *reason == Reason::Manual,
            Self::Operation => true,
        }
    }
}

/// The result of a job before anything is written.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum JobDraft {
    /// With a warning if the summary was written without a model.
    Ready { warning: Option<String> },
    /// Nothing to do, and why.
    Nothing(&'static str),
    /// The job failed.
    Failed(AgentError),
}

/// The progress of a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Trying {
    /// The request failed; this attempt, counted from 1, will be sent after the delay.
    Scheduled { attempt: u32, max_attempts: u32, delay_ms: u64, error_message: String },
    /// The request is sent again.
    Started,
    /// With or without a summary.
    Finished,
    /// The summary has so many tokens by now.
    Grown { tokens: u64 },
}

#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum TurnInput {
    /// Starts a run; queued during one.
    Prompt(Vec<Message>),
    /// For after the current turn.
    Steer(Message),
    /// For when the agent would stop.
    FollowUp(Message),
    /// Recorded at once between two turns, else after the current one. Starts nothing.
    Add(Message),
    /// Removes the queued messages.
    ClearQueue,
    /// Starts a job.
    Do(Job),
    /// The user stops everything.
    Abort { at: Millis },
    /// The user's shell command ended.
    Ran(Arc<BashResult>),
    /// Goes on where the session stands, without a prompt.
    Continue,
    /// There is a key for the model, or it needs none. The messages follow the prompt. An open answer is completed first.
    Admitted { ticket: Ticket, added: Vec<Message>, open: Option<Box<OpenAnswer>> },
    /// There is no key for the model.
    NotAdmitted { ticket: Ticket, error: AgentError },
    /// The tokens of the request before extensions change its messages, an estimate.
    Measured { ticket: Ticket, tokens: u64 },
    /// The request is built, with its estimated tokens and an answer without content.
    Built { ticket: Ticket, tokens: u64, blank: Box<AssistantMessage> },
    /// The session cannot be converted to a request.
    BuildFailed { ticket: Ticket, error: AgentError },
    /// The answer streams.
    Delta { ticket: Ticket, delta: Delta },
    /// What the model writes fits rules.
    RuleFits { ticket: Ticket, injection: Box<RuleInjection>, at: Millis },
    /// What the model writes fits rules that stop nothing.
    RuleNoted { ticket: Ticket, note: Box<RuleNote> },
    /// The append with this ticket is in the file.
    Recorded { ticket: Ticket },
    /// The turn's end was recorded; `continues` if extensions ask for another turn.
    TurnClosed { ticket: Ticket, continues: bool },
    /// The run may settle; `continues` if extensions ask for another run.
    MaySettle { ticket: Ticket, continues: bool },
    /// What a run was to record is not recorded. The records come back.
    WriteFailed { run: RunNumber, error: AgentError, records: Vec<Record> },
    /// The answer's stream broke off without an end.
    StreamBroke { ticket: Ticket, why: String, at: Millis },
    /// A running tool's outcome so far.
    Partial { ticket: Ticket, call: usize, outcome: ToolOutcome },
    /// A tool ended.
    Ended { ticket: Ticket, call: usize, outcome: ToolOutcome, at: Millis },
    /// The wait is over.
    Elapsed { ticket: Ticket },
    /// A compaction has something to summarise, and starts.
    Planned { ticket: Ticket },
    /// A summary is being retried.
    Trying { ticket: Ticket, trying: Trying },
    /// A job has something to write, or not.
    Drafted { ticket: Ticket, draft: JobDraft },
    /// The job's result is in the file, or why it is not.
    Committed { ticket: Ticket, result: Result<JobResult, AgentError> },
}

/// How a turn or a run has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum EndOutcome {
    Completed,
    Error,
    Aborted,
}

impl EndOutcome {
    /// pi's word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Error => "error",
            Self::Aborted => "aborted",
        }
    }
}

/// An effect. The driver runs them in order.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Effect {
    /// Emits an event, after all earlier ones.
    Emit(Event),
    /// Appends records; when they are in the file, emits `then` and replies [`TurnInput::Recorded`] if there is a ticket.
    Append { run: RunNumber, records: Vec<Record>, then: Vec<Event>, ticket: Option<Ticket> },
    /// Lets extensions add to a turn's end, emits it, and replies [`TurnInput::TurnClosed`].
    CloseTurn { ticket: Ticket, answer: Arc<AssistantMessage>, results: Vec<Arc<ToolResultMessage>> },
    /// Lets extensions add to a run's end, and replies [`TurnInput::MaySettle`].
    BeforeSettle { ticket: Ticket, outcome: EndOutcome },
    /// Hides the last answer from the model; it stays in the file.
    OmitAnswer { run: RunNumber },
    /// Goes back to before the newest prompt, which cannot be sent.
    TakeBackPrompt { run: RunNumber },
    /// Checks for the model's key before a prompt is recorded.
    Admit { ticket: Ticket },
    /// The waiting prompt is not recorded: its words go back to where they came from.
    Refuse { error: AgentError, messages: Vec<Message> },
    /// Estimates the request that [`Effect::Build`] will build.
    Measure { ticket: Ticket },
    /// Builds a request from the session, after all earlier appends.
    Build { ticket: Ticket },
    /// Sends the built request.
    Send { ticket: Ticket },
    /// Stops the running tools. Each of them still replies [`TurnInput::Ended`].
    StopTools,
    /// Runs a tool.
    Run { ticket: Ticket, index: usize, call: Call },
    /// Waits.
    Wait { ticket: Ticket, ms: u64 },
    /// Starts a job, up to its first write.
    JobDraft { ticket: Ticket, job: Job },
    /// Writes the job's result.
    Commit { ticket: Ticket },
    /// Drops everything that is running: request, tools, wait, job.
    Cancel,
    /// Everything has ended; `job` is the result of a job that the user asked for.
    Settle { how: Settled, job: Option<Result<JobResult, AgentError>> },
}
