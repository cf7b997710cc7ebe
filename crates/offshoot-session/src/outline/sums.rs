//! What branches hold and cost, for any entry at once: sums made in one pass over the drawing's order.

use std::ops::Range;

use super::Outline;
use crate::clock::Millis;
use crate::entry::Source;
use crate::error::Result;
use crate::facts::Totals;
use crate::gather;
use crate::stats;
use crate::tree::NodeIx;

/// Sums over a tree, to be asked for any entry: 44 bytes an entry.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    /// Over all entries before a place of the drawing; one more than there are entries.
    before: Vec<Totals>,
    /// How many branches end before a place.
    tips: Vec<u32>,
    /// When something was last written at a place or below it; [`Millis::MIN`] is never.
    newest: Vec<Millis>,
}

/// What an entry's branch holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BranchSums {
    /// The first entry of the branch: it or one of its ancestors, behind a branch point or a root.
    pub start: NodeIx,
    /// Over the branch: its first entry and all that follows it.
    pub own: Totals,
    /// Over the path from the root to the entry.
    pub path: Totals,
    /// How many branches end in it.
    pub tips: u32,
    /// When something was last written in it.
    pub newest: Option<Millis>,
}

impl Sums {
    /// Adds up what entries report. Linear in the entries of the tree; reads bodies only if the source has not kept what
    /// they report.
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
        let mut sums = Self { before, tips, newest: vec![Millis::MIN; count] };
        let (mut total, mut tips) = (Totals::default(), 0);
        for place in 0..count {
            let Some(ix) = outline.entry_at(place) else { continue };
            sums.before.push(total);
            sums.tips.push(tips);
            total.add(&stats::of(source, &facts, ix));
            tips += u32::from(ends_here.get(place) == Some(&true));
            if let Some(newest) = sums.newest.get_mut(place) {
                *newest = tree.node(ix).time().unwrap_or(Millis::MIN);
            }
        }
        sums.before.push(total);
        sums.tips.push(tips);
        for place in (0..count).rev() {
            let newest = sums.newest.get(place).copied().unwrap_or(Millis::MIN);
            let parent = outline.order.parent(place as u32);
            if let Some(above) = parent.and_then(|parent| sums.newest.get_mut(parent as usize)) {
                *above = (*above).max(newest);
            }
        }
        Ok(sums)
    }

    /// What the branch of an entry holds; `None` for an entry that came later.
    pub fn branch(&self, outline: &Outline, ix: NodeIx) -> Option<BranchSums> {
        let start = outline.branch_start(ix)?;
        let range = outline.subtree(start);
        Some(BranchSums {
            start,
            own: self.over(range.clone())?,
            path: self.path(outline, ix)?,
            tips: self.tips.get(range.end)?.saturating_sub(*self.tips.get(range.start)?),
            newest: Some(*self.newest.get(range.start)?).filter(|newest| *newest != Millis::MIN),
        })
    }

    /// Over the path from the root to an entry: from where a branch begins to where the next one leaves it, entries stand
    /// one behind the other.
    fn path(&self, outline: &Outline, ix: NodeIx) -> Option<Totals> {
        let (mut path, mut next) = (Totals::default(), Some(ix));
        while let Some(at) = next {
            let start = outline.place(outline.branch_start(at)?)?;
            path.add(&self.over(start..outline.place(at)? + 1)?);
            next = outline.order.parent(start as u32).and_then(|parent| outline.entry_at(parent as usize));
        }
        Some(path)
    }

    fn over(&self, places: Range<usize>) -> Option<Totals> {
        Some(self.before.get(places.end)?.minus(self.before.get(places.start)?))
    }
}
