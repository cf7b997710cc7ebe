//! The bytes of a record beside the entries that were made of it: what stands in them with the same bytes is a hole, so a text
//! is stored once. Knows no agent.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use offshoot_session::entry::Source as _;
use offshoot_session::json::{Json, JsonKind, Object, quote};
use offshoot_session::session::Session;

use crate::record::LONGEST_RECORD;

/// The member of an entry in which holes are.
pub(crate) const PAYLOADS: [&str; 3] = ["message", "summary", "content"];

/// Shorter texts are not worth a hole.
const SHORTEST: usize = 64;
/// How many bytes are searched for the holes of one record. What is found later stands there twice.
const MOST_SEARCHED: usize = 256 << 20;

/// A payload that has texts of a record: the id of its entry, and the JSON text of its member.
pub(crate) struct Payload<'a> {
    pub(crate) id: &'a str,
    pub(crate) text: &'a str,
}

/// The data of the entry that keeps a record: its number, its first byte, and its bytes, line end included.
pub(crate) fn data_of(number: u32, at: u64, bytes: &[u8], payloads: &[Payload<'_>]) -> String {
    let object = Object::new().raw("n", number).raw("at", at);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return object.raw("p", format!("[{}]", Object::new().str("b64", &STANDARD.encode(bytes)).finish())).finish();
    };
    let holes = holes(text, payloads);
    let mut used: Vec<usize> = Vec::new();
    let (mut pieces, mut from) = (Vec::new(), 0);
    for hole in &holes {
        if hole.start > from {
            pieces.push(quote(text.get(from..hole.start).unwrap_or_default()));
        }
        let entry = used.iter().position(|known| *known == hole.payload).unwrap_or_else(|| {
            used.push(hole.payload);
            used.len() - 1
        });
        pieces.push(format!("[{entry},{},{}]", hole.offset, hole.length));
        from = hole.start + hole.length;
    }
    if from < text.len() || pieces.is_empty() {
        pieces.push(quote(text.get(from..).unwrap_or_default()));
    }
    let of: Vec<String> = used.iter().filter_map(|at| payloads.get(*at)).map(|payload| quote(payload.id)).collect();
    let object = if of.is_empty() { object } else { object.raw("of", format!("[{}]", of.join(","))) };
    object.raw("p", format!("[{}]", pieces.join(","))).finish()
}

/// The data of the entry that keeps a file beside the session: its name, and its bytes. `text_of` is an entry whose first text is that of
/// the file.
pub(crate) fn file_data_of(name: &str, bytes: &[u8], text_of: Option<&str>) -> String {
    let object = Object::new().str("file", name);
    match (text_of, std::str::from_utf8(bytes)) {
        (Some(entry), _) => object.raw("of", format!("[{}]", quote(entry))).raw("p", "[[0]]").finish(),
        (None, Ok(text)) => object.raw("p", format!("[{}]", quote(text))).finish(),
        (None, Err(_)) => {
            let coded = Object::new().str("b64", &STANDARD.encode(bytes)).finish();
            object.raw("p", format!("[{coded}]")).finish()
        }
    }
}

/// The first text of a payload.
pub(crate) fn first_text(payload: &str) -> Option<String> {
    let content = Json::parse(payload).ok()?.get("content")?;
    content.items().find_map(|block| block.str("text")).map(std::borrow::Cow::into_owned)
}

struct Hole {
    start: usize,
    length: usize,
    payload: usize,
    offset: usize,
}

/// The strings of a record that stand in a payload, in order.
fn holes(text: &str, payloads: &[Payload<'_>]) -> Vec<Hole> {
    let mut holes = Vec::new();
    let mut left = MOST_SEARCHED;
    // Texts usually follow each other as they do in the record.
    let mut cursors = vec![0; payloads.len()];
    for (start, end) in long_strings(text.as_bytes()) {
        let needle = text.get(start..end).unwrap_or_default().as_bytes();
        for (payload, cursor) in cursors.iter_mut().enumerate() {
            let within = payloads.get(payload).map_or("", |payload| payload.text).as_bytes();
            let rest = within.get(*cursor..).unwrap_or_default();
            let found = memmem::find(rest, needle).map(|at| at + *cursor).or_else(|| memmem::find(within, needle));
            left = left.saturating_sub(within.len());
            if let Some(offset) = found {
                *cursor = offset + needle.len();
                holes.push(Hole { start, length: needle.len(), payload, offset });
                break;
            }
            if left == 0 {
                return holes;
            }
        }
    }
    holes
}

/// The insides of long strings of a JSON text, which may be damaged.
fn long_strings(bytes: &[u8]) -> Vec<(usize, usize)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(open) = bytes.get(at..).and_then(|rest| memchr::memchr(b'"', rest)).map(|found| at + found) {
        let mut end = open + 1;
        loop {
            match bytes.get(end..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)).map(|found| end + found) {
                Some(escape) if bytes.get(escape) == Some(&b'\\') => end = escape + 2,
                Some(close) => {
                    end = close;
                    break;
                }
                None => return found,
            }
        }
        if end - open > SHORTEST {
            found.push((open + 1, end));
        }
        at = end + 1;
    }
    found
}

/// The payloads of entries, in which holes of records are. Neighbours use the same few.
pub(crate) struct PayloadTexts<'a> {
    session: &'a Session,
    texts: HashMap<String, Arc<str>>,
    length: usize,
}

impl<'a> PayloadTexts<'a> {
    /// So many payloads are kept, and so many bytes of them.
    const MOST: usize = 16;
    const LARGEST: usize = 32 << 20;

    pub(crate) fn new(session: &'a Session) -> Self {
        Self { session, texts: HashMap::new(), length: 0 }
    }

    /// The payload of an entry.
    pub(crate) fn get(&mut self, id: &str) -> Option<Arc<str>> {
        if let Some(text) = self.texts.get(id) {
            return Some(Arc::clone(text));
        }
        let entry = self.session.entry(self.session.tree().find(id)?).ok()?;
        let text: Arc<str> = PAYLOADS.iter().find_map(|name| entry.get(name))?.text().into();
        if self.texts.len() >= Self::MOST || self.length.saturating_add(text.len()) > Self::LARGEST {
            self.texts.clear();
            self.length = 0;
        }
        self.length += text.len();
        self.texts.insert(id.to_owned(), Arc::clone(&text));
        Some(text)
    }
}

/// A kept record, as its entry says it.
pub(crate) struct KeptRecord {
    /// Its first byte in the source.
    pub(crate) at: u64,
    pub(crate) bytes: Vec<u8>,
}

/// Rebuilds a record. `payload` gives the JSON text of an entry's member; `None` if something does not fit together, or if the record
/// is longer than any that is read.
pub(crate) fn rebuild(data: Json<'_>, payload: &mut dyn FnMut(&str) -> Option<Arc<str>>) -> Option<KeptRecord> {
    let at = data.get("at")?.as_f64().map(|number| number.max(0.0) as u64)?;
    Some(KeptRecord { at, bytes: bytes_of(data, payload)? })
}

/// The name of a kept file; `None` of a record.
pub(crate) fn file_name(data: Json<'_>) -> Option<String> {
    data.str("file").map(std::borrow::Cow::into_owned)
}

/// The bytes of a kept record or file.
pub(crate) fn bytes_of(data: Json<'_>, payload: &mut dyn FnMut(&str) -> Option<Arc<str>>) -> Option<Vec<u8>> {
    let of: Vec<String> = data
        .get("of")
        .map(|of| of.items().filter_map(|id| id.as_str().map(std::borrow::Cow::into_owned)).collect())
        .unwrap_or_default();
    let mut bytes = Vec::new();
    for piece in data.get("p")?.items() {
        match piece.kind() {
            JsonKind::String => bytes.extend_from_slice(piece.as_str()?.as_bytes()),
            JsonKind::Object => bytes.extend(STANDARD.decode(piece.str("b64")?.as_bytes()).ok()?),
            _ => {
                let numbers: Vec<usize> =
                    piece.items().filter_map(|number| number.as_f64().map(|number| number.max(0.0) as usize)).collect();
                match numbers.as_slice() {
                    [entry] => bytes.extend(first_text(&payload(of.get(*entry)?)?)?.into_bytes()),
                    [entry, offset, length] => {
                        let text = payload(of.get(*entry)?)?;
                        bytes.extend_from_slice(text.as_bytes().get(*offset..offset.checked_add(*length)?)?);
                    }
                    _ => return None,
                }
            }
        }
        // The line feed is not counted.
        if bytes.len() as u64 > LONGEST_RECORD + 1 {
            return None;
        }
    }
    Some(bytes)
}
