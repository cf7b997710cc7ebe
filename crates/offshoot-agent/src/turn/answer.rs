//! The states in which an answer streams and is written, and the consequences of its end.

use std::sync::Arc;

use offshoot_session::clock::Millis;

use super::effect::{Effect, Job, Record, Settled};
use super::state::{AfterJob, Partial, Phase, Recording, TurnState};
use super::transition::{cancel, end_run, next_turn, settle, side_job, turn_end};
use super::work;
use crate::error::AgentError;
use crate::event::{Event, Reason, Update};
use crate::message::{AssistantMessage, Block, Message, StopReason};
use crate::provider::{Answer, Delta, Failure};

pub(super) fn streamed(state: &mut TurnState, mut partial: Partial, delta: Delta, out: &mut Vec<Effect>) {
    if let Delta::Done(answer) = delta {
        let Answer { message, failure } = *answer;
        return record(state, &partial, message, failure, out);
    }
    partial.take(&delta);
    out.extend(update(&partial, delta).map(Effect::Emit));
    state.phase = Phase::Streaming(partial);
}

/// The user stops a streaming answer: the part received so far is kept.
pub(super) fn stopped(state: &mut TurnState, partial: &Partial, at: Millis, out: &mut Vec<Effect>) {
    cancel(state, out);
    record(state, partial, partial.aborted(at), None, out);
}

/// Writes an answer; the next step waits until it is durable.
fn record(
    state: &mut TurnState,
    partial: &Partial,
    message: AssistantMessage,
    failure: Option<Failure>,
    out: &mut Vec<Effect>,
) {
    let message = Arc::new(message);
    let whole = Message::Assistant(message.clone());
    if !partial.is_started {
        out.push(Effect::Emit(Event::MessageStart { message: whole.clone() }));
    }
    let then = vec![Event::MessageEnd { message: whole.clone() }];
    out.push(Effect::Append { records: vec![Record::Message(whole)], then, ticket: Some(state.ticket) });
    state.phase = Phase::Recording(Recording { message, failure, aborted: None });
}

pub(super) fn recorded(state: &mut TurnState, answer: Recording, out: &mut Vec<Effect>) {
    let Recording { message, failure, aborted } = answer;
    state.messages.push(Message::Assistant(message.clone()));
    if message.stop_reason == StopReason::Error {
        return failed(state, message, failure, aborted.is_some(), out);
    }
    if let Some(attempt) = Some(std::mem::take(&mut state.attempt)).filter(|attempt| *attempt > 0) {
        let success = message.stop_reason.is_complete();
        out.push(Effect::Emit(Event::AutoRetryEnd { success, attempt, final_error: None }));
    }
    if message.stop_reason == StopReason::Aborted {
        turn_end(message, Vec::new(), out);
        end_run(state, false, out);
        return settle(state, Settled::Aborted, out);
    }
    state.squeezed = false;
    let calls = work::calls(&message);
    match aborted {
        Some(at) if !calls.is_empty() => work::all_stopped(state, message, at, out),
        Some(_) => {
            turn_end(message, Vec::new(), out);
            end_run(state, false, out);
            settle(state, Settled::Aborted, out);
        }
        None if !calls.is_empty() => work::begin(state, message, calls, out),
        None => answered(state, message, failure.is_some_and(|failure| failure.is_overflow), out),
    }
}

/// The answer is complete, without tool calls.
fn answered(state: &mut TurnState, message: Arc<AssistantMessage>, is_overflow: bool, out: &mut Vec<Effect>) {
    let tokens = work::tokens(&message);
    let is_cut_off = message.stop_reason == StopReason::Length;
    let is_overflow = is_overflow && tokens > state.config.keep_recent;
    turn_end(message, Vec::new(), out);
    if next_turn(state, false, out) {
        return;
    }
    end_run(state, false, out);
    if is_overflow && is_cut_off && state.config.recover_overflow {
        if state.recovered {
            let why = "the answer was cut short again after room had been made once";
            gave_up(why, out);
            return settle(state, Settled::Done, out);
        }
        return make_room(state, None, out);
    }
    finish(state, tokens, is_overflow, out);
}

/// There was no room for the answer: it is omitted, the context compacted and the request sent again.
fn make_room(state: &mut TurnState, said: Option<String>, out: &mut Vec<Effect>) {
    state.recovered = true;
    out.push(Effect::OmitAnswer);
    let job = Job::Compaction { reason: Reason::Overflow, instructions: None };
    side_job(state, job, AfterJob::Again(said), out);
}

/// A compaction for this input was not enough.
fn gave_up(why: &str, out: &mut Vec<Effect>) {
    out.push(Effect::Emit(Event::CompactionEnd {
        reason: Reason::Overflow,
        result: None,
        aborted: false,
        will_retry: false,
        error_message: Some(why.to_owned()),
    }));
}

/// Ends the run. A full context is compacted now, not when the user waits for the next answer.
fn finish(state: &mut TurnState, tokens: u64, is_overflow: bool, out: &mut Vec<Effect>) {
    let is_full = state.config.compact_above.is_some_and(|limit| tokens > limit);
    if is_full || (is_overflow && state.config.recover_overflow) {
        let reason = if is_overflow { Reason::Overflow } else { Reason::Threshold };
        return side_job(state, Job::Compaction { reason, instructions: None }, AfterJob::Settle, out);
    }
    settle(state, Settled::Done, out);
}

/// A failed answer: retry, compact or give up.
fn failed(
    state: &mut TurnState,
    message: Arc<AssistantMessage>,
    failure: Option<Failure>,
    is_aborted: bool,
    out: &mut Vec<Effect>,
) {
    let said = message.error_message.clone().unwrap_or_else(|| "the model gave no answer".to_owned());
    turn_end(message, Vec::new(), out);
    let failure = failure.filter(|_| !is_aborted);
    let is_overflow = failure.as_ref().is_some_and(|failure| failure.is_overflow);
    if let Some(delay_ms) = failure.and_then(|failure| state.config.retry.wait(state.attempt, &failure)) {
        return retry(state, said, delay_ms, out);
    }
    end_run(state, false, out);
    if state.attempt > 0 {
        let attempt = std::mem::take(&mut state.attempt);
        let final_error = Some(said.clone());
        out.push(Effect::Emit(Event::AutoRetryEnd { success: false, attempt, final_error }));
    }
    if is_overflow && state.config.recover_overflow {
        if !state.recovered {
            return make_room(state, Some(said), out);
        }
        gave_up(
            "the context is still too long after it was compacted once: shorten it, or take a model with more room",
            out,
        );
    }
    settle(state, if is_aborted { Settled::Aborted } else { Settled::Failed(AgentError::Failed(said)) }, out);
}

fn retry(state: &mut TurnState, error_message: String, delay_ms: u64, out: &mut Vec<Effect>) {
    let rules = state.config.retry;
    state.attempt += 1;
    end_run(state, true, out);
    let (attempt, max_attempts) = (state.attempt, rules.max_retries);
    out.push(Effect::Emit(Event::AutoRetryStart { attempt, max_attempts, delay_ms, error_message }));
    out.push(Effect::OmitAnswer);
    out.push(Effect::Wait { ticket: state.ticket, ms: delay_ms });
    state.phase = Phase::Waiting;
}

fn update(partial: &Partial, delta: Delta) -> Option<Event> {
    let content = |index: usize| match partial.block(index) {
        Some(Block::Text { text, .. }) => text.clone(),
        Some(Block::Thinking { thinking, .. }) => thinking.clone(),
        Some(Block::Image { .. } | Block::ToolCall { .. }) | None => String::new(),
    };
    let update = match delta {
        Delta::Start => {
            return Some(Event::MessageStart { message: partial.message.clone().into() });
        }
        Delta::TextStart { index } => Update::TextStart { content_index: index },
        Delta::Text { index, delta } => Update::TextDelta { content_index: index, delta },
        Delta::TextEnd { index } => Update::TextEnd { content_index: index, content: content(index) },
        Delta::ThinkingStart { index } => Update::ThinkingStart { content_index: index },
        Delta::Thinking { index, delta } => Update::ThinkingDelta { content_index: index, delta },
        Delta::ThinkingEnd { index } => Update::ThinkingEnd { content_index: index, content: content(index) },
        Delta::ToolCallStart { index, id, name } => Update::ToolCallStart { content_index: index, id, tool_name: name },
        Delta::ToolCall { index, delta } => Update::ToolCallDelta { content_index: index, delta },
        Delta::ToolCallEnd { index } => {
            Update::ToolCallEnd { content_index: index, tool_call: partial.block(index)?.clone() }
        }
        // The next update has it.
        Delta::Usage(_) | Delta::Done(_) => return None,
    };
    Some(Event::MessageUpdate { usage: partial.message.usage, assistant_message_event: update })
}
