//! Removes keys from a command's output while it streams, so that no file contains them. Knows no tool and no
//! provider.

use memchr::memmem;

use offshoot_protocol::{MASK, Secrets};

/// Removes keys from bytes, however they are split.
#[derive(Debug, Default)]
pub(crate) struct Hide {
    keys: Secrets,
    held: Vec<u8>,
}

impl Hide {
    pub(crate) fn new(keys: Secrets) -> Self {
        Self { keys, held: Vec::new() }
    }

    /// Adds bytes; returns those that cannot be part of a key.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.keys.is_empty() {
            return bytes.to_vec();
        }
        self.held.extend_from_slice(bytes);
        let mut settled = Vec::with_capacity(self.held.len());
        let mut from = 0;
        let mut next: Vec<FoundKey> = self.keys.texts().filter_map(|key| FoundKey::after(&self.held, key, 0)).collect();
        while let Some(found) = next.iter().min_by_key(|found| found.at).copied() {
            settled.extend_from_slice(&self.held[from..found.at]);
            settled.extend_from_slice(MASK.as_bytes());
            from = found.at + found.key.len();
            next = next.iter().filter_map(|found| found.not_before(&self.held, from)).collect();
        }
        let end = self.held.len() - self.begun(from);
        settled.extend_from_slice(&self.held[from..end]);
        self.held.drain(..end);
        settled
    }

    /// The held-back bytes that only started like a key.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// How many of the last bytes may be the beginning of a key.
    fn begun(&self, from: usize) -> usize {
        let rest = self.held.get(from..).unwrap_or_default();
        let begun = self.keys.texts().map(|key| {
            let longest = rest.len().min(key.len() - 1);
            (1..=longest).rev().find(|length| rest.ends_with(&key.as_bytes()[..*length])).unwrap_or(0)
        });
        begun.max().unwrap_or(0)
    }
}

/// The next place of a key. Of several at one place the first one is taken, which is the longest.
#[derive(Clone, Copy)]
struct FoundKey<'a> {
    at: usize,
    key: &'a str,
}

impl<'a> FoundKey<'a> {
    fn after(bytes: &[u8], key: &'a str, from: usize) -> Option<Self> {
        let at = from + memmem::find(bytes.get(from..)?, key.as_bytes())?;
        Some(Self { at, key })
    }

    fn not_before(self, bytes: &[u8], from: usize) -> Option<Self> {
        if self.at >= from { Some(self) } else { Self::after(bytes, self.key, from) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offshoot_protocol::Secret;

    #[test]
    fn a_key_is_found_wherever_it_is_cut() {
        let (key, other) = ("sk-sk-sk-0123456789-0123456789", "AIza-9876543210-9876543210");
        let text = format!("KEY={key}\n{key}{other}sk-sk-\nsk-sk-sk-0123456789");
        for size in 1..text.len() {
            let mut hide = Hide::new(Secrets::new([other, key].map(Secret::new)));
            let mut shown: Vec<u8> = text.as_bytes().chunks(size).flat_map(|bytes| hide.push(bytes)).collect();
            shown.extend(hide.finish());
            let expected = format!("KEY={MASK}\n{MASK}{MASK}sk-sk-\nsk-sk-sk-0123456789");
            assert_eq!(String::from_utf8_lossy(&shown), expected, "{size}");
        }
        assert_eq!(Hide::new(Secrets::new([Secret::new("ollama")])).push(b"ollama"), b"ollama");
    }
}
