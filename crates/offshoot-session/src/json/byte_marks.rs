//! Looks at eight bytes at once, where a search over many would take longer to begin.

/// Some of the eight bytes of a word. Only the first one is sure: what is behind it may be marked by mistake.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByteMarks(u64);

impl ByteMarks {
    /// Those that are less than `least`, which is at most 128.
    pub(super) fn below(word: u64, least: u8) -> Self {
        const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
        // A byte that is less takes from the next one, which is why that is not sure.
        Self(word.wrapping_sub(u64::from_le_bytes([least; 8])) & !word & HIGH)
    }

    /// Those that are this byte.
    pub(super) fn of(word: u64, byte: u8) -> Self {
        Self::below(word ^ u64::from_le_bytes([byte; 8]), 1)
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The place of the first one in a word made by [`u64::from_le_bytes`].
    pub(super) fn first(self) -> Option<usize> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as usize / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_is_found_whatever_is_around_it() {
        let around = [0, 1, 0x1f, b' ', b'!', b'"', b'#', b'[', b'\\', b']', 0x7f, 0x80, 0xa2, 0xff];
        for before in around {
            for after in around {
                for at in 0..8 {
                    for byte in 0..=u8::MAX {
                        let mut bytes = [after; 8];
                        bytes[..at].fill(before);
                        bytes[at] = byte;
                        let word = u64::from_le_bytes(bytes);
                        let first = |is: &dyn Fn(u8) -> bool| bytes.iter().position(|byte| is(*byte));
                        assert_eq!(ByteMarks::below(word, b' ').first(), first(&|byte| byte < b' '), "{bytes:?}");
                        assert_eq!(ByteMarks::of(word, b'"').first(), first(&|byte| byte == b'"'), "{bytes:?}");
                        let both = ByteMarks::of(word, b'\\').or(ByteMarks::below(word, 3));
                        assert_eq!(both.first(), first(&|byte| byte == b'\\' || byte < 3), "{bytes:?}");
                    }
                }
            }
        }
    }
}
