//! How many rows the live rows take on a narrower terminal, and which of them are left out for that. Does not know the
//! region.
//!
//! A terminal that gets narrower wraps long rows, and as many rows at the top of its screen scroll away. Nothing can be
//! redrawn there. So all live rows must still fit the screen at the narrower width.

use ratatui::text::Line;

use super::paint::{LiveRow, NARROWEST, row_of};

/// At least this many of the first rows stay. They are cut short instead.
pub(super) const FEWEST: usize = 3;
/// The symbol of a rule. A rule can be shorter than the screen.
const RULE: &str = "─";
/// The symbol at the end of a row that was cut short.
const CUT: &str = "…";

/// The narrower widths at which none of the rows may scroll away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NextWidth {
    /// Down to half of the width, as after a window is split.
    #[default]
    Half,
    /// Down to 40 columns. More sizes are expected.
    Any,
}

/// The narrowest width for which rows are prepared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Narrowing {
    columns: usize,
}

/// The row that stands for those that were left out.
pub(super) fn left_out() -> LiveRow {
    LiveRow { cells: row_of(&Line::from("  …"), 3), fill: None }
}

impl Narrowing {
    /// For a screen of this width. A screen of at most [`NARROWEST`] columns is not prepared.
    pub(super) fn of(width: u16, next: NextWidth) -> Self {
        let columns = usize::from(width).clamp(1, NARROWEST);
        match next {
            NextWidth::Any => Self { columns },
            NextWidth::Half => Self { columns: columns.max(usize::from(width / 2)) },
        }
    }

    /// The number of rows that these rows take in addition at that width.
    pub(super) fn excess(self, rows: &[LiveRow]) -> usize {
        rows.iter().map(|row| self.excess_of(row)).sum()
    }

    fn excess_of(self, row: &LiveRow) -> usize {
        row.cells.len().div_ceil(self.columns).saturating_sub(1)
    }

    /// Reduces the excess by `surplus`: leaves out some of the first `head` rows, then shortens rules, then the rest of
    /// those rows. A row that is left out makes room itself. Returns the number of rows that were left out.
    pub(super) fn fit(self, (rows, head): (&mut Vec<LiveRow>, usize), mut surplus: usize) -> usize {
        let mut count = 0;
        while let Some(row) = rows.get(count).filter(|_| surplus > 0 && count + FEWEST < head) {
            surplus = surplus.saturating_sub(self.excess_of(row) + 1);
            count += 1;
        }
        rows.drain(..count);
        let gain: usize = rows.iter().map(|row| self.gain_of(row)).sum();
        // Shorter rules alone would change nothing.
        if head == count && gain < surplus {
            return count;
        }
        while surplus > 0 {
            let length = |row: &LiveRow| row.cells.len();
            let Some(longest) = rows.iter().filter(|row| self.can_shorten(row)).map(length).max() else { break };
            for row in rows.iter_mut().filter(|row| length(row) == longest && self.can_shorten(row)) {
                row.cells.truncate(self.excess_of(row) * self.columns);
                surplus = surplus.saturating_sub(1);
            }
        }
        let head = rows.get_mut(..head - count).unwrap_or_default();
        while surplus > 0 {
            let longest = head.iter_mut().filter(|row| self.excess_of(row) > 0).max_by_key(|row| row.cells.len());
            let Some(row) = longest else { break };
            row.cells.truncate(self.excess_of(row) * self.columns);
            if let Some(last) = row.cells.last_mut() {
                last.set_symbol(CUT);
            }
            surplus -= 1;
        }
        count
    }

    /// Whether a row ends with a rule that can take a row less.
    fn can_shorten(self, row: &LiveRow) -> bool {
        self.gain_of(row) > 0
    }

    /// How many rows fewer a row takes without the rule at its end.
    fn gain_of(self, row: &LiveRow) -> usize {
        let text = row.cells.iter().rposition(|cell| cell.symbol() != RULE).map_or(0, |at| at + 1);
        row.cells.len().div_ceil(self.columns).saturating_sub(text.div_ceil(self.columns).max(1))
    }
}
