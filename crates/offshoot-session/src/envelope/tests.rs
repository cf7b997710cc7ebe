//! Compares scans with a full read of the same line.

use super::*;

fn line(text: &str) -> LineBytes<'_> {
    LineBytes { head: text.as_bytes(), tail: None }
}

fn parts(text: &str, head: usize, tail: usize) -> LineBytes<'_> {
    LineBytes { head: &text.as_bytes()[..head], tail: Some(&text.as_bytes()[text.len() - tail..]) }
}

const FRONT: &str = r#"{"type":"message","id":"a1","parentId":null,"timestamp":"1970-01-01T00:00:01.000Z","message":{"role":"user","content":"x"}}"#;
const BACK: &str = r#"{"type":"message","timestamp":"1970-01-01T00:00:01.000Z","message":{"role":"user","content":"}\"{"},"id":"a1","parentId":null}"#;
const CUSTOM: &str = r#"{"type":"custom","customType":"offshoot.leaf","data":{},"id":"b","parentId":"a1","timestamp":"1970-01-01T00:00:01.000Z"}"#;
const MIDDLE: &str = r#"{"data":{"a":1},"type":"message","id":"a1","parentId":null,"timestamp":"1970-01-01T00:00:01.000Z","message":{"x":1,"role":"user"},"z":[]}"#;

#[test]
fn every_layout_gives_the_same_envelope() {
    for text in [FRONT, BACK, MIDDLE] {
        let envelope = scan(line(text)).unwrap();
        assert_eq!(envelope.kind, Kind::Message, "{text}");
        assert_eq!(envelope.role, Some(Role::User));
        assert_eq!(envelope.id.as_deref(), Some("a1"));
        assert_eq!(envelope.parent, None);
        assert_eq!(envelope.time, Some(1000));
    }
    let marker = scan(line(CUSTOM)).unwrap();
    assert!(marker.is_leaf_marker);
    assert_eq!(marker.parent.as_deref(), Some("a1"));
}

#[test]
fn a_fast_scan_equals_a_full_read() {
    for text in [FRONT, BACK, CUSTOM, MIDDLE] {
        assert_eq!(scan(line(text)), whole(line(text)), "{text}");
        assert_eq!(scan_any(line(text)), whole(line(text)), "{text}");
    }
}

/// Usual lines take the fast path; with any byte changed or missing, both paths still agree.
#[test]
fn the_short_way_finds_what_the_long_way_finds() {
    let text = FRONT.replace("null", "\"p\u{fc}\"").replace("\"x\"}}", "\"\u{1f333}\"}}");
    assert!(usual(line(&text)).is_some() && usual(line(FRONT)).is_some());
    for text in [&text, FRONT] {
        for at in 0..text.len() {
            for byte in [b'"', b'\\', b'}', b'x', b' ', b'\n', 0x80] {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at] = byte;
                for bytes in [&bytes[..], &bytes[..at]] {
                    let line = LineBytes { head: bytes, tail: None };
                    if let Some(envelope) = usual(line) {
                        assert_eq!(Ok(envelope), scan_any(line), "{}", String::from_utf8_lossy(bytes));
                    }
                }
            }
        }
    }
}

#[test]
fn long_lines_are_settled_by_their_ends_or_ask_for_more() {
    assert_eq!(scan(parts(FRONT, 110, 10)), scan(line(FRONT)));
    assert_eq!(scan(parts(BACK, 85, 40)), scan(line(BACK)));
    assert_eq!(scan(parts(CUSTOM, 60, 80)), scan(line(CUSTOM)));
    assert_eq!(scan(parts(MIDDLE, 20, 20)), Err(NoEnvelope::NeedWholeLine));
}

#[test]
fn the_last_of_duplicate_members_wins() {
    let text = FRONT.replace("}}", r#"},"id":"b2","id":"c3"}"#);
    assert_eq!(scan(line(&text)).unwrap().id.as_deref(), Some("c3"));
    let text = r#"{"type":"label","id":"x","id":"y","parentId":null,"timestamp":"t"}"#;
    assert_eq!(scan(line(text)).unwrap().id.as_deref(), Some("y"));
}

#[test]
fn escapes_and_odd_values() {
    let text = r#"{"\u0074ype":"label","id":"\u0061\"","parentId":7,"timestamp":null}"#;
    let envelope = scan(line(text)).unwrap();
    assert_eq!(envelope.kind, Kind::Label);
    assert_eq!(envelope.id.as_deref(), Some("a\""));
    assert_eq!((envelope.parent, envelope.time), (None, None));
    let spaced = r#" { "type" : "label" , "id" : "i" , "parentId" : "p" , "timestamp" : "x" , "d" : [ ] , "e" : 1 } "#;
    assert_eq!(scan(line(spaced)).unwrap().parent.as_deref(), Some("p"));
}

#[test]
fn what_is_no_object_has_none() {
    for text in [
        "null",
        "[1]",
        "7",
        "{",
        "{]",
        "x",
        "",
        r#"{"type":"message","#,
        r#"{"type":"a"} {"type":"b"}"#,
        r#"{"a":nul}"#,
    ] {
        assert!(matches!(scan(line(text)), Err(NoEnvelope::Malformed(_))), "{text}");
    }
    // A line that is cut anywhere is not taken for complete.
    for cut in 1..FRONT.len() {
        let result = scan(line(&FRONT[..cut]));
        assert!(result.is_err(), "{}", &FRONT[..cut]);
    }
}

#[test]
fn the_proposals_uuids_are_ids() {
    let envelope = scan(line(r#"{"type":"message","uuid":"m2","parentUuid":"m1","message":{"role":"user"}}"#)).unwrap();
    assert_eq!((envelope.id.as_deref(), envelope.parent.as_deref()), (Some("m2"), Some("m1")));
    // An `id` that is not a string hides them, wherever they are.
    for behind in ["", r#","z":[],"uuid":"m3""#] {
        let text = format!(
            r#"{{"type":"message","uuid":"m2","id":5,"parentUuid":"m1","parentId":null,"timestamp":"","message":{{"role":"user"}}{behind}}}"#
        );
        let envelope = scan(line(&text)).unwrap();
        assert_eq!((envelope.id, envelope.parent), (None, None), "{text}");
    }
}
