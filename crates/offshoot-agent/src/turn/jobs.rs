//! The states of compactions and moves in the tree. A job writes nothing before its result is complete.

use std::sync::Arc;

use offshoot_protocol::{AgentError, CompactionResult, Event, Reason, Settled, SummarySource};

use super::effect::{Effect, Job, JobDraft, JobResult, Trying};
use super::room::{NextRequest, Room};
use super::state::{AfterJob, Commit, Phase, RunningJob, TurnState};
use super::transition::{again, begun, cancel, end_run, no_room, request, settle};

pub(super) fn planned(state: &mut TurnState, mut side: RunningJob, out: &mut Vec<Effect>) {
    begun(&mut side, out);
    state.phase = Phase::Drafting(side);
}

pub(super) fn trying(state: &mut TurnState, mut side: RunningJob, trying: Trying, out: &mut Vec<Effect>) {
    tell_trying(&mut side, trying, out);
    state.phase = Phase::Drafting(side);
}

pub(super) fn drafted(state: &mut TurnState, side: RunningJob, draft: JobDraft, out: &mut Vec<Effect>) {
    match draft {
        JobDraft::Ready { warning } => {
            out.push(Effect::Commit { ticket: state.ticket });
            state.phase = Phase::Committing(Commit { side, warning, is_aborted: false });
        }
        JobDraft::Nothing(why) => without(state, side, AgentError::Failed(why.to_owned()), out),
        JobDraft::Failed(why) => without(state, side, why, out),
    }
}

pub(super) fn committed(
    state: &mut TurnState,
    commit: Commit,
    result: Result<JobResult, AgentError>,
    out: &mut Vec<Effect>,
) {
    let Commit { side, warning, is_aborted } = commit;
    let result = match result {
        Ok(result) => result,
        Err(why) if !is_aborted => return without(state, side, why, out),
        Err(why) => {
            ended(&side, None, true, Some(why.to_string()), out);
            state.job_end = side.job.is_users().then_some(Err(why));
            return stop(state, &side, out);
        }
    };
    if let JobResult::Compaction(result) = &result {
        ended(&side, Some(Arc::clone(result)), false, warning, out);
    }
    match (&side.job, &result) {
        (Job::Compaction { reason: Reason::Threshold, .. }, JobResult::Compaction(result)) => {
            let next = if side.then == AfterJob::Settle { NextRequest::HasNewPrompt } else { NextRequest::Waits };
            state.room.compacted(state.full_at, result, next);
        }
        // Another context.
        _ => state.room = Room::default(),
    }
    if side.job.is_users() {
        state.job_end = Some(Ok(result));
    }
    if is_aborted {
        return stop(state, &side, out);
    }
    match side.then {
        AfterJob::Request => request(state, out),
        AfterJob::Again(_) => again(state, out),
        AfterJob::Settle => settle(state, Settled::Done, out),
    }
}

/// The user stops a job before its write.
pub(super) fn stop_draft(state: &mut TurnState, mut side: RunningJob, out: &mut Vec<Effect>) {
    cancel(state, out);
    if side.is_trying {
        tell_trying(&mut side, Trying::Finished, out);
    }
    ended(&side, None, true, None, out);
    if side.job.is_users() {
        state.job_end = Some(match &side.job {
            Job::Compaction { .. } => Err(AgentError::Failed("the compaction was stopped".to_owned())),
            Job::Operation => Ok(JobResult::Operation),
        });
    }
    stop(state, &side, out);
}

/// Emits the progress of a summary.
fn tell_trying(side: &mut RunningJob, trying: Trying, out: &mut Vec<Effect>) {
    side.is_trying = match trying {
        Trying::Scheduled { .. } | Trying::Started => true,
        Trying::Grown { .. } => side.is_trying,
        Trying::Finished => false,
    };
    out.push(Effect::Emit(match trying {
        Trying::Scheduled { attempt, max_attempts, delay_ms, error_message } => {
            Event::SummarizationRetryScheduled { attempt, max_attempts, delay_ms, error_message }
        }
        Trying::Started => match &side.job {
            Job::Compaction { reason, .. } => {
                let (source, reason) = (SummarySource::Compaction, Some(*reason));
                Event::SummarizationRetryAttemptStart { source, reason }
            }
            Job::Operation => {
                Event::SummarizationRetryAttemptStart { source: SummarySource::BranchSummary, reason: None }
            }
        },
        Trying::Grown { tokens } => Event::SummarizationUpdate { tokens },
        Trying::Finished => Event::SummarizationRetryFinished,
    }));
}

/// Emits the end of a compaction whose start was emitted.
fn ended(
    side: &RunningJob,
    result: Option<Arc<CompactionResult>>,
    aborted: bool,
    error_message: Option<String>,
    out: &mut Vec<Effect>,
) {
    let Job::Compaction { reason, .. } = &side.job else { return };
    if side.is_told {
        let will_retry = matches!(side.then, AfterJob::Again(_)) && result.is_some();
        out.push(Effect::Emit(Event::CompactionEnd { reason: *reason, result, aborted, will_retry, error_message }));
    }
}

/// Continues without the job's entry.
fn without(state: &mut TurnState, side: RunningJob, why: AgentError, out: &mut Vec<Effect>) {
    ended(&side, None, false, Some(why.to_string()), out);
    if side.job.is_users() {
        state.job_end = Some(Err(why.clone()));
    }
    match (side.then, side.job) {
        // The request may still fit; the model will tell.
        (AfterJob::Request, _) => request(state, out),
        (AfterJob::Again(said), _) => {
            let why = match said {
                Some(failed) => no_room(state, failed, Some(&why.to_string()), out),
                None => AgentError::Failed(format!(
                    "the answer ended at the model's limit, and no room can be made for a longer one: {why}"
                )),
            };
            settle(state, Settled::Failed(why), out);
        }
        // A failure counts only if the user asked for the job, not if it ran automatically.
        (AfterJob::Settle, job) => {
            settle(state, if job.is_users() { Settled::Failed(why) } else { Settled::Done }, out);
        }
    }
}

fn stop(state: &mut TurnState, side: &RunningJob, out: &mut Vec<Effect>) {
    if side.then == AfterJob::Request {
        end_run(state, false, out);
    }
    settle(state, Settled::Aborted, out);
}
