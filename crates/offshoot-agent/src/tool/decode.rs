//! Decodes bytes that arrive in pieces: UTF-8 with replacement characters, and for display without terminal sequences.
//! Knows no process and no file.

/// A UTF-8 decoder; a character split between pieces is joined again.
#[derive(Debug, Default)]
pub(crate) struct Utf8 {
    pending: Vec<u8>,
}

impl Utf8 {
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let whole = self.pending.len() - unfinished(&self.pending);
        let rest = self.pending.split_off(whole);
        let done = std::mem::replace(&mut self.pending, rest);
        String::from_utf8(done).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// The rest: a replacement character if the last one is incomplete.
    pub(crate) fn finish(&mut self) -> String {
        let rest = std::mem::take(&mut self.pending);
        String::from_utf8_lossy(&rest).into_owned()
    }
}

/// The number of bytes at the end that start an incomplete character.
fn unfinished(bytes: &[u8]) -> usize {
    let last = bytes.iter().rev().take(3).position(|byte| byte & 0xc0 != 0x80).map(|at| at + 1);
    let Some((count, tail)) = last.and_then(|count| Some((count, bytes.get(bytes.len() - count..)?))) else { return 0 };
    match std::str::from_utf8(tail) {
        Err(error) if error.error_len().is_none() => count,
        _ => 0,
    }
}

/// Removes terminal sequences and control characters from a text in pieces; keeps tabs, line feeds, and carriage returns
/// by which a line is written anew.
#[derive(Debug, Default)]
pub(crate) struct Sanitizer {
    held: String,
    /// Whether carriage returns came, and nothing after them yet.
    has_returned: bool,
}

/// Longer sequences are treated as text.
const LONGEST_SEQUENCE: usize = 4096;

impl Sanitizer {
    /// The displayable text so far. An incomplete sequence is held back.
    pub(crate) fn push(&mut self, text: &str) -> String {
        let text = std::mem::take(&mut self.held) + text;
        let mut shown = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            match sequence(rest) {
                Sequence::None => {
                    self.show(first, &mut shown);
                    rest = rest.get(first.len_utf8()..).unwrap_or_default();
                }
                Sequence::Whole(length) => rest = rest.get(length..).unwrap_or_default(),
                Sequence::Unfinished if rest.len() < LONGEST_SEQUENCE => {
                    self.held = rest.to_owned();
                    break;
                }
                Sequence::Unfinished => rest = rest.get(first.len_utf8()..).unwrap_or_default(),
            }
        }
        shown
    }

    /// The held-back text that is not a sequence after all.
    pub(crate) fn finish(&mut self) -> String {
        // A NUL ends every sequence, and is not shown itself.
        let shown = self.push("\0");
        let mut shown = shown;
        std::mem::take(&mut self.held).chars().for_each(|c| self.show(c, &mut shown));
        shown
    }

    /// A carriage return counts once something follows it on its line.
    fn show(&mut self, c: char, shown: &mut String) {
        if c == '\r' {
            self.has_returned = true;
        } else if is_shown(c) {
            let has_returned = std::mem::take(&mut self.has_returned);
            shown.extend(Some('\r').filter(|_| has_returned && c != '\n'));
            shown.push(c);
        }
    }
}

/// pi drops ASCII controls except tab and line feed, and interlinear marks.
fn is_shown(c: char) -> bool {
    matches!(c, '\t' | '\n') || !matches!(c, '\0'..='\u{1f}' | '\u{fff9}'..='\u{fffb}')
}

enum Sequence {
    None,
    Whole(usize),
    Unfinished,
}

/// A sequence at the start of `text`: an operating system command with its terminator, or a control sequence with its
/// final character.
fn sequence(text: &str) -> Sequence {
    let Some(body) = text.strip_prefix(['\u{1b}', '\u{9b}']) else { return Sequence::None };
    let start = text.len() - body.len();
    if text.starts_with('\u{1b}') && body.starts_with(']') {
        let ends = [("\u{7}", 1), ("\u{1b}\\", 2), ("\u{9c}", 2)];
        let end = ends.iter().filter_map(|(end, length)| Some(body.find(end)? + length)).min();
        return end.map_or(Sequence::Unfinished, |end| Sequence::Whole(start + end));
    }
    let numbers = body.trim_start_matches(['[', ']', '(', ')', '#', ';', '?']);
    let end =
        numbers.trim_start_matches(|c: char| numbers.starts_with(is_digit) && (is_digit(c) || c == ';' || c == ':'));
    match end.chars().next() {
        None => Sequence::Unfinished,
        Some('A'..='P' | 'R'..='T' | 'Z' | 'c' | 'f'..='n' | 'q'..='u' | 'y' | '=' | '>' | '<' | '~') => {
            Sequence::Whole(text.len() - end.len() + 1)
        }
        // A digit may be final, as in saving and restoring the cursor.
        Some(_) => {
            let run = text.get(..text.len() - end.len()).unwrap_or_default();
            run.rfind(is_digit).map_or(Sequence::None, |at| Sequence::Whole(at + 1))
        }
    }
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sanitized(pieces: &[&str]) -> String {
        let mut sanitizer = Sanitizer::default();
        let shown: String = pieces.iter().map(|piece| sanitizer.push(piece)).collect();
        shown + &sanitizer.finish()
    }

    #[test]
    fn colours_titles_and_control_characters_go_and_text_stays() {
        for (text, shown) in [
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}[2K\u{1b}[1Gx", "x"),
            ("\u{1b}7a\u{1b}8b", "ab"),
            ("\u{1b}(Bx", "x"),
            ("\u{9b}31mx", "x"),
            ("a\r\nb\tc\0\u{8}d\u{fffa}", "a\nb\tcd"),
            ("1%\r\u{1b}[K2%\r\r3%\r\u{1b}[0m\n4%\r", "1%\r2%\r3%\n4%"),
            ("\u{1b}", ""),
            ("\u{1b}[31 x\u{1b}7[7\u{1b}8", " x[7"),
            ("\u{1b} x", " x"),
            ("naïve 日本 😀", "naïve 日本 😀"),
        ] {
            assert_eq!(sanitized(&[text]), shown, "{text:?}");
        }
    }

    #[test]
    fn a_sequence_that_never_ends_does_not_hold_back_the_rest_for_ever() {
        let text = format!("\u{1b}]{}", "x".repeat(LONGEST_SEQUENCE));
        assert!(Sanitizer::default().push(&text).len() >= LONGEST_SEQUENCE);
    }

    proptest! {
        #[test]
        fn pieces_decode_as_the_whole(bytes in prop::collection::vec(prop_oneof![0x20_u8..0x80, 0x80_u8..=0xff, Just(0xe2), Just(0x82), Just(0xac)], 0..60), cut in 0_usize..60) {
            let (a, b) = bytes.split_at(cut.min(bytes.len()));
            let mut decoder = Utf8::default();
            let text = decoder.push(a) + &decoder.push(b) + &decoder.finish();
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn pieces_are_sanitised_as_the_whole(text in "[a\u{1b}\\[\\]0-9;m\u{7}\n\r]{0,30}", cut in 0_usize..30) {
            let cut = (0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            let (a, b) = text.split_at(cut);
            prop_assert_eq!(sanitized(&[a, b]), sanitized(&[&text]));
        }
    }
}
