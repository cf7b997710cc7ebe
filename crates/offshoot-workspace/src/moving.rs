//! What operations share that move the leaf in the tree: what they ask, and what a dry run shows.

use std::sync::Arc;

use offshoot_agent::forecast::RequestForecast;
use offshoot_agent::operate::{MoveQuestion, PlanQuestion, SummaryWish};
use offshoot_session::branch_summary;
use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::tree::NodeIx;

use crate::copied::id_of;
use crate::failure::Result;
use crate::place::Place;
use crate::words::Note;

/// Why a move is refused during a turn.
pub(crate) const AT_WORK: &str = "the agent is at work: stop it before going elsewhere";

/// Where the leaf goes.
#[derive(Debug, Clone)]
pub(crate) struct MoveTarget {
    pub(crate) ix: NodeIx,
    pub(crate) id: Option<EntryId>,
    /// How many entries are left behind.
    pub(crate) left: usize,
}

impl MoveTarget {
    pub(crate) fn of(session: &Session, ix: NodeIx) -> Self {
        let left = session.abandoned_by(Some(ix));
        let left = left.iter().filter(|ix| !session.tree().node(**ix).is_leaf_marker()).count();
        Self { ix, id: id_of(session, Some(ix)), left }
    }

    /// What is asked about the move.
    pub(crate) fn question(&self, summary: Option<SummaryWish>, label: Option<String>) -> PlanQuestion {
        let target = self.ix;
        let branch =
            move |session: &Session, budget| branch_summary::plan(session, session.leaf(), Some(target), budget);
        let id = self.id.as_ref().map(ToString::to_string).unwrap_or_default();
        PlanQuestion { branch: Arc::new(branch), from: None, summary, moves: Some(MoveQuestion { target: id, label }) }
    }

    pub(crate) fn json(&self, written: Option<&EntryId>) -> Object {
        Object::new()
            .str_or_null("id", written.map(EntryId::as_str))
            .str_or_null("to", self.id.as_ref().map(EntryId::as_str))
            .raw("left", self.left)
    }

    /// The next request from there, with the model of there.
    pub(crate) fn forecast(&self, place: &Place, session: &Session) -> Result<RequestForecast> {
        let (Some(file), Some(id)) = (session.file(), &self.id) else {
            return place.forecast(session, Some(self.ix), 0);
        };
        let mut moved = place.open_file(file, SpillPolicy::Temporary)?;
        moved.branch(id.as_str())?;
        place.forecast(&moved, moved.leaf(), 0)
    }
}

/// Labels the summary of a move, or its target. The leaf has moved: that the label is missing is told.
pub(crate) fn label_move(place: &Place, at: &mut Session, target: &str, label: Option<&str>) {
    let Some(label) = label else { return };
    if let Err(why) = at.append(&NewEntry::label(target, Some(label))) {
        place.tell(Note::Warning(format!("the label {label:?} is not set: {why}")));
    }
}
