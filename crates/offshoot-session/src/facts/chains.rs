//! Sums over chains. A chain is a run of entries in one page of the tree, each the only child of the one before. A branch
//! is a few chains, so its sums need no pass over its entries, and an append changes at most the chain that it continues
//! and the one that it cuts in two. Knows no bodies.

use std::collections::HashMap;

use super::Totals;
use crate::clock::Millis;
use crate::tree::nodes::PAGE;
use crate::tree::reader::NodeReader;
use crate::tree::{Node, NodeIx, Tree};

/// An entry by the time of its writing; without a time it is the oldest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Latest {
    pub(crate) time: Option<Millis>,
    pub(crate) entry: NodeIx,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Chain {
    pub(crate) first: NodeIx,
    pub(crate) last: NodeIx,
    /// The parent of the first entry.
    pub(crate) parent: Option<NodeIx>,
    pub(crate) totals: Totals,
    pub(crate) latest: Latest,
}

/// The chains of the first entries of a tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Chains {
    /// By first entry.
    pub(crate) all: Vec<Chain>,
    /// How many indexes are covered.
    pub(crate) count: usize,
    /// [`Tree::shape_of_first`] of the covered entries.
    pub(crate) shape: u64,
}

/// Chains by number, as a tree.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChainTree {
    parents: Vec<Option<usize>>,
    children_first: Vec<usize>,
}

impl Latest {
    pub(crate) fn of(entry: NodeIx, node: &Node) -> Self {
        Self { time: node.time(), entry }
    }
}

impl Chain {
    fn new(nodes: &NodeReader<'_>, first: NodeIx, of: &impl Fn(NodeIx, &Node) -> Totals) -> Self {
        let latest = nodes.look(first, |node| Latest::of(first, node));
        let mut chain = Self { first, last: first, parent: nodes.parent(first), totals: Totals::default(), latest };
        for ix in from(nodes, first) {
            chain.last = ix;
            nodes.look(ix, |node| {
                chain.totals.add(&of(ix, node));
                chain.latest = chain.latest.max(Latest::of(ix, node));
            });
        }
        chain
    }
}

impl Chains {
    /// Extends the chains to the whole tree. They are built anew if an entry has another parent than before.
    pub(crate) fn extended(self, tree: &Tree, of: impl Fn(NodeIx, &Node) -> Totals) -> Self {
        let is_same = self.count <= tree.stored_len() && self.shape == tree.shape_of_first(self.count);
        let mut chains = if is_same { self } else { Self::default() };
        let nodes = &NodeReader::new(tree);
        let is_known = |ix: &NodeIx| ix.index() < chains.count;
        let mut firsts: Vec<NodeIx> = nodes.entries_from(chains.count).filter(|ix| is_first(nodes, *ix)).collect();
        let mut parents: Vec<NodeIx> =
            nodes.entries_from(chains.count).filter_map(|ix| nodes.parent(ix)).filter(is_known).collect();
        parents.sort_unstable();
        parents.dedup();
        for parent in parents {
            firsts.push(first_of(nodes, parent));
            firsts.extend(nodes.children(parent).next().filter(|child| is_known(child) && is_first(nodes, *child)));
        }
        firsts.sort_unstable();
        firsts.dedup();
        for first in firsts {
            chains.put(Chain::new(nodes, first, &of));
        }
        Self { count: tree.stored_len(), shape: tree.shape_of_first(tree.stored_len()), ..chains }
    }

    fn put(&mut self, chain: Chain) {
        match self.all.binary_search_by_key(&chain.first, |known| known.first) {
            Ok(at) => self.all.splice(at..=at, [chain]),
            Err(at) => self.all.splice(at..at, [chain]),
        };
    }

    /// The number of the chain that has an entry.
    pub(crate) fn find(&self, nodes: &NodeReader<'_>, ix: NodeIx) -> Option<usize> {
        self.all.binary_search_by_key(&first_of(nodes, ix), |chain| chain.first).ok()
    }

    /// The sums over the path above each chain.
    pub(crate) fn above(&self, tree: &ChainTree) -> Vec<Totals> {
        let mut above = vec![Totals::default(); self.all.len()];
        for (at, parent) in tree.children_first().rev().filter_map(|at| Some((at, tree.parent(at)?))) {
            let mut path = above[parent];
            path.add(&self.all[parent].totals);
            above[at] = path;
        }
        above
    }

    pub(crate) fn tree(&self) -> ChainTree {
        let by_last: HashMap<NodeIx, usize> = self.all.iter().enumerate().map(|(at, chain)| (chain.last, at)).collect();
        let parent = |chain: &Chain| chain.parent.and_then(|parent| by_last.get(&parent)).copied();
        let parents: Vec<Option<usize>> = self.all.iter().map(parent).collect();
        let mut waits_for = vec![0u32; parents.len()];
        for parent in parents.iter().flatten() {
            waits_for[*parent] += 1;
        }
        let mut children_first: Vec<usize> = (0..parents.len()).filter(|at| waits_for[*at] == 0).collect();
        let mut next = 0;
        while let Some(at) = children_first.get(next).copied() {
            next += 1;
            if let Some(parent) = parents[at] {
                waits_for[parent] -= 1;
                if waits_for[parent] == 0 {
                    children_first.push(parent);
                }
            }
        }
        ChainTree { parents, children_first }
    }
}

impl ChainTree {
    pub(crate) fn parent(&self, at: usize) -> Option<usize> {
        self.parents.get(at).copied().flatten()
    }

    /// Every chain before its parent.
    pub(crate) fn children_first(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.children_first.iter().copied()
    }
}

/// The entries of a chain from one of them on.
pub(crate) fn from<'a>(nodes: &'a NodeReader<'_>, ix: NodeIx) -> impl Iterator<Item = NodeIx> + 'a {
    std::iter::successors(Some(ix), |at| next(nodes, *at))
}

/// The entries of a chain from one of them up to the first.
pub(crate) fn up_from<'a>(nodes: &'a NodeReader<'_>, ix: NodeIx) -> impl Iterator<Item = NodeIx> + 'a {
    std::iter::successors(Some(ix), |at| nodes.parent(*at).filter(|parent| next(nodes, *parent).is_some()))
}

fn next(nodes: &NodeReader<'_>, ix: NodeIx) -> Option<NodeIx> {
    let mut children = nodes.children(ix);
    let only = children.next().filter(|_| children.next().is_none());
    only.filter(|only| only.index() / PAGE == ix.index() / PAGE)
}

fn first_of(nodes: &NodeReader<'_>, ix: NodeIx) -> NodeIx {
    up_from(nodes, ix).last().unwrap_or(ix)
}

fn is_first(nodes: &NodeReader<'_>, ix: NodeIx) -> bool {
    nodes.parent(ix).is_none_or(|parent| next(nodes, parent).is_none())
}
