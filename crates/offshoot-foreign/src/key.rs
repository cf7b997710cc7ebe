//! Foreign ids as keys of 16 bytes: UUIDs as they are, other texts by their hash.

use sha2::{Digest as _, Sha256};

/// A foreign id in a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key([u8; 16]);

impl Key {
    pub(crate) fn of(id: &str) -> Self {
        Self(uuid(id.as_bytes()).unwrap_or_else(|| {
            let hash = Sha256::digest(id.as_bytes());
            let mut key = [0; 16];
            key.copy_from_slice(hash.get(..16).unwrap_or(&[0; 16]));
            key
        }))
    }
}

/// A UUID in its usual spelling, in lower case.
fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    if text.len() != 36 {
        return None;
    }
    let (mut key, mut digits) = ([0u8; 16], 0usize);
    for (at, byte) in text.iter().enumerate() {
        let digit = match byte {
            b'-' if matches!(at, 8 | 13 | 18 | 23) => continue,
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        let place = key.get_mut(digits / 2)?;
        *place = *place << 4 | digit;
        digits += 1;
    }
    (digits == 32).then_some(key)
}

/// The first hexadecimal digits of the sha256 of texts with a zero byte between them.
pub(crate) fn hex_hash(parts: &[&[u8]], digits: usize) -> String {
    let mut hash = Sha256::new();
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            hash.update([0]);
        }
        hash.update(part);
    }
    let mut hex: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    hex.truncate(digits);
    hex
}

/// Tells a record from most others with the same id, at little cost.
pub(crate) fn print_of(text: &str) -> u32 {
    const END: usize = 256;
    let bytes = text.as_bytes();
    let (front, back) =
        (bytes.get(..END).unwrap_or(bytes), bytes.get(bytes.len().saturating_sub(END)..).unwrap_or(bytes));
    let start = 0x811c_9dc5 ^ bytes.len() as u32;
    front.iter().chain(back).fold(start, |print, byte| (print ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Foreign words as a name: what is no plain character is left out.
pub(crate) fn clean(words: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    words.chars().filter(is_plain).take(80).collect()
}
