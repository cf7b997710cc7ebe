//! Paths from a root to an entry.

use crate::tree::reader::NodeReader;
use crate::tree::{NodeIx, Tree};

impl Tree {
    /// The entries from the root to `ix`, both included. Linear in the depth.
    pub fn path(&self, ix: NodeIx) -> Vec<NodeIx> {
        let mut path: Vec<_> = NodeReader::new(self).ancestors(ix).collect();
        path.reverse();
        path
    }

    /// The entry, its parent, and so on up to the root.
    pub fn ancestors(&self, ix: NodeIx) -> impl Iterator<Item = NodeIx> + '_ {
        std::iter::successors(Some(ix), |at| self.parent(*at))
    }

    /// The deepest entry on both paths.
    pub fn common_ancestor(&self, a: NodeIx, b: NodeIx) -> Option<NodeIx> {
        let (a, b) = (self.path(a), self.path(b));
        a.iter().zip(&b).take_while(|(a, b)| a == b).last().map(|(shared, _)| *shared)
    }

    /// The nearest entry at or above a leaf marker that is not a marker.
    pub fn skip_leaf_markers(&self, ix: NodeIx) -> Option<NodeIx> {
        self.ancestors(ix).find(|at| !self.node(*at).is_leaf_marker())
    }
}
