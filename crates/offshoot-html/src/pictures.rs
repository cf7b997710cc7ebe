//! Base64 in a session's lines, which the page carries as it is: compressing it gains nothing, and the page decodes it only
//! when somebody looks.

use std::ops::Range;

use memchr::{memchr, memmem};

/// Shorter base64 is compressed with the line.
const SHORTEST: usize = 4096;
const BEFORE: &[u8] = b"\"data\":\"";

/// Where base64 is in a line, in order: strings named `data` of nothing else, of at least 4096 or of `shortest` letters.
pub(crate) fn base64_in(line: &[u8], shortest: Option<usize>) -> Vec<Range<usize>> {
    let shortest = shortest.unwrap_or(SHORTEST);
    if line.len() < shortest {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = line.get(from..).and_then(|rest| memmem::find(rest, BEFORE)) {
        let start = from + at + BEFORE.len();
        let Some(length) = line.get(start..).and_then(|rest| memchr(b'"', rest)) else { break };
        let range = start..start + length;
        if length >= shortest && line.get(range.clone()).is_some_and(is_base64) {
            found.push(range);
        }
        from = start + length;
    }
    found
}

/// Whether bytes are base64 with nothing between them. Such bytes cannot end an element of a page.
fn is_base64(bytes: &[u8]) -> bool {
    let digits = bytes.strip_suffix(b"==").or_else(|| bytes.strip_suffix(b"=")).unwrap_or(bytes);
    digits.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_base64_is_found() {
        let long = "iVBO".repeat(SHORTEST / 4);
        let texts = |line: &str| -> Vec<String> {
            base64_in(line.as_bytes(), None).into_iter().map(|range| line[range].to_owned()).collect()
        };
        let padded = format!("{long}AA==");
        let line = format!(r#"{{"content":[{{"type":"image","data":"{long}"}},{{"data":"{padded}","x":"y"}}]}}"#);
        assert_eq!(texts(&line), [long.clone(), padded]);
        for other in ["short".to_owned(), format!("{long}</script>"), format!("{long}\\n{long}"), format!("{long}=AA")]
        {
            assert_eq!(texts(&format!(r#"{{"data":"{other}","more":"{long}"}}"#)), [""; 0], "{}", &other[..5]);
        }
        assert_eq!(texts(&format!(r#"{{"data":"{long}"#)), [""; 0], "a line that is cut off");
    }
}
