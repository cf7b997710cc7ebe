//! A tree as a list of plain values, for the side index, and back.

use super::{FLAG_DEAD, NONE, Node, NodeIx, Tree};
use crate::id::EntryId;
use crate::kind::{Kind, Role};

/// A node in plain values. Parents are places in file order; `u32::MAX` is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredNode<'a> {
    pub(crate) id: Option<&'a str>,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) time: i64,
    pub(crate) parent: u32,
    pub(crate) line: u32,
    /// Its place in [`Kind::KNOWN`].
    pub(crate) kind: u8,
    /// Its place in [`Role::KNOWN`], counted from 1; 0 is none.
    pub(crate) role: u8,
    pub(crate) flags: u8,
    /// The parent that the entry names, if that is not in the file.
    pub(crate) missing_parent: Option<&'a str>,
}

impl NodeIx {
    pub(crate) fn stored(raw: u32) -> Option<Self> {
        Self::from_raw(raw)
    }
}

impl Tree {
    /// All nodes, also those that were taken out, so that places stay places.
    pub(crate) fn stored(&self) -> impl ExactSizeIterator<Item = StoredNode<'_>> {
        self.nodes.iter().enumerate().map(|(at, node)| StoredNode {
            id: node.id.as_ref().map(EntryId::as_str),
            offset: node.offset,
            length: node.length,
            time: node.time,
            parent: node.parent,
            line: node.line,
            kind: node.kind as u8,
            role: node.role.map_or(0, |role| role as u8 + 1),
            flags: node.flags,
            missing_parent: self.orphans.get(&(at as u32)).map(EntryId::as_str),
        })
    }

    /// The tree again; `None` if the values make none.
    pub(crate) fn from_stored<'a>(nodes: impl Iterator<Item = Option<StoredNode<'a>>>, count: usize) -> Option<Self> {
        let mut tree = Self::new();
        tree.nodes.reserve_exact(count);
        tree.reserve_ids(count);
        for (at, stored) in nodes.enumerate() {
            let stored = stored?;
            if stored.parent != NONE && stored.parent as usize >= count {
                return None;
            }
            tree.nodes.push(node(&stored));
            if let Some(parent) = stored.missing_parent {
                tree.orphans.insert(at as u32, EntryId::new(parent));
            }
        }
        for at in 0..count as u32 {
            if tree.nodes[at as usize].flags & FLAG_DEAD != 0 {
                tree.dead += 1;
                continue;
            }
            if let Some(id) = tree.nodes[at as usize].id.clone() {
                tree.index_id(at, &id);
            }
            tree.link(at);
        }
        (tree.nodes.len() == count).then_some(tree)
    }
}

fn node(stored: &StoredNode<'_>) -> Node {
    let role = |place: u8| Role::KNOWN.get(place as usize).copied().unwrap_or(Role::Unknown);
    Node {
        id: stored.id.map(EntryId::new),
        offset: stored.offset,
        length: stored.length,
        time: stored.time,
        parent: stored.parent,
        first_child: NONE,
        last_child: NONE,
        next_sibling: NONE,
        line: stored.line,
        kind: Kind::KNOWN.get(stored.kind as usize).copied().unwrap_or(Kind::Unknown),
        role: stored.role.checked_sub(1).map(role),
        flags: stored.flags,
    }
}
