//! The items of a transcript in order, without bodies: one group for each message or mark, with the results of its
//! calls. It uses the nodes of the tree, and no screen.

use offshoot_session::transcript::ItemShape;
use offshoot_session::tree::{NodeIx, Tree};

/// The key of an item or a result: an entry of the tree, or a block of the live conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Key {
    Entry(NodeIx),
    Live(u64),
    UnderWay(usize),
}

/// A message or a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) key: Key,
    pub(super) shape: ItemShape,
    first_result: u32,
    results: u32,
}

/// The entries from a root to a leaf that a transcript shows. It is built next to the tree, and handed to the screen.
#[derive(Debug, Clone, Default)]
pub struct Path {
    groups: Vec<Group>,
    results: Vec<NodeIx>,
    answer: Option<usize>,
}

impl Path {
    /// The path to an entry, or the empty path without an entry. The cost is the length of the path. Reads no body.
    #[must_use]
    pub fn of(tree: &Tree, leaf: Option<NodeIx>) -> Self {
        Self::beginning(tree, leaf, usize::MAX)
    }

    /// The beginning of the path, with at most `most` shown entries.
    #[must_use]
    pub fn beginning(tree: &Tree, leaf: Option<NodeIx>, most: usize) -> Self {
        let path = leaf.map(|leaf| tree.path(leaf)).unwrap_or_default();
        let shown = path.into_iter().filter_map(|ix| {
            let node = tree.node(ix);
            Some((ix, ItemShape::of(node.kind(), node.role()).filter(|shape| *shape != ItemShape::System)?))
        });
        let mut path = Self::default();
        shown.take(most).for_each(|(ix, shape)| path.push(ix, shape));
        path
    }

    #[must_use]
    pub fn entries(&self) -> usize {
        self.groups.len() + self.results.len()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are no groups.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub(super) fn get(&self, at: usize) -> Option<Group> {
        self.groups.get(at).copied()
    }

    pub(super) fn results(&self, group: &Group) -> &[NodeIx] {
        let first = group.first_result as usize;
        self.results.get(first..first + group.results as usize).unwrap_or_default()
    }

    /// Adds a live block as a group.
    pub(super) fn push_block(&mut self, number: u64, shape: ItemShape) {
        self.groups.push(Group { key: Key::Live(number), shape, first_result: 0, results: 0 });
    }

    fn push(&mut self, ix: NodeIx, shape: ItemShape) {
        let end = u32::try_from(self.results.len()).unwrap_or(u32::MAX);
        match (shape, self.answer.and_then(|answer| self.groups.get_mut(answer))) {
            (ItemShape::Result, Some(answer)) => {
                self.results.push(ix);
                answer.results += 1;
                return;
            }
            (ItemShape::Answer, _) => self.answer = Some(self.groups.len()),
            (ItemShape::User | ItemShape::Summary, _) => self.answer = None,
            (ItemShape::Result | ItemShape::Other | ItemShape::System, _) => {}
        }
        self.groups.push(Group { key: Key::Entry(ix), shape, first_result: end, results: 0 });
    }
}
