//! All entries in display order with what filters need, from envelopes. Children follow their parent, siblings by time.
//! The child on the path to the open entry comes first in the peers' layout and last in the trunk layout, where off
//! that path the heaviest comes last. Knows no rows.

use super::{Filter, TreeLayout};
use crate::entry::Source;
use crate::error::Result;
use crate::facts::chains::Chains;
use crate::gather;
use crate::kind::{Kind, KindClass, Role};
use crate::tree::{Node, NodeIx, Tree};

pub(super) const NONE: u32 = u32::MAX;

const HIDDEN: u8 = 1;
const BOOKKEEPING: u8 = 2;
const TOOL_RESULT: u8 = 4;
const USER: u8 = 8;
const ON_PATH: u8 = 16;
const FAILED: u8 = 32;

/// The entries of a tree by place in display order.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    entries: Vec<NodeIx>,
    parents: Vec<u32>,
    /// The place after the last descendant.
    ends: Vec<u32>,
    classes: Vec<u8>,
    /// The place of an entry, by its index in the tree.
    places: Vec<u32>,
}

impl Order {
    pub(super) fn new(source: &dyn Source, open: Option<NodeIx>, layout: TreeLayout) -> Result<Self> {
        let tree = source.tree();
        let facts = gather::of(source)?;
        let on_path = marks(tree, open);
        let chains = &facts.chains;
        let weights = if layout == TreeLayout::Trunk { weights(tree, chains) } else { Vec::new() };
        let is_on_path = |ix: &NodeIx| on_path.get(ix.index()) == Some(&true);
        let weight = |ix: &NodeIx| chains.find(tree, *ix).and_then(|chain| weights.get(chain)).copied().unwrap_or(0);
        let arranged = |parent: Option<NodeIx>, mut siblings: Vec<NodeIx>| {
            match layout {
                TreeLayout::Pi => siblings.sort_by_key(|ix| !is_on_path(ix)),
                // Nothing continues the trunk below the open entry.
                TreeLayout::Trunk if open.is_some() && parent == open => {}
                TreeLayout::Trunk => {
                    let main =
                        (0..siblings.len()).max_by_key(|at| siblings.get(*at).map(|ix| (is_on_path(ix), weight(ix))));
                    siblings
                        .get_mut(main.unwrap_or(0)..)
                        .into_iter()
                        .for_each(|from| from.rotate_left(from.len().min(1)));
                }
            }
            siblings
        };
        let mut order = Self { places: vec![NONE; tree.stored_len()], ..Self::default() };
        let mut stack: Vec<(u32, NodeIx)> = Vec::new();
        stack.extend(arranged(None, tree.roots().collect()).into_iter().rev().map(|root| (NONE, root)));
        while let Some((parent, ix)) = stack.pop() {
            let place = order.entries.len() as u32;
            let mut class = class(tree.node(ix), on_path[ix.index()]);
            if facts.is_silent(ix) && open != Some(ix) {
                class |= HIDDEN;
            }
            if facts.has_failed(ix) {
                class |= FAILED;
            }
            order.places[ix.index()] = place;
            order.entries.push(ix);
            order.parents.push(parent);
            order.classes.push(class);
            let mut children = tree.children(ix);
            match (children.next(), children.next()) {
                (None, _) => {}
                (Some(only), None) => stack.push((place, only)),
                _ => {
                    let children = arranged(Some(ix), tree.children_by_time(ix));
                    stack.extend(children.into_iter().rev().map(|child| (place, child)));
                }
            }
        }
        order.ends = ends(&order.parents);
        Ok(order)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn entry(&self, place: u32) -> Option<NodeIx> {
        self.entries.get(place as usize).copied()
    }

    pub(super) fn place(&self, ix: NodeIx) -> Option<u32> {
        self.places.get(ix.index()).copied().filter(|place| *place != NONE)
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
        self.has(place, TOOL_RESULT) && !self.has(place, FAILED)
    }

    /// Whether a filter shows each entry, by place.
    pub(super) fn filtered(&self, tree: &Tree, filter: Filter) -> Vec<bool> {
        let without = |bits: u8| self.classes.iter().map(|class| class & (HIDDEN | bits) == 0).collect();
        match filter {
            Filter::All => without(0),
            Filter::Default => without(BOOKKEEPING),
            Filter::NoTools => without(BOOKKEEPING | TOOL_RESULT),
            Filter::UserOnly => self.classes.iter().map(|class| class & (HIDDEN | USER) == USER).collect(),
            Filter::LabeledOnly => {
                self.labelled(tree.labels().into_iter().filter_map(|(target, _)| tree.find(target.as_str())))
            }
        }
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

/// Which entries are on the path to the open one, by index.
fn marks(tree: &Tree, open: Option<NodeIx>) -> Vec<bool> {
    let mut on_path = vec![false; tree.stored_len()];
    for ix in open.into_iter().flat_map(|open| tree.ancestors(open)) {
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
fn class(node: &Node, is_on_path: bool) -> u8 {
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
