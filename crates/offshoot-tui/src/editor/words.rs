//! Word boundaries: Unicode's words, also split at punctuation. Knows no editor.

use unicode_segmentation::UnicodeSegmentation as _;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Space,
    Sign,
    Word,
}

fn char_class(piece: &str) -> CharClass {
    if piece.chars().all(char::is_whitespace) {
        CharClass::Space
    } else if piece.chars().any(|at| at.is_alphanumeric() || at == '_') {
        CharClass::Word
    } else {
        CharClass::Sign
    }
}

/// Punctuation splits words even where Unicode allows it inside, like the dot in `file.rs`.
fn is_sign(at: char) -> bool {
    at.is_ascii_punctuation() && at != '_'
}

/// The start of the last word or run of punctuation, trailing spaces ignored.
pub(super) fn start_of_last(text: &str) -> usize {
    let text = text.trim_end();
    let mut start = text.len();
    let mut run = None;
    for (at, piece) in text.split_word_bound_indices().rev() {
        match (char_class(piece), run) {
            (CharClass::Word, None) => {
                return at + piece.rfind(is_sign).map_or(0, |sign| sign + 1).min(piece.len());
            }
            (CharClass::Sign, None | Some(CharClass::Sign)) => {
                run = Some(CharClass::Sign);
                start = at;
            }
            _ => break,
        }
    }
    start
}

/// The end of the first word or run of punctuation, leading spaces ignored.
pub(super) fn end_of_first(text: &str) -> usize {
    let spaces = text.len() - text.trim_start().len();
    let rest = text.get(spaces..).unwrap_or_default();
    let mut end = 0;
    for (at, piece) in rest.split_word_bound_indices() {
        match (char_class(piece), end) {
            (CharClass::Word, 0) => {
                return spaces + at + piece.find(is_sign).filter(|sign| *sign > 0).unwrap_or(piece.len());
            }
            (CharClass::Sign, _) => end = at + piece.len(),
            _ => break,
        }
    }
    spaces + end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(text: &str) -> Vec<usize> {
        let mut stops = vec![text.len()];
        while let Some(at) = stops.last().copied().filter(|at| *at > 0) {
            stops.push(start_of_last(&text[..at]));
        }
        stops
    }

    fn forward(text: &str) -> Vec<usize> {
        let mut stops = vec![0];
        while let Some(at) = stops.last().copied().filter(|at| *at < text.len()) {
            stops.push(at + end_of_first(&text[at..]));
        }
        stops
    }

    #[test]
    fn words_stop_at_spaces_and_signs() {
        assert_eq!(back("see file.rs, and it"), [19, 17, 13, 11, 9, 8, 4, 0]);
        assert_eq!(forward("see file.rs, and it"), [0, 3, 8, 9, 11, 12, 16, 19]);
        assert_eq!(back("a_b  --x"), [8, 7, 5, 0]);
        assert_eq!(forward("a_b  --x"), [0, 3, 7, 8]);
        assert_eq!(forward("日本 語"), [0, 3, 6, 10]);
        assert_eq!(back("  "), [2, 0]);
        assert_eq!(forward("\n\n"), [0, 2]);
    }

    proptest::proptest! {
        #[test]
        fn every_step_gets_on(text in "[a-z.,_ \\n日é'👍🏽\u{301}-]{0,40}") {
            back(&text);
            forward(&text);
        }
    }
}
