//! The tree: who is whose child, by envelope only. Bodies stay on the medium.
//!
//! An arena in file order. Every entry is reachable from a root: an entry whose parent is missing is a root, an entry
//! that is its own parent is a root, and of each circle of parents the first entry is a root, each with a diagnostic.
//! All walks are loops. Knows no lines and no files, only where in them an entry stands.

pub(crate) mod nodes;
pub(crate) mod link;
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

/// The place of an entry in file order among the entries of its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct NodeIx(u32);

impl NodeIx {
    /// The place as a number, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    fn from_raw(raw: u32) -> Option<Self> {
        (raw != NONE).then_some(Self(raw))
    }
}

/// What the tree keeps of an entry: 80 bytes, whatever the entry's size.
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

/// An entry as it enters the tree.
#[derive(Debug, Clone)]
pub struct NewNode {
    /// Its id.
    pub id: Option<EntryId>,
    /// Its parent's id.
    pub parent: Option<EntryId>,
    /// Its type.
    pub kind: Kind,
    /// Its role, of a message.
    pub role: Option<Role>,
    /// When.
    pub time: Option<Millis>,
    /// Whether it is the marker of a moved leaf.
    pub is_leaf_marker: bool,
    /// The first byte of its line.
    pub offset: u64,
    /// The length of its line, without line feed.
    pub length: u64,
    /// The number of its line, from 1.
    pub line: u64,
}

const FLAG_LEAF_MARKER: u8 = 1;
const FLAG_DEAD: u8 = 2;

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
            flags: if new.is_leaf_marker { FLAG_LEAF_MARKER } else { 0 },
        }
    }

    /// Its id; a foreign line may have none.
    pub fn id(&self) -> Option<&EntryId> {
        self.id.as_ref()
    }

    /// Its type.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its role, of a message.
    pub fn role(&self) -> Option<Role> {
        self.role
    }

    /// Its timestamp, if that is a date.
    pub fn time(&self) -> Option<Millis> {
        (self.time != Millis::MIN).then_some(self.time)
    }

    /// The first byte of its line.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The length of its line in bytes, without line feed.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The number of its line, from 1.
    pub fn line(&self) -> u64 {
        u64::from(self.line)
    }

    /// Whether it only marks where the leaf was moved.
    pub fn is_leaf_marker(&self) -> bool {
        self.flags & FLAG_LEAF_MARKER != 0
    }

    fn is_dead(&self) -> bool {
        self.flags & FLAG_DEAD != 0
    }
}

/// A bookmark in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Its text, never empty.
    pub text: String,
    /// The timestamp of the entry that set it, as written.
    pub timestamp: Option<String>,
}

/// The tree of one session.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    nodes: Nodes,
    /// Entries that are in no page, by id.
    ids: HashTable<u32>,
    hasher: DefaultHashBuilder,
    first_root: Option<NodeIx>,
    last_root: Option<NodeIx>,
    orphans: HashMap<u32, EntryId>,
    /// Bookmarks in force, each with the number of the first set since it was last cleared.
    labels: HashMap<EntryId, (u64, Label)>,
    labels_set: u64,
    dead: usize,
}

impl Tree {
    /// A tree without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.nodes.len() - self.dead
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An entry's node.
    pub fn node(&self, ix: NodeIx) -> &Node {
        &self.nodes[ix.index()]
    }

    /// The entry with this id; of several the last.
    pub fn find(&self, id: &str) -> Option<NodeIx> {
        if let Some(found) = self.find_fresh(id) {
            return Some(found);
        }
        let candidates = self.nodes.pages()?.candidates(id);
        candidates.into_iter().filter(|raw| self.has_id(*raw, id)).max().map(NodeIx)
    }

    /// The same among entries that are in no page.
    pub(crate) fn find_fresh(&self, id: &str) -> Option<NodeIx> {
        let hash = self.hasher.hash_one(id);
        self.ids.find(hash, |raw| self.has_id(*raw, id)).copied().map(NodeIx)
    }

    /// Whether the last entry of the file has this id: that of most entries' parent.
    pub(crate) fn last_is(&self, id: &EntryId) -> bool {
        self.nodes.last().is_some_and(|last| last.id.as_ref() == Some(id))
    }

    /// The entry with this id, or the only one whose id starts so.
    ///
    /// # Errors
    /// No entry fits, or several do.
    pub fn find_prefix(&self, prefix: &str) -> Result<NodeIx> {
        if let Some(ix) = self.find(prefix) {
            return Ok(ix);
        }
        let mut candidates = Vec::new();
        self.nodes.look_at_all(|at, node| {
            let fits = !prefix.is_empty() && node.id().is_some_and(|id| id.as_str().starts_with(prefix));
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

    /// Every entry in file order.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = NodeIx> + '_ {
        (0..self.nodes.len() as u32).map(NodeIx).filter(|ix| !self.node(*ix).is_dead())
    }

    /// Every entry from a place on, in file order.
    pub(crate) fn entries_from(&self, place: usize) -> impl Iterator<Item = NodeIx> + '_ {
        (place as u32..self.nodes.len() as u32).map(NodeIx).filter(|ix| !self.node(*ix).is_dead())
    }

    /// The ids of parents that are not in the file.
    pub(crate) fn missing_parents(&self) -> impl Iterator<Item = &EntryId> {
        self.orphans.values()
    }

    /// The entries that stand between two others in the file.
    pub(crate) fn between(&self, before: NodeIx, behind: NodeIx) -> impl DoubleEndedIterator<Item = NodeIx> + '_ {
        let all = (before.0.saturating_add(1)..behind.0).map(NodeIx);
        all.filter(|ix| !self.node(*ix).is_dead())
    }

    /// The entry at which the file opens: the last one in file order that has an id.
    pub fn last(&self) -> Option<NodeIx> {
        self.entries().rev().find(|ix| self.node(*ix).id.is_some())
    }

    /// Its parent; `None` for roots.
    pub fn parent(&self, ix: NodeIx) -> Option<NodeIx> {
        NodeIx::from_raw(self.node(ix).parent)
    }

    /// The parent's id as the entry names it, even if no such entry is there.
    pub fn parent_id(&self, ix: NodeIx) -> Option<&EntryId> {
        match self.parent(ix) {
            Some(parent) => self.node(parent).id(),
            None => self.orphans.get(&ix.0),
        }
    }

    /// Its children in file order.
    pub fn children(&self, ix: NodeIx) -> Siblings<'_> {
        Siblings { tree: self, next: NodeIx::from_raw(self.node(ix).first_child) }
    }

    /// The roots in file order.
    pub fn roots(&self) -> Siblings<'_> {
        Siblings { tree: self, next: self.first_root }
    }

    /// Whether it has no children.
    pub fn is_leaf(&self, ix: NodeIx) -> bool {
        self.node(ix).first_child == NONE
    }

    /// Every entry without children, in file order.
    pub fn leaves(&self) -> impl Iterator<Item = NodeIx> + '_ {
        self.ends().map(|end| NodeIx(end.at))
    }

    /// The same with what stands there. Reads no page that is not in memory.
    pub(crate) fn ends(&self) -> impl Iterator<Item = BranchEnd> + '_ {
        let is_end = |at: u32| !self.nodes[at as usize].is_dead() && self.is_leaf(NodeIx(at));
        // What changes a node puts its page into memory.
        let is_unchanged = |at: u32| self.nodes.page_in_memory(at as usize / PAGE).is_none();
        let paged = self.nodes.pages().into_iter().flat_map(|pages| pages.ends().iter().copied());
        let paged = paged.filter(move |end| is_unchanged(end.at) || is_end(end.at));
        let fresh = self.nodes.paged_count() as u32..self.nodes.len() as u32;
        paged.chain(fresh.filter(move |at| is_end(*at)).map(|at| self.end(at)))
    }

    fn end(&self, at: u32) -> BranchEnd {
        let work = self.behind_markers(NodeIx(at));
        let time = work.map_or(Millis::MIN, |work| self.node(work).time);
        BranchEnd { at, work: work.map_or(NONE, |work| work.0), time }
    }

    /// The nearest compaction at or above an entry. Costs no walk.
    pub fn compaction(&self, ix: NodeIx) -> Option<NodeIx> {
        NodeIx::from_raw(self.node(ix).compaction)
    }

    /// The nearest change of the thinking level at or above an entry. Costs no walk.
    pub fn thinking_level_change(&self, ix: NodeIx) -> Option<NodeIx> {
        NodeIx::from_raw(self.node(ix).thinking)
    }

    /// Hands on what a walk found, unless a part of the tree could not be read since it was opened: then the walk did not
    /// see all of it. Every operation that walks and can fail ends here.
    ///
    /// # Errors
    /// [`Error::Io`] if the side index is damaged and the session file cannot be read in its place.
    pub fn whole<T>(&self, found: T) -> Result<T> {
        self.nodes.pages().map_or(Ok(()), |pages| pages.check()).map(|()| found)
    }

    /// Its children as `getTree` orders them: by time, ties in file order. An entry whose timestamp is no date stays
    /// behind its elder sibling.
    pub fn children_by_time(&self, ix: NodeIx) -> Vec<NodeIx> {
        let mut known = Millis::MIN;
        let mut keyed: Vec<(Millis, NodeIx)> = self
            .children(ix)
            .map(|child| {
                known = self.node(child).time().unwrap_or(known);
                (known, child)
            })
            .collect();
        keyed.sort_by_key(|(time, _)| *time);
        keyed.into_iter().map(|(_, child)| child).collect()
    }

    /// The bookmark on an entry.
    pub fn label(&self, target: &EntryId) -> Option<&Label> {
        self.labels.get(target).map(|(_, label)| label)
    }

    /// Whether any bookmark is in force.
    pub fn has_labels(&self) -> bool {
        !self.labels.is_empty()
    }

    /// All bookmarks in force, in the order in which they were first set; their targets need not be in the file.
    pub fn labels(&self) -> Vec<(&EntryId, &Label)> {
        let mut labels: Vec<_> = self.labels.iter().collect();
        labels.sort_by_key(|(_, (first_set, _))| *first_set);
        labels.into_iter().map(|(target, (_, label))| (target, label)).collect()
    }

    /// Sets or clears a bookmark: the last word in file order counts, whatever branch it stands on.
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

    /// The same for one entry and its descendants.
    pub fn walk_from(&self, ix: NodeIx) -> Walk<'_> {
        Walk { tree: self, stack: vec![(0, ix)] }
    }

    fn has_id(&self, raw: u32, id: &str) -> bool {
        self.nodes[raw as usize].id.as_ref().is_some_and(|own| own.as_str() == id)
    }
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
