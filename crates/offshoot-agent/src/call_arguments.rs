//! The arguments of a finished call: an object that parses whole, or what is wrong with the text and where.
//!
//! Raw control characters and wrong escapes inside strings are repaired; nothing else is guessed. Knows no wire format.
//! What a call shows while it streams is [`lenient_json::unfinished`]'s.

use offshoot_session::json::RepairedJson;
use serde_json::{Map, Value};

use crate::lenient_json;

/// The longest description of an error, in bytes.
const MAX_ERROR_BYTES: usize = 4096;
/// What is kept of each end of a text that is too long to be kept whole.
const KEPT_BYTES: usize = 1800;

/// Reads the whole text of a call's arguments. An empty text means no arguments.
pub(crate) fn parse(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    if let Ok(value) = lenient_json::from_str(text) {
        return object(value, text);
    }
    let repaired = RepairedJson::of(text);
    match lenient_json::from_str(&repaired.text) {
        Ok(value) => object(value, text),
        Err(error) => Err(describe(&place_of(&repaired, &error, text), text)),
    }
}

fn object(value: Value, text: &str) -> Result<Map<String, Value>, String> {
    let what = match value {
        Value::Object(members) => return Ok(members),
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
    };
    Err(describe(&format!("arguments are a JSON object, and from character 1 on this is {what}"), text))
}

/// What is wrong, and the text that came, as far as there is room.
pub(crate) fn describe(what: &str, text: &str) -> String {
    let head = format!("{what}\n\nThe text that came:\n");
    if head.len() + text.len() <= MAX_ERROR_BYTES {
        return head + text;
    }
    let begin = text.get(..text.floor_char_boundary(KEPT_BYTES)).unwrap_or_default();
    let end = text.get(text.ceil_char_boundary(text.len().saturating_sub(KEPT_BYTES))..).unwrap_or_default();
    let left_out = text.len() - begin.len() - end.len();
    format!("{head}{begin}\n[{left_out} bytes left out]\n{end}")
}

/// The words of an error in a repaired text, with the place in the text as it came.
fn place_of(repaired: &RepairedJson, error: &serde_json::Error, text: &str) -> String {
    let words = error.to_string();
    let what = words.rfind(" at line ").and_then(|end| words.get(..end)).unwrap_or(&words);
    let lines = repaired.text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let offset = lines.map(str::len).sum::<usize>() + error.column();
    let at = text.floor_char_boundary(repaired.origin(offset).min(text.len()));
    let character = text.get(..at).unwrap_or_default().chars().count();
    format!("{what}, at character {character} of {}", text.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn control_characters_and_wrong_escapes_in_strings_are_repaired() {
        for (text, expected) in [
            ("", json!({})),
            (" \n ", json!({})),
            ("{\"a\": \"x\ny\\d\\u00e9\\ud83d\\ude00\"}", json!({"a": "x\ny\\dé😀"})),
            ("{\"a\": \"\\ud83d \\ude00 \\u12\"}", json!({"a": "\u{fffd} \u{fffd} \\u12"})),
            ("{\"a\": \"C:\\dir\\\\\"}", json!({"a": "C:\\dir\\"})),
            ("\n{\"a\tb\": 1}\n", json!({"a\tb": 1})),
        ] {
            assert_eq!(parse(text).map(Value::Object), Ok(expected), "{text}");
        }
    }

    #[test]
    fn nothing_else_is_guessed_and_the_error_says_where() {
        for (text, expected) in [
            ("{\"a\": 1", "EOF while parsing an object, at character 7 of 7"),
            ("{\"ä\": \"b", "EOF while parsing a string, at character 8 of 8"),
            ("{\"a\": \"b\nc\\d\", }", "trailing comma, at character 16 of 16"),
            ("{a: 1}", "key must be a string, at character 2 of 6"),
            ("{\"a\": yes}", "expected value, at character 7 of 10"),
            ("{\"a\": 1}{\"b\": 2}", "trailing characters, at character 9 of 16"),
            ("null", "arguments are a JSON object, and from character 1 on this is null"),
            ("[1]", "arguments are a JSON object, and from character 1 on this is a list"),
            ("\"{}\"", "arguments are a JSON object, and from character 1 on this is a string"),
        ] {
            assert_eq!(parse(text), Err(format!("{expected}\n\nThe text that came:\n{text}")), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn an_error_is_bounded_and_keeps_both_ends() {
        let text = format!("{{\"a\": \"{}end", "ä".repeat(9999));
        let error = parse(&text).unwrap_err();
        assert!(error.len() <= MAX_ERROR_BYTES && error.ends_with("äend"), "{error}");
        assert!(error.contains("{\"a\": \"ä") && error.contains("bytes left out"), "{error}");
    }
}
