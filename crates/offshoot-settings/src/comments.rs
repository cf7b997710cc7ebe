//! Blanks comments in settings files, `//` to the end of the line and `/* */`. JSON has none, but people write them.

use std::borrow::Cow;

/// Replaces comments by blanks, byte for byte. An unterminated `/*` is not a comment.
pub(crate) fn blanked(text: &str) -> Cow<'_, str> {
    if !text.contains("//") && !text.contains("/*") {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let comment = comment(rest);
        let taken = comment.unwrap_or_else(|| if letter == '"' { string(rest) } else { letter.len_utf8() });
        let (piece, behind) = rest.split_at_checked(taken).unwrap_or((rest, ""));
        if comment.is_some() {
            // Line feeds stay, so that positions count the same lines.
            plain.extend(piece.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        } else {
            plain.push_str(piece);
        }
        rest = behind;
    }
    Cow::Owned(plain)
}

/// The length of the comment at the start of the text.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    text.strip_prefix("/*")?.find("*/").map(|end| end + 4)
}

/// The length of the string at the start of the text.
fn string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_comment_stays() {
        for (text, plain) in [
            ("{\"a\": 1} // é\n{", "{\"a\": 1}      \n{"),
            ("[/* a\n b */1]", "[    \n     1]"),
            (r#"{"a": "// \" /* x */"}//"#, r#"{"a": "// \" /* x */"}  "#),
            ("/* no end", "/* no end"),
            ("1 / 2", "1 / 2"),
        ] {
            assert_eq!(blanked(text), plain);
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_moves(text in "([/*\"\\\\\n{}:a]|\\PC){0,40}") {
            let plain = blanked(&text);
            proptest::prop_assert_eq!(plain.len(), text.len());
            proptest::prop_assert_eq!(plain.matches('\n').count(), text.matches('\n').count());
        }
    }
}
