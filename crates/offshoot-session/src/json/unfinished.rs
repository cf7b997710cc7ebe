//! JSON that is still being written, such as the arguments of a call while they stream. The only reader of such text.

use super::Json;
use super::repaired::RepairedJson;
use super::strict::strict;

/// Deeper values are left out.
const DEEPEST: usize = 64;

/// The value that a text begins, as a whole text: what is open is closed, and what cannot be told yet is left out. What follows the value is left
/// out too, and strings are repaired. `None` before a value begins.
#[must_use]
pub fn completed(text: &str) -> Option<String> {
    let mut reader = Reader { text, at: 0, out: String::with_capacity(text.len().saturating_add(8)) };
    reader.value(0)?;
    Some(reader.out)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    out: String,
}

/// What was read of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    /// Nothing of it can follow.
    Beginning,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
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

    /// Writes what can be told of a value; `None` if nothing can.
    fn value(&mut self, depth: usize) -> Option<Extent> {
        match self.peek()? {
            _ if depth > DEEPEST => None,
            '{' => Some(self.container('}', |reader| reader.member(depth))),
            '[' => Some(self.container(']', |reader| reader.value(depth + 1))),
            '"' => self.string(),
            _ => self.word(),
        }
    }

    fn container(&mut self, end: char, mut part: impl FnMut(&mut Self) -> Option<Extent>) -> Extent {
        self.out.push_str(self.rest().get(..1).unwrap_or_default());
        self.at += 1;
        let mut is_first = true;
        let extent = loop {
            if self.takes(end) {
                break Extent::Whole;
            }
            let before = self.out.len();
            if !std::mem::replace(&mut is_first, false) {
                self.out.push(',');
            }
            let Some(extent) = part(self) else {
                self.out.truncate(before);
                break Extent::Beginning;
            };
            if extent == Extent::Beginning || !(self.takes(',') || self.peek() == Some(end)) {
                break Extent::Beginning;
            }
        };
        self.out.push(end);
        extent
    }

    fn member(&mut self, depth: usize) -> Option<Extent> {
        let is_named = self.peek() == Some('"') && self.string() == Some(Extent::Whole);
        if !(is_named && self.takes(':')) {
            return None;
        }
        self.out.push(':');
        self.value(depth + 1)
    }

    fn string(&mut self) -> Option<Extent> {
        let text = self.rest();
        let mut is_escaped = false;
        let end = text.bytes().enumerate().skip(1).find(|(_, byte)| {
            let is_end = *byte == b'"' && !is_escaped;
            is_escaped = *byte == b'\\' && !is_escaped;
            is_end
        });
        let Some((end, _)) = end else {
            self.out.push_str(&begun(text)?);
            return Some(Extent::Beginning);
        };
        let whole = text.get(..=end)?;
        match Json::parse(whole) {
            Ok(_) => self.out.push_str(whole),
            Err(_) => self.out.push_str(&Some(RepairedJson::of(whole).text).filter(|text| Json::parse(text).is_ok())?),
        }
        self.at += end + 1;
        Some(Extent::Whole)
    }

    /// A number, or a name of JSON. A name that is cut off can only be the one that it begins.
    fn word(&mut self) -> Option<Extent> {
        let text = self.rest();
        let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(text.len());
        let (word, is_last) = (text.get(..end)?, end == text.len());
        let names = ["true", "false", "null"];
        let begun = names.into_iter().find(|name| is_last && !word.is_empty() && name.starts_with(word));
        let number = word.trim_end_matches(|c: char| !c.is_ascii_digit());
        let said = [begun.unwrap_or(word), if is_last { number } else { word }];
        self.out.push_str(said.into_iter().find(|said| Json::parse(said).is_ok())?);
        self.at += end;
        Some(if is_last { Extent::Beginning } else { Extent::Whole })
    }
}

/// The string that a text begins. An escape or half a character at its end that is cut off is left out.
fn begun(text: &str) -> Option<String> {
    let (mut escapes, mut is_escaped) = ((None, None), false);
    for (at, byte) in text.bytes().enumerate().skip(1) {
        is_escaped = byte == b'\\' && !is_escaped;
        if is_escaped {
            escapes = (escapes.1, Some(at));
        }
    }
    let is_half = |escape: &str| escape.len() == 6 && strict(&format!("\"{escape}\"")).contains('\u{fffd}');
    let is_cut = |escape: &str| {
        let is_hex = |digits: &str| digits.len() < 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        escape == "\\" || escape.strip_prefix("\\u").is_some_and(is_hex) || is_half(escape)
    };
    let part = |start: Option<usize>, end: usize| Some((start?, text.get(start?..end)?));
    let cut = part(escapes.1, text.len()).filter(|(_, escape)| is_cut(escape)).map_or(text.len(), |(at, _)| at);
    let cut = part(escapes.0, cut).filter(|(_, escape)| cut < text.len() && is_half(escape)).map_or(cut, |(at, _)| at);
    let quoted = format!("{}\"", text.get(..cut)?);
    let is_sound = Json::parse(&quoted).is_ok() && strict(&quoted) == quoted;
    let sound = if is_sound { quoted } else { RepairedJson::of(&quoted).text };
    Json::parse(&sound).is_ok().then_some(sound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::quote;

    #[test]
    fn what_is_open_is_closed_and_what_cannot_be_told_is_left_out() {
        for (text, expected) in [
            ("", None),
            ("{", Some("{}")),
            (r#"{"na"#, Some("{}")),
            (r#"{"name""#, Some("{}")),
            (r#"{"name":"#, Some("{}")),
            (r#"{"name": "#, Some("{}")),
            (r#"{"name": ""#, Some(r#"{"name":""}"#)),
            (r#"{"name": "a\"b"#, Some(r#"{"name":"a\"b"}"#)),
            (r#"{"name": "a\"#, Some(r#"{"name":"a"}"#)),
            (r#"{"name": "a\u00e"#, Some(r#"{"name":"a"}"#)),
            (r#"{"name": "ä\ud83d\ude0"#, Some(r#"{"name":"ä"}"#)),
            (r#"{"name": "a\\u12"#, Some(r#"{"name":"a\\u12"}"#)),
            (r#"{"name": "a\ud83d"#, Some(r#"{"name":"a"}"#)),
            (r#"{"name": "a\ud83d\"#, Some(r#"{"name":"a"}"#)),
            ("{\"name\": \"a\tb\\", Some(r#"{"name":"a\u0009b"}"#)),
            (r#"{"name": "\ud83d b"#, Some(r#"{"name":"\ufffd b"}"#)),
            (r#"{"name": "a", "count": 12"#, Some(r#"{"name":"a","count":12}"#)),
            (r#"{"count": -"#, Some("{}")),
            (r#"{"count": 1.5e"#, Some(r#"{"count":1.5}"#)),
            (r#"{"is": t"#, Some(r#"{"is":true}"#)),
            (r#"{"is": nul"#, Some(r#"{"is":null}"#)),
            (r#"{"list": [1, {"a": ["b", "c"#, Some(r#"{"list":[1,{"a":["b","c"]}]}"#)),
            (r#"{"list": [1, "#, Some(r#"{"list":[1]}"#)),
            (r#"{"e": {}, "f": [], "g": [[], [1,]], "h": "#, Some(r#"{"e":{},"f":[],"g":[[],[1]]}"#)),
            (r#"{"a": 1} and more"#, Some(r#"{"a":1}"#)),
            (r#"{"a" 1}"#, Some("{}")),
            ("{a: 1}", Some("{}")),
            ("{\"a\": \"x\ny\", \"b\": \"\\d and the rest\t", Some(r#"{"a":"x\u000ay","b":"\\d and the rest\u0009"}"#)),
        ] {
            assert_eq!(completed(text).as_deref(), expected, "{text}");
        }
        assert!(completed(&"[".repeat(1_000_000)).unwrap().starts_with("[["));
        assert_eq!(completed(&"{\"a\":".repeat(1_000_000)).map(|text| Json::parse(&text).is_ok()), Some(true));
    }

    /// Every beginning is a whole value, and a longer one never loses a member of a shorter one.
    #[test]
    fn every_beginning_is_read() {
        let text = r#"{"path": "src/ä.rs", "edits": [{"oldText": "a\n\"b\"", "newText": "\ud83d\ude00"}], "n": [1, -2.5e3, true, null]}"#;
        let mut known = 0;
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            let Some(whole) = completed(&text[..end]) else { continue };
            let members = Json::parse(&whole).unwrap().members().count();
            assert!(members >= known, "{whole}");
            known = members;
        }
        let spaceless = [": ", ", "].iter().fold(text.to_owned(), |text, gap| text.replace(gap, gap.trim_end()));
        assert_eq!(completed(text), Some(spaceless));
        assert_eq!(completed(&quote("a\u{1}")), Some(quote("a\u{1}")));
    }
}
