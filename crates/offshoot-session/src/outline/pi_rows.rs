//! The peers' layout: indentation and connecting lines of the shown entries.
//!
//! A linear conversation stays flush left; only branching indents rows, by three columns a level. A row's parent is its
//! nearest shown ancestor. Lines are drawn on demand. Knows no bodies.

use super::order::{NONE, Order};
use super::row_list::{PlacedRow, RowList};

/// The most levels of indentation in rows of whole text, so that a tree which branches at every step has finite rows.
const MAX_LEVELS: u32 = 64;

/// Columns of a level.
pub(super) const LEVEL: usize = 3;

/// A row's place in the drawing. Rows refer to each other by number from the top.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    /// The entry's place in the order.
    place: u32,
    parent: u32,
    children: u32,
    indent: u32,
    /// The nearest row above it in the tree with a connector, whose line passes this row.
    gutter: u32,
    /// `gutter` among the rows within [`MAX_LEVELS`].
    near_gutter: u32,
    is_branch: bool,
    is_last: bool,
    is_folded: bool,
}

impl PlacedRow for Placed {
    fn place(&self) -> u32 {
        self.place
    }
}

/// The rows of a drawing in the peers' layout.
#[derive(Debug, Clone, Default)]
pub(super) struct PiRows {
    pub(super) list: RowList<Placed>,
    has_many_roots: bool,
}

impl PiRows {
    /// Lays out the shown entries without descendants of folded ones; both by place in the order.
    pub(super) fn new(order: &Order, shown: &[bool], is_folded: impl Fn(u32) -> bool) -> Self {
        let mut layout = Self { list: RowList::new(order.len()), has_many_roots: false };
        layout.list.rows.reserve_exact(shown.iter().filter(|is_shown| **is_shown).count());
        let mut place = 0;
        while (place as usize) < order.len() {
            let above = order.parent(place).and_then(|parent| layout.list.nearest.get(parent as usize)).copied();
            let above = above.unwrap_or(NONE);
            let row = if shown.get(place as usize) == Some(&true) { layout.push(place, above) } else { above };
            let is_folded = is_folded(place);
            if let Some(row) = layout.list.rows.get_mut(row as usize).filter(|row| row.place == place) {
                row.is_folded = is_folded;
            }
            let end = if is_folded { order.end(place).max(place + 1) } else { place + 1 };
            layout.list.nearest[place as usize..end as usize].fill(row);
            place = end;
        }
        layout.has_many_roots = layout.list.rows.iter().filter(|row| row.parent == NONE).nth(1).is_some();
        layout.indent();
        layout
    }

    fn push(&mut self, place: u32, parent: u32) -> u32 {
        if let Some(above) = self.list.rows.get_mut(parent as usize) {
            above.children += 1;
        }
        let row = Placed {
            place,
            parent,
            children: 0,
            indent: 0,
            gutter: NONE,
            near_gutter: NONE,
            is_branch: false,
            is_last: false,
            is_folded: false,
        };
        self.list.rows.push(row);
        self.list.rows.len() as u32 - 1
    }

    /// Indents the rows. Parents precede their children.
    fn indent(&mut self) {
        let mut seen = vec![0u32; self.list.rows.len()];
        for at in 0..self.list.rows.len() {
            let parent = self.list.rows[at].parent;
            let Some(above) = self.list.rows.get(parent as usize) else {
                self.list.rows[at].indent = u32::from(self.has_many_roots);
                self.list.rows[at].is_branch = self.has_many_roots;
                continue;
            };
            let branches = above.children > 1;
            let indent = above.indent + u32::from(branches || (above.is_branch && above.indent > 0));
            let has_line = self.has_connector(parent);
            let gutter = if has_line { parent } else { above.gutter };
            let is_near = has_line && self.shown_indent(parent) < MAX_LEVELS;
            let near_gutter = if is_near { parent } else { above.near_gutter };
            seen[parent as usize] += 1;
            let is_last = seen[parent as usize] == above.children;
            let row = &mut self.list.rows[at];
            *row = Placed { indent, gutter, near_gutter, is_branch: branches, is_last, ..row.clone() };
        }
    }

    pub(super) fn parent(&self, row: usize) -> Option<usize> {
        let parent = self.list.rows.get(row)?.parent;
        (parent != NONE).then_some(parent as usize)
    }

    pub(super) fn children(&self, row: usize) -> usize {
        self.list.rows.get(row).map_or(0, |row| row.children as usize)
    }

    pub(super) fn is_foldable(&self, row: usize) -> bool {
        self.list.rows.get(row).is_some_and(|row| row.children > 0 && (row.parent == NONE || row.is_branch))
    }

    pub(super) fn is_folded(&self, row: usize) -> bool {
        self.list.rows.get(row).is_some_and(|row| row.is_folded)
    }

    pub(super) fn has_connector(&self, row: u32) -> bool {
        self.list.rows.get(row as usize).is_some_and(|row| row.is_branch && row.parent != NONE)
    }

    fn shown_indent(&self, row: u32) -> u32 {
        let indent = self.list.rows.get(row as usize).map_or(0, |row| row.indent);
        if self.has_many_roots { indent.saturating_sub(1) } else { indent }
    }

    pub(super) fn columns(&self, row: usize) -> usize {
        self.shown_indent(row as u32) as usize * LEVEL
    }

    /// The prefix of a row with at most [`MAX_LEVELS`] levels.
    pub(super) fn prefix(&self, row: usize) -> String {
        let levels = self.shown_indent(row as u32).min(MAX_LEVELS);
        let near_gutter = self.list.rows.get(row).map_or(NONE, |row| row.near_gutter);
        self.lines(row, near_gutter, 0..levels)
    }

    /// The prefix of a row between two levels.
    pub(super) fn window(&self, row: usize, levels: std::ops::Range<usize>) -> String {
        let indent = self.shown_indent(row as u32);
        let (start, end) = (levels.start.min(indent as usize) as u32, levels.end.min(indent as usize) as u32);
        let gutter = self.list.rows.get(row).map_or(NONE, |row| row.gutter);
        let cut = self.lines(row, gutter, start..end);
        // The connector is at the last level.
        if end == indent { cut } else { self.lines_without_connector(gutter, start..end) }
    }

    fn lines_without_connector(&self, gutter: u32, levels: std::ops::Range<u32>) -> String {
        self.drawn(gutter, &levels).into_iter().flatten().collect()
    }

    fn lines(&self, row: usize, gutter: u32, levels: std::ops::Range<u32>) -> String {
        let mut drawn = self.drawn(gutter, &levels);
        let is_last = self.list.rows.get(row).is_some_and(|row| row.is_last);
        if let Some(level) = drawn.last_mut().filter(|_| self.has_connector(row as u32)) {
            let mark = match (self.is_folded(row), self.is_foldable(row)) {
                (true, _) => '⊞',
                (false, true) => '⊟',
                (false, false) => '─',
            };
            *level = [if is_last { '└' } else { '├' }, mark, ' '];
        }
        drawn.into_iter().flatten().collect()
    }

    /// The lines that pass a row at some levels; `gutter` is the nearest row that draws one.
    fn drawn(&self, mut gutter: u32, levels: &std::ops::Range<u32>) -> Vec<[char; LEVEL]> {
        let mut drawn = vec![[' '; LEVEL]; levels.len()];
        while let Some(row) = self.list.rows.get(gutter as usize) {
            let level = self.shown_indent(gutter).saturating_sub(1);
            if level < levels.start {
                break; // further up they only move out
            }
            if let Some(cell) = drawn.get_mut((level - levels.start) as usize).filter(|_| !row.is_last) {
                cell[0] = '│';
            }
            gutter = row.gutter;
        }
        drawn
    }

    pub(super) fn segment_start(&self, row: usize) -> usize {
        let mut at = row;
        while let Some(parent) = self.parent(at) {
            if self.children(parent) > 1 && at < row {
                return at;
            }
            at = parent;
        }
        at
    }

    pub(super) fn next_segment(&self, row: usize) -> usize {
        let mut at = row;
        loop {
            match self.children(at) {
                0 => return at,
                1 => at += 1,
                _ => return at + 1,
            }
        }
    }
}
