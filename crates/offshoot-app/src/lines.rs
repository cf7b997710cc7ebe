//! The lines of a protocol over a stream: one message each, ended by LF only, and bounded; and long answers, which are
//! written as they come.

use std::io::{self, BufRead, Read as _, Write};

/// A line with more bytes is refused.
pub const LONGEST_LINE: u64 = 64 << 20;

/// Answers up to this size are held back until they are complete, so that an error can replace them. Longer ones are
/// written as they come: no answer needs to fit into memory.
pub const HELD_BACK: usize = 1 << 20;

/// A line of a protocol.
#[derive(Debug, PartialEq, Eq)]
pub enum InputLine {
    /// Without its LF, which the last line may lack.
    Whole(Vec<u8>),
    /// It was skipped.
    TooLong,
}

impl InputLine {
    /// What is said about a line that is too long.
    pub fn too_long() -> String {
        format!("a line holds at most {} MiB", LONGEST_LINE >> 20)
    }
}

/// The next line, `None` at the end. U+2028 and CR are ordinary characters.
pub fn next_line(input: &mut impl BufRead, longest: u64) -> io::Result<Option<InputLine>> {
    let mut line = Vec::new();
    if input.take(longest + 1).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.ends_with(b"\n") {
        line.pop();
    } else if line.len() as u64 > longest {
        skip_line(input)?;
        return Ok(Some(InputLine::TooLong));
    }
    Ok(Some(InputLine::Whole(line)))
}

/// Reads the rest of a line without keeping it.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let (count, is_over) = (end.map_or(buffer.len(), |at| at + 1), end.is_some() || buffer.is_empty());
        input.consume(count);
        if is_over {
            return Ok(());
        }
    }
}

/// The beginning of an answer that can still be replaced.
pub struct HeldBack<'a> {
    /// Written before the rest.
    head: String,
    held: Vec<u8>,
    is_begun: bool,
    output: &'a mut dyn Write,
}

impl<'a> HeldBack<'a> {
    /// An answer that begins with `head`, which is written together with what follows.
    pub fn new(head: String, output: &'a mut dyn Write) -> Self {
        Self { head, held: Vec::new(), is_begun: false, output }
    }

    /// Writes what is held.
    ///
    /// # Errors
    /// The output fails.
    pub fn release(mut self) -> io::Result<&'a mut dyn Write> {
        self.pass_on()?;
        Ok(self.output)
    }

    /// Drops what is held, for an error in its place.
    ///
    /// # Errors
    /// The beginning is written already.
    pub fn discard(self, why: &str) -> io::Result<&'a mut dyn Write> {
        if self.is_begun {
            return Err(io::Error::other(format!("an answer broke off: {why}")));
        }
        Ok(self.output)
    }

    fn pass_on(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.output.write_all(self.head.as_bytes())?;
        }
        self.output.write_all(&std::mem::take(&mut self.held))
    }
}

impl Write for HeldBack<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        if self.held.len() > HELD_BACK {
            self.pass_on()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, longest: u64) -> Vec<InputLine> {
        let mut input = text.as_bytes();
        std::iter::from_fn(|| next_line(&mut input, longest).unwrap()).collect()
    }

    fn whole(text: &str) -> InputLine {
        InputLine::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_end_at_line_feeds_only() {
        assert_eq!(lines("a\u{2028}b\r\n\nc", 64), [whole("a\u{2028}b\r"), whole(""), whole("c")]);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_to_its_end() {
        assert_eq!(
            lines("abcd\nabcde\nf\nabcdefgh", 4),
            [whole("abcd"), InputLine::TooLong, whole("f"), InputLine::TooLong]
        );
    }
}
