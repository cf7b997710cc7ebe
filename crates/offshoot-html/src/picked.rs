//! Which entries a page contains, and their order.

use offshoot_session::entry::Source as _;
use offshoot_session::session::{Session, SessionPart};
use offshoot_session::tree::{NodeIx, Tree};

const OUTSIDE: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Picked {
    pub(crate) entries: Vec<NodeIx>,
    pub(crate) leaf: Option<NodeIx>,
    /// Each entry's place on the page, by its index in the tree.
    places: Vec<u32>,
}

impl Picked {
    pub(crate) fn new(session: &Session, part: SessionPart) -> Self {
        let tree = session.tree();
        let open = session.leaf().and_then(|leaf| tree.skip_leaf_markers(leaf));
        let (mut entries, leaf): (Vec<NodeIx>, _) = match part {
            SessionPart::Everything => (tree.entries().collect(), open),
            SessionPart::Path(end) => (tree.path(end), Some(end)),
            SessionPart::Subtree(top) => {
                (tree.walk_from(top).map(|(_, ix)| ix).collect(), Some(below(tree, open, top)))
            }
        };
        entries.sort_unstable();
        let mut places = vec![OUTSIDE; entries.last().map_or(0, |last| last.index() + 1)];
        for (place, ix) in (0u32..).zip(&entries) {
            if let Some(at) = places.get_mut(ix.index()) {
                *at = place;
            }
        }
        Self { entries, leaf, places }
    }

    /// An entry's place on the page; -1 if it is not on it.
    pub(crate) fn place(&self, ix: NodeIx) -> i64 {
        self.places.get(ix.index()).filter(|place| **place != OUTSIDE).map_or(-1, |place| i64::from(*place))
    }

    /// The places of entries with a label, in the order in which they got one.
    pub(crate) fn labels(&self, session: &Session) -> Vec<i64> {
        let tree = session.tree();
        let labelled = tree.labels().into_iter().filter_map(|(target, _)| tree.find(target.as_str()));
        labelled.map(|ix| self.place(ix)).filter(|place| *place >= 0).collect()
    }

    /// The place of an entry's parent; -1 if it is not on the page.
    pub(crate) fn parent(&self, session: &Session, ix: NodeIx) -> i64 {
        session.tree().parent(ix).map_or(-1, |parent| self.place(parent))
    }
}

/// The open entry if it is below `top`, else the newest leaf there.
fn below(tree: &Tree, open: Option<NodeIx>, top: NodeIx) -> NodeIx {
    if let Some(open) = open.filter(|open| tree.ancestors(*open).any(|ix| ix == top)) {
        return open;
    }
    std::iter::successors(Some(top), |at| tree.children_by_time(*at).pop()).last().unwrap_or(top)
}
