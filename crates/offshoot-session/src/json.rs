//! JSON as a view of text, read on demand and never re-serialised.
//!
//! [`Json`] is a slice that contains one value. It gives members, items and scalars without building anything, at any depth, so that numbers, key order, duplicate keys and lone surrogates stay as written. [`validate`] checks the whole grammar without recursion; [`Object`] writes one object on one line. Knows nothing of sessions.

mod byte_marks;
mod syntax;
mod strings;
mod validate;
mod write;
mod stringify;
mod strict;
mod repaired;
mod unfinished;

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memchr2};

use byte_marks::{BLOCK, ByteMarks, block_at};
pub use repaired::RepairedJson;
pub(crate) use strict::first_half;
pub use strict::{strict, strict_with};
pub use stringify::stringify;
pub(crate) use stringify::{js_members, js_number};
pub use syntax::SyntaxError;
pub use unfinished::completed;
pub use validate::{MemberLevel, MembersBelow, validate};
pub(crate) use validate::{WrittenName, validate_levels, validate_members};
pub use write::{Object, push_quoted, quote};

/// One JSON value as text.
///
/// [`Json::parse`] checks its text. Views that the library makes of unchecked text yield `None`s and end early on wrong JSON; they never panic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<'a> {
    text: &'a str,
}

/// The type of a [`Json`] value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum JsonKind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// A member that [`Json::parse_levels`] passes on.
#[derive(Debug, Clone, Copy)]
pub struct LeveledMember<'a> {
    level: MemberLevel,
    name: WrittenName<'a>,
    value: &'a [u8],
    text: &'a str,
}

impl<'a> LeveledMember<'a> {
    /// Its place.
    pub fn level(&self) -> MemberLevel {
        self.level
    }

    /// Its name as it is written, without quotes; that of an item is empty. `None` if it has escapes: [`Json::members`] reads those.
    pub fn name(&self) -> Option<&'a [u8]> {
        (!self.name.has_escape).then_some(self.name.text)
    }

    /// Its value.
    pub fn value(&self) -> Json<'a> {
        let at = (self.value.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        Json { text: self.text.get(at..at + self.value.len()).unwrap_or_default() }
    }
}

impl Json<'static> {
    /// `null`.
    pub const NULL: Self = Self { text: "null" };
}

impl<'a> Json<'a> {
    /// Checks the whole text and returns a view of it.
    ///
    /// # Errors
    /// The position at which the text stops being one JSON value.
    pub fn parse(text: &'a str) -> Result<Self, SyntaxError> {
        validate(text.as_bytes())?;
        Ok(Self::trusted(text))
    }

    /// The same in one pass with a look at members: those of the outermost object and those `below` it. What is in a member comes before
    /// the member itself.
    ///
    /// # Errors
    /// Those of [`Json::parse`]. Members before that position were passed on.
    pub fn parse_levels(
        text: &'a str,
        below: MembersBelow,
        mut each: impl FnMut(LeveledMember<'a>),
    ) -> Result<Self, SyntaxError> {
        validate_levels(text.as_bytes(), below, |level, name, value| each(LeveledMember { level, name, value, text }))?;
        Ok(Self::trusted(text))
    }

    /// A view of text that is known to be JSON.
    pub(crate) fn trusted(text: &'a str) -> Self {
        Self { text: trim(text) }
    }

    /// The value's text without surrounding white space.
    pub fn text(self) -> &'a str {
        self.text
    }

    /// The value's type.
    pub fn kind(self) -> JsonKind {
        match self.text.as_bytes().first() {
            Some(b'{') => JsonKind::Object,
            Some(b'[') => JsonKind::Array,
            Some(b'"') => JsonKind::String,
            Some(b't' | b'f') => JsonKind::Bool,
            Some(b'n') => JsonKind::Null,
            _ => JsonKind::Number,
        }
    }

    /// Whether the value is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == JsonKind::Null
    }

    /// The decoded string; a lone surrogate becomes U+FFFD.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let inner = self.text.strip_prefix('"')?.strip_suffix('"')?;
        Some(unescape(inner))
    }

    /// The number; infinite beyond the range of a double, as in JavaScript.
    pub fn as_f64(self) -> Option<f64> {
        match self.kind() {
            JsonKind::Number => self.text.parse().ok(),
            _ => None,
        }
    }

    /// The boolean, if the value is one.
    pub fn as_bool(self) -> Option<bool> {
        match self.text {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The members of an object in order; empty for other values.
    pub fn members(self) -> Members<'a> {
        Members { rest: Rest::inside(self.text, b'{') }
    }

    /// The items of an array in order; empty for other values.
    pub fn items(self) -> Items<'a> {
        Items { rest: Rest::inside(self.text, b'[') }
    }

    /// The member with this name; the last one if the name is repeated, as in JavaScript.
    pub fn get(self, key: &str) -> Option<Self> {
        let [found] = self.pick([key]);
        found
    }

    /// The members with these names in one pass: values may be long. Of a name that is repeated the last one, as in JavaScript.
    pub fn pick<const N: usize>(self, names: [&str; N]) -> [Option<Self>; N] {
        let mut members = self.members();
        let mut found = [None; N];
        while let Some((name, value)) = members.next_raw() {
            let written = name.text.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or_default();
            let name = unescape(written);
            if let Some((_, place)) = names.iter().zip(&mut found).find(|(wanted, _)| **wanted == name) {
                *place = Some(value);
            }
        }
        found
    }

    /// The decoded string member with this name.
    pub fn str(self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.as_str()
    }

    /// The byte range of this value in the text that it is a view of.
    pub(crate) fn span_in(self, whole: &str) -> std::ops::Range<usize> {
        let start = (self.text.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
        start..start + self.text.len()
    }
}

/// Iterator over an object's members; see [`Json::members`].
#[derive(Debug, Clone)]
pub struct Members<'a> {
    rest: Rest<'a>,
}

impl<'a> Members<'a> {
    /// The next member, with its name as written.
    fn next_raw(&mut self) -> Option<(Json<'a>, Json<'a>)> {
        let name = self.rest.value()?;
        self.rest.punctuation(b':')?;
        let value = self.rest.value()?;
        self.rest.comma();
        Some((name, value))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Json<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.next_raw()?;
        Some((name.as_str()?, value))
    }
}

/// Iterator over an array's items; see [`Json::items`].
#[derive(Debug, Clone)]
pub struct Items<'a> {
    rest: Rest<'a>,
}

impl<'a> Iterator for Items<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let value = self.rest.value()?;
        self.rest.comma();
        Some(value)
    }
}

/// The unread part of a container.
#[derive(Debug, Clone)]
struct Rest<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Rest<'a> {
    fn inside(text: &'a str, open: u8) -> Self {
        let at = if text.as_bytes().first() == Some(&open) { 1 } else { text.len() };
        Self { text, at }
    }

    fn value(&mut self) -> Option<Json<'a>> {
        let bytes = self.text.as_bytes();
        let start = skip_space(bytes, self.at);
        let end = skip_value(bytes, start)?;
        self.at = end;
        Some(Json { text: self.text.get(start..end)? })
    }

    fn punctuation(&mut self, expected: u8) -> Option<()> {
        let at = skip_space(self.text.as_bytes(), self.at);
        (self.text.as_bytes().get(at) == Some(&expected)).then(|| self.at = at + 1)
    }

    fn comma(&mut self) {
        if self.punctuation(b',').is_none() {
            self.at = self.text.len();
        }
    }
}

fn is_number_byte(b: u8) -> bool {
    matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

pub(crate) fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r')
}

fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_ascii() && is_space(c as u8))
}

/// The first position from `at` on that is not white space.
pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|b| is_space(*b)) {
        at += 1;
    }
    at
}

/// How many bytes are looked at before a search over many pays.
const NEAR: usize = 64;

/// The first quote or backslash. It is usually near.
#[inline]
fn quote_or_backslash(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < NEAR
        && let Some(block) = block_at(bytes, at)
    {
        if let Some(first) = ByteMarks::of_stops(block).first() {
            return Some(at + first);
        }
        at += BLOCK;
    }
    let rest = bytes.get(at..)?;
    memchr2(b'"', b'\\', rest).map(|stop| at + stop)
}

/// The end of the string whose opening quote is at `at`.
pub(crate) fn skip_string(bytes: &[u8], at: usize) -> Option<usize> {
    let inner = bytes.get(at + 1..)?;
    let first = quote_or_backslash(inner)?;
    if inner.get(first) == Some(&b'"') {
        return Some(at + first + 2);
    }
    // A long text has more escapes than quotes.
    let is_escaped = |quote: usize| inner[..quote].iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1;
    let end = memchr_iter(b'"', &inner[first..]).map(|quote| first + quote).find(|quote| !is_escaped(*quote))?;
    Some(at + end + 2)
}

/// The end of the value that starts at `at`; `None` if there is no value or it does not end.
pub(crate) fn skip_value(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => skip_string(bytes, at),
        b'{' | b'[' => skip_container(bytes, at),
        b'}' | b']' | b',' | b':' => None,
        _ => {
            let rest = bytes.get(at..)?;
            let len = rest
                .iter()
                .position(|b| is_space(*b) || matches!(b, b',' | b'}' | b']' | b':' | b'"' | b'{' | b'['))
                .unwrap_or(rest.len());
            Some(at + len)
        }
    }
}

fn skip_container(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    loop {
        match bytes.get(at)? {
            b'"' => at = skip_string(bytes, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth -= 1;
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
}

fn unescape(inner: &str) -> Cow<'_, str> {
    let Some(mut at) = memchr(b'\\', inner.as_bytes()) else { return Cow::Borrowed(inner) };
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    loop {
        out.push_str(&rest[..at]);
        let escape = rest.as_bytes().get(at + 1).copied();
        let mut used = 2;
        match escape {
            Some(b'n') => out.push('\n'),
            Some(b't') => out.push('\t'),
            Some(b'r') => out.push('\r'),
            Some(b'b') => out.push('\u{8}'),
            Some(b'f') => out.push('\u{c}'),
            Some(b'u') => {
                let (decoded, length) = unescape_unicode(&rest[at..]);
                out.push(decoded);
                used = length;
            }
            Some(plain @ (b'"' | b'\\' | b'/')) => out.push(plain as char),
            _ => used = 1,
        }
        rest = rest.get(at + used..).unwrap_or("");
        match memchr(b'\\', rest.as_bytes()) {
            Some(next) => at = next,
            None => break out.push_str(rest),
        }
    }
    Cow::Owned(out)
}

/// Decodes `\uXXXX` or a surrogate pair at the start of the text: the character, and how many bytes it took.
fn unescape_unicode(text: &str) -> (char, usize) {
    let unit = |from: usize| strict::unit(text.get(from..)?);
    let Some(first) = unit(0) else {
        return (char::REPLACEMENT_CHARACTER, 2);
    };
    if (0xD800..0xDC00).contains(&first)
        && let Some(second) = unit(6).filter(|unit| (0xDC00..0xE000).contains(unit))
    {
        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_text_and_the_last_duplicate_wins() {
        let json = Json::parse(r#" {"a" : 1.0, "b":[1,{"c":"}"}], "a":-0 , "\u0063":"x"} "#).unwrap();
        assert_eq!(json.get("a").unwrap().text(), "-0");
        assert_eq!(json.get("b").unwrap().text(), r#"[1,{"c":"}"}]"#);
        assert_eq!(json.str("c").unwrap(), "x");
        assert_eq!(json.members().count(), 4);
        let items: Vec<_> = json.get("b").unwrap().items().map(Json::text).collect();
        assert_eq!(items, ["1", r#"{"c":"}"}"#]);
    }

    #[test]
    fn strings_decode_like_javascripts() {
        for (text, expected) in [
            (r#""a\n\"\\\/\u00e9""#, "a\n\"\\/é"),
            (r#""\ud83d\ude00""#, "😀"),
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""\ude00x""#, "\u{fffd}x"),
            (r#""\ud83d\u0041""#, "\u{fffd}A"),
            (r#""""#, ""),
        ] {
            assert_eq!(Json::parse(text).unwrap().as_str().unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn wrong_json_ends_early_and_never_panics() {
        let whole = r#"{"a":[1,"x\"",{"b":null}],"é":"\ud83d\ude00\u00e9"}"#;
        for (end, _) in whole.char_indices() {
            let broken = Json::trusted(&whole[..end]);
            for (_, value) in broken.members() {
                drop((value.as_str(), value.items().count(), value.members().count()));
            }
        }
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000));
        let json = Json::parse(&deep).unwrap();
        assert_eq!(json.items().next().unwrap().text().len(), deep.len() - 2);
    }
}
