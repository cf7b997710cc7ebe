//! Reads a line's envelope (id, parent, type, time, role) from a few of its bytes.
//!
//! Peers write the envelope at a line's front or, for some types and after migrations, at its end. The scan reads
//! scalars from the front up to the first container, then backwards from the closing brace, and skips the body. If that
//! does not settle the envelope, it reads the whole line. Knows lines, not files.

use std::borrow::Cow;

use crate::clock::{Millis, parse_iso};
use crate::json::{Json, is_space, skip_space, skip_string, skip_value, validate, validate_members};
use crate::kind::{HIDDEN, Kind, Role};

/// The envelope of a usual line and its role fit into this many bytes.
const USUAL_START: usize = 192;

/// A line without its body.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the other fields say what they are")]
pub struct Envelope<'a> {
    pub kind: Kind,
    pub role: Option<Role>,
    /// `None` if the id is missing, empty or not a string.
    pub id: Option<Cow<'a, str>>,
    /// The parent's id.
    pub parent: Option<Cow<'a, str>>,
    /// The timestamp, if it is a date.
    pub time: Option<Millis>,
    pub is_leaf_marker: bool,
    /// Whether the line names the entry that it is a copy of.
    pub is_copy: bool,
}

/// A line, or the two ends of a long one.
#[derive(Debug, Clone, Copy)]
pub struct LineBytes<'a> {
    /// The line from its start, without line feed; the whole line if `tail` is `None`.
    pub head: &'a [u8],
    /// The last bytes of a long line.
    pub tail: Option<&'a [u8]>,
}

/// Why a scan found no envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoEnvelope {
    /// The line is not one JSON object, as this byte shows.
    Malformed(usize),
    /// The two ends do not settle it: read the whole line.
    NeedWholeLine,
}

/// Reads a line's envelope.
///
/// Does not check the body: a line damaged there still has an envelope and so keeps its place in the tree.
pub fn scan(line: LineBytes<'_>) -> Result<Envelope<'_>, NoEnvelope> {
    match usual(line) {
        Some(envelope) => Ok(envelope),
        None => scan_any(line),
    }
}

/// Scans a message as pi and offshoot write it, as nearly all lines are, several times faster than [`scan_any`] and
/// with the same result. `None` for other lines.
fn usual(line: LineBytes<'_>) -> Option<Envelope<'_>> {
    // Two braces at the end: no member follows the message.
    if !line.tail.unwrap_or(line.head).ends_with(b"}}") {
        return None;
    }
    let start = start_of_text(&line.head[..line.head.len().min(USUAL_START)]);
    let (id, rest) = plain(start.strip_prefix(r#"{"type":"message","id":""#)?)?;
    let rest = rest.strip_prefix(r#","parentId":"#)?;
    let (parent, rest) = match rest.strip_prefix('"') {
        Some(rest) => plain(rest)?,
        None => ("", rest.strip_prefix("null")?),
    };
    let (timestamp, rest) = plain(rest.strip_prefix(r#","timestamp":""#)?)?;
    let (role, _) = plain(rest.strip_prefix(r#","message":{"role":""#)?)?;
    let named = |id| Some(id).filter(|id: &&str| !id.is_empty()).map(Cow::Borrowed);
    Some(Envelope {
        kind: Kind::Message,
        role: Some(Role::from_word(role.as_bytes())),
        id: named(id),
        parent: named(parent),
        time: parse_iso(timestamp),
        is_leaf_marker: false,
        is_copy: false,
    })
}

/// The bytes before the first one that is not UTF-8.
fn start_of_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).or_else(|error| std::str::from_utf8(&bytes[..error.valid_up_to()])).unwrap_or_default()
}

/// The content of a string without escapes, and the text after its closing quote.
fn plain(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|b| matches!(b, b'"' | b'\\'))?;
    Some((&text[..end], text[end..].strip_prefix('"')?))
}

fn scan_any(line: LineBytes<'_>) -> Result<Envelope<'_>, NoEnvelope> {
    let start = skip_space(line.head, 0);
    if line.head.get(start) != Some(&b'{') {
        if start == line.head.len() && line.tail.is_some() {
            return Err(NoEnvelope::NeedWholeLine);
        }
        return Err(NoEnvelope::Malformed(start));
    }
    let end = trimmed_end(line.tail.unwrap_or(line.head));
    let mut found = EnvelopeMembers::default();
    match front(line.head, start + 1, &mut found) {
        Front::Whole(at) => {
            let rest = skip_space(line.head, at);
            return match (rest == line.head.len(), line.tail) {
                (false, _) => Err(NoEnvelope::Malformed(rest)),
                (true, None) => found.envelope(),
                (true, Some(_)) => Err(NoEnvelope::NeedWholeLine),
            };
        }
        Front::Body => {}
        Front::Unsettled => return whole(line),
    }
    let last_part = line.tail.unwrap_or(line.head);
    if end == 0 {
        return whole(line);
    }
    if last_part.get(end.wrapping_sub(1)) != Some(&b'}') {
        return Err(NoEnvelope::Malformed(line.head.len()));
    }
    let settled_by_front = found.is_settled();
    let Some(trailing) = back(&last_part[..end - 1], &mut found) else { return whole(line) };
    // Scalars after the body are rare in a line whose front settles everything. They may be members of the body, if the
    // line was cut after an inner brace.
    if !found.is_settled() || (settled_by_front && trailing > 0) {
        return whole(line);
    }
    found.envelope()
}

fn trimmed_end(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|b| !is_space(*b)).map_or(0, |at| at + 1)
}

/// Reads every member, after checking the grammar.
fn whole(line: LineBytes<'_>) -> Result<Envelope<'_>, NoEnvelope> {
    if line.tail.is_some() {
        return Err(NoEnvelope::NeedWholeLine);
    }
    let mut found = EnvelopeMembers::default();
    let checked = validate_members(line.head, |name, value| match name.contains(&b'\\') {
        true => found.take(unescaped(name).as_bytes(), value),
        false => found.take(name, value),
    });
    checked.map_err(|error| NoEnvelope::Malformed(error.at))?;
    found.envelope()
}

fn unescaped(name: &[u8]) -> String {
    let quoted = format!("\"{}\"", String::from_utf8_lossy(name));
    Json::trusted(&quoted).as_str().unwrap_or_default().into_owned()
}

enum Front {
    /// Where the object ended; it had only scalars.
    Whole(usize),
    /// A container began; the members after it are not known.
    Body,
    /// Only reading the whole line can tell.
    Unsettled,
}

/// Reads members from the front while their values are scalars.
fn front<'a>(bytes: &'a [u8], mut at: usize, found: &mut EnvelopeMembers<'a>) -> Front {
    loop {
        at = skip_space(bytes, at);
        match bytes.get(at) {
            Some(b'}') => return Front::Whole(at + 1),
            Some(b'"') => {}
            _ => return Front::Unsettled,
        }
        let Some(name_end) = skip_string(bytes, at) else { return Front::Unsettled };
        let name = &bytes[at + 1..name_end - 1];
        let colon = skip_space(bytes, name_end);
        if bytes.get(colon) != Some(&b':') || name.contains(&b'\\') {
            return Front::Unsettled;
        }
        at = skip_space(bytes, colon + 1);
        match bytes.get(at) {
            Some(b'{') => {
                if name == b"message" {
                    found.message = true;
                    found.role = role_at_front(bytes, at);
                }
                return Front::Body;
            }
            Some(b'[') => return Front::Body,
            _ => {}
        }
        let Some(end) = skip_value(bytes, at).filter(|end| *end > at) else { return Front::Unsettled };
        if bytes[at] != b'"' && validate(&bytes[at..end]).is_err() {
            return Front::Unsettled;
        }
        found.take(name, &bytes[at..end]);
        at = skip_space(bytes, end);
        match bytes.get(at) {
            Some(b',') => at += 1,
            Some(b'}') => return Front::Whole(at + 1),
            _ => return Front::Unsettled,
        }
    }
}

/// The role of the message object that opens at `at`, if it is the first member, as all peers write it.
fn role_at_front(bytes: &[u8], at: usize) -> Option<Role> {
    let rest = bytes.get(at..)?.strip_prefix(b"{\"role\":")?;
    let end = skip_string(rest, 0).filter(|_| rest.first() == Some(&b'"'))?;
    Some(Role::from_word(&rest[1..end - 1]))
}

/// Reads members backwards from the last brace (not in `bytes`) while their values are scalars. They come later in the
/// line, so they win. Returns how many there were; `None` if the bytes are not members.
fn back<'a>(bytes: &'a [u8], found: &mut EnvelopeMembers<'a>) -> Option<usize> {
    let mut end = trimmed_end(bytes);
    let mut names: Vec<&[u8]> = Vec::new();
    loop {
        let last = bytes.get(end.wrapping_sub(1)).copied()?;
        if matches!(last, b'}' | b']') {
            return Some(names.len());
        }
        let value_start = if last == b'"' {
            string_start(bytes, end - 1)
        } else {
            bytes[..end].iter().rposition(|b| *b == b':' || is_space(*b)).map(|at| at + 1)
        };
        let value_start = value_start?;
        let colon = trimmed_end(&bytes[..value_start]);
        if colon == 0 || bytes[colon - 1] != b':' {
            return None;
        }
        let name_end = trimmed_end(&bytes[..colon - 1]);
        if name_end == 0 || bytes[name_end - 1] != b'"' {
            return None;
        }
        let name_start = string_start(bytes, name_end - 1)?;
        let name = &bytes[name_start + 1..name_end - 1];
        if name.contains(&b'\\') {
            return None;
        }
        // The first one met was written last, so it counts.
        if !names.contains(&name) {
            names.push(name);
            found.take(name, &bytes[value_start..end]);
        }
        let comma = trimmed_end(&bytes[..name_start]);
        if comma == 0 || bytes[comma - 1] != b',' {
            return None;
        }
        end = trimmed_end(&bytes[..comma - 1]);
    }
}

fn string_start(bytes: &[u8], close: usize) -> Option<usize> {
    let mut at = close;
    loop {
        at = memchr::memrchr(b'"', &bytes[..at])?;
        let backslashes = bytes[..at].iter().rev().take_while(|b| **b == b'\\').count();
        if backslashes % 2 == 0 {
            return Some(at);
        }
    }
}

#[derive(Default)]
struct EnvelopeMembers<'a> {
    kind: Option<&'a [u8]>,
    id: Option<&'a [u8]>,
    parent: Option<&'a [u8]>,
    timestamp: Option<&'a [u8]>,
    custom_type: Option<&'a [u8]>,
    uuid: Option<&'a [u8]>,
    parent_uuid: Option<&'a [u8]>,
    message: bool,
    role: Option<Role>,
    is_copy: bool,
}

impl<'a> EnvelopeMembers<'a> {
    fn take(&mut self, name: &[u8], value: &'a [u8]) {
        match name {
            b"type" => self.kind = Some(value),
            b"id" => self.id = Some(value),
            b"parentId" => self.parent = Some(value),
            b"timestamp" => self.timestamp = Some(value),
            b"customType" => self.custom_type = Some(value),
            b"uuid" => self.uuid = Some(value),
            b"parentUuid" => self.parent_uuid = Some(value),
            b"pickedFrom" => self.is_copy = true,
            b"message" => {
                self.message = true;
                self.role = role_at_front(value, 0).or_else(|| {
                    let text = String::from_utf8_lossy(value);
                    Json::trusted(&text).str("role").map(|role| Role::from_word(role.as_bytes()))
                });
            }
            _ => {}
        }
    }

    /// Whether the unread part of the line cannot change the envelope.
    fn is_settled(&self) -> bool {
        let Some(kind) = self.kind.and_then(kind_of) else { return false };
        if matches!(kind, Kind::Session | Kind::Title) {
            return true;
        }
        let has_role = kind != Kind::Message || self.role.is_some();
        let has_custom_type = kind != Kind::Custom || self.custom_type.is_some();
        has_role && has_custom_type && self.id.is_some() && self.parent.is_some() && self.timestamp.is_some()
    }

    fn envelope(self) -> Result<Envelope<'a>, NoEnvelope> {
        let kind = self.kind.and_then(kind_of).unwrap_or(Kind::Unknown);
        let id = |value: Option<&'a [u8]>| value.and_then(string).filter(|id| !id.is_empty());
        Ok(Envelope {
            kind,
            role: (kind == Kind::Message).then(|| self.role.unwrap_or(Role::Unknown)),
            // The names of the tree proposal before version 2. Such lines lack the current names, which could be in the
            // unread part.
            id: id(self.id.or(self.uuid)),
            parent: id(self.parent.or(self.parent_uuid)),
            time: self.timestamp.and_then(string).and_then(|text| parse_iso(&text)),
            is_leaf_marker: kind == Kind::Custom
                && self.custom_type.and_then(string).is_some_and(|custom| HIDDEN.contains(&custom.as_ref())),
            is_copy: self.is_copy,
        })
    }
}

fn kind_of(value: &[u8]) -> Option<Kind> {
    // Nearly every line is one of these.
    if value == b"\"message\"" {
        Some(Kind::Message)
    } else {
        string(value).map(|word| Kind::from_word(word.as_bytes()))
    }
}

fn string(value: &[u8]) -> Option<Cow<'_, str>> {
    if let [b'"', inner @ .., b'"'] = value
        && memchr::memchr(b'\\', inner).is_none()
        && let Ok(text) = std::str::from_utf8(inner)
    {
        return Some(Cow::Borrowed(text));
    }
    match String::from_utf8_lossy(value) {
        Cow::Borrowed(text) => Json::trusted(text).as_str(),
        Cow::Owned(text) => Json::trusted(&text).as_str().map(|text| Cow::Owned(text.into_owned())),
    }
}

#[cfg(test)]
mod tests;
