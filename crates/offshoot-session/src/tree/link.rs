//! Builds a tree: entries are pushed in file order and then linked. Later entries join one by one.
//!
//! A parent may follow its child in the file, an id may occur twice (the later entry gets the children), and parents
//! may form circles. Linking settles this in time linear in the number of entries.

use std::collections::HashMap;
use std::hash::BuildHasher;

use super::nodes::Nodes;
use super::{FLAG_DEAD, NONE, NewNode, Node, NodeIx, Tree};
use crate::error::{Code, Diagnostic};
use crate::id::EntryId;
use crate::kind::Kind;

#[derive(Debug, Default)]
pub(crate) struct TreeBuilder {
    tree: Tree,
    /// Children whose parent has not been pushed.
    waiting: Vec<(u32, EntryId)>,
    superseded: HashMap<u32, u32>,
    diagnostics: Vec<Diagnostic>,
}

impl TreeBuilder {
    /// The tree so far, not linked.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(crate) fn tree_mut(&mut self) -> &mut Tree {
        &mut self.tree
    }

    pub(crate) fn push(&mut self, new: &NewNode) -> NodeIx {
        let at = self.tree.nodes.len() as u32;
        let mut node = Node::new(new);
        if let Some(parent) = &new.parent {
            if new.id.as_ref() == Some(parent) {
                self.note(new, Code::SelfParent, format!("entry {parent} names itself as its parent; shown as a root"));
            } else {
                match self.quick_find(parent) {
                    Some(found) => node.parent = found,
                    None => self.waiting.push((at, parent.clone())),
                }
            }
        }
        self.tree.nodes.push(node);
        match &new.id {
            Some(id) => self.index(at, id, new),
            None => self.note(new, Code::MissingId, "the entry has no id, so nothing can continue from it".to_owned()),
        }
        NodeIx(at)
    }

    /// [`Tree::find`], faster for the preceding entry, which is most entries' parent.
    fn quick_find(&self, id: &EntryId) -> Option<u32> {
        match self.tree.nodes.last() {
            Some(last) if last.id.as_ref() == Some(id) => Some(self.tree.nodes.len() as u32 - 1),
            _ => self.tree.find(id.as_str()).map(|ix| ix.0),
        }
    }

    fn index(&mut self, at: u32, id: &EntryId, new: &NewNode) {
        if let Some(earlier) = self.tree.index_id(at, id) {
            self.superseded.insert(earlier, at);
            let line = self.tree.nodes[earlier as usize].line;
            self.note(new, Code::DuplicateId, format!("id {id} was used before, on line {line}; this entry counts"));
        }
    }

    fn note(&mut self, new: &NewNode, code: Code, message: String) {
        let (line, offset, entry) = (Some(new.line), new.offset, new.id.clone());
        self.diagnostics.push(Diagnostic { code, line, offset, entry, message });
    }

    /// Links all entries. `is_sound` checks the lines of entries without children: a damaged one is a torn write, not
    /// an entry, and is removed.
    pub(crate) fn finish<E>(
        mut self,
        mut is_sound: impl FnMut(&Node) -> Result<bool, E>,
    ) -> Result<(Tree, Vec<Diagnostic>), E> {
        let mut forward = self.resolve_waiting();
        forward |= self.redirect_superseded();
        if forward {
            self.break_cycles();
        }
        self.drop_unsound_leaves(&mut is_sound)?;
        for at in 0..self.tree.nodes.len() as u32 {
            self.tree.note_nearest(at);
            if !self.tree.nodes[at as usize].is_dead() {
                self.tree.link(at);
            }
        }
        if forward {
            // A parent that follows its child did not know its own nearest entries in time.
            let order: Vec<NodeIx> = self.tree.walk().map(|(_, ix)| ix).collect();
            order.iter().for_each(|ix| self.tree.note_nearest(ix.0));
        }
        Ok((self.tree, self.diagnostics))
    }

    fn resolve_waiting(&mut self) -> bool {
        let mut any_forward = false;
        for (at, parent) in std::mem::take(&mut self.waiting) {
            if let Some(found) = self.tree.find(parent.as_str()) {
                self.tree.nodes.fresh_mut()[at as usize].parent = found.0;
                any_forward = true;
            } else {
                let message = format!("parent {parent} is not in the file; shown as a root");
                self.note_at(at, Code::Orphan, message);
                self.tree.orphans.insert(at, parent);
            }
        }
        any_forward
    }

    fn redirect_superseded(&mut self) -> bool {
        if self.superseded.is_empty() {
            return false;
        }
        for at in 0..self.tree.nodes.len() as u32 {
            let mut parent = self.tree.nodes[at as usize].parent;
            while let Some(later) = self.superseded.get(&parent) {
                parent = *later;
            }
            self.tree.nodes.fresh_mut()[at as usize].parent = parent;
        }
        true
    }

    fn note_at(&mut self, at: u32, code: Code, message: String) {
        let node = &self.tree.nodes[at as usize];
        let (line, offset, entry) = (Some(node.line()), node.offset, node.id.clone());
        self.diagnostics.push(Diagnostic { code, line, offset, entry, message });
    }

    /// Makes the first entry of every circle a root.
    fn break_cycles(&mut self) {
        let count = self.tree.nodes.len();
        let mut walk_of = vec![NONE; count]; // the walk that first met each entry
        for start in 0..count as u32 {
            let mut at = start;
            while at != NONE && walk_of[at as usize] == NONE {
                walk_of[at as usize] = start;
                at = self.tree.nodes[at as usize].parent;
            }
            if at != NONE && walk_of[at as usize] == start {
                self.break_cycle_through(at);
            }
        }
    }

    fn break_cycle_through(&mut self, on_cycle: u32) {
        let (mut first, mut length, mut at) = (on_cycle, 0u32, on_cycle);
        loop {
            first = first.min(at);
            length += 1;
            at = self.tree.nodes[at as usize].parent;
            if at == on_cycle {
                break;
            }
        }
        let parent = self.tree.nodes[first as usize].parent;
        if let Some(id) = self.tree.nodes[parent as usize].id.clone() {
            self.tree.orphans.insert(first, id);
        }
        self.tree.nodes.fresh_mut()[first as usize].parent = NONE;
        let message = format!("{length} entries are each other's parents in a circle; the first is shown as a root");
        self.note_at(first, Code::Cycle, message);
    }

    fn drop_unsound_leaves<E>(&mut self, is_sound: &mut impl FnMut(&Node) -> Result<bool, E>) -> Result<(), E> {
        let mut has_child = vec![false; self.tree.nodes.len()];
        for node in self.tree.nodes.fresh() {
            if node.parent != NONE {
                has_child[node.parent as usize] = true;
            }
        }
        for at in 0..self.tree.nodes.len() as u32 {
            let node = &self.tree.nodes[at as usize];
            if has_child[at as usize] || is_sound(node)? {
                continue;
            }
            let message = "the line is not valid JSON; it stays in the file but not in the tree".to_owned();
            self.note_at(at, Code::MalformedLine, message);
            self.tree.remove_unlinked(at);
            if let Some((earlier, _)) = self.superseded.iter().find(|(_, later)| **later == at) {
                let earlier = *earlier;
                if let Some(id) = self.tree.nodes[earlier as usize].id.clone() {
                    self.tree.index_id(earlier, &id);
                }
            }
        }
        Ok(())
    }
}

impl Tree {
    /// Adds an entry to a linked tree, below its parent if the tree has that.
    pub(crate) fn insert(&mut self, new: &NewNode) -> NodeIx {
        let at = self.nodes.len() as u32;
        let mut node = Node::new(new);
        match new.parent.as_ref().filter(|parent| new.id.as_ref() != Some(*parent)) {
            None => {}
            Some(parent) if self.last_is(parent) => node.parent = at - 1,
            Some(parent) => match self.find(parent.as_str()) {
                Some(found) => node.parent = found.0,
                None => {
                    self.orphans.insert(at, parent.clone());
                }
            },
        }
        self.nodes.push(node);
        if let Some(id) = &new.id {
            self.index_id(at, id);
        }
        self.note_nearest(at);
        self.link(at);
        NodeIx(at)
    }

    /// Copies the nearest compaction and thinking level change from the parent, or notes the entry itself.
    fn note_nearest(&mut self, at: u32) {
        let node = &self.nodes[at as usize];
        let (mut compaction, mut thinking) = match node.parent {
            NONE => (NONE, NONE),
            parent => (self.nodes[parent as usize].compaction, self.nodes[parent as usize].thinking),
        };
        if node.kind == Kind::Compaction {
            compaction = at;
        }
        if node.kind == Kind::ThinkingLevelChange {
            thinking = at;
        }
        self.nodes.change(at, |node| (node.compaction, node.thinking) = (compaction, thinking));
    }

    /// Reserves space for ids. Growing by doubling would hash each id several times.
    pub(crate) fn expect(&mut self, more: usize) {
        let (nodes, hasher) = (&self.nodes, &self.hasher);
        self.ids.reserve(more, |raw| hash_of(hasher, nodes, *raw));
    }

    /// Maps an id to an entry; returns the entry that had it before.
    pub(super) fn index_id(&mut self, at: u32, id: &EntryId) -> Option<u32> {
        let hash = self.hasher.hash_one(id.as_str());
        let nodes = &self.nodes;
        if let Some(slot) = self.ids.find_mut(hash, |raw| nodes[*raw as usize].id.as_ref() == Some(id)) {
            return Some(std::mem::replace(slot, at));
        }
        self.ids.insert_unique(hash, at, |raw| hash_of(&self.hasher, nodes, *raw));
        None
    }

    fn remove_unlinked(&mut self, at: u32) {
        self.nodes.change(at, |node| node.flags |= FLAG_DEAD);
        self.dead += 1;
        self.orphans.remove(&at);
        let mut id = None;
        self.nodes.change(at, |node| id = node.id.take());
        if let Some(id) = id {
            let hash = self.hasher.hash_one(id.as_str());
            if let Ok(slot) = self.ids.find_entry(hash, |raw| *raw == at) {
                slot.remove();
            }
        }
    }

    /// Appends an entry to its parent's children, or to the roots.
    pub(super) fn link(&mut self, at: u32) {
        let parent = self.nodes[at as usize].parent;
        self.shape = self.shape.wrapping_add(Self::shape_of(at, parent));
        let elder = if parent == NONE {
            self.last_root.replace(NodeIx(at)).map_or(NONE, |ix| ix.0)
        } else {
            let mut elder = NONE;
            self.nodes.change(parent, |parent| elder = std::mem::replace(&mut parent.last_child, at));
            elder
        };
        if elder != NONE {
            self.nodes.change(elder, |elder| elder.next_sibling = at);
        } else if parent == NONE {
            self.first_root = Some(NodeIx(at));
        } else {
            self.nodes.change(parent, |parent| parent.first_child = at);
        }
    }
}

fn hash_of(hasher: &impl BuildHasher, nodes: &Nodes, at: u32) -> u64 {
    hasher.hash_one(nodes[at as usize].id.as_ref().map_or("", EntryId::as_str))
}
