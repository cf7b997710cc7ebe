//! The end of a turn, and what follows it: the next turn, a retry, a compaction, or the end of the run.

use std::sync::Arc;

use offshoot_protocol::message::{AssistantMessage, Message, ToolResultMessage};
use offshoot_protocol::{AgentError, Event, NoticeCode, Reason, Settled};
use offshoot_session::clock::{Millis, took};
use offshoot_session::zone::Zone;

use super::effect::{Effect, Job, Record, RuleInjection};
use super::state::{AfterJob, AfterTurn, NextTry, Phase, TurnState, Unanswered, next_try};
use super::transition::{end_run, next_turn, no_room, refused, request, settle, side_job, started_and_ended};
use crate::provider::Failure;

/// Ends a turn. What follows waits for extensions, if they may add to it.
pub(super) fn close_turn(
    state: &mut TurnState,
    (answer, results): (Arc<AssistantMessage>, Vec<Arc<ToolResultMessage>>),
    next: AfterTurn,
    out: &mut Vec<Effect>,
) {
    if state.config.asks_at_turn_end {
        out.push(Effect::CloseTurn { ticket: state.ticket, answer, results });
        state.phase = Phase::Closing(next);
    } else {
        out.push(Effect::Emit(Event::TurnEnd { message: Message::Assistant(answer), tool_results: results }));
        after_turn(state, next, false, out);
    }
}

/// The turn has ended. An extension may have asked for another one.
pub(super) fn after_turn(state: &mut TurnState, next: AfterTurn, continues: bool, out: &mut Vec<Effect>) {
    match next {
        AfterTurn::Aborted => {
            end_run(state, false, out);
            settle(state, Settled::Aborted, out);
        }
        AfterTurn::Ruled(injection) => answer_again(state, vec![injection], out),
        AfterTurn::Worked { ends_run: true } if !continues => {
            end_run(state, false, out);
            settle(state, Settled::Done, out);
        }
        AfterTurn::Worked { .. } => drop(next_turn(state, true, out)),
        AfterTurn::Answered { .. } if !state.rules.is_empty() => {
            let rules = std::mem::take(&mut state.rules);
            answer_again(state, rules, out);
        }
        AfterTurn::Answered { .. } if next_turn(state, continues, out) => {}
        answered @ AfterTurn::Answered { .. } => after_answer(state, &answered, out),
        AfterTurn::Failed { said, failure, is_aborted, at } => {
            after_failure(state, (said, at), failure.filter(|_| !is_aborted), is_aborted, out);
        }
    }
}

/// Asks again with the rules that the answer fits.
fn answer_again(state: &mut TurnState, injections: Vec<RuleInjection>, out: &mut Vec<Effect>) {
    out.push(Effect::Emit(Event::TurnStart));
    let then = injections.iter().flat_map(|injection| started_and_ended(&injection.message)).collect();
    let mut records = Vec::new();
    for RuleInjection { message, rules } in injections {
        state.messages.push(message.clone());
        records.extend([Record::Message(message), Record::Rules(rules)]);
    }
    out.push(Effect::Append { run: state.run, records, then, ticket: None });
    request(state, out);
}

fn after_answer(state: &mut TurnState, answered: &AfterTurn, out: &mut Vec<Effect>) {
    let AfterTurn::Answered { tokens, is_cut_off, is_overflow } = *answered else { return };
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
fn make_room(state: &mut TurnState, said: Option<Unanswered>, out: &mut Vec<Effect>) {
    state.recovered = true;
    out.push(Effect::OmitAnswer { run: state.run });
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
    state.full_at = tokens;
    if state.room.is_full(state.config.compact_above, tokens) || (is_overflow && state.config.recover_overflow) {
        let reason = if is_overflow { Reason::Overflow } else { Reason::Threshold };
        return side_job(state, Job::Compaction { reason, instructions: None }, AfterJob::Settle, out);
    }
    settle(state, Settled::Done, out);
}

/// Retry, compact or give up.
fn after_failure(
    state: &mut TurnState,
    (said, at): (String, Millis),
    failure: Option<Failure>,
    is_aborted: bool,
    out: &mut Vec<Effect>,
) {
    let is_overflow = failure.as_ref().is_some_and(|failure| failure.is_overflow);
    let is_about_pictures = failure.as_ref().is_some_and(|failure| failure.is_about_pictures);
    let way_round = failure.as_ref().and_then(|failure| failure.way_round.clone());
    let patience = state.config.limit_patience_ms.saturating_sub(state.waited_ms);
    let next = failure.map(|failure| next_try(&state.config.retry, state.attempt, patience, &failure));
    let mut too_late = None;
    match next.unwrap_or(NextTry::Never) {
        NextTry::After(delay_ms) => return retry(state, said, delay_ms, out),
        NextTry::AfterLimit(delay_ms) => {
            state.attempt = 0;
            state.waited_ms = state.waited_ms.saturating_add(delay_ms);
            return retry(state, said, delay_ms, out);
        }
        NextTry::TooLate(wait_ms) => too_late = Some(ask_later(&state.config.zone, wait_ms, at)),
        NextTry::Never => {}
    }
    end_run(state, false, out);
    if state.attempt > 0 {
        let attempt = std::mem::take(&mut state.attempt);
        let final_error = Some(said.clone());
        out.push(Effect::Emit(Event::AutoRetryEnd { success: false, attempt, final_error }));
    }
    let failed = Unanswered { said, is_about_pictures, way_round };
    if is_overflow && state.config.recover_overflow {
        if !state.recovered {
            return make_room(state, Some(failed), out);
        }
        gave_up(
            "the context is still too long after it was compacted once: shorten it, or take a model with more room",
            out,
        );
    }
    let how = match (is_aborted, is_overflow || is_about_pictures) {
        (true, _) => Settled::Aborted,
        (false, true) => Settled::Failed(no_room(state, failed, None, out)),
        (false, false) => Settled::Failed(match too_late {
            Some(later) => {
                let message = later.clone();
                out.push(Effect::Emit(Event::Notice { code: NoticeCode::AskLater, message, entry_id: None }));
                AgentError::AskLater { why: failed.said, later }
            }
            None => refused(failed, out),
        }),
    };
    settle(state, how, out);
}

/// When the server can be asked again, in words.
fn ask_later(zone: &Zone, wait_ms: u64, now: Millis) -> String {
    let wait = Millis::try_from(wait_ms).unwrap_or(Millis::MAX);
    let (time, clock) =
        (took(wait).unwrap_or_else(|| "a moment".to_owned()), zone.until(now.saturating_add(wait), now));
    format!("the provider can be asked again in {time}, at {clock}")
}

fn retry(state: &mut TurnState, error_message: String, delay_ms: u64, out: &mut Vec<Effect>) {
    let rules = state.config.retry;
    state.attempt += 1;
    end_run(state, true, out);
    let (attempt, max_attempts) = (state.attempt, rules.max_retries);
    out.push(Effect::Emit(Event::AutoRetryStart { attempt, max_attempts, delay_ms, error_message }));
    out.push(Effect::OmitAnswer { run: state.run });
    out.push(Effect::Wait { ticket: state.ticket, ms: delay_ms });
    state.phase = Phase::Waiting;
}
