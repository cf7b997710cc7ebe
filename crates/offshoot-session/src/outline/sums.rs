//! Sums over the branch of any entry, from the sums over chains that a source keeps.

use std::ops::Range;
use std::sync::Arc;

use super::Outline;
use crate::clock::Millis;
use crate::entry::Source;
use crate::error::Result;
use crate::facts::chains::{Latest, from, up_from};
use crate::facts::{Facts, Totals};
use crate::gather;
use crate::stats;
use crate::tree::NodeIx;
use crate::tree::reader::NodeReader;

/// Sums over a tree.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    facts: Arc<Facts>,
    /// What is below each chain.
    below: Vec<Figures>,
    /// Sums over the path above each chain.
    above: Vec<Totals>,
    /// The last entry of every branch, by index.
    tips: Vec<NodeIx>,
    /// The last entries of what summaries on the current path cover.
    merged: Vec<NodeIx>,
}

/// Sums over an entry and all its descendants.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Figures {
    pub(super) totals: Totals,
    pub(super) latest: Latest,
    /// How many branches end there.
    pub(super) tips: u32,
}

/// How much of a branch is on the current path as a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MergedPart {
    /// More was said after the part.
    Some,
    /// Nothing was said after it.
    All,
}

/// Sums over an entry's branch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BranchSums {
    /// The first entry of the branch; see [`Outline::branch_start`].
    pub start: NodeIx,
    /// Over the first entry and all its descendants.
    pub own: Totals,
    /// Over the path from the root to the entry.
    pub path: Totals,
    /// How many branches end in it.
    pub tips: u32,
    /// The latest time in it.
    pub newest: Option<Millis>,
}

impl Figures {
    fn add(&mut self, other: &Self) {
        self.totals.add(&other.totals);
        self.latest = self.latest.max(other.latest);
        self.tips += other.tips;
    }
}

impl Sums {
    /// Adds up chains: linear in the branches of the tree. Reads bodies only if the source has no facts.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn new(source: &dyn Source, outline: &Outline) -> Result<Self> {
        let tree = source.tree();
        let facts = gather::of(source)?;
        let tips = stats::tips(source, outline.open());
        let nodes = &NodeReader::new(tree);
        let mut tips_of = vec![0; facts.chains.all.len()];
        for chain in tips.iter().filter_map(|tip| facts.chains.find(nodes, *tip)) {
            tips_of[chain] += 1;
        }
        let chains = facts.chains.tree();
        let mut below = vec![Figures::default(); facts.chains.all.len()];
        for (at, parent) in chains.children_first().filter_map(|at| Some((at, chains.parent(at)?))) {
            let (chain, mut figures) = (&facts.chains.all[at], below[at]);
            figures.add(&Figures { totals: chain.totals, latest: chain.latest, tips: tips_of[at] });
            below[parent].add(&figures);
        }
        let above = facts.chains.above(&chains);
        let on_path = facts
            .merged
            .iter()
            .filter(|merged| NodeIx::stored(merged.summary).is_some_and(|summary| outline.leads_to_open(summary)));
        let merged = on_path.filter_map(|merged| NodeIx::stored(merged.tip)).collect();
        tree.whole(Self { facts, below, above, tips, merged })
    }

    /// The sums of an entry's branch; `None` for an entry that was added later.
    pub fn branch(&self, source: &dyn Source, outline: &Outline, ix: NodeIx) -> Option<BranchSums> {
        let nodes = &NodeReader::new(source.tree());
        let start = outline.branch_start(ix)?;
        let own = self.from(nodes, start)?;
        let path = self.path(nodes, ix)?;
        Some(BranchSums { start, own: own.totals, path, tips: own.tips, newest: own.latest.time })
    }

    /// How much of the branch at these places summaries on the current path cover.
    pub(super) fn merged(
        &self,
        nodes: &NodeReader<'_>,
        outline: &Outline,
        branch: &Range<usize>,
    ) -> Option<MergedPart> {
        let is_inside = |tip: &&NodeIx| outline.place(**tip).is_some_and(|place| branch.contains(&place));
        let tips = self.merged.iter().filter(is_inside);
        let is_last = |tip: &NodeIx| {
            let own = self.of(nodes, *tip).messages;
            self.from(nodes, *tip).is_some_and(|figures| figures.totals.messages == own)
        };
        tips.map(|tip| if is_last(tip) { MergedPart::All } else { MergedPart::Some }).max()
    }

    /// Whether a branch ends at an entry.
    fn is_tip(&self, ix: NodeIx) -> bool {
        self.tips.binary_search(&ix).is_ok()
    }

    /// Sums over the path from the root to an entry.
    fn path(&self, nodes: &NodeReader<'_>, ix: NodeIx) -> Option<Totals> {
        let mut path = *self.above.get(self.facts.chains.find(nodes, ix)?)?;
        up_from(nodes, ix).for_each(|ix| path.add(&self.of(nodes, ix)));
        Some(path)
    }

    /// Sums over an entry and all its descendants.
    pub(super) fn from(&self, nodes: &NodeReader<'_>, ix: NodeIx) -> Option<Figures> {
        let mut figures = *self.below.get(self.facts.chains.find(nodes, ix)?)?;
        for ix in from(nodes, ix) {
            let tips = u32::from(self.is_tip(ix));
            let latest = nodes.look(ix, |node| Latest::of(ix, node));
            figures.add(&Figures { totals: self.of(nodes, ix), latest, tips });
        }
        Some(figures)
    }

    fn of(&self, nodes: &NodeReader<'_>, ix: NodeIx) -> Totals {
        nodes.look(ix, |node| self.facts.of(ix, node))
    }
}
