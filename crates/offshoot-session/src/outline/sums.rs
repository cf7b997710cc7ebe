//! What branches hold and cost, for any entry at once: sums made in one pass over the drawing's order.

use super::Outline;
use crate::clock::Millis;
use crate::entry::Source;
use crate::error::Result;
use crate::gather;
use crate::stats::{self, Totals};
use crate::tree::NodeIx;

/// Sums over a tree, to be asked for any entry.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    /// Over all entries before a place of the drawing; one more than there are entries.
    before: Vec<Totals>,
    /// Over the path from the root to a place.
    paths: Vec<Totals>,
    /// How many branches end before a place.
    tips: Vec<u32>,
    /// When something was last written at a place or below it.
    newest: Vec<Option<Millis>>,
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
        let mut sums = Self { newest: vec![None; count], ..Self::default() };
        let (mut total, mut tips) = (Totals::default(), 0);
        for place in 0..count {
            let Some(ix) = outline.entry_at(place) else { continue };
            let own = stats::of(source, &facts, ix);
            let above = outline.order.parent(place as u32).and_then(|parent| sums.paths.get(parent as usize));
            let mut path = above.copied().unwrap_or_default();
            path.add(&own);
            sums.before.push(total);
            sums.tips.push(tips);
            sums.paths.push(path);
            total.add(&own);
            tips += u32::from(ends_here.get(place) == Some(&true));
            if let Some(newest) = sums.newest.get_mut(place) {
                *newest = tree.node(ix).time();
            }
        }
        sums.before.push(total);
        sums.tips.push(tips);
        for place in (0..count).rev() {
            let newest = sums.newest.get(place).copied().flatten();
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
        let (before, behind) = (self.before.get(range.start)?, self.before.get(range.end)?);
        Some(BranchSums {
            start,
            own: behind.minus(before),
            path: *self.paths.get(outline.place(ix)?)?,
            tips: self.tips.get(range.end)?.saturating_sub(*self.tips.get(range.start)?),
            newest: *self.newest.get(range.start)?,
        })
    }
}
