//! Sums over the branch of any entry, from one pass in display order.

use std::ops::Range;

use super::Outline;
use crate::clock::Millis;
use crate::entry::Source;
use crate::error::Result;
use crate::facts::Totals;
use crate::gather;
use crate::stats;
use crate::tree::NodeIx;

/// Sums over a tree, at 40 bytes an entry.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    /// Sums over all entries before a place; one more than there are entries.
    before: Vec<Totals>,
    /// How many branches end before a place.
    tips: Vec<u32>,
    /// The entry with the latest time at a place or below it.
    newest: Vec<NodeIx>,
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

impl Sums {
    /// Adds up what entries report. Linear in the entries of the tree; reads bodies only if the source has no facts.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn new(source: &dyn Source, outline: &Outline) -> Result<Self> {
        let tree = source.tree();
        let facts = gather::of(source)?;
        let count = outline.places();
        let mut ends_here = vec![false; count];
        for tip in stats::tips(source, outline.open()) {
            if let Some(end) = outline.place(tip).and_then(|place| ends_here.get_mut(place)) {
                *end = true;
            }
        }
        let (before, tips) = (Vec::with_capacity(count + 1), Vec::with_capacity(count + 1));
        let mut sums = Self { before, tips, newest: vec![NodeIx::default(); count] };
        let (mut total, mut tips) = (Totals::default(), 0);
        for place in 0..count {
            let Some(ix) = outline.entry_at(place) else { continue };
            sums.before.push(total);
            sums.tips.push(tips);
            total.add(&stats::of(source, &facts, ix));
            tips += u32::from(ends_here.get(place) == Some(&true));
            if let Some(newest) = sums.newest.get_mut(place) {
                *newest = ix;
            }
        }
        sums.before.push(total);
        sums.tips.push(tips);
        let written = |ix: NodeIx| (tree.node(ix).time(), ix);
        for place in (0..count).rev() {
            let newest = sums.newest.get(place).copied().unwrap_or_default();
            let parent = outline.order.parent(place as u32);
            let above = parent.and_then(|parent| sums.newest.get_mut(parent as usize));
            above.into_iter().filter(|above| written(**above) < written(newest)).for_each(|above| *above = newest);
        }
        Ok(sums)
    }

    /// The sums of an entry's branch; `None` for an entry that was added later.
    pub fn branch(&self, source: &dyn Source, outline: &Outline, ix: NodeIx) -> Option<BranchSums> {
        let start = outline.branch_start(ix)?;
        let range = outline.subtree(start);
        Some(BranchSums {
            start,
            own: self.over(range.clone())?,
            path: self.path(outline, ix)?,
            tips: self.tips_in(range.clone()),
            newest: self.newest_entry(range.start).and_then(|ix| source.tree().node(ix).time()),
        })
    }

    /// Sums over the path from the root to an entry. Entries between branch points are adjacent.
    fn path(&self, outline: &Outline, ix: NodeIx) -> Option<Totals> {
        let (mut path, mut next) = (Totals::default(), Some(ix));
        while let Some(at) = next {
            let start = outline.place(outline.branch_start(at)?)?;
            path.add(&self.over(start..outline.place(at)? + 1)?);
            next = outline.order.parent(start as u32).and_then(|parent| outline.entry_at(parent as usize));
        }
        Some(path)
    }

    /// The entry with the latest time at a place or below it.
    pub(super) fn newest_entry(&self, place: usize) -> Option<NodeIx> {
        self.newest.get(place).copied()
    }

    /// How many branches end between two places.
    pub(super) fn tips_in(&self, places: Range<usize>) -> u32 {
        let before = |place: usize| self.tips.get(place).copied().unwrap_or(0);
        before(places.end).saturating_sub(before(places.start))
    }

    pub(super) fn over(&self, places: Range<usize>) -> Option<Totals> {
        Some(self.before.get(places.end)?.minus(self.before.get(places.start)?))
    }
}
