//! The state of a turn. Plain data; only [`super::step`] changes it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use offshoot_protocol::message::{AssistantMessage, Block, Message, StopReason, ToolResultMessage};
use offshoot_protocol::{AgentError, QueueMode, Retry, Settled, Window};
use offshoot_session::clock::Millis;
use offshoot_session::zone::Zone;
use serde_json::Value;

use super::effect::{Call, Job, JobResult, Record, RuleInjection, RuleNote, RunNumber, Ticket};
use super::room::Room;
use crate::call_arguments;
use crate::provider::{Delta, Failure};

/// What follows a failed request. Times are in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextTry {
    /// The next attempt, after this time.
    After(u64),
    /// The next attempt, after a wait that the server asks for and that is longer than a retry waits.
    AfterLimit(u64),
    /// No attempt: the server asks for a wait of this time, which is too long.
    TooLate(u64),
    /// No attempt.
    Never,
}

/// What follows after `attempts` retries. A server's limit may be waited for as long as `patience`, however many attempts
/// there were.
#[must_use]
pub(crate) fn next_try(retry: &Retry, attempts: u32, patience: u64, failure: &Failure) -> NextTry {
    let may = retry.enabled && failure.is_transient && !failure.is_overflow;
    let asked = failure.retry_after;
    let doubled = retry.base_delay_ms.saturating_mul(1u64.checked_shl(attempts).unwrap_or(u64::MAX));
    match asked.filter(|asked| retry.max_asked_ms.is_some_and(|longest| *asked > longest)) {
        Some(long) if may && long <= patience => NextTry::AfterLimit(long),
        Some(long) if !failure.is_overflow => NextTry::TooLate(long),
        None if may && attempts < retry.max_retries => NextTry::After(asked.unwrap_or(doubled).min(retry.max_delay_ms)),
        Some(_) | None => NextTry::Never,
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct TurnConfig {
    pub retry: Retry,
    /// How long a server's limit may be waited for, in milliseconds, for one prompt.
    pub limit_patience_ms: u64,
    /// The user's clock, for times in texts.
    pub zone: Zone,
    /// Contexts with more tokens are compacted automatically; `None`: never.
    pub compact_above: Option<u64>,
    /// A context of at most this many tokens cannot be compacted.
    pub keep_recent: u64,
    /// Of the model; `None` if it is not known.
    pub window: Option<Window>,
    /// Whether a request that was too long, or left no room for the whole answer, is compacted and sent again, once.
    pub recover_overflow: bool,
    pub steering: QueueMode,
    pub follow_up: QueueMode,
    /// Whether the calls of an answer run one after another.
    pub one_tool_at_a_time: bool,
    /// Tools that have this effect on an answer that calls them.
    pub sequential: BTreeSet<String>,
    /// Whether extensions may change the messages of a request.
    pub changes_requests: bool,
    /// Whether extensions may add to the end of a turn.
    pub asks_at_turn_end: bool,
    /// Whether extensions may add to the end of a run.
    pub asks_before_settling: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct TurnState {
    pub config: TurnConfig,
    pub(super) phase: Phase,
    pub(super) ticket: Ticket,
    pub(super) run: RunNumber,
    /// The prompt that began the run, until it is known to be recorded.
    pub(super) opening: Vec<Message>,
    pub(super) steering: VecDeque<Message>,
    pub(super) follow_up: VecDeque<Message>,
    /// Commands of the user, and what could not be recorded before.
    pub(super) waiting: Vec<Record>,
    pub(super) attempt: u32,
    /// How many runs in a row have failed and were continued by an extension.
    pub(super) failed_again: u32,
    /// The time that was spent on waits for a server's limit, in milliseconds.
    pub(super) waited_ms: u64,
    /// Whether this input was already compacted after an overflow.
    pub(super) recovered: bool,
    pub(super) squeezed: bool,
    /// An estimate of what was said last.
    pub(super) prompt_tokens: u64,
    /// The tokens of the last request.
    pub(super) asked_tokens: u64,
    pub(super) room: Room,
    /// The tokens for which the running compaction began.
    pub(super) full_at: u64,
    /// Whether the start of the turn is emitted with its request: an earlier compaction is not part of the turn.
    pub(super) is_turn_due: bool,
    pub(super) messages: Vec<Message>,
    /// Rules that follow when the agent would stop.
    pub(super) rules: Vec<RuleInjection>,
    /// The result of the user's job, until everything has settled.
    pub(super) job_end: Option<Result<JobResult, AgentError>>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Phase {
    #[default]
    Idle,
    /// A prompt waits for the check of the model's key.
    Admitting(Vec<Message>),
    Building,
    Streaming(Partial),
    Recording(Recording),
    Working(Work),
    /// The user stopped the tools, which have not all returned yet.
    Stopping {
        work: Work,
        at: Millis,
    },
    /// Extensions may add to the end of a turn.
    Closing(AfterTurn),
    /// Extensions may add to the end of a run.
    Settling(Settled),
    Waiting,
    Drafting(RunningJob),
    Committing(Commit),
}

/// An answer being written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recording {
    pub(super) message: Arc<AssistantMessage>,
    pub(super) failure: Option<Failure>,
    pub(super) aborted: Option<Millis>,
    /// It was stopped by rules, which follow.
    pub(super) ruled: Option<RuleInjection>,
    /// Rules that it fits.
    pub(super) notes: Vec<RuleNote>,
}

impl Recording {
    pub(super) fn stopped(self, at: Millis) -> Self {
        Self { aborted: Some(at), ..self }
    }
}

/// What follows the end of a turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AfterTurn {
    Aborted,
    /// An answer without calls.
    Answered {
        tokens: u64,
        is_cut_off: bool,
        is_overflow: bool,
    },
    /// A failed answer, with its error message.
    Failed {
        said: String,
        failure: Option<Failure>,
        is_aborted: bool,
        /// When it failed.
        at: Millis,
    },
    /// An answer that rules have stopped.
    Ruled(RuleInjection),
    /// The results of calls; whether every call ends the run.
    Worked {
        ends_run: bool,
    },
}

/// A job being written.
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

#[derive(Debug, Clone, PartialEq)]
pub(super) struct RunningJob {
    pub(super) job: Job,
    pub(super) then: AfterJob,
    /// Whether its start was emitted: only then its end is.
    pub(super) is_told: bool,
    pub(super) is_trying: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AfterJob {
    Request,
    /// The failed request again, as a run of its own; with its failure.
    Again(Option<Unanswered>),
    Settle,
}

/// A request that the provider did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unanswered {
    /// The provider's words.
    pub(super) said: String,
    pub(super) is_about_pictures: bool,
    /// What a person can do about it, if that is known.
    pub(super) way_round: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Work {
    pub(super) answer: Arc<AssistantMessage>,
    pub(super) slots: Vec<Slot>,
    /// How many results are already appended.
    pub(super) appended: usize,
    /// Rules that stand before results.
    pub(super) notes: Vec<RuleNote>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Slot {
    pub(super) call: Call,
    pub(super) status: Status,
}

/// Whether the run ends with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndsRun {
    Yes,
    No,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Status {
    Waiting,
    Running,
    Ended(Arc<ToolResultMessage>, EndsRun),
}

impl TurnState {
    /// An idle machine.
    pub fn new(config: TurnConfig) -> Self {
        Self { config, ..Self::default() }
    }

    /// Whether nothing is running.
    pub fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    /// The session went elsewhere: what compactions achieved was about another context.
    pub(crate) fn moved(&mut self) {
        self.room = Room::default();
    }

    /// How many calls of the answer come after this one and have not ended.
    pub(crate) fn calls_after(&self, index: usize) -> usize {
        match &self.phase {
            Phase::Working(work) => {
                work.slots.iter().skip(index + 1).filter(|slot| !matches!(slot.status, Status::Ended(..))).count()
            }
            _ => 0,
        }
    }

    /// The calls of the answer that have not ended, each with its place, in their order.
    pub(crate) fn open_calls(&self) -> impl Iterator<Item = (usize, &Call)> {
        let slots = match &self.phase {
            Phase::Working(work) => work.slots.as_slice(),
            _ => &[],
        };
        let is_open = |(_, slot): &(usize, &Slot)| !matches!(slot.status, Status::Ended(..));
        slots.iter().enumerate().filter(is_open).map(|(at, slot)| (at, &slot.call))
    }

    /// The place of a running call, or of the running call in which a call with this id was made.
    pub(crate) fn running_call(&self, id: &str) -> Option<(Ticket, usize)> {
        let Phase::Working(work) = &self.phase else { return None };
        let is_it = |slot: &Slot| {
            let rest = id.strip_prefix(slot.call.id.as_str());
            matches!(slot.status, Status::Running) && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        work.slots.iter().position(is_it).map(|index| (self.ticket, index))
    }

    /// Nothing is under way any more, whatever was. Queued messages stay.
    pub(crate) fn give_up(&mut self) {
        (self.ticket, self.run) = (self.ticket + 1, self.run + 1);
        (self.squeezed, self.is_turn_due, self.recovered) = (false, false, false);
        self.phase = Phase::Idle;
        self.opening.clear();
        self.messages.clear();
        self.job_end = None;
    }

    /// Whether something runs under this ticket.
    pub(crate) fn is_current(&self, ticket: Ticket) -> bool {
        self.ticket == ticket && !self.is_idle()
    }

    /// Whether the answer of this ticket is being received.
    pub(crate) fn is_streaming(&self, ticket: Ticket) -> bool {
        self.ticket == ticket && matches!(self.phase, Phase::Streaming(_))
    }

    /// The part of the answer received so far, as it is recorded if this program does not live to do it.
    pub(crate) fn half_answer(&self, ticket: Ticket, at: Millis) -> Option<AssistantMessage> {
        let Phase::Streaming(partial) = &self.phase else { return None };
        let half = partial.ended(StopReason::Aborted, "The program ended before the answer did".to_owned(), at);
        Some(half).filter(|half| self.ticket == ticket && !half.content.is_empty())
    }

    /// The part of this number of the streaming answer, as far as it is written.
    pub(crate) fn written(&self, ticket: Ticket, index: usize) -> Option<WrittenPart> {
        let Phase::Streaming(partial) = &self.phase else { return None };
        let block = partial.block(index).filter(|_| self.ticket == ticket)?;
        Some(match block {
            Block::Text { text, .. } => WrittenPart::Text(text.clone()),
            Block::Thinking { thinking, .. } => WrittenPart::Thinking(thinking.clone()),
            Block::Image { .. } => return None,
            Block::ToolCall { id, name, arguments, .. } => {
                let text = partial.arguments.get(&index).cloned();
                WrittenPart::Call {
                    id: id.clone(),
                    tool: name.clone(),
                    arguments: text.unwrap_or_else(|| arguments.to_string()),
                }
            }
        })
    }

    /// Whether the request of this ticket is being built.
    pub(crate) fn is_building(&self, ticket: Ticket) -> bool {
        self.ticket == ticket && matches!(self.phase, Phase::Building)
    }

    /// Whether messages wait to be sent.
    pub(crate) fn has_queue(&self) -> bool {
        !(self.steering.is_empty() && self.follow_up.is_empty())
    }

    /// Puts another message in the place of one that is about to be recorded.
    pub(crate) fn replace_message(&mut self, before: &Message, now: &Message) {
        for message in self.messages.iter_mut().filter(|message| *message == before) {
            message.clone_from(now);
        }
        match (&mut self.phase, before, now) {
            (Phase::Recording(answer), Message::Assistant(_), Message::Assistant(now)) => {
                answer.message = Arc::clone(now);
            }
            (
                Phase::Working(work) | Phase::Stopping { work, .. },
                Message::ToolResult(before),
                Message::ToolResult(now),
            ) => {
                for slot in &mut work.slots {
                    match &mut slot.status {
                        Status::Ended(result, _) if result == before => *result = Arc::clone(now),
                        Status::Waiting | Status::Running | Status::Ended(..) => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether a compaction or a move is running.
    pub fn is_at_a_job(&self) -> bool {
        matches!(self.phase, Phase::Drafting(_) | Phase::Committing(_))
    }

    /// The user's steering texts, then the follow-up texts.
    pub fn queued(&self) -> (Vec<String>, Vec<String>) {
        let texts = |queue: &VecDeque<Message>| queue.iter().filter_map(users_text).collect();
        (texts(&self.steering), texts(&self.follow_up))
    }
}

fn users_text(message: &Message) -> Option<String> {
    match message {
        Message::User(user) => Some(user.text()),
        Message::Assistant(_) | Message::ToolResult(_) | Message::Custom(_) => None,
    }
}

/// A part of an answer as far as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WrittenPart {
    Text(String),
    Thinking(String),
    /// The arguments as the model writes them.
    Call {
        id: String,
        tool: String,
        arguments: String,
    },
}

/// The part of an answer received so far.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Partial {
    pub(super) message: AssistantMessage,
    pub(super) is_started: bool,
    /// The arguments' text of each call.
    arguments: BTreeMap<usize, String>,
    /// Rules that it fits.
    pub(super) notes: Vec<RuleNote>,
}

impl Partial {
    pub(super) fn new(blank: AssistantMessage) -> Self {
        Self { message: blank, is_started: false, arguments: BTreeMap::new(), notes: Vec::new() }
    }

    /// Applies a delta. Deltas without a matching block are ignored: the complete message follows at the end.
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
                self.arguments.insert(*index, String::new());
                self.put(*index, Block::call(id, name));
            }
            Delta::ToolCall { index, delta } => {
                if let Some(arguments) = self.arguments.get_mut(index) {
                    arguments.push_str(delta);
                }
            }
            Delta::ToolCallEnd { index } => {
                let text = self.arguments.remove(index).unwrap_or_default();
                if let Some(Block::ToolCall { arguments, arguments_error, .. }) = self.message.content.get_mut(*index) {
                    match call_arguments::parse(&text) {
                        Ok(whole) => *arguments = Value::Object(whole),
                        Err(error) => *arguments_error = Some(error),
                    }
                }
            }
            Delta::Usage(usage) => self.message.usage = *usage,
            Delta::TextEnd { .. } | Delta::ThinkingEnd { .. } | Delta::LostEvent { .. } | Delta::Done(_) => {}
        }
    }

    fn put(&mut self, index: usize, block: Block) {
        if index == self.message.content.len() {
            self.message.content.push(block);
        }
    }

    pub(super) fn block(&self, index: usize) -> Option<&Block> {
        self.message.content.get(index)
    }

    /// The part of a stopped answer to keep.
    pub(super) fn aborted(&self, at: Millis) -> AssistantMessage {
        self.ended(StopReason::Aborted, "Stopped by the user".to_owned(), at)
    }

    /// The part of an answer to keep that rules have stopped.
    pub(super) fn ruled(&self, why: String, at: Millis) -> AssistantMessage {
        self.ended(StopReason::Aborted, why, at)
    }

    /// The part of an answer to keep whose stream broke off.
    pub(super) fn broken(&self, why: String, at: Millis) -> AssistantMessage {
        self.ended(StopReason::Error, why, at)
    }

    /// Text and thinking, but no calls, which would stay unanswered.
    fn ended(&self, stop_reason: StopReason, why: String, at: Millis) -> AssistantMessage {
        let mut message = self.message.clone();
        message.content.retain(|block| match block {
            Block::Text { text, .. } => !text.is_empty(),
            Block::Thinking { thinking, .. } => !thinking.is_empty(),
            Block::Image { .. } => true,
            Block::ToolCall { .. } => false,
        });
        message.stop_reason = stop_reason;
        message.error_message = Some(why);
        message.timestamp = at;
        message
    }
}
