//! The rows of the selector: what is shown, what is folded, and which row is selected. Knows no keys and no screen.

use std::collections::HashSet;

use offshoot_session::outline::{Filter, Outline, Scope};
use offshoot_session::tree::{NodeIx, Tree};

/// Rows with a selected one.
#[derive(Debug, Default)]
pub(super) struct List {
    pub(super) outline: Outline,
    pub(super) filter: Filter,
    pub(super) folded: HashSet<NodeIx>,
    pub(super) selected: usize,
    /// The entry that was selected last, also while nothing is shown.
    remembered: Option<NodeIx>,
}

/// What else decides which rows there are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits<'a> {
    pub(super) found: Option<&'a [bool]>,
    pub(super) labelled: Option<&'a HashSet<NodeIx>>,
}

impl List {
    /// A list with an entry selected, or the nearest shown one above it.
    pub(super) fn new(outline: Outline, selected: Option<NodeIx>) -> Self {
        let remembered = selected.or_else(|| outline.open());
        let mut list = Self { outline, remembered, ..Self::default() };
        list.select_remembered();
        list.settle();
        list
    }

    /// Lays out anew and keeps to the remembered entry.
    pub(super) fn arrange(&mut self, tree: &Tree, limits: Limits<'_>) {
        let scope =
            Scope { filter: self.filter, found: limits.found, folded: Some(&self.folded), labelled: limits.labelled };
        self.outline.arrange(tree, scope);
        self.select_remembered();
    }

    /// Takes the selected row for what the person wants, from here on.
    pub(super) fn settle(&mut self) {
        self.remembered = self.entry().or(self.remembered);
    }

    pub(super) fn len(&self) -> usize {
        self.outline.len()
    }

    pub(super) fn entry(&self) -> Option<NodeIx> {
        self.outline.entry(self.selected)
    }

    pub(super) fn select(&mut self, row: usize) {
        self.selected = row.min(self.len().saturating_sub(1));
        self.settle();
    }

    /// A row up or down, from one end to the other.
    pub(super) fn step(&mut self, down: bool) {
        let last = self.len().saturating_sub(1);
        self.select(match (down, self.selected) {
            (true, at) if at >= last => 0,
            (true, at) => at + 1,
            (false, 0) => last,
            (false, at) => at - 1,
        });
    }

    /// Folds the selected branch; without one to fold goes to where it starts. Says whether rows have changed.
    pub(super) fn fold_or_up(&mut self) -> bool {
        if let Some(ix) = self.entry().filter(|_| self.outline.is_foldable(self.selected))
            && self.folded.insert(ix)
        {
            return true;
        }
        self.select(self.outline.segment_start(self.selected));
        false
    }

    /// Unfolds the selected branch; without one to unfold goes to the next branch. Says whether rows have changed.
    pub(super) fn unfold_or_down(&mut self) -> bool {
        if self.entry().is_some_and(|ix| self.folded.remove(&ix)) {
            return true;
        }
        self.select(self.outline.next_segment(self.selected));
        false
    }

    fn select_remembered(&mut self) {
        let row = self.remembered.and_then(|ix| self.outline.nearest(ix));
        self.selected = row.unwrap_or_else(|| self.len().saturating_sub(1));
    }
}

pub(super) fn cycled(filter: Filter, steps: usize) -> Filter {
    let names = Filter::NAMES;
    let at = names.iter().position(|(_, known)| *known == filter).unwrap_or_default();
    names.get((at + steps) % names.len()).map_or(filter, |(_, filter)| *filter)
}
