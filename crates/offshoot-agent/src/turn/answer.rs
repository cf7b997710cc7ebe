//! The states in which an answer comes in and is written, and what follows from how it ended.

use super::effect::{Effect, Input, Job, Record, Settled};
use super::state::{Partial, Phase, Recording, State, Then};
use super::step::{cancel, end_run, next_turn, settle, side_job};
use super::work;
use crate::error::AgentError;
use crate::event::{Event, Reason, Update};
use crate::message::{AssistantMessage, Block, Message, StopReason};
use crate::provider::{Answer, Delta, Failure};

pub(super) fn streaming(state: &mut State, mut partial: Partial, input: Input, out: &mut Vec<Effect>) {
    match input {
        Input::Delta { delta: Delta::Done(answer), .. } => {
            let Answer { message, failure } = *answer;
            record(state, &partial, message, failure, out);
        }
        Input::Delta { delta, .. } => {
            partial.take(&delta);
            out.extend(told(&partial, delta).map(Effect::Emit));
            state.phase = Phase::Streaming(partial);
        }
        Input::Abort { at } => {
            cancel(state, out);
            let started = partial.clone();
            record(state, &started, partial.aborted(at), None, out);
        }
        _ => state.phase = Phase::Streaming(partial),
    }
}

/// Writes an answer. What follows from it waits until it is durable.
fn record(
    state: &mut State,
    partial: &Partial,
    message: AssistantMessage,
    failure: Option<Failure>,
    out: &mut Vec<Effect>,
) {
    let whole = Message::Assistant(message.clone());
    if !partial.is_started {
        out.push(Effect::Emit(Event::MessageStart { message: whole.clone() }));
    }
    let then = vec![Event::MessageEnd { message: whole.clone() }];
    out.push(Effect::Append { records: vec![Record::Message(Box::new(whole))], then, ticket: Some(state.ticket) });
    state.phase = Phase::Recording(Recording { message, failure, aborted: None });
}

pub(super) fn recording(state: &mut State, mut answer: Recording, input: &Input, out: &mut Vec<Effect>) {
    match input {
        Input::Recorded { .. } => answered(state, answer, out),
        Input::Abort { at } => {
            answer.aborted = Some(*at);
            state.phase = Phase::Recording(answer);
        }
        _ => state.phase = Phase::Recording(answer),
    }
}

/// The answer is in the file.
fn answered(state: &mut State, answer: Recording, out: &mut Vec<Effect>) {
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
        None => said(state, message, failure.is_some_and(|failure| failure.is_overflow), out),
    }
}

/// The model has said something and calls nothing.
fn said(state: &mut State, message: AssistantMessage, is_overflow: bool, out: &mut Vec<Effect>) {
    let tokens = work::tokens(&message);
    let is_cut_off = message.stop_reason == StopReason::Length;
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

/// Tells that a turn is over.
pub(super) fn turn_end(
    message: AssistantMessage,
    tool_results: Vec<crate::message::ToolResultMessage>,
    out: &mut Vec<Effect>,
) {
    out.push(Effect::Emit(Event::TurnEnd { message: Message::Assistant(message), tool_results }));
}

/// There was no room for the answer: it is left out, room is made, and the model asked once more.
fn make_room(state: &mut State, said: Option<String>, out: &mut Vec<Effect>) {
    state.recovered = true;
    out.push(Effect::OmitAnswer);
    let job = Job::Compaction { reason: Reason::Overflow, instructions: None };
    side_job(state, job, Then::Again(said), out);
}

/// Room was made once for this input, and that was not enough.
fn gave_up(why: &str, out: &mut Vec<Effect>) {
    out.push(Effect::Emit(Event::CompactionEnd {
        reason: Reason::Overflow,
        result: None,
        aborted: false,
        will_retry: false,
        error_message: Some(why.to_owned()),
    }));
}

/// The run is over; a full context is compacted now rather than when the user waits.
fn finish(state: &mut State, tokens: u64, is_overflow: bool, out: &mut Vec<Effect>) {
    let is_full = state.config.compact_above.is_some_and(|limit| tokens > limit);
    if is_full || (is_overflow && state.config.recover_overflow) {
        let reason = if is_overflow { Reason::Overflow } else { Reason::Threshold };
        return side_job(state, Job::Compaction { reason, instructions: None }, Then::Settle, out);
    }
    settle(state, Settled::Done, out);
}

/// The answer is a failure: try again, make room, or give up.
fn failed(
    state: &mut State,
    message: AssistantMessage,
    failure: Option<Failure>,
    is_aborted: bool,
    out: &mut Vec<Effect>,
) {
    let said = message.error_message.clone().unwrap_or_else(|| "the model gave no answer".to_owned());
    turn_end(message, Vec::new(), out);
    let failure = failure.filter(|_| !is_aborted);
    let is_overflow = failure.as_ref().is_some_and(|failure| failure.is_overflow);
    if let Some(failure) = failure
        && failure.is_transient
        && !failure.is_overflow
        && state.config.retry.enabled
        && state.attempt < state.config.retry.max_retries
    {
        return retry(state, said, failure.retry_after, out);
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

fn retry(state: &mut State, error_message: String, asked: Option<u64>, out: &mut Vec<Effect>) {
    let rules = state.config.retry;
    let delay_ms = rules.delay(state.attempt, asked);
    state.attempt += 1;
    end_run(state, true, out);
    let (attempt, max_attempts) = (state.attempt, rules.max_retries);
    out.push(Effect::Emit(Event::AutoRetryStart { attempt, max_attempts, delay_ms, error_message }));
    out.push(Effect::OmitAnswer);
    out.push(Effect::Wait { ticket: state.ticket, ms: delay_ms });
    state.phase = Phase::Waiting;
}

/// What front ends are told of a delta.
fn told(partial: &Partial, delta: Delta) -> Option<Event> {
    let content = |index: usize| match partial.block(index) {
        Some(Block::Text { text, .. }) => text.clone(),
        Some(Block::Thinking { thinking, .. }) => thinking.clone(),
        _ => String::new(),
    };
    let update = match delta {
        Delta::Start => {
            return Some(Event::MessageStart { message: Message::Assistant(partial.message.clone()) });
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
        Delta::Done(_) => return None,
    };
    Some(Event::MessageUpdate { usage: partial.message.usage, assistant_message_event: update })
}
