//! The rows of children below the rows of the calls that started them. Reads no files.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_session::children::{ChildInfo, ChildList};
use offshoot_session::outline::Outline;
use offshoot_session::text::{cut, one_line};
use offshoot_session::tree::{NodeIx, Tree};

use crate::words::{Line, Role};

/// The children of a tree that is drawn.
pub(super) struct ChildRows<'a> {
    list: &'a ChildList,
    /// By the row below which they are.
    below: BTreeMap<usize, Vec<&'a ChildInfo>>,
    /// Those whose call is in no row.
    rest: Vec<&'a ChildInfo>,
}

impl<'a> ChildRows<'a> {
    /// A row that stands for several entries has the children of all of them.
    pub(super) fn new(list: &'a ChildList, tree: &Tree, outline: &Outline) -> Self {
        let mut rows = Self { list, below: BTreeMap::new(), rest: Vec::new() };
        if list.children.is_empty() {
            return rows;
        }
        let mut left: BTreeMap<&str, Vec<&ChildInfo>> = BTreeMap::new();
        for child in list.children.iter().filter(|child| child.depth() == 1) {
            match child.parent_entry.as_deref() {
                Some(entry) => left.entry(entry).or_default().push(child),
                None => rows.rest.push(child),
            }
        }
        let shown: BTreeSet<NodeIx> = (0..outline.len()).filter_map(|at| outline.entry(at)).collect();
        for at in 0..outline.len() {
            let Some(ix) = outline.entry(at) else { continue };
            let run = tree.ancestors(ix).enumerate().take_while(|(step, ix)| *step == 0 || !shown.contains(ix));
            for (_, ix) in run {
                let found = tree.node(ix).id().and_then(|id| left.remove(id.as_str()));
                rows.below.entry(at).or_default().extend(found.into_iter().flatten());
            }
        }
        rows.rest.extend(left.into_values().flatten());
        rows
    }

    /// The rows after this one.
    pub(super) fn after(&mut self, at: usize, indent: &str, width: Option<usize>) -> Vec<Line> {
        let children = self.below.remove(&at).unwrap_or_default();
        self.lines(&children, indent, width)
    }

    /// Those whose call is not shown.
    pub(super) fn rest(&self, width: Option<usize>) -> Vec<Line> {
        self.lines(&self.rest, "  ", width)
    }

    fn lines(&self, children: &[&ChildInfo], indent: &str, width: Option<usize>) -> Vec<Line> {
        let all = children.iter().flat_map(|child| std::iter::once(*child).chain(self.list.below(&child.id)));
        let line = |child: &ChildInfo| {
            let deeper = "  ".repeat(child.depth() - 1);
            let words = format!("{indent}{deeper}◆ {}", one_line(&child.words(), usize::MAX));
            Line::of(
                Role::Dim,
                match width {
                    Some(width) => cut(&words, width).into_owned(),
                    None => words,
                },
            )
        };
        all.map(line).collect()
    }
}

/// Blanks as wide as the lines of a tree, which go on where they do.
pub(super) fn blank(prefix: &str) -> String {
    prefix.chars().map(|c| if matches!(c, '│' | '├') { '│' } else { ' ' }).collect()
}
