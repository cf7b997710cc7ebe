//! Raw output to a terminal: control characters are spelt out, as in JSON. Files and pipes get every byte unchanged.

use std::io::{self, Write};

use offshoot_session::text::steers;

/// Spells out control characters, bidirectional controls and invalid UTF-8.
pub struct Harmless<W> {
    out: W,
    /// The start of an incomplete character.
    pending: Vec<u8>,
}

impl<W: Write> Harmless<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, pending: Vec::new() }
    }

    fn characters(&mut self, text: &str) -> io::Result<()> {
        let mut plain = 0;
        for (at, c) in text.char_indices().filter(|(_, c)| steers(*c)) {
            self.out.write_all(&text.as_bytes()[plain..at])?;
            write!(self.out, "\\u{:04x}", u32::from(c))?;
            plain = at + c.len_utf8();
        }
        self.out.write_all(&text.as_bytes()[plain..])
    }
}

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.pending);
        all.extend_from_slice(bytes);
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.characters(text)?;
                    break;
                }
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    self.characters(&String::from_utf8_lossy(good))?;
                    let Some(length) = error.error_len() else {
                        self.pending = bad.to_vec();
                        break;
                    };
                    let (bad, behind) = bad.split_at(length);
                    bad.iter().try_for_each(|byte| write!(self.out, "\\x{byte:02x}"))?;
                    rest = behind;
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result does not depend on how the bytes arrive.
    #[test]
    fn nothing_steers_the_terminal() {
        let hostile = "é\u{1b}[2J\u{9b}2J\u{202e}\t😀\n".as_bytes();
        let hostile = [hostile, b"\xff\xe2\x28", "ü".as_bytes()].concat();
        for piece in 1..hostile.len() {
            let mut out = Harmless::new(Vec::new());
            for bytes in hostile.chunks(piece) {
                out.write_all(bytes).unwrap();
            }
            let shown = String::from_utf8(out.out).unwrap();
            assert_eq!(shown, "é\\u001b[2J\\u009b2J\\u202e\t😀\n\\xff\\xe2(ü");
        }
    }
}
