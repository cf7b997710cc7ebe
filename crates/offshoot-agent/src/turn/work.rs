//! The state in which tools run. Their results are written in the order of the calls, whichever ends first.

use offshoot_session::clock::Millis;

use super::answer::turn_end;
use super::effect::{Call, Effect, Input, Record, Settled};
use super::state::{Phase, Slot, State, Status, Work};
use super::step::{cancel, end_run, next_turn, settle, stopped};
use crate::event::{Event, Shown};
use crate::message::{AssistantMessage, Block, Message, StopReason, ToolResultMessage};
use crate::tool::Outcome;

/// The calls of an answer.
pub(super) fn calls(message: &AssistantMessage) -> Vec<Call> {
    let call = |block: &Block| match block {
        Block::ToolCall { id, name, arguments, .. } => {
            Some(Call { id: id.clone(), name: name.clone(), arguments: arguments.clone() })
        }
        Block::Text { .. } | Block::Thinking { .. } | Block::Image { .. } => None,
    };
    message.content.iter().filter_map(call).collect()
}

/// How many tokens the context had with an answer, as its provider said.
pub(super) fn tokens(message: &AssistantMessage) -> u64 {
    let usage = &message.usage;
    match usage.total_tokens {
        0 => usage.input + usage.output + usage.cache_read + usage.cache_write,
        total => total,
    }
}

/// The message that a tool's outcome becomes.
pub(super) fn result(call: &Call, outcome: Outcome, timestamp: Millis) -> ToolResultMessage {
    ToolResultMessage {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content: outcome.content,
        details: outcome.details,
        is_error: outcome.is_error,
        timestamp,
    }
}

/// Begins with the calls of an answer that is durable.
pub(super) fn begin(state: &mut State, answer: AssistantMessage, calls: Vec<Call>, out: &mut Vec<Effect>) {
    let is_cut_off = answer.stop_reason == StopReason::Length;
    let at = answer.timestamp;
    let slots = calls.into_iter().map(|call| Slot { call, status: Status::Waiting }).collect();
    let mut work = Work { answer, slots, appended: 0 };
    if is_cut_off {
        // Arguments that were cut off may still read as JSON; running them would do half of what was meant.
        for index in 0..work.slots.len() {
            started(&work, index, out);
            let what = "Not run: the answer reached its limit, so these arguments may be cut off. Call the tool again.";
            ended(&mut work, index, Outcome::failed(what), at, out);
        }
    }
    go_on(state, work, out);
}

pub(super) fn working(state: &mut State, mut work: Work, input: Input, out: &mut Vec<Effect>) {
    match input {
        Input::Partial { call, outcome, .. } => {
            if let Some(slot) = work.slots.get(call).filter(|slot| slot.status == Status::Running) {
                let Call { id, name, arguments } = slot.call.clone();
                out.push(Effect::Emit(Event::ToolExecutionUpdate {
                    tool_call_id: id,
                    tool_name: name,
                    args: arguments,
                    partial_result: Shown { content: outcome.content, details: outcome.details },
                }));
            }
            state.phase = Phase::Working(work);
        }
        Input::Ended { call, outcome, at, .. } => {
            if work.slots.get(call).is_some_and(|slot| slot.status == Status::Running) {
                ended(&mut work, call, outcome, at, out);
            }
            go_on(state, work, out);
        }
        Input::Abort { at } => {
            cancel(state, out);
            stop_rest(state, work, at, out);
        }
        _ => state.phase = Phase::Working(work),
    }
}

/// Every call of an answer gets a result that says that the user stopped it.
pub(super) fn all_stopped(state: &mut State, answer: AssistantMessage, at: Millis, out: &mut Vec<Effect>) {
    let slots = calls(&answer).into_iter().map(|call| Slot { call, status: Status::Waiting }).collect();
    stop_rest(state, Work { answer, slots, appended: 0 }, at, out);
}

fn stop_rest(state: &mut State, mut work: Work, at: Millis, out: &mut Vec<Effect>) {
    for index in 0..work.slots.len() {
        let Some(slot) = work.slots.get_mut(index) else { continue };
        let was_running = match slot.status {
            Status::Ended(_) => continue,
            Status::Running => true,
            Status::Waiting => false,
        };
        let message = stopped(at, &slot.call);
        if was_running {
            out.push(Effect::Emit(end_event(&message)));
        }
        slot.status = Status::Ended(message);
    }
    append_ended(state, &mut work, out);
    turn_end(work.answer, Vec::from_iter(work.slots.into_iter().filter_map(into_result)), out);
    end_run(state, false, out);
    settle(state, Settled::Aborted, out);
}

/// Writes what ended, starts what may start, or ends the turn.
fn go_on(state: &mut State, mut work: Work, out: &mut Vec<Effect>) {
    append_ended(state, &mut work, out);
    if work.appended == work.slots.len() {
        turn_end(work.answer, Vec::from_iter(work.slots.into_iter().filter_map(into_result)), out);
        next_turn(state, true, out);
        return;
    }
    while let Some(index) = startable(state, &work) {
        started(&work, index, out);
        if let Some(slot) = work.slots.get_mut(index) {
            slot.status = Status::Running;
            out.push(Effect::Run { ticket: state.ticket, index, call: slot.call.clone() });
        }
    }
    state.phase = Phase::Working(work);
}

/// The next call that may run beside those that do: tools that change things run alone, in the order of their calls.
fn startable(state: &State, work: &Work) -> Option<usize> {
    let is_shared = |slot: &Slot| state.config.shared.contains(&slot.call.name);
    let next = work.slots.iter().position(|slot| slot.status == Status::Waiting)?;
    let mut running = work.slots.iter().filter(|slot| slot.status == Status::Running).peekable();
    let may = running.peek().is_none() || (work.slots.get(next).is_some_and(is_shared) && running.all(is_shared));
    may.then_some(next)
}

fn started(work: &Work, index: usize, out: &mut Vec<Effect>) {
    let Some(Slot { call, .. }) = work.slots.get(index) else { return };
    let Call { id, name, arguments } = call.clone();
    out.push(Effect::Emit(Event::ToolExecutionStart { tool_call_id: id, tool_name: name, args: arguments }));
}

fn ended(work: &mut Work, index: usize, outcome: Outcome, at: Millis, out: &mut Vec<Effect>) {
    let Some(slot) = work.slots.get_mut(index) else { return };
    let message = result(&slot.call, outcome, at);
    out.push(Effect::Emit(end_event(&message)));
    slot.status = Status::Ended(message);
}

fn end_event(message: &ToolResultMessage) -> Event {
    Event::ToolExecutionEnd {
        tool_call_id: message.tool_call_id.clone(),
        tool_name: message.tool_name.clone(),
        result: Shown { content: message.content.clone(), details: message.details.clone() },
        is_error: message.is_error,
    }
}

/// Writes the results that are next in the order of the calls.
fn append_ended(state: &mut State, work: &mut Work, out: &mut Vec<Effect>) {
    while let Some(Slot { status: Status::Ended(result), .. }) = work.slots.get(work.appended) {
        let message = Message::ToolResult(result.clone());
        work.appended += 1;
        state.messages.push(message.clone());
        let then =
            vec![Event::MessageStart { message: message.clone() }, Event::MessageEnd { message: message.clone() }];
        out.push(Effect::Append { records: vec![Record::Message(Box::new(message))], then, ticket: None });
    }
}

fn into_result(slot: Slot) -> Option<ToolResultMessage> {
    match slot.status {
        Status::Ended(result) => Some(result),
        Status::Waiting | Status::Running => None,
    }
}
