//! Cursor CLI's store of a chat: blobs by their digests. A root blob names the messages in their order. The key of blobs that are encrypted
//! never leaves the store.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use offshoot_session::json::{Json, JsonKind, Object};
use offshoot_session::medium::read_regular_text;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _};

use crate::record::on_one_line;

/// What is never copied.
const SECRET: &str = "blobEncryptionKey";
/// A longer note beside a store is not read.
const LARGEST_NOTE: u64 = 1 << 20;
/// A root names no more blobs.
const MOST_BLOBS: usize = 1_000_000;

/// The id of the chat whose store this is: the name of its folder.
pub(crate) fn id_of(store: &Path) -> Option<String> {
    Some(store.parent()?.file_name()?.to_str()?.to_owned())
}

/// The working directory of a chat, which a file beside its store says.
pub(crate) fn cwd_of(store: &Path) -> Option<String> {
    let text = read_regular_text(&store.with_file_name("meta.json"), LARGEST_NOTE).ok()?;
    Json::parse(&text).ok()?.str("cwd").map(std::borrow::Cow::into_owned)
}

/// The records of a chat: what it says of itself, the blobs of its newest root in order, and then the blobs that this root does not name.
pub(crate) fn records(connection: &Connection) -> rusqlite::Result<String> {
    let value = connection.query_row("SELECT value FROM meta WHERE key = '0'", [], |row| Ok(bytes(row.get_ref(0)?)));
    let Some(meta) = value.optional()?.and_then(|value| unhex(&value)).and_then(|bytes| String::from_utf8(bytes).ok())
    else {
        return Ok(String::new());
    };
    let Ok(meta) = Json::parse(&meta) else { return Ok(String::new()) };
    let root = meta.str("latestRootBlobId").unwrap_or_default().into_owned();
    let mut lines = without_secret(meta) + "\n";
    let mut statement = connection.prepare("SELECT data FROM blobs WHERE id = ?1")?;
    let mut blob = |id: &str| statement.query_row([id], |row| Ok(bytes(row.get_ref(0)?))).optional();
    let named = blob(&root)?.map(|root| ids_in(&root)).unwrap_or_default();
    let mut seen: HashMap<&str, u32> = HashMap::new();
    for id in &named {
        // A message may be there twice.
        let count = seen.entry(id).and_modify(|count| *count += 1).or_insert(0);
        let own = if *count == 0 { id.clone() } else { format!("{id}-{count}") };
        if let Some(data) = blob(id)? {
            lines += &(record("blob", &own, &data) + "\n");
        }
    }
    let named: HashSet<&str> = named.iter().map(String::as_str).chain([root.as_str()]).collect();
    let mut others = connection.prepare("SELECT id, data FROM blobs ORDER BY rowid")?;
    let mut rows = others.query([])?;
    while let Some(row) = rows.next()? {
        let (Ok(id), data) = (row.get::<_, String>(0), bytes(row.get_ref(1)?)) else { continue };
        if !named.contains(id.as_str()) {
            lines += &(record("other-blob", &id, &data) + "\n");
        }
    }
    Ok(lines)
}

fn bytes(value: ValueRef<'_>) -> Vec<u8> {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => Vec::new(),
    }
}

fn without_secret(meta: Json<'_>) -> String {
    let members = meta.members().filter(|(name, _)| name != SECRET);
    let object = members.fold(Object::new().str("table", "meta"), |object, (name, value)| {
        if name == "table" { object } else { object.raw(&name, on_one_line(value.text())) }
    });
    object.finish()
}

/// A blob as a record. One that is no JSON is only counted: it is encrypted, or names other blobs.
fn record(table: &str, id: &str, data: &[u8]) -> String {
    let object = Object::new().str("table", table).str("id", id);
    let text = std::str::from_utf8(data).ok();
    match text.and_then(|text| Json::parse(text).ok()).filter(|json| json.kind() == JsonKind::Object) {
        Some(json) => object.raw("data", on_one_line(json.text())).finish(),
        None => object.raw("bytes", data.len()).finish(),
    }
}

fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.chunks(2).map(|pair| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    });
    pairs.collect()
}

/// The digests in the repeated field 1 of a protobuf message. Stops at bytes that are not a field.
fn ids_in(mut message: &[u8]) -> Vec<String> {
    let mut ids = Vec::new();
    while ids.len() < MOST_BLOBS
        && let Some(tag) = varint(&mut message)
    {
        let skipped = match tag & 7 {
            0 => varint(&mut message).map(|_| 0),
            1 => Some(8),
            2 => varint(&mut message).and_then(|length| usize::try_from(length).ok()),
            5 => Some(4),
            _ => None,
        };
        let Some((value, rest)) = skipped.and_then(|length| message.split_at_checked(length)) else { break };
        if tag == (1 << 3 | 2) && value.len() == 32 {
            ids.push(value.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        message = rest;
    }
    ids
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_from_a_root_of_any_bytes() {
        let id = [7u8; 32];
        let mut root = vec![0x0a, 0x20];
        root.extend(id);
        root.extend([0x10, 0xff, 0x01, 0x1a, 0x02, 1, 2, 0x0a, 0x03, 1, 2, 3]);
        root.extend([0x0a, 0x20]);
        root.extend(id);
        assert_eq!(ids_in(&root), ["07".repeat(32), "07".repeat(32)]);
        for end in 0..root.len() {
            assert!(ids_in(&root[..end]).len() <= 2);
        }
        assert_eq!(ids_in(&[0xff; 64]), [""; 0]);
        assert_eq!(ids_in(&[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]), [""; 0]);
        assert_eq!((unhex(b"7b7d"), unhex(b"7"), unhex(b"zz")), (Some(b"{}".to_vec()), None, None));
    }
}
