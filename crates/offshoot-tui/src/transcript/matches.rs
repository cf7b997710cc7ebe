//! Finds a text in rendered rows: a match may go on in the next row, and blanks count as one. Finds the same match where
//! parts are folded. It knows no session and no screen.

use std::ops::Range;

use ratatui::text::Line;
use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::message::RenderedRows;
use crate::text;

/// The end of a row that its text fills: a blank, or the middle of a word that was too long.
const JOINT: char = '\n';

/// A text to search for. Without capital letters it ignores case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Needle {
    letters: Vec<char>,
    is_exact: bool,
}

/// The part of a match in one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MatchSegment {
    pub(super) row: usize,
    pub(super) columns: Range<u16>,
}

/// The rows of a match; never empty.
pub(super) type RowMatch = Vec<MatchSegment>;

#[derive(Debug, Clone, Copy)]
struct Glyph {
    letter: char,
    row: usize,
    columns: (u16, u16),
}

impl Needle {
    /// `None` if there is nothing but blanks.
    pub(super) fn new(query: &str) -> Option<Self> {
        let letters: Vec<char> = query.split_whitespace().collect::<Vec<_>>().join(" ").nfc().collect();
        let is_exact = letters.iter().any(|letter| letter.is_uppercase());
        (!letters.is_empty()).then_some(Self { letters, is_exact })
    }

    /// Whether each text that contains this also contains `other`.
    pub(super) fn is_narrower_than(&self, other: &Self) -> bool {
        self.letters.windows(other.letters.len()).any(|part| part == other.letters)
    }

    /// The matches in rows of this width, in order. Matches do not overlap.
    pub(super) fn find(&self, lines: &[Line<'_>], width: usize) -> Vec<RowMatch> {
        let Some(first) = self.letters.first() else { return Vec::new() };
        let glyphs = self.glyphs(lines, width);
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(glyph) = glyphs.get(at) {
            let end = (glyph.letter == *first).then(|| self.end_of_match(&glyphs, at)).flatten();
            if let Some(matched) = end.and_then(|end| glyphs.get(at..end)) {
                found.push(segments(matched));
            }
            at = end.unwrap_or(at + 1);
        }
        found
    }

    fn end_of_match(&self, glyphs: &[Glyph], start: usize) -> Option<usize> {
        let mut at = start;
        for letter in &self.letters {
            let mut next = glyphs.get(at)?.letter;
            if next == JOINT && *letter != ' ' {
                at += 1;
                next = glyphs.get(at)?.letter;
            }
            if next != *letter && !(next == JOINT && *letter == ' ') {
                return None;
            }
            at += 1;
        }
        Some(at)
    }

    fn glyphs(&self, lines: &[Line<'_>], width: usize) -> Vec<Glyph> {
        let mut glyphs: Vec<Glyph> = Vec::new();
        // The blank before the next letter, if there is one.
        let mut blank = None;
        for (row, line) in lines.iter().enumerate() {
            let (mut column, mut end) = (0, None);
            for grapheme in line.spans.iter().flat_map(|span| span.content.graphemes(true)) {
                let start = column;
                column += text::width(grapheme);
                if grapheme.chars().all(char::is_whitespace) {
                    blank = blank.or(Some(' '));
                    continue;
                }
                end = Some(column);
                let columns = (short(start), short(column));
                if let Some(letter) = blank.take().filter(|_| !glyphs.is_empty()) {
                    glyphs.push(Glyph { letter, row, columns: (columns.0, columns.0) });
                }
                self.fold_case(grapheme, |letter| glyphs.push(Glyph { letter, row, columns }));
            }
            // A wide character that found no room leaves a column empty.
            blank = Some(if end.is_some_and(|end| end + 1 >= width) { JOINT } else { ' ' });
        }
        glyphs
    }

    fn fold_case(&self, grapheme: &str, mut push: impl FnMut(char)) {
        match (self.is_exact, grapheme.as_bytes()) {
            (true, [letter]) => push(char::from(*letter)),
            (false, [letter]) => push(char::from(letter.to_ascii_lowercase())),
            (true, _) => grapheme.nfc().for_each(push),
            (false, _) => grapheme.nfc().flat_map(char::to_lowercase).for_each(push),
        }
    }
}

fn short(column: usize) -> u16 {
    u16::try_from(column).unwrap_or(u16::MAX)
}

fn segments(glyphs: &[Glyph]) -> RowMatch {
    let mut segments: RowMatch = Vec::new();
    for glyph in glyphs.iter().filter(|glyph| glyph.columns.0 < glyph.columns.1) {
        match segments.last_mut().filter(|segment| segment.row == glyph.row) {
            Some(segment) => segment.columns.end = glyph.columns.1,
            None => segments.push(MatchSegment { row: glyph.row, columns: glyph.columns.0..glyph.columns.1 }),
        }
    }
    segments
}

/// Where the rows show a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowOfMatch {
    /// If it is folded, the first row of its part.
    pub(super) row: usize,
    /// The part that hides it.
    pub(super) folded: Option<usize>,
}

/// Where the rows of a group show a match in its unfolded rows. Both have the same parts. What a folded part shows is the
/// beginning or the end of what it shows unfolded.
pub(super) fn row_of(now: &RenderedRows, all: &RenderedRows, found: &RowMatch) -> RowOfMatch {
    let (first, last) = (found.first().map_or(0, |part| part.row), found.last().map_or(0, |part| part.row));
    let at = all.folds.iter().rposition(|(row, _)| *row <= first);
    let start = |rows: &RenderedRows| at.and_then(|at| rows.folds.get(at)).map_or(0, |(row, _)| *row);
    let next = at.map_or(0, |at| at + 1);
    let end = |rows: &RenderedRows| rows.folds.get(next).map_or(rows.lines.len(), |(row, _)| *row);
    let (all_start, all_end, now_start, now_end) = (start(all), end(all), start(now), end(now));
    let pair = |back: bool| {
        let all = all.lines.get(all_start..all_end).unwrap_or_default();
        let now = now.lines.get(now_start..now_end).unwrap_or_default();
        match back {
            false => all.iter().zip(now).take_while(|(all, now)| all == now).count(),
            true => all.iter().rev().zip(now.iter().rev()).take_while(|(all, now)| all == now).count(),
        }
    };
    if last < all_start + pair(false) {
        return RowOfMatch { row: now_start + first - all_start, folded: None };
    }
    if first + pair(true) >= all_end {
        return RowOfMatch { row: (now_end + first).saturating_sub(all_end), folded: None };
    }
    RowOfMatch { row: now_start, folded: at.and_then(|at| all.folds.get(at)).map(|(_, part)| *part) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The matches as `row:start..end`, those of one match joined by `+`.
    fn found(query: &str, rows: &[&str], width: usize) -> String {
        let lines: Vec<Line<'_>> = rows.iter().map(|row| Line::raw(*row)).collect();
        let segment = |part: &MatchSegment| format!("{}:{}..{}", part.row, part.columns.start, part.columns.end);
        let shown = |found: &RowMatch| found.iter().map(segment).collect::<Vec<_>>().join("+");
        let found = Needle::new(query).map(|needle| needle.find(&lines, width)).unwrap_or_default();
        found.iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn small_letters_ignore_case_and_capitals_do_not() {
        let rows = ["Error, error and ERROR", "É é"];
        assert_eq!(found("error", &rows, 80), "0:0..5 0:7..12 0:17..22");
        assert_eq!(found("Error", &rows, 80), "0:0..5");
        assert_eq!(found("é", &rows, 80), "1:0..1 1:2..3");
        assert_eq!(found("aa", &["aaaaa"], 80), "0:0..2 0:2..4", "matches do not overlap");
        assert_eq!((found("  ", &rows, 80), found("none", &rows, 80)), (String::new(), String::new()));
    }

    #[test]
    fn accents_and_wide_characters_have_their_columns() {
        assert_eq!(found("café", &["  un cafe\u{301} noir"], 80), "0:5..9", "both spellings of an accent are one");
        assert_eq!(found("cafe\u{301}", &["  un café noir"], 80), "0:5..9");
        assert_eq!(found("本語", &["日本語"], 80), "0:2..6");
        assert_eq!(found("👩\u{200d}👧", &["x 👩\u{200d}👧 y"], 80), "0:2..4");
        assert_eq!(found("y", &["👩\u{200d}👧 y"], 80), "0:3..4");
    }

    #[test]
    fn a_match_goes_on_in_the_next_row() {
        assert_eq!(found("one two", &["  one", "  two"], 20), "0:2..5+1:2..5");
        assert_eq!(found("one  two", &["one   two"], 20), "0:0..9", "blanks count as one");
        assert_eq!(found("abcdef", &["  abcd", "  ef"], 6), "0:2..6+1:2..4", "a word that was too long for its row");
        assert_eq!(found("abcd ef", &["  abcd", "  ef"], 6), "0:2..6+1:2..4");
        assert_eq!(found("abcdef", &["  abcd", "  ef"], 20), "", "a row that has room ends with its word");
        assert_eq!(found("abcdef", &["  abcd", "", "  ef"], 6), "", "an empty row parts words");
        assert_eq!(found("日本語", &["  日本", "  語"], 7), "0:2..6+1:2..4");
    }

    #[test]
    fn a_longer_text_is_narrower() {
        let narrows = |new: &str, old: &str| Needle::new(new).unwrap().is_narrower_than(&Needle::new(old).unwrap());
        assert!(narrows("error", "err") && narrows("erroR", "err") && narrows("an error", "error"));
        assert!(!narrows("err", "error") && !narrows("error", "Err"));
    }
}
