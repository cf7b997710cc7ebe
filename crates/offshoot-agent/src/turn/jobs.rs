//! The states of work beside the turns: compactions and walks through the tree. Nothing of it is written before all of
//! it is there.

use super::effect::{Draft, Effect, Input, Job, Settled};
use super::state::{Phase, Side, State, Then};
use super::step::{again, cancel, end_run, request, settle};
use crate::event::{Event, Raw};

pub(super) fn drafting(state: &mut State, side: Side, input: Input, out: &mut Vec<Effect>) {
    match input {
        Input::Drafted { draft: Draft::Ready { warning }, .. } => {
            out.push(Effect::Commit { ticket: state.ticket });
            state.phase = Phase::Committing { side, warning, is_aborted: false };
        }
        Input::Drafted { draft: Draft::Nothing(why) | Draft::Failed(why), .. } => {
            ended(&side, None, false, Some(why.clone()), out);
            without(state, &side, why, out);
        }
        Input::Abort { .. } => {
            cancel(state, out);
            ended(&side, None, true, None, out);
            stop(state, &side, out);
        }
        _ => state.phase = Phase::Drafting(side),
    }
}

pub(super) fn committing(
    state: &mut State,
    (side, warning, is_aborted): (Side, Option<String>, bool),
    input: Input,
    out: &mut Vec<Effect>,
) {
    match input {
        Input::Committed { result, .. } => {
            ended(&side, Some(result), false, warning, out);
            if is_aborted {
                return stop(state, &side, out);
            }
            match side.then {
                Then::Request => request(state, out),
                Then::Again => again(state, out),
                Then::Settle => settle(state, Settled::Done, out),
            }
        }
        Input::Abort { .. } => state.phase = Phase::Committing { side, warning, is_aborted: true },
        _ => state.phase = Phase::Committing { side, warning, is_aborted },
    }
}

/// Tells how a compaction ended; a walk tells of itself.
fn ended(side: &Side, result: Option<Raw>, aborted: bool, error_message: Option<String>, out: &mut Vec<Effect>) {
    let Job::Compaction { reason, .. } = &side.job else { return };
    let will_retry = side.then == Then::Again && result.is_some();
    out.push(Effect::Emit(Event::CompactionEnd { reason: *reason, result, aborted, will_retry, error_message }));
}

/// How it goes on if there was nothing to write.
fn without(state: &mut State, side: &Side, why: String, out: &mut Vec<Effect>) {
    match (side.then, &side.job) {
        // The request may still fit: the model will say.
        (Then::Request, _) => request(state, out),
        (Then::Again, _) => settle(state, Settled::Failed(why), out),
        // What the user asked for, as opposed to what happens after a run by itself.
        (Then::Settle, Job::Navigation) => settle(state, Settled::Failed(why), out),
        (Then::Settle, Job::Compaction { reason: crate::event::Reason::Manual, .. }) => {
            settle(state, Settled::Failed(why), out);
        }
        (Then::Settle, Job::Compaction { .. }) => settle(state, Settled::Done, out),
    }
}

fn stop(state: &mut State, side: &Side, out: &mut Vec<Effect>) {
    if side.then == Then::Request {
        end_run(state, false, out);
    }
    settle(state, Settled::Aborted, out);
}
