//! Rows by number from the top, and the row of every entry. What a row draws is its layout's.

use super::order::NONE;

/// A row of an entry.
pub(super) trait PlacedRow {
    /// The entry's place in the order.
    fn place(&self) -> u32;
}

#[derive(Debug, Clone)]
pub(super) struct RowList<R> {
    pub(super) rows: Vec<R>,
    /// The row of an entry, or of its nearest shown ancestor, by place in the order.
    pub(super) nearest: Vec<u32>,
}

impl<R> Default for RowList<R> {
    fn default() -> Self {
        Self { rows: Vec::new(), nearest: Vec::new() }
    }
}

impl<R: PlacedRow> RowList<R> {
    pub(super) fn new(places: usize) -> Self {
        Self { rows: Vec::new(), nearest: vec![NONE; places] }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The place of a row's entry in the order.
    pub(super) fn place(&self, row: usize) -> Option<u32> {
        self.rows.get(row).map(PlacedRow::place)
    }

    /// The row of the entry at a place, or of its nearest shown ancestor.
    pub(super) fn nearest(&self, place: u32) -> Option<usize> {
        let row = *self.nearest.get(place as usize)?;
        (row != NONE).then_some(row as usize)
    }
}
