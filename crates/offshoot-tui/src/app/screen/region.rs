//! The live region: the rows below the printed rows, which are redrawn. Finished rows are printed above it.
//!
//! The region is located by the start of its first row. The cursor rests there while rows above the editor come and go. Terminals
//! that rewrap rows on a resize move the cursor with its row; other terminals move neither. So everything below the cursor
//! is the region, whatever resizes came in between. All movements are relative to that place, and no row of the screen
//! is addressed by number. While those rows keep their lengths, the cursor rests in the editor, where input methods look for it.

use std::sync::Arc;

use ratatui::layout::{Position, Size};
use ratatui::style::{Color, Modifier};

use super::narrow::{FEWEST, Narrowing, NextWidth, left_out};
use super::paint::{CellRow, LiveRow, Paint};
use super::redraw::{Descent, LOWEST, make_room, redraw, redraw_around, visit, wipe_rows};
use crate::app::text_cursor::TextCursor;

/// The usual maximum distance of the terminal's own cursor from the region's first row: a terminal that gets lower keeps both.
const NEAR: usize = LOWEST - 1;

/// tmux moves rows at the top of a screen that gets narrower into the scrollback. So many rows of the region may wrap
/// before one of them is lost there.
const SLACK: usize = 4;

/// A region of at most so many rows is an editor that nobody has typed much into.
const IDLE: usize = 5;

/// A finished row.
#[derive(Debug, Clone)]
pub(super) struct PrintedRow {
    pub(super) cells: CellRow,
    /// The background of the rest of the row.
    pub(super) fill: Option<Color>,
    /// For each picture that ends in this row: its last column, and the sequence that shows it.
    pub(super) pictures: Vec<(u16, Arc<str>)>,
}

/// Where and how the text cursor is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RegionCursor {
    /// Not shown.
    #[default]
    None,
    /// Drawn as a reversed cell, while the terminal's own cursor must stay at the region's first row.
    Drawn(Position),
    /// Shown with the terminal's own cursor.
    Terminal(Position),
    /// The rows show it. The terminal's own cursor is there too, hidden: input methods follow it.
    Marked(Position),
}

/// How far from the region's first row the terminal's own cursor may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorReach {
    /// It stays in that row: a resize may come at any moment, and rows change their lengths.
    FirstRow,
    Near,
    /// Wherever the text cursor is. A resize may leave some rows of the region above it.
    Anywhere,
}

/// The rows of the region.
#[derive(Debug)]
pub struct RegionRows<R> {
    pub rows: R,
    pub cursor: RegionCursor,
    /// So many rows at the start continue the printed ones. Blank rows that keep the region at the bottom are below them.
    pub head: usize,
    /// So many rows come and go, such as completions. They cover finished rows instead of scrolling them away.
    pub passing: usize,
    pub next_width: NextWidth,
}

/// The region as the terminal shows it.
#[derive(Debug, Default)]
pub(super) struct Region {
    shown: Vec<LiveRow>,
    /// Printed rows that passing rows cover. They are printed again when those go.
    covered: Vec<PrintedRow>,
    /// The last printed rows, directly above the region. Each takes one row of the screen.
    known: Vec<PrintedRow>,
    /// Whether the terminal's size has changed and `top` is not known yet.
    is_moved: bool,
    /// The screen row where the region begins, as far as it is known. An error only costs blank rows.
    top: usize,
    /// Whether the region's last row has reached the last row of the screen.
    is_at_bottom: bool,
    /// So many blank rows are above an editor that begins near the top of a screen. They are what a narrower terminal scrolls away.
    lead: usize,
    /// Whether the terminal's height has decreased.
    is_lower: bool,
    /// Whether the terminal's width has decreased.
    is_narrower: bool,
    /// Whether the terminal reports its size late.
    is_late: bool,
    /// Whether the terminal's size has changed at all.
    was_resized: bool,
    /// The cursor's distance from the first row, and its column.
    cursor: (usize, usize),
    is_cursor_shown: Option<bool>,
    is_wrapping: Option<bool>,
}

impl Region {
    /// A region that begins at this screen row, with rows of another one that were covered. The cursor is in its first column.
    pub(super) fn at(top: u16, covered: Vec<PrintedRow>, is_late: bool) -> Self {
        Self { top: usize::from(top), covered, is_late, ..Self::default() }
    }

    /// Corrects the first row. If it has moved up on a lower terminal, rows above it have scrolled away and the screen
    /// is full. If it is near the top of a narrower one, the region goes to the bottom: the next rows that scroll away
    /// are blank then.
    pub(super) fn set_top(&mut self, top: u16) {
        self.is_at_bottom |= self.is_lower && usize::from(top) < self.top;
        self.is_at_bottom |= self.is_narrower && usize::from(top) < SLACK;
        self.top = usize::from(top);
        self.is_moved = false;
        keep_last(&mut self.known, self.top);
    }

    /// Whether so many rows fit below the printed ones.
    pub(super) fn has_room(&self, rows: usize, height: usize) -> bool {
        rows <= height.saturating_sub(self.top)
    }

    /// Prints finished rows and draws the region below them. Returns whether rows above the cursor came, went or changed their
    /// lengths.
    pub(super) fn draw(
        &mut self,
        paint: &mut Paint,
        size: Size,
        printed: Vec<PrintedRow>,
        RegionRows { mut rows, cursor, head, passing, next_width }: RegionRows<Vec<LiveRow>>,
    ) -> bool {
        let height = usize::from(size.height);
        let printed = &self.cover(paint, printed, (rows.len(), passing), height);
        if let RegionCursor::Drawn(at) = cursor {
            reverse(&mut rows, at, size.width);
        }
        let own = match cursor {
            RegionCursor::Terminal(at) | RegionCursor::Marked(at) => Some(at),
            RegionCursor::None | RegionCursor::Drawn(_) => None,
        };
        let below = own.map_or(0, |at| usize::from(at.y));
        // The way back up must be the same in every terminal.
        rows.iter_mut().take(below).for_each(|row| row.write_fill(size.width));
        let (dropped, padding) = self.pad((&mut rows, head), (size, next_width), (printed.len(), below));
        let row_of = |at: Position| (usize::from(at.y) + padding).saturating_sub(dropped);
        let place = own.map_or((0, 0), |at| (row_of(at), usize::from(at.x)));
        self.show_cursor_if(paint, matches!(cursor, RegionCursor::Terminal(_)));
        if printed.is_empty() && rows == self.shown && place == self.cursor {
            return false;
        }
        let above = match cursor {
            RegionCursor::Drawn(at) | RegionCursor::Terminal(at) | RegionCursor::Marked(at) => row_of(at),
            RegionCursor::None => rows.len(),
        };
        let lengths =
            |rows: &[LiveRow]| rows.get(..above).map(|rows| rows.iter().map(|row| row.cells.len()).collect::<Vec<_>>());
        let keeps_lengths = printed.is_empty() && lengths(&self.shown) == lengths(&rows);
        let descent = self.descent(height, next_width);
        if keeps_lengths && rows.len() == self.shown.len() && place.0 > 0 && place.0 == self.cursor.0 {
            self.wrap_if(paint, false);
            redraw_around(paint, place.0, &self.shown, &rows, descent);
            paint.column(place.1);
            (self.shown, self.cursor) = (rows, place);
            return false;
        }
        self.move_to_top(paint);
        let was = self.prepare(paint, height, (printed, &rows), descent);
        let is_changed = !keeps_lengths || was.is_empty();
        self.print(paint, printed, &was);
        self.remember(printed, size);
        self.top = (self.top + printed.len()).min(height.saturating_sub(rows.len()));
        let was = was.get(printed.len()..).unwrap_or_default();
        self.wrap_if(paint, false);
        redraw(paint, place.0, was, &rows, descent);
        (self.shown, self.cursor) = (rows, place);
        if place.1 > 0 {
            paint.column(place.1);
        }
        is_changed
    }

    /// Prints rows and wipes the region. The cursor ends at the region's place.
    pub(super) fn close(&mut self, paint: &mut Paint, printed: &[PrintedRow]) {
        self.move_to_top(paint);
        paint.wipe_below();
        let covered = std::mem::take(&mut self.covered);
        self.print(paint, &covered, &[]);
        self.print(paint, printed, &[]);
        self.known.clear();
        self.wrap_if(paint, true);
        self.show_cursor_if(paint, true);
        self.shown.clear();
    }

    /// Wipes the region before the alternate screen is shown, and leaves the cursor in its last row. Blank rows do not wrap, and a
    /// terminal that gets lower cuts none of them off below the cursor. Returns the screen row of the cursor, as far as it is known.
    pub(super) fn step_aside(&mut self, paint: &mut Paint) -> usize {
        self.move_to_top(paint);
        paint.wipe_below();
        self.shown = vec![LiveRow::default(); self.shown.len().max(1)];
        let below = self.shown.len() - 1;
        self.descent(usize::MAX, NextWidth::Any).go(paint, below);
        self.cursor = (below, 0);
        self.top + below
    }

    /// Moves the cursor to the region's first row. A resize leaves it there.
    pub(super) fn move_to_top(&mut self, paint: &mut Paint) {
        let (row, column) = std::mem::take(&mut self.cursor);
        paint.up(row);
        if column > 0 {
            paint.column(0);
        }
    }

    /// Handles a resize. The terminal may have changed the region's rows, so all of them are redrawn. Long rows above
    /// the cursor may now take several rows.
    pub(super) fn resized(&mut self, paint: &mut Paint, (before, now): (Size, Size), rewraps: bool) {
        self.was_resized |= now != before;
        // The same size may be reported twice, or after another that was there for a moment.
        if now != before {
            self.is_lower = now.height < before.height;
            self.is_at_bottom = false;
        }
        self.is_narrower = now.width < before.width || self.is_narrower && now.width == before.width;
        let (row, column) = self.cursor;
        if rewraps {
            let columns = usize::from(now.width).max(1);
            let above = self.shown.iter().take(row).map(|row| row.cells.len().div_ceil(columns).max(1)).sum::<usize>();
            self.cursor = (above + column / columns, column);
        }
        self.move_to_top(paint);
        self.shown.clear();
        let wide = self.known.iter().rposition(|row| row.cells.len() > usize::from(now.width));
        self.known.drain(..wide.map_or(0, |at| at + 1));
        self.is_moved = true;
    }

    /// Wipes the region and the printed rows above it that are known, wherever the cursor is. Returns those rows, which are to be printed
    /// again. What else is on the screen stays.
    pub(super) fn repaint(&mut self, paint: &mut Paint, knows_rows: bool) -> Vec<PrintedRow> {
        let is_known = knows_rows && !self.is_moved;
        let mut known = if is_known { std::mem::take(&mut self.known) } else { Vec::new() };
        // Others have scrolled away.
        keep_last(&mut known, self.top);
        self.move_to_top(paint);
        if is_known {
            self.top -= known.len();
            paint.put(&format!("\x1b[{};1H", self.top + 1));
        }
        paint.wipe_below();
        self.shown.clear();
        self.forget_modes();
        known
    }

    /// The rows that are covered, for a region that takes this one's place.
    pub(super) fn take_covered(&mut self) -> Vec<PrintedRow> {
        std::mem::take(&mut self.covered)
    }

    /// The cursor's distance from the region's first row.
    pub(super) fn cursor_row(&self) -> usize {
        self.cursor.0
    }

    /// Forgets the modes that the terminal was set to.
    pub(super) fn forget_modes(&mut self) {
        (self.is_cursor_shown, self.is_wrapping) = (None, None);
    }

    /// How far the cursor may go down. A terminal that reports its size late shows more pictures for another size than one that does not. The
    /// line to it is short: no size changes in the middle of a short picture.
    fn descent(&self, height: usize, next_width: NextWidth) -> Descent {
        let lowest = match next_width {
            NextWidth::Half if !self.is_late => LOWEST.max(height / 2),
            NextWidth::Half | NextWidth::Any => LOWEST,
        };
        Descent { lowest, by_place: self.is_late }
    }

    /// Lets passing rows cover the last printed rows, and returns the finished rows to print now. New rows are never covered: then
    /// all are printed, and scroll. `rows` is the number of all rows of the region and of the passing ones.
    fn cover(
        &mut self,
        paint: &mut Paint,
        printed: Vec<PrintedRow>,
        (rows, passing): (usize, usize),
        height: usize,
    ) -> Vec<PrintedRow> {
        if std::mem::take(&mut self.is_moved) {
            self.known.clear();
        }
        let mut finished = std::mem::take(&mut self.covered);
        if !printed.is_empty() {
            finished.extend(printed);
            return finished;
        }
        let rows = rows.min(height);
        let lasting = rows - passing.min(rows);
        let top = (self.top + finished.len()).min(height.saturating_sub(lasting));
        let count = rows.saturating_sub(height.saturating_sub(top));
        let taken_back = count.saturating_sub(finished.len()).min(self.known.len()).min(self.top);
        if taken_back > 0 {
            self.move_to_top(paint);
            paint.up(taken_back);
            paint.wipe_below();
            self.top -= taken_back;
            self.shown = vec![LiveRow::default(); self.shown.len() + taken_back];
            finished.splice(..0, self.known.drain(self.known.len() - taken_back..));
        }
        self.covered = finished.split_off(finished.len() - count.min(finished.len()));
        finished
    }

    /// Remembers printed rows that can be taken back: not those of pictures.
    fn remember(&mut self, printed: &[PrintedRow], size: Size) {
        let (width, height) = (usize::from(size.width), usize::from(size.height));
        let cannot = |row: &PrintedRow| !row.pictures.is_empty() || row.cells.len() > width;
        let first = printed.iter().rposition(cannot).map(|at| at + 1);
        if first.is_some() {
            self.known.clear();
        }
        // A session that is opened prints thousands of rows at once.
        let first = first.unwrap_or_default().max(printed.len().saturating_sub(height));
        self.known.extend(printed.iter().skip(first).cloned());
        keep_last(&mut self.known, height);
    }

    /// Keeps the region at the bottom of the screen once it has been there. Rows that it no longer needs are blank
    /// until finished rows replace them. They are below the `head` rows that continue finished ones, unless those would
    /// scroll away when the size changes. `cursor` is the distance of the terminal's cursor from the first row. Returns the
    /// numbers of dropped rows and of blank rows.
    fn pad(
        &mut self,
        (rows, head): (&mut Vec<LiveRow>, usize),
        (size, next_width): (Size, NextWidth),
        (printed, cursor): (usize, usize),
    ) -> (usize, usize) {
        let height = usize::from(size.height);
        let reach = reach(height, next_width);
        let far = cursor.saturating_sub(reach);
        let hidden = rows.len().saturating_sub(height);
        let mut dropped = hidden.max(far.min(head.saturating_sub(FEWEST)));
        rows.drain(..dropped);
        let mut head = head.saturating_sub(dropped).min(rows.len());
        let top = self.top + printed;
        let below = height.saturating_sub(top);
        let narrowing = Narrowing::of(size.width, next_width);
        let excess = narrowing.excess(rows);
        // On a new screen, an editor alone stays where it is.
        let may_move = self.was_resized || head > 0;
        self.is_at_bottom |= below <= rows.len() || may_move && excess > top;
        if self.is_at_bottom {
            let room = height.saturating_sub(rows.len());
            let count = narrowing.fit((rows, head), excess.saturating_sub(room));
            (dropped, head) = (dropped + count, head - count);
        }
        if let Some(first) = rows.first_mut().filter(|_| dropped > hidden && head > FEWEST) {
            *first = left_out();
        }
        self.lead = self.lead.saturating_sub(printed);
        let is_fresh = !self.was_resized && !self.is_at_bottom;
        if is_fresh && head == 0 && rows.len() <= IDLE {
            self.lead = self.lead.max(Narrowing::of(size.width, NextWidth::Any).excess(rows).saturating_sub(top));
        }
        let blank = below.saturating_sub(rows.len());
        let padding = match self.is_at_bottom {
            true => blank,
            false if is_fresh => self.lead.min(blank),
            false => 0,
        };
        let is_far = (cursor + padding).saturating_sub(dropped) > reach;
        let at = if is_far || is_fresh || narrowing.excess(rows) > top { 0 } else { head };
        rows.splice(at..at, std::iter::repeat_n(LiveRow::default(), padding));
        (dropped, padding)
    }

    /// Makes room for finished rows and for the region. Returns the rows that the terminal shows there. Unchanged rows
    /// at the end move as a whole. Rows that a terminal which got lower meanwhile would move above the first row are wiped
    /// first: all of them, if rows at the end could be among them.
    fn prepare(
        &mut self,
        paint: &mut Paint,
        height: usize,
        (printed, rows): (&[PrintedRow], &[LiveRow]),
        descent: Descent,
    ) -> Vec<LiveRow> {
        let mut shown = std::mem::take(&mut self.shown);
        let (was, now) = (shown.len(), printed.len() + rows.len());
        let kept = shown.iter().rev().zip(rows.iter().rev()).take_while(|(was, now)| was == now).count();
        let moved = was - kept;
        let is_far = now > was && now.saturating_sub(LOWEST) > moved;
        if was == 0 || now > height || is_far || printed.iter().any(|row| !row.pictures.is_empty()) {
            paint.wipe_below();
            return Vec::new();
        }
        if now > was {
            if now > LOWEST {
                wipe_rows(paint, shown.get_mut(..moved).unwrap_or_default());
            }
            make_room(paint, now);
            if kept > 0 {
                paint.feed(moved);
                paint.insert_rows(now - was);
                paint.up(moved);
            }
            shown.splice(moved..moved, std::iter::repeat_n(LiveRow::default(), now - was));
        } else if now < was {
            visit(paint, now - kept, descent, |paint| paint.delete_rows(was - now));
            shown.drain(now - kept..moved);
        }
        shown
    }

    /// Prints finished rows. If the terminal has become too narrow for a row, the row wraps and loses nothing.
    fn print(&mut self, paint: &mut Paint, printed: &[PrintedRow], was: &[LiveRow]) {
        if printed.is_empty() {
            return;
        }
        self.wrap_if(paint, true);
        for (nth, row) in printed.iter().enumerate() {
            if nth < was.len() {
                paint.wipe_rest_of_row();
            }
            paint.row(&row.cells);
            if let Some(fill) = row.fill {
                paint.fill_rest_of_row(fill);
            }
            for (column, sequence) in &row.pictures {
                paint.column(usize::from(*column));
                paint.put(sequence);
            }
            paint.put("\r\n");
        }
    }

    fn wrap_if(&mut self, paint: &mut Paint, is_wrapping: bool) {
        if self.is_wrapping.replace(is_wrapping) != Some(is_wrapping) {
            paint.put(if is_wrapping { "\x1b[?7h" } else { "\x1b[?7l" });
        }
    }

    fn show_cursor_if(&mut self, paint: &mut Paint, is_shown: bool) {
        if self.is_cursor_shown.replace(is_shown) != Some(is_shown) {
            paint.put(if is_shown { "\x1b[?25h" } else { "\x1b[?25l" });
        }
    }
}

impl RegionCursor {
    /// Chooses how the text cursor is shown. Where the terminal's own cursor may not be, it stays at the first row.
    #[must_use]
    pub fn new(cursor: Option<TextCursor>, reach: CursorReach) -> Self {
        let Some(cursor) = cursor else { return Self::None };
        let is_in_reach = match reach {
            CursorReach::FirstRow => false,
            CursorReach::Near => usize::from(cursor.place().y) <= NEAR,
            CursorReach::Anywhere => true,
        };
        match (cursor, is_in_reach) {
            (TextCursor::Plain(place), true) => Self::Terminal(place),
            (TextCursor::Plain(place), false) => Self::Drawn(place),
            (TextCursor::Marked(place), true) => Self::Marked(place),
            (TextCursor::Marked(_), false) => Self::None,
        }
    }
}

/// How far below the first row the terminal's own cursor may be. A terminal that gets lower than that moves rows above the
/// cursor into the scrollback.
fn reach(height: usize, next: NextWidth) -> usize {
    match next {
        NextWidth::Any => NEAR,
        NextWidth::Half => NEAR.max((height / 2).saturating_sub(1)),
    }
}

fn keep_last(rows: &mut Vec<PrintedRow>, count: usize) {
    rows.drain(..rows.len().saturating_sub(count));
}

fn reverse(rows: &mut [LiveRow], at: Position, columns: u16) {
    let Some(row) = rows.get_mut(usize::from(at.y)).filter(|_| at.x < columns) else { return };
    let column = usize::from(at.x);
    row.extend(column + 1);
    if let Some(cell) = row.cells.get_mut(column) {
        cell.modifier.toggle(Modifier::REVERSED);
    }
}
