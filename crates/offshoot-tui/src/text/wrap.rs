//! Wraps lines into rows, lazily: only requested rows are laid out.

use std::ops::Range;

use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;

use super::ELLIPSIS;
use super::measure::of_grapheme;

#[must_use]
pub fn wrap<'a>(line: impl Into<Line<'a>>, columns: usize) -> Vec<Line<'static>> {
    rows(&line.into(), columns).map(|row| row.line()).collect()
}

/// The rows of a line, laid out on request; counting them allocates nothing.
///
/// Rows break at spaces, which are dropped there, and on either side of a wide character. A word wider than a row
/// starts its own row and is broken after a `/` in the second half of the row, or else between graphemes. A grapheme wider than a row is shown as `…`. Leading spaces
/// stay, unless they fill the row. An empty line is one empty row; with 0 columns there is no row.
#[must_use]
pub fn rows<'a>(line: &'a Line<'a>, columns: usize) -> WrappedRows<'a> {
    let start = WrapPosition::default();
    WrappedRows { line, columns, next: (columns > 0).then_some(start) }
}

#[derive(Debug, Clone)]
pub struct WrappedRows<'a> {
    line: &'a Line<'a>,
    columns: usize,
    next: Option<WrapPosition>,
}

#[derive(Debug, Clone)]
pub struct WrappedRow<'a> {
    line: &'a Line<'a>,
    columns: usize,
    from: WrapPosition,
    to: WrapPosition,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct WrapPosition {
    span: usize,
    /// In the content of the span.
    byte: usize,
    /// In the contents of all spans, concatenated.
    of_all: usize,
}

struct Filling {
    from: WrapPosition,
    fits: WrapPosition,
    columns: usize,
    inked: bool,
    before: Option<BreakClass>,
    may_break: Option<(WrapPosition, WrapPosition)>,
    /// Where a path that is wider than the row is broken.
    after_slash: Option<WrapPosition>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BreakClass {
    Space,
    Letter,
    Wide,
    /// Wide, and must not start a row.
    WideCloser,
}

impl Filling {
    fn new(from: WrapPosition) -> Self {
        Self { from, fits: from, columns: 0, inked: false, before: None, may_break: None, after_slash: None }
    }

    fn note_break(&mut self, kind: BreakClass, at: WrapPosition, after: WrapPosition) {
        match (kind, self.before) {
            (BreakClass::Space, Some(BreakClass::Space)) => {
                if let Some((_, resume)) = &mut self.may_break {
                    *resume = after;
                }
            }
            (BreakClass::Space, Some(_)) => self.may_break = Some((at, after)),
            (BreakClass::Wide, Some(BreakClass::Letter | BreakClass::Wide | BreakClass::WideCloser))
            | (BreakClass::Letter, Some(BreakClass::Wide | BreakClass::WideCloser)) => self.may_break = Some((at, at)),
            (BreakClass::Space | BreakClass::Wide | BreakClass::Letter, _) | (BreakClass::WideCloser, _) => {}
        }
    }
}

impl<'a> Iterator for WrappedRows<'a> {
    type Item = WrappedRow<'a>;

    fn next(&mut self) -> Option<WrappedRow<'a>> {
        let mut row = Filling::new(self.next?);
        for (at, grapheme, after) in graphemes(self.line, row.from) {
            let Some((kind, columns)) = break_class(grapheme, self.columns) else { continue };
            row.note_break(kind, at, after);
            row.before = Some(kind);
            if kind == BreakClass::Space {
                row.columns = row.columns.saturating_add(columns);
            } else if row.columns.saturating_add(columns) <= self.columns {
                row.columns += columns;
                row.inked = true;
                if grapheme == "/" && row.columns * 2 > self.columns {
                    row.after_slash = Some(after);
                }
            } else if row.inked {
                let within = row.after_slash.unwrap_or(at);
                let (to, resume) = row.may_break.unwrap_or((within, within));
                self.next = Some(resume);
                return Some(self.row(row.from, to));
            } else {
                // The spaces before a word that does not fit.
                row = Filling { columns, inked: true, before: Some(kind), ..Filling::new(at) };
            }
            if row.columns <= self.columns {
                row.fits = after;
            }
        }
        self.next = None;
        Some(self.row(row.from, row.fits))
    }
}

impl<'a> WrappedRows<'a> {
    fn row(&self, from: WrapPosition, to: WrapPosition) -> WrappedRow<'a> {
        WrappedRow { line: self.line, columns: self.columns, from, to }
    }
}

impl WrappedRow<'_> {
    /// The row's byte range in the line, over all spans.
    #[must_use]
    pub fn bytes(&self) -> Range<usize> {
        self.from.of_all..self.to.of_all
    }

    #[must_use]
    pub fn line(&self) -> Line<'static> {
        let mut spans: Vec<Span<'static>> = Vec::new();
        let mut current = None;
        for (at, grapheme, _) in graphemes(self.line, self.from) {
            if at.of_all >= self.to.of_all {
                break;
            }
            let shown = match break_class(grapheme, self.columns) {
                None => {
                    // No grapheme continues in the next span.
                    current = None;
                    continue;
                }
                Some(_) if of_grapheme(grapheme) > self.columns => ELLIPSIS,
                Some(_) => grapheme,
            };
            match spans.last_mut().filter(|_| current == Some(at.span)) {
                Some(span) => span.content.to_mut().push_str(shown),
                None => {
                    let style = self.line.spans.get(at.span).map(|span| span.style).unwrap_or_default();
                    spans.push(Span::styled(shown.to_owned(), style));
                }
            }
            current = Some(at.span);
        }
        Line { style: self.line.style, alignment: self.line.alignment, spans }
    }
}

/// The graphemes of a line from a position on, with the positions before and after each.
fn graphemes<'a>(
    line: &'a Line<'a>,
    from: WrapPosition,
) -> impl Iterator<Item = (WrapPosition, &'a str, WrapPosition)> {
    let mut passed = from.of_all - from.byte;
    line.spans.iter().enumerate().skip(from.span).flat_map(move |(span, content)| {
        let text = content.content.as_ref();
        let skipped = if span == from.span { from.byte } else { 0 };
        let before = passed;
        passed += text.len();
        let place = move |byte| WrapPosition { span, byte, of_all: before + byte };
        text[skipped..].grapheme_indices(true).map(move |(at, grapheme)| {
            let start = skipped + at;
            (place(start), grapheme, place(start + grapheme.len()))
        })
    })
}

/// A grapheme's class and its columns in rows of this width; `None` if it is not drawn.
fn break_class(grapheme: &str, columns: usize) -> Option<(BreakClass, usize)> {
    let wide = of_grapheme(grapheme);
    let first = grapheme.chars().next().filter(|_| wide > 0)?;
    let kind = match first {
        '\u{a0}' | '\u{2007}' | '\u{202f}' => BreakClass::Letter,
        at if at.is_whitespace() && at.len_utf8() == grapheme.len() => BreakClass::Space,
        '、' | '。' | '，' | '．' | '：' | '；' | '！' | '？' | '）' | '］' | '｝' | '」' | '』' | '】' | '》'
        | '〉' | 'ー' => BreakClass::WideCloser,
        _ if wide > 1 => BreakClass::Wide,
        _ => BreakClass::Letter,
    };
    Some((kind, if wide > columns { 1 } else { wide }))
}

#[cfg(test)]
mod tests {
    use ratatui::style::Stylize as _;

    use super::*;

    fn shown(text: &str, columns: usize) -> Vec<String> {
        wrap(text, columns).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rows_end_between_words() {
        for (text, columns, expected) in [
            ("", 5, vec![""]),
            ("one two three", 20, vec!["one two three"]),
            ("one two three", 8, vec!["one two", "three"]),
            ("one two three", 7, vec!["one two", "three"]),
            ("one  two   three", 5, vec!["one", "two", "three"]),
            ("a abcdefghij b", 4, vec!["a", "abcd", "efgh", "ij b"]),
            ("  indented words", 10, vec!["  indented", "words"]),
            ("        indented", 10, vec!["        in", "dented"]),
            ("        indented", 8, vec!["indented"]),
            ("abcd      ", 4, vec!["abcd"]),
            ("~/notes/of/today.md is new", 11, vec!["~/notes/of/", "today.md is", "new"]),
            ("see ~/notes/today.md", 12, vec!["see", "~/notes/", "today.md"]),
            ("a/bcdefghijklmn", 8, vec!["a/bcdefg", "hijklmn"]),
            ("          ", 4, vec!["    "]),
            ("a\u{a0}b c", 3, vec!["a\u{a0}b", "c"]),
        ] {
            assert_eq!(shown(text, columns), expected, "{text:?} {columns}");
        }
    }

    #[test]
    fn wide_characters_stay_whole() {
        for (text, columns, expected) in [
            ("日本語テキスト", 5, vec!["日本", "語テ", "キス", "ト"]),
            ("漢字。次", 4, vec!["漢", "字。", "次"]),
            ("see日本", 5, vec!["see日", "本"]),
            ("a日b", 1, vec!["a", "…", "b"]),
            ("👩\u{200d}👩\u{200d}👧👍🏽", 3, vec!["👩\u{200d}👩\u{200d}👧", "👍🏽"]),
            ("e\u{301}e\u{301}e\u{301}", 2, vec!["e\u{301}e\u{301}", "e\u{301}"]),
        ] {
            assert_eq!(shown(text, columns), expected, "{text:?} {columns}");
        }
    }

    #[test]
    fn styles_go_along() {
        let line = Line::from(vec!["one t".red(), "wo".blue(), " three".into()]).bold();
        assert_eq!(
            wrap(line, 7),
            [Line::from(vec!["one t".red(), "wo".blue()]).bold(), Line::from(vec!["three".into()]).bold()]
        );
    }

    #[test]
    fn a_row_says_where_it_stands() {
        let line = Line::from(vec!["one tw".into(), "o three".red()]);
        let places: Vec<_> = rows(&line, 7).map(|row| row.bytes()).collect();
        assert_eq!(places, [0..7, 8..13]);
    }

    /// The size matters: laying out the whole line for every frame once took seconds.
    #[test]
    fn of_a_megabyte_only_the_rows_on_the_screen_are_laid_out() {
        let line = Line::raw("word ".repeat(200_000));
        let seen: Vec<_> = rows(&line, 80).take(24).collect();
        assert_eq!(seen.last().map(|row| row.bytes().end), Some(24 * 80 - 1));
        assert_eq!(rows(&Line::raw("x".repeat(1 << 20)), 80).count(), (1_usize << 20).div_ceil(80));
    }

    /// Two texts separated by a control character must not join into a grapheme wider than both.
    #[test]
    fn what_is_left_out_keeps_its_neighbours_apart() {
        for row in wrap("⌨\u{7f}\u{fe0f}🏽", 3) {
            assert!(crate::text::line_width(&row) <= 3, "{row:?}");
        }
    }
}
