//! All entries in the order in which they are drawn, with what filters must know of each: made once, by envelopes.
//!
//! Children stand behind their parent, the branch with the open entry first, the others by time. Knows no rows.

use super::Filter;
use crate::entry::Source;
use crate::error::Result;
use crate::gather;
use crate::kind::{Kind, KindClass, Role};
use crate::tree::{Node, NodeIx, Tree};

/// No place.
pub(super) const NONE: u32 = u32::MAX;

const HIDDEN: u8 = 1;
const BOOKKEEPING: u8 = 2;
const TOOL_RESULT: u8 = 4;
const USER: u8 = 8;
const ON_PATH: u8 = 16;

/// The entries of a tree by their place from the top of the drawing.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    entries: Vec<NodeIx>,
    parents: Vec<u32>,
    /// The place behind the last descendant.
    ends: Vec<u32>,
    classes: Vec<u8>,
    /// The place of an entry, by its place in file order.
    places: Vec<u32>,
}

impl Order {
    /// Orders a tree that is open at `open`.
    pub(super) fn new(source: &dyn Source, open: Option<NodeIx>) -> Result<Self> {
        let tree = source.tree();
        let facts = gather::of(source)?;
        let on_path = marks(tree, open);
        let first_on_path = |mut siblings: Vec<NodeIx>| {
            siblings.sort_by_key(|ix| !on_path.get(ix.index()).copied().unwrap_or(false));
            siblings
        };
        let mut order = Self { places: vec![NONE; tree.stored_len()], ..Self::default() };
        let mut stack: Vec<(u32, NodeIx)> = Vec::new();
        stack.extend(first_on_path(tree.roots().collect()).into_iter().rev().map(|root| (NONE, root)));
        while let Some((parent, ix)) = stack.pop() {
            let place = order.entries.len() as u32;
            let mut class = class(tree.node(ix), on_path[ix.index()]);
            if facts.is_silent(ix) && open != Some(ix) {
                class |= HIDDEN;
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
                    let children = first_on_path(tree.children_by_time(ix));
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

    /// Where an entry stands.
    pub(super) fn place(&self, ix: NodeIx) -> Option<u32> {
        self.places.get(ix.index()).copied().filter(|place| *place != NONE)
    }

    pub(super) fn parent(&self, place: u32) -> Option<u32> {
        self.parents.get(place as usize).copied().filter(|parent| *parent != NONE)
    }

    /// The place behind an entry's last descendant.
    pub(super) fn end(&self, place: u32) -> u32 {
        self.ends.get(place as usize).copied().unwrap_or(place)
    }

    pub(super) fn is_on_path(&self, place: u32) -> bool {
        self.has(place, ON_PATH)
    }

    /// Which entries a filter lets through, by place.
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

    /// Of these entries those that may be shown at all, by place.
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

/// Which entries are on the path to the open one, by place in file order.
fn marks(tree: &Tree, open: Option<NodeIx>) -> Vec<bool> {
    let mut on_path = vec![false; tree.stored_len()];
    for ix in open.into_iter().flat_map(|open| tree.ancestors(open)) {
        if let Some(mark) = on_path.get_mut(ix.index()) {
            *mark = true;
        }
    }
    on_path
}

/// The places behind the last descendants: parents stand before their children.
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

/// What filters must know, as far as the envelope tells.
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
