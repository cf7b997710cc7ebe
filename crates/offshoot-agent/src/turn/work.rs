//! The state of running tools. Their results are written in the order of the calls, whichever ends first.

use std::sync::Arc;

use offshoot_protocol::Event;
use offshoot_protocol::message::{AssistantMessage, Block, Message, StopReason, ToolResultMessage};
use offshoot_session::clock::Millis;

use super::effect::{Call, Effect, OpenAnswer, Record, RuleNote};
use super::ending::close_turn;
use super::state::{AfterTurn, EndsRun, Phase, Slot, Status, TurnState, Work};
use super::transition::{cancel, flush_waiting, started_and_ended};
use crate::tool::ToolOutcome;

/// For the model: its arguments did not arrive as it meant them.
const UNREADABLE: &str =
    "Not run: the arguments are not one whole JSON object. Call the tool again with all of its arguments.";

pub(super) fn calls(message: &AssistantMessage) -> Vec<Call> {
    let call = |block: &Block| match block {
        Block::ToolCall { id, name, arguments, .. } => {
            Some(Call { id: id.clone(), name: name.clone(), arguments: arguments.clone() })
        }
        Block::Text { .. } | Block::Thinking { .. } | Block::Image { .. } => None,
    };
    message.content.iter().filter_map(call).collect()
}

/// The context's tokens with an answer, as reported by the provider.
pub(super) fn tokens(message: &AssistantMessage) -> u64 {
    let usage = &message.usage;
    match usage.total_tokens {
        0 => usage.input + usage.output + usage.cache_read + usage.cache_write,
        total => total,
    }
}

fn result(call: &Call, outcome: ToolOutcome, timestamp: Millis) -> Arc<ToolResultMessage> {
    Arc::new(ToolResultMessage {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content: outcome.content,
        details: outcome.details,
        nested_calls: outcome.nested_calls.map(|calls| *calls),
        is_error: outcome.is_error,
        timestamp,
    })
}

pub(super) fn begin(
    state: &mut TurnState,
    (answer, notes): (Arc<AssistantMessage>, Vec<RuleNote>),
    calls: Vec<Call>,
    out: &mut Vec<Effect>,
) {
    let is_cut_off = answer.stop_reason == StopReason::Length;
    let at = answer.timestamp;
    let slots = calls.into_iter().map(|call| Slot { call, status: Status::Waiting }).collect();
    let mut work = Work { answer, slots, appended: 0, notes };
    let errors = argument_errors(&work.answer);
    for (index, error) in errors.into_iter().enumerate() {
        let why = match (error, is_cut_off) {
            // Cut-off arguments may still be valid JSON; running them would do half of what was meant.
            (_, true) => {
                "Not run: the answer reached its limit, so these arguments may be cut off. Call the tool again."
                    .to_owned()
            }
            (Some(error), false) => format!("{UNREADABLE}\n{error}"),
            (None, false) => continue,
        };
        started(&work, index, out);
        work.finish(index, ToolOutcome::failed(why), at, out);
    }
    proceed(state, work, out);
}

/// Completes an answer that was begun by a program that has ended. What is said follows its results.
pub(super) fn resume(
    state: &mut TurnState,
    OpenAnswer { answer, calls }: OpenAnswer,
    said: impl Iterator<Item = Message>,
    out: &mut Vec<Effect>,
) {
    state.run += 1;
    (state.attempt, state.waited_ms) = (0, 0);
    state.messages.clear();
    state.rules.clear();
    state.steering.extend(said);
    flush_waiting(state, out);
    out.push(Effect::Emit(Event::AgentStart));
    out.push(Effect::Emit(Event::TurnStart));
    let at = answer.timestamp;
    let (calls, outcomes): (Vec<Call>, Vec<Option<ToolOutcome>>) = calls.into_iter().unzip();
    let slots = calls.into_iter().map(|call| Slot { call, status: Status::Waiting }).collect();
    let mut work = Work { answer, slots, appended: 0, notes: Vec::new() };
    for (index, outcome) in outcomes.into_iter().enumerate() {
        if let Some(outcome) = outcome {
            started(&work, index, out);
            work.finish(index, outcome, at, out);
        }
    }
    proceed(state, work, out);
}

/// For each call of an answer what is wrong with its arguments.
fn argument_errors(answer: &AssistantMessage) -> Vec<Option<String>> {
    let error = |block: &Block| match block {
        Block::ToolCall { arguments_error, .. } => Some(arguments_error.clone()),
        Block::Text { .. } | Block::Thinking { .. } | Block::Image { .. } => None,
    };
    answer.content.iter().filter_map(error).collect()
}

pub(super) fn shown(state: &mut TurnState, work: Work, call: usize, outcome: ToolOutcome, out: &mut Vec<Effect>) {
    if let Some(slot) = work.slots.get(call).filter(|slot| slot.status == Status::Running) {
        let Call { id, name, arguments } = slot.call.clone();
        let partial_result = result(&slot.call, outcome, 0);
        let update = Event::ToolExecutionUpdate { tool_call_id: id, tool_name: name, args: arguments, partial_result };
        out.push(Effect::Emit(update));
    }
    state.phase = Phase::Working(work);
}

/// Stops the running tools; the turn ends when each has returned.
pub(super) fn stop(state: &mut TurnState, work: Work, at: Millis, out: &mut Vec<Effect>) {
    out.push(Effect::StopTools);
    state.phase = Phase::Stopping { work, at };
}

pub(super) fn stopped(state: &mut TurnState, work: Work, at: Millis, out: &mut Vec<Effect>) {
    if work.slots.iter().any(|slot| slot.status == Status::Running) {
        state.phase = Phase::Stopping { work, at };
        return;
    }
    cancel(state, out);
    stop_rest(state, work, at, out);
}

/// Gives every call of an answer a result that says that the user stopped it.
pub(super) fn all_stopped(state: &mut TurnState, answer: Arc<AssistantMessage>, at: Millis, out: &mut Vec<Effect>) {
    let slots = calls(&answer).into_iter().map(|call| Slot { call, status: Status::Waiting }).collect();
    stop_rest(state, Work { answer, slots, appended: 0, notes: Vec::new() }, at, out);
}

/// Gives calls that have not ended a result that says that the user stopped them.
fn stop_rest(state: &mut TurnState, mut work: Work, at: Millis, out: &mut Vec<Effect>) {
    for index in 0..work.slots.len() {
        let Some(slot) = work.slots.get_mut(index) else { continue };
        if !matches!(slot.status, Status::Ended(..)) {
            slot.status = Status::Ended(result(&slot.call, ToolOutcome::stopped(None), at), EndsRun::No);
        }
    }
    append_ended(state, &mut work, out);
    let results = Vec::from_iter(work.slots.into_iter().filter_map(into_result));
    close_turn(state, (work.answer, results), AfterTurn::Aborted, out);
}

/// Writes results, starts tools that may run, or ends the turn.
pub(super) fn proceed(state: &mut TurnState, mut work: Work, out: &mut Vec<Effect>) {
    append_ended(state, &mut work, out);
    if work.appended == work.slots.len() {
        let ends_run = work.slots.iter().all(|slot| matches!(slot.status, Status::Ended(_, EndsRun::Yes)));
        let results = Vec::from_iter(work.slots.into_iter().filter_map(into_result));
        return close_turn(state, (work.answer, results), AfterTurn::Worked { ends_run }, out);
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

/// The next call that may run beside the running ones. Changes of one file wait for each other in their tools.
fn startable(state: &TurnState, work: &Work) -> Option<usize> {
    let config = &state.config;
    let next = work.slots.iter().position(|slot| slot.status == Status::Waiting)?;
    let is_parallel =
        !config.one_tool_at_a_time && !work.slots.iter().any(|slot| config.sequential.contains(&slot.call.name));
    let is_running = || work.slots.iter().any(|slot| slot.status == Status::Running);
    (is_parallel || !is_running()).then_some(next)
}

fn started(work: &Work, index: usize, out: &mut Vec<Effect>) {
    let Some(Slot { call, .. }) = work.slots.get(index) else { return };
    let Call { id, name, arguments } = call.clone();
    out.push(Effect::Emit(Event::ToolExecutionStart { tool_call_id: id, tool_name: name, args: arguments }));
}

impl Work {
    pub(super) fn end(&mut self, index: usize, outcome: ToolOutcome, at: Millis, out: &mut Vec<Effect>) {
        if self.slots.get(index).is_some_and(|slot| slot.status == Status::Running) {
            self.finish(index, outcome, at, out);
        }
    }

    fn finish(&mut self, index: usize, mut outcome: ToolOutcome, at: Millis, out: &mut Vec<Effect>) {
        let Some(slot) = self.slots.get_mut(index) else { return };
        for (text, _) in notes_of(&self.notes, &slot.call.id).collect::<Vec<_>>().into_iter().rev() {
            outcome.content.insert(0, Block::text(text));
        }
        let ends_run = if outcome.ends_run { EndsRun::Yes } else { EndsRun::No };
        let message = result(&slot.call, outcome, at);
        out.push(Effect::Emit(end_event(&message)));
        slot.status = Status::Ended(message, ends_run);
    }
}

fn end_event(message: &Arc<ToolResultMessage>) -> Event {
    Event::ToolExecutionEnd {
        tool_call_id: message.tool_call_id.clone(),
        tool_name: message.tool_name.clone(),
        result: Arc::clone(message),
        is_error: message.is_error,
    }
}

/// Writes the results that are next in the order of the calls.
fn append_ended(state: &mut TurnState, work: &mut Work, out: &mut Vec<Effect>) {
    while let Some(Slot { status: Status::Ended(result, _), .. }) = work.slots.get(work.appended) {
        let message = Message::ToolResult(Arc::clone(result));
        work.appended += 1;
        state.messages.push(message.clone());
        let then = started_and_ended(&message).into();
        let rules = notes_of(&work.notes, &result.tool_call_id).map(|(_, rules)| Record::Rules(rules.to_vec()));
        let records = rules.chain([Record::Message(message)]).collect();
        out.push(Effect::Append { run: state.run, records, then, ticket: None });
    }
}

/// The words and the names of the rules that stand before the result of a call.
fn notes_of<'a>(notes: &'a [RuleNote], call: &str) -> impl Iterator<Item = (&'a str, &'a [String])> {
    notes.iter().filter_map(move |note| match note {
        RuleNote::Call { id, text, rules } if id == call => Some((text.as_str(), rules.as_slice())),
        RuleNote::Call { .. } | RuleNote::After(_) => None,
    })
}

fn into_result(slot: Slot) -> Option<Arc<ToolResultMessage>> {
    match slot.status {
        Status::Ended(result, _) => Some(result),
        Status::Waiting | Status::Running => None,
    }
}
