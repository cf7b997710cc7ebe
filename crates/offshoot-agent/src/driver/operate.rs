//! Operations on the session: planned and written by one job of the session's thread, so that they keep their order. One that
//! asks a model leaves its plan, and is written when the answer is there. Knows no operation: the events follow from the entries that were appended and from the leaf.

use offshoot_protocol::{AgentError, Event, RawJson};
use offshoot_session::branch_summary::{self, BranchPlan};
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::kind::Kind;
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;
use std::sync::Arc;

use offshoot_protocol::request::{AgentRequest as _, WhileBusy};

use super::asked_summaries::{self, AskedMove, about_move};
use super::summaries::{JobResources, drafted_branch};
use super::{Driver, DriverInput, Waiting};
use crate::extensions::{Happening, Question, SummaryVerdict};
use crate::operate::{AfterPlan, PlanAnswer, PlanQuestion, PresentModel, Steps, SummaryWish};
use crate::prompt_weight::PromptWeight;
use crate::recorded::Recorded;
use crate::request::Frame;
use crate::request_queue::{Operate, ReplyTo};
use crate::turn::{Job, JobDraft, TurnInput};
use crate::writer::OwnedSession;

/// What an operation asks.
pub(super) struct OperationDraft {
    /// What is summarised, if there is something.
    plan: Option<BranchPlan>,
    /// The session that has the branch, if it is another one.
    from: Option<Arc<Session>>,
    wish: SummaryWish,
    /// As extensions are asked about it.
    moves: Option<AskedMove>,
    /// For where the leaf goes.
    label: Option<String>,
}

impl OperationDraft {
    /// Whether it may cost tokens.
    pub(super) fn asks_model(&self) -> bool {
        self.plan.is_some()
    }

    /// Whether there is somebody to wait for.
    fn asks_somebody(&self) -> bool {
        self.plan.is_some() || self.moves.is_some()
    }
}

/// An operation whose plan waits for an answer.
pub(super) struct AskingOperation {
    pub(super) steps: Box<dyn Steps>,
    /// Whether the leaf moves in the tree, which extensions hear.
    is_move: bool,
    /// Until a task asks.
    pub(super) draft: Option<OperationDraft>,
}

/// What a job of the session's thread did.
#[derive(Default)]
pub(crate) struct Operated {
    asking: Option<AskingOperation>,
    change: SessionChange,
    /// For extensions.
    told: Option<Happening>,
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
        let asked = Some(Question::BeforeMove);
        let asked = asked.filter(|asked| self.setup.extensions.as_ref().is_some_and(|all| all.answers(*asked)));
        self.writer.handle().send(
            move |owned| run(owned, steps, &with, asked),
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
        let prompt = PromptWeight::of(&self.setup.system, &system, &tools);
        let compaction = self.setup.compaction();
        PresentModel { model, overhead: prompt.total(), prompt, compaction, branch_budget }
    }

    pub(super) fn operated(&mut self, result: Result<Operated, AgentError>, is_alone: bool, reply: ReplyTo<()>) {
        self.is_operating &= !is_alone;
        let Operated { asking, change, told } = match result {
            Ok(operated) => operated,
            Err(error) => return reply.refuse(error),
        };
        self.tell_change(change);
        self.tell_extensions(told);
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
            self.state.moved();
            self.forget_told();
            self.restore_tools(&recorded);
        }
    }

    pub(super) fn tell_extensions(&self, told: Option<Happening>) {
        if let (Some(extensions), Some(told)) = (&self.setup.extensions, told) {
            extensions.tell_happening(told);
        }
    }
}

/// Asks extensions, then a model.
pub(super) async fn answer_of(resources: &JobResources, draft: Option<OperationDraft>) -> Result<PlanAnswer, JobDraft> {
    let Some(OperationDraft { plan, from, mut wish, moves, mut label }) = draft else {
        return Err(JobDraft::Nothing("the operation was stopped"));
    };
    if let Some(moves) = moves {
        let wants_summary = moves.wants_summary;
        match about_move(resources, moves).await? {
            SummaryVerdict::Given(given) if wants_summary => {
                let drafted = Some(asked_summaries::drafted(&given));
                return Ok(PlanAnswer { drafted, is_given: true, label, warning: None });
            }
            SummaryVerdict::Instructed { instructions, replace, label: other } => {
                wish = instructed(&wish, instructions, replace);
                label = other.or(label);
            }
            SummaryVerdict::Usual | SummaryVerdict::Cancelled | SummaryVerdict::Given(_) => {}
        }
    }
    let Some(plan) = plan else { return Ok(PlanAnswer { label, ..PlanAnswer::default() }) };
    let (drafted, warning) = drafted_branch(resources, (&plan, from), wish.instructions()).await?;
    Ok(PlanAnswer { drafted: Some(drafted), is_given: false, warning, label })
}

fn instructed(wish: &SummaryWish, instructions: Option<String>, replace: Option<bool>) -> SummaryWish {
    let (own, replaces) = wish.words().map_or((None, false), |(text, replaces)| (Some(text.to_owned()), replaces));
    match (instructions.or(own), replace.unwrap_or(replaces)) {
        (None, _) => SummaryWish::Usual,
        (Some(text), false) => SummaryWish::Focus(text),
        (Some(text), true) => SummaryWish::Instead(text),
    }
}

/// Plans, and writes if nobody is asked. `asked` is what extensions answer about moves.
fn run(
    owned: &mut OwnedSession,
    mut steps: Box<dyn Steps>,
    with: &PresentModel,
    asked: Option<Question>,
) -> Result<Operated, AgentError> {
    // Another program may just have written what is named. An unreadable file is reported by what reads it.
    drop(owned.refresh());
    match steps.plan(owned.session(), Some(with)) {
        AfterPlan::End => Ok(Operated::default()),
        AfterPlan::Tell => {
            steps.tell(owned.session());
            Ok(Operated::default())
        }
        AfterPlan::Ask(question) => {
            let is_move = question.moves.is_some();
            let draft = asked_draft(owned.session(), question, with.branch_budget, asked)?;
            if draft.asks_somebody() {
                let asking = AskingOperation { steps, is_move, draft: Some(draft) };
                return Ok(Operated { asking: Some(asking), ..Operated::default() });
            }
            let answer = PlanAnswer { label: draft.label, ..PlanAnswer::default() };
            let (change, told) = write_answered(owned, AskingOperation { steps, is_move, draft: None }, answer)?;
            Ok(Operated { asking: None, change, told })
        }
        AfterPlan::Write => Ok(Operated { change: write(owned, steps.as_mut())?, ..Operated::default() }),
    }
}

fn asked_draft(
    session: &Session,
    question: PlanQuestion,
    budget: u64,
    asked: Option<Question>,
) -> Result<OperationDraft, AgentError> {
    let PlanQuestion { branch, from, summary, moves } = question;
    let (is_move, label) = (moves.is_some(), moves.as_ref().and_then(|moves| moves.label.clone()));
    let moves = moves.filter(|_| asked.is_some());
    let planned = if summary.is_some() || moves.is_some() { Some(branch(session, budget)?) } else { None };
    let wants_summary = summary.is_some();
    let wish = summary.unwrap_or_default();
    let moves = moves.zip(planned.as_ref()).map(|(moves, plan)| {
        let words = wish.words().map(|(text, replaces)| (text.to_owned(), replaces));
        AskedMove::of(session, (moves, plan), wants_summary, words)
    });
    let plan = planned.filter(|plan| wants_summary && (!is_move || plan.has_messages()));
    Ok(OperationDraft { plan, from, wish, moves, label })
}

/// Writes an operation whose question is answered, unless that does not fit; with what extensions hear of a move.
pub(super) fn write_answered(
    owned: &mut OwnedSession,
    asking: AskingOperation,
    answer: PlanAnswer,
) -> Result<(SessionChange, Option<Happening>), AgentError> {
    let AskingOperation { mut steps, is_move, .. } = asking;
    let leaf = |owned: &OwnedSession| owned.session().leaf_id().map(|leaf| leaf.as_str().to_owned());
    let (old, has_summary, is_given) = (leaf(owned), answer.drafted.is_some(), answer.is_given);
    if !steps.answered(owned.session(), answer) {
        return Ok((SessionChange::default(), None));
    }
    let change = write(owned, steps.as_mut())?;
    let new = leaf(owned);
    let moved = || Happening::Moved { summary: summary_line(owned).filter(|_| has_summary), old, new, is_given };
    let told = (is_move && change.moved.is_some()).then(moved);
    Ok((change, told))
}

/// The summary at the end of the branch; a label may follow it.
fn summary_line(owned: &OwnedSession) -> Option<String> {
    let session = owned.session();
    let is_summary = |ix: &NodeIx| session.tree().node(*ix).kind() == Kind::BranchSummary;
    let found = session.tree().ancestors(session.leaf()?).take(2).find(is_summary)?;
    session.entry(found).ok().map(|entry| entry.line().to_owned())
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
