//! JSON for parsers that refuse part of what JavaScript reads: half a surrogate pair, a number beyond a double, deep nesting.
//!
//! The text is read in one pass without recursion. It need not be valid: what is not JSON stays, and the parser says so.

use std::borrow::Cow;

use memchr::memmem;

use super::{is_number_byte, push_quoted, skip_string, skip_value};

/// The depth at which parsers by recursion still have room.
const DEEPEST: usize = 100;

/// The same value for a strict parser; borrowed if the text already is.
///
/// Half of a surrogate pair becomes U+FFFD, a number beyond the range of a double `null`, as `JSON.stringify` writes it, and a
/// container at a depth of more than 100 a string that contains its text.
pub fn strict(text: &str) -> Cow<'_, str> {
    strict_with(text, |_| char::REPLACEMENT_CHARACTER)
}

/// [`strict`] with another character for half of a surrogate pair, whose unit of UTF-16 `half` gets.
pub fn strict_with(text: &str, mut half: impl FnMut(u32) -> char) -> Cow<'_, str> {
    let mut made = Made { text, out: String::new(), copied: 0 };
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = skip_string(bytes, at).unwrap_or(bytes.len());
                made.string(at, end, &mut half);
                at = end;
            }
            b'{' | b'[' if depth == DEEPEST => {
                let end = skip_value(bytes, at).unwrap_or(bytes.len());
                made.replace(at, end, push_quoted);
                at = end;
            }
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let rest = bytes.get(at..).unwrap_or_default();
                let end = at + rest.iter().position(|byte| !is_number_byte(*byte)).unwrap_or(rest.len());
                if is_beyond_double(text.get(at..end).unwrap_or_default()) {
                    made.replace(at, end, |out, _| out.push_str("null"));
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    made.finish()
}

/// Whether the strict parser would refuse a number that JavaScript reads as infinite.
fn is_beyond_double(number: &str) -> bool {
    let may_be = number.len() > 300 || number.contains(['e', 'E']);
    may_be
        && number.parse::<f64>().is_ok_and(|number| number.abs() > f64::MAX / 10.0)
        && serde_json::from_str::<serde_json::Number>(number).is_err()
}

struct Made<'a> {
    text: &'a str,
    out: String,
    /// The end of what is in `out`.
    copied: usize,
}

impl<'a> Made<'a> {
    /// Looks for half surrogate pairs in a string, its quotes included.
    fn string(&mut self, start: usize, end: usize, half: &mut impl FnMut(u32) -> char) {
        let string = self.text.get(start..end).unwrap_or_default();
        let mut at = 0;
        while let Some(found) = memchr::memchr(b'\\', string.as_bytes().get(at..).unwrap_or_default()) {
            let escape = at + found;
            at = escape + escape_length(string.get(escape..).unwrap_or_default());
            if let Some(unit) = half_of_pair(string.get(escape..at).unwrap_or_default()) {
                self.replace(start + escape, start + at, |out, _| out.push(half(unit)));
            }
        }
    }

    fn replace(&mut self, start: usize, end: usize, with: impl FnOnce(&mut String, &str)) {
        self.out.push_str(self.text.get(self.copied..start).unwrap_or_default());
        with(&mut self.out, self.text.get(start..end).unwrap_or_default());
        self.copied = end;
    }

    fn finish(mut self) -> Cow<'a, str> {
        if self.copied == 0 {
            return Cow::Borrowed(self.text);
        }
        self.out.push_str(self.text.get(self.copied..).unwrap_or_default());
        Cow::Owned(self.out)
    }
}

/// The length of the escape at the start of the text; both halves of a surrogate pair are one.
fn escape_length(text: &str) -> usize {
    match (unit(text), text.get(6..).and_then(unit)) {
        (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
        (Some(_), _) => 6,
        (None, _) => 2,
    }
}

fn half_of_pair(escape: &str) -> Option<u32> {
    unit(escape).filter(|unit| escape.len() == 6 && (0xD800..=0xDFFF).contains(unit))
}

/// Every half begins so.
const HALVES: [&[u8]; 2] = [b"\\ud", b"\\uD"];

/// Where the first half of a surrogate pair without the other one is.
pub(crate) fn first_half(text: &str) -> Option<usize> {
    let (bytes, mut at) = (text.as_bytes(), 0);
    if HALVES.iter().all(|half| memmem::find(bytes, half).is_none()) {
        return None;
    }
    while let Some(found) = memchr::memchr(b'\\', bytes.get(at..)?) {
        let escape = at + found;
        if bytes.get(escape + 1) != Some(&b'u') {
            at = escape + 2;
            continue;
        }
        at = escape + escape_length(text.get(escape..)?);
        if half_of_pair(text.get(escape..at)?).is_some() {
            return Some(escape);
        }
    }
    None
}

/// The unit of UTF-16 that `\uXXXX` at the start of the text stands for.
pub(super) fn unit(text: &str) -> Option<u32> {
    let digits = text.get(..6)?.strip_prefix("\\u")?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::validate;
    use serde_json::{Value, json};

    fn read(text: &str) -> Value {
        validate(text.as_bytes()).unwrap();
        serde_json::from_str(&strict(text)).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn half_surrogates_are_replaced_in_values_and_names() {
        for (text, expected) in [
            (r#""\ud83d""#, json!("\u{fffd}")),
            (r#""a\ude00b""#, json!("a\u{fffd}b")),
            (r#""\ud83d\ude00""#, json!("😀")),
            (r#""\ud83d\ud83d\ude00\ude00""#, json!("\u{fffd}😀\u{fffd}")),
            (r#""\\ud83d""#, json!("\\ud83d")),
            (r#""\\\uD83D""#, json!("\\\u{fffd}")),
            (r#"{"\ud83d":["\udfff"]}"#, json!({"\u{fffd}": ["\u{fffd}"]})),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_beyond_a_double_are_null() {
        let long = format!("[{}]", "9".repeat(400));
        assert_eq!(read(r#"[1e999,-1E+999,1e308,-0,1e-999]"#), json!([null, null, 1e308, -0.0, 0.0]));
        assert_eq!(read(&long), json!([null]));
        assert_eq!(read(r#"["1e999"]"#), json!(["1e999"]));
        for edge in ["1.7976931348623157e308", "1.7976931348623159e308", "17976931348623157e292"] {
            read(edge);
        }
    }

    #[test]
    fn deep_containers_become_their_text() {
        let deep = format!(r#"{{"a":{}"\ud83d"{},"b":1}}"#, "[".repeat(200_000), "]".repeat(200_000));
        let value = read(&deep);
        assert_eq!(value["b"], json!(1));
        let mut inner = &value["a"];
        while let Some(next) = inner.get(0) {
            inner = next;
        }
        assert!(inner.as_str().unwrap().starts_with("[[["));
    }

    #[test]
    fn strict_text_is_not_copied_and_nonsense_is_not_mended() {
        for text in [r#"{"a":[1.5e3,"\u00e9\n\ud83d\ude00",null]}"#, "", "{", r#""\u"#, r#""\ud83"#, "\"\\", "é\\ud83d"]
        {
            assert!(matches!(strict(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }
}
