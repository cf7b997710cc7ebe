//! From one state to the next: one function a state, and what several of them share.

use offshoot_session::clock::Millis;

use super::answer::{recording, streaming};
use super::effect::{Effect, Input, Job, Record, Settled};
use super::jobs::{begun, committing, drafting};
use super::state::{Partial, Phase, QueueMode, Side, State, Then};
use super::work::working;
use crate::error::AgentError;
use crate::event::{Event, Reason};
use crate::message::{Message, UserMessage};

/// What is to be done about an input.
pub fn step(state: &mut State, input: Input) -> Vec<Effect> {
    let mut out = Vec::new();
    let Some(input) = anywhere(state, input, &mut out) else { return out };
    match std::mem::take(&mut state.phase) {
        Phase::Idle => idle(state, input, &mut out),
        Phase::Building => building(state, input, &mut out),
        Phase::Streaming(partial) => streaming(state, partial, input, &mut out),
        Phase::Recording(answer) => recording(state, answer, &input, &mut out),
        Phase::Working(work) => working(state, work, input, &mut out),
        Phase::Waiting => waiting(state, &input, &mut out),
        Phase::Drafting(side) => drafting(state, side, input, &mut out),
        Phase::Committing { side, warning, is_aborted } => {
            committing(state, (side, warning, is_aborted), input, &mut out);
        }
    }
    out
}

/// Inputs that mean the same in every state, and answers to what was asked before a stop.
fn anywhere(state: &mut State, input: Input, out: &mut Vec<Effect>) -> Option<Input> {
    let is_idle = state.is_idle();
    match input {
        Input::Steer(message) if !is_idle => {
            state.steering.push_back(message);
            out.push(queue_update(state));
        }
        Input::FollowUp(message) if !is_idle => {
            state.follow_up.push_back(message);
            out.push(queue_update(state));
        }
        // Nothing that was said is lost: what comes too early waits.
        Input::Prompt(messages) if !is_idle => {
            state.follow_up.extend(messages);
            out.push(queue_update(state));
        }
        Input::ClearQueue => {
            state.steering.clear();
            state.follow_up.clear();
            out.push(queue_update(state));
        }
        Input::Ran(message) => {
            state.bash.push(message);
            // Between a call and its result nothing may stand.
            if is_idle || matches!(state.phase, Phase::Waiting) {
                flush_bash(state, out);
            }
        }
        Input::WriteFailed { error } => broken(state, error, out),
        input => return Some(input).filter(|input| ticket_of(input).is_none_or(|ticket| ticket == state.ticket)),
    }
    None
}

fn ticket_of(input: &Input) -> Option<u64> {
    match input {
        Input::Built { ticket, .. }
        | Input::BuildFailed { ticket, .. }
        | Input::Delta { ticket, .. }
        | Input::Recorded { ticket }
        | Input::Partial { ticket, .. }
        | Input::Ended { ticket, .. }
        | Input::Elapsed { ticket }
        | Input::Planned { ticket }
        | Input::Trying { ticket, .. }
        | Input::Drafted { ticket, .. }
        | Input::Committed { ticket, .. } => Some(*ticket),
        Input::Prompt(_)
        | Input::Steer(_)
        | Input::FollowUp(_)
        | Input::ClearQueue
        | Input::Do(_)
        | Input::Abort { .. }
        | Input::Ran(_)
        | Input::WriteFailed { .. } => None,
    }
}

fn idle(state: &mut State, input: Input, out: &mut Vec<Effect>) {
    match input {
        Input::Prompt(messages) => begin(state, messages, out),
        Input::Steer(message) | Input::FollowUp(message) => begin(state, vec![message], out),
        Input::Do(job) => {
            state.ticket += 1;
            side_job(state, job, Then::Settle, out);
        }
        // There is nothing to stop, and nothing is under way that could answer.
        _ => {}
    }
}

fn building(state: &mut State, input: Input, out: &mut Vec<Effect>) {
    match input {
        Input::Built { tokens, blank, .. } => {
            let is_full = state.config.compact_above.is_some_and(|limit| tokens > limit);
            if is_full && !state.squeezed {
                state.squeezed = true;
                let job = Job::Compaction { reason: Reason::Threshold, instructions: None };
                return side_job(state, job, Then::Request, out);
            }
            if std::mem::take(&mut state.is_turn_due) {
                out.push(Effect::Emit(Event::TurnStart));
            }
            out.push(Effect::Send { ticket: state.ticket });
            state.phase = Phase::Streaming(Partial::new(*blank));
        }
        Input::BuildFailed { error, .. } => {
            out.push(Effect::Emit(Event::Failed { error: error.to_string() }));
            end_run(state, false, out);
            settle(state, Settled::Failed(error), out);
        }
        Input::Abort { .. } => {
            cancel(state, out);
            end_run(state, false, out);
            settle(state, Settled::Aborted, out);
        }
        _ => state.phase = Phase::Building,
    }
}

fn waiting(state: &mut State, input: &Input, out: &mut Vec<Effect>) {
    match input {
        Input::Elapsed { .. } => again(state, out),
        Input::Abort { .. } => {
            cancel(state, out);
            let attempt = std::mem::take(&mut state.attempt);
            let final_error = Some("stopped by the user".to_owned());
            out.push(Effect::Emit(Event::AutoRetryEnd { success: false, attempt, final_error }));
            settle(state, Settled::Aborted, out);
        }
        _ => state.phase = Phase::Waiting,
    }
}

/// Begins a run with what the user says.
pub(super) fn begin(state: &mut State, messages: Vec<UserMessage>, out: &mut Vec<Effect>) {
    state.ticket += 1;
    state.attempt = 0;
    state.messages.clear();
    flush_bash(state, out);
    out.push(Effect::Emit(Event::AgentStart));
    out.push(Effect::Emit(Event::TurnStart));
    say(state, messages, out);
    request(state, out);
}

/// Sends the failed request once more, as a run of its own.
pub(super) fn again(state: &mut State, out: &mut Vec<Effect>) {
    state.messages.clear();
    out.push(Effect::Emit(Event::AgentStart));
    out.push(Effect::Emit(Event::TurnStart));
    request(state, out);
}

/// Puts messages of the user into the session. Each of them may have its compaction.
pub(super) fn say(state: &mut State, messages: Vec<UserMessage>, out: &mut Vec<Effect>) {
    state.recovered = false;
    let messages: Vec<Message> = messages.into_iter().map(Message::User).collect();
    state.messages.extend(messages.iter().cloned());
    let started_and_ended = |message: &Message| {
        [Event::MessageStart { message: message.clone() }, Event::MessageEnd { message: message.clone() }]
    };
    let then = messages.iter().flat_map(started_and_ended).collect();
    let records = messages.into_iter().map(|message| Record::Message(Box::new(message))).collect();
    out.push(Effect::Append { records, then, ticket: None });
}

/// Asks for the next request.
pub(super) fn request(state: &mut State, out: &mut Vec<Effect>) {
    flush_bash(state, out);
    out.push(Effect::Build { ticket: state.ticket });
    state.phase = Phase::Building;
}

/// The next turn of the run, with what waits to be said; no turn if the tools are done and nothing waits.
pub(super) fn next_turn(state: &mut State, after_tools: bool, out: &mut Vec<Effect>) -> bool {
    let (mode, follow_up_mode) = (state.config.steering, state.config.follow_up);
    let mut said = take_some(&mut state.steering, mode);
    if said.is_empty() && !after_tools {
        said = take_some(&mut state.follow_up, follow_up_mode);
    }
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

fn take_some(queue: &mut std::collections::VecDeque<UserMessage>, mode: QueueMode) -> Vec<UserMessage> {
    match mode {
        QueueMode::All => queue.drain(..).collect(),
        QueueMode::OneAtATime => queue.pop_front().into_iter().collect(),
    }
}

/// Tells that the run is over.
pub(super) fn end_run(state: &mut State, will_retry: bool, out: &mut Vec<Effect>) {
    let messages = std::mem::take(&mut state.messages);
    out.push(Effect::Emit(Event::AgentEnd { messages, will_retry }));
}

/// The end of all that goes on by itself; what waits to be said begins anew.
pub(super) fn settle(state: &mut State, how: Settled, out: &mut Vec<Effect>) {
    flush_bash(state, out);
    state.phase = Phase::Idle;
    state.squeezed = false;
    state.is_turn_due = false;
    if how == Settled::Done {
        let (mode, follow_up_mode) = (state.config.steering, state.config.follow_up);
        let mut said = take_some(&mut state.steering, mode);
        if said.is_empty() {
            said = take_some(&mut state.follow_up, follow_up_mode);
        }
        if !said.is_empty() {
            out.push(queue_update(state));
            return begin(state, said, out);
        }
    }
    out.push(Effect::Emit(Event::AgentSettled { aborted: how == Settled::Aborted }));
    out.push(Effect::Settle(how));
}

/// Stops all that is under way. Nothing that it still says counts.
pub(super) fn cancel(state: &mut State, out: &mut Vec<Effect>) {
    state.ticket += 1;
    out.push(Effect::Cancel);
}

/// Begins a job. A compaction that nobody asked for is told of once it has something to do.
pub(super) fn side_job(state: &mut State, job: Job, then: Then, out: &mut Vec<Effect>) {
    let mut side = Side { job, then, is_told: false, is_trying: false };
    if matches!(side.job, Job::Compaction { reason: Reason::Manual, .. }) {
        begun(&mut side, out);
    }
    out.push(Effect::Draft { ticket: state.ticket, job: side.job.clone() });
    state.phase = Phase::Drafting(side);
}

pub(super) fn queue_update(state: &State) -> Effect {
    let (steering, follow_up) = state.queued();
    Effect::Emit(Event::QueueUpdate { steering, follow_up })
}

fn flush_bash(state: &mut State, out: &mut Vec<Effect>) {
    if !state.bash.is_empty() {
        let records = std::mem::take(&mut state.bash).into_iter().map(Record::Bash).collect();
        out.push(Effect::Append { records, then: Vec::new(), ticket: None });
    }
}

/// The session cannot be written: nothing goes on.
fn broken(state: &mut State, error: AgentError, out: &mut Vec<Effect>) {
    let was_idle = state.is_idle();
    cancel(state, out);
    state.bash.clear();
    out.push(Effect::Emit(Event::Failed { error: error.to_string() }));
    if !was_idle {
        end_run(state, false, out);
    }
    settle(state, Settled::Broken(error), out);
}

/// One tool result in words for a call that did not run to its end.
pub(super) fn stopped(at: Millis, call: &super::Call) -> crate::message::ToolResultMessage {
    let outcome = crate::tool::Outcome::failed("The user stopped this tool call before it was done.");
    super::work::result(call, outcome, at)
}
