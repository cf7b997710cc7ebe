//! Tables that fit the screen: the last column takes the remaining width, empty columns are hidden, and a narrow screen does
//! without those that matter least.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use anstyle::Style;
use offshoot_session::text::{cut, width};

use super::style::{DIM, Painted};

/// The side of a column that its texts touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// The left, for words.
    Left,
    /// The right, for numbers.
    Right,
}

/// A column of a table.
#[derive(Debug)]
pub struct Column {
    title: &'static str,
    align: Align,
    style: Style,
    max: Option<usize>,
    /// A narrow screen does first without the column that has the smallest number.
    leaves_as: Option<u8>,
    is_last: bool,
}

impl Column {
    /// A column with this title, as wide as its contents.
    pub fn new(title: &'static str, align: Align, style: Style) -> Self {
        Self { title, align, style, max: None, leaves_as: None, is_last: false }
    }

    /// Limits its width on a screen.
    pub fn cut_to(mut self, max: usize) -> Self {
        self.max = Some(max);
        self
    }

    /// Leaves a screen on which the last column would be too narrow; the smallest `order` leaves first.
    pub fn leaves(mut self, order: u8) -> Self {
        self.leaves_as = Some(order);
        self
    }

    /// Takes the remaining width, in the row's style.
    pub fn last(mut self) -> Self {
        self.is_last = true;
        self
    }
}

/// Rows of texts in columns.
#[derive(Debug)]
pub struct Table {
    columns: Vec<Column>,
    /// The cells, row after row, with their display widths.
    cells: Vec<(String, usize)>,
    /// The style of each row's last column.
    styles: Vec<Style>,
    content: Vec<usize>,
}

const PIECE: usize = 32 << 10;

/// The minimum width of the last column, even on a narrow screen.
const LEAST: usize = 12;

/// The width to which a column of words is cut at most.
const NARROWEST: usize = 6;

/// As long as the last column has less, other columns leave.
const ENOUGH: usize = 15;

impl Table {
    /// A table without rows.
    pub fn new(columns: Vec<Column>) -> Self {
        let content = vec![0; columns.len()];
        Self { columns, cells: Vec::new(), styles: Vec::new(), content }
    }

    /// `style` applies to the last column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>, style: Style) {
        for (cell, widest) in cells.into_iter().zip(&mut self.content) {
            let width = width(&cell);
            *widest = width.max(*widest);
            self.cells.push((cell, width));
        }
        // Short rows are padded, so that the next row starts in its own column.
        self.styles.push(style);
        self.cells.resize(self.styles.len() * self.columns.len(), (String::new(), 0));
    }

    /// Writes titles and rows, cut to the screen if there is one. Without rows it writes nothing.
    pub fn write(&self, out: &mut dyn Write, screen: Option<usize>) -> io::Result<()> {
        if self.styles.is_empty() {
            return Ok(());
        }
        let widths = self.widths(screen);
        let titles = self.columns.iter().map(|column| (column.title, width(column.title), DIM));
        // The stripper of colours is slow with small writes.
        let mut text = String::with_capacity(2 * PIECE);
        self.line(&mut text, &widths, titles);
        for (cells, last) in self.cells.chunks(self.columns.len().max(1)).zip(&self.styles) {
            let style = |column: &Column| if column.is_last { *last } else { column.style };
            self.line(
                &mut text,
                &widths,
                cells.iter().zip(&self.columns).map(|((cell, width), column)| (cell.as_str(), *width, style(column))),
            );
            if text.len() >= PIECE {
                out.write_all(text.as_bytes())?;
                text.clear();
            }
        }
        out.write_all(text.as_bytes())
    }

    /// The width of each column; 0 if it is empty.
    fn widths(&self, screen: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = Vec::new();
        for (column, content) in self.columns.iter().zip(&self.content) {
            let width = if *content > 0 { width(column.title).max(*content) } else { 0 };
            let max = column.max.filter(|_| screen.is_some()).unwrap_or(usize::MAX);
            widths.push(width.min(max));
        }
        let Some((screen, last)) = screen.zip(self.columns.iter().position(|column| column.is_last)) else {
            return widths;
        };
        let others = |widths: &[usize]| -> usize {
            let others = widths.iter().enumerate().filter(|(at, width)| *at != last && **width > 0);
            others.map(|(_, width)| width + 2).sum()
        };
        let mut leaving: Vec<(u8, usize)> =
            self.columns.iter().enumerate().filter_map(|(at, column)| Some((column.leaves_as?, at))).collect();
        leaving.sort_unstable();
        for (_, at) in leaving {
            if others(&widths) + widths[last].min(ENOUGH) > screen {
                widths[at] = 0;
            }
        }
        self.narrow(&mut widths, last, screen);
        widths[last] = widths[last].min(screen.saturating_sub(others(&widths)).max(LEAST));
        widths
    }

    /// Cuts columns of words, the widest first, until the last column has its least width.
    fn narrow(&self, widths: &mut [usize], last: usize, screen: usize) {
        loop {
            let shown = widths.iter().enumerate().filter(|(at, width)| *at != last && **width > 0);
            let needed = shown.map(|(_, width)| width + 2).sum::<usize>() + widths[last].min(LEAST);
            let is_words =
                |at: &usize| *at != last && self.columns[*at].align == Align::Left && widths[*at] > NARROWEST;
            let widest = (0..widths.len()).filter(is_words).max_by_key(|at| widths[*at]);
            match widest.filter(|_| needed > screen) {
                Some(at) => widths[at] -= 1,
                None => return,
            }
        }
    }

    fn line<'a>(&self, out: &mut String, widths: &[usize], cells: impl Iterator<Item = (&'a str, usize, Style)>) {
        let mut gap = 0;
        for ((column, width), (cell, takes, style)) in self.columns.iter().zip(widths).zip(cells) {
            if *width == 0 {
                continue;
            }
            let cell = if takes <= *width { Cow::Borrowed(cell) } else { cut(cell, *width) };
            let takes = if takes <= *width { takes } else { offshoot_session::text::width(&cell) };
            let pad = width.saturating_sub(takes);
            let before = if column.align == Align::Right { pad } else { 0 };
            out.extend(std::iter::repeat_n(' ', gap + before));
            let _always_ok = write!(out, "{}", Painted(style, &cell));
            gap = 2 + pad - before;
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::super::style::PLAIN;
    use super::*;

    fn table(screen: Option<usize>) -> String {
        let mut table = Table::new(vec![
            Column::new("N", Align::Right, PLAIN),
            Column::new("NONE", Align::Left, PLAIN),
            Column::new("TEXT", Align::Left, PLAIN).last(),
        ]);
        table.row(vec!["1".into(), String::new(), "a short one".into()], PLAIN);
        table.row(vec!["100".into(), String::new(), "日本語の長いセッション名".into()], PLAIN);
        let mut out = Vec::new();
        table.write(&mut out, screen).unwrap();
        anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
    }

    #[test]
    fn columns_leave_a_narrow_screen_in_their_order() {
        let mut table = Table::new(vec![
            Column::new("ID", Align::Left, PLAIN),
            Column::new("TOKENS", Align::Right, PLAIN).leaves(1),
            Column::new("COST", Align::Right, PLAIN).leaves(2),
            Column::new("WORDS", Align::Left, PLAIN).last(),
        ]);
        table.row(["a1".into(), "40k".into(), "$1".into(), "why does the build fail".into()], PLAIN);
        let titles = |screen| {
            let mut out = Vec::new();
            table.write(&mut out, screen).unwrap();
            let text = anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string();
            text.lines().next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(titles(None), "ID TOKENS COST WORDS");
        assert_eq!(titles(Some(33)), "ID TOKENS COST WORDS");
        assert_eq!(titles(Some(32)), "ID COST WORDS");
        assert_eq!(titles(Some(24)), "ID WORDS");
        assert_eq!(titles(Some(5)), "ID WORDS");
    }

    #[test]
    fn words_are_cut_where_no_column_can_leave() {
        let mut table = Table::new(vec![
            Column::new("ID", Align::Left, PLAIN),
            Column::new("ROLE", Align::Left, PLAIN),
            Column::new("WORDS", Align::Left, PLAIN).last(),
        ]);
        table.row(["a1b2".into(), "compactionSummary".into(), "why does the build fail".into()], PLAIN);
        let mut out = Vec::new();
        table.write(&mut out, Some(30)).unwrap();
        let text = anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string();
        assert_eq!(text, "ID    ROLE        WORDS\na1b2  compactio…  why does th…\n");
    }

    #[test]
    fn a_table_fits_the_screen_in_columns_not_in_bytes() {
        assert_eq!(table(None), "  N  TEXT\n  1  a short one\n100  日本語の長いセッション名\n");
        assert_eq!(table(Some(20)), "  N  TEXT\n  1  a short one\n100  日本語の長いセ…\n");
        assert_eq!(table(Some(1)), "  N  TEXT\n  1  a short one\n100  日本語の長…\n");
    }
}
