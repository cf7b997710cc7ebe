//! Compactions, and operations that wait for an answer: planned on the session's thread, summarised in a task, written in one step. If
//! the model writes no summary, the extractive summariser does, and the entry says so.

use offshoot_protocol::{AgentError, CompactionResult, RawJson, Reason, in_words};
use offshoot_session::compact::{self, CompactionPlan, Occasion, Planned};
use offshoot_session::session::Session;
use offshoot_session::summariser::{Drafted, Extractive};
use std::sync::Arc;

use super::asked_summaries::{self, about_compaction, given_compaction};
use super::operate::{self, AskingOperation, OperationDraft, SessionChange};
use super::summaries::{JobResources, asked, summarise, without_model};
use super::{Driver, DriverInput};
use crate::extensions::{GivenSummary, Happening, SummaryVerdict};
use crate::operate::PlanAnswer;
use crate::summarise::Listener;
use crate::turn::{Job, JobDraft, JobResult, Ticket, TurnInput};
use crate::writer::OwnedSession;

pub(crate) struct ReadyJob {
    what: JobWork,
    warning: Option<String>,
}

enum JobWork {
    Compaction { plan: Box<CompactionPlan>, drafted: Drafted, given: Option<GivenSummary>, reason: Reason },
    Operation(PlanAnswer),
}

pub(crate) struct Committed {
    result: JobResult,
    change: SessionChange,
    /// For extensions.
    told: Option<Happening>,
}

impl Driver {
    pub(super) fn draft(&mut self, ticket: Ticket, job: Job) {
        let draft = self.asking.as_mut().and_then(|asking| asking.draft.take());
        let asks_model = match &job {
            Job::Compaction { .. } => true,
            Job::Operation => draft.as_ref().is_some_and(OperationDraft::asks_model),
        };
        if let Err(limit) = self.spending.check_any(&self.setup.model)
            && asks_model
        {
            drop(self.own.send(DriverInput::Drafted { ticket, ready: Box::new(Err(JobDraft::Failed(limit))) }));
            return;
        }
        let own = self.own.clone();
        let trying = self.own.clone();
        let listener: Listener = Arc::new(move |state| {
            drop(trying.send(DriverInput::Machine(TurnInput::Trying { ticket, trying: state })));
        });
        let (handle, setup, provider) = (self.writer.handle().clone(), self.setup.clone(), self.summary_provider());
        let resources = JobResources { handle, setup, provider, listener };
        let settings = self.setup.compaction();
        self.spawn(ticket, async move {
            let ready = match job {
                Job::Compaction { instructions, reason } => {
                    let begins = || drop(own.send(DriverInput::Machine(TurnInput::Planned { ticket })));
                    compaction(&resources, settings, (instructions, reason), begins).await
                }
                Job::Operation => operate::answer_of(&resources, draft)
                    .await
                    .map(|answer| ReadyJob { what: JobWork::Operation(answer), warning: None }),
            };
            drop(own.send(DriverInput::Drafted { ticket, ready: Box::new(ready) }));
        });
    }

    pub(super) fn drafted(&mut self, ticket: Ticket, ready: Result<ReadyJob, JobDraft>) {
        let draft = match ready {
            Ok(ready) => {
                let warning = ready.warning.clone();
                self.ready = Some(ready);
                JobDraft::Ready { warning }
            }
            Err(draft) => {
                self.asking = None;
                draft
            }
        };
        self.step(TurnInput::Drafted { ticket, draft });
    }

    pub(super) fn commit(&mut self, ticket: Ticket) {
        let Some(ready) = self.ready.take() else { return };
        let asking = self.asking.take();
        let own = self.own.clone();
        self.writer.handle().send(
            move |owned| write(owned, ready, asking),
            move |done| {
                let result = Box::new(done.and_then(|result| result));
                drop(own.send(DriverInput::Committed { ticket, result }));
            },
        );
    }

    pub(super) fn committed(&mut self, ticket: Ticket, result: Result<Committed, AgentError>) {
        let result = result.map(|Committed { result, change, told }| {
            self.tell_change(change);
            self.tell_extensions(told);
            if matches!(result, JobResult::Compaction(_)) {
                // A message about it may be among those that were summarised.
                self.forget_told();
            }
            result
        });
        let is_compacted = matches!(result, Ok(JobResult::Compaction(_)));
        self.step(TurnInput::Committed { ticket, result });
        if is_compacted {
            self.repeat_plan();
        }
    }
}

async fn compaction(
    resources: &JobResources,
    settings: compact::Settings,
    (instructions, reason): (Option<String>, Reason),
    begins: impl Fn(),
) -> Result<ReadyJob, JobDraft> {
    let plan = asked(resources, move |owned| plan(owned.session(), &settings, reason)).await??;
    begins();
    if let SummaryVerdict::Given(given) = about_compaction(resources, &plan, instructions.as_deref(), reason).await? {
        let drafted = asked_summaries::drafted(&given);
        return Ok(ReadyJob { what: JobWork::Compaction { plan, drafted, given: Some(given), reason }, warning: None });
    }
    let requests = plan.requests(instructions.as_deref());
    let by_model = summarise(resources, requests).await;
    let by_model = by_model.and_then(|(answers, name)| plan.summary(&answers, name).map_err(|error| in_words(&error)));
    let (drafted, warning) = match by_model {
        Ok(drafted) => (drafted, None),
        Err(why) => {
            let again = plan.clone();
            let by_rule = asked(resources, move |owned| again.run(&Extractive::new(owned.session()), None)).await?;
            (without_model(by_rule, &why)?, Some(why))
        }
    };
    Ok(ReadyJob { what: JobWork::Compaction { plan, drafted, given: None, reason }, warning })
}

fn plan(session: &Session, settings: &compact::Settings, reason: Reason) -> Result<Box<CompactionPlan>, JobDraft> {
    let occasion = match reason {
        Reason::Manual => Occasion::Asked,
        Reason::Threshold => Occasion::BeforeRequest,
        Reason::Overflow => Occasion::AfterOverflow,
    };
    match compact::plan_on(occasion, session, (session.leaf(), session.dialect()), settings) {
        Ok(Planned::Cut(plan)) => Ok(plan),
        Ok(Planned::AlreadyCompacted) => Err(JobDraft::Nothing("already compacted")),
        Ok(Planned::TooSmall) => Err(JobDraft::Nothing(match reason {
            Reason::Manual => "the session is too small to be compacted",
            Reason::Threshold | Reason::Overflow => "there is nothing before the newest messages to summarise",
        })),
        Err(error) => Err(JobDraft::Failed(error.into())),
    }
}

fn write(owned: &mut OwnedSession, ready: ReadyJob, asking: Option<AskingOperation>) -> Result<Committed, AgentError> {
    match ready.what {
        JobWork::Compaction { plan, drafted, given, reason } => {
            let (session, dialect) = (owned.session(), owned.session().dialect());
            let entry = match &given {
                Some(given) => given_compaction(session, &plan, given, dialect)?,
                None => plan.entry(&drafted, dialect),
            };
            owned.append(&[entry])?;
            owned.read_records();
            let told = owned.leaf_line().map(|entry| Happening::Compacted {
                entry,
                is_given: given.is_some(),
                reason,
                will_retry: reason == Reason::Overflow,
            });
            let result = CompactionResult {
                first_kept_entry_id: plan.first_kept_id.as_str().to_owned(),
                tokens_before: plan.tokens_before(),
                estimated_tokens_after: plan.tokens_after(&drafted.text),
                report: RawJson(compact::report::report(&plan, &drafted.text).to_json()),
                summary: drafted.text,
                details: RawJson(drafted.details),
                usage: drafted.usage.map(RawJson),
            };
            Ok(Committed { result: JobResult::Compaction(Arc::new(result)), change: SessionChange::default(), told })
        }
        JobWork::Operation(answer) => {
            let stopped = || AgentError::Failed("the operation was stopped".to_owned());
            let (change, told) = operate::write_answered(owned, asking.ok_or_else(stopped)?, answer)?;
            Ok(Committed { result: JobResult::Operation, change, told })
        }
    }
}
