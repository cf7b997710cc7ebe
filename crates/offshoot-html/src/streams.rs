//! Bytes of any length as a row of script blocks of one size: the page finds a stretch by its place alone.
//!
//! The browser never runs a block (its type is no script's), and base64 cannot end one. Blocks of several streams may stand
//! between each other.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// How many bytes a block holds, but for a stream's last one: a multiple of 3, so that no block but the last is padded.
/// Browsers refuse texts beyond half a gigabyte; a block is 1 MiB of text.
pub(crate) const BLOCK: usize = 3 << 18;

/// One stream of bytes.
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

    /// Where the next so many bytes will stand.
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
