//! Reads the nodes of long walks with few pages in memory, where the tree itself would keep every page. Knows no files.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use super::nodes::PAGE;
use super::{Node, NodeIx, Tree, by_time};
use crate::clock::Millis;

/// The most pages that are kept: half a megabyte.
const KEPT: usize = 48;

/// A view of a tree for walks over many nodes. A walk that jumps about the file so much that it would read each page
/// several times lets the tree keep the pages.
#[derive(Debug)]
pub struct NodeReader<'a> {
    tree: &'a Tree,
    recent: RefCell<RecentPages>,
}

/// Each look at a node holds its page, which costs less to count where no other thread can.
type RecentPage = Rc<Arc<[Node]>>;

#[derive(Debug)]
struct RecentPages {
    /// The last used one first.
    pages: VecDeque<(usize, RecentPage)>,
    /// How many more pages are read and not kept by the tree.
    left: usize,
}

impl<'a> NodeReader<'a> {
    /// A view that has read nothing.
    pub fn new(tree: &'a Tree) -> Self {
        let left = 4 * tree.nodes.paged_count().div_ceil(PAGE);
        Self { tree, recent: RefCell::new(RecentPages { pages: VecDeque::new(), left }) }
    }

    /// What `look` returns for a node.
    pub fn look<T>(&self, ix: NodeIx, look: impl FnOnce(&Node) -> T) -> T {
        let page = ix.index() / PAGE;
        let is_elsewhere = ix.index() < self.tree.nodes.paged_count() && self.tree.nodes.page_in_memory(page).is_none();
        match self.tree.nodes.pages().filter(|_| is_elsewhere) {
            None => look(self.tree.node(ix)),
            Some(pages) => {
                let recent = self.recent.borrow_mut().page(page, || pages.page(page));
                look(recent.as_ref().map_or_else(|| self.tree.node(ix), |nodes| &nodes[ix.index() % PAGE]))
            }
        }
    }

    /// The entry, its parent, and so on up to the root.
    pub fn ancestors(&self, ix: NodeIx) -> impl Iterator<Item = NodeIx> + '_ {
        std::iter::successors(Some(ix), |at| self.parent(*at))
    }

    /// `None` for roots.
    pub(crate) fn parent(&self, ix: NodeIx) -> Option<NodeIx> {
        self.look(ix, |node| NodeIx::from_raw(node.parent))
    }

    /// The entries in file order from an index on.
    pub(crate) fn entries_from(&self, index: usize) -> impl Iterator<Item = NodeIx> + '_ {
        let all = (index as u32..self.tree.nodes.len() as u32).map(NodeIx);
        all.filter(|ix| !self.look(*ix, Node::is_dead))
    }

    /// The children in file order.
    pub(crate) fn children(&self, ix: NodeIx) -> impl Iterator<Item = NodeIx> + '_ {
        let first = self.look(ix, |node| NodeIx::from_raw(node.first_child));
        std::iter::successors(first, |at| self.look(*at, |node| NodeIx::from_raw(node.next_sibling)))
    }

    /// [`Tree::children_by_time`].
    pub(crate) fn children_by_time(&self, ix: NodeIx) -> Vec<NodeIx> {
        by_time(self.children(ix).map(|child| (child, self.time(child))))
    }

    fn time(&self, ix: NodeIx) -> Option<Millis> {
        self.look(ix, Node::time)
    }
}

impl RecentPages {
    fn page(&mut self, page: usize, read: impl FnOnce() -> Arc<[Node]>) -> Option<RecentPage> {
        match self.pages.iter().position(|(known, _)| *known == page) {
            Some(0) => {}
            Some(at) => {
                let found = self.pages.remove(at)?;
                self.pages.push_front(found);
            }
            None => {
                self.left = self.left.checked_sub(1)?;
                self.pages.truncate(KEPT - 1);
                self.pages.push_front((page, Rc::new(read())));
            }
        }
        self.pages.front().map(|(_, nodes)| Rc::clone(nodes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_read_again_until_the_tree_must_keep_them() {
        let mut recent = RecentPages { pages: VecDeque::new(), left: KEPT + 2 };
        let mut read = Vec::new();
        let mut ask = |page| {
            recent
                .page(page, || {
                    read.push(page);
                    Vec::new().into()
                })
                .is_some()
        };
        assert!((0..=KEPT).all(&mut ask));
        assert!(ask(KEPT) && ask(1), "still there");
        assert!(ask(0), "read again");
        assert!(!ask(KEPT + 1) && ask(0));
        assert_eq!(read, (0..=KEPT).chain([0]).collect::<Vec<_>>());
    }
}
