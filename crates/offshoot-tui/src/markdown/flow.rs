//! Wraps styled text into rows, at words or anywhere. Knows no markdown and no theme.
//!
//! A row never exceeds its width, graphemes are never split, and text keeps its style.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::text;

pub(crate) type SpanRow = Vec<Span<'static>>;

/// The start of a block's rows: `first` on the first one, `rest` on all others, of the same width.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Prefix {
    pub(crate) first: SpanRow,
    pub(crate) rest: SpanRow,
    pub(crate) width: usize,
}

impl Prefix {
    /// A mark on the first row, blanks on the others.
    pub(crate) fn mark(mark: &str, style: Style) -> Self {
        let width = text::width(mark);
        let first = vec![Span::styled(mark.to_owned(), style)];
        Self { first, rest: vec![Span::raw(" ".repeat(width))], width }
    }

    pub(crate) fn every(mark: &str, style: Style) -> Self {
        let row = vec![Span::styled(mark.to_owned(), style)];
        Self { first: row.clone(), rest: row, width: text::width(mark) }
    }

    pub(crate) fn before(&self, rows: impl IntoIterator<Item = SpanRow>) -> impl Iterator<Item = SpanRow> {
        rows.into_iter().enumerate().map(|(at, row)| {
            let mut whole = if at == 0 { self.first.clone() } else { self.rest.clone() };
            whole.extend(row);
            whole
        })
    }
}

pub(crate) fn width_of(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| text::width(&span.content)).sum()
}

pub(crate) fn lines(rows: impl IntoIterator<Item = SpanRow>) -> Vec<Line<'static>> {
    rows.into_iter().map(Line::from).collect()
}

/// Wraps text at line ends and words: see [`text::rows`]. Empty text is one empty row.
pub(crate) fn words(spans: &[Span<'_>], width: usize) -> Vec<SpanRow> {
    let mut lines = vec![SpanRow::new()];
    for span in spans {
        for (at, piece) in span.content.split('\n').enumerate() {
            if at > 0 {
                lines.push(SpanRow::new());
            }
            if let (Some(line), false) = (lines.last_mut(), piece.is_empty()) {
                append(line, piece, span.style);
            }
        }
    }
    lines.into_iter().flat_map(|line| text::wrap(Line::from(line), width.max(1))).map(|line| line.spans).collect()
}

/// Wraps text wherever a row is full, for text in which every blank counts.
pub(crate) fn chop(spans: &[Span<'_>], width: usize) -> Vec<SpanRow> {
    let width = width.max(1);
    let (mut rows, mut row, mut used) = (Vec::new(), SpanRow::new(), 0);
    for span in spans {
        for grapheme in span.content.graphemes(true) {
            let columns = text::width(grapheme);
            if columns > width {
                continue;
            }
            if used + columns > width {
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            append(&mut row, grapheme, span.style);
            used += columns;
        }
    }
    rows.push(row);
    rows
}

/// Cuts text to a width, with `…` for the rest.
pub(crate) fn cut(spans: &[Span<'_>], width: usize) -> SpanRow {
    text::truncate_line(&Line::from(spans.to_vec()), width, text::ELLIPSIS).spans
}

/// Appends text to a row, to its last span if the style is the same.
pub(crate) fn append(row: &mut SpanRow, piece: &str, style: Style) {
    match row.last_mut() {
        Some(last) if last.style == style => last.content.to_mut().push_str(piece),
        _ => row.push(Span::styled(piece.to_owned(), style)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Color;

    fn shown(rows: &[SpanRow]) -> Vec<String> {
        rows.iter().map(|row| row.iter().map(|span| span.content.as_ref()).collect()).collect()
    }

    fn plain(text: &str) -> Vec<Span<'static>> {
        vec![Span::raw(text.to_owned())]
    }

    #[test]
    fn text_breaks_at_words_and_long_words_where_the_row_is_full() {
        for (given, width, expected) in [
            ("one two three", 8, vec!["one two", "three"]),
            ("one two", 7, vec!["one two"]),
            ("abcdefghij", 4, vec!["abcd", "efgh", "ij"]),
            ("a abcdefghij b", 4, vec!["a", "abcd", "efgh", "ij b"]),
            ("  in", 6, vec!["  in"]),
            ("a   b", 3, vec!["a", "b"]),
            ("a\nb\n", 9, vec!["a", "b", ""]),
            ("", 9, vec![""]),
            ("漢字漢字", 5, vec!["漢字", "漢字"]),
            ("漢a", 1, vec!["…", "a"]),
            ("e\u{301}e\u{301}e\u{301}", 2, vec!["e\u{301}e\u{301}", "e\u{301}"]),
        ] {
            assert_eq!(shown(&words(&plain(given), width)), expected, "{given:?} at {width}");
        }
    }

    #[test]
    fn chopped_text_keeps_every_blank() {
        assert_eq!(shown(&chop(&plain("  a  b  c"), 4)), ["  a ", " b  ", "c"]);
        assert_eq!(shown(&chop(&plain(""), 4)), [""]);
        assert_eq!(shown(&chop(&plain("a漢b"), 2)), ["a", "漢", "b"]);
    }

    #[test]
    fn a_cut_shows_a_mark_within_the_width() {
        assert_eq!(shown(&[cut(&plain("abcdef"), 4)]), ["abc…"]);
        assert_eq!(shown(&[cut(&plain("abcd"), 4)]), ["abcd"]);
        assert_eq!(shown(&[cut(&plain("漢字漢"), 4)]), ["漢…"]);
    }

    #[test]
    fn runs_keep_their_styles_across_breaks() {
        let red = Style::new().fg(Color::Red);
        let rows = words(&[Span::raw("a b"), Span::styled("c d", red)], 3);
        assert_eq!(rows[0], [Span::raw("a")]);
        assert_eq!(rows[1], [Span::raw("b"), Span::styled("c", red)]);
        assert_eq!(rows[2], [Span::styled("d", red)]);
    }
}
