//! The rows in either layout, by number from the top.

use std::ops::Range;

use super::pi_rows::{LEVEL, PiRows};
use super::trunk_rows::TrunkRows;

#[derive(Debug, Clone)]
pub(super) enum Drawing {
    Trunk(TrunkRows),
    Pi(PiRows),
}

impl Default for Drawing {
    fn default() -> Self {
        Self::Pi(PiRows::default())
    }
}

impl Drawing {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Trunk(rows) => rows.list.len(),
            Self::Pi(rows) => rows.list.len(),
        }
    }

    /// The entry's place in the order.
    pub(super) fn place(&self, row: usize) -> Option<u32> {
        match self {
            Self::Trunk(rows) => rows.list.place(row),
            Self::Pi(rows) => rows.list.place(row),
        }
    }

    /// The place of the entry that a row stands for.
    pub(super) fn stands_at(&self, row: usize) -> Option<u32> {
        match self {
            Self::Trunk(rows) => rows.stands_at(row),
            Self::Pi(rows) => rows.list.place(row),
        }
    }

    /// The row of the entry at a place, or the nearest row above it that represents it.
    pub(super) fn nearest(&self, place: u32) -> Option<usize> {
        match self {
            Self::Trunk(rows) => rows.list.nearest(place),
            Self::Pi(rows) => rows.list.nearest(place),
        }
    }

    /// The places of the side branch that a row represents.
    pub(super) fn branch(&self, row: usize) -> Option<Range<usize>> {
        match self {
            Self::Trunk(rows) => rows.branch(row),
            Self::Pi(_) => None,
        }
    }

    /// The places of the run of tool calls that a row represents.
    pub(super) fn run(&self, row: usize) -> Option<Range<usize>> {
        match self {
            Self::Trunk(rows) => rows.run(row),
            Self::Pi(_) => None,
        }
    }

    /// The place of the first entry of the run of tool calls at a row.
    pub(super) fn run_start(&self, row: usize) -> Option<u32> {
        match self {
            Self::Trunk(rows) => rows.run_start(row),
            Self::Pi(_) => None,
        }
    }

    pub(super) fn is_run_open(&self, row: usize) -> bool {
        match self {
            Self::Trunk(rows) => rows.is_run_open(row),
            Self::Pi(_) => false,
        }
    }

    pub(super) fn is_foldable(&self, row: usize) -> bool {
        match self {
            Self::Trunk(rows) => rows.is_foldable(row),
            Self::Pi(rows) => rows.is_foldable(row),
        }
    }

    pub(super) fn is_folded(&self, row: usize) -> bool {
        match self {
            Self::Trunk(rows) => rows.is_folded(row),
            Self::Pi(rows) => rows.is_folded(row),
        }
    }

    /// Whether a line connects the row to its branch point; a folded row without one has its mark elsewhere.
    pub(super) fn has_connector(&self, row: usize) -> bool {
        match self {
            Self::Trunk(_) => true,
            Self::Pi(rows) => rows.has_connector(row as u32),
        }
    }

    pub(super) fn segment_start(&self, row: usize) -> usize {
        match self {
            Self::Trunk(rows) => rows.segment_start(row),
            Self::Pi(rows) => rows.segment_start(row),
        }
    }

    pub(super) fn next_segment(&self, row: usize) -> usize {
        match self {
            Self::Trunk(rows) => rows.next_segment(row),
            Self::Pi(rows) => rows.next_segment(row),
        }
    }

    pub(super) fn columns(&self, row: usize) -> usize {
        match self {
            Self::Trunk(rows) => rows.levels(row) as usize * LEVEL,
            Self::Pi(rows) => rows.columns(row),
        }
    }

    /// A row's whole prefix, in the peers' layout at most 64 levels.
    pub(super) fn prefix(&self, row: usize) -> String {
        match self {
            Self::Trunk(rows) => rows.prefix(row),
            Self::Pi(rows) => rows.prefix(row),
        }
    }

    /// A row's prefix between two columns, both multiples of [`LEVEL`].
    pub(super) fn window(&self, row: usize, columns: Range<usize>) -> String {
        match self {
            Self::Trunk(rows) => {
                let length = columns.len();
                rows.prefix(row).chars().skip(columns.start).take(length).collect()
            }
            Self::Pi(rows) => rows.window(row, columns.start / LEVEL..columns.end.div_ceil(LEVEL)),
        }
    }
}
