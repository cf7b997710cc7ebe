//! The words of a text, as the index and the scan both have them: case and accents are folded, runs of Chinese, Japanese and
//! Korean characters become overlapping pairs, and the parts of identifiers are words too. Knows no query and no session.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// The longest word, in bytes. Longer ones are cut in texts and in queries alike.
pub const LONGEST_WORD: usize = 128;

/// A run of characters that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    /// Letters, digits and `_`.
    Word,
    /// Characters of a script that writes no spaces.
    Unspaced,
}

impl Run {
    fn of(c: char) -> Option<Self> {
        if let Ok(byte) = u8::try_from(c)
            && c.is_ascii()
        {
            return OF_ASCII[usize::from(byte)];
        }
        if is_unspaced(c) {
            return Some(Self::Unspaced);
        }
        (c.is_alphanumeric() || is_combining_mark(c)).then_some(Self::Word)
    }
}

/// The runs of ASCII's characters: most of what is read.
const OF_ASCII: [Option<Run>; 256] = {
    let mut runs = [None; 256];
    let mut byte = 0;
    while byte < 128_u8 {
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            runs[byte as usize] = Some(Run::Word);
        }
        byte += 1;
    }
    runs
};

/// Han, kana and hangul.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x11FF | 0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3040..=0x30FF | 0x3130..=0x318F | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xA960..=0xA97F | 0xAC00..=0xD7FF | 0xF900..=0xFAFF
        | 0x20000..=0x323AF)
}

/// Appends a character without case and accents.
fn fold_into(folded: &mut String, c: char) {
    if c.is_ascii() {
        return folded.push(c.to_ascii_lowercase());
    }
    if is_unspaced(c) {
        return folded.push(c);
    }
    let plain = std::iter::once(c).nfkd().filter(|c| !is_combining_mark(*c));
    folded.extend(plain.flat_map(char::to_lowercase).filter(|c| c.is_alphanumeric()));
}

/// A text without case and accents.
#[must_use]
pub fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for_each_folded(text, &mut |piece| folded.push_str(piece));
    folded
}

/// Passes on a text without case and accents, in pieces.
pub(crate) fn for_each_folded(text: &str, told: &mut dyn FnMut(&str)) {
    let mut piece = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (ascii, others) = rest.split_at(ascii_length(rest));
        piece.clear();
        push_lower(&mut piece, ascii);
        let end = others.bytes().position(|byte| byte.is_ascii()).unwrap_or(others.len());
        let (others, next) = others.split_at(end);
        others.chars().for_each(|c| fold_any(&mut piece, c));
        told(&piece);
        rest = next;
    }
}

/// How many bytes of ASCII a text begins with.
pub(crate) fn ascii_length(text: &str) -> usize {
    // A block at once is looked at faster than each byte.
    let blocks = text.as_bytes().chunks(64).take_while(|block| block.is_ascii()).map(<[u8]>::len).sum::<usize>();
    let rest = text.as_bytes().get(blocks..).unwrap_or_default();
    blocks + rest.iter().position(|byte| !byte.is_ascii()).unwrap_or(rest.len())
}

fn push_lower(folded: &mut String, ascii: &str) {
    let from = folded.len();
    folded.push_str(ascii);
    if let Some(added) = folded.get_mut(from..) {
        added.make_ascii_lowercase();
    }
}

fn fold_any(folded: &mut String, c: char) {
    if Run::of(c).is_some() {
        fold_into(folded, c);
    } else {
        folded.push(c);
    }
}

/// Where parts of a folded text are in the text itself. They are in order.
#[must_use]
pub fn unfolded(text: &str, parts: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut found = Vec::with_capacity(parts.len());
    let (mut piece, mut length) = (String::new(), 0);
    // Parts whose beginning was passed: the last byte that they have, and where they begin.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut parts = parts.iter().peekable();
    for (at, c) in text.char_indices() {
        piece.clear();
        fold_any(&mut piece, c);
        length += piece.len();
        while let Some(part) = parts.next_if(|part| part.start < length) {
            open.push((part.end, at));
        }
        open.retain(|(end, start)| {
            let is_over = *end <= length;
            if is_over {
                found.push(*start..at + c.len_utf8());
            }
            !is_over
        });
    }
    found.extend(open.into_iter().map(|(_, start)| start..text.len()));
    found
}

/// What is told of each word: the word, folded, and its place in the text.
pub type Told<'a> = &'a mut dyn FnMut(&str, Range<usize>);

/// Tells every word of a text in order. A run of an unspaced script is told as its overlapping pairs and then its last
/// character, so that each of its parts is found.
pub fn for_each_word(text: &str, told: Told<'_>) {
    let mut word = String::new();
    for_each_run(text, |run, at| match run {
        Run::Word => tell_folded(text, at, &mut word, told),
        Run::Unspaced => {
            for_each_pair(text, at.clone(), told);
            let last = last_character(text, &at);
            told(text.get(last.clone()).unwrap_or_default(), last);
        }
    });
}

/// Tells the parts of the identifiers of a text: `parse`, `http` and `header` of `parseHTTPHeader`.
pub fn for_each_part(text: &str, told: Told<'_>) {
    let mut word = String::new();
    for_each_run(text, |run, at| {
        if run == Run::Word && has_parts(text.get(at.clone()).unwrap_or_default()) {
            for_each_piece(text, at, &mut |piece| tell_folded(text, piece, &mut word, told));
        }
    });
}

/// Whether a character of a script that writes no spaces is all that there is.
pub(crate) fn is_all_unspaced(word: &str) -> bool {
    word.chars().all(is_unspaced)
}

/// The words that a query means by a text, and whether the last one may be the beginning of a longer word: one character of
/// an unspaced script is.
#[must_use]
pub fn of_query(text: &str) -> (Vec<String>, bool) {
    let mut runs = Vec::new();
    for_each_run(text, |run, at| runs.push((run, at)));
    let (mut words, mut is_beginning, mut word) = (Vec::new(), false, String::new());
    let count = runs.len();
    for (number, (run, at)) in runs.into_iter().enumerate() {
        let mut keep = |word: &str, _: Range<usize>| words.push(word.to_owned());
        if run == Run::Word {
            tell_folded(text, at, &mut word, &mut keep);
            continue;
        }
        let last = last_character(text, &at);
        let is_single = last == at;
        for_each_pair(text, at, &mut keep);
        if is_single || number + 1 < count {
            keep(text.get(last.clone()).unwrap_or_default(), last);
        }
        is_beginning = is_single && number + 1 == count;
    }
    (words, is_beginning)
}

#[inline]
pub(crate) fn for_each_run(text: &str, mut told: impl FnMut(Run, Range<usize>)) {
    let bytes = text.as_bytes();
    let mut open: Option<(Run, usize)> = None;
    let mut next = 0;
    while let Some(byte) = bytes.get(next) {
        let at = next;
        let run = if byte.is_ascii() {
            let run = OF_ASCII[usize::from(*byte)];
            // Whatever runs on is passed over at once.
            next += bytes
                .iter()
                .skip(at)
                .take_while(|byte| byte.is_ascii() && OF_ASCII[usize::from(**byte)] == run)
                .count();
            run
        } else {
            let c = text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or_default();
            next += c.len_utf8();
            Run::of(c)
        };
        match open {
            Some((kind, _)) if run == Some(kind) => {}
            Some((kind, start)) => {
                told(kind, start..at);
                open = run.map(|run| (run, at));
            }
            None => open = run.map(|run| (run, at)),
        }
    }
    if let Some((kind, start)) = open {
        told(kind, start..text.len());
    }
}

/// Tells a word without case and accents; one of nothing but accents is none.
pub(crate) fn tell_folded(text: &str, at: Range<usize>, word: &mut String, told: Told<'_>) {
    word.clear();
    let typed = text.get(at.clone()).unwrap_or_default();
    if typed.is_ascii() {
        push_lower(word, typed.get(..typed.len().min(LONGEST_WORD)).unwrap_or_default());
        return told(word, at);
    }
    for c in typed.chars() {
        if word.len() >= LONGEST_WORD {
            break;
        }
        if c == '_' { word.push(c) } else { fold_into(word, c) }
    }
    if !word.is_empty() {
        told(word, at);
    }
}

pub(crate) fn for_each_pair(text: &str, at: Range<usize>, told: Told<'_>) {
    let run = text.get(at.clone()).unwrap_or_default();
    for ((first, _), (second, c)) in run.char_indices().zip(run.char_indices().skip(1)) {
        let pair = at.start + first..at.start + second + c.len_utf8();
        told(text.get(pair.clone()).unwrap_or_default(), pair);
    }
}

pub(crate) fn last_character(text: &str, at: &Range<usize>) -> Range<usize> {
    let last = text.get(at.clone()).and_then(|run| run.chars().next_back()).map_or(0, char::len_utf8);
    at.end - last..at.end
}

pub(crate) fn has_parts(word: &str) -> bool {
    // Most words: nothing can begin within.
    if !word.bytes().skip(1).any(|byte| byte == b'_' || byte.is_ascii_uppercase() || !byte.is_ascii()) {
        return false;
    }
    let mut pieces = 0;
    for_each_piece(word, 0..word.len(), &mut |_| pieces += 1);
    pieces > 1
}

/// Cuts an identifier at each `_`, before a capital after a small letter, and before the last of several capitals.
pub(crate) fn for_each_piece(text: &str, at: Range<usize>, told: &mut dyn FnMut(Range<usize>)) {
    let word = text.get(at.clone()).unwrap_or_default();
    let mut start = 0;
    let mut before: Option<char> = None;
    let mut characters = word.char_indices().peekable();
    let mut tell = |piece: Range<usize>| {
        if !piece.is_empty() {
            told(at.start + piece.start..at.start + piece.end);
        }
    };
    while let Some((place, c)) = characters.next() {
        let next_is_small = characters.peek().is_some_and(|(_, next)| next.is_lowercase());
        if c == '_' {
            tell(start..place);
            start = place + 1;
        } else if c.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase() || before.is_numeric() || before.is_uppercase() && next_is_small
            })
        {
            tell(start..place);
            start = place;
        }
        before = Some(c);
    }
    tell(start..word.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, &mut |word, _| words.push(word.to_owned()));
        words
    }

    fn parts(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_part(text, &mut |word, _| words.push(word.to_owned()));
        words
    }

    #[test]
    fn case_and_accents_are_folded() {
        assert_eq!(words("Crème BRÛLÉE, e\u{301}té Straße ﬁn Ａｂ"), ["creme", "brulee", "ete", "straße", "fin", "ab"]);
        assert_eq!(words("x_1 foo-bar /a/b.rs"), ["x_1", "foo", "bar", "a", "b", "rs"]);
    }

    #[test]
    fn unspaced_scripts_are_pairs_and_a_last_character() {
        assert_eq!(words("日本語 x"), ["日本", "本語", "語", "x"]);
        assert_eq!(words("語"), ["語"]);
        assert_eq!(words("abc日本"), ["abc", "日本", "本"]);
        assert_eq!(words("검색이"), ["검색", "색이", "이"]);
    }

    #[test]
    fn a_query_leaves_the_last_character_of_its_end_open() {
        assert_eq!(of_query("日本語"), (vec!["日本".to_owned(), "本語".to_owned()], false));
        assert_eq!(of_query("語"), (vec!["語".to_owned()], true));
        assert_eq!(of_query("本語 x").0, ["本語", "語", "x"]);
        assert_eq!(of_query("---"), (Vec::new(), false));
    }

    #[test]
    fn identifiers_have_parts() {
        assert_eq!(parts("parseHTTPHeader fails on header_line"), ["parse", "http", "header", "header", "line"]);
        assert_eq!(parts("plain Words HERE __x"), Vec::<String>::new());
        assert_eq!(parts("utf8ToUTF16 École_Éa"), ["utf8", "to", "utf16", "ecole", "ea"]);
    }

    #[test]
    fn letters_beyond_ascii_fold_where_they_stand() {
        assert_eq!(folded("a naïve— xCafé_é “plain” OK"), "a naive— xcafe_e “plain” ok");
        assert_eq!(folded("ｎｅｅｄｌｅ ne\u{301}edle"), "needle needle");
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = "Ça, 日本語 parseX";
        for_each_word(text, &mut |word, at| {
            assert_eq!(folded(&text[at.clone()]), word, "{at:?}");
        });
        let text = "aÉ, ﬁnb";
        assert_eq!(folded(text), "ae, finb");
        for (part, expected) in [(0..1, "a"), (1..2, "É"), (0..4, "aÉ, "), (4..5, "ﬁ"), (4..8, "ﬁnb"), (7..8, "b")]
        {
            let places = unfolded(text, std::slice::from_ref(&part));
            let shown: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
            assert_eq!(shown, [expected]);
        }
    }

    #[test]
    fn long_words_are_cut_alike() {
        let long = "é".repeat(500);
        assert_eq!(words(&long)[0].len(), LONGEST_WORD);
        assert_eq!(of_query(&long).0, words(&long));
    }
}
