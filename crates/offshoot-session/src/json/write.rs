//! Writes one JSON object on one line, as `JSON.stringify` would.

use std::fmt::Write as _;

use super::Json;
use super::byte_marks::{BLOCK, ByteMarks};

/// Most objects are not longer.
const USUAL: usize = 512;

/// A compact JSON object under construction; members keep the order in which they are added.
#[derive(Debug, Clone, Default)]
pub struct Object {
    text: String,
}

impl Object {
    /// An object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a member whose value is already JSON.
    #[must_use]
    pub fn json(mut self, name: &str, value: Json<'_>) -> Self {
        self.push(name, value.text());
        self
    }

    /// Adds a string member.
    #[must_use]
    pub fn str(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        push_quoted(&mut self.text, value);
        self
    }

    /// Adds a string member if there is a value.
    #[must_use]
    pub fn opt_str(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.str(name, value),
            None => self,
        }
    }

    /// Adds a string member, or `null`.
    #[must_use]
    pub fn str_or_null(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.str(name, value),
            None => self.raw(name, "null"),
        }
    }

    /// Adds a member whose value is printed as it is: numbers, booleans and finished JSON.
    #[must_use]
    pub fn raw(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        self.name(name);
        let _always_ok = write!(self.text, "{value}");
        self
    }

    fn push(&mut self, name: &str, value: &str) {
        self.name(name);
        self.text.push_str(value);
    }

    fn name(&mut self, name: &str) {
        if self.text.is_empty() {
            self.text.reserve(USUAL);
        }
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        push_quoted(&mut self.text, name);
        self.text.push(':');
    }

    /// The finished object without line feed.
    pub fn finish(mut self) -> String {
        if self.text.is_empty() {
            self.text.push('{');
        }
        self.text.push('}');
        self.text
    }
}

/// A string as JSON.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(&mut out, text);
    out
}

/// Appends a string as JSON.
pub fn push_quoted(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some(at) = first_escaped(rest.as_bytes()) {
        let (plain, odd) = rest.split_at(at);
        out.push_str(plain);
        match odd.as_bytes()[0] {
            byte @ (b'"' | b'\\') => out.extend(['\\', char::from(byte)]),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            byte => {
                let _always_ok = write!(out, "\\u{byte:04x}");
            }
        }
        rest = &odd[1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Where the first byte is that a string must escape.
fn first_escaped(bytes: &[u8]) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks();
    for (at, block) in blocks.iter().enumerate() {
        if let Some(first) = ByteMarks::of_escaped(block).first() {
            return Some(at * BLOCK + first);
        }
    }
    let near = rest.iter().position(|byte| ESCAPED[usize::from(*byte)])?;
    Some(bytes.len() - rest.len() + near)
}

/// Which bytes a string must escape.
const ESCAPED: [bool; 256] = {
    let mut escaped = [false; 256];
    let mut byte = 0;
    while byte < b' ' {
        escaped[byte as usize] = true;
        byte += 1;
    }
    escaped[b'"' as usize] = true;
    escaped[b'\\' as usize] = true;
    escaped
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_compactly_in_order() {
        let line =
            Object::new().str("b", "x\n\"\u{2028}").raw("a", 1).str_or_null("p", None).opt_str("gone", None).finish();
        assert_eq!(line, "{\"b\":\"x\\n\\\"\u{2028}\",\"a\":1,\"p\":null}");
        assert_eq!(Object::new().finish(), "{}");
    }

    #[test]
    fn every_character_is_escaped_as_serde_json_does() {
        for at in (0..=char::MAX as u32).filter_map(char::from_u32) {
            let text = format!("a{at}é{at}");
            assert_eq!(quote(&text), serde_json::Value::from(text).to_string());
        }
        for length in 0..40 {
            for odd in ["\n\"", "\"", "\\", "\u{1f} !#[]\u{7f}\u{80}", "\0", "\u{ff}\""] {
                let text = format!("{}{odd}{}", "a".repeat(length), "é".repeat(length));
                assert_eq!(quote(&text), serde_json::Value::from(text).to_string());
            }
        }
    }
}
