//! The grammar of strings: where one ends, and whether its escapes are right. Looks at sixty-four bytes at once.
//!
//! Which backslashes begin an escape is found by an addition, as simdjson does ("Parsing gigabytes of JSON per second", 2019, §3.1.1).

use memchr::memchr2;
use wide::u8x16;

use super::syntax::{SyntaxError, ValidationStep, fail};

/// How many bytes are looked at.
const STRING_BLOCK: usize = 64;

/// The bytes of a block that a string needs to know: a bit for each of them, the first byte's at the low end.
#[derive(Debug, Clone, Copy)]
struct StringMarks<'a> {
    block: &'a [u8; STRING_BLOCK],
    quotes: u64,
    backslashes: u64,
}

/// Whether the byte before a block begins an escape.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct EscapeBegun(bool);

/// What a block says of a string that goes on in it.
#[derive(Debug, Clone, Copy)]
struct StringPart {
    /// The place of the quote that ends it.
    end: Option<usize>,
    /// The bytes of it that follow a backslash which begins an escape.
    escaped: u64,
    /// Those of them that are not what code has.
    odd: u64,
}

/// Every second bit, from the second one on.
const ODD_BITS: u64 = 0xAAAA_AAAA_AAAA_AAAA;

impl<'a> StringMarks<'a> {
    /// Those of the block that begins at a place, if the bytes do not end before it does.
    #[inline]
    fn at(bytes: &'a [u8], at: usize) -> Option<Self> {
        let block = bytes.get(at..)?.first_chunk()?;
        let parts = parts_of(block);
        Some(Self { block, quotes: places_of(parts, b'"'), backslashes: places_of(parts, b'\\') })
    }

    /// What it says of a string that begins before it; notes whether an escape goes on behind it.
    #[inline]
    fn read(self, begun: &mut EscapeBegun) -> StringPart {
        let escaped = self.escaped(begun);
        let ends = self.quotes & !escaped;
        // All if there is no end.
        let before_end = (ends & ends.wrapping_neg()).wrapping_sub(1);
        let escaped = escaped & before_end;
        let odd = match escaped & !(self.quotes | self.backslashes) {
            0 => 0,
            odd => odd & !places_of(parts_of(self.block), b'n'),
        };
        StringPart { end: (ends != 0).then(|| ends.trailing_zeros() as usize), escaped, odd }
    }

    #[inline]
    fn escaped(self, begun: &mut EscapeBegun) -> u64 {
        let before = u64::from(begun.0);
        if self.backslashes == 0 {
            begun.0 = false;
            return before;
        }
        // In a row of backslashes every second one is escaped. The addition carries through a row to the byte behind it.
        let first = self.backslashes & !before;
        let behind = first << 1;
        let codes = (behind | ODD_BITS).wrapping_sub(first) ^ ODD_BITS;
        begun.0 = (codes & self.backslashes) >> (u64::BITS - 1) == 1;
        codes ^ (self.backslashes | before)
    }
}

impl StringPart {
    #[inline]
    fn has_escape(self) -> bool {
        self.escaped != 0
    }

    /// The places of the bytes after a backslash that must be looked at.
    #[inline]
    fn odd_escapes(self) -> impl Iterator<Item = usize> {
        let mut rest = self.odd;
        std::iter::from_fn(move || {
            let place = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(place)
        })
    }
}

#[inline]
fn parts_of(block: &[u8; STRING_BLOCK]) -> [u8x16; 4] {
    let mut parts = [u8x16::ZERO; 4];
    for (to, from) in parts.iter_mut().zip(block.as_chunks().0) {
        *to = u8x16::new(*from);
    }
    parts
}

#[inline]
fn places_of(parts: [u8x16; 4], byte: u8) -> u64 {
    let byte = u8x16::splat(byte);
    parts.iter().rev().fold(0, |places, part| places << 16 | u64::from(part.simd_eq(byte).to_bitmask()))
}

/// The place after the string that `at` is in, and whether it has an escape behind that. The text has no control character.
pub(super) fn long_string(bytes: &[u8], mut at: usize) -> Result<(usize, bool), SyntaxError> {
    let (mut has_escape, mut begun) = (false, EscapeBegun::default());
    // In code an escape is near the one before. A search over many bytes pays when none has come for a while.
    let mut is_quiet = false;
    while let Some(many) = StringMarks::at(bytes, at) {
        let found = many.read(&mut begun);
        for escaped in found.odd_escapes() {
            escape(bytes, (at + escaped).saturating_sub(1))?;
        }
        has_escape |= found.has_escape();
        if let Some(end) = found.end {
            return Ok((at + end + 1, has_escape));
        }
        at += STRING_BLOCK;
        if std::mem::replace(&mut is_quiet, !found.has_escape() && !begun.0) && is_quiet {
            let rest = bytes.get(at..).unwrap_or_default();
            at += memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
            is_quiet = false;
        }
    }
    if begun.0 {
        at = escape(bytes, at.saturating_sub(1))?;
    }
    string_by_bytes(bytes, at, has_escape || begun.0)
}

/// The same of any text.
pub(super) fn string_by_bytes(bytes: &[u8], mut at: usize, mut has_escape: bool) -> Result<(usize, bool), SyntaxError> {
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok((at + 1, has_escape)),
            Some(b'\\') => (at, has_escape) = (escape(bytes, at)?, true),
            Some(0..b' ') => return Err(SyntaxError { at, expected: "no control character in a string" }),
            Some(_) => at += 1,
            None => return Err(SyntaxError { at, expected: "the end of a string" }),
        }
    }
}

/// The place after the escape that begins at `at`.
fn escape(bytes: &[u8], at: usize) -> ValidationStep {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => {
            let digits = bytes.get(at + 2..at + 6).unwrap_or(&[]);
            if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                return fail(at + 2, "four hexadecimal digits");
            }
            Ok(at + 6)
        }
        _ => fail(at + 1, "an escape"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same, byte by byte.
    fn plainly(block: &[u8; STRING_BLOCK], begun: &mut bool) -> (Option<usize>, Vec<usize>) {
        let mut escaped = Vec::new();
        let mut end = None;
        for (at, byte) in block.iter().enumerate() {
            if std::mem::take(begun) {
                if end.is_none() {
                    escaped.push(at);
                }
                continue;
            }
            *begun = *byte == b'\\';
            if *byte == b'"' && end.is_none() {
                end = Some(at);
            }
        }
        (end, escaped)
    }

    proptest! {
        #[test]
        fn a_block_says_what_its_bytes_say(
            picked in proptest::collection::vec(0..8usize, 64),
            begins in any::<bool>(),
        ) {
            let mut block = [0; 64];
            for (to, pick) in block.iter_mut().zip(picked) {
                *to = b"\\\\\\\"nux\xff"[pick];
            }
            let (mut begun, mut plainly_begun) = (EscapeBegun(begins), begins);
            let part = StringMarks::at(&block, 0).unwrap().read(&mut begun);
            let (end, escaped) = plainly(&block, &mut plainly_begun);
            prop_assert_eq!(part.end, end);
            prop_assert_eq!(begun.0, plainly_begun);
            prop_assert_eq!(part.has_escape(), !escaped.is_empty());
            let odd: Vec<usize> =
                escaped.into_iter().filter(|at| !matches!(block[*at], b'n' | b'"' | b'\\')).collect();
            prop_assert_eq!(part.odd_escapes().collect::<Vec<_>>(), odd);
        }
    }
}
