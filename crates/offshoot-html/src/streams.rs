//! Bytes of any length as blocks, so that the page finds a range by its position. Blocks of several streams may alternate.

use std::io;

use crate::block::Block;

/// A block ends with the first item that reaches this size: an item is found in few blocks, and a block opens at once.
pub(crate) const BLOCK: usize = 1 << 18;
/// Most blocks fit into this many bytes.
const USUAL: usize = BLOCK + BLOCK / 4;
/// Longer items have several blocks. Browsers refuse strings beyond half a gigabyte.
const LONGEST: usize = 4 * BLOCK;

/// Takes the blocks of streams.
pub(crate) trait Sink {
    fn add(&mut self, block: Block) -> io::Result<()>;
}

impl Sink for Vec<Block> {
    fn add(&mut self, block: Block) -> io::Result<()> {
        self.push(block);
        Ok(())
    }
}

#[derive(Debug, Default)]
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

    pub(crate) fn push(&mut self, mut bytes: &[u8], sink: &mut dyn Sink) -> io::Result<()> {
        self.length += bytes.len() as u64;
        while self.waiting.len() + bytes.len() > LONGEST {
            let (now, later) = bytes.split_at(LONGEST - self.waiting.len());
            self.waiting.extend_from_slice(now);
            self.finish(sink)?;
            bytes = later;
        }
        if self.waiting.capacity() == 0 {
            self.waiting.reserve(USUAL.max(bytes.len()));
        }
        self.waiting.extend_from_slice(bytes);
        Ok(())
    }

    /// Adds bytes that must be base64: they are written as they are, in a block of their own.
    pub(crate) fn push_base64(&mut self, bytes: &[u8], sink: &mut dyn Sink) -> io::Result<()> {
        self.finish(sink)?;
        self.length += bytes.len() as u64;
        sink.add(Block::base64(self.class, bytes.to_vec()))
    }

    /// Adds what another stream made.
    pub(crate) fn push_block(&mut self, block: &Block, sink: &mut dyn Sink) -> io::Result<()> {
        if block.is_base64() { self.push_base64(block.bytes(), sink) } else { self.push(block.bytes(), sink) }
    }

    /// Ends an item; the next one may begin a block.
    pub(crate) fn end_item(&mut self, sink: &mut dyn Sink) -> io::Result<()> {
        if self.waiting.len() < BLOCK { Ok(()) } else { self.finish(sink) }
    }

    pub(crate) fn finish(&mut self, sink: &mut dyn Sink) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.waiting);
        sink.add(Block::text(self.class, bytes))
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use libdeflater::Decompressor;

    use super::*;
    use crate::block::Packer;

    fn opened(element: &str) -> (usize, Vec<u8>) {
        let inner = element.strip_prefix("<script type=\"application/octet-stream\" class=\"s\" data-n=\"").unwrap();
        let (length, inner) = inner.split_once('"').unwrap();
        let inner = inner.strip_suffix("</script>").unwrap();
        let length = length.parse().unwrap();
        if let Some(base64) = inner.strip_prefix(" data-p>") {
            return (length, base64.as_bytes().to_vec());
        }
        let (mut bytes, packed) = (vec![0; length], STANDARD.decode(inner.strip_prefix('>').unwrap()).unwrap());
        let opened = Decompressor::new().deflate_decompress(&packed, &mut bytes).unwrap();
        bytes.truncate(opened);
        (length, bytes)
    }

    fn elements(blocks: &[Block]) -> String {
        let (mut packer, mut out) = (Packer::new(0), Vec::new());
        for block in blocks {
            packer.element(block, &mut out).unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn blocks_end_with_items_and_give_back_every_byte() {
        let bytes: Vec<u8> = (0..BLOCK * 10 + 5).map(|at| (at * at / 7) as u8).collect();
        for piece in [1000, BLOCK - 1, BLOCK, BLOCK + 1, LONGEST + 1, bytes.len()] {
            let (mut blocks, mut stream) = (Vec::new(), Stream::new("s"));
            for part in bytes.chunks(piece) {
                stream.push(part, &mut blocks).unwrap();
                stream.end_item(&mut blocks).unwrap();
            }
            stream.finish(&mut blocks).unwrap();
            let text = elements(&blocks);
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
        let (mut blocks, mut stream) = (Vec::new(), Stream::new("s"));
        stream.push(b"{\"data\":\"", &mut blocks).unwrap();
        stream.push_base64(b"AAAA", &mut blocks).unwrap();
        stream.push(b"\"}", &mut blocks).unwrap();
        stream.finish(&mut blocks).unwrap();
        assert_eq!(stream.length(), 15);
        let text = elements(&blocks);
        assert!(text.lines().nth(1).unwrap().ends_with(" data-p>AAAA</script>"), "{text}");
        assert_eq!(text.lines().flat_map(|line| opened(line).1).collect::<Vec<_>>(), b"{\"data\":\"AAAA\"}");
    }
}
