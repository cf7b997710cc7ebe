//! Moves through the live rows and writes those that have changed. Does not know the region.
//!
//! A terminal may change its size in the middle of a picture. The way back up must never be longer than the way down: above the live
//! rows are finished ones. So the way down consists of line feeds, which the last row of the screen does not shorten. The way
//! back may be too short, since long rows wrap on a narrower terminal. So long rows are erased on the way down and written on the
//! way back: all rows above the cursor are blank, short or unchanged then.

use super::paint::{LiveRow, NARROWEST, Paint};

/// The smallest assumed height of a terminal. A region of at most this many rows always fits on the screen.
pub(super) const LOWEST: usize = 8;
/// A row of which more cells change is erased and written whole.
const FEW: usize = 16;
/// A picture of at most so many bytes is short.
const SHORT: usize = 64;

/// How far the cursor may go down in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descent {
    /// The smallest height that the terminal may have by now. A lower one scrolls rows away on the way down.
    pub(super) lowest: usize,
    /// Whether short pictures save the cursor instead, where rows would scroll away. A size that changes meanwhile makes the way back too long.
    pub(super) by_place: bool,
}

impl Descent {
    /// Goes down and stays there.
    pub(super) fn go(self, paint: &mut Paint, rows: usize) {
        if self.by_place { paint.down(rows) } else { paint.feed(rows) }
    }
}

/// Writes the rows that differ from those on the terminal. The cursor begins at the first row and ends in the row `own`. If the terminal shows
/// none of them, it also makes room for all.
pub(super) fn redraw(paint: &mut Paint, own: usize, was: &[LiveRow], rows: &[LiveRow], descent: Descent) {
    let blank = LiveRow::default();
    let is_new = was.is_empty();
    let was = |nth: usize| was.get(nth).unwrap_or(&blank);
    let last = (0..rows.len()).rfind(|nth| is_new || rows.get(*nth) != Some(was(*nth)));
    let last = last.unwrap_or_default().max(own);
    // On the way to a row further down, a lower terminal scrolls so many rows away.
    let endangered = (last + 1).saturating_sub(descent.lowest);
    if endangered > 0 && descent.by_place && !is_new {
        let mut short = Paint::default();
        in_place(&mut short, was, rows);
        let short = short.take();
        if short.len() <= SHORT {
            paint.put(&short);
            paint.down(own);
            return;
        }
    }
    // Rows above the cursor need no way back. But a tmux that is lower would scroll them away.
    let above = if descent.by_place { 0 } else { own };
    let is_whole = |nth: usize, row: &LiveRow| nth < endangered || rewrites_whole(was(nth), row);
    let write = |paint: &mut Paint, nth: usize, row: &LiveRow| {
        paint.changes(if is_whole(nth, row) { &blank } else { was(nth) }, row);
        paint.column(0);
    };
    let is_written = |nth: usize, row: &LiveRow| if is_whole(nth, row) { !row.is_blank() } else { row != was(nth) };
    for (nth, row) in rows.iter().enumerate().take(last + 1) {
        if !was(nth).is_blank() && is_whole(nth, row) {
            paint.wipe_rest_of_row();
        }
        if nth < above && is_written(nth, row) {
            write(paint, nth, row);
        }
        paint.feed(usize::from(nth < last));
    }
    let mut at = last;
    for (nth, row) in
        rows.iter().enumerate().take(last + 1).skip(above).rev().filter(|(nth, row)| is_written(*nth, row))
    {
        paint.up(at - nth);
        at = nth;
        write(paint, nth, row);
    }
    paint.up(at - above);
    descent.go(paint, own - above);
}

/// Writes the rows that differ from those on the terminal, none of which has come, gone or changed its length above the cursor. The cursor
/// begins and ends in the row `own`.
pub(super) fn redraw_around(paint: &mut Paint, own: usize, was: &[LiveRow], rows: &[LiveRow], descent: Descent) {
    let blank = LiveRow::default();
    let changed = || {
        let pairs = rows.iter().enumerate().map(|(nth, row)| (nth, was.get(nth).unwrap_or(&blank), row));
        pairs.filter(|(_, was, row)| was != row)
    };
    if let Some((first, ..)) = changed().next().filter(|(first, ..)| *first < own) {
        paint.up(own - first);
        let mut at = first;
        for (nth, was, row) in changed().take_while(|(nth, ..)| *nth < own) {
            paint.feed(nth - at);
            paint.changes(was, row);
            at = nth;
        }
        paint.feed(own - at);
    }
    for (nth, was, row) in changed().skip_while(|(nth, ..)| *nth < own) {
        visit(paint, nth - own, descent, |paint| paint.changes(was, row));
    }
}

/// Goes down so many rows, and back.
pub(super) fn visit(paint: &mut Paint, rows: usize, descent: Descent, act: impl FnOnce(&mut Paint)) {
    if rows < descent.lowest || !descent.by_place {
        paint.feed(rows);
        act(paint);
        paint.up(rows);
    } else {
        paint.save();
        paint.down(rows);
        act(paint);
        paint.restore();
    }
}

/// Scrolls until there are this many rows from the cursor's row down.
pub(super) fn make_room(paint: &mut Paint, rows: usize) {
    let below = rows.saturating_sub(1);
    paint.feed(below);
    paint.up(below);
}

/// Wipes rows from the first one down.
pub(super) fn wipe_rows(paint: &mut Paint, rows: &mut [LiveRow]) {
    let last = rows.iter().rposition(|row| !row.is_blank());
    for row in rows.iter_mut().take(last.map_or(0, |last| last + 1)) {
        paint.wipe_rest_of_row();
        paint.feed(1);
        *row = LiveRow::default();
    }
    paint.up(last.map_or(0, |last| last + 1));
}

/// Writes the changed cells without scrolling. If the size changes meanwhile, the cursor returns to another row.
fn in_place<'a>(paint: &mut Paint, was: impl Fn(usize) -> &'a LiveRow, rows: &[LiveRow]) {
    paint.save();
    let mut at = 0;
    for (nth, row) in rows.iter().enumerate().filter(|(nth, row)| was(*nth) != *row) {
        paint.down(nth - at);
        paint.changes(was(nth), row);
        at = nth;
    }
    paint.restore();
}

/// Whether a changed row is written whole, because it could wrap and much of it changes.
fn rewrites_whole(was: &LiveRow, row: &LiveRow) -> bool {
    let same = was.cells.iter().zip(&row.cells).filter(|(was, now)| was == now).count();
    was != row && was.cells.len() > NARROWEST && was.cells.len().max(row.cells.len()) - same > FEW
}
