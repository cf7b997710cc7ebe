//! Measures and draws text by ratatui's widths.

use ratatui::buffer::{Buffer, CellWidth as _};
use ratatui::layout::Rect;
use ratatui::text::Line;
use unicode_segmentation::UnicodeSegmentation as _;

/// The columns of a text: the sum over its graphemes, without those that contain a control character, which are not
/// drawn.
#[must_use]
pub fn width(text: &str) -> usize {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.len();
    }
    text.graphemes(true).map(of_grapheme).sum()
}

/// The sum over the spans: no grapheme continues in the next span.
#[must_use]
pub fn line_width(line: &Line<'_>) -> usize {
    line.spans.iter().map(|span| width(&span.content)).sum()
}

/// Empties the part of an area that is in the buffer.
pub fn clear(area: Rect, buf: &mut Buffer) {
    for at in area.intersection(buf.area).positions() {
        buf[at].reset();
    }
}

/// Draws a line on the first row of an area, left-aligned and cut at the right: nothing outside changes.
///
/// The line's style fills the row. Use this instead of rendering a `Line`, which measures whole spans and so overwrites
/// the last columns of a span with ligatures. The line's alignment is ignored.
pub fn draw(line: &Line<'_>, area: Rect, buf: &mut Buffer) {
    let row = Rect { height: 1, ..area }.intersection(buf.area);
    if row.is_empty() || row.y != area.y || row.x != area.x {
        return;
    }
    buf.set_style(row, line.style);
    buf.set_line(row.x, row.y, line, row.width);
}

/// The columns of a grapheme; 0 if it is not drawn.
pub(super) fn of_grapheme(grapheme: &str) -> usize {
    if grapheme.contains(char::is_control) { 0 } else { usize::from(grapheme.cell_width()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_buffer() {
        for (text, columns) in [
            ("", 0),
            ("abc", 3),
            ("日本", 4),
            ("e\u{301}", 1),
            ("👩\u{200d}👩\u{200d}👧", 2),
            ("❤\u{fe0f}", 2),
            ("لا", 2),
            ("a\u{7}b", 2),
        ] {
            assert_eq!(width(text), columns, "{text:?}");
            let mut buf = Buffer::empty(Rect::new(0, 0, 20, 1));
            assert_eq!(usize::from(buf.set_line(0, 0, &Line::raw(text), 20).0), columns, "{text:?}");
        }
    }

    /// ratatui itself measures a lam-alef as one column and draws it on two.
    #[test]
    fn a_span_begins_where_the_one_before_it_ends() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 4, 1));
        draw(&Line::from(vec!["لا".into(), "x".into()]), buf.area, &mut buf);
        let cells: Vec<_> = buf.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(cells, ["ل", "ا", "x", " "]);
    }
}
