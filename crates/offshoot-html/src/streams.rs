//! Bytes of any length as blocks, so that the page finds a range by its position. Blocks of several streams may alternate.

use std::io;

use crate::block::Block;
use crate::press::Press;

/// A block ends with the first item that reaches this size: an item is found in few blocks, and a block opens at once.
pub(crate) const BLOCK: usize = 1 << 18;
/// Longer items have several blocks. Browsers refuse strings beyond half a gigabyte.
const LONGEST: usize = 4 * BLOCK;

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

    /// The position of the next byte.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8], press: &mut Press<'_>) -> io::Result<()> {
        self.length += bytes.len() as u64;
        while self.waiting.len() + bytes.len() > LONGEST {
            let (now, later) = bytes.split_at(LONGEST - self.waiting.len());
            self.waiting.extend_from_slice(now);
            self.finish(press)?;
            bytes = later;
        }
        self.waiting.extend_from_slice(bytes);
        Ok(())
    }

    /// Adds bytes that must be base64: they are written as they are, in a block of their own.
    pub(crate) fn push_base64(&mut self, bytes: &[u8], press: &mut Press<'_>) -> io::Result<()> {
        self.finish(press)?;
        self.length += bytes.len() as u64;
        press.add(Block::base64(self.class, bytes.to_vec()))
    }

    /// Ends an item; the next one may begin a block.
    pub(crate) fn end_item(&mut self, press: &mut Press<'_>) -> io::Result<()> {
        if self.waiting.len() < BLOCK { Ok(()) } else { self.finish(press) }
    }

    pub(crate) fn finish(&mut self, press: &mut Press<'_>) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.waiting);
        press.add(Block::text(self.class, bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use flate2::read::DeflateDecoder;

    use super::*;

    fn opened(element: &str) -> (usize, Vec<u8>) {
        let inner = element.strip_prefix("<script type=\"application/octet-stream\" class=\"s\" data-n=\"").unwrap();
        let (length, inner) = inner.split_once('"').unwrap();
        let inner = inner.strip_suffix("</script>").unwrap();
        if let Some(base64) = inner.strip_prefix(" data-p>") {
            return (length.parse().unwrap(), base64.as_bytes().to_vec());
        }
        let mut bytes = Vec::new();
        let packed = STANDARD.decode(inner.strip_prefix('>').unwrap()).unwrap();
        DeflateDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        (length.parse().unwrap(), bytes)
    }

    #[test]
    fn blocks_end_with_items_and_give_back_every_byte() {
        let bytes: Vec<u8> = (0..BLOCK * 10 + 5).map(|at| (at * at / 7) as u8).collect();
        for piece in [1000, BLOCK - 1, BLOCK, BLOCK + 1, LONGEST + 1, bytes.len()] {
            let mut out = Vec::new();
            std::thread::scope(|scope| {
                let (mut press, mut stream) = (Press::new(scope, &mut out), Stream::new("s"));
                for part in bytes.chunks(piece) {
                    stream.push(part, &mut press).unwrap();
                    stream.end_item(&mut press).unwrap();
                }
                stream.finish(&mut press).unwrap();
                press.finish().unwrap();
            });
            let text = String::from_utf8(out).unwrap();
            let blocks: Vec<(usize, Vec<u8>)> = text.lines().map(opened).collect();
            assert!(blocks.iter().all(|(length, block)| *length == block.len() && *length <= LONGEST), "{piece}");
            if piece < LONGEST {
                assert!(blocks.iter().all(|(length, _)| length % piece == 0 || length % piece == bytes.len() % piece));
            }
            assert_eq!(blocks.into_iter().flat_map(|(_, block)| block).collect::<Vec<_>>(), bytes);
        }
    }

    #[test]
    fn base64_is_a_block_as_it_is() {
        let mut out = Vec::new();
        std::thread::scope(|scope| {
            let (mut press, mut stream) = (Press::new(scope, &mut out), Stream::new("s"));
            stream.push(b"{\"data\":\"", &mut press).unwrap();
            stream.push_base64(b"AAAA", &mut press).unwrap();
            stream.push(b"\"}", &mut press).unwrap();
            stream.finish(&mut press).unwrap();
            assert_eq!(stream.length(), 15);
            press.finish().unwrap();
        });
        let text = String::from_utf8(out).unwrap();
        assert!(text.lines().nth(1).unwrap().ends_with(" data-p>AAAA</script>"), "{text}");
        assert_eq!(text.lines().flat_map(|line| opened(line).1).collect::<Vec<_>>(), b"{\"data\":\"AAAA\"}");
    }
}
