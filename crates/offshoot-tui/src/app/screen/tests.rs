//! Printed rows survive every resize, on terminals that rewrap rows and on terminals that do not.

mod bytes;
mod cut;
mod stall;
mod sweep;

use ratatui::layout::Rect;

use super::*;
use crate::app::text_cursor::TextCursor;
use crate::testing::Wire;

/// Pseudo-random numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// While work is under way the cursor stays in the first row.
fn reach(is_under_way: bool) -> CursorReach {
    if is_under_way { CursorReach::FirstRow } else { CursorReach::Near }
}

/// A terminal, and a program that prints paragraphs on it.
struct Play {
    terminal: avt::Terminal,
    wire: Wire,
    screen: Screen<Wire>,
    /// The number of printed paragraphs.
    count: usize,
    /// The number of printed rows of the next paragraph.
    begun: usize,
    /// The terminal gets this size once it has read so many of the next bytes.
    cut: Option<(usize, (usize, usize))>,
    /// The bytes that are held back while the connection stalls.
    held: Option<String>,
    now: Millis,
}

const WIDTHS: [u16; 6] = [40, 60, 100, 200, 120, 80];
const HEIGHTS: [u16; 5] = [12, 40, 24, 8, 24];

/// A paragraph as rows that fit every width.
fn paragraph(number: usize) -> Vec<String> {
    (0..number % 4 + 1).map(|row| format!("Paragraph {number}, row {row}, some words")).collect()
}

impl Play {
    fn new(rewraps: bool) -> Self {
        Self::sized(rewraps, Size::new(80, 24))
    }

    fn sized(rewraps: bool, size: Size) -> Self {
        let mut terminal = avt::Terminal::with_scrollback(size.width.into(), size.height.into(), None).unwrap();
        terminal.feed("shell> one\r\nshell> two\r\nshell> offshoot\r\n");
        let wire = Wire::default();
        let screen =
            Screen::new(wire.clone(), size, Position::new(0, 3), OnResize { rewraps, is_late: false }).unwrap();
        Self { terminal, wire, screen, count: 0, begun: 0, cut: None, held: None, now: 0 }
    }

    /// The terminal reads the bytes that were sent.
    fn flush(&mut self) {
        self.screen.send().unwrap();
        let bytes = std::mem::take(&mut *self.wire.0.borrow_mut());
        let text = std::str::from_utf8(&bytes).unwrap();
        assert!(!text.contains("\x1b[3J"), "the scrollback belongs to the terminal: {text:?}");
        if let Some(held) = &mut self.held {
            held.push_str(text);
            return;
        }
        self.feed(text);
    }

    /// Lets what is on its way arrive at a terminal that has this size since. Answers whether that is anything.
    fn arrive(&mut self, (columns, rows): (usize, usize)) -> bool {
        let held = self.held.take().unwrap_or_default();
        self.terminal.resize(columns, rows);
        self.feed(&held);
        !held.is_empty()
    }

    fn feed(&mut self, text: &str) {
        let cut = self.cut.take_if(|(at, _)| *at < text.len());
        let (before, after) = text.split_at(text.floor_char_boundary(cut.map_or(0, |(at, _)| at)));
        self.terminal.feed(before);
        if let Some((_, (columns, rows))) = cut {
            self.terminal.resize(columns, rows);
        }
        self.terminal.feed(after);
        (0..text.matches(fences::QUESTION).count()).for_each(|_| self.screen.answered(self.now));
    }

    /// Tells the program the terminal's size.
    fn hear(&mut self) {
        self.hear_after(1_000);
    }

    /// The same so many milliseconds after rows above the cursor came, went or changed their lengths.
    fn hear_after(&mut self, age: Millis) {
        let (columns, rows) = self.terminal.size();
        self.screen.resize(Size::new(columns.try_into().unwrap(), rows.try_into().unwrap()), age).unwrap();
        self.flush();
        self.screen.set_top(self.terminal.cursor().row.try_into().unwrap());
    }

    /// Shows the whole screen, and rows that are as wide as it.
    fn cover(&mut self) {
        let fill = |frame: &mut Frame<'_>| {
            let area = frame.area();
            let row = Line::from("c".repeat(area.width.into()));
            for y in 0..area.height {
                frame.buffer_mut().set_line(0, y, &row, area.width);
            }
            None
        };
        self.screen.draw_full(fill).unwrap();
        self.flush();
    }

    /// Leaves the whole screen, under which the size may have changed.
    fn uncover(&mut self, size: Option<Size>) {
        self.screen.leave_full().unwrap();
        let Some(size) = size else { return };
        assert!(self.screen.is_lost());
        self.flush();
        let row = self.terminal.cursor().row.try_into().unwrap();
        self.screen.find_rows(Some(row)).unwrap();
        self.screen.resize(size, 1_000).unwrap();
        self.flush();
        self.screen.set_top(self.terminal.cursor().row.try_into().unwrap());
    }

    /// Prints the next row of a paragraph. A begun paragraph continues with its next row, at any width.
    fn print_row(&mut self) {
        let rows = paragraph(self.count);
        self.screen.print(&[Line::from(rows[self.begun].clone())], &[]);
        self.begun += 1;
        if self.begun == rows.len() {
            self.screen.print(&[Line::default()], &[]);
            (self.count, self.begun) = (self.count + 1, 0);
        }
    }

    /// Draws the unfinished row, and the editor below it.
    fn draw(&mut self, is_under_way: bool, extra: u64) {
        self.draw_with(is_under_way, extra, 0);
    }

    /// The same with completions below the editor.
    fn draw_with(&mut self, is_under_way: bool, extra: u64, passing: usize) {
        let Size { width, height } = self.screen.size();
        let mut rows =
            paragraph(self.count).get(self.begun..).unwrap_or_default().iter().take(1).cloned().collect::<Vec<_>>();
        rows.extend((0..extra).map(|at| format!("unfinished {at} {}", "x".repeat(usize::from(width)))));
        let mut head = 0;
        if is_under_way {
            head = rows.len();
            rows.push(String::new());
            rows.push(format!("spinner, {extra} s"));
        } else {
            rows.clear();
        }
        rows.push("─".repeat(width.into()));
        let cursor = Position::new(3, u16::try_from(rows.len()).unwrap());
        rows.extend(["typed".to_owned(), "─".repeat(width.into())]);
        let passing = passing.min(usize::from(height) - 5);
        rows.extend((0..passing).map(|at| format!("completion {at} {}", "y".repeat(usize::from(width)))));
        rows.push("status".to_owned());
        let hidden = rows.len().saturating_sub(height.into());
        let lines: Vec<_> = rows[hidden..].iter().map(|row| Line::from(row.clone())).collect();
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, u16::try_from(lines.len()).unwrap()));
        for (line, y) in lines.iter().zip(0..) {
            buffer.set_line(0, y, line, width);
        }
        let cursor = Position { y: cursor.y.saturating_sub(u16::try_from(hidden).unwrap()), ..cursor };
        let head = head.saturating_sub(hidden);
        let cursor = RegionCursor::new(Some(TextCursor::Plain(cursor)), reach(is_under_way));
        self.screen.draw(&RegionRows { rows: buffer, cursor, head, passing, next_width: NextWidth::Any }).unwrap();
        self.flush();
    }

    /// Draws work under way whose rows keep their lengths: only the title in the editor's border changes.
    fn draw_still(&mut self, spin: u64, reach: CursorReach) {
        let Size { width, .. } = self.screen.size();
        let title = format!("─ spinner {spin:03} ");
        let rule = "─".repeat(width.into());
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, 5));
        for (y, row) in ["", &rule, "typed", &rule, "status"].into_iter().enumerate() {
            buffer.set_string(0, y.try_into().unwrap(), row, ratatui::style::Style::new());
        }
        buffer.set_string(0, 1, &title, ratatui::style::Style::new());
        let cursor = RegionCursor::new(Some(TextCursor::Plain(Position::new(5, 2))), reach);
        self.screen
            .draw(&RegionRows { rows: buffer, cursor, head: 0, passing: 0, next_width: NextWidth::Any })
            .unwrap();
        self.flush();
    }

    /// The rows of the screen.
    fn rows(&self) -> Vec<String> {
        self.terminal.screen().visible_lines().map(|line| line.text().trim_end().to_owned()).collect()
    }

    /// The terminal's whole text. A wrapped row is one line.
    fn text(&self) -> String {
        let mut text = String::new();
        for line in self.terminal.screen().all_lines() {
            let row = line.text();
            text.push_str(if line.is_wrapped() { &row } else { row.trim_end() });
            text.push_str(if line.is_wrapped() { "" } else { "\n" });
        }
        text
    }

    /// Checks that each printed row is there once, in order, below the shell's rows. Only the unfinished row follows.
    fn check(&self, what: &str) {
        let text = self.text();
        let rows = |mark: &str| text.lines().filter(|row| row.starts_with(mark)).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(rows("shell>"), ["shell> one", "shell> two", "shell> offshoot"], "{what}: {text}");
        let mut printed: Vec<_> = (0..self.count).flat_map(paragraph).collect();
        printed.extend(paragraph(self.count).into_iter().take(self.begun));
        let found = rows("Paragraph");
        let (known, open) = found.split_at(printed.len().min(found.len()));
        assert_eq!(known, printed, "{what}: {text}");
        assert!(open.len() <= 1, "{what}: {open:?} in {text}");
    }
}

/// Any resizes between two drawings, however late the program notices.
#[test]
fn no_size_costs_a_row_or_doubles_one() {
    let mut facts = 0;
    for seed in 0..12 {
        let mut numbers = Numbers(seed);
        let mut play = Play::new(true);
        let mut is_deaf = 0;
        for step in 0..150 {
            let is_under_way = step < 130;
            if numbers.below(6) == 0 {
                let (columns, rows) = play.terminal.size();
                let (width, height) = (WIDTHS[numbers.below(6) as usize], HEIGHTS[numbers.below(5) as usize]);
                match numbers.below(3) {
                    0 => play.terminal.resize(width.into(), rows),
                    1 => play.terminal.resize(columns, height.into()),
                    _ => play.terminal.resize(width.into(), height.into()),
                }
                is_deaf = if is_under_way { numbers.below(4) } else { 0 };
            }
            let has_heard = is_deaf == 0 || !is_under_way;
            if has_heard {
                play.hear();
            }
            is_deaf = is_deaf.saturating_sub(1);
            if is_under_way {
                // An answer that came in while nothing was drawn is printed at once.
                let most = if numbers.below(8) == 0 { 16 } else { 3 };
                (0..numbers.below(most)).for_each(|_| play.print_row());
            }
            play.draw(is_under_way, numbers.below(3) / 2);
            play.check(&format!("seed {seed}, step {step}"));
            if has_heard {
                let text = play.text();
                let count = |row: &str| text.lines().filter(|own| own.starts_with(row)).count();
                let left = (count("status"), count("spinner") + count("typed"));
                assert_eq!(left, (1, 1 + usize::from(is_under_way)), "seed {seed}, step {step}: {text}");
            }
            facts += 1;
        }
    }
    assert_eq!(facts, 12 * 150);
}

/// While rows keep their lengths the cursor is in the editor, and drawings that have not heard of a new size spoil nothing.
#[test]
fn a_spinner_turns_above_the_cursor_at_any_size() {
    let mut deaf = 0;
    for seed in 0..60 {
        let mut numbers = Numbers(seed);
        let mut play = Play::new(true);
        (0..10).for_each(|_| play.print_row());
        for spin in 0..60 {
            play.draw_still(spin, CursorReach::Near);
            assert_eq!(play.rows()[play.terminal.cursor().row], "typed", "seed {seed}, spin {spin}");
            assert_eq!(play.terminal.cursor().col, 5);
            if numbers.below(4) == 0 {
                let (width, height) = (WIDTHS[numbers.below(6) as usize], HEIGHTS[numbers.below(5) as usize]);
                // What does not fit the screen is no longer the program's.
                if 3 + 2 * play.screen.size().width.div_ceil(width) > height {
                    continue;
                }
                play.terminal.resize(width.into(), height.into());
                for more in 0..numbers.below(4) {
                    play.draw_still(100 + more, CursorReach::Near);
                    deaf += 1;
                }
                play.hear();
                play.draw_still(spin, CursorReach::FirstRow);
                let what = format!("seed {seed}, spin {spin}");
                play.check(&what);
                let text = play.text();
                let count = |row: &str| text.lines().filter(|own| own.starts_with(row)).count();
                let left = (count("─ spinner"), count("─"), count("typed"), count("status"));
                assert_eq!(left, (1, 2, 1, 1), "{what}: {text}");
            }
        }
    }
    assert!(deaf > 500, "{deaf}");
}

/// Sizes that change while the whole screen is shown. The emulator restores the cursor to the row number that it had.
#[test]
fn no_size_of_the_whole_screen_costs_a_row_or_doubles_one() {
    let mut sizes = 0;
    for seed in 0..10 {
        let mut numbers = Numbers(seed);
        let mut play = Play::new(true);
        for step in 0..40 {
            (0..numbers.below(12)).for_each(|_| play.print_row());
            play.draw(numbers.below(2) == 0, numbers.below(3) / 2);
            play.cover();
            let mut size = None;
            for _ in 0..numbers.below(4) {
                let new = Size::new(WIDTHS[numbers.below(6) as usize], HEIGHTS[numbers.below(5) as usize]);
                play.terminal.resize(new.width.into(), new.height.into());
                play.screen.resize_full(new);
                play.cover();
                size = Some(new);
                sizes += 1;
            }
            play.uncover(size);
            play.draw(numbers.below(2) == 0, 0);
            let what = format!("seed {seed}, step {step}, {size:?}");
            play.check(&what);
            let text = play.text();
            let count = |row: &str| text.lines().filter(|own| own.starts_with(row)).count();
            assert_eq!((count("status"), count("typed"), count("ccc")), (1, 1, 0), "{what}: {text}");
        }
    }
    assert!(sizes > 500, "{sizes}");
}

/// The cursor is in the editor, below a rule that may have been wrapped.
#[test]
fn an_idle_region_is_found_again_at_another_width() {
    for width in WIDTHS {
        let mut play = Play::new(true);
        (0..12).for_each(|_| play.print_row());
        play.draw(false, 0);
        play.terminal.resize(width.into(), 24);
        play.hear();
        play.draw(false, 0);
        let text = play.text();
        let count = |row: &str| text.lines().filter(|own| own.starts_with(row)).count();
        assert_eq!((count("─"), count("typed"), count("status")), (2, 1, 1), "{width}: {text}");
        play.check("idle");
    }
}

/// The first step may go to less than half of the width.
#[test]
fn a_new_screen_keeps_no_row_of_the_editor_above_it() {
    for (from, to) in [((100, 30), (45, 12)), ((200, 50), (40, 8)), ((80, 24), (40, 12))] {
        let mut play = Play::sized(true, Size::new(from.0, from.1));
        play.draw(false, 0);
        play.terminal.resize(to.0, to.1);
        play.hear();
        play.draw(false, 0);
        let text = play.text();
        let count = |row: &str| text.lines().filter(|own| own.starts_with(row)).count();
        assert_eq!((count("─"), count("typed"), count("status")), (2, 1, 1), "{from:?} {to:?}: {text}");
    }
}

/// A terminal that does not rewrap its rows.
#[test]
fn rows_that_are_not_wrapped_anew_are_neither_lost_nor_doubled() {
    for seed in 0..50 {
        let mut numbers = Numbers(seed);
        let mut parser = vt100::Parser::new(24, 80, 1_000);
        let wire = Wire::default();
        let mut screen =
            Screen::new(wire.clone(), Size::new(80, 24), Position::ORIGIN, OnResize { rewraps: false, is_late: false })
                .unwrap();
        for number in 0..60 {
            let width = WIDTHS[numbers.below(6) as usize];
            parser.screen_mut().set_size(24, width);
            screen.resize(Size::new(width, 24), 1_000).unwrap();
            screen.print(&[Line::from(format!("Row {number}."))], &[]);
            let mut buffer = Buffer::empty(Rect::new(0, 0, width, 3));
            let rule = "─".repeat(width.into());
            buffer.set_string(0, 0, &rule, ratatui::style::Style::new());
            buffer.set_string(0, 2, &rule, ratatui::style::Style::new());
            let cursor = RegionCursor::new(Some(TextCursor::Plain(Position::new(0, 1))), reach(number % 2 == 0));
            screen.draw(&RegionRows { rows: buffer, cursor, head: 0, passing: 0, next_width: NextWidth::Any }).unwrap();
            screen.send().unwrap();
            parser.process(&std::mem::take(&mut *wire.0.borrow_mut()));
        }
        let mut rows = Vec::new();
        parser.screen_mut().set_scrollback(usize::MAX);
        for at in (0..=parser.screen().scrollback()).rev() {
            parser.screen_mut().set_scrollback(at);
            rows.extend(parser.screen().rows(0, 40).take(if at == 0 { usize::MAX } else { 1 }));
        }
        let rows: Vec<_> = rows.iter().map(|row| row.trim_end()).filter(|row| row.starts_with("Row")).collect();
        let all: Vec<_> = (0..60).map(|number| format!("Row {number}.")).collect();
        assert_eq!(rows, all, "seed {seed}");
    }
}

/// Once the screen is full, the region's last row is the screen's last row, even after the region needs fewer rows.
#[test]
fn the_bottom_stays_at_the_bottom() {
    let mut play = Play::new(true);
    play.draw(false, 0);
    assert!(play.text().trim_end().lines().count() == 7, "it begins where the shell was: {}", play.text());
    for _ in 0..12 {
        play.print_row();
        play.draw(true, 0);
    }
    for extra in [2, 9, 0, 5, 1] {
        play.draw(true, extra);
        play.print_row();
        play.draw(false, 0);
        let rows = play.rows();
        assert_eq!(rows.last().map(String::as_str), Some("status"), "{rows:#?}");
        play.check("at the bottom");
    }
}

/// Regression: after a list had been open, blank rows stood between the printed part of an answer and what comes in.
#[test]
fn rows_that_come_in_follow_the_printed_ones() {
    let mut play = Play::new(true);
    for _ in 0..12 {
        play.print_row();
        play.draw(true, 0);
    }
    play.draw(true, 9);
    play.draw(true, 0);
    let rows = play.rows();
    assert_eq!(rows.last().map(String::as_str), Some("status"), "{rows:#?}");
    let last = rows.iter().rposition(|row| row.starts_with("Paragraph")).unwrap();
    let paragraph = ["Paragraph 5, row 0, some words", "Paragraph 5, row 1, some words"];
    assert_eq!(rows[last - 1..=last], paragraph, "{rows:#?}");
    // The region had 14 rows: of 16 rows, 11 of them as wide as the screen, two were left out for a width of 40 columns.
    assert_eq!(rows[last + 1..].iter().take_while(|row| row.is_empty()).count(), 8, "{rows:#?}");
    play.check("with a list closed");
}

/// Completions cover finished rows and give them back, also when rows were printed or the size changed meanwhile.
#[test]
fn completions_leave_no_blank_rows_and_cost_no_row() {
    for (seed, rewraps) in (0..5).flat_map(|seed| [(seed, true), (seed, false)]) {
        let mut numbers = Numbers(seed);
        let mut play = Play::new(rewraps);
        (0..40).for_each(|_| play.print_row());
        play.draw(false, 0);
        let mut was_resized = false;
        for step in 0..60 {
            let what = format!("seed {seed}, step {step}");
            let is_under_way = numbers.below(2) == 0;
            let rows = numbers.below(12) as usize;
            let before = play.rows();
            play.draw_with(is_under_way, 0, rows);
            let mut is_same = !is_under_way;
            if numbers.below(2) == 0 {
                (0..numbers.below(9)).for_each(|_| play.print_row());
                play.draw_with(is_under_way, 0, rows);
                is_same = false;
            }
            if step > 30 && numbers.below(4) == 0 && rewraps {
                let (width, height) = (WIDTHS[numbers.below(6) as usize], HEIGHTS[numbers.below(5) as usize]);
                play.terminal.resize(width.into(), height.into());
                play.hear();
                play.draw_with(is_under_way, 0, rows);
                was_resized = true;
            }
            play.draw(false, 0);
            play.check(&what);
            if is_same && !was_resized {
                assert_eq!(play.rows(), before, "{what}");
            }
            assert!(!play.text().contains("completion"), "{what}: {}", play.text());
        }
    }
}

/// More rows than the screen has are printed at once.
#[test]
fn many_rows_are_printed_at_once() {
    let mut play = Play::new(true);
    play.draw(true, 1);
    (0..100).for_each(|_| play.print_row());
    play.draw(true, 1);
    play.check("at once");
    assert!(!play.text().contains("\n\n\n"), "{}", play.text());
}

/// Another program writes on the screen, where the cursor is and elsewhere. The key that draws again puts right what is known, and no
/// printed row is lost or doubled.
#[test]
fn a_screen_that_was_written_on_is_drawn_again() {
    for (is_under_way, scribble) in [
        (false, "x\r\nx\x1b[31m"),
        (true, "x\r\nxxx"),
        (false, "\x1b[5;3Hxxxxxxx\x1b[10;1Hxx"),
        (true, "\x1b[?7h\x1b[?25h\x1b[24;80Hx"),
        (false, "\x1b[2;1H\x1b[J"),
    ] {
        let mut play = Play::new(true);
        for _ in 0..40 {
            play.print_row();
            play.draw(is_under_way, 0);
        }
        let before = play.rows();
        play.terminal.feed(scribble);
        play.screen.redraw(true).unwrap();
        play.draw(is_under_way, 0);
        assert_eq!(play.rows(), before, "{scribble:?}");
        play.check(scribble);
    }
}
