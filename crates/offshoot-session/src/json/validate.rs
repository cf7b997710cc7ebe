//! The JSON grammar over bytes, without recursion and without building values.

use memchr::memchr2;

use super::byte_marks::{BLOCK, ByteMarks, block_at};
use super::{NEAR, skip_space};

/// The position at which a text stops being JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} at byte {at}")]
pub struct SyntaxError {
    /// The byte, from the start of the text.
    pub at: usize,
    /// What JSON allows there.
    pub expected: &'static str,
}

type ValidationStep = Result<usize, SyntaxError>;

fn fail(at: usize, expected: &'static str) -> ValidationStep {
    Err(SyntaxError { at, expected })
}

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

/// A member whose value has begun: its name and where its value starts.
type Begun<'a> = Option<(WrittenName<'a>, usize)>;

/// The values that have begun and that [`validate_levels`] passes on when they end. The depth is the number of open
/// containers.
#[derive(Default)]
struct OpenValues<'a> {
    member: Begun<'a>,
    inner: Begun<'a>,
    item: Option<usize>,
    block: Begun<'a>,
}

impl<'a> OpenValues<'a> {
    #[inline]
    fn begin_member(&mut self, depth: usize, begun: (WrittenName<'a>, usize), below: MembersBelow) {
        match depth {
            1 => self.member = Some(begun),
            2 if is_named(self.member, below.within) => self.inner = Some(begun),
            4 if self.item.is_some() => self.block = Some(begun),
            _ => {}
        }
    }

    #[inline]
    fn begin_list(&mut self, depth: usize, at: usize, below: MembersBelow) {
        if depth == 3 && is_named(self.inner, below.list) {
            self.item = Some(at);
        }
    }

    #[inline]
    fn end(&mut self, depth: usize) -> Option<(MemberLevel, WrittenName<'a>, usize)> {
        match depth {
            4 => self.block.take().map(|(name, start)| (MemberLevel::Block, name, start)),
            3 => self.item.take().map(|start| (MemberLevel::Item, WrittenName::default(), start)),
            2 => self.inner.take().map(|(name, start)| (MemberLevel::Within, name, start)),
            1 => self.member.take().map(|(name, start)| (MemberLevel::Own, name, start)),
            _ => None,
        }
    }
}

fn is_named(member: Begun<'_>, name: &[u8]) -> bool {
    member.is_some_and(|(known, _)| known.text == name)
}

/// [`validate_members`] that also passes on what is in one member, before that member.
pub(crate) fn validate_levels<'a>(
    bytes: &'a [u8],
    below: MembersBelow,
    mut each: impl FnMut(MemberLevel, WrittenName<'a>, &'a [u8]),
) -> Result<(), SyntaxError> {
    // Strings are checked byte by byte only in lines with control bytes, which are rare. One pass finds those.
    let strings_are_clean =
        bytes.chunks(1024).all(|chunk| chunk.iter().fold(u8::MAX, |least, b| least.min(*b)) >= b' ');
    let mut values = OpenValues::default();
    let mut open = OpenContainers::default();
    let mut at = skip_space(bytes, 0);
    loop {
        at = match bytes.get(at) {
            Some(b'{') => {
                let inside = skip_space(bytes, at + 1);
                if bytes.get(inside) == Some(&b'}') {
                    inside + 1
                } else {
                    open.begin(true);
                    let begun = member_name(bytes, inside, strings_are_clean)?;
                    at = begun.1;
                    values.begin_member(open.depth, begun, below);
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
                    values.begin_list(open.depth, at, below);
                    continue;
                }
            }
            Some(b'"') => string(bytes, at, strings_are_clean)?.0,
            Some(b'-' | b'0'..=b'9') => number(bytes, at)?,
            Some(b't') => literal(bytes, at, b"true")?,
            Some(b'f') => literal(bytes, at, b"false")?,
            Some(b'n') => literal(bytes, at, b"null")?,
            _ => return fail(at, "a value").map(drop),
        };
        // After a value: close the containers that end here, then continue with the next value.
        loop {
            let ended = values.end(open.depth);
            if let Some((level, name, start)) = ended {
                each(level, name, &bytes[start..at]);
            }
            let is_in_list = matches!(ended, Some((MemberLevel::Item, ..)));
            at = skip_space(bytes, at);
            let Some(is_object) = open.is_object() else {
                return if at == bytes.len() { Ok(()) } else { fail(at, "the end of the line").map(drop) };
            };
            match (bytes.get(at), is_object) {
                (Some(b','), true) => {
                    let name = skip_space(bytes, at + 1);
                    let begun = member_name(bytes, name, strings_are_clean)?;
                    at = begun.1;
                    values.begin_member(open.depth, begun, below);
                    break;
                }
                (Some(b','), false) => {
                    at = skip_space(bytes, at + 1);
                    if is_in_list {
                        values.item = Some(at);
                    }
                    break;
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    open.end();
                    at += 1;
                }
                (_, true) => return fail(at, "`,` or `}`").map(drop),
                (_, false) => return fail(at, "`,` or `]`").map(drop),
            }
        }
    }
}

/// Reads `"name" :` and returns the name and the position of the value.
fn member_name(bytes: &[u8], start: usize, clean: bool) -> Result<(WrittenName<'_>, usize), SyntaxError> {
    let failed = |at, expected| Err(SyntaxError { at, expected });
    if bytes.get(start) != Some(&b'"') {
        return failed(start, "a member name");
    }
    let (end, has_escape) = string(bytes, start, clean)?;
    let at = skip_space(bytes, end);
    if bytes.get(at) != Some(&b':') {
        return failed(at, "`:`");
    }
    let text = bytes.get(start + 1..end - 1).unwrap_or_default();
    Ok((WrittenName { text, has_escape }, skip_space(bytes, at + 1)))
}

/// The place after the string that begins at `start`, and whether it has an escape. `clean` bytes have no control character.
fn string(bytes: &[u8], start: usize, clean: bool) -> Result<(usize, bool), SyntaxError> {
    if !clean {
        return string_by_bytes(bytes, start);
    }
    let (mut at, mut has_escape) = (start + 1, false);
    // In code an escape is near the one before. A search over many bytes pays when none has come for a while.
    let mut quiet = 0;
    loop {
        if quiet < NEAR / BLOCK
            && let Some(block) = block_at(bytes, at)
        {
            let (begin, mut marks) = (at, ByteMarks::of_stops(block));
            at += BLOCK;
            quiet += 1;
            while let Some(stop) = marks.first() {
                let stop = begin + stop;
                if bytes.get(stop) == Some(&b'"') {
                    return Ok((stop + 1, has_escape));
                }
                let behind = escape(bytes, stop)?;
                (at, quiet, has_escape) = (behind.max(begin + BLOCK), 0, true);
                marks = marks.from(behind - begin);
            }
            continue;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(stop) = memchr2(b'"', b'\\', rest).map(|stop| at + stop) else {
            return Err(SyntaxError { at: bytes.len(), expected: "the end of a string" });
        };
        if bytes.get(stop) == Some(&b'"') {
            return Ok((stop + 1, has_escape));
        }
        (at, quiet, has_escape) = (escape(bytes, stop)?, 0, true);
    }
}

/// The same of any bytes.
fn string_by_bytes(bytes: &[u8], start: usize) -> Result<(usize, bool), SyntaxError> {
    let (mut at, mut has_escape) = (start + 1, false);
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok((at + 1, has_escape)),
            Some(b'\\') => (at, has_escape) = (escape(bytes, at)?, true),
            Some(0..b' ') => return Err(SyntaxError { at, expected: "no control character in a string" }),
            Some(_) => at += 1,
            None => return Err(SyntaxError { at, expected: "the end of a string" }),
        }
    }
}

/// The place after the escape that begins at `at`.
#[inline]
fn escape(bytes: &[u8], at: usize) -> ValidationStep {
    match bytes.get(at + 1) {
        // What code has.
        Some(b'n' | b'"') => Ok(at + 2),
        _ => other_escape(bytes, at),
    }
}

fn other_escape(bytes: &[u8], at: usize) -> ValidationStep {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => {
            let digits = bytes.get(at + 2..at + 6).unwrap_or(&[]);
            if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                return fail(at + 2, "four hexadecimal digits");
            }
            Ok(at + 6)
        }
        _ => fail(at + 1, "an escape"),
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
