//! The nodes of a tree: in memory, or in pages of a side index that are read on demand.
//!
//! Pages are read once and kept, so that nodes can be borrowed. A tree over an index therefore has in memory what was
//! walked, not the whole file. Clones share pages and nodes until one of them changes. Knows no files: pages come through a
//! trait.

use std::fmt;
use std::ops::Index;
use std::sync::{Arc, OnceLock};

use super::Node;
use crate::clock::Millis;
use crate::error::Result;

/// Nodes in a page; the last page may have fewer.
pub(crate) const PAGE: usize = 128;

/// The end of a branch, with what is asked of all ends at once, so that their pages need not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BranchEnd {
    /// The node without children.
    pub(crate) at: u32,
    /// The nearest node at or above it that is not a leaf marker, or `NONE`.
    pub(crate) work: u32,
    pub(crate) time: Millis,
}

/// Nodes that are stored elsewhere and never change.
pub(crate) trait Pages: Send + Sync + fmt::Debug {
    fn count(&self) -> usize;

    fn page(&self, page: usize) -> Arc<[Node]>;

    /// Indexes of nodes that may have this id, in no order.
    fn candidates(&self, id: &str) -> Vec<u32>;

    /// All nodes without children, in file order.
    fn ends(&self) -> &[BranchEnd];

    /// Fails if nodes could not be read and were replaced by placeholders.
    fn check(&self) -> Result<()>;
}

/// Nodes in file order: those in pages, then newer ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Nodes {
    paged: Option<Paged>,
    fresh: Arc<Vec<Node>>,
}

#[derive(Debug, Clone)]
struct Paged {
    pages: Arc<dyn Pages>,
    count: usize,
    read: Vec<OnceLock<Arc<[Node]>>>,
}

impl Paged {
    fn node(&self, at: usize) -> &Node {
        &self.read[at / PAGE].get_or_init(|| self.pages.page(at / PAGE))[at % PAGE]
    }

    fn change(&mut self, at: usize, change: impl FnOnce(&mut Node)) {
        let slot = &mut self.read[at / PAGE];
        let mut page = slot.take().unwrap_or_else(|| self.pages.page(at / PAGE));
        change(&mut Arc::make_mut(&mut page)[at % PAGE]);
        *slot = OnceLock::from(page);
    }
}

impl Nodes {
    pub(super) fn over(pages: Arc<dyn Pages>) -> Self {
        let count = pages.count();
        let read = std::iter::repeat_with(OnceLock::new).take(count.div_ceil(PAGE)).collect();
        Self { paged: Some(Paged { pages, count, read }), fresh: Arc::default() }
    }

    /// How many nodes are in pages; the following ones are in memory.
    pub(super) fn paged_count(&self) -> usize {
        self.paged.as_ref().map_or(0, |paged| paged.count)
    }

    pub(super) fn pages(&self) -> Option<&Arc<dyn Pages>> {
        self.paged.as_ref().map(|paged| &paged.pages)
    }

    /// A page's nodes, perhaps changed, if they are in memory.
    pub(super) fn page_in_memory(&self, page: usize) -> Option<&[Node]> {
        self.paged.as_ref()?.read.get(page)?.get().map(AsRef::as_ref)
    }

    /// The nodes that are not in pages; all of them while a tree is built.
    pub(super) fn fresh(&self) -> &[Node] {
        &self.fresh
    }

    pub(super) fn fresh_mut(&mut self) -> &mut [Node] {
        self.fresh_vec()
    }

    /// The nodes in memory, apart from those of other clones.
    fn fresh_vec(&mut self) -> &mut Vec<Node> {
        Arc::make_mut(&mut self.fresh)
    }

    pub(super) fn change(&mut self, at: u32, change: impl FnOnce(&mut Node)) {
        let at = at as usize;
        match &mut self.paged {
            None => change(&mut self.fresh_mut()[at]),
            Some(paged) if at < paged.count => paged.change(at, change),
            Some(paged) => {
                let at = at - paged.count;
                change(&mut self.fresh_mut()[at]);
            }
        }
    }

    /// Calls `look` for every node in file order. Pages that are read for it are not kept.
    pub(super) fn look_at_all(&self, mut look: impl FnMut(u32, &Node)) {
        let mut at = 0;
        let mut look = |nodes: &[Node]| {
            for node in nodes {
                look(at, node);
                at += 1;
            }
        };
        if let Some(paged) = &self.paged {
            for (page, read) in paged.read.iter().enumerate() {
                match read.get() {
                    Some(nodes) => look(nodes),
                    None => look(&paged.pages.page(page)),
                }
            }
        }
        look(&self.fresh);
    }

    pub(super) fn len(&self) -> usize {
        self.paged_count() + self.fresh.len()
    }

    pub(super) fn last(&self) -> Option<&Node> {
        self.len().checked_sub(1).map(|last| &self[last])
    }

    pub(super) fn push(&mut self, node: Node) {
        self.fresh_vec().push(node);
    }
}

impl Index<usize> for Nodes {
    type Output = Node;

    fn index(&self, at: usize) -> &Node {
        match &self.paged {
            None => &self.fresh[at],
            Some(paged) if at < paged.count => paged.node(at),
            Some(paged) => &self.fresh[at - paged.count],
        }
    }
}
