//! The bytes that are sent for changes: only changed cells, as far as every terminal forgets what was there before.

use ratatui::style::Color;

use super::*;
use crate::app::screen::paint::LiveRow;

/// Only changed cells are sent.
#[test]
fn a_letter_costs_few_bytes() {
    let mut play = Play::new(true);
    let draw = |play: &mut Play, typed: &str| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 3));
        buffer.set_string(0, 0, "─".repeat(80), ratatui::style::Style::new());
        buffer.set_string(0, 1, typed, ratatui::style::Style::new());
        buffer.set_string(0, 2, "─".repeat(80), ratatui::style::Style::new());
        let cursor = Position::new(u16::try_from(typed.len()).unwrap(), 1);
        let cursor = RegionCursor::new(Some(TextCursor::Plain(cursor)), CursorReach::Near);
        play.screen
            .draw(&RegionRows { rows: buffer, cursor, head: 0, passing: 0, next_width: NextWidth::Any })
            .unwrap();
        play.screen.send().unwrap();
        let sent = play.wire.0.borrow().clone();
        play.flush();
        sent
    };
    draw(&mut play, "hell");
    let sent = String::from_utf8(draw(&mut play, "hello")).unwrap();
    assert_eq!(sent, "\x1b[?2026h\x1b[5Go\x1b[6G\x1b[?2026l");
}

/// Wide characters change as a whole, and each style ends after its cells.
#[test]
fn cells_are_painted_as_they_are() {
    use ratatui::style::{Modifier, Style};
    let row = |text: &str, style: Style| row_of(&Line::from(ratatui::text::Span::styled(text.to_owned(), style)), 20);
    let live = |text: &str| LiveRow { cells: row(text, Style::new()), fill: None };
    let mut paint = Paint::default();
    paint.changes(&live("ab世d"), &live("ab界d"));
    paint.column(0);
    paint.changes(&live("ab世d"), &live("abx d"));
    assert_eq!(paint.take(), "\x1b[3G界\r\x1b[3Gx");
    paint.row(&row("a", Style::new().fg(Color::Red).add_modifier(Modifier::BOLD)));
    paint.row(&row("b", Style::new().fg(Color::Red)));
    paint.row(&row("c", Style::new().fg(Color::Rgb(1, 2, 3)).bg(Color::Indexed(9))));
    assert_eq!(paint.take(), "\x1b[1;31ma\x1b[0;31mb\x1b[38;2;1;2;3;48;5;9mc\x1b[m");
}

/// tmux counts cells that were written once: a row that gets shorter would still wrap.
#[test]
fn a_row_that_could_wrap_is_written_whole_when_it_gets_shorter() {
    let row = |length: usize, fill| LiveRow { cells: row_of(&Line::from("x".repeat(length)), 80), fill };
    let changes = |was: &LiveRow, row: &LiveRow| {
        let mut paint = Paint::default();
        paint.changes(was, row);
        paint.take()
    };
    assert_eq!(changes(&row(40, None), &row(2, None)), "\x1b[3G\x1b[K");
    assert_eq!(changes(&row(41, None), &row(2, None)), "\r\x1b[K\rxx");
    let grey = Some(Color::Indexed(8));
    assert_eq!(changes(&row(41, grey), &row(2, grey)), "\r\x1b[48;5;8m\x1b[K\x1b[m\rxx");
    assert_eq!(changes(&row(2, grey), &row(3, grey)), "\x1b[3Gx");
    assert_eq!(changes(&row(2, grey), &row(2, None)), "\r\x1b[K\rxx");
    assert_eq!(changes(&LiveRow::default(), &row(0, grey)), "\r\x1b[48;5;8m\x1b[K\x1b[m");
}
