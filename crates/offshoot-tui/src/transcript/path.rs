//! What stands in a transcript, in order, without bodies: one group for each message or mark, with the results of its
//! calls. Knows the tree's nodes, and no screen.

use offshoot_session::transcript::ItemShape;
use offshoot_session::tree::{NodeIx, Tree};

/// What names an item, or a result: an entry of the tree, or a thing that came in live and has no entry here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Key {
    Entry(NodeIx),
    Live(u32),
}

/// A message or a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) key: Key,
    pub(super) shape: ItemShape,
    first_result: u32,
    results: u32,
}

/// The entries from a root to a leaf, as far as a transcript shows them. Made where the tree is, and handed to where
/// the screen is.
#[derive(Debug, Clone, Default)]
pub struct Path {
    groups: Vec<Group>,
    results: Vec<Key>,
    /// The answer that results belong to.
    answer: Option<usize>,
}

impl Path {
    /// The path to an entry; the empty one without an entry. Costs its length, and reads no body.
    #[must_use]
    pub fn of(tree: &Tree, leaf: Option<NodeIx>) -> Self {
        let mut path = Self::default();
        for ix in leaf.map(|leaf| tree.path(leaf)).unwrap_or_default() {
            let node = tree.node(ix);
            if let Some(shape) = ItemShape::of(node.kind(), node.role()).filter(|shape| *shape != ItemShape::System) {
                path.push(Key::Entry(ix), shape);
            }
        }
        path
    }

    /// How many groups there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub(super) fn get(&self, at: usize) -> Option<Group> {
        self.groups.get(at).copied()
    }

    /// How many groups at the beginning are the same as those of another path.
    pub(super) fn common(&self, other: &Self) -> usize {
        let pairs = self.groups.iter().zip(&other.groups);
        pairs.take_while(|(own, others)| own.key == others.key && own.results == others.results).count()
    }

    /// The answer that the next result belongs to.
    pub(super) fn answer(&self) -> Option<usize> {
        self.answer
    }

    pub(super) fn results(&self, group: &Group) -> &[Key] {
        let first = group.first_result as usize;
        self.results.get(first..first + group.results as usize).unwrap_or_default()
    }

    pub(super) fn push(&mut self, key: Key, shape: ItemShape) {
        let end = u32::try_from(self.results.len()).unwrap_or(u32::MAX);
        match (shape, self.answer.and_then(|answer| self.groups.get_mut(answer))) {
            (ItemShape::Result, Some(answer)) => {
                self.results.push(key);
                answer.results += 1;
                return;
            }
            (ItemShape::Answer, _) => self.answer = Some(self.groups.len()),
            (ItemShape::User | ItemShape::Summary, _) => self.answer = None,
            (ItemShape::Result | ItemShape::Other | ItemShape::System, _) => {}
        }
        self.groups.push(Group { key, shape, first_result: end, results: 0 });
    }
}
