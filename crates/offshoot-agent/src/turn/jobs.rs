//! The states of work beside the turns: compactions and walks through the tree. Nothing of it is written before all of
//! it is there.

use super::effect::{Draft, Effect, Input, Job, Settled, Trying};
use super::state::{Phase, Side, State, Then};
use super::step::{again, cancel, end_run, request, settle};
use crate::error::AgentError;
use crate::event::{Event, Raw, Reason, Source};

pub(super) fn drafting(state: &mut State, mut side: Side, input: Input, out: &mut Vec<Effect>) {
    match input {
        Input::Planned { .. } => {
            begun(&mut side, out);
            state.phase = Phase::Drafting(side);
        }
        Input::Trying { trying, .. } => {
            tried(&mut side, trying, out);
            state.phase = Phase::Drafting(side);
        }
        Input::Drafted { draft: Draft::Ready { warning }, .. } => {
            out.push(Effect::Commit { ticket: state.ticket });
            state.phase = Phase::Committing { side, warning, is_aborted: false };
        }
        Input::Drafted { draft: Draft::Nothing(why), .. } => {
            without(state, side, AgentError::Failed(why.to_owned()), out);
        }
        Input::Drafted { draft: Draft::Failed(why), .. } => without(state, side, why, out),
        Input::Abort { .. } => {
            cancel(state, out);
            if side.is_trying {
                tried(&mut side, Trying::Finished, out);
            }
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
                Then::Again(_) => again(state, out),
                Then::Settle => settle(state, Settled::Done, out),
            }
        }
        Input::Abort { .. } => state.phase = Phase::Committing { side, warning, is_aborted: true },
        _ => state.phase = Phase::Committing { side, warning, is_aborted },
    }
}

/// Tells that a compaction begins, once; a walk tells of itself.
pub(super) fn begun(side: &mut Side, out: &mut Vec<Effect>) {
    let Job::Compaction { reason, .. } = &side.job else { return };
    if !std::mem::replace(&mut side.is_told, true) {
        out.push(Effect::Emit(Event::CompactionStart { reason: *reason }));
    }
}

/// Tells that the request for a summary is tried again.
fn tried(side: &mut Side, trying: Trying, out: &mut Vec<Effect>) {
    side.is_trying = trying != Trying::Finished;
    out.push(Effect::Emit(match trying {
        Trying::Scheduled { attempt, max_attempts, delay_ms, error_message } => {
            Event::SummarizationRetryScheduled { attempt, max_attempts, delay_ms, error_message }
        }
        Trying::Started => match &side.job {
            Job::Compaction { reason, .. } => {
                let (source, reason) = (Source::Compaction, Some(*reason));
                Event::SummarizationRetryAttemptStart { source, reason }
            }
            Job::Navigation => Event::SummarizationRetryAttemptStart { source: Source::BranchSummary, reason: None },
        },
        Trying::Finished => Event::SummarizationRetryFinished,
    }));
}

/// Tells how a compaction ended that was told of.
fn ended(side: &Side, result: Option<Raw>, aborted: bool, error_message: Option<String>, out: &mut Vec<Effect>) {
    let Job::Compaction { reason, .. } = &side.job else { return };
    if side.is_told {
        let will_retry = matches!(side.then, Then::Again(_)) && result.is_some();
        out.push(Effect::Emit(Event::CompactionEnd { reason: *reason, result, aborted, will_retry, error_message }));
    }
}

/// Continues without the entry that the job was to write.
fn without(state: &mut State, side: Side, why: AgentError, out: &mut Vec<Effect>) {
    ended(&side, None, false, Some(why.to_string()), out);
    match (side.then, side.job) {
        // The request may still fit: the model will say.
        (Then::Request, _) => request(state, out),
        (Then::Again(said), _) => {
            let why = match said {
                Some(said) => AgentError::Failed(format!("{said} (no room was made: {why})")),
                None => why,
            };
            settle(state, Settled::Failed(why), out);
        }
        // What the user asked for, as opposed to what happens after a run by itself.
        (Then::Settle, Job::Navigation | Job::Compaction { reason: Reason::Manual, .. }) => {
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
