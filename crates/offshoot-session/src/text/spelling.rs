//! Spells out characters that a reader cannot see, so that what is shown is what is there. [`super::strip`] removes them instead.
//! Letters that look like other letters stay as they are.

use std::borrow::Cow;

use unicode_properties::{GeneralCategory, UnicodeEmoji as _, UnicodeGeneralCategory as _};
use unicode_segmentation::{Graphemes, UnicodeSegmentation as _};

use super::strip::{JOINER, LONGEST_GRAPHEME, NON_JOINER, columns, is_joining};

const EMOJI_STYLE: char = '\u{fe0f}';
const TEXT_STYLE: char = '\u{fe0e}';
const KEYCAP: char = '\u{20e3}';
const TAB: &str = "    ";
/// The tags of the three flags that are sequences of tags. Other tags could carry a text.
const FLAG_TAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// What a text is. All are spelled out alike but for blanks and line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// A path, a name, a host, a rule: every blank but the space is spelled out.
    Name,
    /// A command, a file's text, a diff: line feeds and tabs stay.
    Code,
    /// Prose for a file: line feeds, tabs and blanks stay.
    Document,
    /// Prose for a screen: a tab is four spaces.
    Lines,
    /// Prose on one line: a line end is a space.
    Row,
}

/// Spells out a command, a file's text or a diff: line feeds and tabs stay. A control character becomes its picture, such
/// as `␛`, any other character that cannot be seen its number, such as `\u{202e}`: format characters, separators and blanks
/// but the space, default-ignorable and unassigned ones, marks without a base. Emoji sequences stay, as do joiners after
/// letters that use them.
#[must_use]
pub fn spell_lines(text: &str) -> Cow<'_, str> {
    spell(text, Spelling::Code)
}

/// [`spell_lines`] for a path, a name, a host or a rule: line feeds and tabs are spelled out, too.
#[must_use]
pub fn spell_name(text: &str) -> Cow<'_, str> {
    spell(text, Spelling::Name)
}

/// [`spell_lines`] for prose in a file: blanks of any kind stay, `\r\n` is `\n`.
#[must_use]
pub fn spell_document(text: &str) -> Cow<'_, str> {
    spell(text, Spelling::Document)
}

/// Spells out the blanks but the space, which prose keeps: for code in a text that is clean otherwise.
#[must_use]
pub fn spell_blanks(text: &str) -> Cow<'_, str> {
    let is_odd = |c: char| !c.is_ascii() && c.general_category() == GeneralCategory::SpaceSeparator;
    if !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| if is_odd(c) { push_spelled(c, &mut out) } else { out.push(c) });
    Cow::Owned(out)
}

/// Prose on one line of a screen, spelled out as by [`spell_lines`]. Blanks of any kind stay, a tab is four spaces, a line feed or
/// `\r\n` a space. To clean a text again, or one that is spelled out, changes nothing.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    spell(text, Spelling::Row)
}

/// Like [`clean`], but line feeds stay and `\r\n` is one.
#[must_use]
pub fn clean_lines(text: &str) -> Cow<'_, str> {
    spell(text, Spelling::Lines)
}

/// The start of a text as [`clean`] returns it, extended on demand. Reads no more of the text than is asked for.
#[derive(Debug, Clone)]
pub struct CleanStart<'a> {
    rest: Graphemes<'a>,
    start: String,
}

impl<'a> CleanStart<'a> {
    /// The empty start of a text.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        Self { rest: text.graphemes(true), start: String::new() }
    }

    /// Adds up to so many graphemes and returns the whole start; `None` at the end of the text.
    pub fn more(&mut self, graphemes: usize) -> Option<&str> {
        let before = self.start.len();
        for grapheme in self.rest.by_ref().take(graphemes) {
            push(grapheme, Spelling::Row, &mut self.start);
        }
        (self.start.len() > before).then_some(self.start.as_str())
    }
}

impl Spelling {
    /// What a blank of ASCII becomes, unless it is spelled out.
    fn blank(self, grapheme: &str) -> Option<&'static str> {
        match (self, grapheme) {
            (Self::Code | Self::Document | Self::Lines, "\n") | (Self::Document | Self::Lines, "\r\n") => Some("\n"),
            (Self::Row, "\n" | "\r\n") => Some(" "),
            (Self::Code | Self::Document, "\t") => Some("\t"),
            (Self::Lines | Self::Row, "\t") => Some(TAB),
            _ => None,
        }
    }

    fn is_prose(self) -> bool {
        matches!(self, Self::Document | Self::Lines | Self::Row)
    }

    /// How much of a text stays as it is whatever is around it: printable ASCII, blanks that stay, and letters that stand alone.
    fn plain_start(self, text: &str) -> usize {
        let mut start = self.plain_ascii(text.as_bytes());
        loop {
            let rest = text.get(start..).unwrap_or_default();
            match rest.chars().next().filter(|c| is_alone(*c)) {
                Some(c) => {
                    start += c.len_utf8();
                    start += self.plain_ascii(text.as_bytes().get(start..).unwrap_or_default());
                }
                None => return start,
            }
        }
    }

    /// Where the first byte is that is not printable ASCII, nor a blank that stays.
    fn plain_ascii(self, bytes: &[u8]) -> usize {
        const CHUNK: usize = 32;
        let keeps_lines = matches!(self, Self::Code | Self::Document | Self::Lines);
        let keeps_tabs = matches!(self, Self::Code | Self::Document);
        // Without branches, so that a whole chunk is compared at once.
        let is_plain = |byte: u8| {
            (byte.wrapping_sub(b' ') < 95) | ((byte == b'\n') & keeps_lines) | ((byte == b'\t') & keeps_tabs)
        };
        let is_whole = |chunk: &&[u8]| chunk.iter().fold(true, |all, byte| all & is_plain(*byte));
        let start = bytes.chunks_exact(CHUNK).take_while(is_whole).count() * CHUNK;
        let rest = bytes.get(start..).unwrap_or_default();
        start + rest.iter().position(|byte| !is_plain(*byte)).unwrap_or(rest.len())
    }

    /// Whether a character is spelled out. In prose a picture of a control character says nothing.
    fn hides(self, c: char) -> bool {
        is_hidden(c) && !(self.is_prose() && (is_picture(c) || c.general_category() == GeneralCategory::SpaceSeparator))
    }
}

fn spell(text: &str, spelling: Spelling) -> Cow<'_, str> {
    let mut plain = spelling.plain_start(text);
    if plain == text.len() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    loop {
        let control = rest.get(plain..).and_then(control_start);
        if let Some(control) = control {
            let (before, after) = rest.split_at(plain);
            let (control, after) = after.split_at(control);
            out.push_str(before);
            push(control, spelling, &mut out);
            rest = after;
        } else {
            // What follows may belong to the last plain character.
            let last = rest.get(..plain).and_then(|plain| plain.chars().next_back()).filter(|_| plain < rest.len());
            let (before, odd) = rest.split_at(plain - last.map_or(0, char::len_utf8));
            out.push_str(before);
            let mut seen = 0;
            for (nth, grapheme) in odd.graphemes(true).enumerate() {
                // The last plain character is the first here. No plain one belongs to another.
                if nth > 0 && spelling.plain_start(grapheme) == grapheme.len() {
                    break;
                }
                push(grapheme, spelling, &mut out);
                seen += grapheme.len();
            }
            rest = odd.get(seen..).unwrap_or_default();
        }
        if rest.is_empty() {
            return Cow::Owned(out);
        }
        plain = spelling.plain_start(rest);
    }
}

/// Whether a character beyond ASCII is seen, is no emoji, and is a grapheme of its own unless a mark follows: most of what is written in
/// Latin, Greek, Cyrillic, Chinese, Japanese and Korean, with its punctuation, and what draws boxes.
fn is_alone(c: char) -> bool {
    matches!(c,
        '\u{c0}'..='\u{17f}' | '\u{391}'..='\u{3a1}' | '\u{3a3}'..='\u{3c9}' | '\u{400}'..='\u{481}'
        | '\u{2010}'..='\u{2027}' | '\u{2500}'..='\u{259f}' | '\u{3001}'..='\u{3002}' | '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{ff01}'..='\u{ff5e}')
}

/// The length of the control character of ASCII with which a text begins, or of `\r\n`: nothing joins with them, so they are
/// graphemes.
fn control_start(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    bytes.first().filter(|byte| byte.is_ascii_control())?;
    Some(if bytes.starts_with(b"\r\n") { 2 } else { 1 })
}

fn push(grapheme: &str, spelling: Spelling, out: &mut String) {
    match spelling.blank(grapheme) {
        Some(blank) => out.push_str(blank),
        None if is_emoji_sequence(grapheme) => out.push_str(grapheme),
        None => spell_grapheme(grapheme, spelling, out),
    }
}

fn spell_grapheme(grapheme: &str, spelling: Spelling, out: &mut String) {
    let mut before: Option<char> = None;
    for (at, c) in grapheme.chars().enumerate() {
        let is_seen = match c {
            // The rest of `\r\n`.
            '\n' => spelling == Spelling::Code,
            JOINER | NON_JOINER => before.is_some_and(is_joining),
            _ if c.is_ascii() => !c.is_ascii_control(),
            _ => !spelling.hides(c) && at < LONGEST_GRAPHEME && (before.is_some() || takes_columns(c)),
        };
        if is_seen {
            out.push(c);
            before = Some(c);
        } else {
            push_spelled(c, out);
            before = None;
        }
    }
}

fn push_spelled(c: char, out: &mut String) {
    let number = u32::from(c);
    let picture = match number {
        0..=0x1f => char::from_u32(0x2400 + number),
        0x7f => Some('\u{2421}'),
        _ => None,
    };
    match picture {
        Some(picture) => out.push(picture),
        None => out.extend(c.escape_unicode()),
    }
}

/// Whether a character can be seen without another before it, which marks cannot.
fn takes_columns(c: char) -> bool {
    columns(c.encode_utf8(&mut [0; 4])) > 0
}

/// Whether a character looks like nothing, or like another: pictures of control characters stand for these alone.
fn is_hidden(c: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator, SpaceSeparator, Unassigned};
    c == '\u{2800}'
        || is_picture(c)
        || is_default_ignorable(c)
        || matches!(
            c.general_category(),
            Control | Format | LineSeparator | ParagraphSeparator | SpaceSeparator | Unassigned
        )
}

fn is_picture(c: char) -> bool {
    matches!(c, '\u{2400}'..='\u{2426}')
}

/// The default-ignorable characters that have another category than the hidden ones.
fn is_default_ignorable(c: char) -> bool {
    matches!(c,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a grapheme is one picture: emoji with styles and skin tones, joined ones, keycaps and the flags of tags.
fn is_emoji_sequence(grapheme: &str) -> bool {
    if grapheme.len() < 2 || grapheme.is_ascii() {
        return false;
    }
    let keycap = grapheme.strip_prefix(|c: char| c.is_ascii_digit() || matches!(c, '#' | '*'));
    match keycap {
        Some(rest) => matches!(rest.strip_prefix(EMOJI_STYLE).unwrap_or(rest).strip_prefix(KEYCAP), Some("")),
        None => grapheme.chars().count() <= LONGEST_GRAPHEME && grapheme.split(JOINER).all(is_emoji),
    }
}

/// One emoji with what may follow it.
fn is_emoji(part: &str) -> bool {
    let mut chars = part.chars();
    let Some(base) = chars.next().filter(|base| base.is_emoji_char() && !base.is_ascii()) else { return false };
    let rest = chars.as_str();
    let tags = rest.strip_suffix('\u{e007f}').filter(|_| base == '\u{1f3f4}');
    if let Some(tags) = tags {
        let letters: String = tags.chars().filter_map(|c| char::from_u32(u32::from(c).checked_sub(0xe0000)?)).collect();
        return FLAG_TAGS.contains(&letters.as_str());
    }
    // Two regional indicators are one flag.
    let is_second = |c: &char| matches!(c, '\u{1f1e6}'..='\u{1f1ff}') && matches!(base, '\u{1f1e6}'..='\u{1f1ff}');
    let rest = rest.strip_prefix(|c: char| matches!(c, '\u{1f3fb}'..='\u{1f3ff}') || is_second(&c)).unwrap_or(rest);
    let rest = rest.strip_prefix([EMOJI_STYLE, TEXT_STYLE]).unwrap_or(rest);
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_text_is_spelled_out() {
        for (stored, spelled) in [
            ("ls \u{1b}]; touch P #\u{7}", "ls ␛]; touch P #␇"),
            ("ls \u{1b}P; touch P #\u{1b}\\", "ls ␛P; touch P #␛\\"),
            ("ls \u{9d}; touch P #\u{9c}", "ls \\u{9d}; touch P #\\u{9c}"),
            (
                "ls \u{fe0f}\u{2800}\u{2800}\u{3164}\u{115f}; touch P",
                "ls \\u{fe0f}\\u{2800}\\u{2800}\\u{3164}\\u{115f}; touch P",
            ),
            ("a\u{202e}b\u{2066}c\u{200b}d\u{ad}e\u{feff}", "a\\u{202e}b\\u{2066}c\\u{200b}d\\u{ad}e\\u{feff}"),
            ("a\u{a0}b\u{3000}c\u{2003}d\u{202f}e", "a\\u{a0}b\\u{3000}c\\u{2003}d\\u{202f}e"),
            ("a\u{2028}b\u{2029}c\u{85}d", "a\\u{2028}b\\u{2029}c\\u{85}d"),
            ("a\rb\r\nc\0\u{7f}", "a␍b␍\nc␀␡"),
            // Unassigned, tags, a mark without a base, a style after what is no emoji, a picture that is in the text.
            ("a\u{378}b\u{e0041}c", "a\\u{378}b\\u{e0041}c"),
            ("\u{301}x", "\\u{301}x"),
            ("ls\u{fe0f} 3\u{fe0f}", "ls\\u{fe0f} 3\\u{fe0f}"),
            ("␛", "\\u{241b}"),
            ("🏴\u{e0072}\u{e006d}\u{e007f}", "🏴\\u{e0072}\\u{e006d}\\u{e007f}"),
            ("a\u{200d}b\u{200c}c", "a\\u{200d}b\\u{200c}c"),
        ] {
            assert_eq!(spell_lines(stored), spelled, "{stored:?}");
        }
        assert_eq!(spell_lines("a\n\tb"), "a\n\tb");
        assert_eq!(spell_name("a\n\tb"), "a␊␉b");
    }

    #[test]
    fn prose_keeps_blanks_and_is_cleaned_once() {
        for (stored, row) in [
            ("ls \u{1b}]; touch P #\u{7}\r\nnext\tx", "ls ␛]; touch P #␇ next    x"),
            ("Bonjour\u{a0}! \u{3000}日本", "Bonjour\u{a0}! \u{3000}日本"),
            ("a\rb\u{2028}c\u{202e}d\u{2800}", "a␍b\\u{2028}c\\u{202e}d\\u{2800}"),
            ("a\u{1b}[31mb ␛ \u{200b}", "a␛[31mb ␛ \\u{200b}"),
        ] {
            assert_eq!(clean(stored), row, "{stored:?}");
            assert_eq!(clean(row), row);
            assert_eq!(clean(&spell_name(stored)), spell_name(stored));
        }
        assert_eq!(clean_lines("a\r\nb\tc"), "a\nb    c");
        assert_eq!(spell_document("a\r\nb\tc"), "a\nb\tc");
        assert_eq!(spell_blanks("a\u{a0}b ␛"), "a\\u{a0}b ␛");
        assert!(matches!(clean("as it is"), Cow::Borrowed(_)));
        assert!(matches!(clean_lines("as it\nis"), Cow::Borrowed(_)));
    }

    /// The start is read in pieces; the whole is spelled out in stretches. Both say the same.
    #[test]
    fn stretches_change_nothing() {
        let alphabet = [
            'a', ' ', '\t', '\n', '\r', '\u{1b}', '\u{301}', JOINER, '👩', '\u{600}', '🇩', '日', '\u{fe0f}', '1', '한',
            '\u{11a8}', '\u{1100}', 'é',
        ];
        for number in 0..alphabet.len().pow(4) {
            let at = |place: u32| alphabet[number / alphabet.len().pow(place) % alphabet.len()];
            let text: String = (0..4).map(at).collect();
            let mut start = CleanStart::of(&text);
            let mut whole = String::new();
            while let Some(more) = start.more(1) {
                more.clone_into(&mut whole);
            }
            assert_eq!(clean(&text), whole, "{text:?}");
        }
    }

    #[test]
    fn what_stands_alone_is_its_own_spelling() {
        for c in ('\u{80}'..=char::MAX).filter(|c| is_alone(*c)) {
            let (mut spelled, text) = (String::new(), format!("{c}"));
            push(&text, Spelling::Name, &mut spelled);
            assert_eq!(spelled, text, "{:x}", u32::from(c));
            for before in ['a', '日', '\u{ac00}', '👩', 'é'] {
                let text = format!("{before}{c}");
                assert_eq!(text.graphemes(true).count(), 2, "{text:?}");
            }
        }
    }

    #[test]
    fn writing_and_emoji_stay() {
        for text in [
            "plain ASCII",
            "naïve e\u{301}té 日本 한국어",
            "می\u{200c}خواهم क्\u{200d}ष",
            "👩\u{200d}👩\u{200d}👧 👍🏽 ❤\u{fe0f} ☎\u{fe0e} 1\u{fe0f}\u{20e3} 🇩🇪",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 🏳\u{fe0f}\u{200d}🌈",
        ] {
            assert_eq!(spell_name(text), text);
        }
    }

    #[test]
    fn marks_beyond_any_writing_are_spelled_out() {
        let zalgo = format!("a{}", "\u{301}".repeat(40));
        assert_eq!(spell_name(&zalgo).matches("\\u{301}").count(), 41 - LONGEST_GRAPHEME);
    }
}
