//! Shortens long text to a few rows from its start or end. The cost depends only on the visible rows.

use std::borrow::Cow;

use ratatui::style::Style;

use crate::markdown::MAX_BYTES;
use crate::markdown::flow::{self, SpanRow};
use crate::text::without_erasures;
use crate::theme::Theme;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    First(usize),
    Last(usize),
    All,
}

/// How an output looks where it sets no colour.
#[derive(Debug, Clone, Copy)]
pub(super) struct OutputLook<'a> {
    pub(super) theme: &'a Theme,
    pub(super) style: Style,
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct Preview {
    pub(super) rows: Vec<SpanRow>,
    /// Lines that are partly visible do not count.
    pub(super) hidden: usize,
    pub(super) is_cut: bool,
}

/// The bytes of a line that can be visible in `rows`.
pub(super) fn window(rows: usize, width: usize) -> usize {
    // A column has few bytes, except for stacked combining marks.
    rows.saturating_mul(width).saturating_mul(8).saturating_add(64)
}

pub(super) fn preview(whole: &str, look: OutputLook<'_>, width: usize, keep: Keep) -> Preview {
    let text = whole.trim_end();
    if text.is_empty() {
        return Preview::default();
    }
    match keep {
        Keep::First(most) => unless_one_is_left(most, |most| first(text, look, width, most)),
        Keep::Last(most) => unless_one_is_left(most, |most| last(text, look, width, most)),
        // The end of a huge text: it shows the outcome.
        Keep::All if text.len() > MAX_BYTES => {
            let start = text.ceil_char_boundary(text.len() - MAX_BYTES);
            let (left_out, shown) = text.split_at(start);
            let mut preview = last(shown, look, width, usize::MAX);
            preview.hidden = left_out.matches('\n').count();
            preview.is_cut = true;
            preview
        }
        Keep::All => first(text, look, width, usize::MAX),
    }
}

/// The row that would say that one line is hidden shows the line instead, if it fits.
fn unless_one_is_left(most: usize, preview: impl Fn(usize) -> Preview) -> Preview {
    let shown = preview(most);
    if shown.hidden != 1 || shown.is_cut {
        return shown;
    }
    let whole = preview(most.saturating_add(1));
    if whole.hidden == 0 && !whole.is_cut { whole } else { shown }
}

fn first(text: &str, look: OutputLook<'_>, width: usize, most: usize) -> Preview {
    let mut preview = Preview::default();
    let mut lines = text.split('\n');
    for line in lines.by_ref() {
        let left = most - preview.rows.len();
        if left == 0 {
            preview.hidden = 1;
            break;
        }
        let seen = line.get(..line.floor_char_boundary(window(left, width))).unwrap_or_default();
        let rows = rows(seen, look, width);
        preview.is_cut |= rows.len() > left || seen.len() < line.len();
        preview.rows.extend(rows.into_iter().take(left));
    }
    preview.hidden += lines.count();
    preview
}

fn last(text: &str, look: OutputLook<'_>, width: usize, most: usize) -> Preview {
    let mut preview = Preview::default();
    let mut lines = text.rsplit('\n');
    let mut groups: Vec<Vec<SpanRow>> = Vec::new();
    let mut left = most;
    for line in lines.by_ref() {
        if left == 0 {
            preview.hidden = 1;
            break;
        }
        let start = line.ceil_char_boundary(line.len().saturating_sub(window(left, width)));
        let seen = line.get(start..).unwrap_or_default();
        let mut rows = rows(seen, look, width);
        preview.is_cut |= rows.len() > left || start > 0;
        let rows = rows.split_off(rows.len().saturating_sub(left));
        left -= rows.len();
        groups.push(rows);
    }
    preview.hidden += lines.count();
    preview.rows = groups.into_iter().rev().flatten().collect();
    preview
}

/// Says that something was here before.
const OVERWRITTEN: char = '␍';

/// The rows of one line as a terminal leaves it: without what `\r` or an erasing sequence overwrote, but for a mark.
fn rows(line: &str, look: OutputLook<'_>, width: usize) -> Vec<SpanRow> {
    let line = line.trim_end_matches('\r');
    let last = without_erasures(line.rsplit('\r').next().unwrap_or_default());
    let seen = if last.len() < line.len() { Cow::Owned(format!("{OVERWRITTEN}{last}")) } else { last };
    flow::words(&look.theme.output_row(&seen, look.style), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, width: usize, keep: Keep) -> (Vec<String>, usize, bool) {
        let preview = preview(text, OutputLook { theme: &Theme::dark(), style: Style::new() }, width, keep);
        let row = |row: &SpanRow| row.iter().map(|span| span.content.as_ref()).collect();
        (preview.rows.iter().map(row).collect(), preview.hidden, preview.is_cut)
    }

    #[test]
    fn the_beginning_or_the_end_is_kept_and_the_rest_counted() {
        let text = "a\nb\nc\nd\n\n";
        for (keep, rows, hidden) in [
            (Keep::First(2), vec!["a", "b"], 2),
            (Keep::First(4), vec!["a", "b", "c", "d"], 0),
            (Keep::Last(2), vec!["c", "d"], 2),
            (Keep::Last(9), vec!["a", "b", "c", "d"], 0),
            (Keep::All, vec!["a", "b", "c", "d"], 0),
        ] {
            assert_eq!(
                shown(text, 10, keep),
                (rows.into_iter().map(str::to_owned).collect(), hidden, false),
                "{keep:?}"
            );
        }
        assert_eq!(shown("", 10, Keep::All), (vec![], 0, false));
    }

    #[test]
    fn lines_that_are_too_wide_count_as_their_rows() {
        assert_eq!(shown("abcdef\ng", 4, Keep::First(1)), (vec!["abcd".to_owned()], 1, true));
        assert_eq!(shown("abcdef\ng", 4, Keep::Last(2)), (vec!["ef".to_owned(), "g".to_owned()], 0, true));
    }

    #[test]
    fn what_was_overwritten_leaves_a_mark_and_what_is_hidden_is_spelled_out() {
        for (output, row) in [
            ("10%\r20%\r\n", "␍20%"),
            ("gone\x1b[2K\x1b[1Gleft", "␍goneleft"),
            ("plain\r\n", "plain"),
            ("a\x1b[31mred\x1b[0mb", "aredb"),
            ("a\x1b]0;t\x07b\u{202e}", "a␛]0;t␇b\\u{202e}"),
        ] {
            assert_eq!(shown(output, 40, Keep::All).0, [row], "{output:?}");
        }
    }

    #[test]
    fn a_line_of_a_megabyte_costs_what_is_shown_of_it() {
        let line = "x".repeat(1 << 20);
        for keep in [Keep::First(3), Keep::Last(3)] {
            let (rows, hidden, is_cut) = shown(&line, 40, keep);
            assert_eq!((rows.len(), hidden, is_cut), (3, 0, true));
        }
        let (rows, _, is_cut) = shown(&line, 40, Keep::All);
        assert_eq!((rows.len(), is_cut), (MAX_BYTES.div_ceil(40), true));
    }
}
