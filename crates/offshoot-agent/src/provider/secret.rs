//! A text that shows itself to nobody. Knows no place where keys come from or go to.

/// A secret that shows itself to nobody: `Debug` prints `…`, and there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Shorter texts are no secrets; masking them would only garble what is around.
const SHORTEST: usize = 4;

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for a request header and for nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// `text` with the secret in it replaced by `…`.
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
