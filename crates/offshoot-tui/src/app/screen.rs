//! The terminal's surface: a few rows at the bottom that are drawn anew, above them what is finished and belongs to the
//! terminal's own scrollback; or, for what takes it all, the alternate screen. Knows no model.
//!
//! Where the cursor stands is reckoned, never asked of the terminal after the start: an answer would come between the
//! keys. Everything between two [`Screen::send`]s reaches the terminal in one piece, as one synchronized update.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::rc::Rc;

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::{Buffer, Cell as BufferCell};
use ratatui::crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
};
use ratatui::crossterm::{Command, queue};
use ratatui::layout::{Position, Rect, Size};
use ratatui::text::Line;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};

use super::pictures::Inset;
use crate::text::width;

#[derive(Debug)]
pub struct Screen<W: Write> {
    out: Pending<W>,
    place: Rc<Cell<ScreenPlace>>,
    inline: Terminal<Reckoned<W>>,
    full: Option<Terminal<Reckoned<W>>>,
}

/// How large the terminal is and where its cursor stands.
#[derive(Debug, Clone, Copy)]
struct ScreenPlace {
    size: Size,
    cursor: Position,
}

impl<W: Write> Screen<W> {
    /// A surface that begins at the row of the cursor.
    pub fn new(out: W, size: Size, cursor: Position) -> io::Result<Self> {
        let out = Pending { bytes: Rc::default(), out: Rc::new(RefCell::new(out)) };
        let place = Rc::new(Cell::new(ScreenPlace { size, cursor }));
        let mut backend = Reckoned::new(&out, &place);
        if cursor.x > 0 {
            backend.new_line()?;
        }
        let inline = Terminal::with_options(backend, TerminalOptions { viewport: Viewport::Inline(1) })?;
        Ok(Self { out, place, inline, full: None })
    }

    /// How large the terminal is.
    pub fn size(&self) -> Size {
        self.place.get().size
    }

    /// Sends everything that was drawn.
    pub fn send(&mut self) -> io::Result<()> {
        self.out.send()
    }

    /// A sequence of its own, such as the title or a text for the clipboard.
    pub fn put(&mut self, command: impl Command) -> io::Result<()> {
        queue!(self.out, command)
    }

    /// Puts finished lines with their pictures above the rows that are drawn anew.
    pub fn print(&mut self, lines: &[Line<'_>], insets: &[Inset]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut backend = self.wiped()?;
        backend.lines(lines, insets, 0)?;
        // As many rows as they were would scroll away what now stands above fewer of them.
        self.reopen(backend, 1)
    }

    /// Draws the rows at the bottom; there are as many as `height` says, as far as there is room.
    pub fn draw(&mut self, height: u16, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        let height = height.clamp(1, self.size().height.max(1));
        if self.inline.get_frame().area().height != height {
            let backend = self.wiped()?;
            self.reopen(backend, height)?;
        }
        self.inline.draw(view)?;
        Ok(())
    }

    /// Draws the whole screen, leaving what was there for [`Screen::leave_full`].
    pub fn draw_full(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        if self.full.is_none() {
            queue!(self.out, EnterAlternateScreen)?;
            let mut full = Terminal::new(Reckoned::new(&self.out, &self.place))?;
            full.clear()?;
            self.full = Some(full);
        }
        if let Some(full) = &mut self.full {
            full.draw(view)?;
        }
        Ok(())
    }

    /// Has the whole screen drawn anew, every cell of it.
    pub fn clear_full(&mut self) -> io::Result<()> {
        self.full.as_mut().map_or(Ok(()), Terminal::clear)
    }

    /// Sends a sequence with the rest.
    pub fn put_sequence(&mut self, sequence: &str) -> io::Result<()> {
        self.out.write_all(sequence.as_bytes())
    }

    /// Back from the whole screen to the rows at the bottom.
    pub fn leave_full(&mut self) -> io::Result<()> {
        if self.full.take().is_some() {
            queue!(self.out, LeaveAlternateScreen)?;
            let area = self.inline.get_frame().area();
            let backend = self.wiped()?;
            self.reopen(backend, area.height)?;
        }
        Ok(())
    }

    /// Begins anew at the top of a terminal of this size: what was visible is wiped and `lines`, the last ones that are
    /// finished, take its place. What has left the screen at its top stays as the terminal has it. The first `again` of the
    /// lines were printed before; the others were not, and all of them are now, behind what was visible of the first ones.
    pub fn repaint(&mut self, size: Size, lines: &[Line<'_>], insets: &[Inset], again: usize) -> io::Result<()> {
        let area = self.inline.get_frame().area();
        let height = area.height.min(size.height);
        self.place.set(ScreenPlace { size, cursor: Position::ORIGIN });
        let mut backend = Reckoned::new(&self.out, &self.place);
        backend.set_cursor_position(Position::ORIGIN)?;
        backend.clear_region(ClearType::AfterCursor)?;
        let room = usize::from(size.height.saturating_sub(height));
        let from = lines.len().saturating_sub(room);
        let seen = again.saturating_sub(area.top().into());
        backend.lines(lines, insets, if lines.len() > again { from.min(seen) } else { from })?;
        self.reopen(backend, height)
    }

    /// Takes another size for the whole screen; the rows at the bottom wait for [`Screen::repaint`].
    pub fn resize_full(&mut self, size: Size) {
        self.place.set(ScreenPlace { size, ..self.place.get() });
    }

    /// Wipes the rows at the bottom and leaves the cursor where they began.
    pub fn close(&mut self) -> io::Result<()> {
        self.leave_full()?;
        let mut backend = self.wiped()?;
        backend.show_cursor()?;
        self.send()
    }

    /// Begins anew where the cursor stands: another program has used the terminal.
    pub fn begin_again(&mut self, size: Size, cursor: Position) -> io::Result<()> {
        self.place.set(ScreenPlace { size, cursor });
        let mut backend = Reckoned::new(&self.out, &self.place);
        if cursor.x > 0 {
            backend.new_line()?;
        }
        self.reopen(backend, 1)
    }

    /// The rows at the bottom wiped, the cursor where they began.
    fn wiped(&mut self) -> io::Result<Reckoned<W>> {
        let top = self.inline.get_frame().area().top();
        let mut backend = Reckoned::new(&self.out, &self.place);
        backend.set_cursor_position(Position::new(0, top))?;
        backend.clear_region(ClearType::AfterCursor)?;
        Ok(backend)
    }

    fn reopen(&mut self, backend: Reckoned<W>, height: u16) -> io::Result<()> {
        self.inline = Terminal::with_options(backend, TerminalOptions { viewport: Viewport::Inline(height) })?;
        Ok(())
    }
}

/// Bytes for the terminal, held back until they are sent in one piece.
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

    /// Nothing leaves before [`Pending::send`].
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A backend that reckons where the cursor is.
#[derive(Debug)]
struct Reckoned<W: Write> {
    inner: CrosstermBackend<Pending<W>>,
    place: Rc<Cell<ScreenPlace>>,
}

impl<W: Write> Reckoned<W> {
    fn new(out: &Pending<W>, place: &Rc<Cell<ScreenPlace>>) -> Self {
        Self { inner: CrosstermBackend::new(out.clone()), place: place.clone() }
    }

    /// Lines from a number on, and the pictures of which all rows are among them.
    fn lines(&mut self, lines: &[Line<'_>], insets: &[Inset], from: usize) -> io::Result<()> {
        for (at, line) in lines.iter().enumerate().skip(from) {
            self.line(line)?;
            for inset in insets.iter().filter(|inset| inset.at.0 == at) {
                if at + 1 >= from + usize::from(inset.height) {
                    let y = self.place.get().cursor.y;
                    self.inner.set_cursor_position(Position::new(inset.at.1, y))?;
                    self.inner.write_all(inset.sequence.as_bytes())?;
                }
            }
            self.new_line()?;
        }
        Ok(())
    }

    /// One line of text. Blanks at its end are not written, so that whoever copies it, and terminals that wrap lines
    /// anew, find none.
    fn line(&mut self, line: &Line<'_>) -> io::Result<()> {
        let ScreenPlace { size, cursor } = self.place.get();
        let mut row = Buffer::empty(Rect::new(0, cursor.y, size.width, 1));
        row.set_style(row.area, line.style);
        row.set_line(0, cursor.y, line, size.width);
        let length = row.content.iter().rposition(|cell| *cell != BufferCell::EMPTY).map_or(0, |last| last + 1);
        let mut next = 0;
        let cells = row.content.iter().take(length).zip(0_u16..).filter_map(|(cell, x)| {
            // The second half of a wide character is no cell of its own.
            let is_start = x >= next;
            next = if is_start { x + u16::try_from(width(cell.symbol())).unwrap_or(1).max(1) } else { next };
            is_start.then_some((x, cursor.y, cell))
        });
        self.inner.draw(cells)
    }

    fn new_line(&mut self) -> io::Result<()> {
        self.inner.write_all(b"\r")?;
        self.append_lines(1)?;
        let ScreenPlace { size, cursor } = self.place.get();
        self.place.set(ScreenPlace { size, cursor: Position::new(0, cursor.y) });
        Ok(())
    }
}

impl<W: Write> Backend for Reckoned<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a BufferCell)>,
    {
        self.inner.draw(content)
    }

    fn append_lines(&mut self, count: u16) -> io::Result<()> {
        let ScreenPlace { size, cursor } = self.place.get();
        let y = cursor.y.saturating_add(count).min(size.height.saturating_sub(1));
        self.place.set(ScreenPlace { size, cursor: Position::new(cursor.x, y) });
        self.inner.append_lines(count)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.inner.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.inner.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(self.place.get().cursor)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let cursor = position.into();
        self.place.set(ScreenPlace { cursor, ..self.place.get() });
        self.inner.set_cursor_position(cursor)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.inner.clear()
    }

    /// Some terminals (tmux) take a screen that is wiped from its first cell on for one that scrolls away, and keep it: what
    /// is drawn anew would stand in the scrollback many times. So the first row is wiped by itself.
    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        let ScreenPlace { size, cursor } = self.place.get();
        if clear_type == ClearType::AfterCursor && cursor == Position::ORIGIN && size.height > 1 {
            self.inner.clear_region(ClearType::UntilNewLine)?;
            self.inner.set_cursor_position(Position::new(0, 1))?;
            self.inner.clear_region(clear_type)?;
            return self.inner.set_cursor_position(cursor);
        }
        self.inner.clear_region(clear_type)
    }

    fn size(&self) -> io::Result<Size> {
        Ok(self.place.get().size)
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.place.get().size, pixels: Size::default() })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Terminals that keep a screen which is wiped from its first cell on would keep every picture of it.
    #[test]
    fn a_screen_is_never_wiped_from_its_first_cell() {
        let size = Size::new(20, 6);
        let mut screen = Screen::new(Vec::new(), size, Position::ORIGIN).unwrap();
        for round in 0..3 {
            screen.print(&[Line::from(format!("line {round}"))], &[]).unwrap();
            screen.draw(3, |_| {}).unwrap();
            screen.draw(2, |_| {}).unwrap();
            screen.repaint(size, &[Line::from("again")], &[], 1).unwrap();
            screen.send().unwrap();
        }
        let sent = String::from_utf8(screen.out.out.borrow().clone()).unwrap();
        assert!(sent.contains("\x1b[J") && !sent.contains("\x1b[1;1H\x1b[J"), "{sent:?}");
    }

    /// What was seen and what is new leave the screen at its top, in their order, once; what had left it before does not again.
    #[test]
    fn what_is_new_when_a_screen_is_drawn_anew_pushes_up_what_was_seen() {
        let size = Size::new(20, 6);
        let numbered = |what: &str, count: usize| (0..count).map(|at| format!("{what} {at}")).collect::<Vec<_>>();
        for (before, new) in [(1, 0), (1, 2), (1, 9), (9, 0), (9, 3), (9, 9)] {
            let mut screen = Screen::new(Vec::new(), size, Position::ORIGIN).unwrap();
            let (before, new) = (numbered("before", before), numbered("new", new));
            let lines: Vec<_> = before.iter().chain(&new).map(|line| Line::from(line.clone())).collect();
            screen.print(&lines[..before.len()], &[]).unwrap();
            screen.draw(2, |_| {}).unwrap();
            screen.repaint(size, &lines, &[], before.len()).unwrap();
            screen.send().unwrap();
            let mut parser = vt100::Parser::new(size.height, size.width, 100);
            parser.process(&screen.out.out.borrow());
            parser.screen_mut().set_scrollback(usize::MAX);
            let mut rows = Vec::new();
            for at in (0..=parser.screen().scrollback()).rev() {
                parser.screen_mut().set_scrollback(at);
                let most = if at == 0 { usize::MAX } else { 1 };
                rows.extend(parser.screen().rows(0, size.width).take(most).filter(|row| !row.is_empty()));
            }
            assert_eq!(rows, [before, new].concat());
        }
    }
}
