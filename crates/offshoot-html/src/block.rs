//! One block of a stream as an element of the page, with its length.
//!
//! The browser does not run it (its type is not a script type), and base64 cannot end it. Text is compressed (raw deflate);
//! base64 of a session, such as a picture, is written as it is.

use std::io::{self, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;

/// Level 1 of zlib-rs is a tenth faster and its blocks a third larger.
const LEVEL: u32 = 2;

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

    /// The block as an element of the page.
    pub(crate) fn element(self) -> io::Result<Vec<u8>> {
        let mut out = Vec::with_capacity(self.bytes.len() / 2 + 100);
        let (class, length, mark) = (self.class, self.bytes.len(), if self.is_base64 { " data-p" } else { "" });
        write!(out, "<script type=\"application/octet-stream\" class=\"{class}\" data-n=\"{length}\"{mark}>")?;
        if self.is_base64 {
            out.extend_from_slice(&self.bytes);
        } else {
            let mut encoder = DeflateEncoder::new(Vec::with_capacity(length / 2), Compression::new(LEVEL));
            encoder.write_all(&self.bytes)?;
            out.extend_from_slice(STANDARD.encode(encoder.finish()?).as_bytes());
        }
        out.extend_from_slice(b"</script>\n");
        Ok(out)
    }
}
