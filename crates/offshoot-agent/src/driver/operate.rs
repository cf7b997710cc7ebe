//! Operations on the session: planned and written by one job of the session's thread, so that they keep their order. Knows no
//! operation: the events follow from the entries that were appended and from the leaf.

use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::kind::Kind;
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;

use super::{Driver, DriverInput};
use crate::command::{AgentRequest as _, Operate, ReplyTo, WhileBusy};
use crate::error::AgentError;
use crate::event::{Event, RawJson};
use crate::operate::{AfterPlan, PresentModel, Steps};
use crate::recorded::Recorded;
use crate::request::{Frame, overhead_tokens};
use crate::writer::OwnedSession;

/// What is different in the session.
#[derive(Default)]
pub(crate) struct SessionChange {
    events: Vec<Event>,
    /// What the branch of the new leaf records.
    moved: Option<Recorded>,
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
        PresentModel { model, overhead: overhead_tokens(&system, &tools) }
    }

    pub(super) fn operated(&mut self, result: Result<SessionChange, AgentError>, is_alone: bool, reply: ReplyTo<()>) {
        self.is_operating &= !is_alone;
        reply.send(result.map(|change| {
            change.events.into_iter().for_each(|event| self.outbox.tell(event));
            if let Some(recorded) = change.moved {
                self.restore_tools(&recorded);
            }
        }));
    }
}

fn run(owned: &mut OwnedSession, mut steps: Box<dyn Steps>, with: &PresentModel) -> Result<SessionChange, AgentError> {
    // Another program may just have written what is named. An unreadable file is reported by what reads it.
    drop(owned.refresh());
    match steps.plan(owned.session(), Some(with)) {
        AfterPlan::End => return Ok(SessionChange::default()),
        AfterPlan::Tell => {
            steps.tell(owned.session());
            return Ok(SessionChange::default());
        }
        AfterPlan::Write => {}
    }
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
    let events = vec![Event::moved(session, grown_from)];
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
