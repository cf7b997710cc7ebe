//! Tables: columns as wide as their text or the room allows, with wrapped cells. A table that does not fit is shown as
//! a list of `heading: cell`.

use pulldown_cmark::Alignment;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use super::flow::{self, SpanRow};

const LEAST: usize = 4;
const BETWEEN: &str = " │ ";

#[derive(Debug, Default)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    head: Vec<SpanRow>,
    rows: Vec<Vec<SpanRow>>,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, ..Self::default() }
    }

    pub(super) fn row(&mut self) {
        self.rows.push(Vec::new());
    }

    /// The last filled row is the head.
    pub(super) fn head(&mut self) {
        self.head = self.rows.pop().unwrap_or_default();
    }

    pub(super) fn cell(&mut self, cell: SpanRow) {
        match self.rows.last_mut() {
            Some(row) => row.push(cell),
            None => self.rows.push(vec![cell]),
        }
    }

    pub(super) fn rows(&self, width: usize, rule: Style) -> Vec<SpanRow> {
        match self.widths(width) {
            Some(widths) => self.grid(&widths, rule),
            None => self.list(width, rule),
        }
    }

    fn count(&self) -> usize {
        self.alignments.len()
    }

    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let between = BETWEEN.chars().count() * self.count().saturating_sub(1);
        let room = width.checked_sub(between)?;
        let mut widths = vec![1; self.count()];
        for row in std::iter::once(&self.head).chain(&self.rows) {
            for (widest, cell) in widths.iter_mut().zip(row) {
                *widest = flow::width_of(cell).max(*widest);
            }
        }
        if widths.iter().sum::<usize>() <= room {
            return Some(widths);
        }
        let limit = level(&widths, room)?;
        let mut left = room - widths.iter().map(|own| (*own).min(limit)).sum::<usize>();
        for own in &mut widths {
            let wants = (*own).min(limit);
            // Remaining columns go to the first that want them.
            let more = usize::from(left > 0 && *own > limit);
            left -= more;
            *own = wants + more;
        }
        Some(widths)
    }

    fn grid(&self, widths: &[usize], rule: Style) -> Vec<SpanRow> {
        let ruled = |cross: &str| {
            let parts: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
            vec![Span::styled(parts.join(cross), rule)]
        };
        let bold: Vec<SpanRow> = self.head.iter().map(|cell| bold(cell)).collect();
        let mut rows = self.wrapped(&bold, widths, rule);
        rows.push(ruled("─┼─"));
        let bodies: Vec<Vec<SpanRow>> = self.rows.iter().map(|row| self.wrapped(row, widths, rule)).collect();
        // With wrapped cells, rules show where rows begin.
        let is_wrapped = bodies.iter().any(|body| body.len() > 1);
        for (at, body) in bodies.into_iter().enumerate() {
            if is_wrapped && at > 0 {
                rows.push(ruled("─┼─"));
            }
            rows.extend(body);
        }
        rows
    }

    fn wrapped(&self, cells: &[SpanRow], widths: &[usize], rule: Style) -> Vec<SpanRow> {
        let empty = SpanRow::new();
        let columns: Vec<Vec<SpanRow>> =
            widths.iter().enumerate().map(|(at, width)| flow::words(cells.get(at).unwrap_or(&empty), *width)).collect();
        let height = columns.iter().map(Vec::len).max().unwrap_or(0);
        let row = |number: usize| {
            let mut row = SpanRow::new();
            for (at, (column, width)) in columns.iter().zip(widths).enumerate() {
                if at > 0 {
                    row.push(Span::styled(BETWEEN, rule));
                }
                let piece = column.get(number).cloned().unwrap_or_default();
                let left = width.saturating_sub(flow::width_of(&piece));
                let before = match self.alignments.get(at) {
                    Some(Alignment::Right) => left,
                    Some(Alignment::Center) => left / 2,
                    Some(Alignment::Left | Alignment::None) | None => 0,
                };
                let is_last = at + 1 == widths.len();
                row.push(Span::raw(" ".repeat(before)));
                row.extend(piece);
                row.push(Span::raw(" ".repeat(if is_last { 0 } else { left - before })));
            }
            row.retain(|span| !span.content.is_empty());
            row
        };
        (0..height).map(row).collect()
    }

    fn list(&self, width: usize, rule: Style) -> Vec<SpanRow> {
        let mut rows = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            if at > 0 {
                rows.push(vec![Span::styled("─".repeat(width.min(8)), rule)]);
            }
            for (number, cell) in row.iter().enumerate() {
                let mut line = self.head.get(number).map(|head| bold(head)).unwrap_or_default();
                line.push(Span::raw(": "));
                line.extend(cell.iter().cloned());
                rows.extend(flow::words(&line, width));
            }
        }
        if self.rows.is_empty() {
            let names = self.head.iter().flat_map(|head| flow::words(&bold(head), width));
            rows.extend(names);
        }
        rows
    }
}

/// The maximum width of a column so that all fit into the room; `None` if it is too small.
fn level(widths: &[usize], room: usize) -> Option<usize> {
    let mut sorted = widths.to_vec();
    sorted.sort_unstable();
    let (mut room, mut left) = (room, sorted.len());
    for width in sorted {
        if width.saturating_mul(left) > room {
            return Some(room / left).filter(|limit| *limit >= LEAST);
        }
        room -= width;
        left -= 1;
    }
    Some(usize::MAX)
}

fn bold(cell: &[Span<'static>]) -> SpanRow {
    cell.iter().map(|span| span.clone().patch_style(Style::new().add_modifier(Modifier::BOLD))).collect()
}
