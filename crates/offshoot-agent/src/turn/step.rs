//! The transitions: which input has an effect in which phase.

use offshoot_protocol::message::{AssistantMessage, Message};
use offshoot_protocol::{AgentError, Event, Reason, Settled};
use offshoot_session::clock::Millis;

use super::effect::{Effect, Job, Record, RunNumber, TurnInput};
use super::ending::after_turn;
use super::room::Measure;
use super::state::{AfterJob, AfterTurn, Partial, Phase, TurnState};
use super::transition::{
    again, begin, cancel, end_run, flush_waiting, may_settle, queue_update, request, settle, side_job,
    started_and_ended,
};
use super::{answer, jobs, work};

/// Applies an input; returns the effects.
pub fn step(state: &mut TurnState, input: TurnInput) -> Vec<Effect> {
    let mut out = Vec::new();
    if let Some(input) = anywhere(state, input, &mut out) {
        in_phase(state, input, &mut out);
    }
    out
}

/// Inputs with the same meaning in every phase; drops replies to effects from before a stop.
fn anywhere(state: &mut TurnState, input: TurnInput, out: &mut Vec<Effect>) -> Option<TurnInput> {
    let is_idle = state.is_idle();
    match input {
        TurnInput::Steer(message) if !is_idle => {
            state.steering.push_back(message);
            out.push(queue_update(state));
        }
        TurnInput::FollowUp(message) if !is_idle => {
            state.follow_up.push_back(message);
            out.push(queue_update(state));
        }
        // A prompt during a run is queued, so that it is not lost.
        TurnInput::Prompt(messages) if !is_idle => {
            state.follow_up.extend(messages);
            out.push(queue_update(state));
        }
        TurnInput::Add(message) if is_idle => {
            state.run += 1;
            let then = started_and_ended(&message).into();
            let records = vec![Record::Message(message)];
            out.push(Effect::Append { run: state.run, records, then, ticket: None });
        }
        TurnInput::Add(message) => state.steering.push_back(message),
        TurnInput::ClearQueue => {
            state.steering.clear();
            state.follow_up.clear();
            out.push(queue_update(state));
        }
        TurnInput::Ran(message) => {
            state.waiting.push(Record::Bash(message));
            // Nothing may be between a call and its result.
            if is_idle {
                state.run += 1;
            }
            if is_idle || matches!(state.phase, Phase::Waiting) {
                flush_waiting(state, out);
            }
        }
        TurnInput::WriteFailed { run, error, records } => write_failed(state, run, (error, records), out),
        input => return Some(input).filter(|input| ticket_of(input).is_none_or(|ticket| ticket == state.ticket)),
    }
    None
}

fn ticket_of(input: &TurnInput) -> Option<u64> {
    match input {
        TurnInput::Admitted { ticket, .. }
        | TurnInput::NotAdmitted { ticket, .. }
        | TurnInput::Measured { ticket, .. }
        | TurnInput::Built { ticket, .. }
        | TurnInput::BuildFailed { ticket, .. }
        | TurnInput::Delta { ticket, .. }
        | TurnInput::RuleFits { ticket, .. }
        | TurnInput::RuleNoted { ticket, .. }
        | TurnInput::StreamBroke { ticket, .. }
        | TurnInput::Recorded { ticket }
        | TurnInput::Partial { ticket, .. }
        | TurnInput::Ended { ticket, .. }
        | TurnInput::Elapsed { ticket }
        | TurnInput::Planned { ticket }
        | TurnInput::Trying { ticket, .. }
        | TurnInput::Drafted { ticket, .. }
        | TurnInput::Committed { ticket, .. }
        | TurnInput::TurnClosed { ticket, .. }
        | TurnInput::MaySettle { ticket, .. } => Some(*ticket),
        TurnInput::Prompt(_)
        | TurnInput::Continue
        | TurnInput::Steer(_)
        | TurnInput::FollowUp(_)
        | TurnInput::Add(_)
        | TurnInput::ClearQueue
        | TurnInput::Do(_)
        | TurnInput::Abort { .. }
        | TurnInput::Ran(_)
        | TurnInput::WriteFailed { .. } => None,
    }
}

fn in_phase(state: &mut TurnState, input: TurnInput, out: &mut Vec<Effect>) {
    match (std::mem::take(&mut state.phase), input) {
        (Phase::Idle, TurnInput::Prompt(messages)) => admit(state, messages, out),
        (Phase::Idle, TurnInput::Steer(message) | TurnInput::FollowUp(message)) => begin(state, vec![message], out),
        (Phase::Idle, TurnInput::Do(job)) => {
            state.ticket += 1;
            state.run += 1;
            side_job(state, job, AfterJob::Settle, out);
        }
        (Phase::Idle, TurnInput::Continue) => admit(state, Vec::new(), out),
        (Phase::Admitting(messages), TurnInput::Admitted { added, open: Some(open), .. }) => {
            work::resume(state, *open, messages.into_iter().chain(added), out);
        }
        (Phase::Admitting(messages), TurnInput::Admitted { added, open: None, .. }) => {
            state.opening.clone_from(&messages);
            begin(state, messages.into_iter().chain(added).collect(), out);
        }
        (Phase::Admitting(messages), TurnInput::NotAdmitted { error, .. }) => refuse(state, error, messages, out),
        (Phase::Building, TurnInput::Measured { tokens, .. }) => measured(state, tokens, out),
        (Phase::Building, TurnInput::Built { tokens, blank, .. }) => built(state, tokens, *blank, out),
        (Phase::Building, TurnInput::BuildFailed { error, .. }) => build_failed(state, error, out),
        (Phase::Streaming(partial), TurnInput::Delta { delta, .. }) => answer::streamed(state, partial, delta, out),
        (Phase::Streaming(partial), TurnInput::StreamBroke { why, at, .. }) => {
            answer::broke(state, &partial, why, at, out);
        }
        (Phase::Streaming(partial), TurnInput::RuleFits { injection, at, .. }) => {
            answer::ruled(state, &partial, *injection, at, out);
        }
        (Phase::Streaming(mut partial), TurnInput::RuleNoted { note, .. }) => {
            partial.notes.push(*note);
            state.phase = Phase::Streaming(partial);
        }
        (Phase::Recording(answer), TurnInput::Recorded { .. }) => answer::recorded(state, answer, out),
        (Phase::Working(work), TurnInput::Partial { call, outcome, .. }) => {
            work::shown(state, work, call, outcome, out);
        }
        (Phase::Working(mut work), TurnInput::Ended { call, outcome, at, .. }) => {
            work.end(call, outcome, at, out);
            work::proceed(state, work, out);
        }
        (Phase::Stopping { mut work, at: stopped }, TurnInput::Ended { call, outcome, at, .. }) => {
            work.end(call, outcome, at, out);
            work::stopped(state, work, stopped, out);
        }
        (Phase::Closing(next), TurnInput::TurnClosed { continues, .. }) => after_turn(state, next, continues, out),
        (Phase::Settling(how), TurnInput::MaySettle { continues, .. }) => may_settle(state, how, continues, out),
        (Phase::Waiting, TurnInput::Elapsed { .. }) => again(state, out),
        (Phase::Drafting(side), TurnInput::Planned { .. }) => jobs::planned(state, side, out),
        (Phase::Drafting(side), TurnInput::Trying { trying, .. }) => jobs::trying(state, side, trying, out),
        (Phase::Drafting(side), TurnInput::Drafted { draft, .. }) => jobs::drafted(state, side, draft, out),
        (Phase::Committing(commit), TurnInput::Committed { result, .. }) => jobs::committed(state, commit, result, out),
        (phase, TurnInput::Abort { at }) => abort(state, phase, at, out),
        // The other inputs have no meaning in this phase.
        (
            phase,
            TurnInput::Prompt(_)
            | TurnInput::Continue
            | TurnInput::Steer(_)
            | TurnInput::FollowUp(_)
            | TurnInput::Add(_)
            | TurnInput::ClearQueue
            | TurnInput::Do(_)
            | TurnInput::Ran(_)
            | TurnInput::Admitted { .. }
            | TurnInput::NotAdmitted { .. }
            | TurnInput::Measured { .. }
            | TurnInput::Built { .. }
            | TurnInput::BuildFailed { .. }
            | TurnInput::Delta { .. }
            | TurnInput::RuleFits { .. }
            | TurnInput::RuleNoted { .. }
            | TurnInput::StreamBroke { .. }
            | TurnInput::Recorded { .. }
            | TurnInput::WriteFailed { .. }
            | TurnInput::Partial { .. }
            | TurnInput::Ended { .. }
            | TurnInput::Elapsed { .. }
            | TurnInput::Planned { .. }
            | TurnInput::Trying { .. }
            | TurnInput::Drafted { .. }
            | TurnInput::Committed { .. }
            | TurnInput::TurnClosed { .. }
            | TurnInput::MaySettle { .. },
        ) => state.phase = phase,
    }
}

fn abort(state: &mut TurnState, phase: Phase, at: Millis, out: &mut Vec<Effect>) {
    match phase {
        Phase::Idle => {}
        Phase::Admitting(messages) => {
            cancel(state, out);
            let why = "stopped before there was a key for the model: nothing was recorded";
            refuse(state, AgentError::Failed(why.to_owned()), messages, out);
        }
        Phase::Building => {
            cancel(state, out);
            end_run(state, false, out);
            settle(state, Settled::Aborted, out);
        }
        Phase::Streaming(partial) => answer::stopped(state, &partial, at, out),
        // The answer is being written: the run stops once it is in the file.
        Phase::Recording(answer) => state.phase = Phase::Recording(answer.stopped(at)),
        Phase::Working(work) => work::stop(state, work, at, out),
        // Its end is being recorded: the run stops after it.
        Phase::Closing(_) => state.phase = Phase::Closing(AfterTurn::Aborted),
        Phase::Settling(_) => state.phase = Phase::Settling(Settled::Aborted),
        Phase::Stopping { .. } => state.phase = phase,
        Phase::Waiting => {
            cancel(state, out);
            let attempt = std::mem::take(&mut state.attempt);
            let final_error = Some("stopped by the user".to_owned());
            out.push(Effect::Emit(Event::AutoRetryEnd { success: false, attempt, final_error }));
            settle(state, Settled::Aborted, out);
        }
        Phase::Drafting(side) => jobs::stop_draft(state, side, out),
        Phase::Committing(commit) => state.phase = Phase::Committing(commit.stopped()),
    }
}

fn admit(state: &mut TurnState, messages: Vec<Message>, out: &mut Vec<Effect>) {
    state.ticket += 1;
    state.run += 1;
    out.push(Effect::Admit { ticket: state.ticket });
    state.phase = Phase::Admitting(messages);
}

/// Nothing of the prompt is recorded or emitted.
fn refuse(state: &mut TurnState, error: AgentError, messages: Vec<Message>, out: &mut Vec<Effect>) {
    state.run += 1;
    flush_waiting(state, out);
    out.push(Effect::Refuse { error, messages });
}

/// Starts the turn that is due and builds its request, or compacts first.
fn measured(state: &mut TurnState, tokens: u64, out: &mut Vec<Effect>) {
    if is_too_full(state, tokens, out) {
        return make_room(state, tokens, out);
    }
    start_due_turn(state, out);
    request(state, out);
}

/// Sends the request, or compacts first.
fn built(state: &mut TurnState, tokens: u64, blank: AssistantMessage, out: &mut Vec<Effect>) {
    if is_too_full(state, tokens, out) {
        return make_room(state, tokens, out);
    }
    start_due_turn(state, out);
    out.push(Effect::Send { ticket: state.ticket });
    state.phase = Phase::Streaming(Partial::new(blank));
}

fn is_too_full(state: &mut TurnState, tokens: u64, out: &mut Vec<Effect>) -> bool {
    // It was measured in the session: the prompt is in it.
    state.opening.clear();
    state.asked_tokens = tokens;
    let window = state.config.window.as_ref().map(|window| window.tokens);
    let context = Measure { tokens, prompt: state.prompt_tokens, window };
    out.extend(state.room.measure(state.config.compact_above, context).map(Effect::Emit));
    state.room.is_full(state.config.compact_above, tokens) && !state.squeezed
}

fn make_room(state: &mut TurnState, tokens: u64, out: &mut Vec<Effect>) {
    state.squeezed = true;
    state.full_at = tokens;
    let job = Job::Compaction { reason: Reason::Threshold, instructions: None };
    side_job(state, job, AfterJob::Request, out);
}

fn start_due_turn(state: &mut TurnState, out: &mut Vec<Effect>) {
    if std::mem::take(&mut state.is_turn_due) {
        out.push(Effect::Emit(Event::TurnStart));
    }
}

fn build_failed(state: &mut TurnState, error: AgentError, out: &mut Vec<Effect>) {
    out.push(Effect::Emit(Event::Failed { error: error.to_string() }));
    end_run(state, false, out);
    settle(state, Settled::Failed(error), out);
}

/// A write failed. The run whose conversation it was ends, if it has not ended; what can be recorded later comes back.
fn write_failed(
    state: &mut TurnState,
    run: RunNumber,
    (error, records): (AgentError, Vec<Record>),
    out: &mut Vec<Effect>,
) {
    let is_under_way = run == state.run && !state.is_idle();
    if !(is_under_way && is_of_conversation(state, &records)) {
        let is_told = error.is_kept() || take_back(state, records, is_under_way, out);
        out.extend(is_told.then(|| Effect::Emit(crate::event::not_recorded("something", &error))));
        return;
    }
    let opening = std::mem::take(&mut state.opening);
    let is_refused = !opening.is_empty() && !error.is_kept();
    if !(is_refused || error.is_kept()) {
        take_back(state, records, true, out);
    }
    cancel(state, out);
    out.push(Effect::Emit(Event::Failed { error: error.to_string() }));
    end_run(state, false, out);
    if is_refused {
        state.phase = Phase::Idle;
        (state.squeezed, state.is_turn_due) = (false, false);
        out.push(Effect::Emit(Event::AgentSettled { aborted: false }));
        return out.push(Effect::Refuse { error, messages: opening });
    }
    settle(state, Settled::Broken(error), out);
}

/// Whether the conversation of the run lacks something without these records.
fn is_of_conversation(state: &TurnState, records: &[Record]) -> bool {
    let is_said = |record: &Record| match record {
        Record::Message(message @ (Message::User(_) | Message::Custom(_))) => state.messages.contains(message),
        Record::Message(Message::Assistant(_) | Message::ToolResult(_)) => true,
        Record::Bash(_) | Record::Rules(_) => false,
    };
    records.is_empty() || records.iter().any(is_said)
}

/// Queues what was said in a run and not recorded. What began nothing waits for the next run, and so do commands of the user.
/// Whether there was anything.
fn take_back(state: &mut TurnState, records: Vec<Record>, is_under_way: bool, out: &mut Vec<Effect>) -> bool {
    let (mut said, mut waiting) = (Vec::new(), Vec::new());
    for record in records {
        match record {
            Record::Message(message @ Message::User(_)) => said.push(message),
            Record::Message(message @ Message::Custom(_)) if is_under_way && state.messages.contains(&message) => {
                said.push(message);
            }
            Record::Message(Message::Custom(_)) | Record::Bash(_) => waiting.push(record),
            Record::Message(Message::Assistant(_) | Message::ToolResult(_)) | Record::Rules(_) => {}
        }
    }
    let is_anything = !(said.is_empty() && waiting.is_empty());
    state.waiting.splice(0..0, waiting);
    if !said.is_empty() {
        said.into_iter().rev().for_each(|message| state.steering.push_front(message));
        out.push(queue_update(state));
    }
    is_anything
}
