//! Removes the model's key from a command's output while it streams, so that no file contains it. Knows no tool and no
//! provider.

use memchr::memmem;

use crate::provider::Secret;

/// Removes the key from bytes, however they are split.
#[derive(Debug, Default)]
pub(crate) struct Hide {
    key: Option<Secret>,
    held: Vec<u8>,
}

impl Hide {
    pub(crate) fn new(key: Option<Secret>) -> Self {
        Self { key: key.filter(Secret::is_telling), held: Vec::new() }
    }

    /// Adds bytes; returns those that cannot be part of the key.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let Some(key) = self.key.as_ref().map(|key| key.expose().trim().as_bytes()) else { return bytes.to_vec() };
        self.held.extend_from_slice(bytes);
        let mut settled = Vec::with_capacity(self.held.len());
        let mut from = 0;
        for at in memmem::find_iter(&self.held, key) {
            settled.extend_from_slice(&self.held[from..at]);
            settled.extend_from_slice("…".as_bytes());
            from = at + key.len();
        }
        let longest = (self.held.len() - from).min(key.len() - 1);
        let begun = (1..=longest).rev().find(|length| self.held.ends_with(&key[..*length])).unwrap_or(0);
        let end = self.held.len() - begun;
        settled.extend_from_slice(&self.held[from..end]);
        self.held.drain(..end);
        settled
    }

    /// The held-back bytes that only started like the key.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_wherever_it_is_cut() {
        let key = "sk-sk-sk-0123456789-0123456789";
        let text = format!("KEY={key}\n{key}{key}sk-sk-\nsk-sk-sk-0123456789");
        for size in 1..text.len() {
            let mut hide = Hide::new(Some(Secret::new(key)));
            let mut shown: Vec<u8> = text.as_bytes().chunks(size).flat_map(|bytes| hide.push(bytes)).collect();
            shown.extend(hide.finish());
            assert_eq!(String::from_utf8_lossy(&shown), "KEY=…\n……sk-sk-\nsk-sk-sk-0123456789", "{size}");
        }
        assert_eq!(Hide::new(Some(Secret::new("ollama"))).push(b"ollama"), b"ollama");
    }
}
