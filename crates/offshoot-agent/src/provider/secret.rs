//! A text that is never printed. Knows no source or use of keys.

/// `Debug` prints `…`, and there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Shorter texts are not masked: that would garble the text around them.
const SHORTEST: usize = 4;
/// Shorter keys may be words for servers without keys (`ollama`, `lm-studio`), which may occur anywhere.
const SHORTEST_KEY: usize = 20;
/// How keys of known services begin; these are recognised when they are shorter.
const PREFIXES: [&str; 14] =
    ["sk-", "sk_", "pk-", "AIza", "gsk_", "xai-", "hf_", "ghp_", "glpat-", "xoxb-", "AKIA", "nvapi-", "csk-", "fw_"];
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
        let after_prefix = PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix)).map_or(0, str::len);
        !is_word && (text.len() >= SHORTEST_KEY || (has_digit && after_prefix >= SHORTEST_AFTER_PREFIX))
    }

    /// Replaces the secret in `text` with `…`.
    pub fn mask(&self, text: &str) -> String {
        let secret = self.0.trim();
        if secret.len() < SHORTEST { text.to_owned() } else { text.replace(secret, "…") }
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
        assert_eq!(secret.mask("wrong key sk-0123456789, sk-0123456789!"), "wrong key …, …!");
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
