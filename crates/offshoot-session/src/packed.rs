//! Numbers and texts as bytes, for caches that can be deleted at any time, and a hash of bytes. Knows nothing of what is stored.

/// A fast hash, to detect changes and to spread ids over buckets. Anybody can make bytes with a given hash.
#[must_use]
pub fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |state: u64, word: u64| (state.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    let chunks = bytes.chunks_exact(8);
    let mut last = [0; 8];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    let state = chunks.fold(bytes.len() as u64, |state, chunk| {
        mix(state, chunk.try_into().map(u64::from_le_bytes).unwrap_or_default())
    });
    let state = mix(state, u64::from_le_bytes(last));
    state ^ (state >> 32)
}

/// Appends values, which [`PackedReader`] reads in the same order.
#[derive(Debug, Default)]
pub struct PackedWriter {
    bytes: Vec<u8>,
}

#[expect(missing_docs, reason = "the names say it")]
impl PackedWriter {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes) }
    }

    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub fn short(&mut self, number: u32) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    pub fn number(&mut self, number: u64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    pub fn text(&mut self, text: &str) {
        self.short(u32::try_from(text.len()).unwrap_or(u32::MAX));
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub fn optional(&mut self, text: Option<&str>) {
        self.byte(u8::from(text.is_some()));
        if let Some(text) = text {
            self.text(text);
        }
    }

    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads what a [`PackedWriter`] wrote; `None` for anything else.
#[derive(Debug, Clone)]
pub struct PackedReader<'a> {
    rest: &'a [u8],
}

#[expect(missing_docs, reason = "the names say it")]
impl<'a> PackedReader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub fn array<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(taken)
    }

    pub fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|bytes| bytes[0])
    }

    pub fn short(&mut self) -> Option<u32> {
        self.array().map(|bytes| u32::from_le_bytes(*bytes))
    }

    pub fn number(&mut self) -> Option<u64> {
        self.array().map(|bytes| u64::from_le_bytes(*bytes))
    }

    pub fn text(&mut self) -> Option<&'a str> {
        let length = self.short()? as usize;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        std::str::from_utf8(text).ok()
    }

    pub fn optional(&mut self) -> Option<Option<&'a str>> {
        match self.byte()? {
            0 => Some(None),
            _ => self.text().map(Some),
        }
    }
}
