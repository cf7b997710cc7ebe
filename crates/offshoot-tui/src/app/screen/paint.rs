//! Rows of cells and cursor movements as bytes. Every movement is relative, so it stays correct if the terminal is
//! resized before it reads the bytes. Does not use the screen.

use std::fmt::Write as _;
use std::ops::Range;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use ratatui::text::Line;

use crate::text::width;

/// Rows of at most this many cells never wrap. Nothing is promised for a narrower terminal.
pub(super) const NARROWEST: usize = 40;
/// A gap of this many unchanged cells is skipped instead of rewritten.
const GAP: usize = 8;

/// The cells of a row without trailing blanks. So copied rows and rewrapped rows have none.
pub(super) type CellRow = Vec<Cell>;

/// The cells of a line.
pub(super) fn row_of(line: &Line<'_>, columns: u16) -> CellRow {
    let mut row = Buffer::empty(Rect::new(0, 0, columns, 1));
    row.set_style(row.area, line.style);
    row.set_line(0, 0, line, columns);
    trimmed(&row.content)
}

/// Takes the coloured blanks at the end of a full row. Returns their background. A terminal that rewraps rows would wrap
/// written blanks onto a row of their own when it gets narrower, but not erased cells.
pub(super) fn take_fill(row: &mut CellRow, columns: u16) -> Option<Color> {
    let last = row.last().filter(|last| last.symbol() == " " && row.len() == usize::from(columns))?.clone();
    let text = row.iter().rposition(|cell| *cell != last).map_or(0, |at| at + 1);
    let is_plain = last.modifier.is_empty() && text + 1 < row.len();
    is_plain.then(|| {
        row.truncate(text);
        last.bg
    })
}

/// A row that is redrawn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct LiveRow {
    pub(super) cells: CellRow,
    /// The background of the rest of the row, which is erased and not written.
    pub(super) fill: Option<Color>,
}

impl LiveRow {
    pub(super) fn is_blank(&self) -> bool {
        self.cells.is_empty() && self.fill.is_none()
    }

    /// Makes the row at least so long.
    pub(super) fn extend(&mut self, length: usize) {
        if self.cells.len() < length {
            let mut blank = Cell::EMPTY;
            blank.bg = self.fill.unwrap_or_default();
            self.cells.resize(length, blank);
        }
    }

    /// Writes the background instead of erasing it. Some terminals wrap erased cells, others do not.
    pub(super) fn write_fill(&mut self, columns: u16) {
        if self.fill.is_some() {
            self.extend(columns.into());
            self.fill = None;
        }
    }
}

/// The rows of a buffer. `fills` says whether a background may be erased to the end of a row.
pub(super) fn rows_of(buffer: &Buffer, fills: bool) -> Vec<LiveRow> {
    let columns = buffer.area.width.max(1);
    let row = |cells: &[Cell]| {
        let mut cells = trimmed(cells);
        let fill = if fills { take_fill(&mut cells, columns) } else { None };
        LiveRow { cells, fill }
    };
    buffer.content.chunks(columns.into()).map(row).collect()
}

fn trimmed(cells: &[Cell]) -> CellRow {
    let seen = Modifier::UNDERLINED | Modifier::REVERSED | Modifier::CROSSED_OUT;
    let is_blank = |cell: &Cell| cell.symbol() == " " && cell.bg == Color::Reset && !cell.modifier.intersects(seen);
    let length = cells.iter().rposition(|cell| !is_blank(cell)).map_or(0, |last| last + 1);
    cells.get(..length).unwrap_or_default().to_vec()
}

/// Pending bytes for the terminal.
#[derive(Debug, Default)]
pub(super) struct Paint {
    bytes: String,
    style: PaintStyle,
}

/// The style of the next character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct PaintStyle {
    foreground: Color,
    background: Color,
    modifier: Modifier,
}

impl Paint {
    /// Takes the bytes written so far.
    pub(super) fn take(&mut self) -> String {
        self.plain();
        std::mem::take(&mut self.bytes)
    }

    /// Adds a sequence unchanged.
    pub(super) fn put(&mut self, sequence: &str) {
        self.plain();
        self.bytes.push_str(sequence);
    }

    pub(super) fn up(&mut self, rows: usize) {
        match rows {
            0 => {}
            1 => self.put("\x1b[A"),
            rows => self.put(&format!("\x1b[{rows}A")),
        }
    }

    /// Moves down within the screen, at most to its last row.
    pub(super) fn down(&mut self, rows: usize) {
        match rows {
            0 => {}
            1 => self.put("\x1b[B"),
            rows => self.put(&format!("\x1b[{rows}B")),
        }
    }

    /// Moves down with line feeds. The terminal scrolls below its last row, so the way back up has the same length.
    pub(super) fn feed(&mut self, rows: usize) {
        self.plain();
        self.bytes.extend(std::iter::repeat_n('\n', rows));
    }

    /// Saves the cursor position. The terminal must not scroll before [`Paint::restore`].
    pub(super) fn save(&mut self) {
        self.put("\x1b7");
    }

    pub(super) fn restore(&mut self) {
        self.put("\x1b8");
    }

    pub(super) fn column(&mut self, column: usize) {
        match column {
            0 => self.put("\r"),
            column => self.put(&format!("\x1b[{}G", column + 1)),
        }
    }

    pub(super) fn insert_rows(&mut self, rows: usize) {
        self.put(&format!("\x1b[{rows}L"));
    }

    pub(super) fn delete_rows(&mut self, rows: usize) {
        self.put(&format!("\x1b[{rows}M"));
    }

    /// Wipes the cursor's row and everything below. The cursor is in the first column. tmux keeps a screen that is
    /// wiped from its first cell, as if it had scrolled away. So the wipe begins at the second cell.
    pub(super) fn wipe_below(&mut self) {
        self.put(" \x1b[J\r\x1b[K");
    }

    pub(super) fn wipe_rest_of_row(&mut self) {
        self.put("\x1b[K");
    }

    /// Erases the rest of the row in this background.
    pub(super) fn fill_rest_of_row(&mut self, background: Color) {
        self.style(PaintStyle { background, ..PaintStyle::default() });
        self.bytes.push_str("\x1b[K");
    }

    /// Writes a whole row from its first column.
    pub(super) fn row(&mut self, row: &[Cell]) {
        self.cells(row, 0..row.len());
    }

    /// Writes the changed cells of a row. The cursor is anywhere in the row, before and after. A row that gets shorter is
    /// written whole if it could wrap: tmux counts cells that were written once, unless the whole row is erased.
    pub(super) fn changes(&mut self, was: &LiveRow, row: &LiveRow) {
        let is_shorter = was.cells.len() > row.cells.len();
        let is_whole = was.fill != row.fill || is_shorter && was.cells.len() > NARROWEST;
        if is_whole {
            self.column(0);
            self.erase_rest_of_row(row.fill);
        }
        let old = if is_whole { &[] } else { was.cells.as_slice() };
        for cells in changed(old, &row.cells) {
            self.column(cells.start);
            self.cells(&row.cells, cells);
        }
        if !is_whole && is_shorter {
            self.column(row.cells.len());
            self.erase_rest_of_row(row.fill);
        }
    }

    fn erase_rest_of_row(&mut self, fill: Option<Color>) {
        match fill {
            Some(background) => self.fill_rest_of_row(background),
            None => self.wipe_rest_of_row(),
        }
    }

    fn cells(&mut self, row: &[Cell], range: Range<usize>) {
        let mut next = range.start;
        for (at, cell) in row.iter().enumerate().take(range.end).skip(range.start) {
            // The second half of a wide character is not a separate cell.
            if at < next {
                continue;
            }
            let (foreground, background, modifier) = (cell.fg, cell.bg, cell.modifier);
            self.style(PaintStyle { foreground, background, modifier });
            self.bytes.push_str(cell.symbol());
            next = at + width(cell.symbol()).max(1);
        }
    }

    fn plain(&mut self) {
        self.style(PaintStyle::default());
    }

    fn style(&mut self, new: PaintStyle) {
        let old = std::mem::replace(&mut self.style, new);
        if old == new {
            return;
        }
        if new == PaintStyle::default() {
            self.bytes.push_str("\x1b[m");
            return;
        }
        // Only a reset can remove modifiers.
        let is_reset = !new.modifier.contains(old.modifier);
        let old = if is_reset { PaintStyle::default() } else { old };
        let mut codes = if is_reset { "0;".to_owned() } else { String::new() };
        for (_, modifier) in (new.modifier - old.modifier).iter_names() {
            let _ = write!(codes, "{};", code_of(modifier));
        }
        if new.foreground != old.foreground {
            colour(&mut codes, new.foreground, 30);
        }
        if new.background != old.background {
            colour(&mut codes, new.background, 40);
        }
        let _ = write!(self.bytes, "\x1b[{}m", codes.trim_end_matches(';'));
    }
}

fn code_of(modifier: Modifier) -> u8 {
    match modifier {
        Modifier::BOLD => 1,
        Modifier::DIM => 2,
        Modifier::ITALIC => 3,
        Modifier::UNDERLINED => 4,
        Modifier::SLOW_BLINK => 5,
        Modifier::RAPID_BLINK => 6,
        Modifier::REVERSED => 7,
        Modifier::HIDDEN => 8,
        _ => 9,
    }
}

/// The code of a colour; `base` is the code of black.
fn colour(codes: &mut String, colour: Color, base: u8) {
    let named = match colour {
        Color::Reset => base + 9,
        Color::Black => base,
        Color::Red => base + 1,
        Color::Green => base + 2,
        Color::Yellow => base + 3,
        Color::Blue => base + 4,
        Color::Magenta => base + 5,
        Color::Cyan => base + 6,
        Color::Gray => base + 7,
        Color::DarkGray => base + 60,
        Color::LightRed => base + 61,
        Color::LightGreen => base + 62,
        Color::LightYellow => base + 63,
        Color::LightBlue => base + 64,
        Color::LightMagenta => base + 65,
        Color::LightCyan => base + 66,
        Color::White => base + 67,
        Color::Indexed(nth) => {
            let _ = write!(codes, "{};5;{nth};", base + 8);
            return;
        }
        Color::Rgb(red, green, blue) => {
            let _ = write!(codes, "{};2;{red};{green};{blue};", base + 8);
            return;
        }
    };
    let _ = write!(codes, "{named};");
}

/// The changed ranges of a row. No range begins or ends inside a wide character.
fn changed(was: &[Cell], row: &[Cell]) -> Vec<Range<usize>> {
    let mut stretches: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(cell) = row.get(at) {
        let end = (at + width(cell.symbol()).max(1)).min(row.len());
        let old = was.get(at..end.min(was.len())).unwrap_or_default();
        // A wide character that loses one half loses both.
        let is_cut = old.last().is_some_and(|old| width(old.symbol()) > 1) && end - at == 1;
        if Some(old) != row.get(at..end) || is_cut && was.get(at + 1) != row.get(at + 1) {
            match stretches.last_mut() {
                Some(last) if at - last.end < GAP => last.end = end,
                Some(_) | None => stretches.push(at..end),
            }
        }
        at = end;
    }
    stretches
}
