//! Foreign ids as keys of 16 bytes: UUIDs as they are, other texts by their hash.

use offshoot_session::id::EntryId;
use sha2::{Digest as _, Sha256};

/// A foreign id in a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key([u8; 16]);

impl Key {
    pub(crate) fn of(id: &str) -> Self {
        Self(bytes_of_uuid(id.as_bytes()).unwrap_or_else(|| {
            let hash = Sha256::digest(id.as_bytes());
            let mut key = [0; 16];
            key.copy_from_slice(hash.get(..16).unwrap_or(&[0; 16]));
            key
        }))
    }
}

impl Key {
    /// Whether it is the key of this id as it is, and not of its hash.
    pub(crate) fn is_uuid(self, id: &str) -> bool {
        bytes_of_uuid(id.as_bytes()) == Some(self.0)
    }

    /// The UUID of which it is the key.
    pub(crate) fn uuid(self) -> EntryId {
        EntryId::new(uuid::Uuid::from_bytes(self.0).hyphenated().encode_lower(&mut uuid::Uuid::encode_buffer()))
    }
}

/// A foreign id in little room: of a UUID its key says it all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForeignId {
    key: Key,
    /// An id that is no UUID.
    other: Option<Box<str>>,
}

impl ForeignId {
    pub(crate) fn of(id: &str) -> Self {
        match bytes_of_uuid(id.as_bytes()) {
            Some(uuid) => Self { key: Key(uuid), other: None },
            None => Self { key: Key::of(id), other: Some(id.into()) },
        }
    }

    pub(crate) fn key(&self) -> Key {
        self.key
    }

    /// The id as it is.
    pub(crate) fn entry_id(&self) -> EntryId {
        self.other.as_deref().map_or_else(|| self.key.uuid(), EntryId::from)
    }
}

/// A UUID in its usual spelling, in lower case.
fn bytes_of_uuid(text: &[u8]) -> Option<[u8; 16]> {
    const PAIRS: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
    let text: &[u8; 36] = text.try_into().ok()?;
    let are_dashes = [8, 13, 18, 23].iter().all(|at| text[*at] == b'-');
    let mut wrong = u8::from(!are_dashes);
    let key = PAIRS.map(|at| {
        let (high, low) = (DIGITS[usize::from(text[at])], DIGITS[usize::from(text[at + 1])]);
        wrong |= (high | low) & 0xF0;
        high << 4 | low & 15
    });
    (wrong == 0).then_some(key)
}

/// Of each byte its value as a hexadecimal digit in lower case; more than 15 if it is none.
const DIGITS: [u8; 256] = {
    let mut digits = [0xFF; 256];
    let mut value = 0;
    while value < 16_u8 {
        digits[if value < 10 { b'0' + value } else { b'a' + value - 10 } as usize] = value;
        value += 1;
    }
    digits
};

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

/// Tells a record from most others with the same id, at little cost. Not for keeping: another version may make other prints.
pub(crate) fn print_of(text: &str) -> u32 {
    const END: usize = 256;
    let bytes = text.as_bytes();
    let (front, back) =
        (bytes.get(..END).unwrap_or(bytes), bytes.get(bytes.len().saturating_sub(END)..).unwrap_or(bytes));
    let mix = |print: &mut u64, word: [u8; 8]| {
        *print = (*print ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        *print ^= *print >> 32;
    };
    // Both ends at once: each step needs the one before.
    let (mut print, mut behind) = (0xcbf2_9ce4_8422_2325 ^ bytes.len() as u64, 0);
    let ((front, front_rest), (back, back_rest)) = (front.as_chunks(), back.as_chunks());
    for (word, other) in front.iter().zip(back) {
        mix(&mut print, *word);
        mix(&mut behind, *other);
    }
    for rest in [front_rest, back_rest] {
        let mut last = [0; 8];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        mix(&mut print, last);
    }
    mix(&mut print, behind.to_le_bytes());
    print as u32
}

/// Foreign words as a name: what is no plain character is left out.
pub(crate) fn clean(words: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    words.chars().filter(is_plain).take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_its_own_key_and_nothing_else_is() {
        let uuid_text = "01234567-89ab-cdef-0123-456789abcdef";
        let expected = [1, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 1, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];
        assert_eq!(bytes_of_uuid(uuid_text.as_bytes()), Some(expected));
        assert_eq!(Key::of(uuid_text).uuid().as_str(), uuid_text);
        assert!(Key::of(uuid_text).is_uuid(uuid_text) && !Key::of("a").is_uuid("a"));
        for at in 0..uuid_text.len() {
            for other in ["g", "A", "x", "/", ":"] {
                let mut text = uuid_text.to_owned();
                text.replace_range(at..=at, other);
                assert_eq!(bytes_of_uuid(text.as_bytes()), None, "{text}");
            }
        }
        assert_eq!(bytes_of_uuid(b"0123456789abcdef0123456789abcdef0123"), None);
        assert_eq!(bytes_of_uuid(b""), None);
    }

    #[test]
    fn an_id_stays_as_it_is() {
        for id in ["01234567-89ab-cdef-0123-456789abcdef", "01234567-89AB-CDEF-0123-456789ABCDEF", "msg_1", ""] {
            let foreign = ForeignId::of(id);
            assert_eq!((foreign.entry_id(), foreign.key()), (EntryId::new(id), Key::of(id)));
        }
    }

    #[test]
    fn a_change_at_either_end_of_a_record_changes_its_print() {
        let text = "x".repeat(1000);
        let print = print_of(&text);
        for at in (0..256).chain(744..1000) {
            let mut other = text.clone();
            other.replace_range(at..=at, "y");
            assert_ne!(print_of(&other), print, "{at}");
        }
        assert_ne!(print_of(&"x".repeat(999)), print);
        assert_eq!(print_of(""), print_of(""));
    }
}
