//! Where each row goes: order, indentation and connecting lines.
//!
//! A linear conversation stays flush left; only branching moves rows in, by three columns a level.

use std::rc::Rc;

use crate::tree::{NodeIx, Tree};

/// Branches inside branches move in no further than this: rows of a tree that branches at every step stay of finite
/// width, and their layout linear.
const MAX_LEVELS: usize = 64;

/// A row's place.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) ix: NodeIx,
    pub(super) prefix: String,
    pub(super) is_on_path: bool,
}

/// A vertical line that runs past a row, at a level.
#[derive(Debug)]
struct Gutter {
    level: usize,
    is_open: bool,
    outer: Option<Rc<Gutter>>,
}

/// A row that waits for its turn.
struct Waiting {
    ix: NodeIx,
    indent: usize,
    /// Its parent branches.
    is_branch: bool,
    has_connector: bool,
    is_last: bool,
    gutters: Option<Rc<Gutter>>,
}

/// Lays out the visible entries; `visible` is by place in file order.
pub(super) fn place(tree: &Tree, open: Option<NodeIx>, visible: &[bool]) -> Vec<Placed> {
    let on_path = marks(tree, open, visible.len());
    let forest = Forest::of_visible(tree, visible, &on_path);
    let many_roots = forest.roots.len() > 1;
    let mut stack: Vec<Waiting> = Vec::new();
    for (at, root) in forest.roots.iter().enumerate().rev() {
        stack.push(Waiting {
            ix: *root,
            indent: usize::from(many_roots),
            is_branch: many_roots,
            has_connector: false,
            is_last: at + 1 == forest.roots.len(),
            gutters: None,
        });
    }
    let mut placed = Vec::new();
    while let Some(row) = stack.pop() {
        let shown_indent = if many_roots { row.indent.saturating_sub(1) } else { row.indent }.min(MAX_LEVELS);
        let children = forest.children(row.ix);
        let is_foldable = !children.is_empty() && (row.is_branch || forest.is_root(row.ix));
        placed.push(Placed {
            ix: row.ix,
            prefix: prefix(&row, shown_indent, is_foldable),
            is_on_path: on_path[row.ix.index()],
        });
        let branches = children.len() > 1;
        let indent = if branches || (row.is_branch && row.indent > 0) { row.indent + 1 } else { row.indent };
        let gutters = if row.has_connector && shown_indent > 0 && shown_indent < MAX_LEVELS {
            Some(Rc::new(Gutter { level: shown_indent - 1, is_open: !row.is_last, outer: row.gutters.clone() }))
        } else {
            row.gutters.clone()
        };
        for (at, child) in children.iter().enumerate().rev() {
            stack.push(Waiting {
                ix: *child,
                indent,
                is_branch: branches,
                has_connector: branches,
                is_last: at + 1 == children.len(),
                gutters: gutters.clone(),
            });
        }
    }
    placed
}

/// Which entries are on the path to the open one.
fn marks(tree: &Tree, open: Option<NodeIx>, count: usize) -> Vec<bool> {
    let mut on_path = vec![false; count];
    for ix in open.into_iter().flat_map(|open| tree.ancestors(open)) {
        if let Some(mark) = on_path.get_mut(ix.index()) {
            *mark = true;
        }
    }
    on_path
}

fn prefix(row: &Waiting, indent: usize, is_foldable: bool) -> String {
    let mut levels: Vec<[char; 3]> = vec![[' '; 3]; indent];
    let mut gutter = row.gutters.as_deref();
    while let Some(line) = gutter {
        if let Some(level) = levels.get_mut(line.level).filter(|_| line.is_open) {
            level[0] = '│';
        }
        gutter = line.outer.as_deref();
    }
    if let Some(level) = levels.last_mut().filter(|_| row.has_connector) {
        *level = [if row.is_last { '└' } else { '├' }, if is_foldable { '⊟' } else { '─' }, ' '];
    }
    levels.into_iter().flatten().collect()
}

/// The visible entries as a forest of their own: the parent of each is its nearest visible ancestor.
struct Forest {
    roots: Vec<NodeIx>,
    /// The children of all entries, one after the other.
    children: Vec<NodeIx>,
    /// Where an entry's children stand in `children`, by place in file order.
    ranges: Vec<(u32, u32)>,
    is_root: Vec<bool>,
}

impl Forest {
    /// Children come in the order of the whole tree: those that lead to the open entry first, then by time.
    fn of_visible(tree: &Tree, visible: &[bool], on_path: &[bool]) -> Self {
        let mut pairs: Vec<(Option<NodeIx>, NodeIx)> = Vec::new(); // visible parent and child, in display order
        let mut stack: Vec<(Option<NodeIx>, NodeIx)> = Vec::new();
        let first_on_path = |mut siblings: Vec<NodeIx>| {
            siblings.sort_by_key(|ix| !on_path.get(ix.index()).copied().unwrap_or(false));
            siblings
        };
        stack.extend(first_on_path(tree.roots().collect()).into_iter().rev().map(|root| (None, root)));
        while let Some((above, ix)) = stack.pop() {
            let is_visible = visible.get(ix.index()) == Some(&true);
            if is_visible {
                pairs.push((above, ix));
            }
            let above = if is_visible { Some(ix) } else { above };
            let mut children = tree.children(ix);
            match (children.next(), children.next()) {
                (None, _) => {}
                (Some(only), None) => stack.push((above, only)),
                _ => {
                    stack
                        .extend(first_on_path(tree.children_by_time(ix)).into_iter().rev().map(|child| (above, child)));
                }
            }
        }
        Self::from_pairs(&pairs, visible.len())
    }

    fn from_pairs(pairs: &[(Option<NodeIx>, NodeIx)], count: usize) -> Self {
        let mut forest = Self {
            roots: Vec::new(),
            children: Vec::with_capacity(pairs.len()),
            ranges: vec![(0, 0); count],
            is_root: vec![false; count],
        };
        for (above, ix) in pairs {
            match above {
                Some(above) => forest.ranges[above.index()].1 += 1,
                None => {
                    forest.roots.push(*ix);
                    forest.is_root[ix.index()] = true;
                }
            }
        }
        let mut start = 0;
        for range in &mut forest.ranges {
            let length = range.1;
            *range = (start, start);
            start += length;
        }
        forest.children.resize(start as usize, NodeIx::default());
        for (above, ix) in pairs {
            if let Some(above) = above {
                let end = &mut forest.ranges[above.index()].1;
                forest.children[*end as usize] = *ix;
                *end += 1;
            }
        }
        forest
    }

    fn children(&self, ix: NodeIx) -> &[NodeIx] {
        let (start, end) = self.ranges[ix.index()];
        &self.children[start as usize..end as usize]
    }

    fn is_root(&self, ix: NodeIx) -> bool {
        self.is_root[ix.index()]
    }
}
