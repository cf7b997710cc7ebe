//! Where a tree's nodes are: in memory, or page by page in a side index, read when somebody looks at them.
//!
//! Pages are read once and kept, so that a node can be lent; a tree that is opened with an index therefore holds what
//! its reader has walked, not what the file has. Clones share the pages that were read before. Knows no files: pages
//! come through a trait.

use std::fmt;
use std::ops::Index;
use std::sync::{Arc, OnceLock};

use super::Node;
use crate::clock::Millis;
use crate::error::Result;

/// How many nodes a page holds; the last one holds the rest.
pub(crate) const PAGE: usize = 128;

/// Where a branch ends, with what is asked of all ends at once, so that their pages need not be read for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BranchEnd {
    /// The node without children.
    pub(crate) at: u32,
    /// The nearest node at or above it that is no marker, or none.
    pub(crate) work: u32,
    pub(crate) time: Millis,
}

/// Nodes that are kept elsewhere. What it answers never changes.
pub(crate) trait Pages: Send + Sync + fmt::Debug {
    fn count(&self) -> usize;

    fn page(&self, page: usize) -> Arc<[Node]>;

    /// Places of nodes that may have this id, in no order.
    fn candidates(&self, id: &str) -> Vec<u32>;

    /// All nodes without children, in file order.
    fn ends(&self) -> &[BranchEnd];

    /// Fails if nodes could not be read: what was answered in their place says nothing.
    fn check(&self) -> Result<()>;
}

/// Nodes in file order: those of pages first, then those that came since.
#[derive(Debug, Clone, Default)]
pub(super) struct Nodes {
    paged: Option<Paged>,
    fresh: Vec<Node>,
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
        Self { paged: Some(Paged { pages, count, read }), fresh: Vec::new() }
    }

    /// How many nodes stand in pages; those from here on are in memory.
    pub(super) fn paged_count(&self) -> usize {
        self.paged.as_ref().map_or(0, |paged| paged.count)
    }

    pub(super) fn pages(&self) -> Option<&Arc<dyn Pages>> {
        self.paged.as_ref().map(|paged| &paged.pages)
    }

    /// The nodes of a page, if they are in memory: read before, and perhaps changed since.
    pub(super) fn page_in_memory(&self, page: usize) -> Option<&[Node]> {
        self.paged.as_ref()?.read.get(page)?.get().map(AsRef::as_ref)
    }

    /// The nodes that are in no page. Of a tree that is being built, all.
    pub(super) fn fresh(&self) -> &[Node] {
        &self.fresh
    }

    pub(super) fn fresh_mut(&mut self) -> &mut [Node] {
        &mut self.fresh
    }

    pub(super) fn change(&mut self, at: u32, change: impl FnOnce(&mut Node)) {
        let at = at as usize;
        match &mut self.paged {
            None => change(&mut self.fresh[at]),
            Some(paged) if at < paged.count => paged.change(at, change),
            Some(paged) => change(&mut self.fresh[at - paged.count]),
        }
    }

    /// Shows every node in file order; pages that are not in memory do not stay there.
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
        self.fresh.push(node);
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
