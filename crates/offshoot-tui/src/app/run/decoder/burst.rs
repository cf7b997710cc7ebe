//! Text with line breaks that comes in one read. Where the terminal does not mark pastes, that is one: nobody types so fast, and a
//! line break in it sends nothing. Knows no keys.
//!
//! A terminal that marks pastes sends such text only for a slow connection, which joins what was typed, or for a program that types:
//! there its line breaks are Enter. So they are in text that was typed before anybody read it.

use super::key::ESCAPE;

/// A terminal may cut a paste into pieces. Of shorter ones it makes one.
const PIECE: usize = 1024;
/// The next piece comes within so many milliseconds.
pub(super) const PATIENCE: u64 = 20;

#[derive(Debug, Default)]
pub(super) struct Bursts {
    /// The terminal has said that it marks pastes.
    pub(super) are_marked: bool,
    /// What comes now was typed before anybody read.
    pub(super) is_typed_ahead: bool,
    /// Whether the bytes that are read now are as many as a piece of a longer paste.
    is_piece: bool,
    /// The last bytes were a piece of a paste that may go on.
    pub(super) is_open: bool,
}

impl Bursts {
    pub(super) fn begin_chunk(&mut self, bytes: usize, silence: u64) {
        self.is_open &= silence < PATIENCE;
        self.is_piece = bytes >= PIECE;
    }

    pub(super) fn rest(&mut self, silence: u64) {
        self.is_open &= silence < PATIENCE;
    }

    /// How many bytes at the start are pasted; `None` if none are.
    pub(super) fn pasted(&mut self, bytes: &[u8]) -> Option<usize> {
        if self.are_marked || self.is_typed_ahead {
            return None;
        }
        let end = bytes.iter().position(|byte| !is_text(*byte));
        let text = bytes.get(..end.unwrap_or(bytes.len()))?;
        let goes_on = self.is_open && !text.is_empty();
        if !goes_on && !has_text_after_a_break(text) {
            self.is_open &= !text.is_empty() && !has_break(text);
            return None;
        }
        self.is_open = self.is_piece && end.is_none();
        let cut = match end {
            None => cut_letter(text),
            Some(_) => 0,
        };
        Some(text.len() - cut).filter(|length| *length > 0)
    }
}

fn is_text(byte: u8) -> bool {
    !matches!(byte, 0..=0x08 | 0x0b | 0x0c | 0x0e..=0x1a | ESCAPE..=0x1f | 0x7f)
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

fn has_break(text: &[u8]) -> bool {
    text.iter().any(|byte| is_break(*byte))
}

fn has_text_after_a_break(text: &[u8]) -> bool {
    let Some(first) = text.iter().position(|byte| is_break(*byte)) else { return false };
    text.iter().skip(first).any(|byte| !byte.is_ascii_whitespace())
}

/// How many bytes at the end begin a letter.
fn cut_letter(text: &[u8]) -> usize {
    match std::str::from_utf8(text) {
        Err(error) if error.error_len().is_none() => text.len() - error.valid_up_to(),
        Ok(_) | Err(_) => 0,
    }
}
