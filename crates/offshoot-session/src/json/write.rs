//! Writes one JSON object on one line, as `JSON.stringify` would.

use std::fmt::Write as _;

use super::Json;

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
    serde_json::Value::from(text).to_string()
}

/// Appends a JSON string. Most strings need no escapes.
fn push_quoted(out: &mut String, text: &str) {
    if text.bytes().any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\')) {
        out.push_str(&quote(text));
    } else {
        out.push('"');
        out.push_str(text);
        out.push('"');
    }
}

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
}
