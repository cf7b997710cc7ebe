//! The rows of the tree selector: shown rows, folds and the selected row. Handles no keys and draws nothing.

use std::collections::HashSet;
use std::ops::Range;

use offshoot_session::outline::{Filter, Folds, Outline, OutlineScope, TreeLayout};
use offshoot_session::tree::{NodeIx, Tree};

use super::Setup;
use super::panes::Panes;

/// The rows and the selected one.
#[derive(Debug, Default)]
pub(super) struct List {
    pub(super) outline: Outline,
    pub(super) filter: Filter,
    /// The folds without a search.
    folds: Folds,
    /// The folds among the rows of a search or of a label filter.
    narrow_folds: Folds,
    is_narrow: bool,
    pub(super) selected: usize,
    /// The first visible row.
    pub(super) top: usize,
    /// The entry that was selected last. It is kept while no row is shown.
    remembered: Option<NodeIx>,
}

/// The search results and labels that limit the rows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits<'a> {
    pub(super) found: Option<&'a [bool]>,
    pub(super) labelled: Option<&'a HashSet<NodeIx>>,
}

impl List {
    /// A list with these options. Branches are open if all rows fit on the screen.
    pub(super) fn new(mut outline: Outline, tree: &Tree, setup: &Setup) -> Self {
        let room = Panes::rows(setup.size, setup.shows_preview);
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

    /// Takes the layout of the whole tree in the place of the rows near the open entry, which stay where they are.
    pub(super) fn complete(&mut self, outline: Outline) {
        let above = self.selected.saturating_sub(self.top);
        self.outline = outline;
        self.select_remembered();
        self.top = self.selected.saturating_sub(above);
    }

    /// Unfolds the branches that hide the remembered entry.
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

    /// Resets the folds among the rows of a search. In the pi layout it also resets the other folds, as pi does.
    pub(super) fn refold(&mut self) {
        self.narrow_folds = Folds::all_open();
        if self.outline.layout() == TreeLayout::Pi {
            self.folds = Folds::all_open();
        }
    }

    /// Lays out the rows again. The remembered entry keeps its place on the screen.
    pub(super) fn arrange(&mut self, tree: &Tree, limits: Limits<'_>) {
        self.is_narrow = limits.found.is_some() || self.filter == Filter::LabeledOnly;
        let folds = self.folds().clone();
        let scope =
            OutlineScope { filter: self.filter, found: limits.found, folds: Some(&folds), labelled: limits.labelled };
        let above = self.selected.saturating_sub(self.top);
        self.outline.arrange(tree, scope);
        self.select_remembered();
        self.top = self.selected.saturating_sub(above);
    }

    /// The visible rows. In the trunk layout they stay until the selected row comes near an end. In the pi layout the
    /// selected row is in the middle.
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

    /// Remembers the selected entry as the user's choice.
    pub(super) fn settle(&mut self) {
        self.remembered = self.entry().or(self.remembered);
    }

    /// The entry that the next layout selects.
    pub(super) fn remember(&mut self, ix: NodeIx) {
        self.remembered = Some(ix);
    }

    pub(super) fn len(&self) -> usize {
        self.outline.len()
    }

    pub(super) fn entry(&self) -> Option<NodeIx> {
        self.outline.entry(self.selected)
    }

    /// The entries that the row of an entry names: all calls of a row of several, if the entry is the one that it stands
    /// for.
    pub(super) fn members(&self, ix: NodeIx) -> Vec<NodeIx> {
        let row = self.outline.nearest(ix).filter(|row| self.outline.entry(*row) == Some(ix));
        row.map_or_else(|| vec![ix], |row| self.outline.members(row).collect())
    }

    pub(super) fn select(&mut self, row: usize) {
        self.selected = row.min(self.len().saturating_sub(1));
        self.settle();
    }

    /// Moves one row up or down, and wraps at the ends.
    pub(super) fn step(&mut self, down: bool) {
        let last = self.len().saturating_sub(1);
        self.select(match (down, self.selected) {
            (true, at) if at >= last => 0,
            (true, at) => at + 1,
            (false, 0) => last,
            (false, at) => at - 1,
        });
    }

    /// Folds the open branch at the selected row. Returns whether there was one.
    pub(super) fn fold(&mut self) -> bool {
        let (Some(ix), row) = (self.entry(), self.selected) else { return false };
        if let Some(run) = self.outline.run_start(row).filter(|_| self.outline.is_run_open(row)) {
            self.folds().toggle_run(run);
        } else if self.outline.is_foldable(row) && !self.outline.is_folded(row) {
            self.folds().toggle(ix);
        } else {
            return false;
        }
        true
    }

    /// Opens the fold at the selected row. Returns whether there was one.
    pub(super) fn open(&mut self) -> bool {
        let (Some(ix), row) = (self.entry(), self.selected) else { return false };
        if self.outline.is_folded(row) {
            self.folds().toggle(ix);
        } else if let Some(run) = self.outline.run_start(row).filter(|_| self.outline.run(row).is_some()) {
            self.folds().toggle_run(run);
        } else {
            return false;
        }
        true
    }

    /// Whether arrow keys fold and open. In the pi layout they only turn pages.
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
