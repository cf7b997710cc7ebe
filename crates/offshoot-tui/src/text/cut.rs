//! Cuts text to a width, with a mark for the omitted part.

use std::borrow::Cow;

use offshoot_session::text::CleanStart;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;

use super::measure::{of_grapheme, width};
use super::{ELLIPSIS, clean};

/// Cleans foreign text as by [`clean`] and cuts it with `…`.
///
/// Reads only as much text as the field shows (and escape sequences in between): a megabyte costs as much as a screen.
#[must_use]
pub fn fit(text: &str, columns: usize) -> Cow<'_, str> {
    // Enough for any field of letters, so that one pass is usually sufficient.
    let mut wanted = columns.saturating_mul(2).saturating_add(64);
    if text.len() <= wanted {
        return match clean(text) {
            Cow::Borrowed(clean) => truncate(clean, columns, ELLIPSIS),
            Cow::Owned(clean) => Cow::Owned(truncate(&clean, columns, ELLIPSIS).into_owned()),
        };
    }
    let mut start = CleanStart::of(text);
    let mut shown = String::new();
    while width(&shown) <= columns {
        let Some(more) = start.more(wanted) else { break };
        more.clone_into(&mut shown);
        wanted = wanted.saturating_mul(2);
    }
    Cow::Owned(truncate(&shown, columns, ELLIPSIS).into_owned())
}

/// Joins as many texts as fit with ` · `. The most important come first, and only the first may be cut.
#[must_use]
pub fn joined(words: &[&str], columns: usize) -> String {
    let mut line = String::new();
    for words in words {
        if line.is_empty() {
            line.push_str(&fit(words, columns));
        } else if width(&line) + 3 + width(words) <= columns {
            line.push_str(" · ");
            line.push_str(words);
        }
    }
    line
}

/// Cuts a text; an omitted part is replaced by the ellipsis, or as much of it as fits.
#[must_use]
pub fn truncate<'a>(text: &'a str, columns: usize, ellipsis: &str) -> Cow<'a, str> {
    let Some(_) = first_beyond(text, columns) else { return Cow::Borrowed(text) };
    let mark = &ellipsis[..first_beyond(ellipsis, columns).unwrap_or(ellipsis.len())];
    let end = first_beyond(text, columns.saturating_sub(width(mark))).unwrap_or(text.len());
    Cow::Owned(format!("{}{mark}", &text[..end]))
}

/// Cuts a line and keeps its styles; an omitted part is replaced by the ellipsis, or as much of it as fits, in the
/// style of the omitted text.
#[must_use]
pub fn truncate_line(line: &Line<'_>, columns: usize, ellipsis: &str) -> Line<'static> {
    let copy = |span: &Span<'_>| Span::styled(span.content.clone().into_owned(), span.style);
    let mut spans: Vec<Span<'static>> = Vec::new();
    if place_beyond(line, columns).is_none() {
        spans.extend(line.spans.iter().map(copy));
    } else {
        let mark = &ellipsis[..first_beyond(ellipsis, columns).unwrap_or(ellipsis.len())];
        let (last, end) = place_beyond(line, columns - width(mark)).unwrap_or_default();
        spans.extend(line.spans.iter().take(last).map(copy));
        if let Some(span) = line.spans.get(last) {
            spans.push(Span::styled(format!("{}{mark}", &span.content[..end]), span.style));
        }
    }
    Line { style: line.style, alignment: line.alignment, spans }
}

/// Cuts a path, or another text with telling ends, in the middle.
///
/// Keeps the last component of a path whole if there is room, and at the start as much as fits in two thirds.
#[must_use]
pub fn truncate_middle(text: &str, columns: usize) -> Cow<'_, str> {
    if first_beyond(text, columns).is_none() {
        return Cow::Borrowed(text);
    }
    let Some(room) = columns.checked_sub(width(ELLIPSIS)).filter(|room| *room > 0) else {
        return truncate(text, columns, ELLIPSIS);
    };
    let ends = last_columns(text, room);
    let tail = ends
        .match_indices('/')
        .map(|(at, _)| &ends[at..])
        .find(|tail| width(tail) <= room * 2 / 3)
        .or_else(|| ends.rfind('/').map(|at| &ends[at..]).filter(|tail| tail.len() > 1))
        .unwrap_or_else(|| last_columns(text, room.div_ceil(2)));
    let head = &text[..first_beyond(text, room - width(tail)).unwrap_or(text.len())];
    Cow::Owned(format!("{head}{ELLIPSIS}{tail}"))
}

/// The longest end of a text that fits.
fn last_columns(text: &str, columns: usize) -> &str {
    let mut room = columns;
    let mut start = text.len();
    for (at, grapheme) in text.grapheme_indices(true).rev() {
        let Some(left) = room.checked_sub(of_grapheme(grapheme)) else { break };
        (room, start) = (left, at);
    }
    &text[start..]
}

/// The start of the first grapheme that does not fit; `None` if all fit.
fn first_beyond(text: &str, columns: usize) -> Option<usize> {
    if text.len() <= columns && text.is_ascii() {
        return None;
    }
    let (mut at, mut room) = (0, columns);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        // Printable ASCII has a column each. What follows it may belong to its last character.
        let plain = rest.bytes().take(room.saturating_add(1)).take_while(is_printable).count();
        if plain > room {
            return Some(at + room);
        }
        let skipped = plain.saturating_sub(1);
        (at, room) = (at + skipped, room - skipped);
        for (nth, grapheme) in rest.get(skipped..).unwrap_or_default().graphemes(true).enumerate() {
            if nth > 0 && grapheme.bytes().all(|byte| is_printable(&byte)) {
                break;
            }
            match room.checked_sub(of_grapheme(grapheme)) {
                Some(left) => (at, room) = (at + grapheme.len(), left),
                None => return Some(at),
            }
        }
    }
    None
}

fn is_printable(byte: &u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// The same for a line: the span, and the byte in it.
fn place_beyond(line: &Line<'_>, columns: usize) -> Option<(usize, usize)> {
    let mut room = columns;
    for (nth, span) in line.spans.iter().enumerate() {
        if let Some(at) = first_beyond(&span.content, room) {
            return Some((nth, at));
        }
        room = room.saturating_sub(width(&span.content));
    }
    None
}

#[cfg(test)]
mod tests {
    use ratatui::style::Stylize as _;

    use super::*;

    #[test]
    fn words_that_do_not_fit_make_room_for_others() {
        let words = ["esc leave", "something longer", "tab"];
        assert_eq!(joined(&words, 40), "esc leave · something longer · tab");
        assert_eq!(joined(&words, 20), "esc leave · tab");
        assert_eq!(joined(&words, 9), "esc leave");
        assert_eq!(joined(&words, 5), "esc …");
        assert_eq!(joined(&[], 5), "");
    }

    #[test]
    fn a_text_is_cut_where_a_grapheme_ends() {
        for (text, columns, shown) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("abcd", 1, "…"),
            ("abcd", 0, ""),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("日本語", 2, "…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("", 0, ""),
        ] {
            assert_eq!(truncate(text, columns, ELLIPSIS), shown, "{text} {columns}");
        }
        assert_eq!(truncate("abcdef", 2, "..."), "..");
    }

    #[test]
    fn a_line_is_cut_with_its_styles() {
        let line = Line::from(vec!["ab".red(), "cd".blue(), "ef".into()]);
        assert_eq!(truncate_line(&line, 6, ELLIPSIS), line);
        assert_eq!(truncate_line(&line, 4, ELLIPSIS), Line::from(vec!["ab".red(), "c…".blue()]));
        assert_eq!(truncate_line(&line, 3, ELLIPSIS), Line::from(vec!["ab".red(), "…".blue()]));
        assert_eq!(truncate_line(&line, 2, ELLIPSIS), Line::from(vec!["a…".red()]));
    }

    #[test]
    fn a_path_keeps_both_ends() {
        let path = "/home/somebody/projects/offshoot/crates/tui/src/main.rs";
        for (columns, shown) in [
            (80, path),
            (40, "/home/somebody/p…/crates/tui/src/main.rs"),
            (20, "/home/s…/src/main.rs"),
            (10, "/…/main.rs"),
            (9, "…/main.rs"),
            (4, "/…rs"),
            (2, "…s"),
            (1, "…"),
            (0, ""),
        ] {
            assert_eq!(truncate_middle(path, columns), shown, "{columns}");
        }
    }

    #[test]
    fn a_field_cleans_what_it_shows() {
        assert_eq!(fit("\u{1b}[31mabcdef\u{1b}[0m", 8), "␛[31mab…");
        assert_eq!(fit("short", 10), "short");
        let long = format!("\u{2060}{}", "日本".repeat(100_000));
        assert_eq!(fit(&long, 15), "\\u{2060}日本日…");
        assert_eq!(fit(&"\u{301}".repeat(100_000), 7), "\\u{301…");
    }
}
