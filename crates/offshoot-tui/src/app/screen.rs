//! The terminal screen: live rows at the bottom, finished rows above them in the terminal's scrollback, and the
//! alternate screen for overlays that take the whole screen. Does not use the model.
//!
//! A printed row is never printed again and never wiped; a resize leaves it to the terminal (docs/adr/0016). Everything
//! between two [`Screen::send`]s reaches the terminal as one synchronized update.

mod paint;
mod fences;
mod narrow;
mod redraw;
mod region;

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::rc::Rc;

use offshoot_session::clock::Millis;
use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::{Buffer, Cell as BufferCell};
use ratatui::crossterm::cursor::MoveTo;
use ratatui::crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType as TerminalClear, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen,
};
use ratatui::crossterm::{Command, queue};
use ratatui::layout::{Position, Size};
use ratatui::text::Line;
use ratatui::{Frame, Terminal};

use super::pictures::Inset;
use fences::Fences;
use paint::{Paint, row_of, rows_of, take_fill};
use region::{PrintedRow, Region};

pub use narrow::NextWidth;
pub use region::{CursorReach, RegionCursor, RegionRows};

/// The longest delay before a terminal reports its size, in milliseconds. tmux takes a quarter of a second.
const LATE: Millis = 300;

/// What a terminal does when its size changes.
#[derive(Debug, Clone, Copy)]
pub struct OnResize {
    /// Whether it rewraps long rows.
    pub rewraps: bool,
    /// Whether it reports the size late although the line to it is fast, as tmux does.
    pub is_late: bool,
}

#[derive(Debug)]
pub struct Screen<W: Write> {
    out: Pending<W>,
    size: Rc<Cell<Size>>,
    on_resize: OnResize,
    region: Region,
    printed: Vec<PrintedRow>,
    fences: Fences,
    full: Option<Terminal<FullBackend<W>>>,
    /// Where the cursor waits below the whole screen. Kept until the live rows are drawn or resized.
    aside: Option<Aside>,
}

/// The cursor of the main screen while the alternate screen is shown: in the last live row, which is blank then.
///
/// When the alternate screen is left, a terminal restores the cursor to the text where it was, or to the row number that
/// it had. Such a row number is too high on the screen if the terminal has become higher, and too low otherwise.
#[derive(Debug, Clone, Copy)]
struct Aside {
    row: u16,
    size: Size,
    /// The narrowest width and the lowest height since then.
    least: Size,
}

impl Aside {
    /// Whether a cursor in this row of the screen is certainly not above the live rows.
    fn is_trusted(&self, row: u16, now: Size) -> bool {
        let last = now.height.saturating_sub(1);
        let same = self.row.min(self.least.height.saturating_sub(1));
        row >= last || row > self.row || row < same && now.width > self.least.width
    }
}

impl<W: Write> Screen<W> {
    /// A screen that begins at the row of the cursor.
    pub fn new(out: W, size: Size, cursor: Position, on_resize: OnResize) -> io::Result<Self> {
        let out = Pending { bytes: Rc::default(), out: Rc::new(RefCell::new(out)) };
        let size = Rc::new(Cell::new(size));
        let (region, fences) = (Region::default(), Fences::default());
        let mut screen = Self { out, size, on_resize, region, printed: Vec::new(), fences, full: None, aside: None };
        screen.begin_again(screen.size(), cursor)?;
        Ok(screen)
    }

    /// The terminal's size.
    pub fn size(&self) -> Size {
        self.size.get()
    }

    /// Sends all pending output.
    pub fn send(&mut self) -> io::Result<()> {
        self.out.send()
    }

    /// Adds a single command, such as the title or a text for the clipboard.
    pub fn put(&mut self, command: impl Command) -> io::Result<()> {
        queue!(self.out, command)
    }

    /// Adds a sequence to the pending output.
    pub fn put_sequence(&mut self, sequence: &str) -> io::Result<()> {
        self.out.write_all(sequence.as_bytes())
    }

    /// Queues finished lines with their pictures. The next drawing prints them above the live rows.
    pub fn print(&mut self, lines: &[Line<'_>], insets: &[Inset]) {
        let columns = self.size().width;
        self.printed.extend(lines.iter().enumerate().map(|(at, line)| {
            let ends = insets.iter().filter(|inset| inset.at.0 == at);
            let pictures = ends.map(|inset| (inset.at.1, inset.sequence.clone())).collect();
            let mut cells = row_of(line, columns);
            let fill = if self.on_resize.rewraps { take_fill(&mut cells, columns) } else { None };
            PrintedRow { cells, fill, pictures }
        }));
    }

    /// Draws as many live rows as there is room for. Returns whether rows above the cursor came, went or changed their lengths.
    pub fn draw(&mut self, live: &RegionRows<Buffer>) -> io::Result<bool> {
        self.aside = None;
        let mut paint = Paint::default();
        let printed = std::mem::take(&mut self.printed);
        let RegionRows { cursor, head, passing, next_width, .. } = *live;
        let rows = RegionRows { rows: rows_of(&live.rows, self.on_resize.rewraps), cursor, head, passing, next_width };
        let before = self.region.cursor_row();
        let is_changed = self.region.draw(&mut paint, self.size(), printed, rows);
        let now = self.region.cursor_row();
        // The way back up depends on the rows above the cursor.
        if now > 0 && (is_changed || now != before) {
            paint.put(fences::QUESTION);
            self.fences.ask();
        }
        self.put_sequence(&paint.take()).map(|()| is_changed)
    }

    /// The terminal has answered the question after a picture.
    pub fn answered(&mut self, now: Millis) {
        self.fences.answer(now);
    }

    /// Whether an answer of the terminal may still come.
    pub fn awaits_answers(&self) -> bool {
        self.fences.is_open()
    }

    /// How long the terminal has shown the rows above the cursor as they were drawn last, in milliseconds. `None` if it does not say it.
    pub fn shown_for(&self, now: Millis) -> Option<Millis> {
        self.fences.shown_for(now)
    }

    /// Whether so many live rows fit without scrolling printed rows away.
    pub fn has_room(&self, rows: u16) -> bool {
        self.region.has_room(usize::from(rows), usize::from(self.size().height))
    }

    /// Draws the whole screen. [`Screen::leave_full`] restores the previous content. `view` may answer where the rows show a text cursor by
    /// themselves: the terminal's own cursor waits there, hidden.
    pub fn draw_full(&mut self, view: impl FnOnce(&mut Frame<'_>) -> Option<Position>) -> io::Result<()> {
        if self.full.is_none() {
            let mut paint = Paint::default();
            let row = u16::try_from(self.region.step_aside(&mut paint)).unwrap_or(u16::MAX);
            let size = self.size();
            self.aside = Some(Aside { row: row.min(size.height.saturating_sub(1)), size, least: size });
            self.put_sequence(&paint.take())?;
            queue!(self.out, EnterAlternateScreen)?;
            let mut full = Terminal::new(FullBackend::new(&self.out, &self.size))?;
            full.clear()?;
            self.full = Some(full);
        }
        let mut marked = None;
        if let Some(full) = &mut self.full {
            full.draw(|frame| marked = view(frame))?;
        }
        marked.map_or(Ok(()), |at| queue!(self.out, MoveTo(at.x, at.y)))
    }

    /// Makes the next drawing of the whole screen redraw every cell.
    pub fn clear_full(&mut self) -> io::Result<()> {
        self.full.as_mut().map_or(Ok(()), Terminal::clear)
    }

    /// Makes the next drawing paint everything of this program that is on the screen: another program has written on it.
    /// `knows_rows` says whether the terminal reports its cursor, so that the rows' numbers are known.
    pub fn redraw(&mut self, knows_rows: bool) -> io::Result<()> {
        if self.full.is_some() {
            return self.clear_full();
        }
        let mut paint = Paint::default();
        let printed = self.region.repaint(&mut paint, knows_rows);
        self.printed.splice(..0, printed);
        self.put_sequence(&paint.take())
    }

    /// Returns from the whole screen to the live rows.
    pub fn leave_full(&mut self) -> io::Result<()> {
        if self.full.take().is_some() {
            // A tmux that was made wider puts rows of the alternate screen into its scrollback.
            queue!(self.out, Clear(TerminalClear::All), LeaveAlternateScreen)?;
            self.region.forget_modes();
        }
        Ok(())
    }

    /// Whether the size changed while the whole screen was shown, so that the cursor may be above the live rows.
    /// [`Screen::find_rows`] must then come before [`Screen::resize`].
    pub fn is_lost(&self) -> bool {
        self.aside.is_some()
    }

    /// Moves the cursor to the last live row, or below it. `told` is its screen row, if the terminal reports it. Rows below the live
    /// ones are blank: they cost nothing but their height. Text above them would be lost.
    pub fn find_rows(&mut self, told: Option<u16>) -> io::Result<()> {
        let Some(aside) = self.aside else { return Ok(()) };
        if told.is_some_and(|row| aside.is_trusted(row, self.size())) {
            return Ok(());
        }
        let mut paint = Paint::default();
        paint.down(usize::from(self.size().height));
        self.put_sequence(&paint.take())
    }

    /// Handles a resize. The cursor moves to the start of the live rows; [`Screen::set_top`] can then correct its
    /// screen row.
    ///
    /// `age` is the time since the terminal has shown the rows above the cursor with their lengths, in milliseconds. Terminals report
    /// their size late. Rows that were drawn just now may have met the new size already, and were not rewrapped then.
    pub fn resize(&mut self, size: Size, age: Millis) -> io::Result<()> {
        let shown = self.size.replace(size);
        let before = self.aside.take().map_or(shown, |aside| aside.size);
        let mut paint = Paint::default();
        self.region.resized(&mut paint, (before, size), self.on_resize.rewraps && age > LATE);
        self.put_sequence(&paint.take())
    }

    /// Whether the cursor is below the first live row. A new size may have wrapped the rows above it.
    pub fn has_cursor_below(&self) -> bool {
        self.region.cursor_row() > 0
    }

    /// Sets the screen row of the cursor, which is at the start of the live rows.
    pub fn set_top(&mut self, row: u16) {
        self.region.set_top(row);
    }

    /// Sets the size of the whole screen. The live rows wait for [`Screen::resize`].
    pub fn resize_full(&mut self, size: Size) {
        self.size.set(size);
        if let Some(Aside { least, .. }) = &mut self.aside {
            *least = Size::new(least.width.min(size.width), least.height.min(size.height));
        }
    }

    /// Wipes the live rows and leaves the cursor where they began.
    pub fn close(&mut self) -> io::Result<()> {
        self.leave_full()?;
        let mut paint = Paint::default();
        let printed = std::mem::take(&mut self.printed);
        self.region.close(&mut paint, &printed);
        self.put_sequence(&paint.take())?;
        self.send()
    }

    /// Starts again at the cursor after another program has used the terminal.
    pub fn begin_again(&mut self, size: Size, cursor: Position) -> io::Result<()> {
        self.size.set(size);
        let is_row_begun = cursor.x > 0;
        let top = (cursor.y + u16::from(is_row_begun)).min(size.height.saturating_sub(1));
        self.fences.begin_again();
        self.region = Region::at(top, self.region.take_covered(), self.on_resize.is_late);
        self.put_sequence(if is_row_begun { "\r\n" } else { "" })
    }
}

/// Terminal output that is held back and sent in one piece.
#[derive(Debug)]
struct Pending<W> {
    bytes: Rc<RefCell<Vec<u8>>>,
    out: Rc<RefCell<W>>,
}

impl<W> Clone for Pending<W> {
    fn clone(&self) -> Self {
        Self { bytes: self.bytes.clone(), out: self.out.clone() }
    }
}

impl<W: Write> Pending<W> {
    fn send(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut *self.bytes.borrow_mut());
        if bytes.is_empty() {
            return Ok(());
        }
        let mut whole = Vec::with_capacity(bytes.len() + 16);
        queue!(whole, BeginSynchronizedUpdate)?;
        whole.extend(bytes);
        queue!(whole, EndSynchronizedUpdate)?;
        let mut out = self.out.borrow_mut();
        out.write_all(&whole)?;
        out.flush()
    }
}

impl<W> Write for Pending<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// Sends nothing: only [`Pending::send`] does.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The whole screen, with a size that is known without a query.
#[derive(Debug)]
struct FullBackend<W: Write> {
    inner: CrosstermBackend<Pending<W>>,
    size: Rc<Cell<Size>>,
}

impl<W: Write> FullBackend<W> {
    fn new(out: &Pending<W>, size: &Rc<Cell<Size>>) -> Self {
        Self { inner: CrosstermBackend::new(out.clone()), size: size.clone() }
    }
}

impl<W: Write> Backend for FullBackend<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a BufferCell)>,
    {
        self.inner.draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.inner.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.inner.show_cursor()
    }

    /// The position is never used: each drawing sets it.
    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.inner.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.inner.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.inner.clear_region(clear_type)
    }

    fn size(&self) -> io::Result<Size> {
        Ok(self.size.get())
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size.get(), pixels: Size::default() })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
