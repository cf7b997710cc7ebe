//! The states in which an answer streams and is written, and the consequences of its end.

use std::sync::Arc;

use offshoot_protocol::message::{AssistantMessage, Block, Message, StopReason};
use offshoot_protocol::{Event, NoticeCode, Update};
use offshoot_session::clock::Millis;

use super::effect::{Effect, Record, RuleInjection, RuleNote};
use super::ending::close_turn;
use super::state::{AfterTurn, Partial, Phase, Recording, TurnState};
use super::transition::cancel;
use super::work;
use crate::provider::{Answer, Delta, Failure};
use crate::recorded_calls;

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

/// Rules stop a streaming answer: the part received so far is kept, which the model does not see again, and the rules follow.
pub(super) fn ruled(
    state: &mut TurnState,
    partial: &Partial,
    injection: RuleInjection,
    at: Millis,
    out: &mut Vec<Effect>,
) {
    cancel(state, out);
    let kind = if injection.rules.len() == 1 { "rule" } else { "rules" };
    let why = format!("TTSR matched {kind}: {}", injection.rules.join(", "));
    record(state, partial, partial.ruled(why, at), None, out);
    if let Phase::Recording(answer) = &mut state.phase {
        answer.ruled = Some(injection);
    }
}

/// The stream broke off: what came is kept, and the request may be sent again.
pub(super) fn broke(state: &mut TurnState, partial: &Partial, why: String, at: Millis, out: &mut Vec<Effect>) {
    let failure = Failure {
        status: None,
        is_transient: true,
        is_overflow: false,
        is_about_pictures: false,
        retry_after: None,
        way_round: None,
    };
    record(state, partial, partial.broken(why, at), Some(failure), out);
}

/// Writes an answer; the next step waits until it is durable.
fn record(
    state: &mut TurnState,
    partial: &Partial,
    mut message: AssistantMessage,
    failure: Option<Failure>,
    out: &mut Vec<Effect>,
) {
    recorded_calls::settle(&mut message);
    let message = Arc::new(message);
    let whole = Message::Assistant(message.clone());
    if !partial.is_started {
        out.push(Effect::Emit(Event::MessageStart { message: whole.clone() }));
    }
    let then = vec![Event::MessageEnd { message: whole.clone() }];
    let records = vec![Record::Message(whole)];
    out.push(Effect::Append { run: state.run, records, then, ticket: Some(state.ticket) });
    state.phase =
        Phase::Recording(Recording { message, failure, aborted: None, ruled: None, notes: partial.notes.clone() });
}

pub(super) fn recorded(state: &mut TurnState, answer: Recording, out: &mut Vec<Effect>) {
    let Recording { message, failure, aborted, ruled, notes } = answer;
    state.messages.push(Message::Assistant(message.clone()));
    if message.stop_reason == StopReason::Error {
        return failed(state, message, failure, aborted.is_some(), out);
    }
    if let Some(attempt) = Some(std::mem::take(&mut state.attempt)).filter(|attempt| *attempt > 0) {
        let success = message.stop_reason.is_complete();
        out.push(Effect::Emit(Event::AutoRetryEnd { success, attempt, final_error: None }));
    }
    if message.stop_reason == StopReason::Aborted {
        let after = ruled.filter(|_| aborted.is_none()).map_or(AfterTurn::Aborted, AfterTurn::Ruled);
        return close_turn(state, (message, Vec::new()), after, out);
    }
    state.squeezed = false;
    let (of_calls, after): (Vec<_>, Vec<_>) = notes.into_iter().partition(|note| matches!(note, RuleNote::Call { .. }));
    state.rules.extend(after.into_iter().filter_map(RuleNote::after));
    let calls = work::calls(&message);
    match aborted {
        Some(at) if !calls.is_empty() => work::all_stopped(state, message, at, out),
        Some(_) => close_turn(state, (message, Vec::new()), AfterTurn::Aborted, out),
        None if !calls.is_empty() => work::begin(state, (message, of_calls), calls, out),
        None => answered(state, message, failure.is_some_and(|failure| failure.is_overflow), out),
    }
}

/// The answer is complete, without tool calls.
fn answered(state: &mut TurnState, message: Arc<AssistantMessage>, is_overflow: bool, out: &mut Vec<Effect>) {
    let tokens = work::tokens(&message);
    let is_cut_off = message.stop_reason == StopReason::Length;
    let is_overflow = is_overflow && tokens > state.config.keep_recent;
    if let Some(message) = says_nothing(&message).filter(|_| !is_overflow) {
        out.push(Effect::Emit(Event::Notice {
            code: NoticeCode::EmptyAnswer,
            message: message.to_owned(),
            entry_id: None,
        }));
    }
    close_turn(state, (message, Vec::new()), AfterTurn::Answered { tokens, is_cut_off, is_overflow }, out);
}

/// What people are told of an answer that ends a run without a word.
fn says_nothing(message: &AssistantMessage) -> Option<&'static str> {
    let (mut has_words, mut has_thought) = (false, false);
    for block in &message.content {
        match block {
            Block::Text { text, .. } => has_words |= !text.trim().is_empty(),
            Block::Thinking { .. } => has_thought = true,
            Block::Image { .. } | Block::ToolCall { .. } => has_words = true,
        }
    }
    match (has_words, has_thought) {
        (true, _) => None,
        (false, true) => Some("the model only thought, and gave no answer: a further prompt may get one"),
        (false, false) => Some("the model gave an empty answer: a further prompt may get one"),
    }
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
    let at = message.timestamp;
    close_turn(state, (message, Vec::new()), AfterTurn::Failed { said, failure, is_aborted, at }, out);
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
        Delta::LostEvent { what } => {
            let message = format!("a part of the answer was lost: {what}");
            return Some(Event::Notice { code: NoticeCode::LostEvent, message, entry_id: None });
        }
        // The next update has it.
        Delta::Usage(_) | Delta::Done(_) => return None,
    };
    Some(Event::MessageUpdate { usage: partial.message.usage, assistant_message_event: update })
}
