//! A text that is never printed. Knows no source or use of keys.

/// `Debug` prints `…`, and there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Shorter texts are not masked: that would garble the text around them.
const SHORTEST: usize = 4;

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Only for a request header.
    pub fn expose(&self) -> &str {
        &self.0
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
}
