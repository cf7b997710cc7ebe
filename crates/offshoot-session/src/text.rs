//! Makes foreign text harmless. What a person reads is spelled out: prose on a screen ([`clean`], [`clean_lines`], [`one_line`]) and in
//! a file ([`spell_document`]), commands, files and diffs ([`spell_lines`]), paths and names ([`spell_name`]). From what is typed or
//! printed by a program, what a terminal would obey is removed ([`strip`]).

mod strip;
mod spelling;

use std::borrow::Cow;
use std::fmt::Display;

use unicode_segmentation::GraphemeCursor;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::path_words::{has_bytes, shell_bytes};

pub use spelling::{CleanStart, clean, clean_lines, spell_blanks, spell_document, spell_lines, spell_name};
pub use strip::{steers, strip, strip_lines, without_colours, without_erasures};

/// A number with its noun: `1 entry`, `2,000 entries`.
#[must_use]
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), noun(count, one, many))
}

/// The noun of a number that is written in another form than [`counted`]'s.
#[must_use]
pub fn noun<'a, N: Copy + PartialEq + From<u8>>(count: N, one: &'a str, many: &'a str) -> &'a str {
    if count == N::from(1) { one } else { many }
}

/// A word of a command line, quoted if a shell would not take it as it is. Bytes that are not UTF-8 (see
/// [`crate::path_words`]) are spelled as bash and zsh read them.
#[must_use]
pub fn shell_word(word: &str) -> String {
    if has_bytes(word) {
        return shell_bytes(word);
    }
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '~' | '+' | ':' | '@' | ',');
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A number with a comma between thousands.
#[must_use]
pub fn grouped<N: Display>(number: N) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A cost in dollars and cents, with a comma between thousands. Below a cent it has four decimals: most prompts cost less.
/// The order in which costs were added makes no difference.
#[must_use]
pub fn dollars(cost: f64) -> String {
    let nano = (cost * 1e9).round();
    let parts = (nano / 1e5).round();
    if parts != 0.0 && parts.abs() < 100.0 {
        return format!("${:.4}", parts / 1e4);
    }
    // A negative zero is a zero.
    let cents = (nano / 1e7).round() / 100.0 + 0.0;
    let text = format!("{cents:.2}");
    let whole = text.split_once('.').and_then(|(whole, rest)| Some((whole.parse::<u64>().ok()?, rest)));
    whole.map_or_else(|| format!("${text}"), |(whole, rest)| format!("${}.{rest}", grouped(whole)))
}

/// A rounded number such as 950, 1.2k, 34k, 5.6M.
#[must_use]
pub fn in_short(number: u64) -> String {
    let tenths = |unit: u64| (number / (unit / 10)).saturating_add(number % (unit / 10) / (unit / 20));
    match number {
        0..1_000 => number.to_string(),
        1_000..9_950 => format!("{}.{}k", tenths(1_000) / 10, tenths(1_000) % 10),
        9_950..999_500 => format!("{}k", (number + 500) / 1_000),
        _ => format!("{}.{}M", grouped(tenths(1_000_000) / 10), tenths(1_000_000) % 10),
    }
}

/// Cleans text ([`clean`]) and puts it on one line: white space collapses to one space, and more than `max` characters are cut with
/// `…`.
pub fn one_line(text: &str, max: usize) -> String {
    one_plain_line(text, max).unwrap_or_else(|| one_odd_line(text, max))
}

fn one_odd_line(text: &str, max: usize) -> String {
    let (mut line, mut length) = (String::new(), 0);
    // Cleaning all of a long text would be wasted: only its start fits.
    let start = text.char_indices().nth(looked_at(max)).map_or(text, |(end, _)| &text[..end]);
    for word in clean(start).split_whitespace() {
        if length > max {
            break;
        }
        if length > 0 {
            line.push(' ');
        }
        line.push_str(word);
        length += usize::from(length > 0) + word.chars().count();
    }
    if start.len() == text.len() && length <= max {
        return line;
    }
    let end = line.char_indices().nth(max.saturating_sub(1)).map_or(line.len(), |(end, _)| end);
    line.truncate(boundary_before(&line, end));
    line.truncate(line.trim_end().len());
    line.push('…');
    line
}

/// The end of the last grapheme that ends at or before `end`, a place in a text that is in memory as a whole.
fn boundary_before(text: &str, end: usize) -> usize {
    let mut cursor = GraphemeCursor::new(end, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(true) => end,
        _ => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
    }
}

/// [`one_line`] for text whose visible start is printable ASCII and white space, as most is.
fn one_plain_line(text: &str, max: usize) -> Option<String> {
    let bytes = text.as_bytes();
    let window = bytes.get(..looked_at(max)).unwrap_or(bytes);
    let mut line = Vec::with_capacity(window.len().min(max.saturating_add(3)));
    let mut is_apart = false;
    for byte in window {
        match byte {
            b' ' | b'\n' | b'\t' => is_apart = !line.is_empty(),
            b'!'..=b'~' => {
                if line.len() > max {
                    break;
                }
                if std::mem::take(&mut is_apart) {
                    line.push(b' ');
                }
                line.push(*byte);
            }
            _ => return None,
        }
    }
    let mut line = String::from_utf8(line).ok()?;
    if line.len() > max || window.len() < bytes.len() {
        line.truncate(max.saturating_sub(1));
        line.truncate(line.trim_end().len());
        line.push('…');
    }
    Some(line)
}

/// How many characters to read for a line of `max`.
fn looked_at(max: usize) -> usize {
    max.saturating_mul(4).saturating_add(64)
}

/// Cuts the text to the width, with `…` for the rest.
#[must_use]
pub fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if self::width(text) <= width {
        return Cow::Borrowed(text);
    }
    let mut used = 1; // the mark
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    let kept: String = text.chars().take_while(fits).collect();
    Cow::Owned(format!("{}…", kept.trim_end()))
}

/// The display width. Most texts are ASCII, except for the mark of a cut.
#[must_use]
pub fn width(text: &str) -> usize {
    let is_plain = |text: &str| text.bytes().fold(true, |is, byte| is & matches!(byte, b' '..=b'~'));
    match text.strip_suffix('…') {
        Some(before) if is_plain(before) => before.len() + 1,
        None if is_plain(text) => text.len(),
        _ => text.width(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_take_few_characters() {
        for (number, said) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1.0k"),
            (1_249, "1.2k"),
            (1_250, "1.3k"),
            (9_949, "9.9k"),
            (9_950, "10k"),
            (26_499, "26k"),
            (26_799, "27k"),
            (999_499, "999k"),
            (999_500, "1.0M"),
            (5_649_999, "5.6M"),
            (5_650_000, "5.7M"),
            (1_234_567_890, "1,234.6M"),
            (u64::MAX, "18,446,744,073,709.6M"),
        ] {
            assert_eq!(in_short(number), said);
        }
    }

    #[test]
    fn numbers_are_for_people() {
        assert_eq!([0, 1_234, 1_234_567].map(grouped), ["0", "1,234", "1,234,567"]);
        let costs = [0.0, 0.075, 12.345_6, 3977.5, 1_234_567.0, -1.0, f64::NAN].map(dollars);
        assert_eq!(costs, ["$0.00", "$0.08", "$12.35", "$3,977.50", "$1,234,567.00", "$-1.00", "$NaN"]);
        let small = [0.000_04, 0.000_05, 0.000_3, 0.009_94, 0.009_96, 0.01, 0.671, -0.000_01].map(dollars);
        assert_eq!(small, ["$0.00", "$0.0001", "$0.0003", "$0.0099", "$0.01", "$0.01", "$0.67", "$0.00"]);
        assert_eq!(
            [0usize, 1, 2, 26_799].map(|count| counted(count, "entry", "entries")),
            ["0 entries", "1 entry", "2 entries", "26,799 entries"]
        );
        assert_eq!([0u64, 1, 2].map(|count| counted(count, "entry", "entries")), ["0 entries", "1 entry", "2 entries"]);
        assert_eq!([0u64, 1, 2].map(|count| noun(count, "token", "tokens")), ["tokens", "token", "tokens"]);
    }

    #[test]
    fn a_file_keeps_its_text_and_steers_nothing() {
        for (stored, written) in [
            ("a\tb\r\nc\rd", "a\tb\nc␍d"),
            ("\u{1b}[31mred\u{9b}2J\u{202e}", "␛[31mred\\u{9b}2J\\u{202e}"),
            ("👩\u{200d}👩\u{200d}👧 می\u{200c}خواهم \u{a0}!", "👩\u{200d}👩\u{200d}👧 می\u{200c}خواهم \u{a0}!"),
        ] {
            assert_eq!(spell_document(stored), written);
        }
    }

    #[test]
    fn a_cut_leaves_graphemes_whole() {
        assert_eq!(one_line("ab👩\u{200d}👩\u{200d}👧 x", 5), "ab…");
        assert_eq!(one_line("👩\u{200d}👩\u{200d}👧 می\u{200c}خواهم", 40), "👩\u{200d}👩\u{200d}👧 می\u{200c}خواهم");
    }

    #[test]
    fn one_line_is_cut_with_a_mark() {
        assert_eq!(one_line("a\n  b\tc", 10), "a b c");
        assert_eq!(one_line("abcdefgh", 5), "abcd…");
        assert_eq!(one_line("abcde", 5), "abcde");
        assert_eq!(one_line(&"x ".repeat(100_000), 6), "x x x…");
    }
    #[test]
    fn plain_text_is_cut_as_any_other() {
        let words = format!("one two  three four\nfive \t{}six", " ".repeat(130));
        for max in 0..40 {
            for end in 0..=words.len() {
                let text = &words[..end];
                assert_eq!(one_plain_line(text, max), Some(one_odd_line(text, max)), "{end} {max}");
            }
        }
    }
}
