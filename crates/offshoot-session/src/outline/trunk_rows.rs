//! The trunk layout: the current path runs straight down in one column, and every other branch hangs below the entry
//! that it leaves, folded to one row until it is opened.
//!
//! A row's parent is its nearest shown ancestor. Its last child in display order continues its column; the others hang
//! one level in. The order puts the heaviest branch last, so levels grow with the logarithm of the entries. All
//! children of the open entry hang, because nothing continues the trunk below it. Knows no bodies.

use std::collections::HashSet;
use std::ops::Range;

use super::folds::Folds;
use super::order::{NONE, Order};
use super::row_list::{PlacedRow, RowList};

/// Deeper rows show the number of their level instead of its columns.
const MAX_LEVELS: u32 = 8;

/// What decides about rows besides the order.
pub(super) struct TrunkScope<'a> {
    /// Which entries are shown, by place.
    pub(super) shown: &'a [bool],
    pub(super) folds: &'a Folds,
    /// Places of entries with a label, which are the last of a run of tool calls. `None`: no run is one row.
    pub(super) labelled: Option<&'a HashSet<u32>>,
    /// The place of the open entry.
    pub(super) open: Option<u32>,
}

/// What a row represents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowExtent {
    Entry,
    /// The whole branch that begins with the entry.
    Branch,
    /// The run of tool calls that begins with the entry.
    Run,
    /// The entry, which is the first of an open run of tool calls.
    OpenRun,
    /// The entry, which is a later one of an open run of tool calls.
    RestOfRun,
}

#[derive(Debug, Clone)]
pub(super) struct TrunkRow {
    place: u32,
    /// The place after the last entry that the row represents.
    end: u32,
    parent: u32,
    level: u32,
    extent: RowExtent,
    /// Whether a side branch begins here.
    is_head: bool,
    /// Whether a side branch begins here that has more to show than this entry.
    is_foldable: bool,
}

impl TrunkRow {
    /// The place of the entry that the row stands for: after a run of tool calls the last one, so that none is left out.
    fn stands_at(&self) -> u32 {
        match self.extent {
            RowExtent::Run => self.end.saturating_sub(1),
            RowExtent::Entry | RowExtent::Branch | RowExtent::OpenRun | RowExtent::RestOfRun => self.place,
        }
    }
}

impl PlacedRow for TrunkRow {
    fn place(&self) -> u32 {
        self.place
    }
}

#[derive(Debug, Clone)]
pub(super) struct TrunkRows {
    pub(super) list: RowList<TrunkRow>,
    /// From this row on, no line passes in the first column.
    tail: usize,
}

impl TrunkRows {
    pub(super) fn new(order: &Order, scope: &TrunkScope<'_>) -> Self {
        let mut counts = Vec::with_capacity(scope.shown.len() + 1);
        let mut count = 0u32;
        counts.push(count);
        counts.extend(scope.shown.iter().map(|is_shown| {
            count += u32::from(*is_shown);
            count
        }));
        let is_shown = |place: &u32| scope.shown.get(*place as usize) == Some(&true);
        let above_open = std::iter::successors(scope.open, |place| order.parent(*place));
        let end_of_trunk = above_open.into_iter().find(is_shown);
        let mut rows = Self { list: RowList::new(order.len()), tail: usize::MAX };
        rows.list.rows.reserve_exact(count as usize);
        Layouter { order, scope, counts, end_of_trunk, open_run_end: 0, rows }.finish()
    }

    /// The places of the branch that a row represents, which is folded or has one entry.
    pub(super) fn branch(&self, row: usize) -> Option<Range<usize>> {
        let row = self.list.rows.get(row).filter(|row| row.extent == RowExtent::Branch)?;
        Some(row.place as usize..row.end as usize)
    }

    /// The places of the run of tool calls that a row represents.
    pub(super) fn run(&self, row: usize) -> Option<Range<usize>> {
        let row = self.list.rows.get(row).filter(|row| row.extent == RowExtent::Run)?;
        Some(row.place as usize..row.end as usize)
    }

    /// The place of the entry that a row stands for.
    pub(super) fn stands_at(&self, row: usize) -> Option<u32> {
        self.list.rows.get(row).map(TrunkRow::stands_at)
    }

    /// The place of the first entry of the run of tool calls at a row, which is folded or open.
    pub(super) fn run_start(&self, row: usize) -> Option<u32> {
        let upwards = self.list.rows.get(..=row)?.iter().rev();
        let first = upwards.into_iter().find(|row| row.extent != RowExtent::RestOfRun)?;
        matches!(first.extent, RowExtent::Run | RowExtent::OpenRun).then_some(first.place)
    }

    pub(super) fn is_run_open(&self, row: usize) -> bool {
        let row = self.list.rows.get(row);
        row.is_some_and(|row| matches!(row.extent, RowExtent::OpenRun | RowExtent::RestOfRun))
    }

    pub(super) fn is_foldable(&self, row: usize) -> bool {
        self.list.rows.get(row).is_some_and(|row| row.is_foldable)
    }

    pub(super) fn is_folded(&self, row: usize) -> bool {
        self.list.rows.get(row).is_some_and(|row| row.is_foldable && row.extent == RowExtent::Branch)
    }

    pub(super) fn levels(&self, row: usize) -> u32 {
        self.list.rows.get(row).map_or(0, |row| row.level.min(MAX_LEVELS))
    }

    /// The row at which a row's branch begins; on the trunk the branch point above it, else the root.
    pub(super) fn segment_start(&self, row: usize) -> usize {
        let mut at = row;
        while let Some(parent) = self.list.rows.get(at).map(|row| row.parent as usize).filter(|parent| *parent < at) {
            at = parent;
            let is_start = self.list.rows.get(at).is_some_and(|row| row.is_head);
            let is_branch_point =
                self.list.rows.get(at + 1).is_some_and(|next| next.is_head && next.parent as usize == at);
            if is_start || (is_branch_point && self.levels(at) == 0) {
                break;
            }
        }
        at
    }

    /// The next row at which a side branch begins, else the last row.
    pub(super) fn next_segment(&self, row: usize) -> usize {
        let below = self.list.rows.iter().enumerate().skip(row + 1);
        below.into_iter().find(|(_, row)| row.is_head).map_or(self.list.rows.len().saturating_sub(1), |(at, _)| at)
    }

    pub(super) fn prefix(&self, at: usize) -> String {
        let Some(row) = self.list.rows.get(at) else { return String::new() };
        let mark = match (row.is_head, row.extent) {
            (false, _) => "│  ".to_owned(),
            (true, extent) => {
                let corner = if at == self.tail { '└' } else { '├' };
                let fold = match (row.is_foldable, extent) {
                    (false, _) => '─',
                    (true, RowExtent::Branch) => '⊞',
                    (true, RowExtent::Entry | RowExtent::Run | RowExtent::OpenRun | RowExtent::RestOfRun) => '⊟',
                };
                format!("{corner}{fold} ")
            }
        };
        let mut prefix = match row.level {
            0 => String::new(),
            level @ ..=MAX_LEVELS => "│  ".repeat(level as usize - 1) + &mark,
            level => "│  ".repeat(MAX_LEVELS as usize - 2) + &format!("⋮{level:<2}") + &mark,
        };
        let is_past_the_trunk = at > self.tail || (at == self.tail && !row.is_head);
        if is_past_the_trunk && prefix.starts_with('│') {
            prefix.replace_range(..'│'.len_utf8(), " ");
        }
        prefix
    }
}

/// Rows under construction.
struct Layouter<'a> {
    order: &'a Order,
    scope: &'a TrunkScope<'a>,
    /// How many entries are shown before a place.
    counts: Vec<u32>,
    /// The place of the last row of the trunk.
    end_of_trunk: Option<u32>,
    /// Before this place, tool calls belong to an open run.
    open_run_end: u32,
    rows: TrunkRows,
}

impl Layouter<'_> {
    fn finish(mut self) -> TrunkRows {
        let mut place = 0;
        while (place as usize) < self.order.len() {
            let parent =
                self.order.parent(place).and_then(|parent| self.rows.list.nearest.get(parent as usize)).copied();
            let parent = parent.unwrap_or(NONE);
            let (row, end) = if self.is_shown(place) { self.push(place, parent) } else { (parent, place + 1) };
            if let Some(stretch) = self.rows.list.nearest.get_mut(place as usize..end as usize) {
                stretch.fill(row);
            }
            place = end.max(place + 1);
        }
        self.rows
    }

    fn push(&mut self, place: u32, parent: u32) -> (u32, u32) {
        let above = self.rows.list.rows.get(parent as usize);
        let siblings_end = above.map_or(self.order.len() as u32, |above| self.order.end(above.place));
        let is_below_trunk = above.is_some_and(|above| Some(above.stands_at()) == self.end_of_trunk);
        let end = self.order.end(place);
        let is_last = self.count(siblings_end) == self.count(end);
        let is_head = !is_last || is_below_trunk;
        let level = above.map_or(0, |above| above.level) + u32::from(is_head);
        let is_foldable = is_head && self.count(end) > self.count(place) + 1;
        let (extent, end) = match self.order.entry(place) {
            Some(ix) if is_head && !(is_foldable && self.scope.folds.is_open(ix)) => (RowExtent::Branch, end),
            Some(ix) => match self.run_end(place) {
                Some(run_end) if self.scope.folds.is_run_open(ix) => {
                    self.open_run_end = run_end;
                    (RowExtent::OpenRun, place + 1)
                }
                Some(run_end) => (RowExtent::Run, run_end),
                None if place < self.open_run_end => (RowExtent::RestOfRun, place + 1),
                None => (RowExtent::Entry, place + 1),
            },
            None => (RowExtent::Entry, place + 1),
        };
        let row = self.rows.list.rows.len();
        if is_below_trunk && is_last {
            self.rows.tail = row;
        }
        self.rows.list.rows.push(TrunkRow { place, end, parent, level, extent, is_head, is_foldable });
        (row as u32, end)
    }

    /// The place after the run of tool calls that begins at a place, if it has more than one.
    fn run_end(&self, place: u32) -> Option<u32> {
        if place < self.open_run_end || !self.joins_run(place) || self.ends_run(place) {
            return None;
        }
        let (mut last, mut next) = (place, place + 1);
        while next < self.order.end(last) {
            if self.is_shown(next) {
                let is_only_child = self.count(self.order.end(next)) == self.count(self.order.end(last));
                if !is_only_child || !self.joins_run(next) {
                    break;
                }
                last = next;
                if self.ends_run(last) {
                    break;
                }
            }
            next += 1;
        }
        (last > place).then_some(last + 1)
    }

    fn joins_run(&self, place: u32) -> bool {
        self.scope.labelled.is_some() && self.order.is_good_result(place)
    }

    /// Whether an entry is a place that a row must stand for: it has a label, or the session continues there.
    fn ends_run(&self, place: u32) -> bool {
        let is_labelled = self.scope.labelled.is_some_and(|labelled| labelled.contains(&place));
        is_labelled || self.end_of_trunk == Some(place)
    }

    fn is_shown(&self, place: u32) -> bool {
        self.scope.shown.get(place as usize) == Some(&true)
    }

    fn count(&self, place: u32) -> u32 {
        self.counts.get(place as usize).copied().unwrap_or(0)
    }
}
