//! The JSON grammar over bytes, without recursion and without building values.

use super::byte_marks::{ByteMarks, block_at};
use super::skip_space;
use super::strings::{long_string, string_by_bytes};
use super::syntax::{SyntaxError, ValidationStep, fail};

/// Checks that the bytes are exactly one JSON value with white space around it.
///
/// Accepts what JavaScript's `JSON.parse` accepts, at any depth, including lone surrogate escapes. Bytes in strings
/// need not be UTF-8: readers replace them by U+FFFD before they parse.
///
/// # Errors
/// The first byte that JSON does not allow.
pub fn validate(bytes: &[u8]) -> Result<(), SyntaxError> {
    validate_members(bytes, |_, _| ())
}

/// [`validate`] that also calls `each` with the name (without quotes) and value of every member of an object.
pub(crate) fn validate_members<'a>(
    bytes: &'a [u8],
    mut each: impl FnMut(&'a [u8], &'a [u8]),
) -> Result<(), SyntaxError> {
    validate_levels(bytes, MembersBelow::default(), |level, name, value| {
        if level == MemberLevel::Own {
            each(name.text, value);
        }
    })
}

/// The name of a member as it is written, without quotes. An item has an empty one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct WrittenName<'a> {
    pub(crate) text: &'a [u8],
    /// Whether it may mean another name than it seems to.
    pub(crate) has_escape: bool,
}

/// Where a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberLevel {
    /// In the outermost object.
    Own,
    /// In the object that is the value of the member `within` there.
    Within,
    /// An item, without a name, of the array that is the value of the member `list` there.
    Item,
    /// In an object that is such an item.
    Block,
}

/// The members whose members and items [`Json::parse_levels`](super::Json::parse_levels) passes on, too: those of the member `within` of the
/// outermost object, and in that object those of the array `list`.
#[derive(Debug, Clone, Copy, Default)]
pub struct MembersBelow {
    /// A member of the outermost object.
    pub within: &'static [u8],
    /// A member of the object that is its value.
    pub list: &'static [u8],
}

/// [`validate_members`] that also passes on what is in one member, before that member.
pub(crate) fn validate_levels<'a>(
    bytes: &'a [u8],
    below: MembersBelow,
    mut each: impl FnMut(MemberLevel, WrittenName<'a>, &'a [u8]),
) -> Result<(), SyntaxError> {
    // Strings are checked byte by byte only in texts with control bytes, which are rare. One pass finds those.
    let has_controls = bytes.chunks(1024).any(|chunk| chunk.iter().fold(u8::MAX, |least, b| least.min(*b)) < b' ');
    let text = Grammar { bytes, has_controls };
    let start = skip_space(bytes, 0);
    let end = text.members_or_value(start, |name, start| {
        let end = if name.text != below.within {
            text.value(start)?
        } else {
            text.members_or_value(start, |name, start| {
                let end = if name.text != below.list || bytes.get(start) != Some(&b'[') {
                    text.value(start)?
                } else {
                    text.items(start, |start| {
                        let end = text.members_or_value(start, |name, start| {
                            let end = text.value(start)?;
                            each(MemberLevel::Block, name, &bytes[start..end]);
                            Ok(end)
                        })?;
                        each(MemberLevel::Item, WrittenName::default(), &bytes[start..end]);
                        Ok(end)
                    })?
                };
                each(MemberLevel::Within, name, &bytes[start..end]);
                Ok(end)
            })?
        };
        each(MemberLevel::Own, name, &bytes[start..end]);
        Ok(end)
    })?;
    let end = skip_space(bytes, end);
    if end == bytes.len() { Ok(()) } else { fail(end, "the end of the line").map(drop) }
}

/// A text that is checked. Its functions take the place where something begins, and give the place after it.
#[derive(Clone, Copy)]
struct Grammar<'a> {
    bytes: &'a [u8],
    has_controls: bool,
}

impl<'a> Grammar<'a> {
    /// An object, whose members' values `member` checks, or another value.
    #[inline]
    fn members_or_value(
        self,
        start: usize,
        mut member: impl FnMut(WrittenName<'a>, usize) -> ValidationStep,
    ) -> ValidationStep {
        if self.bytes.get(start) != Some(&b'{') {
            return self.value(start);
        }
        let mut at = skip_space(self.bytes, start + 1);
        if self.bytes.get(at) == Some(&b'}') {
            return Ok(at + 1);
        }
        loop {
            let (name, value) = self.member_name(at)?;
            at = skip_space(self.bytes, member(name, value)?);
            match self.bytes.get(at) {
                Some(b',') => at = skip_space(self.bytes, at + 1),
                Some(b'}') => return Ok(at + 1),
                _ => return fail(at, "`,` or `}`"),
            }
        }
    }

    /// A list, whose items `item` checks.
    #[inline]
    fn items(self, start: usize, mut item: impl FnMut(usize) -> ValidationStep) -> ValidationStep {
        let mut at = skip_space(self.bytes, start + 1);
        if self.bytes.get(at) == Some(&b']') {
            return Ok(at + 1);
        }
        loop {
            at = skip_space(self.bytes, item(at)?);
            match self.bytes.get(at) {
                Some(b',') => at = skip_space(self.bytes, at + 1),
                Some(b']') => return Ok(at + 1),
                _ => return fail(at, "`,` or `]`"),
            }
        }
    }

    #[inline]
    fn value(self, start: usize) -> ValidationStep {
        match self.bytes.get(start) {
            Some(b'"') => Ok(self.string(start)?.0),
            Some(b'{' | b'[') => self.container(start),
            _ => scalar(self.bytes, start),
        }
    }

    /// An object or a list with all that is in it, at any depth.
    fn container(self, start: usize) -> ValidationStep {
        let (bytes, mut open, mut at) = (self.bytes, OpenContainers::default(), start);
        loop {
            at = match bytes.get(at) {
                Some(b'{') => {
                    let inside = skip_space(bytes, at + 1);
                    if bytes.get(inside) == Some(&b'}') {
                        inside + 1
                    } else {
                        open.begin(true);
                        at = self.member_name(inside)?.1;
                        continue;
                    }
                }
                Some(b'[') => {
                    let inside = skip_space(bytes, at + 1);
                    if bytes.get(inside) == Some(&b']') {
                        inside + 1
                    } else {
                        open.begin(false);
                        at = inside;
                        continue;
                    }
                }
                Some(b'"') => self.string(at)?.0,
                _ => scalar(bytes, at)?,
            };
            // After a value: close the containers that end here, then continue with the next value.
            loop {
                let Some(is_object) = open.is_object() else { return Ok(at) };
                at = skip_space(bytes, at);
                match (bytes.get(at), is_object) {
                    (Some(b','), true) => {
                        at = self.member_name(skip_space(bytes, at + 1))?.1;
                        break;
                    }
                    (Some(b','), false) => {
                        at = skip_space(bytes, at + 1);
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        open.end();
                        at += 1;
                    }
                    (_, true) => return fail(at, "`,` or `}`"),
                    (_, false) => return fail(at, "`,` or `]`"),
                }
            }
        }
    }

    /// `"name" :`, and the place of the value.
    #[inline]
    fn member_name(self, start: usize) -> Result<(WrittenName<'a>, usize), SyntaxError> {
        let failed = |at, expected| Err(SyntaxError { at, expected });
        if self.bytes.get(start) != Some(&b'"') {
            return failed(start, "a member name");
        }
        let (end, has_escape) = self.string(start)?;
        let at = skip_space(self.bytes, end);
        if self.bytes.get(at) != Some(&b':') {
            return failed(at, "`:`");
        }
        let text = self.bytes.get(start + 1..end - 1).unwrap_or_default();
        Ok((WrittenName { text, has_escape }, skip_space(self.bytes, at + 1)))
    }

    /// A string, and whether it has an escape.
    #[inline]
    fn string(self, start: usize) -> Result<(usize, bool), SyntaxError> {
        if self.has_controls {
            return string_by_bytes(self.bytes, start + 1, false);
        }
        // Names are short.
        if let Some(block) = block_at(self.bytes, start + 1)
            && let Some(stop) = ByteMarks::of_stops(block).first()
            && block.get(stop) == Some(&b'"')
        {
            return Ok((start + stop + 2, false));
        }
        long_string(self.bytes, start + 1)
    }
}

/// For each open container whether it is an object, in bits: few lines need memory for it.
#[derive(Default)]
struct OpenContainers {
    depth: usize,
    innermost: u64,
    /// The bits around the innermost ones.
    outer: Vec<u64>,
}

impl OpenContainers {
    const TOGETHER: usize = u64::BITS as usize;

    #[inline]
    fn begin(&mut self, is_object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(Self::TOGETHER) {
            self.outer.push(self.innermost);
        }
        self.innermost = self.innermost << 1 | u64::from(is_object);
        self.depth += 1;
    }

    #[inline]
    fn end(&mut self) {
        self.depth -= 1;
        self.innermost >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(Self::TOGETHER) {
            self.innermost = self.outer.pop().unwrap_or_default();
        }
    }

    /// Whether the innermost one is an object; `None` if none is open.
    #[inline]
    fn is_object(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.innermost & 1 == 1)
    }
}

/// A number or a word.
fn scalar(bytes: &[u8], at: usize) -> ValidationStep {
    match bytes.get(at) {
        Some(b'-' | b'0'..=b'9') => number(bytes, at),
        Some(b't') => literal(bytes, at, b"true"),
        Some(b'f') => literal(bytes, at, b"false"),
        Some(b'n') => literal(bytes, at, b"null"),
        _ => fail(at, "a value"),
    }
}

fn digits(bytes: &[u8], at: usize) -> ValidationStep {
    let count = bytes.get(at..).unwrap_or(&[]).iter().take_while(|b| b.is_ascii_digit()).count();
    if count == 0 { fail(at, "a digit") } else { Ok(at + count) }
}

fn number(bytes: &[u8], start: usize) -> ValidationStep {
    let first = start + usize::from(bytes.get(start) == Some(&b'-'));
    let mut at = digits(bytes, first)?;
    if bytes.get(first) == Some(&b'0') && at > first + 1 {
        return fail(first + 1, "no digit after a leading zero");
    }
    if bytes.get(at) == Some(&b'.') {
        at = digits(bytes, at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at = digits(bytes, at + 1 + sign)?;
    }
    Ok(at)
}

fn literal(bytes: &[u8], at: usize, word: &'static [u8]) -> ValidationStep {
    if bytes.get(at..).unwrap_or(&[]).starts_with(word) { Ok(at + word.len()) } else { fail(at, "a value") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn accepts_what_javascript_accepts() {
        for good in [
            "1",
            "-0",
            "1.0",
            "1e5",
            "1E+5",
            "-1.5e-7",
            "123456789012345680000",
            "1e400",
            "null",
            "true",
            " [ ] ",
            "{}",
            r#"{"a":1,"a":[{}, []]}"#,
            r#""\ud83d""#,
            r#""\u00E9\/\b""#,
            "\"\u{2028}\u{7f}é\"",
            "\t{\"a\"\r\n:\t1}\n",
        ] {
            assert_eq!(validate(good.as_bytes()), Ok(()), "{good}");
        }
    }

    #[test]
    fn members_of_the_outermost_object_are_handed_out() {
        let mut members = Vec::new();
        let text = br#" { "a" : 1 ,"b":{"c":[2,{"d":3}]}, "e\n":"x", "f":{} ,"a":[]}"#;
        validate_members(text, |name, value| members.push((name, value))).unwrap();
        let expected: [(&[u8], &[u8]); 5] =
            [(b"a", b"1"), (b"b", br#"{"c":[2,{"d":3}]}"#), (br"e\n", br#""x""#), (b"f", b"{}"), (b"a", b"[]")];
        assert_eq!(members, expected);
        let mut count = 0;
        validate_members(br#"[{"a":1}]"#, |_, _| count += 1).unwrap();
        assert_eq!(count, 0, "an array has no members");
    }

    #[test]
    fn names_with_escapes_are_told() {
        let mut names = Vec::new();
        let text =
            br#"{"a":"\n","\u0061":{"\n":1},"a name that is longer than a few words":1,"a name that is longer \t":2}"#;
        validate_levels(text, MembersBelow::default(), |_, name, _| names.push(name.has_escape)).unwrap();
        assert_eq!(names, [false, true, false, true]);
    }

    #[test]
    fn what_is_in_one_member_is_handed_out_before_it() {
        let mut members = Vec::new();
        let below = MembersBelow { within: b"m", list: b"l" };
        let text = br#"{"a":{"x":1},"m":{"x":{"y":[{"z":1}]},"u":[1] , "v" : "w"},"m":[{"x":1}],"m":{},"b":2}"#;
        validate_levels(text, below, |level, name, value| members.push((level, name.text, value))).unwrap();
        let (own, within) = (MemberLevel::Own, MemberLevel::Within);
        let expected: [(MemberLevel, &[u8], &[u8]); 8] = [
            (own, b"a", br#"{"x":1}"#),
            (within, b"x", br#"{"y":[{"z":1}]}"#),
            (within, b"u", b"[1]"),
            (within, b"v", br#""w""#),
            (own, b"m", br#"{"x":{"y":[{"z":1}]},"u":[1] , "v" : "w"}"#),
            (own, b"m", br#"[{"x":1}]"#),
            (own, b"m", b"{}"),
            (own, b"b", b"2"),
        ];
        assert_eq!(members, expected);

        let mut members = Vec::new();
        let text = br#"{"l":[{"x":1}],"m":{"l":[ {"x":[{"y":1}],"z":{"l":[0]}} , 2,[{"x":3}],{}],"l":{"x":4},"l":[]}}"#;
        validate_levels(text, below, |level, name, value| members.push((level, name.text, value))).unwrap();
        let (item, block) = (MemberLevel::Item, MemberLevel::Block);
        let expected: [(MemberLevel, &[u8], &[u8]); 11] = [
            (own, b"l", br#"[{"x":1}]"#),
            (block, b"x", br#"[{"y":1}]"#),
            (block, b"z", br#"{"l":[0]}"#),
            (item, b"", br#"{"x":[{"y":1}],"z":{"l":[0]}}"#),
            (item, b"", b"2"),
            (item, b"", br#"[{"x":3}]"#),
            (item, b"", b"{}"),
            (within, b"l", br#"[ {"x":[{"y":1}],"z":{"l":[0]}} , 2,[{"x":3}],{}]"#),
            (within, b"l", br#"{"x":4}"#),
            (within, b"l", b"[]"),
            (own, b"m", br#"{"l":[ {"x":[{"y":1}],"z":{"l":[0]}} , 2,[{"x":3}],{}],"l":{"x":4},"l":[]}"#),
        ];
        assert_eq!(members, expected);
    }

    #[test]
    fn containers_end_as_they_began_at_any_depth() {
        let is_object = |at: usize| at.is_multiple_of(3) || at % 7 == 1;
        for depth in [1, 2, 63, 64, 65, 127, 128, 129, 1000] {
            let begin: String = (0..depth).map(|at| if is_object(at) { "{\"a\":" } else { "[" }).collect();
            let mut text = begin + "1";
            for at in (0..depth).rev() {
                let (end, other) = if is_object(at) { ('}', ']') } else { (']', '}') };
                assert!(validate(format!("{text}{other}").as_bytes()).is_err(), "{text}{other}");
                text.push(end);
            }
            assert_eq!(validate(text.as_bytes()), Ok(()), "{text}");
        }
    }

    #[test]
    fn refuses_the_rest_and_says_where() {
        for (bad, at) in [
            ("", 0),
            ("{", 1),
            ("[1,]", 3),
            ("{\"a\":}", 5),
            ("{\"a\" 1}", 5),
            ("01", 1),
            ("-", 1),
            ("1.", 2),
            ("1e", 2),
            ("\"\\x\"", 2),
            ("\"\\u12g4\"", 3),
            ("\"a", 2),
            ("\"a\nb\"", 2),
            ("\"\0\"", 1),
            ("{} {}", 3),
            ("[1}", 2),
            ("nul", 0),
            ("{\"a\":1,}", 7),
            ("+1", 0),
            (".5", 0),
            ("NaN", 0),
            ("{'a':1}", 1),
        ] {
            assert_eq!(validate(bad.as_bytes()).map_err(|e| e.at), Err(at), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn strings_end_where_each_byte_says(picked in proptest::collection::vec(0..PIECES.len(), 0..60)) {
            let text: String = picked.into_iter().map(|piece| PIECES[piece]).collect();
            let text = format!("[\"{text}\"]");
            // Space that is a control character makes a string look at each byte.
            let (at_once, by_bytes) = (format!(" {text}"), format!("\t{text}"));
            prop_assert_eq!(validate(at_once.as_bytes()), validate(by_bytes.as_bytes()), "{}", text);
        }
    }

    const PIECES: &[&str] = &[
        "a",
        "some words ",
        "\\n",
        "\\n",
        "\\\"",
        "\\\\",
        "\\",
        "\\t",
        "\\u00e9",
        "\\u",
        "\"",
        "\",\"",
        "é",
        "words without any of them, which are longer than what is looked at at once, and then ",
    ];

    #[test]
    fn a_line_that_is_cut_anywhere_is_refused_at_its_end() {
        let whole = r#"["abcdefgh\tijklmnopqrstuvwxyz, and what is behind it\u00e9 until a search over many bytes pays, which it does"]"#;
        // Space that is a control character makes a string look for them.
        for before in ["", "\t"] {
            for cut in 2..whole.len() {
                let line = format!("{before}{}", &whole[..cut]);
                let refused = validate(line.as_bytes()).unwrap_err();
                let in_escape = line.len() - refused.at <= 6 && refused.expected != "the end of a string";
                assert!(refused.at == line.len() || in_escape, "{line:?}: {refused:?}");
            }
        }
    }
}
