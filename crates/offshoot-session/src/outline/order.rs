//! All entries in display order with what filters need, from envelopes. Children follow their parent, siblings by time.
//! The child on the path to the open entry comes first in the peers' layout and last in the trunk layout, where off
//! that path the heaviest comes last. Knows no rows.

use std::cell::OnceCell;
use std::collections::HashSet;

use super::{Filter, TreeLayout};
use crate::entry::Source;
use crate::error::Result;
use crate::facts::Facts;
use crate::facts::chains::Chains;
use crate::gather;
use crate::kind::{Kind, KindClass, Role};
use crate::tree::reader::NodeReader;
use crate::tree::{Node, NodeIx, Tree};

pub(super) const NONE: u32 = u32::MAX;

pub(super) const HIDDEN: u8 = 1;
const BOOKKEEPING: u8 = 2;
const TOOL_RESULT: u8 = 4;
const USER: u8 = 8;
const ON_PATH: u8 = 16;
pub(super) const FAILED: u8 = 32;

/// The entries of a tree by place in display order.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    entries: Vec<NodeIx>,
    parents: Vec<u32>,
    /// The place after the last descendant.
    ends: Vec<u32>,
    classes: Vec<u8>,
    /// The place of an entry after one, by its index in the tree; 0 if it has none. Pages of zeros take no memory.
    places: Vec<u32>,
}

impl Order {
    pub(super) fn new(source: &dyn Source, open: Option<NodeIx>, layout: TreeLayout) -> Result<Self> {
        let tree = source.tree();
        let facts = gather::of(source)?;
        let nodes = &NodeReader::new(tree);
        let on_path = marks(tree, nodes, open);
        let is_on_path = |ix: NodeIx| on_path.get(ix.index()) == Some(&true);
        let is_on_path = &is_on_path;
        let siblings = SiblingOrder { tree, nodes, facts: &facts, layout, open, is_on_path, weights: OnceCell::new() };
        let mut order = Self::with_room(tree, tree.stored_len());
        let roots = siblings.arranged(None, tree.roots().collect());
        let mut stack: Vec<(u32, NodeIx)> = roots.into_iter().rev().map(|root| (NONE, root)).collect();
        while let Some((parent, ix)) = stack.pop() {
            let place = order.push(parent, ix, siblings.class(ix));
            stack.extend(siblings.children(ix).rev().map(|child| (place, child)));
        }
        order.ends = ends(&order.parents);
        Ok(order)
    }

    /// A part of the trunk layout's order: `path`, which leads down to the open entry, and of each side branch the first
    /// shown entry and one more, with the hidden ones above them. `None` if that is more than `limit` entries.
    pub(super) fn near(source: &dyn Source, path: &[NodeIx], filter: Filter, limit: usize) -> Result<Option<Self>> {
        let tree = source.tree();
        let facts = gather::of(source)?;
        let nodes = &NodeReader::new(tree);
        let (top, open) = (path.first().copied(), path.last().copied());
        let on_path: HashSet<NodeIx> = path.iter().copied().collect();
        let is_on_path = &|ix: NodeIx| on_path.contains(&ix);
        let layout = TreeLayout::Trunk;
        let siblings = SiblingOrder { tree, nodes, facts: &facts, layout, open, is_on_path, weights: OnceCell::new() };
        let mut order = Self::with_room(tree, path.len());
        let mut stack: Vec<(u32, NodeIx, Option<u32>)> = top.into_iter().map(|top| (NONE, top, None)).collect();
        // Side branches of which two shown entries are placed, by the first one's place.
        let mut known = HashSet::new();
        while let Some((parent, ix, head)) = stack.pop() {
            if head.is_some_and(|head| known.contains(&head)) {
                continue;
            }
            if order.len() >= limit {
                return Ok(None);
            }
            let class = siblings.class(ix);
            let place = order.push(parent, ix, class);
            let is_shown = !is_on_path(ix) && shows(class, filter);
            let head = match head {
                Some(head) if is_shown => {
                    known.insert(head);
                    continue;
                }
                None if is_shown => Some(place),
                head => head,
            };
            stack.extend(siblings.children(ix).rev().map(|child| (place, child, head)));
        }
        order.ends = ends(&order.parents);
        Ok(Some(order))
    }

    fn with_room(tree: &Tree, entries: usize) -> Self {
        Self {
            entries: Vec::with_capacity(entries),
            parents: Vec::with_capacity(entries),
            ends: Vec::new(),
            classes: Vec::with_capacity(entries),
            places: vec![0; tree.stored_len()],
        }
    }

    fn push(&mut self, parent: u32, ix: NodeIx, class: u8) -> u32 {
        let place = self.entries.len() as u32;
        self.places[ix.index()] = place + 1;
        self.entries.push(ix);
        self.parents.push(parent);
        self.classes.push(class);
        place
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn entry(&self, place: u32) -> Option<NodeIx> {
        self.entries.get(place as usize).copied()
    }

    pub(super) fn place(&self, ix: NodeIx) -> Option<u32> {
        self.places.get(ix.index())?.checked_sub(1)
    }

    pub(super) fn parent(&self, place: u32) -> Option<u32> {
        self.parents.get(place as usize).copied().filter(|parent| *parent != NONE)
    }

    /// The place after an entry's last descendant.
    pub(super) fn end(&self, place: u32) -> u32 {
        self.ends.get(place as usize).copied().unwrap_or(place)
    }

    pub(super) fn is_on_path(&self, place: u32) -> bool {
        self.has(place, ON_PATH)
    }

    /// Whether an entry is the result of a successful tool call.
    pub(super) fn is_good_result(&self, place: u32) -> bool {
        self.classes.get(place as usize).is_some_and(|class| is_good_result(*class))
    }

    /// Whether a filter that needs no labels shows an entry.
    pub(super) fn is_shown(&self, place: u32, filter: Filter) -> bool {
        self.classes.get(place as usize).is_some_and(|class| shows(*class, filter))
    }

    /// Whether a filter shows each entry, by place.
    pub(super) fn filtered(&self, tree: &Tree, filter: Filter) -> Vec<bool> {
        if filter == Filter::LabeledOnly {
            return self.labelled(tree.labels().into_iter().filter_map(|(target, _)| tree.find(target.as_str())));
        }
        self.classes.iter().map(|class| shows(*class, filter)).collect()
    }

    /// Which of these entries may be shown, by place.
    pub(super) fn labelled(&self, entries: impl Iterator<Item = NodeIx>) -> Vec<bool> {
        let mut shown = vec![false; self.len()];
        for place in entries.filter_map(|ix| self.place(ix)).filter(|place| !self.has(*place, HIDDEN)) {
            shown[place as usize] = true;
        }
        shown
    }

    fn has(&self, place: u32, bits: u8) -> bool {
        self.classes.get(place as usize).is_some_and(|class| class & bits != 0)
    }
}

/// Siblings in display order.
struct SiblingOrder<'a> {
    tree: &'a Tree,
    nodes: &'a NodeReader<'a>,
    facts: &'a Facts,
    layout: TreeLayout,
    open: Option<NodeIx>,
    is_on_path: &'a dyn Fn(NodeIx) -> bool,
    /// See [`weights`]. Only siblings off the path need them.
    weights: OnceCell<Vec<u64>>,
}

impl SiblingOrder<'_> {
    fn children(&self, ix: NodeIx) -> impl DoubleEndedIterator<Item = NodeIx> + use<> {
        let mut children = self.nodes.children(ix);
        let (only, several) = match (children.next(), children.next()) {
            (only, None) => (only, Vec::new()),
            _ => (None, self.arranged(Some(ix), self.nodes.children_by_time(ix))),
        };
        only.into_iter().chain(several)
    }

    fn arranged(&self, parent: Option<NodeIx>, mut siblings: Vec<NodeIx>) -> Vec<NodeIx> {
        match self.layout {
            TreeLayout::Pi => siblings.sort_by_key(|ix| !(self.is_on_path)(*ix)),
            // Nothing continues the trunk below the open entry.
            TreeLayout::Trunk if self.open.is_some() && parent == self.open => {}
            TreeLayout::Trunk => {
                let on_path = siblings.iter().position(|ix| (self.is_on_path)(*ix));
                let weight = |at: &usize| siblings.get(*at).map(|ix| self.weight(*ix));
                let main = on_path.or_else(|| (0..siblings.len()).max_by_key(weight));
                let from = siblings.get_mut(main.unwrap_or(0)..);
                from.into_iter().for_each(|from| from.rotate_left(from.len().min(1)));
            }
        }
        siblings
    }

    fn weight(&self, ix: NodeIx) -> u64 {
        let weights = self.weights.get_or_init(|| weights(self.tree, &self.facts.chains));
        self.facts.chains.find(self.nodes, ix).and_then(|chain| weights.get(chain)).copied().unwrap_or(0)
    }

    /// What filters need of an entry, as bits.
    fn class(&self, ix: NodeIx) -> u8 {
        let mut class = self.nodes.look(ix, |node| class(node, (self.is_on_path)(ix)));
        if self.facts.is_silent(ix) && self.open != Some(ix) {
            class |= HIDDEN;
        }
        if self.facts.has_failed(ix) {
            class |= FAILED;
        }
        class
    }
}

pub(super) fn is_good_result(class: u8) -> bool {
    class & (TOOL_RESULT | FAILED) == TOOL_RESULT
}

/// Whether a filter shows an entry with these bits. Which entries have a label, they do not say.
pub(super) fn shows(class: u8, filter: Filter) -> bool {
    match filter {
        Filter::All | Filter::LabeledOnly => class & HIDDEN == 0,
        Filter::Default => class & (HIDDEN | BOOKKEEPING) == 0,
        Filter::NoTools => class & (HIDDEN | BOOKKEEPING | TOOL_RESULT) == 0,
        Filter::UserOnly => class & (HIDDEN | USER) == USER,
    }
}

/// Which entries are on the path to the open one, by index.
fn marks(tree: &Tree, nodes: &NodeReader<'_>, open: Option<NodeIx>) -> Vec<bool> {
    let mut on_path = vec![false; tree.stored_len()];
    for ix in open.into_iter().flat_map(|open| nodes.ancestors(open)) {
        if let Some(mark) = on_path.get_mut(ix.index()) {
            *mark = true;
        }
    }
    on_path
}

/// The number of entries in each chain and below it; empty for a tree without branches.
fn weights(tree: &Tree, chains: &Chains) -> Vec<u64> {
    if tree.leaves().nth(1).is_none() {
        return Vec::new();
    }
    let links = chains.tree();
    let mut weights: Vec<u64> = chains.all.iter().map(|chain| chain.totals.entries).collect();
    for (at, parent) in links.children_first().filter_map(|at| Some((at, links.parent(at)?))) {
        weights[parent] += weights[at];
    }
    weights
}

/// The places after the last descendants. Parents precede their children.
fn ends(parents: &[u32]) -> Vec<u32> {
    let mut ends: Vec<u32> = (1..=parents.len() as u32).collect();
    for place in (0..parents.len()).rev() {
        let end = ends[place];
        if let Some(above) = ends.get_mut(parents[place] as usize) {
            *above = (*above).max(end);
        }
    }
    ends
}

/// What filters need of an envelope, as bits.
pub(super) fn class(node: &Node, is_on_path: bool) -> u8 {
    let is_hidden = node.is_leaf_marker() || node.kind() == Kind::Usage;
    let is_bookkeeping = node.kind().class() != KindClass::Conversation;
    let bits = [
        (is_hidden, HIDDEN),
        (is_bookkeeping, BOOKKEEPING),
        (node.role() == Some(Role::ToolResult), TOOL_RESULT),
        (node.role() == Some(Role::User), USER),
        (is_on_path, ON_PATH),
    ];
    bits.iter().filter(|(is_set, _)| *is_set).fold(0, |class, (_, bit)| class | bit)
}
