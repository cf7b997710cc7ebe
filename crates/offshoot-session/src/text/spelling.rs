//! Spells out characters that a reader cannot see, where somebody decides about a text or looks back at it: what is shown is
//! what runs. [`super::clean`] removes them instead. Letters that look like other letters stay as they are.

use std::borrow::Cow;

use unicode_properties::{GeneralCategory, UnicodeEmoji as _, UnicodeGeneralCategory as _};
use unicode_segmentation::UnicodeSegmentation as _;

use super::clean::{JOINER, LONGEST_GRAPHEME, NON_JOINER, is_joining};

const EMOJI_STYLE: char = '\u{fe0f}';
const TEXT_STYLE: char = '\u{fe0e}';
const KEYCAP: char = '\u{20e3}';
/// The tags of the three flags that are sequences of tags. Other tags could carry a text.
const FLAG_TAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// Whether line feeds and tabs belong to the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blanks {
    Kept,
    Spelled,
}

/// Spells out a command, a file's text or a diff: line feeds and tabs stay. A control character becomes its picture, such
/// as `␛`, any other character that cannot be seen its number, such as `\u{202e}`: format characters, separators and blanks
/// but the space, default-ignorable and unassigned ones, marks without a base. Emoji sequences stay, as do joiners after
/// letters that use them.
#[must_use]
pub fn spell_lines(text: &str) -> Cow<'_, str> {
    spell(text, Blanks::Kept)
}

/// [`spell_lines`] for a path, a name, a host or a rule: line feeds and tabs are spelled out, too.
#[must_use]
pub fn spell_name(text: &str) -> Cow<'_, str> {
    spell(text, Blanks::Spelled)
}

fn spell(text: &str, blanks: Blanks) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') || (matches!(byte, b'\n' | b'\t') && blanks == Blanks::Kept);
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for grapheme in text.graphemes(true) {
        match grapheme {
            "\n" | "\t" if blanks == Blanks::Kept => out.push_str(grapheme),
            _ if is_emoji_sequence(grapheme) => out.push_str(grapheme),
            _ => spell_grapheme(grapheme, blanks, &mut out),
        }
    }
    Cow::Owned(out)
}

fn spell_grapheme(grapheme: &str, blanks: Blanks, out: &mut String) {
    let mut before: Option<char> = None;
    for (at, c) in grapheme.chars().enumerate() {
        let is_seen = match c {
            '\n' | '\t' => blanks == Blanks::Kept,
            JOINER | NON_JOINER => before.is_some_and(is_joining),
            _ if c.is_ascii() => !c.is_ascii_control(),
            _ => !is_hidden(c) && at < LONGEST_GRAPHEME && (at > 0 || !is_mark(c)),
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

fn is_mark(c: char) -> bool {
    use GeneralCategory::{EnclosingMark, NonspacingMark};
    matches!(c.general_category(), NonspacingMark | EnclosingMark)
}

/// Whether a character looks like nothing, or like another: pictures of control characters stand for these alone.
fn is_hidden(c: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator, SpaceSeparator, Unassigned};
    let is_blank = matches!(c, '\u{2800}' | '\u{2400}'..='\u{2426}');
    is_blank
        || is_default_ignorable(c)
        || matches!(
            c.general_category(),
            Control | Format | LineSeparator | ParagraphSeparator | SpaceSeparator | Unassigned
        )
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
