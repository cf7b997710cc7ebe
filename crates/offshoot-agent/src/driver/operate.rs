//! Operations on the session: planned and written by one job of the session's thread, so that they keep their order. One that
//! asks a model leaves its plan, and is written when the summary is there. Knows no operation: the events follow from the entries that were appended and from the leaf.

use offshoot_protocol::{AgentError, Event, RawJson};
use offshoot_session::branch_summary::{self, BranchPlan, Instructions};
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::kind::Kind;
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;
use std::sync::Arc;

use super::summaries::{JobResources, drafted_branch};
use super::{Driver, DriverInput, Waiting};
use crate::command::{AgentRequest as _, Operate, ReplyTo, WhileBusy};
use crate::operate::{AfterPlan, PresentModel, Steps, WrittenSummary};
use crate::recorded::Recorded;
use crate::request::{Frame, overhead_tokens};
use crate::turn::{Job, JobDraft, TurnInput};
use crate::writer::OwnedSession;

/// A summary that an operation waits for.
pub(super) struct BranchDraft {
    plan: BranchPlan,
    /// The session that has the branch, if it is another one.
    from: Option<Arc<Session>>,
    instructions: Option<String>,
}

/// An operation whose plan waits for its summary.
pub(super) struct AskingOperation {
    pub(super) steps: Box<dyn Steps>,
    /// Until a task writes it.
    pub(super) draft: Option<BranchDraft>,
}

/// What a job of the session's thread did.
#[derive(Default)]
pub(crate) struct Operated {
    asking: Option<AskingOperation>,
    change: SessionChange,
}

/// What is different in the session.
#[derive(Default)]
pub(crate) struct SessionChange {
    pub(super) events: Vec<Event>,
    /// What the branch of the new leaf records.
    pub(super) moved: Option<Recorded>,
}

impl Driver {
    pub(super) fn operate(&mut self, operation: Operate, reply: ReplyTo<()>) {
        let is_alone = operation.while_busy() != WhileBusy::Begins;
        let steps = operation.steps;
        self.is_operating |= is_alone;
        let (with, own) = (self.present_model(), self.own.clone());
        self.writer.handle().send(
            move |owned| run(owned, steps, &with),
            move |done| {
                let result = Box::new(done.and_then(|result| result));
                drop(own.send(DriverInput::Operated { result, is_alone, reply }));
            },
        );
    }

    fn present_model(&self) -> PresentModel {
        let Frame { system, tools, .. } = self.frame();
        let model = self.setup.model.clone();
        let branch_budget = branch_summary::budget(model.context_window, self.setup.branch_reserve);
        PresentModel { model, overhead: overhead_tokens(&system, &tools), branch_budget }
    }

    pub(super) fn operated(&mut self, result: Result<Operated, AgentError>, is_alone: bool, reply: ReplyTo<()>) {
        self.is_operating &= !is_alone;
        let Operated { asking, change } = match result {
            Ok(operated) => operated,
            Err(error) => return reply.refuse(error),
        };
        self.tell_change(change);
        match asking.filter(|_| is_alone && self.state.is_idle()) {
            None => reply.answer(()),
            Some(asking) => {
                self.asking = Some(asking);
                self.waiting.push(Waiting::Operation(reply));
                self.step(TurnInput::Do(Job::Operation));
                self.take_deferred();
            }
        }
    }

    pub(super) fn tell_change(&mut self, change: SessionChange) {
        change.events.into_iter().for_each(|event| self.outbox.tell(event));
        if let Some(recorded) = change.moved {
            self.restore_tools(&recorded);
        }
    }
}

/// Has a model write the summary.
pub(super) async fn written(resources: &JobResources, draft: Option<BranchDraft>) -> Result<WrittenSummary, JobDraft> {
    let Some(BranchDraft { plan, from, instructions }) = draft else {
        return Err(JobDraft::Nothing("the operation was stopped"));
    };
    let instructions = instructions.as_deref().map_or(Instructions::Plain, Instructions::Focus);
    let (drafted, warning) = drafted_branch(resources, (&plan, from), instructions).await?;
    Ok(WrittenSummary { drafted, warning })
}

fn run(owned: &mut OwnedSession, mut steps: Box<dyn Steps>, with: &PresentModel) -> Result<Operated, AgentError> {
    // Another program may just have written what is named. An unreadable file is reported by what reads it.
    drop(owned.refresh());
    match steps.plan(owned.session(), Some(with)) {
        AfterPlan::End => Ok(Operated::default()),
        AfterPlan::Tell => {
            steps.tell(owned.session());
            Ok(Operated::default())
        }
        AfterPlan::Ask(question) => {
            let plan = (question.branch)(owned.session(), with.branch_budget)?;
            let draft = BranchDraft { plan, from: question.from, instructions: question.instructions };
            Ok(Operated { asking: Some(AskingOperation { steps, draft: Some(draft) }), ..Operated::default() })
        }
        AfterPlan::Write => Ok(Operated { change: write(owned, steps.as_mut())?, asking: None }),
    }
}

/// Writes an operation whose summary is there, unless that does not fit.
pub(super) fn write_drafted(
    owned: &mut OwnedSession,
    mut steps: Box<dyn Steps>,
    summary: WrittenSummary,
) -> Result<SessionChange, AgentError> {
    if steps.drafted(owned.session(), summary) { write(owned, steps.as_mut()) } else { Ok(SessionChange::default()) }
}

/// Writes an operation, and finds out what changed.
fn write(owned: &mut OwnedSession, steps: &mut dyn Steps) -> Result<SessionChange, AgentError> {
    let before = (newest(owned.session()), owned.session().leaf_id().cloned());
    owned.write(|session| {
        steps.write(session);
        Ok(())
    })?;
    Ok(change_since(owned, before))
}

fn newest(session: &Session) -> Option<NodeIx> {
    session.tree().entries().next_back()
}

fn change_since(owned: &mut OwnedSession, (newest, leaf): (Option<NodeIx>, Option<EntryId>)) -> SessionChange {
    let session = owned.session();
    if session.leaf_id() == leaf.as_ref() {
        return SessionChange::default();
    }
    let tree = session.tree();
    let is_new = |ix: &NodeIx| newest.is_none_or(|newest| ix.index() > newest.index());
    let mut added: Vec<NodeIx> =
        session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf)).take_while(is_new).collect();
    added.reverse();
    let is_beside = |ix: &NodeIx| matches!(tree.node(*ix).kind(), Kind::Label | Kind::SessionInfo);
    let is_below =
        added.first().map_or(session.leaf(), |first| tree.parent(*first)).and_then(|ix| tree.node(ix).id().cloned())
            == leaf;
    if is_below && !added.is_empty() && added.iter().all(is_beside) {
        let events = added.into_iter().filter_map(|ix| event_beside(session, ix)).collect();
        return SessionChange { events, moved: None };
    }
    let grown_from = leaf.filter(|_| is_below).map(|leaf| leaf.as_str().to_owned());
    let events = vec![crate::event::moved(session, grown_from)];
    SessionChange { events, moved: Some(owned.recorded()) }
}

/// The event for an entry outside the conversation.
fn event_beside(session: &Session, ix: NodeIx) -> Option<Event> {
    if session.tree().node(ix).kind() == Kind::SessionInfo {
        // The name was read when it was written.
        return Some(Event::SessionInfoChanged { name: session.name().ok()? });
    }
    let entry = session.entry(ix).ok()?;
    Some(Event::EntryAppended { entry: RawJson(entry.line().to_owned()) })
}
