//! Brings entries of other branches and sessions here: picks, merges, and what a compaction swallowed.

use super::{Session, Standpoint};
use crate::compose::NewEntry;
use crate::entry::Source as _;
use crate::error::{Conflict, Error, Result};
use crate::id::EntryId;
use crate::kind::{KindSpeech, Operation, Role};
use crate::merge::{self, MergePlan, MergeRequest};
use crate::pick::{self, PickEnd, PickOptions, PickPlan, PickRequest};
use crate::selection::range;
use crate::summariser::Drafted;
use crate::tree::NodeIx;

/// A plan with what it was made for; see [`Session::pick`].
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say it")]
pub struct PlannedPick {
    pub plan: PickPlan,
    standpoint: Standpoint,
}

/// A plan with what it was made for; see [`Session::merge`].
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say it")]
pub struct PlannedMerge {
    pub plan: MergePlan,
    standpoint: Standpoint,
}

impl PlannedPick {
    /// The pick as a merge that copies.
    #[must_use]
    pub fn as_merge(mut self) -> Self {
        self.plan.operation = Operation::Merge;
        self
    }
}

/// The entries that an operation wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brought {
    /// The marker.
    pub operation: EntryId,
    /// The entries after it, in order; the last one is the leaf.
    pub entries: Vec<EntryId>,
}

impl Session {
    /// This session as one end of a pick.
    pub fn pick_end(&self) -> PickEnd<'_> {
        PickEnd {
            source: self,
            session: self.id(),
            ancestors: self.ancestors(),
            dialect: self.dialect(),
            leaf: self.leaf(),
        }
    }

    /// Plans copies of entries below `request.onto`. Writes nothing.
    ///
    /// # Errors
    /// [`Conflict::OpenToolTurn`] if calls at the target wait for their results; a medium cannot be read.
    pub fn plan_pick(&self, request: &PickRequest<'_>) -> Result<PlannedPick> {
        self.refuse_open_turn(request.onto)?;
        let plan = pick::plan(self.pick_end(), request)?;
        Ok(PlannedPick { plan, standpoint: self.standpoint(request.onto) })
    }

    /// Writes a pick with one append, and moves the leaf to its last entry. `None` if there is nothing to write.
    ///
    /// # Errors
    /// Those of [`Session::append`]; [`Conflict::LeafMoved`] if another program changed the session since the plan.
    /// Nothing is written then.
    pub fn pick(&mut self, planned: &PlannedPick) -> Result<Option<Brought>> {
        if planned.plan.is_empty() {
            return Ok(None);
        }
        let onto = planned.plan.onto.and_then(|onto| self.tree().node(onto).id().cloned());
        self.bring(planned, onto).map(Some)
    }

    /// Plans a merge. Writes nothing.
    ///
    /// # Errors
    /// Those of [`Session::plan_pick`].
    pub fn plan_merge(&self, request: &MergeRequest<'_>) -> Result<PlannedMerge> {
        self.refuse_open_turn(request.onto)?;
        let plan = merge::plan(self.pick_end(), request)?;
        Ok(PlannedMerge { plan, standpoint: self.standpoint(request.onto) })
    }

    /// Writes the summary of a merge, and moves the leaf to it.
    ///
    /// # Errors
    /// Those of [`Session::pick`].
    pub fn merge(&mut self, planned: &PlannedMerge, drafted: &Drafted) -> Result<EntryId> {
        let onto = planned.plan.onto.and_then(|onto| self.tree().node(onto).id().cloned());
        let entry = planned.plan.entry(drafted, self.dialect());
        // Where the leaf moves, undo needs to know from where.
        let mut chain = Vec::new();
        if planned.plan.onto != self.leaf {
            let before = self.leaf_before();
            chain.push(NewEntry::operation_marker(Operation::Merge, before.as_ref().map(EntryId::as_str), 1));
        }
        chain.push(entry);
        let ids = self.append_operation(&chain, onto, &planned.standpoint)?;
        self.unfinished = None;
        ids.last().cloned().ok_or_else(|| Error::no_entry("just appended"))
    }

    /// Plans a branch on which the newest compaction of the path never happened: copies of all that follows it, below
    /// its parent. `None` without a compaction.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn plan_uncompact(&self) -> Result<Option<PlannedPick>> {
        let tree = self.tree();
        let Some(leaf) = self.leaf else { return Ok(None) };
        let Some(compaction) = tree.whole(tree.compaction(leaf))? else { return Ok(None) };
        let onto = tree.parent(compaction);
        let selections = [range(tree, Some(compaction), leaf)?];
        let options = PickOptions { settings: true, state: true, labels: true, again: false };
        let request = PickRequest { from: None, selections: &selections, onto, options };
        let mut plan = pick::plan(self.pick_end(), &request)?;
        plan.operation = Operation::Uncompact;
        Ok(Some(PlannedPick { plan, standpoint: self.standpoint(onto) }))
    }

    /// Writes what [`Session::plan_uncompact`] planned; without later entries only the leaf moves.
    ///
    /// # Errors
    /// Those of [`Session::pick`].
    pub fn uncompact(&mut self, planned: &PlannedPick) -> Result<Brought> {
        if let Some(brought) = self.pick(planned)? {
            return Ok(brought);
        }
        let onto = planned.plan.onto.and_then(|onto| self.tree().node(onto).id().cloned());
        let before = self.leaf_before();
        let marker = NewEntry::leaf_marker(Operation::Uncompact, before.as_ref().map(EntryId::as_str));
        let ids = self.append_operation(&[marker], onto, &planned.standpoint)?;
        let operation = ids.into_iter().next().ok_or_else(|| Error::no_entry("just appended"))?;
        Ok(Brought { operation, entries: Vec::new() })
    }

    /// Refuses what does not fit into a model's window: tokens of the context before, and those that come.
    ///
    /// # Errors
    /// [`Conflict::BeyondWindow`].
    pub fn refuse_beyond_window(&self, here: u64, more: u64, window: u64) -> Result<()> {
        if here.saturating_add(more) <= window {
            return Ok(());
        }
        Err(self.conflict(Conflict::BeyondWindow { here, more, window }))
    }

    fn bring(&mut self, planned: &PlannedPick, onto: Option<EntryId>) -> Result<Brought> {
        let (plan, before) = (&planned.plan, self.leaf_before());
        let marker =
            NewEntry::operation_marker(plan.operation, before.as_ref().map(EntryId::as_str), plan.entries.len());
        let mut chain = vec![marker];
        chain.extend(plan.entries.iter().cloned());
        let mut ids = self.append_operation(&chain, onto, &planned.standpoint)?.into_iter();
        let operation = ids.next().ok_or_else(|| Error::no_entry("just appended"))?;
        self.unfinished = None;
        Ok(Brought { operation, entries: ids.collect() })
    }

    /// Between a call and its result nothing else can stand.
    pub(super) fn refuse_open_turn(&self, target: Option<NodeIx>) -> Result<()> {
        let Some(target) = target else { return Ok(()) };
        let mut answered = Vec::new();
        for ix in self.tree().ancestors(target) {
            let node = self.tree().node(ix);
            match (node.kind().speech(), node.role()) {
                (KindSpeech::Nothing, _) => {}
                (KindSpeech::Message, Some(Role::ToolResult)) => answered.extend(pick::answered(&self.entry(ix)?)),
                // Nobody answers the calls of a copy: its results came along.
                (KindSpeech::Message, Some(Role::Assistant)) if node.is_copy() => return Ok(()),
                (KindSpeech::Message, Some(Role::Assistant)) => {
                    let turn = self.entry(ix)?;
                    if pick::waits_for_results(&turn, &answered) {
                        let id = turn.id.clone().unwrap_or_else(|| EntryId::new("-"));
                        return Err(self.conflict(Conflict::OpenToolTurn { turn: id }));
                    }
                    return Ok(());
                }
                (
                    KindSpeech::Message
                    | KindSpeech::CustomMessage
                    | KindSpeech::Compaction
                    | KindSpeech::BranchSummary,
                    _,
                ) => return Ok(()),
            }
        }
        Ok(())
    }
}
