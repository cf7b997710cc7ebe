//! Where a turn stands. Plain data; [`super::step`] alone changes it.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use offshoot_session::clock::Millis;

use super::effect::{Call, Job, JobResult, Ticket};
use crate::error::AgentError;
use crate::event::BashResult;
use crate::message::{AssistantMessage, Block, Message, StopReason, ToolResultMessage, UserMessage};
use crate::provider::{Delta, Failure};

/// How failed requests are tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Whether at all.
    pub enabled: bool,
    /// How often.
    pub max_retries: u32,
    /// How long to wait before the first time, in milliseconds; doubled each time.
    pub base_delay_ms: u64,
    /// The longest wait, also when the server asks for more.
    pub max_delay_ms: u64,
}

impl Default for Retry {
    fn default() -> Self {
        Self { enabled: true, max_retries: 3, base_delay_ms: 2000, max_delay_ms: 60_000 }
    }
}

impl Retry {
    /// How long to wait after so many failed attempts, in milliseconds, if the server asked for `asked`.
    pub fn delay(&self, attempts: u32, asked: Option<u64>) -> u64 {
        let doubled = self.base_delay_ms.saturating_mul(1u64.checked_shl(attempts).unwrap_or(u64::MAX));
        doubled.max(asked.unwrap_or(0)).min(self.max_delay_ms)
    }
}

/// How much of a queue is said at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueueMode {
    /// The oldest message.
    #[default]
    OneAtATime,
    /// All of them.
    All,
}

/// What the machine goes by.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnConfig {
    /// Trying again.
    pub retry: Retry,
    /// From how many tokens on a context is compacted by itself; `None`: never.
    pub compact_above: Option<u64>,
    /// Whether a context that the model refuses as too long is compacted and sent again, once; and so for one that left
    /// no room for the whole answer.
    pub recover_overflow: bool,
    /// How much of the steering queue is said at once.
    pub steering: QueueMode,
    /// How much of the follow-up queue is said at once.
    pub follow_up: QueueMode,
    /// Tools that may run at the same time.
    pub shared: BTreeSet<String>,
}

/// The machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnState {
    /// What it goes by.
    pub config: TurnConfig,
    pub(super) phase: Phase,
    pub(super) ticket: Ticket,
    pub(super) steering: VecDeque<UserMessage>,
    pub(super) follow_up: VecDeque<UserMessage>,
    pub(super) bash: Vec<Arc<BashResult>>,
    /// Attempts since the last answer.
    pub(super) attempt: u32,
    /// Whether this input has had its compaction after an overflow.
    pub(super) recovered: bool,
    pub(super) squeezed: bool,
    /// Whether a turn is to be told of as soon as its request goes: a compaction before it is not part of it.
    pub(super) is_turn_due: bool,
    pub(super) messages: Vec<Message>,
    /// How the job ended that the user asked for, until everything has settled.
    pub(super) job_end: Option<Result<JobResult, AgentError>>,
}

/// What is under way.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Phase {
    /// Nothing.
    #[default]
    Idle,
    /// A prompt waits until it is known whether the model can be asked.
    Admitting(Vec<UserMessage>),
    Building,
    Streaming(Partial),
    Recording(Recording),
    Working(Work),
    /// The user has stopped the tools; what they had shown is still to come.
    Stopping {
        work: Work,
        at: Millis,
    },
    Waiting,
    Drafting(RunningJob),
    Committing(Commit),
}

/// An answer on its way into the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recording {
    pub(super) message: Arc<AssistantMessage>,
    pub(super) failure: Option<Failure>,
    pub(super) aborted: Option<Millis>,
}

impl Recording {
    pub(super) fn stopped(self, at: Millis) -> Self {
        Self { aborted: Some(at), ..self }
    }
}

/// A job whose outcome is on its way into the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Commit {
    pub(super) side: RunningJob,
    pub(super) warning: Option<String>,
    pub(super) is_aborted: bool,
}

impl Commit {
    pub(super) fn stopped(self) -> Self {
        Self { is_aborted: true, ..self }
    }
}

/// A job, and what comes after it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RunningJob {
    pub(super) job: Job,
    pub(super) then: AfterJob,
    /// Whether anybody knows of it: its end is told then.
    pub(super) is_told: bool,
    pub(super) is_trying: bool,
}

/// What comes after a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AfterJob {
    Request,
    /// The failed request once more, as a run of its own. With what the model said of its failure.
    Again(Option<String>),
    Settle,
}

/// The tools of one answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Work {
    pub(super) answer: Arc<AssistantMessage>,
    pub(super) slots: Vec<Slot>,
    /// Results that are appended already: the first so many.
    pub(super) appended: usize,
}

/// One call and how far it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Slot {
    pub(super) call: Call,
    pub(super) status: Status,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Status {
    Waiting,
    Running,
    Ended(Arc<ToolResultMessage>),
}

impl TurnState {
    /// A machine at rest.
    pub fn new(config: TurnConfig) -> Self {
        Self { config, ..Self::default() }
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    /// Whether a job is under way.
    pub fn is_at_a_job(&self) -> bool {
        matches!(self.phase, Phase::Drafting(_) | Phase::Committing(_))
    }

    /// What waits to be said: steering, then follow-up.
    pub fn queued(&self) -> (Vec<String>, Vec<String>) {
        let texts = |queue: &VecDeque<UserMessage>| queue.iter().map(UserMessage::text).collect();
        (texts(&self.steering), texts(&self.follow_up))
    }
}

/// An answer as far as it has come in.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Partial {
    pub(super) message: AssistantMessage,
    pub(super) is_started: bool,
    arguments: String,
}

impl Partial {
    pub(super) fn new(blank: AssistantMessage) -> Self {
        Self { message: blank, is_started: false, arguments: String::new() }
    }

    /// Takes in what came. Deltas that fit nothing change nothing: the whole message comes at the end.
    pub(super) fn take(&mut self, delta: &Delta) {
        match delta {
            Delta::Start => self.is_started = true,
            Delta::TextStart { index } => self.put(*index, Block::text("")),
            Delta::ThinkingStart { index } => self.put(*index, Block::thinking("")),
            Delta::Text { index, delta } | Delta::Thinking { index, delta } => {
                match self.message.content.get_mut(*index) {
                    Some(Block::Text { text, .. }) => text.push_str(delta),
                    Some(Block::Thinking { thinking, .. }) => thinking.push_str(delta),
                    Some(Block::Image { .. } | Block::ToolCall { .. }) | None => {}
                }
            }
            Delta::ToolCallStart { index, id, name } => {
                self.arguments.clear();
                self.put(*index, Block::call(id, name));
            }
            Delta::ToolCall { delta, .. } => self.arguments.push_str(delta),
            Delta::ToolCallEnd { index } => {
                if let Some(Block::ToolCall { arguments, .. }) = self.message.content.get_mut(*index)
                    && let Ok(whole) = serde_json::from_str(&self.arguments)
                {
                    *arguments = whole;
                }
            }
            Delta::TextEnd { .. } | Delta::ThinkingEnd { .. } | Delta::Done(_) => {}
        }
    }

    fn put(&mut self, index: usize, block: Block) {
        if index == self.message.content.len() {
            self.message.content.push(block);
        }
    }

    /// The block at a place, as far as it has come in.
    pub(super) fn block(&self, index: usize) -> Option<&Block> {
        self.message.content.get(index)
    }

    /// What is kept of an answer that the user stopped: what was said and thought. Calls that nobody will answer are
    /// not kept.
    pub(super) fn aborted(&self, at: Millis) -> AssistantMessage {
        let mut message = self.message.clone();
        message.content.retain(|block| match block {
            Block::Text { text, .. } => !text.is_empty(),
            Block::Thinking { thinking, .. } => !thinking.is_empty(),
            Block::Image { .. } => true,
            Block::ToolCall { .. } => false,
        });
        message.stop_reason = StopReason::Aborted;
        message.error_message = Some("Stopped by the user".to_owned());
        message.timestamp = at;
        message
    }
}
