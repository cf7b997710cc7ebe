//! Moves the leaf.

use super::Session;
use crate::compose::{NewBranchSummary, NewEntry};
use crate::entry::Source as _;
use crate::error::{Error, Invalid, Result};
use crate::id::EntryId;
use crate::kind::{Kind, Operation, Role};
use crate::tree::{NodeIx, Tree};

/// The result of [`Session::pop`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Popped {
    /// The summary entry, which is the new leaf.
    pub summary: EntryId,
    /// The entry from which it continues.
    pub target: EntryId,
    /// The previous leaf.
    pub left: EntryId,
}

impl Session {
    /// Moves the leaf to an entry. Writes nothing, so only a following append makes it last; see [`Session::switch`].
    ///
    /// # Errors
    /// [`Error::EntryNotFound`].
    pub fn branch(&mut self, id: &str) -> Result<()> {
        self.leaf = Some(self.find(id)?);
        self.own.tail = None;
        Ok(())
    }

    /// Moves the leaf before the first entry, so that the next append is a new root.
    pub fn reset_leaf(&mut self) {
        self.leaf = None;
        self.own.tail = None;
    }

    /// Appends an entry below any entry, or as a root, and moves the leaf to it. If that fails, the leaf stays.
    ///
    /// # Errors
    /// Those of [`Session::append`].
    pub fn append_from(&mut self, target: Option<NodeIx>, new: &NewEntry) -> Result<EntryId> {
        let before = (std::mem::replace(&mut self.leaf, target), self.own.tail.take());
        self.append(new).inspect_err(|error| {
            if matches!(error, Error::Spilled { .. }) {
                self.leaf = before.0;
            } else {
                (self.leaf, self.own.tail) = before;
            }
        })
    }

    /// Moves the leaf durably: appends a marker (`custom`, `offshoot.leaf`) below the target, so that every program
    /// opens there. Writes nothing if the session would open there anyway.
    ///
    /// # Errors
    /// Those of [`Session::append`].
    pub fn switch(&mut self, target: NodeIx) -> Result<()> {
        let tree = self.tree();
        let last = tree.last();
        let opens_there = last.and_then(|last| tree.skip_leaf_markers(last)) == tree.skip_leaf_markers(target);
        if tree.whole(opens_there)? && !self.own.is_pending && self.unfinished.is_none() {
            self.leaf = last;
            return Ok(());
        }
        let marker = NewEntry::leaf_marker(Operation::Switch, self.leaf_before().as_ref().map(EntryId::as_str));
        self.append_from(Some(target), &marker).map(drop)
    }

    /// Continues from an entry (or before the first) with a summary of the branch that is left (`fromId`).
    ///
    /// # Errors
    /// [`Error::EntryNotFound`], and those of [`Session::append`].
    pub fn branch_with_summary(&mut self, id: Option<&str>, new: &NewBranchSummary<'_>) -> Result<EntryId> {
        let target = id.map(|id| self.find(id)).transpose()?;
        let left = self.leaf_id().cloned();
        let left = left.as_ref().map(EntryId::as_str);
        let entry = NewEntry::branch_summary(left, new, self.dialect());
        self.append_from(target, &entry)
    }

    /// The entry to which [`Session::pop`] goes back: the given one, else the last user message with messages after it.
    /// Summaries of branches do not count, so that another pop goes further back.
    ///
    /// # Errors
    /// [`Error::Invalid`] if no message would be left.
    pub fn pop_target(&self, entry: Option<NodeIx>) -> Result<NodeIx> {
        let tree = self.tree();
        let leaf = self.leaf.and_then(|leaf| tree.skip_leaf_markers(leaf));
        let leaf = leaf.ok_or(Invalid::NothingToPop)?;
        let target = match entry {
            Some(target) => Some(target),
            None => {
                let mut ancestors = tree.ancestors(leaf).skip_while(|ix| !is_said(tree, *ix));
                ancestors.by_ref().next();
                ancestors.find(|ix| tree.node(*ix).role() == Some(Role::User))
            }
        };
        let target = tree.whole(target)?.ok_or(Invalid::NoUserMessage)?;
        if !self.leaves_messages(target) {
            return Err(Invalid::NothingLeft.into());
        }
        Ok(target)
    }

    /// Whether a move to `target` leaves messages, and not only summaries of branches, labels or settings.
    pub fn leaves_messages(&self, target: NodeIx) -> bool {
        self.abandoned_by(Some(target)).into_iter().any(|ix| is_said(self.tree(), ix))
    }

    /// Goes back to an entry and continues from it with a summary of the branch that is left.
    ///
    /// # Errors
    /// Those of [`Session::branch_with_summary`].
    pub fn pop(&mut self, target: NodeIx, new: &NewBranchSummary<'_>) -> Result<Popped> {
        let id_of = |ix: Option<NodeIx>| ix.and_then(|ix| self.tree().node(ix).id().cloned());
        let left = id_of(self.leaf).ok_or_else(|| Error::no_entry("leaf"))?;
        let target = id_of(Some(target)).ok_or_else(|| Error::no_entry("target"))?;
        let summary = self.branch_with_summary(Some(target.as_str()), new)?;
        Ok(Popped { summary, target, left })
    }

    /// The entries that a move to `target` leaves, from below the common ancestor to the leaf.
    pub fn abandoned_by(&self, target: Option<NodeIx>) -> Vec<NodeIx> {
        let Some(leaf) = self.leaf else { return Vec::new() };
        let path = self.tree().path(leaf);
        let shared = target.and_then(|target| self.tree().common_ancestor(leaf, target));
        let from = shared.and_then(|shared| path.iter().position(|ix| *ix == shared)).map_or(0, |at| at + 1);
        path[from..].to_vec()
    }
}

fn is_said(tree: &Tree, ix: NodeIx) -> bool {
    matches!(tree.node(ix).kind(), Kind::Message | Kind::CustomMessage | Kind::Compaction)
}
