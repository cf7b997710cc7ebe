//! Compactions, moves in the tree, and operations that wait for a summary: planned on the session's thread, summarised in a task, written in one step. If
//! the model writes no summary, the extractive summariser does, and the entry says so.

use offshoot_protocol::{AgentError, CompactionResult, RawJson, Reason, in_words};
use offshoot_session::branch_summary::{self, BranchPlan, Instructions};
use offshoot_session::compact::{self, CompactionPlan, Occasion, Planned};
use offshoot_session::compose::{NewBranchSummary, NewEntry};
use offshoot_session::entry::{Source as _, text_of};
use offshoot_session::error::Error;
use offshoot_session::id::EntryId;
use offshoot_session::json::Json;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::session::Session;
use offshoot_session::summariser::{Drafted, Extractive};
use std::sync::Arc;

use super::asked_summaries::{self, about_compaction, about_move, given_compaction};
use super::operate::{self, SessionChange};
use super::summaries::{JobResources, asked, drafted_branch, summarise, without_model};
use super::{Driver, DriverInput};
use crate::extensions::{GivenSummary, Happening, SummaryVerdict};
use crate::operate::{Steps, WrittenSummary};
use crate::summarise::Listener;
use crate::turn::{Job, JobDraft, JobResult, Navigated, Navigation, Ticket, TurnInput};
use crate::writer::OwnedSession;

pub(crate) struct ReadyJob {
    what: JobWork,
    warning: Option<String>,
}

enum JobWork {
    Compaction { plan: Box<CompactionPlan>, drafted: Drafted, given: Option<GivenSummary>, reason: Reason },
    Navigation { navigation: Box<Navigation>, summary: Option<Drafted>, is_given: bool },
    Operation(WrittenSummary),
}

pub(crate) struct Committed {
    result: JobResult,
    change: SessionChange,
    /// For extensions.
    told: Option<Happening>,
}

impl Driver {
    pub(super) fn draft(&mut self, ticket: Ticket, job: Job) {
        if let Err(limit) = self.spending.check_cost(&self.setup.model, 0)
            && job.asks_model()
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
        let budget = branch_summary::budget(self.setup.model.context_window, self.setup.branch_reserve);
        let summary = self.asking.as_mut().and_then(|asking| asking.draft.take());
        self.spawn(ticket, async move {
            let ready = match job {
                Job::Compaction { instructions, reason } => {
                    let begins = || drop(own.send(DriverInput::Machine(TurnInput::Planned { ticket })));
                    compaction(&resources, settings, (instructions, reason), begins).await
                }
                Job::Navigation(navigation) => walk(&resources, navigation, budget).await,
                Job::Operation => operate::written(&resources, summary)
                    .await
                    .map(|summary| ReadyJob { what: JobWork::Operation(summary), warning: None }),
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
        let steps = self.asking.take().map(|asking| asking.steps);
        let own = self.own.clone();
        self.writer.handle().send(
            move |owned| write(owned, ready, steps),
            move |done| {
                let result = Box::new(done.and_then(|result| result));
                drop(own.send(DriverInput::Committed { ticket, result }));
            },
        );
    }

    pub(super) fn committed(&mut self, ticket: Ticket, result: Result<Committed, AgentError>) {
        let result = result.map(|Committed { result, change, told }| {
            self.tell_change(change);
            if let (Some(extensions), Some(told)) = (&self.setup.extensions, told) {
                extensions.tell_happening(told);
            }
            result
        });
        self.step(TurnInput::Committed { ticket, result });
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

async fn walk(resources: &JobResources, mut navigation: Box<Navigation>, budget: u64) -> Result<ReadyJob, JobDraft> {
    match about_move(resources, &navigation, budget).await? {
        SummaryVerdict::Given(given) if navigation.summarize => {
            let summary = Some(asked_summaries::drafted(&given));
            return Ok(ReadyJob { what: JobWork::Navigation { navigation, summary, is_given: true }, warning: None });
        }
        SummaryVerdict::Instructed { instructions, replace, label } => {
            navigation.instructions = instructions.or(navigation.instructions);
            navigation.replace_instructions = replace.unwrap_or(navigation.replace_instructions);
            navigation.label = label.or(navigation.label);
        }
        SummaryVerdict::Usual | SummaryVerdict::Cancelled | SummaryVerdict::Given(_) => {}
    }
    let target = navigation.target.clone();
    let wants = navigation.summarize;
    let planned = asked(resources, move |owned| plan_walk(owned.session(), &target, wants, budget)).await?;
    let Some(plan) = planned? else {
        return Ok(ReadyJob {
            what: JobWork::Navigation { navigation, summary: None, is_given: false },
            warning: None,
        });
    };
    let instructions = match (&navigation.instructions, navigation.replace_instructions) {
        (None, _) => Instructions::Plain,
        (Some(text), false) => Instructions::Focus(text),
        (Some(text), true) => Instructions::Instead(text),
    };
    let (drafted, warning) = drafted_branch(resources, (&plan, None), instructions).await?;
    Ok(ReadyJob { what: JobWork::Navigation { navigation, summary: Some(drafted), is_given: false }, warning })
}

fn plan_walk(session: &Session, target: &str, wants: bool, budget: u64) -> Result<Option<Box<BranchPlan>>, JobDraft> {
    let failed = |error: Error| JobDraft::Failed(error.into());
    let ix = session.find(target).map_err(failed)?;
    if !wants || session.leaf() == Some(ix) {
        return Ok(None);
    }
    let plan = branch_summary::plan(session, session.leaf(), Some(ix), budget).map_err(failed)?;
    Ok(Some(Box::new(plan)).filter(|plan| plan.has_messages()))
}

fn write(owned: &mut OwnedSession, ready: ReadyJob, steps: Option<Box<dyn Steps>>) -> Result<Committed, AgentError> {
    match ready.what {
        JobWork::Compaction { plan, drafted, given, reason } => {
            let (session, dialect) = (owned.session(), owned.session().dialect());
            let entry = match &given {
                Some(given) => given_compaction(session, &plan, given, dialect)?,
                None => plan.entry(&drafted, dialect),
            };
            owned.append(&[entry])?;
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
        JobWork::Navigation { navigation, summary, is_given } => {
            go(owned, &navigation, (summary, is_given), ready.warning)
        }
        JobWork::Operation(summary) => {
            let stopped = || AgentError::Failed("the operation was stopped".to_owned());
            let change = operate::write_drafted(owned, steps.ok_or_else(stopped)?, summary)?;
            Ok(Committed { result: JobResult::Operation, change, told: None })
        }
    }
}

fn go(
    owned: &mut OwnedSession,
    navigation: &Navigation,
    (summary, is_given): (Option<Drafted>, bool),
    warning: Option<String>,
) -> Result<Committed, AgentError> {
    let session = owned.session();
    let old = session.leaf_id().map(|leaf| leaf.as_str().to_owned());
    let ix = session.find(&navigation.target)?;
    let is_there = session.leaf() == Some(ix);
    let (leaf, editor_text) =
        if is_there || navigation.is_behind { (Some(ix), None) } else { leaf_and_text(session, ix)? };
    let summary = owned.write(|session| {
        let id = leaf.and_then(|leaf| session.tree().node(leaf).id().cloned());
        match summary {
            Some(drafted) => {
                let new = NewBranchSummary { from_hook: Some(is_given), ..drafted.branch_summary() };
                session.branch_with_summary(id.as_ref().map(EntryId::as_str), &new).map(Some)
            }
            None if is_there => Ok(None),
            None => match leaf {
                Some(leaf) => session.switch(leaf).map(|()| None),
                // There is no entry to mark: the next message becomes a new root.
                None => {
                    session.reset_leaf();
                    Ok(None)
                }
            },
        }
    })?;
    let new = owned.session().leaf_id().map(|leaf| leaf.as_str().to_owned());
    let told = Happening::Moved { old, new, summary: summary.as_ref().and_then(|_| owned.leaf_line()), is_given };
    let mut warning = warning;
    if let Some(label) = &navigation.label {
        let target = summary.as_ref().map_or(navigation.target.as_str(), EntryId::as_str);
        // The leaf has moved: that is told, and that the label is missing.
        if let Err(why) = owned.append(&[NewEntry::label(target, Some(label))]) {
            warning = Some(format!("the label {label:?} is not set: {why}"));
        }
    }
    let summary = summary.map(|id| id.as_str().to_owned());
    let navigated = Navigated { editor_text, summary, warning, ..Navigated::default() };
    let change =
        SessionChange { events: vec![crate::event::moved(owned.session(), None)], moved: Some(owned.recorded()) };
    Ok(Committed { result: JobResult::Navigation(navigated), change, told: Some(told) })
}

/// The new leaf: before a user or custom message, whose text is returned for editing, else the entry itself.
fn leaf_and_text(
    session: &Session,
    ix: offshoot_session::tree::NodeIx,
) -> Result<(Option<offshoot_session::tree::NodeIx>, Option<String>), AgentError> {
    let tree = session.tree();
    let node = tree.node(ix);
    let is_user = node.role() == Some(Role::User);
    if !is_user && node.kind() != Kind::CustomMessage {
        return Ok((Some(ix), None));
    }
    let entry = session.entry(ix)?;
    let content = match is_user {
        true => entry.message().and_then(|message| message.get("content")),
        false => entry.get("content"),
    };
    let text = content.map(|content: Json<'_>| text_of(content, ""));
    Ok((tree.parent(ix), text))
}
