//! A bracketed paste. Its end may be lost: after a while its text is passed on as it comes, and a lone Escape or Ctrl+C ends it.

use memchr::memmem;
use ratatui::crossterm::event::Event;

use super::Decoded;
use super::key::ESCAPE;

const END: &[u8] = b"\x1b[201~";
/// After so many milliseconds without bytes the end counts as missing.
const PATIENCE: u64 = 1000;
/// A longer paste comes in parts.
const LONGEST: usize = 16 << 20;

#[derive(Debug, Default)]
pub(super) struct OpenPaste {
    text: Vec<u8>,
    /// Whether it was said that the end is missing.
    is_told: bool,
    /// A lone Escape has come: it ends the paste if nothing follows at once.
    may_end: bool,
    /// A key has come that ends the paste.
    has_ended: bool,
}

impl OpenPaste {
    pub(super) fn may_end(&self) -> bool {
        self.may_end
    }

    /// Whether these bytes are a key that ends a paste depends on the time before them.
    pub(super) fn begin_chunk(&mut self, bytes: &[u8], silence: u64) {
        let is_quiet = self.is_told || silence >= PATIENCE;
        self.may_end = is_quiet && !bytes.is_empty() && bytes.iter().all(|byte| *byte == ESCAPE);
        // Ctrl+C, and both keys in kitty's protocol.
        let keys: [&[u8]; 3] = [b"\x03", b"\x1b[27u", b"\x1b[99;5u"];
        self.has_ended =
            is_quiet && keys.iter().any(|key| !bytes.is_empty() && bytes.chunks(key.len()).all(|one| one == *key));
    }

    /// Takes bytes of the paste. Answers how many these are, and whether the paste has ended.
    pub(super) fn take(&mut self, bytes: &[u8], decoded: &mut Vec<Decoded>) -> (usize, bool) {
        if self.has_ended {
            self.end(decoded);
            return (bytes.len(), true);
        }
        // The end may have come in two pieces.
        let from = self.text.len().saturating_sub(END.len());
        self.text.extend_from_slice(bytes);
        let found = self.text.get(from..).and_then(|text| memmem::find(text, END)).map(|at| from + at);
        if let Some(at) = found {
            let behind = self.text.len() - at - END.len();
            self.text.truncate(at);
            self.end(decoded);
            return (bytes.len() - behind, true);
        }
        if (self.is_told && !self.may_end) || self.text.len() > LONGEST {
            self.pass_on(decoded);
        }
        (bytes.len(), false)
    }

    /// Nothing has come for so long. Answers whether that ends the paste.
    pub(super) fn rest(&mut self, silence: u64, key_patience: u64, decoded: &mut Vec<Decoded>) -> bool {
        if self.may_end && silence >= key_patience {
            let keys = self.text.iter().rev().take_while(|byte| **byte == ESCAPE).count();
            self.text.truncate(self.text.len() - keys);
            self.end(decoded);
            return true;
        }
        if !self.may_end && !self.is_told && silence >= PATIENCE {
            self.is_told = true;
            self.pass_on(decoded);
            decoded.push(Decoded::OpenPaste(true));
        }
        false
    }

    fn end(&mut self, decoded: &mut Vec<Decoded>) {
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            decoded.push(Decoded::Event(Event::Paste(String::from_utf8_lossy(&text).into_owned())));
        }
        if std::mem::take(&mut self.is_told) {
            decoded.push(Decoded::OpenPaste(false));
        }
    }

    /// Passes on what has come, except for half a letter and half an end.
    fn pass_on(&mut self, decoded: &mut Vec<Decoded>) {
        let end = (1..END.len()).rev().find(|length| self.text.ends_with(END.get(..*length).unwrap_or_default()));
        let whole = self.text.len() - end.unwrap_or(0);
        let cut = match std::str::from_utf8(self.text.get(..whole).unwrap_or_default()) {
            Err(error) if error.error_len().is_none() => whole - error.valid_up_to(),
            Ok(_) | Err(_) => 0,
        };
        let rest = self.text.split_off(whole - cut);
        let text = std::mem::replace(&mut self.text, rest);
        if !text.is_empty() {
            decoded.push(Decoded::Event(Event::Paste(String::from_utf8_lossy(&text).into_owned())));
        }
    }
}
