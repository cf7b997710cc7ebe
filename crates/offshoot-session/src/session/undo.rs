//! Undoes the last operation, by moving the leaf to where it was. Twice is redo.

use super::Session;
use crate::compose::NewEntry;
use crate::entry::Source as _;
use crate::error::{Conflict, Result};
use crate::id::EntryId;
use crate::kind::Operation;
use crate::operation;
use crate::tree::NodeIx;

/// What [`Session::undo`] would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoPlan {
    /// What it undoes.
    pub operation: Operation,
    /// Where the leaf goes; `None` before the first entry.
    pub target: Option<NodeIx>,
    /// Where the leaf is.
    pub left: Option<NodeIx>,
    standpoint: super::Standpoint,
}

impl Session {
    /// The operation that [`Session::undo`] would undo; `None` if there is none on the path.
    ///
    /// # Errors
    /// [`Conflict::SaidSince`] if a message follows it; the file cannot be read.
    pub fn plan_undo(&self) -> Result<Option<UndoPlan>> {
        let tree = self.tree();
        // An operation that was cut off: the session opened before it already.
        if let Some(unfinished) = self.unfinished.as_ref().filter(|found| found.before == self.leaf) {
            let left = Some(unfinished.last);
            return Ok(Some(self.undo_plan(unfinished.operation, unfinished.before, left)));
        }
        let Some(leaf) = self.leaf else { return Ok(None) };
        let Some(found) = operation::last(self, leaf)? else { return Ok(None) };
        if let Some(message) = found.said_since.and_then(|said| tree.node(said).id()) {
            let before = found.before.and_then(|before| tree.node(before).id().cloned());
            let operation = found.operation.with_article();
            return Err(self.conflict(Conflict::SaidSince { operation, message: message.clone(), before }));
        }
        Ok(Some(self.undo_plan(found.operation, found.before, tree.skip_leaf_markers(leaf))))
    }

    fn undo_plan(&self, operation: Operation, target: Option<NodeIx>, left: Option<NodeIx>) -> UndoPlan {
        UndoPlan { operation, target, left, standpoint: self.standpoint(target) }
    }

    /// Moves the leaf to where it was before the last operation: appends a marker there. Answers its id.
    ///
    /// # Errors
    /// Those of [`Session::append`]; [`Conflict::LeafMoved`] if another program changed the session since the plan.
    pub fn undo(&mut self, plan: &UndoPlan) -> Result<Option<EntryId>> {
        let id_of = |ix: Option<NodeIx>| ix.and_then(|ix| self.tree().node(ix).id().cloned());
        let (target, left) = (id_of(plan.target), id_of(plan.left));
        let marker = NewEntry::leaf_marker(Operation::Undo, left.as_ref().map(EntryId::as_str));
        let ids = self.append_operation(&[marker], target, &plan.standpoint)?;
        self.unfinished = None;
        Ok(ids.into_iter().next())
    }
}
