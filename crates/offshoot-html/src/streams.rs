//! Bytes of any length as script blocks of one size, so that the page finds a range by its position.
//!
//! The browser does not run the blocks (their type is not a script type), and base64 cannot end one. Blocks of several
//! streams may alternate.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Bytes in each block but a stream's last. A multiple of 3, so that only the last is padded. Browsers refuse strings
/// beyond half a gigabyte; a block is 1 MiB of base64.
pub(crate) const BLOCK: usize = 3 << 18;

#[derive(Debug)]
pub(crate) struct Stream {
    class: &'static str,
    waiting: Vec<u8>,
    length: u64,
}

impl Stream {
    pub(crate) fn new(class: &'static str) -> Self {
        Self { class, waiting: Vec::new(), length: 0 }
    }

    /// Start and length of the next `length` bytes in the stream.
    pub(crate) fn span(&self, length: usize) -> (u64, usize) {
        (self.length, length)
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8], out: &mut impl Write) -> io::Result<()> {
        self.length += bytes.len() as u64;
        while self.waiting.len() + bytes.len() >= BLOCK {
            let (now, later) = bytes.split_at(BLOCK - self.waiting.len());
            self.waiting.extend_from_slice(now);
            self.write(out)?;
            bytes = later;
        }
        self.waiting.extend_from_slice(bytes);
        Ok(())
    }

    pub(crate) fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.waiting.is_empty() { Ok(()) } else { self.write(out) }
    }

    fn write(&mut self, out: &mut impl Write) -> io::Result<()> {
        let text = STANDARD.encode(&self.waiting);
        self.waiting.clear();
        writeln!(out, "<script type=\"application/octet-stream\" class=\"{}\">{text}</script>", self.class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_one_size_and_the_last_one_the_rest() {
        let bytes: Vec<u8> = (0..BLOCK * 2 + 5).map(|at| at as u8).collect();
        for piece in [1000, BLOCK - 1, BLOCK, BLOCK + 1, bytes.len()] {
            let (mut out, mut stream) = (Vec::new(), Stream::new("s"));
            for part in bytes.chunks(piece) {
                assert_eq!(stream.span(7), (stream.length, 7));
                stream.push(part, &mut out).unwrap();
            }
            stream.finish(&mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            let blocks: Vec<Vec<u8>> = text
                .lines()
                .map(|line| {
                    let inner = line.strip_prefix("<script type=\"application/octet-stream\" class=\"s\">").unwrap();
                    STANDARD.decode(inner.strip_suffix("</script>").unwrap()).unwrap()
                })
                .collect();
            assert_eq!(blocks.iter().map(Vec::len).collect::<Vec<_>>(), [BLOCK, BLOCK, 5], "{piece}");
            assert_eq!(blocks.concat(), bytes);
        }
    }
}
