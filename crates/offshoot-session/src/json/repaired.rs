//! Strings of JSON as some models write them: with raw control characters and wrong escapes. What is outside strings stays.

/// A text whose strings are valid, and where its bytes come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairedJson {
    /// The text with valid strings.
    pub text: String,
    /// After each change: an offset here, and the same place in the text as it came.
    shifts: Vec<(usize, usize)>,
}

impl RepairedJson {
    #[expect(missing_docs, reason = "the name says it")]
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut repaired = Self { text: String::with_capacity(text.len()), shifts: vec![(0, 0)] };
        let mut is_in_string = false;
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let (taken, written) = match first {
                '\\' if is_in_string => escape(rest),
                '\0'..='\u{1f}' if is_in_string => (1, Some(format!("\\u{:04x}", u32::from(first)))),
                _ => (first.len_utf8(), None),
            };
            is_in_string ^= first == '"';
            let (same, after) = rest.split_at(taken);
            rest = after;
            match written {
                Some(written) => {
                    repaired.text.push_str(&written);
                    repaired.shifts.push((repaired.text.len(), text.len() - rest.len()));
                }
                None => repaired.text.push_str(same),
            }
        }
        repaired
    }

    /// Where the byte at an offset of the repaired text comes from.
    #[must_use]
    pub fn origin(&self, offset: usize) -> usize {
        let after = self.shifts.partition_point(|(here, _)| *here <= offset);
        let (here, there) = after.checked_sub(1).and_then(|at| self.shifts.get(at)).copied().unwrap_or_default();
        there + (offset - here)
    }
}

/// The length of an escape, and its replacement if it is not a valid one.
fn escape(rest: &str) -> (usize, Option<String>) {
    let unit = |from: usize| {
        let digits = rest.get(from..from + 6)?.strip_prefix("\\u")?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
    };
    match (rest.as_bytes().get(1), unit(0), unit(6)) {
        (Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'), ..) => (2, None),
        (_, Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => (12, None),
        // Half a surrogate pair is not a character.
        (_, Some(0xd800..0xe000), _) => (6, Some("\\ufffd".to_owned())),
        (_, Some(_), _) => (6, None),
        (_, None, _) => (1, Some("\\\\".to_owned())),
    }
}
