//! Upgrades versions 1 (no ids) and 2 (`hookMessage`) to version 3 in memory, line by line.
//!
//! Pure functions over text. The ids of version 1 lines are derived from the session id and the line number, so that
//! every open gives the same ids. Members that do not change keep their text. See *Old versions* in `docs/format.md`.

use std::borrow::Cow;

use crate::header::{CURRENT_VERSION, Header};
use crate::id::EntryId;
use crate::json::{Json, Object, quote, validate};
use crate::kind::DAMAGED;

/// The `attempt`-th candidate for the id of a version 1 line.
pub(crate) fn derived_id(session_id: &str, line: u64, attempt: u32) -> EntryId {
    // 64-bit FNV-1a. Collisions do no harm: ids are checked against the file's others.
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = session_id.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, fold);
    let hash = line.to_le_bytes().iter().fold(hash, fold);
    let hash = attempt.to_le_bytes().iter().fold(hash, fold);
    EntryId::new(format!("{:08x}", (hash >> 32) as u32 ^ hash as u32))
}

/// The header as version 3; `None` if it is version 3 already.
pub(crate) fn upgrade_header(header: &Header) -> Option<String> {
    if header.version() >= CURRENT_VERSION {
        return None;
    }
    let others = header.json().members().filter(|(name, _)| name != "version");
    let object = others.fold(Object::new(), |object, (name, value)| object.json(&name, value));
    Some(object.raw("version", CURRENT_VERSION).finish())
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TreePlace<'a> {
    pub(crate) id: Option<&'a str>,
    pub(crate) parent: Option<&'a str>,
    /// The first entry that a compaction keeps, if its line names it by index.
    pub(crate) kept: Option<&'a str>,
}

/// How many bytes of a line's two ends [`takes_splice`] needs.
pub(crate) const SPLICE_SAMPLE: u64 = 128;

/// Whether the ends of a version 1 line show a message as pi wrote it, which lacks only ids at its end.
pub(crate) fn takes_splice(head: &[u8], end: &[u8]) -> bool {
    let role = |head: &[u8]| {
        let time = head.strip_prefix(br#"{"type":"message","timestamp":""#)?;
        let stop = memchr::memchr2(b'"', b'\\', time)?;
        let role = time.get(stop..)?.strip_prefix(br#"","message":{"role":""#)?;
        Some(role.starts_with(b"hookMessage\""))
    };
    let last_is_time = |end: &[u8]| {
        let number = end.strip_suffix(b"}}")?;
        let digits = number.iter().rev().take_while(|b| b.is_ascii_digit()).count();
        Some(digits > 0 && number[..number.len() - digits].ends_with(br#","timestamp":"#))
    };
    role(head) == Some(false) && last_is_time(end) == Some(true)
}

/// The text that replaces the last brace of such a line.
pub(crate) fn splice(place: TreePlace<'_>) -> String {
    let ids = Object::new().opt_str("id", place.id).str_or_null("parentId", place.parent).finish();
    ids.replacen('{', ",", 1)
}

/// Such a line as version 3; `None` for other lines.
pub(crate) fn spliced(line: &str, place: TreePlace<'_>) -> Option<String> {
    takes_splice(line.as_bytes(), line.as_bytes()).then(|| format!("{}{}", &line[..line.len() - 1], splice(place)))
}

/// An old entry as version 3. Entries get missing ids, a compaction's kept index becomes an id, and `hookMessage` its
/// new name. A damaged line becomes an empty entry that contains its text.
pub(crate) fn upgrade_entry<'a>(line: &'a str, place: TreePlace<'_>) -> Cow<'a, str> {
    if validate(line.as_bytes()).is_err() {
        return Cow::Owned(held(line, place));
    }
    let line = rename_hook_role(line);
    let json = Json::trusted(&line);
    let is = |name: &str, wanted: Option<&str>| json.get(name).and_then(Json::as_str).as_deref() == wanted;
    if is("id", place.id) && is("parentId", place.parent) && place.kept.is_none() {
        return line;
    }
    let mut object = Object::new();
    for (name, value) in json.members() {
        match name.as_ref() {
            "firstKeptEntryIndex" if place.kept.is_some() => {}
            "id" | "parentId" => {}
            "firstKeptEntryUuid" => object = object.json("firstKeptEntryId", value),
            _ => object = object.json(&name, value),
        }
    }
    let object = object.opt_str("firstKeptEntryId", place.kept);
    Cow::Owned(object.opt_str("id", place.id).str_or_null("parentId", place.parent).finish())
}

/// The entry that replaces a damaged line: it has the line's id for its children, and its text.
fn held(line: &str, place: TreePlace<'_>) -> String {
    let time = Json::trusted(line).str("timestamp");
    let text = Object::new().str("line", line).finish();
    let object = Object::new().str("type", "custom").str("customType", DAMAGED).json("data", Json::trusted(&text));
    let object = object.opt_str("id", place.id).str_or_null("parentId", place.parent);
    object.opt_str("timestamp", time.as_deref()).finish()
}

fn rename_hook_role(line: &str) -> Cow<'_, str> {
    let role = Json::trusted(line).get("message").and_then(|message| message.get("role"));
    match role.filter(|role| role.text() == "\"hookMessage\"") {
        None => Cow::Borrowed(line),
        Some(role) => {
            let span = role.span_in(line);
            Cow::Owned(format!("{}{}{}", &line[..span.start], quote("custom"), &line[span.end..]))
        }
    }
}

/// The index of the first record that a version 1 compaction keeps; the header is 0.
pub(crate) fn kept_index(line: &str) -> Option<u64> {
    let index = Json::trusted(line).get("firstKeptEntryIndex")?.as_f64()?;
    Some(index.max(0.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_ids_are_stable() {
        assert_eq!(derived_id("s", 2, 0), derived_id("s", 2, 0));
        assert_ne!(derived_id("s", 2, 0), derived_id("s", 3, 0));
        assert_ne!(derived_id("s", 2, 0), derived_id("s", 2, 1));
    }

    #[test]
    fn version_1_lines_get_ids_and_keep_their_numbers() {
        let place = TreePlace { id: Some("i"), parent: Some("p"), kept: Some("k") };
        let line =
            r#"{"type":"compaction","timestamp":"t","firstKeptEntryIndex":2,"n":1.0,"big":123456789012345680000}"#;
        assert_eq!(
            upgrade_entry(line, place),
            r#"{"type":"compaction","timestamp":"t","n":1.0,"big":123456789012345680000,"firstKeptEntryId":"k","id":"i","parentId":"p"}"#
        );
    }

    /// The fast path gives the same result as the general one, or leaves the line to it.
    #[test]
    fn ids_are_spliced_into_messages_as_pi_wrote_them() {
        let place = TreePlace { id: Some("i\""), parent: None, kept: None };
        let (head, end) = (r#"{"type":"message","timestamp":"t","message":{"role":"user","#, r#""timestamp":12}}"#);
        let plain = format!(r#"{head}"content":[{{"a":"}}"}}],{end}"#);
        assert_eq!(spliced(&plain, place).as_deref(), Some(upgrade_entry(&plain, place).as_ref()));
        for other in [
            format!(r#"{head}"content":"x"}}}}"#),
            format!(r#"{head}"x":1,"timestamp":}}}}"#),
            format!(r#"{head}"x":1,"timestamp":12}} }}"#),
            format!(r#"{head}"x":"\"timestamp":12}}}}"#),
            plain.replacen(',', ", ", 1),
            plain.replacen("\"t\"", "\"\\t\"", 1),
            plain.replacen("\"user\"", "\"hookMessage\"", 1),
            plain.replacen("\"timestamp\"", "\"id\":\"x\",\"timestamp\"", 1),
            "}}".to_owned(),
        ] {
            assert_eq!(spliced(&other, place), None, "{other}");
        }
    }

    /// Reading the readable members of such a line used to lose the others, and its children lost their parent.
    #[test]
    fn in_the_place_of_a_damaged_line_stays_an_entry_with_its_text() {
        let place = TreePlace { id: Some("i"), parent: Some("p"), kept: None };
        let line = r#"{"type":"message","timestamp":"t","message":{"role":"user","content":u}}"#;
        let held = upgrade_entry(line, place);
        let json = Json::parse(&held).unwrap();
        assert_eq!(json.get("data").and_then(|data| data.str("line")).as_deref(), Some(line));
        let members: Vec<_> = json.members().map(|(name, _)| name).collect();
        assert_eq!(members, ["type", "customType", "data", "id", "parentId", "timestamp"]);
    }

    #[test]
    fn version_2_changes_only_the_role() {
        let place = TreePlace { id: Some("i"), parent: None, kept: None };
        let line = r#"{"type":"message", "id":"i","parentId":null,"message":{"role":"hookMessage","content":"x"}}"#;
        assert_eq!(
            upgrade_entry(line, place),
            r#"{"type":"message", "id":"i","parentId":null,"message":{"role":"custom","content":"x"}}"#
        );
        let line = r#"{"type":"message","id":"i","parentId":null,"message":{"role":"user","content":"hookMessage"}}"#;
        assert!(matches!(upgrade_entry(line, place), Cow::Borrowed(_)));
    }

    #[test]
    fn headers_keep_their_legacy_members() {
        let header = Header::parse(r#"{"type":"session","id":"s","provider":"p","branchedFrom":"/x"}"#).unwrap();
        assert_eq!(
            upgrade_header(&header).unwrap(),
            r#"{"type":"session","id":"s","provider":"p","branchedFrom":"/x","version":3}"#
        );
        let header = Header::parse(r#"{"type":"session","version":3,"id":"s"}"#).unwrap();
        assert_eq!(upgrade_header(&header), None);
    }
}
