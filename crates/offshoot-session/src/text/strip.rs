//! Removes from text what a terminal would obey: escape sequences, and characters that steer or deceive. For what is typed,
//! pasted or printed by a program; what a person reads is spelled out instead ([`super::clean`]).

use std::borrow::Cow;

use memchr::memchr;
use std::str::Chars;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Longer graphemes are not writing: an emoji sequence has ten scalars, and Unicode's stream-safe text format allows
/// thirty marks on one base.
pub(super) const LONGEST_GRAPHEME: usize = 32;
const TAB: usize = 4;
pub(super) const NON_JOINER: char = '\u{200c}';
pub(super) const JOINER: char = '\u{200d}';

/// Puts text on one line, without anything that could move the cursor, change the terminal or deceive the eye.
///
/// Removes whole escape sequences (CSI, OSC, DCS, SOS, PM, APC and the short ones, in 7-bit and 8-bit form; of an
/// unterminated string only the introducer), control characters, bidirectional controls and default-ignorable
/// characters. Keeps combining marks on a base (up to 32 scalars per grapheme), U+FE0F, U+200D between the parts of an
/// emoji, and one U+200C or U+200D after a letter of a script that uses them (Arabic, the scripts of India and their
/// neighbours). A tab becomes four spaces, a line end one.
#[must_use]
pub fn strip(text: &str) -> Cow<'_, str> {
    stripped(text, LineEnds::Spaces)
}

/// Like [`strip`], but each of `\n`, `\r\n`, `\r`, U+0085, U+2028 and U+2029 becomes `\n`.
#[must_use]
pub fn strip_lines(text: &str) -> Cow<'_, str> {
    stripped(text, LineEnds::Kept)
}

/// Removes the sequences that set colours and styles (SGR), which a tool's output may have.
#[must_use]
pub fn without_colours(text: &str) -> Cow<'_, str> {
    without(text, &['m'])
}

/// Removes the sequences that erase, and those that go to a column, as progress bars use them.
#[must_use]
pub fn without_erasures(text: &str) -> Cow<'_, str> {
    without(text, &['J', 'K', 'G'])
}

/// Removes the control sequences that end in one of these letters.
fn without<'a>(text: &'a str, ends: &[char]) -> Cow<'a, str> {
    let mut out = String::new();
    let (mut rest, mut from) = (text, 0);
    while let Some(at) = memchr(0x1b, rest.as_bytes().get(from..).unwrap_or_default()).map(|at| from + at) {
        let (before, sequence) = rest.split_at(at);
        let parameters = |at: char| at.is_ascii_digit() || matches!(at, ';' | ':');
        let end = sequence.strip_prefix("\u{1b}[").map(|sequence| sequence.trim_start_matches(parameters));
        match end.and_then(|end| end.strip_prefix(ends)) {
            Some(after) => {
                out.push_str(before);
                (rest, from) = (after, 0);
            }
            None => from = at + 1,
        }
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Whether a character changes a terminal's state or the layout of the text around it: every control character but line
/// feed and tab, and the bidirectional controls.
#[must_use]
pub fn steers(at: char) -> bool {
    (at.is_control() && !matches!(at, '\n' | '\t')) || is_bidi_control(at)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnds {
    Kept,
    Spaces,
}

fn stripped(text: &str, ends: LineEnds) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~') || (byte == b'\n' && ends == LineEnds::Kept)) {
        return Cow::Borrowed(text);
    }
    let mut filtered = String::with_capacity(text.len());
    let mut source = Harmless::of(text, ends);
    loop {
        filtered.push_str(source.plain());
        let Some(at) = source.next() else { break };
        filtered.push(at);
    }
    Cow::Owned(whole_graphemes(&filtered))
}

/// How much printable ASCII a text begins with.
fn plain_start(text: &str) -> usize {
    text.bytes().position(|byte| !matches!(byte, b' '..=b'~')).unwrap_or(text.len())
}

/// Removes graphemes without width, joiners that join nothing, and the excess of overlong graphemes.
fn whole_graphemes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        // What follows printable ASCII may belong to its last character.
        let plain = plain_start(rest);
        let (plain, odd) = rest.split_at(if plain < rest.len() { plain.saturating_sub(1) } else { plain });
        out.push_str(plain);
        let mut seen = 0;
        for grapheme in odd.graphemes(true) {
            push_grapheme(&mut out, grapheme);
            seen += grapheme.len();
            if grapheme.len() == 1 {
                break;
            }
        }
        rest = odd.get(seen..).unwrap_or_default();
    }
    out
}

fn push_grapheme(out: &mut String, grapheme: &str) {
    if grapheme.len() == 1 {
        out.push_str(grapheme);
        return;
    }
    let start = out.len();
    let mut rest = grapheme.chars().take(LONGEST_GRAPHEME).peekable();
    let mut before = None;
    while let Some(at) = rest.next() {
        let is_kept = match at {
            JOINER => {
                before.is_some_and(is_joining)
                    || (before.is_some() && rest.peek().is_some_and(|next| next.width().unwrap_or(0) > 0))
            }
            NON_JOINER => before.is_some_and(is_joining),
            _ => true,
        };
        if is_kept {
            out.push(at);
            before = Some(at);
        }
    }
    if out.get(start..).is_none_or(|kept| columns(kept) == 0) {
        out.truncate(start);
    }
}

/// The width of a grapheme; 0 if it contains a control character.
pub(super) fn columns(grapheme: &str) -> usize {
    // Terminals give the halfwidth sound marks a cell of their own.
    let sound_marks = grapheme.chars().filter(|at| matches!(at, '\u{ff9e}' | '\u{ff9f}')).count();
    if grapheme.contains(char::is_control) { 0 } else { grapheme.width() + sound_marks }
}

/// Letters and marks of the scripts in which joiners have a meaning.
pub(super) fn is_joining(at: char) -> bool {
    matches!(at,
        '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{f00}'..='\u{109f}' | '\u{1700}'..='\u{18af}'
        | '\u{1900}'..='\u{1cff}' | '\u{a840}'..='\u{a87f}' | '\u{a8e0}'..='\u{a8ff}' | '\u{fb50}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}' | '\u{11000}'..='\u{11fff}' | '\u{1e900}'..='\u{1e95f}')
}
/// An iterator over the characters of a text that may be shown; reads no further than asked.
#[derive(Debug, Clone)]
struct Harmless<'a> {
    rest: Chars<'a>,
    ends: LineEnds,
    spaces: usize,
    /// Set once no string terminator follows, so that a text of introducers is searched once.
    endless: bool,
}

impl<'a> Harmless<'a> {
    fn of(text: &'a str, ends: LineEnds) -> Self {
        Self { rest: text.chars(), ends, spaces: 0, endless: false }
    }

    /// The printable ASCII that comes next, which is read with it.
    fn plain(&mut self) -> &'a str {
        let rest = self.rest.as_str();
        let (plain, after) = rest.split_at(if self.spaces > 0 { 0 } else { plain_start(rest) });
        self.rest = after.chars();
        plain
    }

    fn next_is(&mut self, wanted: impl Fn(char) -> bool) -> bool {
        let mut ahead = self.rest.clone();
        let found = ahead.next().is_some_and(wanted);
        if found {
            self.rest = ahead;
        }
        found
    }

    fn line_end(&self) -> char {
        if self.ends == LineEnds::Kept { '\n' } else { ' ' }
    }

    fn escape(&mut self) {
        let mut ahead = self.rest.clone();
        match ahead.next() {
            Some('[') => {
                self.rest = ahead;
                self.control_sequence();
            }
            Some(kind @ (']' | 'P' | 'X' | '^' | '_')) => {
                self.rest = ahead;
                self.string(kind == ']');
            }
            Some(' '..='/') => {
                while self.next_is(|at| matches!(at, ' '..='/')) {}
                self.next_is(|at| matches!(at, '0'..='~'));
            }
            Some('0'..='~') => self.rest = ahead,
            _ => {}
        }
    }

    fn control_sequence(&mut self) {
        while self.next_is(|at| matches!(at, ' '..='?')) {}
        self.next_is(|at| matches!(at, '@'..='~'));
    }

    /// Skips a string to its terminator. An operating system command ends before a line end.
    fn string(&mut self, command: bool) {
        if self.endless {
            return;
        }
        let mut ahead = self.rest.clone();
        loop {
            let before = ahead.clone();
            match ahead.next() {
                None => {
                    self.endless = true;
                    return;
                }
                Some('\n' | '\r') if command => return,
                Some('\u{7}' | '\u{9c}' | '\u{18}' | '\u{1a}') => break,
                Some('\u{1b}') => {
                    let mut after = ahead.clone();
                    // Another sequence ends the string too, and is then read itself.
                    ahead = if after.next() == Some('\\') { after } else { before };
                    break;
                }
                Some(_) => {}
            }
        }
        self.rest = ahead;
    }
}

impl Iterator for Harmless<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        if self.spaces > 0 {
            self.spaces -= 1;
            return Some(' ');
        }
        loop {
            match self.rest.next()? {
                '\u{1b}' => self.escape(),
                '\u{9b}' => self.control_sequence(),
                '\u{9d}' => self.string(true),
                '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => self.string(false),
                '\t' => {
                    self.spaces = TAB - 1;
                    return Some(' ');
                }
                '\r' => {
                    self.next_is(|at| at == '\n');
                    return Some(self.line_end());
                }
                '\n' | '\u{85}' | '\u{2028}' | '\u{2029}' => return Some(self.line_end()),
                at if at.is_control() || shows_as_nothing(at) => {}
                at => return Some(at),
            }
        }
    }
}

fn is_bidi_control(at: char) -> bool {
    matches!(at, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Unicode's default-ignorable characters and format controls, except those that words and emoji need.
fn shows_as_nothing(at: char) -> bool {
    is_bidi_control(at)
        || matches!(at,
            '\u{ad}' | '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'
            | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        for (hostile, shown) in [
            ("a\u{1b}[31mred\u{1b}[0m", "ared"),
            ("\u{1b}[2J\u{1b}[1;1Hx", "x"),
            ("\u{1b}[?1049hx\u{1b}[>4;2m", "x"),
            ("\u{9b}2Jx", "x"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{9d}0;title\u{9c}x", "x"),
            ("\u{1b}Pq#0;2;0;0;0\n-\u{1b}\\x", "x"),
            ("\u{90}q#0\u{9c}x", "x"),
            ("\u{1b}_Gf=32;AAAA\u{1b}\\x", "x"),
            ("\u{9f}Gi=1;AAAA\u{1b}\\x", "x"),
            ("\u{1b}^secret\u{1b}\\\u{1b}Xsos\u{1b}\\x", "x"),
            ("\u{1b}]0;cut by another\u{1b}[31mx", "x"),
            ("\u{1b}]never ended\nnext", "never ended next"),
            ("\u{1b}Pnever ended", "never ended"),
            ("\u{1b}(Bx\u{1b}#8y\u{1b}cz\u{1b}7", "xyz"),
            ("\u{1b}", ""),
            ("\u{1b}\u{1b}[31mx", "x"),
            ("\u{1b}é", "é"),
            ("a\u{8}b\u{0}c\u{7f}d\u{84}", "abcd"),
        ] {
            assert_eq!(strip(hostile), shown, "{hostile:?}");
        }
    }

    #[test]
    fn nothing_deceives_the_eye() {
        for (hostile, shown) in [
            ("\u{202e}abc\u{2066}\u{61c}\u{200f}", "abc"),
            ("pass\u{200b}word\u{ad}\u{feff}\u{2060}", "password"),
            ("x\u{e0041}\u{e0042}y", "xy"),
            ("\u{115f}\u{3164}a\u{ffa0}", "a"),
            ("\u{301}a", "a"),
            ("a\u{200d}b\u{200d}", "ab"),
            ("pass\u{200c}word", "password"),
            ("م\u{200c}\u{200c}\u{200d}", "م\u{200c}"),
            ("\u{200d}\u{fe0f}", ""),
            ("a\u{fe0e}", "a"),
        ] {
            assert_eq!(strip(hostile), shown, "{hostile:?}");
        }
    }

    #[test]
    fn what_people_write_stays() {
        for text in [
            "plain",
            "héé\u{301}",
            "日本語",
            "👩\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}",
            "👍🏽",
            "🇩🇪",
            "क्षि",
            "한국어",
            "لا",
            "می\u{200c}خواهم",
            "ه\u{200d}.ق",
            "क\u{94d}\u{200d}ष",
            "क\u{94d}\u{200c}ष",
            "ශ\u{dca}\u{200d}රී",
            "a\u{a0}b",
        ] {
            assert_eq!(strip(text), text);
        }
    }

    #[test]
    fn only_colours_are_taken_out() {
        for (output, left) in [
            ("a\u{1b}[31mb\u{1b}[38:5:3;1mc\u{1b}[m", "abc"),
            ("a\u{1b}[2Kb\u{1b}[", "a\u{1b}[2Kb\u{1b}["),
            ("\u{1b}[\u{1b}[1mx", "\u{1b}[x"),
        ] {
            assert_eq!(without_colours(output), left, "{output:?}");
        }
        assert!(matches!(without_colours("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn lines_end_and_tabs_stop() {
        assert_eq!(strip("a\tb\nc\r\nd\re"), "a    b c d e");
        assert_eq!(strip_lines("a\tb\nc\r\nd\re\u{2028}f\u{85}g"), "a    b\nc\nd\ne\nf\ng");
        assert!(matches!(strip("as it is"), Cow::Borrowed(_)));
        assert!(matches!(strip_lines("as it\nis"), Cow::Borrowed(_)));
    }

    /// Printable ASCII is copied as it is, and what follows may join its last character.
    #[test]
    fn plain_stretches_change_nothing() {
        let alphabet = ['a', ' ', '\t', '\n', '\u{1b}', '[', '\u{301}', JOINER, '👩', '\u{600}', '🇩', '日'];
        for number in 0..alphabet.len().pow(4) {
            let at = |place: u32| alphabet[number / alphabet.len().pow(place) % alphabet.len()];
            let text: String = (0..4).map(at).collect();
            let filtered: String = Harmless::of(&text, LineEnds::Spaces).collect();
            let mut wanted = String::new();
            filtered.graphemes(true).for_each(|grapheme| push_grapheme(&mut wanted, grapheme));
            assert_eq!(strip(&text), wanted, "{text:?}");
        }
    }

    #[test]
    fn a_grapheme_has_an_end() {
        let tower = format!("a{}b", "\u{301}".repeat(100_000));
        assert_eq!(strip(&tower), format!("a{}b", "\u{301}".repeat(LONGEST_GRAPHEME - 1)));
    }

    /// Each introducer used to search to the end of the text.
    #[test]
    fn introducers_without_an_end_are_searched_once() {
        let many = "\u{90}x".repeat(500_000);
        assert_eq!(strip(&many).len(), 500_000);
    }
}
