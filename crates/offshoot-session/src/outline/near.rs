//! The rows near the open entry, laid out without the rest of the tree: what a screen shows first. They are the last
//! rows of the whole layout.

use std::collections::HashSet;

use super::order::Order;
use super::{Filter, Outline, OutlineScope, OutlineSetup, RowTexts, TreeLayout};
use crate::entry::Source;
use crate::error::Result;
use crate::tree::{NodeIx, Tree};

/// The most entries to lay out.
const MOST: usize = 1 << 14;
/// How many entries of the path are tried first for each wanted row.
const PER_ROW: usize = 8;

impl Outline {
    /// Lays out at least `rows` rows above the open entry, and all below it. The first row may differ from that of the
    /// whole layout. Branches off the path are folded. The cost does not depend on the size of the tree.
    ///
    /// `None` if the layout is not the trunk, if the filter unfolds branches, if there are fewer rows, or if they have
    /// too many entries.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn near(
        source: &dyn Source,
        leaf: Option<NodeIx>,
        setup: OutlineSetup<'_>,
        rows: usize,
    ) -> Result<Option<Self>> {
        let tree = source.tree();
        let can_be_near = setup.layout == TreeLayout::Trunk && setup.filter != Filter::LabeledOnly;
        let Some(open) = leaf.and_then(|leaf| tree.skip_leaf_markers(leaf)).filter(|_| can_be_near) else {
            return Ok(None);
        };
        let mut length = rows.max(1).saturating_mul(PER_ROW);
        while length <= MOST {
            let mut path: Vec<NodeIx> = tree.ancestors(open).take(length).collect();
            let is_whole_path = path.len() < length;
            path.reverse();
            let Some(order) = Order::near(source, &path, setup.filter, MOST)? else { break };
            let texts = RowTexts::new(setup.home, setup.plain);
            let mut outline = Self { order, open: Some(open), texts, is_part: true, ..Self::default() };
            outline.layout = setup.layout;
            outline.arrange(tree, OutlineScope { filter: setup.filter, ..OutlineScope::default() });
            if outline.nearest(open).is_some_and(|row| row > rows) {
                return tree.whole(Some(outline));
            }
            if is_whole_path {
                break;
            }
            length *= 4;
        }
        tree.whole(None)
    }

    /// Whether the whole tree is laid out, and not only the rows near the open entry.
    pub fn is_whole(&self) -> bool {
        !self.is_part
    }

    /// The entries with a label, as far as they are laid out.
    pub(super) fn labelled(&self, tree: &Tree) -> HashSet<NodeIx> {
        if self.is_whole() {
            return tree.labels().into_iter().filter_map(|(target, _)| tree.find(target.as_str())).collect();
        }
        let entries = (0..self.places()).filter_map(|place| self.entry_at(place));
        entries.filter(|ix| tree.label_of(*ix).is_some()).collect()
    }
}
