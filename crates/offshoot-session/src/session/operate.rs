//! What an operation was planned for, and whether it is still so under the lock; operations that a crash cut off.

use super::Session;
use crate::entry::Source as _;
use crate::error::{Conflict, Result};
use crate::id::EntryId;
use crate::operation;
use crate::tree::NodeIx;

/// The state of a session that a plan was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standpoint {
    leaf: Option<EntryId>,
    /// The last entry of the file, if the leaf is there: then programs that open the file meet the leaf.
    end: Option<EntryId>,
    target: Option<EntryId>,
    /// How many entries continue from the target.
    children: usize,
}

impl Session {
    /// The state for an operation that appends below `target`.
    pub fn standpoint(&self, target: Option<NodeIx>) -> Standpoint {
        let id_of = |ix: Option<NodeIx>| ix.and_then(|ix| self.tree().node(ix).id().cloned());
        let is_end = self.leaf.is_some() && self.leaf == self.tree().last();
        Standpoint {
            leaf: self.leaf_id().cloned(),
            end: id_of(self.leaf).filter(|_| is_end),
            target: id_of(target),
            children: self.child_count(target),
        }
    }

    fn child_count(&self, target: Option<NodeIx>) -> usize {
        target.map_or_else(|| self.tree().roots().count(), |target| self.tree().children(target).count())
    }

    /// Fails if another program has changed what a plan was made for.
    pub(super) fn check(&self, planned: &Standpoint) -> Result<()> {
        let tree = self.tree();
        let target = planned.target.as_ref().map(|id| tree.find(id.as_str()));
        let is_there = target.is_none_or(|target| target.is_some());
        let last = tree.last().and_then(|last| tree.node(last).id());
        let is_same = is_there
            && self.leaf_id() == planned.leaf.as_ref()
            && planned.end.as_ref().is_none_or(|end| last == Some(end))
            && self.child_count(target.flatten()) == planned.children;
        if tree.whole(is_same)? { Ok(()) } else { Err(self.conflict(Conflict::LeafMoved)) }
    }

    /// The leaf that an operation records: the entry itself where the leaf is a marker.
    pub(super) fn leaf_before(&self) -> Option<EntryId> {
        let leaf = self.leaf.and_then(|leaf| self.tree().skip_leaf_markers(leaf))?;
        self.tree().node(leaf).id().cloned()
    }

    /// Opens before an operation that was cut off at the end of the file.
    pub(super) fn leave_unfinished(&mut self) -> Result<()> {
        let Some(last) = self.leaf else { return Ok(()) };
        let Some(unfinished) = operation::unfinished(self, last)? else { return Ok(()) };
        self.leaf = unfinished.before;
        let diagnostic = unfinished.diagnostic(self.tree());
        self.loaded.diagnostics.push(diagnostic);
        self.unfinished = Some(unfinished);
        Ok(())
    }
}
