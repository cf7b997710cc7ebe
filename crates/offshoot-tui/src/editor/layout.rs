//! Wraps a text into rows and maps bytes to columns. Knows the cursor only as a byte offset.

use ratatui::text::Line;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::text::{rows, width};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct EditorRow {
    start: usize,
    end: usize,
    /// After `end` come the spaces dropped by the break, and a line end.
    next: usize,
}

/// There is always at least one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    rows: Vec<EditorRow>,
    columns: usize,
}

impl Layout {
    pub(super) fn new(text: &str, columns: usize) -> Self {
        let columns = columns.max(1);
        let mut out: Vec<EditorRow> = Vec::new();
        let mut from = 0;
        for line in text.split('\n') {
            let raw = Line::raw(line);
            let first = out.len();
            for row in rows(&raw, columns) {
                let bytes = row.bytes();
                // Spaces that fill the first row belong to it.
                let start = if out.len() == first { 0 } else { bytes.start };
                if let Some(before) = out.last_mut().filter(|_| start > 0) {
                    before.next = from + start;
                }
                out.push(EditorRow {
                    start: from + start,
                    end: from + bytes.end.max(start),
                    next: from + line.len() + 1,
                });
            }
            from += line.len() + 1;
        }
        Self { rows: out, columns }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The row of a byte; a byte at a break belongs to the next row.
    pub(super) fn row_of(&self, byte: usize) -> usize {
        self.rows.partition_point(|row| row.start <= byte).saturating_sub(1)
    }

    /// The column of a byte in its row; spaces dropped by a break are in the last one.
    pub(super) fn column_of(&self, text: &str, byte: usize) -> usize {
        let Some(row) = self.rows.get(self.row_of(byte)) else { return 0 };
        let shown = text.get(row.start..byte.min(row.end)).unwrap_or_default();
        let beyond = byte.saturating_sub(row.end);
        (width(shown) + beyond).min(self.columns)
    }

    /// The byte at a column of a row, or the row's last one.
    pub(super) fn byte_at(&self, text: &str, row: usize, column: usize) -> usize {
        let Some(row) = self.rows.get(row) else { return text.len() };
        let shown = text.get(row.start..row.end).unwrap_or_default();
        let mut at = row.start;
        let mut reached = 0;
        for grapheme in shown.graphemes(true) {
            reached += width(grapheme);
            // The end of a row that continues without a space is the start of the next.
            if reached > column || (at + grapheme.len() == row.next) {
                break;
            }
            at += grapheme.len();
        }
        at
    }

    pub(super) fn bytes(&self, row: usize) -> std::ops::Range<usize> {
        self.rows.get(row).map_or(0..0, |row| row.start..row.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, columns: usize) -> Vec<&str> {
        let layout = Layout::new(text, columns);
        (0..layout.len()).map(|row| &text[layout.bytes(row)]).collect()
    }

    #[test]
    fn rows_break_at_words() {
        assert_eq!(shown("", 5), [""]);
        assert_eq!(shown("one two three", 7), ["one two", "three"]);
        assert_eq!(shown("a\n\nb\n", 5), ["a", "", "b", ""]);
        assert_eq!(shown("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(shown("日本語", 4), ["日本", "語"]);
    }

    #[test]
    fn bytes_and_places_agree() {
        let text = "one two three\nfour";
        let layout = Layout::new(text, 7);
        assert_eq!(layout.row_of(7), 0);
        assert_eq!(layout.column_of(text, 7), 7);
        assert_eq!(layout.row_of(8), 1);
        assert_eq!(layout.row_of(13), 1);
        assert_eq!(layout.column_of(text, 13), 5);
        assert_eq!(layout.row_of(14), 2);
        assert_eq!(layout.byte_at(text, 0, 99), 7);
        assert_eq!(layout.byte_at(text, 2, 2), 16);
        let solid = Layout::new("abcdef", 3);
        assert_eq!(solid.byte_at("abcdef", 0, 99), 2);
    }

    proptest::proptest! {
        #[test]
        fn every_byte_has_a_place_inside(text in "[a-z 日é👍\u{301}\\n]{0,60}", columns in 1_usize..12) {
            let text = crate::text::strip_lines(&text).into_owned();
            let layout = Layout::new(&text, columns);
            for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
                let row = layout.row_of(at);
                proptest::prop_assert!(layout.bytes(row).start <= at);
                proptest::prop_assert!(layout.column_of(&text, at) <= columns.max(2));
                let back = layout.byte_at(&text, row, layout.column_of(&text, at));
                proptest::prop_assert_eq!(layout.row_of(back), row);
            }
        }
    }
}
