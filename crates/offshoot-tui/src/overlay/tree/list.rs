//! The rows of the selector: what is shown, what is folded, and which row is selected. Knows no keys and no screen.

use std::collections::HashSet;
use std::ops::Range;

use offshoot_session::outline::{Filter, Folds, Outline, Scope, TreeLayout};
use offshoot_session::tree::{NodeIx, Tree};

use super::Setup;
use super::panes::Panes;

/// Rows with a selected one.
#[derive(Debug, Default)]
pub(super) struct List {
    pub(super) outline: Outline,
    pub(super) filter: Filter,
    /// What is open while nothing is searched for.
    folds: Folds,
    /// What is open among the rows that a search or a filter for bookmarks leaves.
    narrow_folds: Folds,
    is_narrow: bool,
    pub(super) selected: usize,
    /// The first row on the screen.
    pub(super) top: usize,
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
    /// A list as it is set up; branches are open if all rows fit the screen.
    pub(super) fn new(mut outline: Outline, tree: &Tree, setup: &Setup) -> Self {
        let room = Panes::rows(setup.size);
        let folds = outline.open_if_it_fits(tree, room);
        let remembered = setup.selected.or_else(|| outline.open());
        let (narrow_folds, filter) = (Folds::all_open(), setup.filter);
        let is_narrow = filter == Filter::LabeledOnly;
        let mut list = Self { outline, filter, folds, narrow_folds, is_narrow, remembered, ..Self::default() };
        list.reveal(tree, Limits::default());
        list.settle();
        list.top = list.selected.saturating_sub(room / 2);
        list
    }

    /// Opens the branches in which the remembered entry is folded away.
    pub(super) fn reveal(&mut self, tree: &Tree, limits: Limits<'_>) {
        self.select_remembered();
        while self.outline.is_folded(self.selected) && self.entry() != self.remembered {
            let Some(head) = self.entry() else { break };
            self.folds().toggle(head);
            self.arrange(tree, limits);
        }
    }

    fn folds(&mut self) -> &mut Folds {
        if self.is_narrow { &mut self.narrow_folds } else { &mut self.folds }
    }

    /// Forgets what was folded among the rows of a search; in the peers' layout, as they do, also what was folded before.
    pub(super) fn refold(&mut self) {
        self.narrow_folds = Folds::all_open();
        if self.outline.layout() == TreeLayout::Pi {
            self.folds = Folds::all_open();
        }
    }

    /// Lays out anew and keeps to the remembered entry, which keeps its place on the screen.
    pub(super) fn arrange(&mut self, tree: &Tree, limits: Limits<'_>) {
        self.is_narrow = limits.found.is_some() || self.filter == Filter::LabeledOnly;
        let folds = self.folds().clone();
        let scope = Scope { filter: self.filter, found: limits.found, folds: Some(&folds), labelled: limits.labelled };
        let above = self.selected.saturating_sub(self.top);
        self.outline.arrange(tree, scope);
        self.select_remembered();
        self.top = self.selected.saturating_sub(above);
    }

    /// The rows that are seen. In the trunk layout they stay where they are until the selected one comes near an end; in
    /// the peers' layout it is in the middle.
    pub(super) fn window(&self, room: usize) -> Range<usize> {
        let last = self.len().saturating_sub(room);
        let around = (room / 4).min(3);
        let start = match self.outline.layout() {
            TreeLayout::Pi => self.selected.saturating_sub(room / 2),
            TreeLayout::Trunk => {
                let least = (self.selected + around + 1).saturating_sub(room);
                self.top.clamp(least, self.selected.saturating_sub(around).max(least))
            }
        };
        let start = start.min(last);
        start..(start + room).min(self.len())
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

    /// Folds what is open at the selected row. Says whether something was.
    pub(super) fn fold(&mut self) -> bool {
        let (Some(ix), row) = (self.entry(), self.selected) else { return false };
        if self.outline.is_run_open(row) {
            self.folds().toggle_run(ix);
        } else if self.outline.is_foldable(row) && !self.outline.is_folded(row) {
            self.folds().toggle(ix);
        } else {
            return false;
        }
        true
    }

    /// Opens what is folded at the selected row. Says whether something was.
    pub(super) fn open(&mut self) -> bool {
        let (Some(ix), row) = (self.entry(), self.selected) else { return false };
        if self.outline.is_folded(row) {
            self.folds().toggle(ix);
        } else if self.outline.run(row).is_some() {
            self.folds().toggle_run(ix);
        } else {
            return false;
        }
        true
    }

    /// Whether arrows fold and open: in the peers' layout they only turn pages.
    pub(super) fn folds_with_arrows(&self) -> bool {
        self.outline.layout() == TreeLayout::Trunk
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
