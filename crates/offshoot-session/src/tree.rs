//! The tree: parents and children by envelope only. Bodies stay on the medium.
//!
//! Nodes are in file order. Every entry is reachable from a root: entries whose parent is missing or is themselves
//! become roots, and so does the first entry of each circle, each with a diagnostic. All walks are loops. Knows no
//! lines and no files, only entries' positions in them.

pub(crate) mod nodes;
pub(crate) mod link;
pub mod reader;
pub(crate) mod stored;

use std::collections::HashMap;
use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::clock::Millis;
use crate::error::{Error, Result};
use crate::id::EntryId;
use crate::kind::{Kind, Role};

use nodes::{BranchEnd, Nodes, PAGE};

const NONE: u32 = u32::MAX;

/// The index of an entry in file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct NodeIx(u32);

impl NodeIx {
    /// The index as a number, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    fn from_raw(raw: u32) -> Option<Self> {
        (raw != NONE).then_some(Self(raw))
    }
}

/// What the tree keeps of an entry: 80 bytes.
#[derive(Debug, Clone)]
pub struct Node {
    id: Option<EntryId>,
    offset: u64,
    length: u64,
    time: Millis,
    parent: u32,
    first_child: u32,
    last_child: u32,
    next_sibling: u32,
    compaction: u32,
    thinking: u32,
    line: u32,
    kind: Kind,
    role: Option<Role>,
    flags: u8,
}

/// An entry to add to a tree.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names of the other fields say what they are")]
pub struct NewNode {
    pub id: Option<EntryId>,
    pub parent: Option<EntryId>,
    pub kind: Kind,
    pub role: Option<Role>,
    pub time: Option<Millis>,
    pub is_leaf_marker: bool,
    pub is_copy: bool,
    /// The first byte of the line.
    pub offset: u64,
    /// The line's length, without line feed.
    pub length: u64,
    /// The line's number, from 1.
    pub line: u64,
}

const FLAG_LEAF_MARKER: u8 = 1;
const FLAG_DEAD: u8 = 2;
const FLAG_COPY: u8 = 4;

#[expect(missing_docs, reason = "the names of the other functions say what they return")]
impl Node {
    fn new(new: &NewNode) -> Self {
        Self {
            id: new.id.clone(),
            offset: new.offset,
            length: new.length,
            time: new.time.unwrap_or(Millis::MIN),
            parent: NONE,
            first_child: NONE,
            last_child: NONE,
            next_sibling: NONE,
            compaction: NONE,
            thinking: NONE,
            line: u32::try_from(new.line).unwrap_or(u32::MAX),
            kind: new.kind,
            role: new.role,
            flags: if new.is_leaf_marker { FLAG_LEAF_MARKER } else { 0 } | if new.is_copy { FLAG_COPY } else { 0 },
        }
    }

    /// `None` for some foreign lines.
    pub fn id(&self) -> Option<&EntryId> {
        self.id.as_ref()
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn role(&self) -> Option<Role> {
        self.role
    }

    /// The timestamp, if it is a date.
    pub fn time(&self) -> Option<Millis> {
        (self.time != Millis::MIN).then_some(self.time)
    }

    /// The first byte of the line.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The line's length in bytes, without line feed.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The line's number, from 1.
    pub fn line(&self) -> u64 {
        u64::from(self.line)
    }

    /// Whether the entry only records a move of the leaf, or where an operation of several entries begins.
    pub fn is_leaf_marker(&self) -> bool {
        self.flags & FLAG_LEAF_MARKER != 0
    }

    /// Whether the entry is something that was said: a message, unless it is the system's.
    pub(crate) fn is_said(&self) -> bool {
        self.kind == Kind::CustomMessage || self.kind == Kind::Message && self.role() != Some(Role::System)
    }

    /// Whether the entry was picked from elsewhere; see [`crate::provenance`].
    pub fn is_copy(&self) -> bool {
        self.flags & FLAG_COPY != 0
    }

    fn is_dead(&self) -> bool {
        self.flags & FLAG_DEAD != 0
    }
}

/// Whether an id is that of the bytes of another program's record (*Imported sessions* in `docs/format.md`).
pub(crate) fn is_kept_record(id: &EntryId) -> bool {
    id.as_str().ends_with(".s")
}

/// A label in effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Never empty.
    pub text: String,
    /// The timestamp of the label entry, as written.
    pub timestamp: Option<String>,
}

/// The tree of one session.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    nodes: Nodes,
    /// Entries that are not in a page, by id.
    ids: HashTable<u32>,
    hasher: DefaultHashBuilder,
    first_root: Option<NodeIx>,
    last_root: Option<NodeIx>,
    orphans: HashMap<u32, EntryId>,
    /// Labels in effect, each with the sequence number of the first set since it was last cleared.
    labels: HashMap<EntryId, (u64, Label)>,
    labels_set: u64,
    dead: usize,
    /// A sum over each entry's place and parent; see [`Tree::shape_of_first`].
    shape: u64,
}

#[expect(missing_docs, reason = "the names of the other functions say what they return")]
impl Tree {
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.nodes.len() - self.dead
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn node(&self, ix: NodeIx) -> &Node {
        &self.nodes[ix.index()]
    }

    /// The entry with this id; the last one if the id is repeated.
    pub fn find(&self, id: &str) -> Option<NodeIx> {
        if let Some(found) = self.find_fresh(id) {
            return Some(found);
        }
        let candidates = self.nodes.pages()?.candidates(id);
        candidates.into_iter().filter(|raw| self.has_id(*raw, id)).max().map(NodeIx)
    }

    /// [`Tree::find`] among entries that are not in a page.
    pub(crate) fn find_fresh(&self, id: &str) -> Option<NodeIx> {
        let hash = self.hasher.hash_one(id);
        self.ids.find(hash, |raw| self.has_id(*raw, id)).copied().map(NodeIx)
    }

    /// Whether the last entry of the file has this id. It is the parent of most new entries.
    pub(crate) fn last_is(&self, id: &EntryId) -> bool {
        self.nodes.last().is_some_and(|last| last.id.as_ref() == Some(id))
    }

    /// The entry with this id, or the only one whose id begins with it.
    ///
    /// Kept records are named by their whole ids only: these begin with those of entries.
    ///
    /// # Errors
    /// No entry matches, or several do.
    pub fn find_prefix(&self, prefix: &str) -> Result<NodeIx> {
        if let Some(ix) = self.find(prefix) {
            return Ok(ix);
        }
        let mut candidates = Vec::new();
        self.nodes.look_at_all(|at, node| {
            let is_it = |id: &EntryId| id.as_str().starts_with(prefix) && !is_kept_record(id);
            let fits = !prefix.is_empty() && node.id().is_some_and(is_it);
            if fits && candidates.len() < 6 {
                candidates.push(NodeIx(at));
            }
        });
        match self.whole(candidates)?.as_slice() {
            [] => Err(Error::no_entry(prefix)),
            [only] => Ok(*only),
            several => Err(Error::Ambiguous {
                what: "entry",
                given: prefix.to_owned(),
                candidates: several.iter().filter_map(|ix| self.node(*ix).id()).map(ToString::to_string).collect(),
            }),
        }
    }

    pub fn entries(&self) -> impl DoubleEndedIterator<Item = NodeIx> + '_ {
        (0..self.nodes.len() as u32).map(NodeIx).filter(|ix| !self.node(*ix).is_dead())
    }

    pub(crate) fn entries_from(&self, place: usize) -> impl Iterator<Item = NodeIx> + '_ {
        (place as u32..self.nodes.len() as u32).map(NodeIx).filter(|ix| !self.node(*ix).is_dead())
    }

    pub(crate) fn missing_parents(&self) -> impl Iterator<Item = &EntryId> {
        self.orphans.values()
    }

    /// The entries between two others in file order.
    pub(crate) fn between(&self, before: NodeIx, behind: NodeIx) -> impl DoubleEndedIterator<Item = NodeIx> + '_ {
        let all = (before.0.saturating_add(1)..behind.0).map(NodeIx);
        all.filter(|ix| !self.node(*ix).is_dead())
    }

    /// The entry at which the file opens: the last one that has an id.
    pub fn last(&self) -> Option<NodeIx> {
        self.entries().rev().find(|ix| self.node(*ix).id.is_some())
    }

    /// `None` for roots.
    pub fn parent(&self, ix: NodeIx) -> Option<NodeIx> {
        NodeIx::from_raw(self.node(ix).parent)
    }

    /// The parent's id as written, even if the file has no such entry.
    pub fn parent_id(&self, ix: NodeIx) -> Option<&EntryId> {
        match self.parent(ix) {
            Some(parent) => self.node(parent).id(),
            None => self.orphans.get(&ix.0),
        }
    }

    /// The children in file order.
    pub fn children(&self, ix: NodeIx) -> Siblings<'_> {
        Siblings { tree: self, next: NodeIx::from_raw(self.node(ix).first_child) }
    }

    pub fn roots(&self) -> Siblings<'_> {
        Siblings { tree: self, next: self.first_root }
    }

    pub fn is_leaf(&self, ix: NodeIx) -> bool {
        self.node(ix).first_child == NONE
    }

    /// Every entry without children, in file order.
    pub fn leaves(&self) -> impl Iterator<Item = NodeIx> + '_ {
        self.ends().map(|end| NodeIx(end.at))
    }

    /// The leaves as branch ends. Reads no pages from the side index.
    pub(crate) fn ends(&self) -> impl Iterator<Item = BranchEnd> + '_ {
        let is_end = |at: u32| !self.nodes[at as usize].is_dead() && self.is_leaf(NodeIx(at));
        // A changed node's page is in memory.
        let is_unchanged = |at: u32| self.nodes.page_in_memory(at as usize / PAGE).is_none();
        let paged = self.nodes.pages().into_iter().flat_map(|pages| pages.ends().iter().copied());
        let paged = paged.filter(move |end| is_unchanged(end.at) || is_end(end.at));
        let fresh = self.nodes.paged_count() as u32..self.nodes.len() as u32;
        paged.chain(fresh.filter(move |at| is_end(*at)).map(|at| self.end(at)))
    }

    fn end(&self, at: u32) -> BranchEnd {
        let work = self.skip_leaf_markers(NodeIx(at));
        let time = work.map_or(Millis::MIN, |work| self.node(work).time);
        BranchEnd { at, work: work.map_or(NONE, |work| work.0), time }
    }

    /// The nearest compaction at or above an entry, without a walk.
    pub fn compaction(&self, ix: NodeIx) -> Option<NodeIx> {
        NodeIx::from_raw(self.node(ix).compaction)
    }

    /// The nearest change of the thinking level at or above an entry, without a walk.
    pub fn thinking_level_change(&self, ix: NodeIx) -> Option<NodeIx> {
        NodeIx::from_raw(self.node(ix).thinking)
    }

    /// Returns `found`, or fails if a part of the tree could not be read since it was opened, because a walk then
    /// missed it. Every fallible operation that walks ends with this check.
    ///
    /// # Errors
    /// [`Error::Io`] if the side index is damaged and the session file cannot replace it.
    pub fn whole<T>(&self, found: T) -> Result<T> {
        self.nodes.pages().map_or(Ok(()), |pages| pages.check()).map(|()| found)
    }

    /// The children as pi's `getTree` orders them: by time, then in file order. An entry whose timestamp is not a date
    /// follows its elder sibling.
    pub fn children_by_time(&self, ix: NodeIx) -> Vec<NodeIx> {
        by_time(self.children(ix).map(|child| (child, self.node(child).time())))
    }

    pub fn label(&self, target: &EntryId) -> Option<&Label> {
        self.labels.get(target).map(|(_, label)| label)
    }

    /// The label of an entry.
    pub fn label_of(&self, ix: NodeIx) -> Option<&Label> {
        self.label(self.node(ix).id()?)
    }

    pub fn has_labels(&self) -> bool {
        !self.labels.is_empty()
    }

    /// All labels in effect, in the order in which they were first set. Their targets may be missing.
    pub fn labels(&self) -> Vec<(&EntryId, &Label)> {
        let mut labels: Vec<_> = self.labels.iter().collect();
        labels.sort_by_key(|(_, (first_set, _))| *first_set);
        labels.into_iter().map(|(target, (_, label))| (target, label)).collect()
    }

    /// The one of these entries whose label was first set last, with the label.
    pub(crate) fn newest_label(&self, entries: impl Iterator<Item = NodeIx>) -> Option<&Label> {
        let labelled = entries.filter_map(|ix| self.labels.get(self.node(ix).id()?));
        labelled.max_by_key(|(first_set, _)| *first_set).map(|(_, label)| label)
    }

    /// Sets or clears a label. The last label entry in file order counts, whatever its branch.
    pub fn set_label(&mut self, target: EntryId, label: Option<Label>) {
        let Some(label) = label.filter(|label| !label.text.is_empty()) else {
            self.labels.remove(&target);
            return;
        };
        self.labels_set += 1;
        let number = self.labels_set;
        self.labels.entry(target).and_modify(|(_, known)| known.clone_from(&label)).or_insert((number, label));
    }

    /// All entries depth first, parents before children, children by time: `(depth, entry)`.
    pub fn walk(&self) -> Walk<'_> {
        let mut roots: Vec<_> = self.roots().map(|root| (0, root)).collect();
        roots.reverse();
        Walk { tree: self, stack: roots }
    }

    /// [`Tree::walk`] from one entry.
    pub fn walk_from(&self, ix: NodeIx) -> Walk<'_> {
        Walk { tree: self, stack: vec![(0, ix)] }
    }

    fn has_id(&self, raw: u32, id: &str) -> bool {
        self.nodes[raw as usize].id.as_ref().is_some_and(|own| own.as_str() == id)
    }
}

/// Siblings by time. One without a time follows its elder sibling.
fn by_time(siblings: impl Iterator<Item = (NodeIx, Option<Millis>)>) -> Vec<NodeIx> {
    let mut known = Millis::MIN;
    let mut keyed: Vec<(Millis, NodeIx)> = siblings
        .map(|(ix, time)| {
            known = time.unwrap_or(known);
            (known, ix)
        })
        .collect();
    keyed.sort_by_key(|(time, _)| *time);
    keyed.into_iter().map(|(_, ix)| ix).collect()
}

/// Iterator over entries that share a parent.
#[derive(Debug, Clone)]
pub struct Siblings<'a> {
    tree: &'a Tree,
    next: Option<NodeIx>,
}

impl Iterator for Siblings<'_> {
    type Item = NodeIx;

    fn next(&mut self) -> Option<NodeIx> {
        let ix = self.next?;
        self.next = NodeIx::from_raw(self.tree.node(ix).next_sibling);
        Some(ix)
    }
}

/// Iterator over a tree or subtree. See [`Tree::walk`].
#[derive(Debug, Clone)]
pub struct Walk<'a> {
    tree: &'a Tree,
    stack: Vec<(usize, NodeIx)>,
}

impl Iterator for Walk<'_> {
    type Item = (usize, NodeIx);

    fn next(&mut self) -> Option<Self::Item> {
        let (depth, ix) = self.stack.pop()?;
        let mut children = self.tree.children(ix);
        match (children.next(), children.next()) {
            (Some(only), None) => self.stack.push((depth + 1, only)),
            (None, _) => {}
            _ => self.stack.extend(self.tree.children_by_time(ix).into_iter().rev().map(|child| (depth + 1, child))),
        }
        Some((depth, ix))
    }
}

#[cfg(test)]
mod tests;
