//! The interface to other people's code: the questions that it answers before the agent acts, and the events that it gets.
//!
//! Knows no host and no language. The order of handlers, and what several of them together decide, is the implementor's.
//! Every question is a future: dropping it ends the wait, so a stop by the user always does.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use offshoot_protocol::message::{Block, CustomMessage, Message};
use offshoot_protocol::model::Model;
use offshoot_protocol::{BashRun, Event, Reason, Secret, SessionReason, ThinkingLevel};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use crate::key_source::KeySource;
use crate::limits::Limits;
use crate::provider::{HeaderChange, Provider, ToolSpec};
use crate::tool::ToolOutcome;
use crate::turn::{Call, EndOutcome};

/// An answer that may take as long as a person or a model takes.
pub type Asked<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the methods of `Extensions` say what they are")]
pub enum Question {
    BeforeRun,
    Context,
    BeforeCall,
    AfterCall,
    BeforeShell,
    BeforeCompaction,
    BeforeMove,
    BeforeHeaders,
    BeforeBody,
    AfterResponse,
    StreamEvent,
    MessageEnd,
    TurnEnd,
    BeforeSettling,
}

/// What somebody says to the model.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Said {
    pub text: String,
    pub images: Vec<Block>,
    /// If it is meant for a run that is under way.
    pub while_streaming: Option<StreamingBehavior>,
    /// Whether an extension says it.
    pub is_of_extension: bool,
}

/// When a message for a run that is under way reaches the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamingBehavior {
    /// After the current turn.
    Steer,
    /// When the model would stop.
    FollowUp,
}

impl StreamingBehavior {
    /// pi's word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Steer => "steer",
            Self::FollowUp => "followUp",
        }
    }
}

/// The fate of an input.
#[derive(Debug, Clone, PartialEq)]
pub enum SaidVerdict {
    /// The model gets it, perhaps in other words.
    Continue(Said),
    /// The model does not get it.
    Handled,
}

/// What a run begins with.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct RunStart {
    pub prompt: String,
    pub images: Vec<Block>,
    pub system: String,
    /// Names of those that the model gets.
    pub tools: Vec<String>,
    pub cwd: PathBuf,
}

/// What is added to a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunAdditions {
    /// After the prompt.
    pub messages: Vec<CustomMessage>,
    /// In place of the system prompt.
    pub system: Option<String>,
}

/// What a request is made of, before it is converted for a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RequestContext {
    /// As JSON, without stored system prompts.
    pub messages: Vec<String>,
    /// The prompt in effect.
    pub system: String,
    /// Those that the model gets.
    pub tools: Vec<ToolSpec>,
}

/// An event of a response's stream, as the provider sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct StreamEvent {
    pub provider: String,
    pub api: String,
    pub model: String,
    /// As JSON.
    pub data: String,
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallVerdict {
    /// Perhaps with other arguments.
    Run(Call),
    /// It does not run.
    Block {
        /// For the model.
        reason: String,
        /// Whether the run ends with this turn, if all calls of the turn want that.
        ends_run: bool,
    },
}

/// What leaves the open session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Leaving {
    New,
    Resume(PathBuf),
    /// The entry, and whether the copy ends before it.
    Fork {
        entry: String,
        is_before: bool,
    },
}

/// A summary that is asked for, as pi's `preparation`, in JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct SummaryQuestion {
    pub preparation: String,
    pub instructions: Option<String>,
    /// Entries of the branch as a JSON list; empty for a move.
    pub entries: String,
    /// Of a compaction; `None` for a move.
    pub reason: Option<Reason>,
}

/// What becomes of a summary.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum SummaryVerdict {
    /// The summary is made as usual.
    #[default]
    Usual,
    /// As usual, with other instructions and another label.
    Instructed {
        /// Instead of those that were asked for.
        instructions: Option<String>,
        /// Whether they replace the usual ones.
        replace: Option<bool>,
        /// For the summary's entry.
        label: Option<String>,
    },
    /// Nothing happens.
    Cancelled,
    /// This is the summary.
    Given(GivenSummary),
}

/// A summary by an extension.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct GivenSummary {
    pub text: String,
    /// Of a compaction: the first entry that is kept.
    pub first_kept: Option<String>,
    pub tokens_before: Option<u64>,
    /// JSON.
    pub details: Option<String>,
    /// JSON.
    pub usage: Option<String>,
}

/// What happened that is no [`Event`].
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Happening {
    /// The compaction's entry as JSON.
    Compacted {
        entry: String,
        is_given: bool,
        reason: Reason,
        will_retry: bool,
    },
    CompactionFailed {
        reason: Reason,
        /// Missing if it was stopped.
        error: Option<String>,
        is_aborted: bool,
        will_retry: bool,
    },
    /// The leaf moved in the tree.
    Moved {
        old: Option<String>,
        new: Option<String>,
        summary: Option<String>,
        is_given: bool,
    },
    ModelSelected {
        before: Arc<Model>,
        now: Arc<Model>,
    },
    ThinkingSelected {
        before: ThinkingLevel,
        now: ThinkingLevel,
    },
    /// A step of a call that a tool makes: `tool_execution_start`, `_update` or `_end`, in pi's shape.
    NestedCall {
        event: &'static str,
        members: Value,
    },
}

/// What becomes of a command of the user.
pub enum ShellVerdict {
    /// It runs.
    Usual,
    /// It does not run; this is its result.
    Given(BashRun),
    /// Something else runs it.
    Elsewhere(Arc<dyn ShellOperations>),
}

/// Runs commands of the user in another place.
pub trait ShellOperations: Send + Sync {
    /// Ends with the exit code. The output goes to `printed`. Dropping this stops the command.
    fn run(
        &self,
        command: String,
        cwd: PathBuf,
        printed: UnboundedSender<String>,
    ) -> Asked<'_, Result<Option<i32>, String>>;
}

/// A turn that has ended.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct EndedTurn {
    pub message: Message,
    /// In the order of the calls.
    pub results: Vec<Message>,
    pub message_id: Option<String>,
    pub result_ids: Vec<String>,
    pub outcome: EndOutcome,
}

/// What is added to the end of a turn or a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EndAdditions {
    /// Entries without ids, as JSON objects.
    pub entries: Vec<Value>,
    /// Whether the model is asked again.
    pub continues: bool,
}

/// Other people's code.
pub trait Extensions: Send + Sync {
    /// The provider of a run's requests: an extension's if it streams the model itself, else `usual`.
    fn provider(&self, usual: Arc<dyn Provider>) -> Arc<dyn Provider>;

    /// The keys of a run: the usual ones, and those of providers that a person signs in to through an extension.
    fn keys(&self, usual: Arc<dyn KeySource>) -> Arc<dyn KeySource>;

    /// Whether anybody may have an answer to a question; also `true` before that is known.
    fn answers(&self, question: Question) -> bool;

    /// Passes an event on, after all earlier ones. Does not wait; `then` runs when the handlers are done, which is when others
    /// may hear of it.
    fn tell(&self, event: &Arc<Event>, then: Box<dyn FnOnce() + Send>);

    /// Runs `then` after all earlier events; for an event that handlers have already had.
    fn pass(&self, then: Box<dyn FnOnce() + Send>);

    /// Reports a happening that is not an event, as [`Extensions::tell`] reports events.
    fn tell_happening(&self, happening: Happening);

    /// Runs the command that a text calls, to its end; `None` if it calls none.
    fn command(&self, text: String) -> Asked<'_, Option<()>>;

    /// Before anything else is done with what was typed.
    fn said(&self, said: Said) -> Asked<'_, SaidVerdict>;

    /// Before a prompt is recorded.
    fn before_run(&self, start: RunStart) -> Asked<'_, RunAdditions>;

    /// Before each request; what to make it of instead. `None` if it stays.
    fn context(&self, context: RequestContext) -> Asked<'_, Option<RequestContext>>;

    /// Before a call of the model runs, and before somebody is asked about it.
    fn before_call(&self, call: Call) -> Asked<'_, CallVerdict>;

    /// After a call has run.
    fn after_call(&self, call: Call, outcome: ToolOutcome) -> Asked<'_, ToolOutcome>;

    /// Before a request is sent: the headers of its model; those to send instead. `None` if they stay.
    fn before_headers(&self, headers: Vec<(String, Secret)>) -> Asked<'_, Option<Vec<HeaderChange>>>;

    /// Before a request is sent: its body as JSON; that to send instead. `None` if it stays.
    fn before_body(&self, body: String) -> Asked<'_, Option<String>>;

    /// A response has begun.
    fn after_response(&self, status: u16, headers: Vec<(String, String)>) -> Asked<'_, ()>;

    /// The provider has sent an event of a response.
    fn stream_event(&self, event: StreamEvent) -> Asked<'_, ()>;

    /// Before a message is recorded; that to record instead, of the same role. `is_new` if its start was not an event yet.
    fn message_end(&self, message: Message, is_new: bool) -> Asked<'_, Message>;

    /// All of a turn is recorded.
    fn turn_end(&self, turn: EndedTurn) -> Asked<'_, EndAdditions>;

    /// Before a run settles. The outcome is that of its last turn.
    fn before_settling(&self, outcome: EndOutcome) -> Asked<'_, EndAdditions>;

    /// What an extension asked for cannot be done.
    fn refused(&self, event: &'static str, why: String);

    /// Before a command of the user.
    fn before_shell(&self, command: String, exclude: bool, cwd: PathBuf) -> Asked<'_, ShellVerdict>;

    /// Before another session is opened; `false` if this one stays.
    fn may_leave(&self, leaving: Leaving) -> Asked<'_, bool>;

    /// The session is about to be left, for the reason that pi names.
    fn leaves(&self, reason: SessionReason, target: Option<PathBuf>) -> Asked<'_, ()>;

    /// A session was opened; the file is that of the one before.
    fn entered(&self, reason: SessionReason, previous: Option<PathBuf>) -> Asked<'_, ()>;

    /// Before a context is compacted.
    fn before_compaction(&self, question: SummaryQuestion) -> Asked<'_, SummaryVerdict>;

    /// Before the leaf moves in the tree.
    fn before_move(&self, question: SummaryQuestion) -> Asked<'_, SummaryVerdict>;

    /// Waits until the handlers of all earlier events have ended.
    fn dealt_with(&self) -> Asked<'_, ()>;

    /// What agents that extensions start may do at most, from now on.
    fn limit(&self, limits: Limits);

    /// The user stops what is running: no handler is waited for any longer.
    fn stop(&self);
}
