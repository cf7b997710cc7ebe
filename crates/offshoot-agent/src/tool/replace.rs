//! Several replacements in one text. Each old text must occur once, in the original text. Text outside the replacements
//! keeps its bytes, including other line ends and the byte order mark.
//!
//! An old text that does not occur exactly is searched as pi does: without spaces at line ends, with plain quotes,
//! dashes and spaces. Then the touched lines take that simple form. Knows texts, no files.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) old: String,
    pub(crate) new: String,
}

/// `before` and `after` have plain line feeds; `bytes` is for the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Replaced {
    pub(crate) before: String,
    pub(crate) after: String,
    pub(crate) bytes: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("the old text of edits[{0}] is empty")]
    Empty(usize),
    #[error(
        "the old text of edits[{0}] is not in the file; it must match character by character, spaces and line ends too"
    )]
    Missing(usize),
    #[error("the old text of edits[{0}] is in the file {1} times; add lines around it until it is there once")]
    Ambiguous(usize, usize),
    #[error("edits[{0}] and edits[{1}] overlap; make one of them")]
    Overlap(usize, usize),
    #[error("the new text is the same as the old: nothing would change")]
    NoChange,
}

struct TextMatch<'a> {
    number: usize,
    range: Range<usize>,
    new: &'a str,
}

pub(crate) fn replace(text: &str, replacements: &[Replacement]) -> Result<Replaced, Refused> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let ending = if first_line_end_is_crlf(body) { "\r\n" } else { "\n" };
    let plain = with_line_feeds(body);
    let wanted: Vec<Replacement> = replacements
        .iter()
        .map(|one| Replacement { old: with_line_feeds(&one.old), new: with_line_feeds(&one.new) })
        .collect();
    if let Some(empty) = wanted.iter().position(|one| one.old.is_empty()) {
        return Err(Refused::Empty(empty));
    }
    let parts = if wanted.iter().all(|one| plain.contains(&one.old)) {
        let found = find(&plain, &wanted)?;
        found.into_iter().map(|one| (one.range, one.new.to_owned())).collect()
    } else {
        let simple = simplified(&plain);
        whole_lines(&plain, &simple, find(&simple, &wanted)?)
    };
    let mark = text.strip_suffix(body).unwrap_or_default();
    let mut bytes = mark.to_owned();
    let places = Places::of(body);
    let mut at = 0;
    for (range, new) in parts {
        bytes.push_str(body.get(at..places.of_plain(range.start)).unwrap_or_default());
        bytes.push_str(&new.replace('\n', ending));
        at = places.of_plain(range.end);
    }
    bytes.push_str(body.get(at..).unwrap_or_default());
    let after = with_line_feeds(bytes.get(mark.len()..).unwrap_or_default());
    if after == plain { Err(Refused::NoChange) } else { Ok(Replaced { before: plain, after, bytes }) }
}

/// Finds each old text once; sorted by position.
fn find<'a>(text: &str, wanted: &'a [Replacement]) -> Result<Vec<TextMatch<'a>>, Refused> {
    let simple = simplified(text);
    let mut found = Vec::with_capacity(wanted.len());
    for (number, one) in wanted.iter().enumerate() {
        let plain_old = simplified(&one.old);
        let old = if text.contains(&one.old) { &one.old } else { &plain_old };
        // The simple form must be unique too; an empty one would match everywhere.
        let times =
            if plain_old.is_empty() { text.matches(&one.old).count() } else { simple.matches(&plain_old).count() };
        let start = text.find(old).filter(|_| !old.is_empty()).ok_or(Refused::Missing(number))?;
        if times > 1 {
            return Err(Refused::Ambiguous(number, times));
        }
        found.push(TextMatch { number, range: start..start + old.len(), new: &one.new });
    }
    found.sort_by_key(|one| one.range.start);
    let clash = found.iter().zip(found.iter().skip(1)).find(|(one, next)| one.range.end > next.range.start);
    clash.map_or(Ok(()), |(one, next)| Err(Refused::Overlap(one.number, next.number)))?;
    Ok(found)
}

/// Converts matches in the simple form to whole lines of the plain text, which take the simple form.
fn whole_lines(plain: &str, simple: &str, found: Vec<TextMatch<'_>>) -> Vec<(Range<usize>, String)> {
    let (plain_lines, simple_lines) = (line_starts(plain), line_starts(simple));
    let start = |starts: &[usize], line: usize, end: usize| starts.get(line).copied().unwrap_or(end);
    let line_of = |at: usize| simple_lines.partition_point(|start| *start <= at) - 1;
    // First and next-to-last line of each group, and its text so far; `done` is how far in the simple form that text
    // goes.
    let mut groups: Vec<(Range<usize>, String, usize)> = Vec::new();
    for one in found {
        let first = line_of(one.range.start);
        let next = line_of(one.range.end.saturating_sub(1).max(one.range.start)) + 1;
        let from = start(&simple_lines, first, simple.len());
        match groups.last_mut().filter(|(lines, ..)| first < lines.end) {
            Some((lines, text, done)) => {
                text.push_str(simple.get(*done..one.range.start).unwrap_or_default());
                text.push_str(one.new);
                (lines.end, *done) = (lines.end.max(next), one.range.end);
            }
            None => {
                let before = simple.get(from..one.range.start).unwrap_or_default();
                groups.push((first..next, format!("{before}{}", one.new), one.range.end));
            }
        }
    }
    let finished = groups.into_iter().map(|(lines, text, done)| {
        let end = start(&simple_lines, lines.end, simple.len());
        let range = start(&plain_lines, lines.start, plain.len())..start(&plain_lines, lines.end, plain.len());
        (range, text + simple.get(done..end).unwrap_or_default())
    });
    finished.collect()
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect()
}

fn first_line_end_is_crlf(text: &str) -> bool {
    text.find('\n').is_some_and(|at| text.as_bytes().get(at.wrapping_sub(1)) == Some(&b'\r'))
}

fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Maps positions in the text with plain line feeds to the original text.
struct Places {
    /// Positions in the plain text before which one more byte was dropped.
    shorter_from: Vec<usize>,
}

impl Places {
    fn of(text: &str) -> Self {
        let pairs = memchr::memmem::find_iter(text.as_bytes(), b"\r\n");
        Self { shorter_from: pairs.enumerate().map(|(number, at)| at - number).collect() }
    }

    fn of_plain(&self, at: usize) -> usize {
        at + self.shorter_from.partition_point(|place| *place < at)
    }
}

/// The simple form: compatible characters, no spaces at line ends, plain quotes, dashes and spaces.
fn simplified(text: &str) -> String {
    let text: String = text.nfkc().collect();
    let mut simple = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            simple.push('\n');
        }
        simple.extend(line.trim_end_matches(is_space).chars().map(plain_character));
    }
    simple
}

/// JavaScript's white space.
fn is_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

fn plain_character(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edits(pairs: &[(&str, &str)]) -> Vec<Replacement> {
        pairs.iter().map(|(old, new)| Replacement { old: (*old).to_owned(), new: (*new).to_owned() }).collect()
    }

    fn replaced(text: &str, pairs: &[(&str, &str)]) -> Result<String, Refused> {
        replace(text, &edits(pairs)).map(|replaced| replaced.bytes)
    }

    #[test]
    fn all_replacements_are_looked_for_in_the_text_as_it_was() {
        assert_eq!(replaced("a b c", &[("c", "a"), ("a", "c")]).unwrap(), "c b a");
        assert_eq!(replaced("one\ntwo\n", &[("two\n", "")]).unwrap(), "one\n");
    }

    #[test]
    fn what_cannot_be_done_is_refused_with_the_number_of_the_edit() {
        assert_eq!(replaced("a", &[("a", "b"), ("", "x")]), Err(Refused::Empty(1)));
        assert_eq!(replaced("a", &[("a", "b"), ("x", "y")]), Err(Refused::Missing(1)));
        assert_eq!(replaced("a a", &[("a", "b")]), Err(Refused::Ambiguous(0, 2)));
        assert_eq!(replaced("abc", &[("bc", "x"), ("ab", "y")]), Err(Refused::Overlap(1, 0)));
        assert_eq!(replaced("abc", &[("b", "b")]), Err(Refused::NoChange));
        assert_eq!(replaced("ab\ncd", &[("   ", "x")]), Err(Refused::Missing(0)));
    }

    #[test]
    fn line_ends_and_the_mark_stay_and_new_lines_take_the_first_ones_form() {
        assert_eq!(replaced("\u{feff}a\r\nb\r\n", &[("a\nb", "x\ny\nz")]).unwrap(), "\u{feff}x\r\ny\r\nz\r\n");
        assert_eq!(replaced("a\nb\r\nc\rd", &[("a", "x\n")]).unwrap(), "x\n\nb\r\nc\rd");
        assert_eq!(replaced("a\r\nb\nc\n", &[("c", "x\r\ny")]).unwrap(), "a\r\nb\nx\r\ny\n");
    }

    #[test]
    fn spaces_at_line_ends_quotes_and_dashes_may_differ_and_only_touched_lines_change() {
        let text = "let a = “x” – y;  \nlet b = ‘z’;  \nlet c;  \n";
        assert_eq!(replaced(text, &[("let a = \"x\" - y;\nlet b", "let d")]).unwrap(), "let d = 'z';\nlet c;  \n");
        assert_eq!(replaced("a \n  ", &[("a\n", "b\n")]).unwrap(), "b\n  ");
        assert_eq!(replaced("“a”\n\"a\"", &[("\"a\"", "x")]), Err(Refused::Ambiguous(0, 2)));
        assert_eq!(replaced("“a” “b”", &[("\"a\"", "x"), ("\"b\"", "y")]).unwrap(), "x y");
    }

    proptest! {
        #[test]
        fn exact_replacement_equals_the_naive_one(before in "[abé\n]{0,12}", old in "[xyz]{1,4}", after in "[abé\n]{0,12}", new in "[a-z\n]{0,6}") {
            prop_assume!(new != old);
            let text = format!("{before}{old}{after}");
            prop_assert_eq!(replaced(&text, &[(&old, &new)]).unwrap(), text.replacen(&old, &new, 1));
        }

        #[test]
        fn untouched_lines_keep_their_bytes(lines in prop::collection::vec(("[ab ’“\u{a0}]{0,5}", prop_oneof![Just("\n"), Just("\r\n")]), 0..6), at in 0_usize..6) {
            let at = at.min(lines.len());
            let join = |lines: &[(String, &str)]| lines.iter().map(|(line, end)| format!("{line}{end}")).collect::<String>();
            let text = format!("{}it’s \n{}", join(&lines[..at]), join(&lines[at..]));
            let result = replaced(&text, &[("it's", "ok")]).unwrap();
            prop_assert!(result.starts_with(&join(&lines[..at])) && result.ends_with(&join(&lines[at..])), "{result:?}");
        }
    }
}
