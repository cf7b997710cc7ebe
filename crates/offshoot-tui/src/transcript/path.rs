//! The items of a transcript in order, without bodies: one group for each message or mark, with the results of its
//! calls. It uses the nodes of the tree, and no screen.

use offshoot_session::clock::Millis;
use offshoot_session::transcript::ItemShape;
use offshoot_session::tree::reader::NodeReader;
use offshoot_session::tree::{Node, NodeIx, Tree};

use crate::message::MessageTime;

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
    /// When its entry was recorded; that of a block is in the block.
    time: Option<Millis>,
}

/// The entries from a root to a leaf that a transcript shows. It is built next to the tree, and handed to the screen.
#[derive(Debug, Clone, Default)]
pub struct Path {
    groups: Vec<Group>,
    results: Vec<NodeIx>,
    grouping: Grouping,
}

/// How long a path is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name of the other field says it")]
pub struct PathLength {
    pub entries: usize,
    /// Groups down to an entry of the path.
    pub groups_above: usize,
}

impl PathLength {
    /// The length of the path to `leaf`, on which `above` is. In memory it is a byte for each entry. Reads no body.
    #[must_use]
    pub fn of(tree: &Tree, leaf: Option<NodeIx>, above: Option<NodeIx>) -> Self {
        let (mut shapes, mut below) = (Vec::new(), None);
        for (ix, shape) in from_leaf(&NodeReader::new(tree), leaf) {
            if Some(ix) == above {
                below = Some(shapes.len());
            }
            shapes.extend(shape);
        }
        let mut groups = Grouping::default();
        let above = shapes.iter().skip(below.unwrap_or(shapes.len())).rev();
        let groups_above = above.filter(|shape| groups.answer_of(**shape).is_none()).count();
        Self { entries: shapes.len(), groups_above }
    }
}

/// Which entries begin a group.
#[derive(Debug, Clone, Copy, Default)]
struct Grouping {
    groups: usize,
    answer: Option<usize>,
}

impl Grouping {
    /// The group of the answer to which the next entry belongs; `None` if the entry begins a group.
    fn answer_of(&mut self, shape: ItemShape) -> Option<usize> {
        match (shape, self.answer) {
            (ItemShape::Result, Some(answer)) => return Some(answer),
            (ItemShape::Answer, _) => self.answer = Some(self.groups),
            (ItemShape::User | ItemShape::Summary, _) => self.answer = None,
            (ItemShape::Result | ItemShape::Other | ItemShape::System, _) => {}
        }
        self.groups += 1;
        None
    }
}

/// The entries from a leaf up to the root, with the shapes of those that are shown.
fn from_leaf<'a>(
    nodes: &'a NodeReader<'_>,
    leaf: Option<NodeIx>,
) -> impl Iterator<Item = (NodeIx, Option<ItemShape>)> + 'a {
    leaf.into_iter().flat_map(|leaf| nodes.ancestors(leaf)).map(|ix| {
        let shape = nodes.look(ix, |node| ItemShape::of(node.kind(), node.role()));
        (ix, shape.filter(|shape| *shape != ItemShape::System))
    })
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
        let mut path = Self::default();
        let nodes = NodeReader::new(tree);
        let mut shown: Vec<_> = from_leaf(&nodes, leaf).filter_map(|(ix, shape)| Some((ix, shape?))).collect();
        shown.reverse();
        shown.into_iter().take(most).for_each(|(ix, shape)| path.push(ix, shape, nodes.look(ix, Node::time)));
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

    /// The time of a prompt or an answer of the session.
    pub(super) fn time(&self, at: usize) -> Option<MessageTime> {
        let messages = |group: &&Group| matches!(group.shape, ItemShape::User | ItemShape::Answer);
        let at_time = self.groups.get(at).filter(messages)?.time?;
        let before = self.groups.get(..at)?.iter().rev().find(messages).and_then(|group| group.time);
        Some(MessageTime { at: at_time, before })
    }

    /// The group of an entry, or of the answer whose result it is.
    pub(super) fn group_of(&self, ix: NodeIx) -> Option<usize> {
        let is_it = |group: &Group| group.key == Key::Entry(ix) || self.results(group).contains(&ix);
        self.groups.iter().position(is_it)
    }

    pub(super) fn results(&self, group: &Group) -> &[NodeIx] {
        let first = group.first_result as usize;
        self.results.get(first..first + group.results as usize).unwrap_or_default()
    }

    /// Adds a live block as a group.
    pub(super) fn push_block(&mut self, number: u64, shape: ItemShape) {
        self.groups.push(Group { key: Key::Live(number), shape, first_result: 0, results: 0, time: None });
    }

    fn push(&mut self, ix: NodeIx, shape: ItemShape, time: Option<Millis>) {
        let end = u32::try_from(self.results.len()).unwrap_or(u32::MAX);
        match self.grouping.answer_of(shape).and_then(|answer| self.groups.get_mut(answer)) {
            Some(answer) => {
                self.results.push(ix);
                answer.results += 1;
            }
            None => self.groups.push(Group { key: Key::Entry(ix), shape, first_result: end, results: 0, time }),
        }
    }
}
