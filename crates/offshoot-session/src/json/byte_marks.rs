//! Looks at sixteen bytes at once, where a search over many would take longer to begin.

use wide::u8x16;

/// How many bytes are looked at at once.
pub(super) const BLOCK: usize = 16;

/// Some bytes of a block: a bit for each of them, the first byte's at the low end.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByteMarks(u32);

impl ByteMarks {
    /// Quotes and backslashes.
    #[inline]
    pub(super) fn of_stops(block: &[u8; BLOCK]) -> Self {
        Self(stops(u8x16::new(*block)).to_bitmask())
    }

    /// Those that a string must escape.
    #[inline]
    pub(super) fn of_escaped(block: &[u8; BLOCK]) -> Self {
        let block = u8x16::new(*block);
        let are_controls = block.min(u8x16::splat(b' ' - 1)).simd_eq(block);
        Self((stops(block) | are_controls).to_bitmask())
    }

    /// The place of the first one.
    #[inline]
    pub(super) fn first(self) -> Option<usize> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as usize)
    }
}

#[inline]
fn stops(block: u8x16) -> u8x16 {
    block.simd_eq(u8x16::splat(b'"')) | block.simd_eq(u8x16::splat(b'\\'))
}

/// The block that begins at a place, if the bytes do not end before it does.
#[inline]
pub(super) fn block_at(bytes: &[u8], at: usize) -> Option<&[u8; BLOCK]> {
    bytes.get(at..)?.first_chunk()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_bytes_are_found_whatever_is_around_them() {
        let around = [0, 1, 0x1f, b' ', b'!', b'"', b'#', b'[', b'\\', b']', 0x7f, 0x80, 0xa2, 0xff];
        for before in around {
            for after in around {
                for (at, byte) in (0..BLOCK).flat_map(|at| (0..=u8::MAX).map(move |byte| (at, byte))) {
                    let mut block = [after; BLOCK];
                    block[..at].fill(before);
                    block[at] = byte;
                    let first = |is: fn(&u8) -> bool| block.iter().position(is);
                    let stop = first(|byte| matches!(byte, b'"' | b'\\'));
                    assert_eq!(ByteMarks::of_stops(&block).first(), stop, "{block:?}");
                    let escaped = first(|byte| matches!(byte, b'"' | b'\\' | 0..b' '));
                    assert_eq!(ByteMarks::of_escaped(&block).first(), escaped, "{block:?}");
                }
            }
        }
    }
}
