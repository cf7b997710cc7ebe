//! The areas of the selector on the screen. Does not use the tree.

use ratatui::layout::Rect;

/// From this width on the preview is beside the tree.
const WIDE: u16 = 100;
/// With fewer rows, help and statistics share their lines with other parts.
const HIGH: u16 = 16;
/// The minimum height of a preview below the tree, with its heading.
const LEAST_PREVIEW: u16 = 3;
/// The height of the preview if there is room.
const GOOD_PREVIEW: u16 = 10;

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
    /// The number of tree rows on a terminal of this size: half of its rows, and at least five.
    pub(super) fn rows((_, rows): (u16, u16)) -> usize {
        usize::from((rows / 2).max(5))
    }

    /// The number of terminal rows that all parts need.
    pub(super) fn wanted(size: (u16, u16), has_preview: bool) -> u16 {
        let (columns, rows) = size;
        let preview = if has_preview && columns < WIDE { GOOD_PREVIEW } else { 0 };
        let tree = Self::rows(size) as u16;
        tree.saturating_add(Self::around(columns, rows)).saturating_add(preview).min(rows)
    }

    /// The rows around the tree: title, help, search, status and foot. If there is room, also blank rows and
    /// statistics.
    fn around(columns: u16, rows: u16) -> u16 {
        if rows < HIGH { 5 } else { 6 + help_rows(columns) }
    }

    /// Divides the area. The terminal has `rows` rows.
    pub(super) fn new(area: Rect, rows: u16, has_preview: bool) -> Self {
        let is_high = area.height >= HIGH;
        let is_wide = area.width >= WIDE;
        let rest = area.height.saturating_sub(Self::around(area.width, area.height));
        let wanted = Self::rows((area.width, rows)) as u16;
        let below =
            Some(rest.saturating_sub(wanted)).filter(|below| has_preview && !is_wide && *below >= LEAST_PREVIEW);
        let mut y = area.y;
        let mut next = |height: u16| {
            let part = Rect { y, height: height.min(area.bottom() - y), ..area };
            y += part.height;
            part
        };
        let (title, help) = (next(1), next(if is_high { help_rows(area.width) } else { 1 }));
        let search = next(1);
        next(u16::from(is_high));
        let mut panes = Self { title, help, search, list: next(rest.min(wanted)), ..Self::default() };
        panes.status = next(1);
        panes.sums = next(u16::from(is_high));
        panes.preview = next(below.unwrap_or(0));
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
