//! Texts that are never printed. Knows no source or use of keys.

use std::cmp::Reverse;
use std::sync::Arc;

/// Stands for a key in a text. No file of the user's gets it: see the tools `edit` and `write`.
pub const MASK: &str = "[key hidden by offshoot]";

/// `Debug` prints `…`, and there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Shorter texts are not masked: that would garble the text around them.
const SHORTEST: usize = 4;
/// Shorter keys may be words for servers without keys (`ollama`, `lm-studio`), which may occur anywhere.
const SHORTEST_KEY: usize = 20;
/// How keys of known services begin; these are recognised when they are shorter.
const PREFIXES: [&str; 19] = [
    "sk-",
    "sk_",
    "pk-",
    "AIza",
    "gsk_",
    "xai-",
    "hf_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "nvapi-",
    "csk-",
    "fw_",
];
const SHORTEST_AFTER_PREFIX: usize = 8;
/// Parts of placeholders that users write where no key is needed.
const PLACEHOLDERS: [&str; 6] = ["no-key", "not-needed", "not-required", "placeholder", "your-", "dummy"];

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Only for a request header.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether the text is certainly a key, not a placeholder.
    pub fn is_telling(&self) -> bool {
        let text = self.0.trim();
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        let is_word = !has_digit && PLACEHOLDERS.iter().any(|word| text.to_ascii_lowercase().contains(word));
        let after_prefix = self.after_prefix().map_or(0, str::len);
        !is_word && (text.len() >= SHORTEST_KEY || (has_digit && after_prefix >= SHORTEST_AFTER_PREFIX))
    }

    /// Whether it begins as keys of known services do.
    pub fn has_known_prefix(&self) -> bool {
        self.after_prefix().is_some()
    }

    fn after_prefix(&self) -> Option<&str> {
        PREFIXES.iter().find_map(|prefix| self.0.trim().strip_prefix(prefix))
    }

    /// Replaces the secret in `text` with [`MASK`].
    pub fn mask(&self, text: &str) -> String {
        let secret = self.0.trim();
        if secret.len() < SHORTEST { text.to_owned() } else { text.replace(secret, MASK) }
    }
}

/// All known keys, without placeholders.
#[derive(Debug, Clone, Default)]
pub struct Secrets(Arc<[Secret]>);

impl Secrets {
    /// Keeps what is a key for sure.
    pub fn new(keys: impl IntoIterator<Item = Secret>) -> Self {
        let mut keys: Vec<Secret> = keys.into_iter().filter(Secret::is_telling).collect();
        // A key may contain another.
        let text = |key: &Secret| key.0.trim().to_owned();
        keys.sort_by_cached_key(|key| (Reverse(text(key).len()), text(key)));
        keys.dedup_by_key(|key| text(key));
        Self(keys.into())
    }

    /// Whether no key is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys' texts, the longest first.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|key| key.0.trim())
    }

    /// Whether bytes contain a key.
    pub fn are_in(&self, bytes: &[u8]) -> bool {
        !self.is_empty() && self.masked(&String::from_utf8_lossy(bytes)).is_some()
    }

    /// The text with [`MASK`] for every key; `None` if it contains none.
    pub fn masked(&self, text: &str) -> Option<String> {
        let mut masked = None;
        for key in self.0.iter() {
            let text = masked.as_deref().unwrap_or(text);
            if text.contains(key.0.trim()) {
                masked = Some(key.mask(text));
            }
        }
        masked
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_neither_printed_nor_echoed() {
        let secret = Secret::new("sk-0123456789\n");
        assert_eq!(format!("{secret:?} {:#?}", Some(&secret)), "… Some(\n    …,\n)");
        assert_eq!(secret.mask("wrong key sk-0123456789, sk-0123456789!"), format!("wrong key {MASK}, {MASK}!"));
        assert_eq!(Secret::new("").mask("nothing"), "nothing");
    }

    #[test]
    fn keys_are_told_from_words_that_stand_for_none() {
        for key in ["0123456789abcdefghij", "sk-1a2b3c4d", "AIza00000000", "correct-horse-battery-staple"] {
            assert!(Secret::new(format!(" {key}\n")).is_telling(), "{key}");
        }
        for word in ["", "ollama", "lm-studio", "sk-no-key-required", "sk-1234", "your-api-key-goes-in-here"] {
            assert!(!Secret::new(word).is_telling(), "{word}");
        }
    }
}
