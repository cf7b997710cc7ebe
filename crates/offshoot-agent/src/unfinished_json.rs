//! JSON that is still being written, such as the arguments of a call while they stream: the value so far.
//!
//! It is for people to see. What a tool runs with is the business of `call_arguments`.

use serde_json::{Map, Value};

use crate::call_arguments::repair;
use crate::lenient_json;

/// Deeper values are left out.
const DEEPEST: usize = 64;

/// The value that a text begins. What is open is closed, and what cannot be told yet is left out; `None` before it begins.
#[must_use]
pub fn unfinished(text: &str) -> Option<Value> {
    lenient_json::from_str(text).ok().or_else(|| Some(Reader { text, at: 0 }.value(0)?.value))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

struct Read {
    value: Value,
    /// Whether nothing of it can follow.
    is_whole: bool,
}

fn part(value: Value) -> Option<Read> {
    Some(Read { value, is_whole: false })
}

fn whole(value: Value) -> Option<Read> {
    Some(Read { value, is_whole: true })
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next character that is not blank.
    fn peek(&mut self) -> Option<char> {
        self.at += self.rest().len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    fn takes(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.at += if is_there { wanted.len_utf8() } else { 0 };
        is_there
    }

    fn value(&mut self, depth: usize) -> Option<Read> {
        match self.peek()? {
            _ if depth > DEEPEST => None,
            '{' => self.object(depth),
            '[' => self.list(depth),
            '"' => self.string(),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Read> {
        let mut members = Map::new();
        self.at += 1;
        while !self.takes('}') {
            if self.peek() != Some('"') {
                return part(Value::Object(members));
            }
            let Some(Read { value: Value::String(name), is_whole: true }) = self.string() else {
                return part(Value::Object(members));
            };
            let value = if self.takes(':') { self.value(depth + 1) } else { None };
            let Some(Read { value, is_whole }) = value else { return part(Value::Object(members)) };
            members.insert(name, value);
            if !is_whole || !(self.takes(',') || self.peek() == Some('}')) {
                return part(Value::Object(members));
            }
        }
        whole(Value::Object(members))
    }

    fn list(&mut self, depth: usize) -> Option<Read> {
        let mut items = Vec::new();
        self.at += 1;
        while !self.takes(']') {
            let Some(Read { value, is_whole }) = self.value(depth + 1) else { return part(Value::Array(items)) };
            items.push(value);
            if !is_whole || !(self.takes(',') || self.peek() == Some(']')) {
                return part(Value::Array(items));
            }
        }
        whole(Value::Array(items))
    }

    fn string(&mut self) -> Option<Read> {
        let text = self.rest();
        let mut is_escaped = false;
        let end = text.bytes().enumerate().skip(1).find(|(_, byte)| {
            let is_end = *byte == b'"' && !is_escaped;
            is_escaped = *byte == b'\\' && !is_escaped;
            is_end
        });
        match end {
            Some((end, _)) => {
                let whole_text = text.get(..=end)?;
                let value =
                    lenient_json::from_str(whole_text).or_else(|_| serde_json::from_str(&repair(whole_text))).ok()?;
                self.at += end + 1;
                whole(value)
            }
            None => begun(text).or_else(|| begun(&repair(text))).and_then(part),
        }
    }

    /// A number, or a name of JSON. A name that is cut off can only be the one that it begins.
    fn word(&mut self) -> Option<Read> {
        let text = self.rest();
        let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(text.len());
        let (word, is_last) = (text.get(..end)?, end == text.len());
        let names = ["true", "false", "null"];
        let begun = names.into_iter().find(|name| is_last && !word.is_empty() && name.starts_with(word));
        let number = || word.trim_end_matches(|c: char| !c.is_ascii_digit());
        let value = serde_json::from_str(begun.unwrap_or(word)).ok();
        let value = value.or_else(|| serde_json::from_str(number()).ok().filter(|_| is_last))?;
        self.at += end;
        Some(Read { value, is_whole: !is_last })
    }
}

/// The string that a text begins.
fn begun(text: &str) -> Option<Value> {
    // An escape that is cut off is left out: the longest is a pair of `\u0000`.
    let mut lengths = (0..=12.min(text.len() - 1)).map(|left_out| text.len() - left_out);
    lengths.find_map(|length| serde_json::from_str(&format!("{}\"", text.get(..length)?)).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_open_is_closed_and_what_cannot_be_told_is_left_out() {
        let cases = [
            ("", Value::Null),
            ("{", json!({})),
            (r#"{"na"#, json!({})),
            (r#"{"name""#, json!({})),
            (r#"{"name":"#, json!({})),
            (r#"{"name": "#, json!({})),
            (r#"{"name": ""#, json!({"name": ""})),
            (r#"{"name": "a\"b"#, json!({"name": "a\"b"})),
            (r#"{"name": "a\"#, json!({"name": "a"})),
            (r#"{"name": "a\u00e"#, json!({"name": "a"})),
            (r#"{"name": "ä\ud83d\ude0"#, json!({"name": "ä"})),
            (r#"{"name": "a", "count": 12"#, json!({"name": "a", "count": 12})),
            (r#"{"count": -"#, json!({})),
            (r#"{"count": 1.5e"#, json!({"count": 1.5})),
            (r#"{"is": t"#, json!({"is": true})),
            (r#"{"is": nul"#, json!({"is": null})),
            (r#"{"list": [1, {"a": ["b", "c"#, json!({"list": [1, {"a": ["b", "c"]}]})),
            (r#"{"list": [1, "#, json!({"list": [1]})),
            (r#"{"a": 1} and more"#, json!({"a": 1})),
            (r#"{"a" 1}"#, json!({})),
            ("{a: 1}", json!({})),
            ("{\"a\": \"x\ny\", \"b\": \"\\d and the rest\t", json!({"a": "x\ny", "b": "\\d and the rest\t"})),
        ];
        for (text, expected) in cases {
            assert_eq!(unfinished(text).unwrap_or_default(), expected, "{text}");
        }
        assert_eq!(unfinished(&"[".repeat(1_000_000)).map(|value| value.is_array()), Some(true));
    }

    /// No beginning panics, and a longer one never loses a value of a shorter one.
    #[test]
    fn every_beginning_is_read() {
        let text = r#"{"path": "src/ä.rs", "edits": [{"oldText": "a\n\"b\"", "newText": "\ud83d\ude00"}], "n": [1, -2.5e3, true, null]}"#;
        let all: Value = serde_json::from_str(text).unwrap();
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            let known = unfinished(&text[..end]).unwrap_or_default();
            let names = known.as_object().into_iter().flatten();
            names.for_each(|(name, _)| assert!(all.get(name).is_some(), "{known}"));
        }
        assert_eq!(unfinished(text), Some(all));
    }
}
