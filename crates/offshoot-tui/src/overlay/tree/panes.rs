//! The areas of the selector on the screen. Does not use the tree.

use ratatui::layout::Rect;

/// From this width on the preview is beside the tree.
const WIDE: u16 = 100;
/// With fewer rows, help and statistics share their lines with other parts.
const HIGH: u16 = 16;
/// The minimum height of a preview below the tree, with its heading.
const LEAST_PREVIEW: u16 = 3;

/// The areas. Parts without room are empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Panes {
    pub(super) title: Rect,
    pub(super) help: Rect,
    pub(super) search: Rect,
    pub(super) list: Rect,
    pub(super) status: Rect,
    pub(super) sums: Rect,
    pub(super) preview: Rect,
    pub(super) foot: Rect,
}

impl Panes {
    /// The number of tree rows on a terminal of this size: half of its rows above a preview, else all that are left.
    pub(super) fn rows(size: (u16, u16), has_preview: bool) -> usize {
        usize::from(Self::divided(size, has_preview).0.max(1))
    }

    /// The rows of the tree and of the preview below it.
    fn divided((columns, rows): (u16, u16), has_preview: bool) -> (u16, u16) {
        let rest = rows.saturating_sub(Self::around(columns, rows));
        let below = rest.saturating_sub(rows / 2);
        let below = if has_preview && columns < WIDE && below >= LEAST_PREVIEW { below } else { 0 };
        (rest - below, below)
    }

    /// The rows around the tree: title, help, search, status and foot. If there is room, also blank rows and
    /// statistics.
    fn around(columns: u16, rows: u16) -> u16 {
        if rows < HIGH { 5 } else { 6 + help_rows(columns) }
    }

    pub(super) fn new(area: Rect, has_preview: bool) -> Self {
        let is_high = area.height >= HIGH;
        let is_wide = area.width >= WIDE;
        let (tree, below) = Self::divided((area.width, area.height), has_preview);
        let mut y = area.y;
        let mut next = |height: u16| {
            let part = Rect { y, height: height.min(area.bottom() - y), ..area };
            y += part.height;
            part
        };
        let (title, help) = (next(1), next(if is_high { help_rows(area.width) } else { 1 }));
        let search = next(1);
        next(u16::from(is_high));
        let mut panes = Self { title, help, search, list: next(tree), ..Self::default() };
        panes.status = next(1);
        panes.sums = next(u16::from(is_high));
        panes.preview = next(below);
        panes.foot = next(1);
        if has_preview && is_wide {
            let right = area.width * 2 / 5;
            panes.preview = Rect { x: area.right() - right, width: right, ..panes.list };
            panes.list.width = area.width - right - 1;
        }
        panes
    }
}

fn help_rows(columns: u16) -> u16 {
    if columns < 70 { 3 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: the tree took half of the terminal where no preview was below it, and the rest was blank.
    #[test]
    fn no_row_is_left_over() {
        for (columns, rows) in [(80, 24), (40, 12), (120, 40), (80, 8), (60, 16), (100, 15)] {
            for has_preview in [true, false] {
                let panes = Panes::new(Rect::new(0, 0, columns, rows), has_preview);
                assert_eq!(panes.foot.bottom(), rows, "{columns}x{rows}: {panes:?}");
                let list = usize::from(panes.list.height);
                assert_eq!(list, Panes::rows((columns, rows), has_preview), "{columns}x{rows}");
            }
        }
        assert_eq!(Panes::rows((80, 24), true), 12);
        assert_eq!(Panes::rows((120, 40), true), 32);
    }
}
