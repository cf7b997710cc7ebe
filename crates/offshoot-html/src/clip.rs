//! Cuts long texts of an entry, so that a page holds their beginnings only. Works on the line: everything else keeps its bytes.

use memchr::memchr2;
use offshoot_session::entry::Entry;
use offshoot_session::tree::Tree;

use crate::pictures;

/// What stays of a text, and the length up to which no text is cut.
const KEPT: usize = 1000;

/// An entry whose texts of more than `longest` bytes are cut, and the lengths of what is missing; `None` if none is as long.
pub(crate) fn clip(tree: &Tree, entry: &Entry, longest: usize) -> Option<(Entry, Vec<usize>)> {
    let line = entry.line();
    if entry.damage().is_some() || line.len() <= longest.max(KEPT) {
        return None;
    }
    let pictures = pictures::base64_in(line.as_bytes(), None);
    let (mut clipped, mut missing, mut from, mut at) = (String::new(), Vec::new(), 0, 0);
    while let Some(start) = line.get(at..).and_then(|rest| rest.find('"')).map(|quote| at + quote + 1) {
        let end = start + end_of_string(line.get(start..)?.as_bytes())?;
        at = end + 1;
        let is_picture = pictures.iter().any(|picture| picture.start == start);
        if end - start > longest.max(KEPT) && !is_picture {
            let kept = start + beginning(line.get(start..end)?);
            clipped.push_str(line.get(from..kept)?);
            clipped.push_str(&format!("… [{} bytes more are not in this page]", end - kept));
            missing.push(end - kept);
            from = end;
        }
    }
    if missing.is_empty() {
        return None;
    }
    clipped.push_str(line.get(from..)?);
    Some((Entry::new(tree, entry.ix, clipped), missing))
}

/// Where a string ends that begins the bytes.
fn end_of_string(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// How much of a string stays: whole characters and escapes.
fn beginning(text: &str) -> usize {
    let mut at = 0;
    while at < KEPT {
        let rest = text.get(at..).unwrap_or_default();
        let length = match (rest.as_bytes(), rest.get(2..4)) {
            // The first half of a surrogate pair has its second half after it.
            ([b'\\', b'u', ..], Some("d8" | "d9" | "da" | "db" | "D8" | "D9" | "DA" | "DB")) => 12,
            ([b'\\', b'u', ..], _) => 6,
            ([b'\\', ..], _) => 2,
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        at += length;
    }
    let at = at.min(text.len());
    if text.is_char_boundary(at) { at } else { text.len() }
}

#[cfg(test)]
mod tests {
    use offshoot_session::entry::Source as _;
    use offshoot_session::json::Json;
    use offshoot_session::session::{Options, Session};

    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters_and_everything_else_stays() {
        let picture = "iVBO".repeat(2000);
        for piece in ["a", "\\n", "\\\\", "\\ud83d\\ude00", "ü", "日", "😀", "x\\\""] {
            let long = piece.repeat(3000);
            let line = format!(
                r#"{{"type":"message","id":"a","parentId":null,"message":{{"role":"user","content":[{{"text":"{long}","type":"text"}},{{"data":"{picture}"}},{{"text":"short"}}],"more":"{long}"}}}}"#
            );
            let session = format!("{{\"type\":\"session\",\"version\":3,\"id\":\"s\"}}\n{line}\n");
            let session = Session::from_text(&session, Options::default()).unwrap();
            let entry = session.entry(session.leaf().unwrap()).unwrap();
            let (clipped, missing) = clip(session.tree(), &entry, 2000).unwrap();
            assert_eq!((missing.len(), clipped.damage()), (2, None), "{piece}");
            assert!(clipped.line().contains(&picture) && clipped.line().contains("\"short\""), "{piece}");
            let kept = clipped.of_message("more").and_then(Json::as_str).unwrap().into_owned();
            let whole = entry.of_message("more").and_then(Json::as_str).unwrap().into_owned();
            let (kept, note) = kept.split_once("… [").unwrap();
            assert!(whole.starts_with(kept) && !kept.is_empty(), "{piece}: {kept}");
            assert_eq!(note, format!("{} bytes more are not in this page]", missing[1]), "{piece}");
            assert!(clip(session.tree(), &entry, 3000 * piece.len()).is_none(), "{piece}");
        }
    }
}
