//! Cuts texts for a model: the first or last lines that fit, counted as in pi.
//!
//! There are limits of lines and bytes; the first one that is reached counts. Knows texts, not their source.

use serde::Serialize;

/// Lines of a result.
pub const MAX_LINES: u64 = 2000;
/// Bytes of a result.
pub const MAX_BYTES: u64 = 50 * 1024;
/// UTF-16 units of a matching line.
pub const MAX_LINE: usize = 500;
/// For results whose rows are limited otherwise: JavaScript's largest safe integer.
pub const NO_LINE_LIMIT: u64 = (1 << 53) - 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct TextLimits {
    pub lines: u64,
    /// In UTF-8.
    pub bytes: u64,
}

impl Default for TextLimits {
    fn default() -> Self {
        Self { lines: MAX_LINES, bytes: MAX_BYTES }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Hit {
    Lines,
    Bytes,
}

/// The visible part of a text, and its size. Serialises in pi's shape, as `details.truncation`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Truncation {
    pub content: String,
    pub truncated: bool,
    /// The limit that was reached first.
    pub truncated_by: Option<Hit>,
    /// Lines of the whole text; a final line feed starts no line.
    pub total_lines: u64,
    /// Bytes of the whole text.
    pub total_bytes: u64,
    pub output_lines: u64,
    pub output_bytes: u64,
    /// Whether only the end of a long line is shown (only by [`tail`]).
    pub last_line_partial: bool,
    /// Whether nothing is shown because the first line is too long (only by [`head`]).
    pub first_line_exceeds_limit: bool,
    pub max_lines: u64,
    pub max_bytes: u64,
}

impl Truncation {
    fn whole(text: &str, limits: TextLimits) -> Self {
        let (lines, bytes) = (count_lines(text), text.len() as u64);
        Self {
            content: text.to_owned(),
            truncated: false,
            truncated_by: None,
            total_lines: lines,
            total_bytes: bytes,
            output_lines: lines,
            output_bytes: bytes,
            last_line_partial: false,
            first_line_exceeds_limit: false,
            max_lines: limits.lines,
            max_bytes: limits.bytes,
        }
    }

    fn fits(&self) -> bool {
        self.total_lines <= self.max_lines && self.total_bytes <= self.max_bytes
    }

    fn cut(mut self, content: &str, lines: u64, by: Hit) -> Self {
        self.truncated = true;
        self.truncated_by = Some(by);
        self.output_lines = lines;
        self.output_bytes = content.len() as u64;
        self.content = content.to_owned();
        self
    }
}

/// A final line feed starts no line.
pub fn count_lines(text: &str) -> u64 {
    let feeds = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
    feeds + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

/// The first lines that fit, never a part of a line: if the first one is too long, nothing is shown.
pub fn head(text: &str, limits: TextLimits) -> Truncation {
    let all = Truncation::whole(text, limits);
    if all.fits() {
        return all;
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    let first = body.split('\n').next().unwrap_or_default();
    if first.len() as u64 > limits.bytes {
        return Truncation { first_line_exceeds_limit: true, ..all.cut("", 0, Hit::Bytes) };
    }
    let (mut end, mut lines, mut by) = (0, 0, Hit::Lines);
    for line in body.split('\n') {
        if lines >= limits.lines {
            break;
        }
        let next = if lines == 0 { line.len() } else { end + 1 + line.len() };
        if next as u64 > limits.bytes {
            by = Hit::Bytes;
            break;
        }
        (end, lines) = (next, lines + 1);
    }
    all.cut(body.get(..end).unwrap_or_default(), lines, by)
}

/// The last lines that fit. If even the last one is too long, its end is shown.
pub fn tail(text: &str, limits: TextLimits) -> Truncation {
    let all = Truncation::whole(text, limits);
    if all.fits() {
        return all;
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    let (mut start, mut lines) = (body.len(), 0);
    for line in body.rsplit('\n') {
        if lines >= limits.lines {
            break;
        }
        let next = if lines == 0 { body.len() - line.len() } else { start - 1 - line.len() };
        if (body.len() - next) as u64 > limits.bytes {
            if lines > 0 {
                return all.cut(body.get(start..).unwrap_or_default(), lines, Hit::Bytes);
            }
            let end = last_bytes(line, limits.bytes);
            let by = if limits.lines <= 1 { Hit::Lines } else { Hit::Bytes };
            return Truncation { last_line_partial: true, ..all.cut(end, 1, by) };
        }
        (start, lines) = (next, lines + 1);
    }
    all.cut(body.get(start..).unwrap_or_default(), lines, Hit::Lines)
}

/// The end of a text in at most `bytes` bytes, starting at a character.
fn last_bytes(text: &str, bytes: u64) -> &str {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let start = text.len().saturating_sub(bytes);
    let start = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text.get(start..).unwrap_or_default()
}

/// The start of a line longer than `max` UTF-16 units, marked as cut; `None` if it is not longer. A character is never
/// halved.
pub fn line(text: &str, max: usize) -> Option<String> {
    if text.len() <= max {
        return None;
    }
    let mut units = 0;
    for (at, character) in text.char_indices() {
        units += character.len_utf16();
        if units > max {
            return Some(format!("{}... [truncated]", text.get(..at).unwrap_or_default()));
        }
    }
    None
}

/// A size for people: `512B`, `1.5KB`, `2.0MB`.
pub fn size(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let amount = bytes as f64;
    match bytes {
        0..1024 => format!("{bytes}B"),
        1024..1_048_576 => format!("{:.1}KB", amount / 1024.0),
        _ => format!("{:.1}MB", amount / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn limits(lines: u64, bytes: u64) -> TextLimits {
        TextLimits { lines, bytes }
    }

    #[test]
    fn a_text_that_fits_is_left_alone() {
        for text in ["", "a", "a\n", "a\nb", "\n"] {
            for cut in [head, tail] {
                let shown = cut(text, limits(2, 4));
                assert_eq!((shown.content.as_str(), shown.truncated, shown.truncated_by), (text, false, None));
            }
        }
    }

    #[test]
    fn whole_lines_are_kept_from_the_side_asked_for() {
        let first = head("a\nb\nc\n", limits(2, 100));
        assert_eq!((first.content.as_str(), first.truncated_by, first.total_lines), ("a\nb", Some(Hit::Lines), 3));
        let last = tail("a\nb\nc\n", limits(2, 100));
        assert_eq!((last.content.as_str(), last.truncated_by, last.output_lines), ("b\nc", Some(Hit::Lines), 2));
        assert_eq!(head("aaa\nbbb\nccc", limits(9, 8)).content, "aaa\nbbb");
        assert_eq!(tail("aaa\nbbb\nccc", limits(9, 8)).content, "bbb\nccc");
    }

    #[test]
    fn a_line_that_is_too_long_shows_nothing_from_the_head_and_its_end_from_the_tail() {
        let first = head("aaaaa\nb", limits(9, 4));
        assert_eq!((first.content.as_str(), first.first_line_exceeds_limit), ("", true));
        let last = tail("b\naaaé", limits(9, 3));
        assert_eq!((last.content.as_str(), last.last_line_partial), ("aé", true));
        assert_eq!(tail("é", limits(9, 1)).content, "");
    }

    #[test]
    fn long_lines_are_counted_in_utf16_units_and_never_halve_a_character() {
        assert_eq!(line("abc", 3), None);
        assert_eq!(line("ééé", 3), None);
        assert_eq!(line("abcd", 3).unwrap(), "abc... [truncated]");
        assert_eq!(line("ab😀", 3).unwrap(), "ab... [truncated]");
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!([size(1023), size(1024), size(51_200), size(3 << 20)], ["1023B", "1.0KB", "50.0KB", "3.0MB"]);
    }

    proptest! {
        #[test]
        fn what_is_shown_is_the_longest_run_of_lines_that_fits(text in "[aé\n]{0,40}", lines in 1_u64..6, bytes in 1_u64..20) {
            let limits = limits(lines, bytes);
            let body = text.strip_suffix('\n').unwrap_or(&text);
            for (shown, is_head) in [(head(&text, limits), true), (tail(&text, limits), false)] {
                prop_assert!(!shown.truncated || shown.content.len() as u64 <= bytes);
                if shown.truncated && !shown.last_line_partial && !shown.first_line_exceeds_limit {
                    let all: Vec<&str> = body.split('\n').collect();
                    let count = usize::try_from(shown.output_lines).unwrap();
                    let (kept, more) = if is_head {
                        (all[..count].join("\n"), all[..(count + 1).min(all.len())].join("\n"))
                    } else {
                        (all[all.len() - count..].join("\n"), all[all.len().saturating_sub(count + 1)..].join("\n"))
                    };
                    prop_assert_eq!(&shown.content, &kept);
                    prop_assert!(shown.output_lines == lines || count == all.len() || more.len() as u64 > bytes);
                }
            }
        }
    }
}
