//! Compares one line of any bytes with another JSON library, and its envelope with the whole line.

use std::collections::HashSet;

use serde_json::value::RawValue;

use crate::clock::parse_iso;
use crate::envelope::{Envelope, LineBytes, NoEnvelope, scan};
use crate::header::{Header, TitleSlot};
use crate::json::{Json, JsonKind, Object, quote, strict, validate};

/// Reads a line as JSON, envelope, header and title slot.
///
/// # Panics
/// If the grammar differs from `serde_json`'s, a strict text is refused by it, or the envelope differs from the line.
pub fn codec(bytes: &[u8]) {
    let is_json = validate(bytes).is_ok();
    envelope(bytes, is_json);
    let text = String::from_utf8_lossy(bytes);
    walk(Json::trusted(&text), false);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let reference = serde_json::from_str::<&RawValue>(text);
        assert_eq!(is_json, reference.is_ok(), "{reference:?}");
        if is_json {
            walk(Json::trusted(text), true);
            let value = serde_json::from_str::<serde_json::Value>(&strict(text));
            assert!(value.is_ok(), "{value:?}");
        }
        let quoted = quote(text);
        assert_eq!(serde_json::from_str::<String>(&quoted).expect("a string"), text);
        assert_eq!(Json::parse(&quoted).expect("a string").as_str().expect("a string"), text);
    }
    header(&text);
}

/// Visits every value in a loop, because depth is ordinary input.
fn walk(json: Json<'_>, is_sound: bool) {
    let mut open = vec![json];
    let mut left = 10_000;
    while let Some(json) = open.pop() {
        left -= 1;
        if left == 0 {
            return;
        }
        let (text, float, _bool) = (json.as_str(), json.as_f64(), json.as_bool());
        if is_sound {
            assert_eq!(text.is_some(), json.kind() == JsonKind::String);
            assert_eq!(float.is_some(), json.kind() == JsonKind::Number);
            // Rust strings have no lone surrogates, so the other library fails.
            if let (Some(text), Ok(other)) = (&text, serde_json::from_str::<String>(json.text())) {
                assert_eq!(*text, other);
            }
        }
        let members: Vec<_> = json.members().map(|(_, value)| value).collect();
        if is_sound && json.kind() == JsonKind::Object && text.is_none() {
            let again = json.members().fold(Object::new(), |object, (name, value)| object.json(&name, value)).finish();
            assert!(validate(again.as_bytes()).is_ok(), "{again}");
        }
        open.extend(members);
        open.extend(json.items());
    }
}

fn envelope(bytes: &[u8], is_json: bool) {
    let whole = scan(LineBytes { head: bytes, tail: None });
    assert!(!matches!(whole, Err(NoEnvelope::NeedWholeLine)), "there is no more of the line");
    let text = String::from_utf8_lossy(bytes);
    let json = Json::trusted(&text);
    let is_plain_object = is_json && json.kind() == JsonKind::Object && has_each_name_once(json);
    if is_plain_object {
        compare(whole.as_ref().expect("an object has an envelope"), json);
    }
    let (end_of_head, start_of_tail) = (bytes.len() / 3, bytes.len() - bytes.len() / 3);
    if bytes.len() < 9 {
        return;
    }
    let parts = LineBytes { head: &bytes[..end_of_head], tail: Some(&bytes[start_of_tail..]) };
    match scan(parts) {
        Ok(envelope) if is_plain_object => compare(&envelope, json),
        Err(NoEnvelope::Malformed(at)) if is_plain_object => panic!("sound, but malformed at {at}"),
        _ => {}
    }
}

/// The last of members with the same name counts, but the scan may skip the middle of a line and take the first.
fn has_each_name_once(json: Json<'_>) -> bool {
    let mut names = HashSet::new();
    json.members().all(|(name, _)| names.insert(name.into_owned()))
}

fn compare(envelope: &Envelope<'_>, json: Json<'_>) {
    let id = |name: &str, name_before: &str| {
        let value = json.get(name).or_else(|| json.get(name_before)).and_then(Json::as_str);
        value.filter(|id| !id.is_empty())
    };
    assert_eq!(envelope.id, id("id", "uuid"));
    assert_eq!(envelope.parent, id("parentId", "parentUuid"));
    assert_eq!(envelope.time, json.str("timestamp").and_then(|time| parse_iso(&time)));
}

fn header(text: &str) {
    if let Some(header) = Header::parse(text) {
        assert_eq!(header.line(), text, "a header keeps its line");
        let _facts = (header.version(), header.id(), header.timestamp(), header.cwd(), header.parent_session());
    }
    if let Some(slot) = TitleSlot::parse(text) {
        assert_eq!(slot.line(), text, "a title slot keeps its line");
        let again = TitleSlot::new(&slot.title, None, 0);
        assert!(TitleSlot::parse(again.line()).is_some_and(|parsed| slot.title.starts_with(&parsed.title)));
    }
}
