//! Three bytes after each other: the set of those of a text tells which needles can be in it. Knows neither queries nor files.

use crate::word_list::WordList;
use crate::words;

/// Stands after the last byte of a text, so that its last bytes begin a trigram, too.
const END: [u8; 2] = [0, 0];
/// How many of a needle's trigrams are asked for: more make no fewer texts.
const MOST_ASKED: usize = 48;

/// The trigrams of texts, each once. One is used for many texts, because it is large.
pub(crate) struct TrigramSet {
    /// A bit for each trigram that there can be.
    seen: Vec<u64>,
    found: Vec<u32>,
}

impl TrigramSet {
    pub(crate) fn new() -> Self {
        Self { seen: vec![0; 1 << 18], found: Vec::new() }
    }

    /// Adds those of a text without case and accents.
    pub(crate) fn add(&mut self, text: &str) {
        let (mut last, mut before) = (0, 0);
        let mut add = |bytes: &[u8]| {
            for byte in bytes {
                last = (last << 8 | u32::from(*byte)) & 0x00FF_FFFF;
                if before == END.len() {
                    self.put(last);
                } else {
                    before += 1;
                }
            }
        };
        words::for_each_folded(text, &mut |piece| add(piece.as_bytes()));
        add(&END);
    }

    fn put(&mut self, trigram: u32) {
        let (place, bit) = (trigram as usize >> 6, 1_u64 << (trigram & 63));
        if let Some(seen) = self.seen.get_mut(place)
            && *seen & bit == 0
        {
            *seen |= bit;
            self.found.push(trigram);
        }
    }

    /// Takes them out as words.
    pub(crate) fn take(&mut self) -> WordList {
        let mut words = WordList::default();
        words.reserve(self.found.len() * 7);
        for trigram in self.found.drain(..) {
            if let Some(seen) = self.seen.get_mut(trigram as usize >> 6) {
                *seen = 0;
            }
            let [_, bytes @ ..] = trigram.to_be_bytes();
            words.push_hex(bytes);
        }
        words
    }
}

/// The expression of SQLite for texts that can have a folded needle; `None` for an empty one, which every text has.
pub(crate) fn expression_of(needle: &str) -> Option<String> {
    let bytes = needle.as_bytes();
    if bytes.is_empty() {
        return None;
    }
    let quoted = |bytes: &[u8]| {
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("\"{}\"", digits.concat())
    };
    if bytes.len() < 3 {
        return Some(format!("{} *", quoted(bytes)));
    }
    let mut trigrams: Vec<&[u8]> = bytes.windows(3).collect();
    trigrams.sort_unstable();
    trigrams.dedup();
    trigrams.truncate(MOST_ASKED);
    let trigrams: Vec<String> = trigrams.into_iter().map(quoted).collect();
    Some(format!("({})", trigrams.join(" AND ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        let mut set = TrigramSet::new();
        set.add(text);
        set.take().text().to_owned()
    }

    #[test]
    fn a_text_has_its_trigrams_once_and_without_case() {
        assert_eq!(of("aBab"), "616261 626162 616200 620000 ");
        assert_eq!(of("é"), "650000 ");
        assert_eq!(of(""), "");
    }

    #[test]
    fn a_set_is_empty_after_it_was_taken() {
        let mut set = TrigramSet::new();
        set.add("abc");
        set.take();
        set.add("abc");
        assert_eq!(set.take().text(), "616263 626300 630000 ");
    }

    #[test]
    fn needles_ask_for_their_trigrams() {
        assert_eq!(expression_of("abca").unwrap(), "(\"616263\" AND \"626361\")");
        assert_eq!(expression_of("ab").unwrap(), "\"6162\" *");
        assert_eq!(expression_of("語").unwrap(), "(\"e8aa9e\")");
        assert_eq!(expression_of(""), None);
        assert_eq!(expression_of(&"abcdefgh".repeat(20)).unwrap().matches("AND").count(), 7);
    }
}
