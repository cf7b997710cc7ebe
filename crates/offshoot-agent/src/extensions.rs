//! The interface to other people's code: what it is asked before the agent acts, and what it is told.
//!
//! Knows no host and no language. The order of handlers, and what several of them together decide, is the implementor's.
//! Every question is a future: dropping it ends the wait, so a stop by the user always does.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use crate::event::Event;
use crate::message::{Block, CustomMessage};
use crate::provider::{Model, ThinkingLevel};
use crate::tool::{BashRun, ToolOutcome};
use crate::turn::Call;

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
}

/// What somebody says to the model.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Said {
    pub text: String,
    pub images: Vec<Block>,
    /// `steer` or `followUp` if it is meant for a run that is under way.
    pub while_streaming: Option<&'static str>,
}

/// What becomes of what was said.
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

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallVerdict {
    /// Perhaps with other arguments.
    Run(Call),
    /// The model gets the reason.
    Block(String),
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
    /// `manual`, `threshold` or `overflow`.
    pub reason: &'static str,
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
        reason: &'static str,
        will_retry: bool,
    },
    CompactionFailed {
        reason: &'static str,
        error: String,
        is_aborted: bool,
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
        source: &'static str,
    },
    ThinkingSelected {
        before: ThinkingLevel,
        now: ThinkingLevel,
    },
}

/// Other people's code.
pub trait Extensions: Send + Sync {
    /// Whether anybody may have an answer to a question; also `true` before that is known.
    fn answers(&self, question: Question) -> bool;

    /// Tells an event, after all that was told before. Does not wait; `then` runs when the handlers are done, which is when others
    /// may hear of it.
    fn tell(&self, event: &Arc<Event>, then: Box<dyn FnOnce() + Send>);

    /// The same for what is no event.
    fn tell_happening(&self, happening: Happening);

    /// Runs the command that a text calls, to its end; `None` if it calls none.
    fn command(&self, text: String) -> Asked<'_, Option<()>>;

    /// Before anything else is done with what was typed.
    fn said(&self, said: Said) -> Asked<'_, SaidVerdict>;

    /// Before a prompt is recorded.
    fn before_run(&self, start: RunStart) -> Asked<'_, RunAdditions>;

    /// Before each request: the messages of the context as JSON. `None` if they stay.
    fn context(&self, messages: Vec<String>) -> Asked<'_, Option<Vec<String>>>;

    /// Before a call of the model runs, and before somebody is asked about it.
    fn before_call(&self, call: Call) -> Asked<'_, CallVerdict>;

    /// After a call has run.
    fn after_call(&self, call: Call, outcome: ToolOutcome) -> Asked<'_, ToolOutcome>;

    /// Before a command of the user. A result means that it does not run.
    fn before_shell(&self, command: String, exclude: bool, cwd: PathBuf) -> Asked<'_, Option<BashRun>>;

    /// Before another session is opened; `false` if this one stays.
    fn may_leave(&self, leaving: Leaving) -> Asked<'_, bool>;

    /// The session is about to be left, for the reason that pi names.
    fn leaves(&self, reason: &'static str, target: Option<PathBuf>) -> Asked<'_, ()>;

    /// A session was opened; the file is that of the one before.
    fn entered(&self, reason: &'static str, previous: Option<PathBuf>) -> Asked<'_, ()>;

    /// Before a context is compacted.
    fn before_compaction(&self, question: SummaryQuestion) -> Asked<'_, SummaryVerdict>;

    /// Before the leaf moves in the tree.
    fn before_move(&self, question: SummaryQuestion) -> Asked<'_, SummaryVerdict>;

    /// Waits until all that was told has been dealt with.
    fn dealt_with(&self) -> Asked<'_, ()>;

    /// The user stops what is running: no handler is waited for any longer.
    fn stop(&self);
}
