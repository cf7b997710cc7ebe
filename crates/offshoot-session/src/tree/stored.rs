//! Converts nodes to plain values for the side index, and back.

use std::sync::Arc;

use super::nodes::{BranchEnd, Nodes, PAGE, Pages};
use super::reader::NodeReader;
use super::{FLAG_DEAD, NONE, Node, NodeIx, Tree};
use crate::id::EntryId;
use crate::kind::{Kind, Role};

/// A node in plain values. References to other nodes are their indexes; `u32::MAX` means none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredNode<'a> {
    pub(crate) id: Option<&'a str>,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) time: i64,
    /// Parent, first child, last child, next sibling, nearest compaction, nearest thinking level change.
    pub(crate) places: [u32; 6],
    pub(crate) line: u32,
    /// The index in [`Kind::KNOWN`].
    pub(crate) kind: u8,
    /// 1 + the index in [`Role::KNOWN`]; 0 means none.
    pub(crate) role: u8,
    pub(crate) flags: u8,
}

/// A tree without its nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredShape {
    pub(crate) first_root: u32,
    pub(crate) last_root: u32,
    pub(crate) dead: u32,
    /// See [`Tree::shape_of_first`].
    pub(crate) sum: u64,
    /// Entries whose parent is not in the file, with the parent's id.
    pub(crate) orphans: Vec<(u32, EntryId)>,
}

pub(crate) enum PageOf<'a> {
    Unchanged,
    Here(Vec<&'a Node>),
}

impl NodeIx {
    pub(crate) fn stored(raw: u32) -> Option<Self> {
        Self::from_raw(raw)
    }
}

impl BranchEnd {
    pub(crate) fn work(self) -> Option<NodeIx> {
        NodeIx::from_raw(self.work)
    }
}

impl Node {
    pub(crate) fn stored(&self) -> StoredNode<'_> {
        StoredNode {
            id: self.id.as_ref().map(EntryId::as_str),
            offset: self.offset,
            length: self.length,
            time: self.time,
            places: [self.parent, self.first_child, self.last_child, self.next_sibling, self.compaction, self.thinking],
            line: self.line,
            kind: self.kind as u8,
            role: self.role.map_or(0, |role| role as u8 + 1),
            flags: self.flags,
        }
    }

    pub(crate) fn from_stored(stored: &StoredNode<'_>) -> Self {
        let role = |place: u8| Role::KNOWN.get(place as usize).copied().unwrap_or(Role::Unknown);
        let [parent, first_child, last_child, next_sibling, compaction, thinking] = stored.places;
        Self {
            id: stored.id.map(EntryId::new),
            offset: stored.offset,
            length: stored.length,
            time: stored.time,
            parent,
            first_child,
            last_child,
            next_sibling,
            compaction,
            thinking,
            line: stored.line,
            kind: Kind::KNOWN.get(stored.kind as usize).copied().unwrap_or(Kind::Unknown),
            role: stored.role.checked_sub(1).map(role),
            flags: stored.flags,
        }
    }

    /// The placeholder of an unreadable node, which is not in the tree.
    pub(crate) fn unreadable() -> Self {
        Self::from_stored(&StoredNode {
            id: None,
            offset: 0,
            length: 0,
            time: i64::MIN,
            places: [NONE; 6],
            line: 0,
            kind: u8::MAX,
            role: 0,
            flags: FLAG_DEAD,
        })
    }
}

impl Tree {
    /// The number of nodes including removed ones, so that indexes stay valid.
    pub(crate) fn stored_len(&self) -> usize {
        self.nodes.len()
    }

    /// A sum over the first `count` nodes' parents. It differs if one of them has another parent than before. Costs the
    /// other nodes.
    pub(crate) fn shape_of_first(&self, count: usize) -> u64 {
        let nodes = NodeReader::new(self);
        let later = nodes.entries_from(count).map(|ix| nodes.look(ix, |node| Self::shape_of(ix.0, node.parent)));
        later.fold(self.shape, u64::wrapping_sub)
    }

    /// An entry's part of the sum: its place and its parent, mixed.
    pub(super) fn shape_of(at: u32, parent: u32) -> u64 {
        let mixed = (u64::from(at) << 32 | u64::from(parent)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    /// How many of them are in pages.
    pub(crate) fn paged_len(&self) -> usize {
        self.nodes.paged_count()
    }

    pub(crate) fn stored_page(&self, page: usize) -> PageOf<'_> {
        let range = page * PAGE..((page + 1) * PAGE).min(self.nodes.len());
        let is_whole = range.end <= self.nodes.paged_count() || range.start >= self.nodes.paged_count();
        match self.nodes.page_in_memory(page) {
            None if is_whole && range.start < self.nodes.paged_count() => PageOf::Unchanged,
            _ => PageOf::Here(range.map(|at| &self.nodes[at]).collect()),
        }
    }

    /// Calls `look` with the ids of all nodes from an index on.
    pub(crate) fn look_at_ids(&self, from: usize, mut look: impl FnMut(u32, &EntryId)) {
        let mut show = |at: u32, node: &Node| {
            if let Some(id) = node.id.as_ref().filter(|_| at as usize >= from) {
                look(at, id);
            }
        };
        if from >= self.nodes.paged_count() {
            let fresh = self.nodes.fresh().iter().enumerate();
            fresh.for_each(|(at, node)| show((at + self.nodes.paged_count()) as u32, node));
        } else {
            self.nodes.look_at_all(show);
        }
    }

    pub(crate) fn stored_shape(&self) -> StoredShape {
        let raw = |ix: Option<NodeIx>| ix.map_or(NONE, |ix| ix.0);
        let mut orphans: Vec<_> = self.orphans.iter().map(|(at, parent)| (*at, parent.clone())).collect();
        orphans.sort_unstable_by_key(|(at, _)| *at);
        let (first_root, last_root) = (raw(self.first_root), raw(self.last_root));
        StoredShape { first_root, last_root, dead: self.dead as u32, sum: self.shape, orphans }
    }

    pub(crate) fn over(pages: Arc<dyn Pages>, shape: StoredShape) -> Self {
        Self {
            nodes: Nodes::over(pages),
            first_root: NodeIx::from_raw(shape.first_root),
            last_root: NodeIx::from_raw(shape.last_root),
            dead: shape.dead as usize,
            shape: shape.sum,
            orphans: shape.orphans.into_iter().collect(),
            ..Self::default()
        }
    }

    /// The nodes of one page of a tree in memory.
    pub(crate) fn page_of_nodes(&self, page: usize) -> Arc<[Node]> {
        self.nodes.fresh().iter().skip(page * PAGE).take(PAGE).cloned().collect()
    }
}
