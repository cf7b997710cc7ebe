//! Arguments of tool calls as models write them: JSON that may be cut off, or not quite valid.
//!
//! A cut-off text is read as far as possible; other errors give no arguments at all.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::{Map, Value};

const DEEPEST: usize = 100;

/// Always an object, empty if nothing could be read.
pub(super) fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    let value = serde_json::from_str(text).ok().or_else(|| {
        let mut reader = Reader { rest: text.chars().peekable(), is_cut: false };
        reader.value(0).ok().flatten()
    });
    match value {
        Some(value @ Value::Object(_)) => value,
        _ => Value::Object(Map::new()),
    }
}

/// Invalid JSON, for another reason than its end.
struct Wrong;

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    /// Whether the text ended too early.
    is_cut: bool,
}

impl Reader<'_> {
    /// The next value; `None` if the text ended before it.
    fn value(&mut self, depth: usize) -> Result<Option<Value>, Wrong> {
        if depth > DEEPEST {
            return Err(Wrong);
        }
        match self.peek() {
            None => Ok(self.cut(None)),
            Some('{') => self.object(depth).map(Some),
            Some('[') => self.array(depth).map(Some),
            Some('"') => Ok(Some(Value::String(self.string()))),
            Some('-' | '0'..='9') => self.number(),
            Some(_) => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, Wrong> {
        let mut map = Map::new();
        self.rest.next();
        loop {
            match self.peek() {
                Some('}') => {
                    self.rest.next();
                    return Ok(Value::Object(map));
                }
                Some('"') => {}
                Some(_) => return Err(Wrong),
                None => return Ok(self.cut(Value::Object(map))),
            }
            let key = self.string();
            if self.is_cut {
                return Ok(Value::Object(map));
            }
            match self.peek() {
                Some(':') => self.rest.next(),
                Some(_) => return Err(Wrong),
                None => return Ok(self.cut(Value::Object(map))),
            };
            if let Some(value) = self.value(depth + 1)? {
                map.insert(key, value);
            }
            if self.is_cut || !self.comma('}')? {
                return Ok(Value::Object(map));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, Wrong> {
        let mut items = Vec::new();
        self.rest.next();
        if self.peek() == Some(']') {
            self.rest.next();
            return Ok(Value::Array(items));
        }
        loop {
            items.extend(self.value(depth + 1)?);
            if self.is_cut || !self.comma(']')? {
                return Ok(Value::Array(items));
            }
        }
    }

    /// Whether another member follows, rather than `end` or the end of the text.
    fn comma(&mut self, end: char) -> Result<bool, Wrong> {
        match self.peek() {
            Some(',') => {
                self.rest.next();
                Ok(true)
            }
            Some(other) if other == end => {
                self.rest.next();
                Ok(false)
            }
            Some(_) => Err(Wrong),
            None => Ok(self.cut(false)),
        }
    }

    /// Raw line feeds and unknown escapes are kept as they are.
    fn string(&mut self) -> String {
        let mut text = String::new();
        self.rest.next();
        loop {
            match self.rest.next() {
                None => return self.cut(text),
                Some('"') => return text,
                Some('\\') => match self.rest.next() {
                    None => return self.cut(text),
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('b') => text.push('\u{8}'),
                    Some('f') => text.push('\u{c}'),
                    Some('u') => self.escape(&mut text),
                    Some(same @ ('"' | '\\' | '/')) => text.push(same),
                    Some(other) => text.extend(['\\', other]),
                },
                Some(other) => text.push(other),
            }
        }
    }

    /// Reads what follows `\u`, with the second half of a surrogate pair.
    fn escape(&mut self, text: &mut String) {
        let Some(high) = self.hex() else { return text.push_str("\\u") };
        let is_high = (0xD800..0xDC00).contains(&high);
        let mut ahead = self.rest.clone();
        let low = if is_high && ahead.next() == Some('\\') && ahead.next() == Some('u') {
            self.rest = ahead;
            self.hex()
        } else {
            None
        };
        let code = match low {
            Some(low @ 0xDC00..0xE000) => 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00),
            _ => high,
        };
        text.push(char::from_u32(code).unwrap_or('\u{fffd}'));
    }

    /// Four hexadecimal digits; otherwise nothing is consumed.
    fn hex(&mut self) -> Option<u32> {
        let mut ahead = self.rest.clone();
        let mut code = 0;
        for _ in 0..4 {
            code = code * 16 + ahead.next()?.to_digit(16)?;
        }
        self.rest = ahead;
        Some(code)
    }

    fn number(&mut self) -> Result<Option<Value>, Wrong> {
        let mut text = String::new();
        while let Some(next) = self.rest.next_if(|c| matches!(c, '-' | '+' | '.' | 'e' | 'E' | '0'..='9')) {
            text.push(next);
        }
        let ended = self.rest.peek().is_none();
        self.is_cut |= ended;
        while ended && text.ends_with(['-', '+', '.', 'e', 'E']) {
            text.pop();
        }
        match serde_json::from_str(&text) {
            Ok(value) => Ok(Some(value)),
            Err(_) if ended => Ok(None),
            Err(_) => Err(Wrong),
        }
    }

    /// `true`, `false`, `null`, or the start of one.
    fn word(&mut self) -> Result<Option<Value>, Wrong> {
        let mut text = String::new();
        while let Some(next) = self.rest.next_if(char::is_ascii_alphabetic) {
            text.push(next);
        }
        let ended = self.rest.peek().is_none();
        let is = |word: &str| text == word || (ended && !text.is_empty() && word.starts_with(&text));
        self.is_cut |= ended;
        let words = [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)];
        words.into_iter().find(|(word, _)| is(word)).map(|(_, value)| Some(value)).ok_or(Wrong)
    }

    fn peek(&mut self) -> Option<char> {
        while self.rest.next_if(|c| matches!(c, ' ' | '\t' | '\n' | '\r')).is_some() {}
        self.rest.peek().copied()
    }

    fn cut<T>(&mut self, so_far: T) -> T {
        self.is_cut = true;
        so_far
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_cut_off_is_read_as_far_as_it_goes() {
        for (text, expected) in [
            ("", json!({})),
            ("{", json!({})),
            ("{\"pa", json!({})),
            ("{\"path\"", json!({})),
            ("{\"path\":", json!({})),
            ("{\"path\": \"a.t", json!({"path": "a.t"})),
            ("{\"path\": \"a\\", json!({"path": "a"})),
            ("{\"a\": 1, \"b\": -", json!({"a": 1})),
            ("{\"a\": 12.", json!({"a": 12})),
            ("{\"a\": [1, {\"b\": tr", json!({"a": [1, {"b": true}]})),
            ("{\"a\": 1,", json!({"a": 1})),
            ("{\"a\": 1}", json!({"a": 1})),
        ] {
            assert_eq!(arguments(text), expected, "{text}");
        }
    }

    #[test]
    fn bare_line_ends_and_odd_escapes_are_mended_and_nonsense_is_nothing() {
        assert_eq!(arguments("{\"a\": \"x\ny\\d\\u00e9\\ud83d\\ude00\"}"), json!({"a": "x\ny\\dé😀"}));
        assert_eq!(arguments("{\"a\": }"), json!({}));
        assert_eq!(arguments("[1]"), json!({}));
        assert_eq!(arguments(&"[".repeat(100_000)), json!({}));
    }

    #[test]
    fn no_prefix_panics() {
        let text = "{\"a\\u00e9\": [\"\\ud83d\\ude00\", -1.5e3, null, {\"b\": false}], \"日\": \"本\"}";
        for (at, _) in text.char_indices() {
            assert!(arguments(&text[..at]).is_object());
        }
    }
}
