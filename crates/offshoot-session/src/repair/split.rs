//! Splits an unreadable line into whole records and other bytes.
//!
//! A record at the start of a line, or directly after another, counts whatever follows it. A record after other bytes
//! counts only if the line ends, NUL bytes or another record follow, and never inside a larger value.

use std::ops::Range;

use crate::json::{Json, is_space, skip_value, validate};

/// Searching for records may read a line's length this many times, so that the search is linear.
const PATIENCE: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LinePart {
    Record(Range<usize>),
    /// Bytes that are not a record, without NUL bytes at the ends.
    Junk(Range<usize>),
    Nuls(Range<usize>),
}

/// Whether a line is one JSON object, as every record is.
pub(super) fn is_whole(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"{") && validate(line).is_ok()
}

/// The parts of a line in order, without the white space between them.
pub(super) fn parts(line: &[u8]) -> Vec<LinePart> {
    let mut parts = Vec::new();
    if let Some(whole) = whole_between_nuls(line) {
        nuls(line, 0..whole.start, &mut parts);
        parts.push(LinePart::Record(whole.clone()));
        nuls(line, whole.end..line.len(), &mut parts);
        return parts;
    }
    let mut at = 0;
    let mut patience = PATIENCE * line.len();
    while at < line.len() {
        let Some(end) = record_at(line, at, &mut patience, |_| true) else {
            let next = (at + 1..line.len()).find(|next| begins(line, *next, &mut patience));
            let next = next.unwrap_or(line.len());
            rubble(line, at..next, &mut parts);
            at = next;
            continue;
        };
        parts.push(LinePart::Record(at..end));
        at = end;
    }
    parts
}

/// The JSON object in a line that has only NUL bytes and white space around it. It may be of an unknown type.
fn whole_between_nuls(line: &[u8]) -> Option<Range<usize>> {
    let first = line.iter().position(|byte| !is_empty(*byte))?;
    let last = line.iter().rposition(|byte| !is_empty(*byte))?;
    is_whole(&line[first..=last]).then_some(first..last + 1)
}

fn is_empty(byte: u8) -> bool {
    byte == 0 || is_space(byte)
}

/// Whether a record begins here, after bytes that are not one.
fn begins(line: &[u8], at: usize, patience: &mut usize) -> bool {
    if !line[at..].starts_with(b"{\"type\"") {
        return false;
    }
    // Where a value is expected, it belongs to a larger value that was cut off.
    let before = line[..at].trim_ascii_end().last();
    !matches!(before, Some(b':' | b',' | b'[')) && record_at(line, at, patience, ends).is_some()
}

fn record_at(line: &[u8], at: usize, patience: &mut usize, follows: fn(&[u8]) -> bool) -> Option<usize> {
    if line.get(at) != Some(&b'{') || *patience == 0 {
        return None;
    }
    let end = skip_value(line, at);
    let found = end.filter(|end| follows(&line[*end..]) && is_record(&line[at..*end]));
    if found.is_none() {
        *patience = patience.saturating_sub(end.unwrap_or(line.len()) - at);
    }
    found
}

/// Whether the bytes after a record do not continue a larger value.
fn ends(behind: &[u8]) -> bool {
    matches!(behind.iter().find(|byte| !is_space(**byte)), None | Some(b'{' | 0))
}

fn is_record(bytes: &[u8]) -> bool {
    if validate(bytes).is_err() {
        return false;
    }
    let text = String::from_utf8_lossy(bytes);
    let json = Json::trusted(&text);
    match json.str("type").as_deref() {
        Some("session") => json.str("id").is_some(),
        Some(_) => json.str("id").is_some() && json.get("parentId").is_some(),
        None => false,
    }
}

/// Splits bytes that are not a record into NUL bytes at the ends and the rest.
fn rubble(line: &[u8], range: Range<usize>, parts: &mut Vec<LinePart>) {
    let bytes = &line[range.clone()];
    let Some(first) = bytes.iter().position(|byte| !is_empty(*byte)) else {
        return nuls(line, range, parts);
    };
    let last = bytes.iter().rposition(|byte| !is_empty(*byte)).unwrap_or(first);
    nuls(line, range.start..range.start + first, parts);
    parts.push(LinePart::Junk(range.start + first..range.start + last + 1));
    nuls(line, range.start + last + 1..range.end, parts);
}

fn nuls(line: &[u8], range: Range<usize>, parts: &mut Vec<LinePart>) {
    let bytes = &line[range.clone()];
    let (first, last) = (bytes.iter().position(|byte| *byte == 0), bytes.iter().rposition(|byte| *byte == 0));
    if let (Some(first), Some(last)) = (first, last) {
        parts.push(LinePart::Nuls(range.start + first..range.start + last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = r#"{"type":"x","id":"a","parentId":null}"#;

    fn shown(line: &str) -> String {
        let show = |part: LinePart| match part {
            LinePart::Record(range) => format!("R<{}>", line[range].replace(A, "A")),
            LinePart::Junk(range) => format!("J<{}>", line[range].replace(A, "A")),
            LinePart::Nuls(range) => format!("N<{}>", range.len()),
        };
        parts(line.as_bytes()).into_iter().map(show).collect()
    }

    #[test]
    fn records_are_found_wherever_they_are_glued() {
        for (line, expected) in [
            (format!("{A}{A}"), "R<A>R<A>"),
            (format!("{A} {A}\r"), "R<A>R<A>"),
            (format!("{{\"type\":\"mess{A}"), "J<{\"type\":\"mess>R<A>"),
            (format!("\0\0\0{A}\0"), "N<3>R<A>N<1>"),
            (format!("no json\0\0{A}"), "J<no json>N<2>R<A>"),
            (format!("{A}x{A}y"), "R<A>J<xAy>"),
            ("not json".to_owned(), "J<not json>"),
            ("\0{\"no\":\"record\"}\0\0".to_owned(), "N<1>R<{\"no\":\"record\"}>N<2>"),
            ("null".to_owned(), "J<null>"),
            ("\0\0".to_owned(), "N<2>"),
        ] {
            assert_eq!(shown(&line), expected, "{line:?}");
        }
    }

    #[test]
    fn what_is_part_of_a_larger_value_is_no_record() {
        for torn in [
            format!(r#"{{"type":"custom","id":"c","parentId":null,"data":{A}"#),
            format!(r#"{{"type":"custom","data":[1,{A}"#),
            format!(r#"{{"type":"custom","data":[{A}, {A}"#),
            format!(r#"{{"type":"custom","data":{A},"broken":tru}}"#),
        ] {
            assert_eq!(shown(&torn), format!("J<{}>", torn.replace(A, "A")));
        }
    }

    #[test]
    fn lines_of_beginnings_are_not_searched_for_ever() {
        let open = "{\"type\" ".repeat(20_000);
        for line in [open.clone(), open + &"}".repeat(20_000)] {
            assert_eq!(parts(line.as_bytes()).len(), 1);
        }
    }
}
