//! The words of a text one after another, as the index takes them. They are those that `words` tells; this is the quick way to all of
//! them. Knows no query and no session.

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::words::{
    LONGEST_WORD, Run, ascii_length, for_each_pair, for_each_piece, for_each_run, has_parts, last_character,
    tell_folded,
};

/// Words, each followed by a blank.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct WordList(Vec<u8>);

impl WordList {
    /// Makes room for words of so many bytes.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.0.reserve(bytes);
    }

    pub(crate) fn push(&mut self, word: &str) {
        self.0.extend_from_slice(word.as_bytes());
        self.0.push(b' ');
    }

    /// Adds a number of three bytes as a word of six digits.
    pub(crate) fn push_hex(&mut self, bytes: [u8; 3]) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = |byte: u8| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
        let [[a, b], [c, d], [e, f]] = bytes.map(digits);
        self.0.extend_from_slice(&[a, b, c, d, e, f, b' ']);
    }

    /// Its bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[cfg(test)]
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap()
    }
}

impl From<String> for WordList {
    fn from(words: String) -> Self {
        Self(words.into_bytes())
    }
}

/// The bytes are those of characters: whole words were added.
impl ToSql for WordList {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(&self.0)))
    }
}

/// What a byte of ASCII says of a word: nothing if it is in none.
const IN_WORD: u8 = 1;
/// The next part of an identifier may begin here.
const MAY_BEGIN_PART: u8 = 2;

/// Of each byte what it says of a word, and its small letter.
const OF_BYTE: [(u8, u8); 256] = {
    let mut of = [(0, 0); 256];
    let mut byte = 0;
    while byte < 128_u8 {
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            let begins = byte.is_ascii_uppercase() || byte == b'_';
            of[byte as usize] = (if begins { IN_WORD | MAY_BEGIN_PART } else { IN_WORD }, byte.to_ascii_lowercase());
        }
        byte += 1;
    }
    of
};

fn is_in_word(byte: u8) -> bool {
    OF_BYTE[usize::from(byte)].0 != 0
}

/// Appends the words of a text, and the parts of its identifiers.
pub(crate) fn push_words_and_parts(text: &str, words: &mut WordList, parts: &mut WordList) {
    // Each byte that is in no word makes room for a blank; the last word may have none after it.
    words.reserve(text.len() + 1);
    let mut rest = text;
    while !rest.is_empty() {
        let ascii = ascii_length(rest);
        let (before, others) = rest.split_at(ascii);
        // A word that continues with other characters stays whole.
        let whole = if others.is_empty() {
            ascii
        } else {
            before.bytes().rposition(|byte| !is_in_word(byte)).map_or(0, |last| last + 1)
        };
        let end = others.bytes().position(|byte| byte.is_ascii() && !is_in_word(byte)).unwrap_or(others.len());
        push_ascii(rest.get(..whole).unwrap_or_default(), words, parts);
        push_any(rest.get(whole..ascii + end).unwrap_or_default(), words, parts);
        rest = rest.get(ascii + end..).unwrap_or_default();
    }
}

fn push_ascii(text: &str, words: &mut WordList, parts: &mut WordList) {
    let mut rest = text.as_bytes();
    let mut at = 0;
    while let Some(skipped) = rest.iter().position(|byte| is_in_word(*byte)) {
        let word = rest.get(skipped..).unwrap_or_default();
        let (mut length, mut said) = (0, 0);
        for byte in word {
            let (of_byte, _) = OF_BYTE[usize::from(*byte)];
            if of_byte == 0 {
                break;
            }
            said |= if length > 0 { of_byte } else { 0 };
            length += 1;
        }
        let (word, next) = word.split_at(length);
        let kept = word.get(..length.min(LONGEST_WORD)).unwrap_or(word);
        words.0.extend(kept.iter().map(|byte| OF_BYTE[usize::from(*byte)].1));
        words.0.push(b' ');
        at += skipped;
        if said & MAY_BEGIN_PART != 0 {
            push_parts(text.get(at..at + length).unwrap_or_default(), parts);
        }
        at += length;
        rest = next;
    }
}

fn push_parts(word: &str, parts: &mut WordList) {
    if !has_parts(word) {
        return;
    }
    let mut folded = String::new();
    for_each_piece(word, 0..word.len(), &mut |piece| {
        tell_folded(word, piece, &mut folded, &mut |part, _| parts.push(part));
    });
}

fn push_any(text: &str, words: &mut WordList, parts: &mut WordList) {
    let mut folded = String::new();
    for_each_run(text, |run, at| {
        if run == Run::Unspaced {
            for_each_pair(text, at.clone(), &mut |pair, _| words.push(pair));
            return words.push(text.get(last_character(text, &at)).unwrap_or_default());
        }
        tell_folded(text, at.clone(), &mut folded, &mut |word, _| words.push(word));
        push_parts(text.get(at).unwrap_or_default(), parts);
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::words::{for_each_part, for_each_word};

    /// The words and the parts of a text, each as they are pushed and as they are told.
    fn both(text: &str) -> [(String, String); 2] {
        let (mut words, mut parts) = (WordList::default(), WordList::default());
        push_words_and_parts(text, &mut words, &mut parts);
        let (mut told, mut told_parts) = (WordList::default(), WordList::default());
        for_each_word(text, &mut |word, _| told.push(word));
        for_each_part(text, &mut |part, _| told_parts.push(part));
        [(words, told), (parts, told_parts)].map(|(one, other)| (one.text().to_owned(), other.text().to_owned()))
    }

    #[test]
    fn what_is_pushed_is_what_is_told() {
        let texts = [
            "parseHTTPHeader fails, header_line Plain ALL_CAPS _x y_ 日本語x École_Éa \u{301} ﬁ",
            "",
            "語",
            "日本 a",
            "aé b_Cé日x_Y,éa",
            &"aB".repeat(200),
            &format!("{}é {}", "x".repeat(LONGEST_WORD - 1), "y".repeat(LONGEST_WORD + 1)),
        ];
        for text in texts {
            for (pushed, told) in both(text) {
                assert_eq!(pushed, told, "{text}");
            }
        }
        assert_eq!(both("someName x-y").map(|(pushed, _)| pushed), ["somename x y ", "some name "]);
    }

    #[test]
    fn a_number_is_a_word_of_digits() {
        let mut list = WordList::default();
        list.push_hex([0, 0xAF, 0x61]);
        assert_eq!(list.text(), "00af61 ");
        assert_eq!(list.len(), 7);
    }

    proptest! {
        #[test]
        fn any_text_is_pushed_as_it_is_told(text in "[ab_AB1 ,.é日語ﬁ\u{301}—]{0,80}") {
            for (pushed, told) in both(&text) {
                prop_assert_eq!(pushed, told);
            }
        }
    }
}
