//! Steps shared by several transitions. Knows no particular phase.

use super::effect::{Effect, EndOutcome, Job, Record};
use super::state::{AfterJob, Phase, RunningJob, TurnState, Unanswered};
use crate::window::tokens_of;
use std::collections::VecDeque;

use offshoot_protocol::message::Message;
use offshoot_protocol::{AgentError, Event, NoticeCode, OversizedPrompt, QueueMode, Reason, Settled, SizeJudge};

/// So often in a row an extension may continue a run that has failed.
const MOST_FAILURES: u32 = 10;

pub(super) fn begin(state: &mut TurnState, messages: Vec<Message>, out: &mut Vec<Effect>) {
    state.ticket += 1;
    state.run += 1;
    (state.attempt, state.waited_ms) = (0, 0);
    state.messages.clear();
    state.rules.clear();
    flush_waiting(state, out);
    out.push(Effect::Emit(Event::AgentStart));
    out.push(Effect::Emit(Event::TurnStart));
    if !messages.is_empty() {
        say(state, messages, out);
    }
    request(state, out);
}

/// Sends the failed request again, as a run of its own.
pub(super) fn again(state: &mut TurnState, out: &mut Vec<Effect>) {
    state.messages.clear();
    out.push(Effect::Emit(Event::AgentStart));
    out.push(Effect::Emit(Event::TurnStart));
    request(state, out);
}

/// Appends user messages. Each of them may be compacted once.
pub(super) fn say(state: &mut TurnState, messages: Vec<Message>, out: &mut Vec<Effect>) {
    state.recovered = false;
    state.prompt_tokens = messages.iter().map(tokens_of).sum();
    state.messages.extend(messages.iter().cloned());
    let then = messages.iter().flat_map(started_and_ended).collect();
    let records = messages.into_iter().map(Record::Message).collect();
    out.push(Effect::Append { run: state.run, records, then, ticket: None });
}

/// The events of a message that is written as a whole.
pub(super) fn started_and_ended(message: &Message) -> [Event; 2] {
    [Event::MessageStart { message: message.clone() }, Event::MessageEnd { message: message.clone() }]
}

pub(super) fn request(state: &mut TurnState, out: &mut Vec<Effect>) {
    flush_waiting(state, out);
    // Extensions see the messages of a turn after its start, which stands after the compaction that makes room for it.
    let is_measured = state.is_turn_due && state.config.changes_requests;
    let ticket = state.ticket;
    out.push(if is_measured { Effect::Measure { ticket } } else { Effect::Build { ticket } });
    state.phase = Phase::Building;
}

/// Starts the next turn with queued messages, or after tools; `false` if there is neither.
pub(super) fn next_turn(state: &mut TurnState, after_tools: bool, out: &mut Vec<Effect>) -> bool {
    let said = if after_tools { take_some(&mut state.steering, state.config.steering) } else { take_queued(state) };
    if said.is_empty() && !after_tools {
        return false;
    }
    if said.is_empty() {
        state.is_turn_due = true;
    } else {
        out.push(Effect::Emit(Event::TurnStart));
        out.push(queue_update(state));
        say(state, said, out);
    }
    request(state, out);
    true
}

/// The next steering messages, else the next follow-ups.
fn take_queued(state: &mut TurnState) -> Vec<Message> {
    let steering = take_some(&mut state.steering, state.config.steering);
    if steering.is_empty() { take_some(&mut state.follow_up, state.config.follow_up) } else { steering }
}

fn take_some(queue: &mut VecDeque<Message>, mode: QueueMode) -> Vec<Message> {
    match mode {
        QueueMode::All => queue.drain(..).collect(),
        QueueMode::OneAtATime => queue.pop_front().into_iter().collect(),
    }
}

pub(super) fn end_run(state: &mut TurnState, will_retry: bool, out: &mut Vec<Effect>) {
    let messages = std::mem::take(&mut state.messages);
    out.push(Effect::Emit(Event::AgentEnd { messages, will_retry }));
}

/// Settles, unless queued messages start another run. Extensions may add to the end of a run, but not to that of a job.
pub(super) fn settle(state: &mut TurnState, how: Settled, out: &mut Vec<Effect>) {
    let outcome = match &how {
        Settled::Done => EndOutcome::Completed,
        Settled::Failed(_) => EndOutcome::Error,
        Settled::Aborted => EndOutcome::Aborted,
        Settled::Broken(_) => return settle_now(state, how, out),
    };
    if state.config.asks_before_settling && state.job_end.is_none() {
        out.push(Effect::BeforeSettle { ticket: state.ticket, outcome });
        state.phase = Phase::Settling(how);
    } else {
        settle_now(state, how, out);
    }
}

/// Extensions have added what they add. What the user has limited or stopped ends, whatever they ask for, and so does a run that
/// failed again and again.
pub(super) fn may_settle(state: &mut TurnState, how: Settled, continues: bool, out: &mut Vec<Effect>) {
    let may = match &how {
        Settled::Done => {
            state.failed_again = 0;
            true
        }
        Settled::Failed(AgentError::LimitReached(_)) | Settled::Aborted | Settled::Broken(_) => false,
        Settled::Failed(_) => {
            state.failed_again += 1;
            state.failed_again <= MOST_FAILURES
        }
    };
    if continues && may {
        return again(state, out);
    }
    state.failed_again = 0;
    settle_now(state, how, out);
}

fn settle_now(state: &mut TurnState, how: Settled, out: &mut Vec<Effect>) {
    // What could not be written waits for the next run.
    if !matches!(how, Settled::Broken(_)) {
        flush_waiting(state, out);
    }
    state.phase = Phase::Idle;
    state.opening.clear();
    state.squeezed = false;
    state.is_turn_due = false;
    if how == Settled::Done {
        let said = take_queued(state);
        if !said.is_empty() {
            out.push(queue_update(state));
            return begin(state, said, out);
        }
    }
    out.push(Effect::Emit(Event::AgentSettled { aborted: how == Settled::Aborted }));
    out.push(Effect::Settle { how, job: state.job_end.take() });
}

/// Stops everything that is running; its later replies are ignored.
pub(super) fn cancel(state: &mut TurnState, out: &mut Vec<Effect>) {
    state.ticket += 1;
    out.push(Effect::Cancel);
}

/// Starts a job. The start of an automatic compaction is emitted once it has something to do.
pub(super) fn side_job(state: &mut TurnState, job: Job, then: AfterJob, out: &mut Vec<Effect>) {
    let mut side = RunningJob { job, then, is_told: false, is_trying: false };
    if matches!(side.job, Job::Compaction { reason: Reason::Manual, .. }) {
        begun(&mut side, out);
    }
    out.push(Effect::JobDraft { ticket: state.ticket, job: side.job.clone() });
    state.phase = Phase::Drafting(side);
}

pub(super) fn queue_update(state: &TurnState) -> Effect {
    let (steering, follow_up) = state.queued();
    Effect::Emit(Event::QueueUpdate { steering, follow_up })
}

/// Records what waits for a moment between two turns.
pub(super) fn flush_waiting(state: &mut TurnState, out: &mut Vec<Effect>) {
    if !state.waiting.is_empty() {
        let records = std::mem::take(&mut state.waiting);
        let events = |record: &Record| match record {
            Record::Message(message) => started_and_ended(message).into(),
            Record::Bash(_) | Record::Rules(_) => Vec::new(),
        };
        let then = records.iter().flat_map(events).collect();
        out.push(Effect::Append { run: state.run, records, then, ticket: None });
    }
}

/// Emits the start of a compaction, once; a move has no such event.
pub(super) fn begun(side: &mut RunningJob, out: &mut Vec<Effect>) {
    let Job::Compaction { reason, .. } = &side.job else { return };
    if !std::mem::replace(&mut side.is_told, true) {
        out.push(Effect::Emit(Event::CompactionStart { reason: *reason }));
    }
}

/// What helps if a provider refuses a request because of its pictures.
const PICTURES: &str = "the request has pictures: the setting images.blockImages sends none, and `offshoot compact` replaces those of older messages by a summary";

/// A request that was refused, but not for its length. What helps is told, too: front ends that show the answer
/// show the provider's words with it.
pub(super) fn refused(failed: Unanswered, out: &mut Vec<Effect>) -> AgentError {
    let Unanswered { said, is_about_pictures, way_round } = failed;
    let help: Vec<&str> = is_about_pictures.then_some(PICTURES).into_iter().chain(way_round.as_deref()).collect();
    if help.is_empty() {
        return AgentError::Failed(said);
    }
    let message = help.join("; ");
    let error = AgentError::Failed(format!("{said} ({message})"));
    out.push(Effect::Emit(Event::Notice { code: NoticeCode::Refused, message, entry_id: None }));
    error
}

/// Why a request was too long, after all that could make room.
pub(super) fn no_room(state: &TurnState, failed: Unanswered, why: Option<&str>, out: &mut Vec<Effect>) -> AgentError {
    if failed.is_about_pictures {
        return refused(failed, out);
    }
    let said = failed.said;
    let is_the_prompt = state.prompt_tokens > 0 && state.prompt_tokens.saturating_mul(2) >= state.asked_tokens;
    match (state.config.window.clone().filter(|_| is_the_prompt), why) {
        (Some(window), _) => {
            out.push(Effect::TakeBackPrompt { run: state.run });
            OversizedPrompt { tokens: state.prompt_tokens, window, found_by: SizeJudge::Provider }.into()
        }
        (None, Some(why)) => AgentError::Failed(format!("{said} (no room was made: {why})")),
        (None, None) => AgentError::Failed(said),
    }
}
