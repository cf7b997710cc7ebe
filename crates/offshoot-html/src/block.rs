//! One block of a stream as an element of the page, with its length.
//!
//! The browser does not run it (its type is not a script type), and base64 cannot end it. Text is compressed (raw deflate);
//! base64 of a session, such as a picture, is written as it is.

use std::io::{self, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libdeflater::{CompressionLvl, Compressor};

/// Level 2 needs half as much time again, and its blocks are a fiftieth smaller.
const QUICK: CompressionLvl = level(1);
/// Pages of small sessions are largely their script: their blocks take three times as long, and are a sixth smaller.
const THOROUGH: CompressionLvl = level(6);
/// Bytes of a small session.
const SMALL: u64 = 4 << 20;

const fn level(level: i32) -> CompressionLvl {
    match CompressionLvl::new(level) {
        Ok(level) => level,
        Err(_) => CompressionLvl::fastest(),
    }
}

/// A finished block that is not written yet.
#[derive(Debug)]
pub(crate) struct Block {
    class: &'static str,
    bytes: Vec<u8>,
    is_base64: bool,
}

impl Block {
    pub(crate) fn text(class: &'static str, bytes: Vec<u8>) -> Self {
        Self { class, bytes, is_base64: false }
    }

    /// Of bytes that must be base64.
    pub(crate) fn base64(class: &'static str, bytes: Vec<u8>) -> Self {
        Self { class, bytes, is_base64: true }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn is_base64(&self) -> bool {
        self.is_base64
    }
}

/// Makes elements of blocks, one after the other.
pub(crate) struct Packer {
    compressor: Compressor,
    packed: Vec<u8>,
}

impl Packer {
    /// For the blocks of a session of so many bytes.
    pub(crate) fn new(session: u64) -> Self {
        let level = if session <= SMALL { THOROUGH } else { QUICK };
        Self { compressor: Compressor::new(level), packed: Vec::new() }
    }

    /// Appends the block as an element of the page.
    pub(crate) fn element(&mut self, block: &Block, out: &mut Vec<u8>) -> io::Result<()> {
        let (class, length, mark) = (block.class, block.bytes.len(), if block.is_base64 { " data-p" } else { "" });
        write!(out, "<script type=\"application/octet-stream\" class=\"{class}\" data-n=\"{length}\"{mark}>")?;
        if block.is_base64 {
            out.extend_from_slice(&block.bytes);
        } else {
            let most = self.compressor.deflate_compress_bound(length);
            if self.packed.len() < most {
                self.packed.resize(most, 0);
            }
            let packed = self.compressor.deflate_compress(&block.bytes, &mut self.packed).map_err(io::Error::other)?;
            let packed = self.packed.get(..packed).unwrap_or_default();
            let start = out.len();
            out.resize(start + packed.len().div_ceil(3) * 4, 0);
            let room = out.get_mut(start..).unwrap_or_default();
            let end = start + STANDARD.encode_slice(packed, room).map_err(io::Error::other)?;
            out.truncate(end);
        }
        out.extend_from_slice(b"</script>\n");
        Ok(())
    }
}
