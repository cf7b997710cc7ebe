//! Callers that wait until everything has settled, and what each of them gets then.

use std::sync::Arc;

use offshoot_protocol::message::Message;
use offshoot_protocol::request::Spoken;
use offshoot_protocol::{AgentError, CompactionResult, Settled};

use super::Driver;
use crate::request_queue::{PendingReply, ReplyTo};
use crate::turn::JobResult;
use crate::writer::OwnedSession;

/// Callers that wait until everything has settled.
pub(super) enum Waiting {
    /// Gets the end of its prompt, or the refusal.
    Prompt(ReplyTo<Spoken<Settled>>),
    /// Gets the end of whatever was running.
    Settled(ReplyTo<Settled>),
    Compaction(ReplyTo<Arc<CompactionResult>>),
    Operation(ReplyTo<()>),
}

impl Driver {
    /// Ends a run: records the outcome and answers every caller.
    pub(super) fn ended(&mut self, how: Settled, job: Option<Result<JobResult, AgentError>>) {
        self.settle(&how, job);
        self.settled = (self.settled.0 + 1, how);
    }

    pub(super) fn settle(&mut self, how: &Settled, mut job: Option<Result<JobResult, AgentError>>) {
        self.writer.handle().send(OwnedSession::end_turn, drop);
        let waiting = std::mem::take(&mut self.waiting);
        let answers = waiting.into_iter().map(|waiting| match waiting {
            Waiting::Prompt(reply) => reply.later(Ok(Spoken::Taken(how.clone()))),
            Waiting::Settled(reply) => reply.later(Ok(how.clone())),
            Waiting::Compaction(reply) => reply.later(end_of_job(how, job.take(), JobResult::compaction)),
            Waiting::Operation(reply) => reply.later(end_of_job(how, job.take(), JobResult::operation)),
        });
        reply_to_all(self.outbox.settle(answers.collect()));
    }

    /// The prompt is not recorded, and nothing is running. What nobody waits for goes with the next prompt.
    pub(super) fn refuse(&mut self, error: &AgentError, messages: Vec<Message>) {
        self.writer.handle().send(OwnedSession::end_turn, drop);
        let waiting = std::mem::take(&mut self.waiting);
        let has_caller = waiting.iter().any(|waiting| matches!(waiting, Waiting::Prompt(_)));
        let is_left = |message: &Message| !has_caller || matches!(message, Message::Custom(_));
        self.with_next_prompt.extend(messages.into_iter().filter(is_left));
        let answers = waiting.into_iter().map(|waiting| match waiting {
            Waiting::Prompt(reply) => reply.later(Err(error.clone())),
            Waiting::Settled(reply) => reply.later(Ok(Settled::Done)),
            Waiting::Compaction(reply) => reply.later(end_of_job(&Settled::Done, None, JobResult::compaction)),
            Waiting::Operation(reply) => reply.later(end_of_job(&Settled::Done, None, JobResult::operation)),
        });
        reply_to_all(self.outbox.settle(answers.collect()));
    }
}

pub(super) fn reply_to_all(replies: Vec<PendingReply>) {
    replies.into_iter().for_each(|reply| reply());
}

/// What the caller of a job gets: its result, or why it has none.
fn end_of_job<T>(
    how: &Settled,
    job: Option<Result<JobResult, AgentError>>,
    result: fn(JobResult) -> Option<T>,
) -> Result<T, AgentError> {
    match (job.map(|job| job.map(result)), how) {
        (Some(Ok(Some(result))), _) => Ok(result),
        (Some(Err(why)), _) => Err(why),
        (Some(Ok(None)) | None, Settled::Failed(why) | Settled::Broken(why)) => Err(why.clone()),
        (Some(Ok(None)) | None, Settled::Done | Settled::Aborted) => {
            Err(AgentError::Failed("nothing was done".to_owned()))
        }
    }
}
