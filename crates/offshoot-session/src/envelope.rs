//! The envelope of a line: who it is, whose child, of what type and when, found by looking at a few bytes of it.
//!
//! Peers write the envelope at the front of a line or, for some types and after their migrations, at its end. So the
//! scan reads scalars from the front until it meets a container, then backwards from the closing brace; the body
//! between is not looked at. Whatever those two reads do not settle is settled by a full read of the line. Knows lines,
//! not files.

use std::borrow::Cow;

use crate::clock::{Millis, parse_iso};
use crate::json::{Json, is_space, skip_space, skip_string, skip_value, validate, validate_members};
use crate::kind::{Kind, LEAF_MARKER, Role};

/// The envelope of a usual line and the role behind it take no more than this.
const USUAL_START: usize = 192;

/// What is known of a line without its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// Its type.
    pub kind: Kind,
    /// The role, of a message.
    pub role: Option<Role>,
    /// Its id; `None` if it has none, or an empty one, or one that is no string.
    pub id: Option<Cow<'a, str>>,
    /// Its parent's id; `None` if it has none.
    pub parent: Option<Cow<'a, str>>,
    /// Its timestamp, if that is a date.
    pub time: Option<Millis>,
    /// Whether it is the marker of a moved leaf.
    pub is_leaf_marker: bool,
}

/// A line as far as it is in memory.
#[derive(Debug, Clone, Copy)]
pub struct LineBytes<'a> {
    /// The line from its start, without its line feed; all of it if `tail` is `None`.
    pub head: &'a [u8],
    /// The last bytes of a line that is too long to hold.
    pub tail: Option<&'a [u8]>,
}

/// Why there is no envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoEnvelope {
    /// The line is not one JSON object; at this byte that shows.
    Malformed(usize),
    /// The parts in memory do not settle it; read the whole line.
    NeedWholeLine,
}

/// Reads a line's envelope.
///
/// The body is not checked: a line damaged inside its body still has an envelope, and so keeps its place in the tree.
pub fn scan(line: LineBytes<'_>) -> Result<Envelope<'_>, NoEnvelope> {
    match usual(line) {
        Some(envelope) => Ok(envelope),
        None => scan_any(line),
    }
}

/// A message exactly as pi and offshoot spell it, which nearly all lines of nearly all files are; `None` for all others.
/// Finds what [`scan_any`] finds, several times faster.
fn usual(line: LineBytes<'_>) -> Option<Envelope<'_>> {
    // Two braces at the end: no member stands behind the message.
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
    })
}

/// The bytes up to the first that are no UTF-8: all of them, or all but half a character.
fn start_of_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).or_else(|error| std::str::from_utf8(&bytes[..error.valid_up_to()])).unwrap_or_default()
}

/// The inside of a string without escapes, and what stands behind its closing quote.
fn plain(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|b| matches!(b, b'"' | b'\\'))?;
    Some((&text[..end], text[end..].strip_prefix('"')?))
}

fn scan_any(line: LineBytes<'_>) -> Result<Envelope<'_>, NoEnvelope> {
    let start = skip_space(line.head, 0);
    if line.head.get(start) != Some(&b'{') {
        // Nothing but white space so far.
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
    // Scalars behind the body of a line whose front says it all are seldom: rather than members of the line they may be
    // members of its body, the line having been cut right behind an inner brace.
    if !found.is_settled() || (settled_by_front && trailing > 0) {
        return whole(line);
    }
    found.envelope()
}

fn trimmed_end(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|b| !is_space(*b)).map_or(0, |at| at + 1)
}

/// The slow way: every member of the line, after a check of its grammar.
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
    /// The object ended at this byte: everything was scalar.
    Whole(usize),
    /// A container came up; what follows it is not known.
    Body,
    /// Something that only a full read can judge.
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

/// The role of a message whose object opens at `at`, if it is the first member, as all peers write it.
fn role_at_front(bytes: &[u8], at: usize) -> Option<Role> {
    let rest = bytes.get(at..)?.strip_prefix(b"{\"role\":")?;
    let end = skip_string(rest, 0).filter(|_| rest.first() == Some(&b'"'))?;
    Some(Role::from_word(&rest[1..end - 1]))
}

/// Reads members backwards from the last brace (which is not in `bytes`) while their values are scalars. The values it
/// finds are the later ones, so they win. Answers how many there were; `None` if it did not understand what it saw.
fn back<'a>(bytes: &'a [u8], found: &mut EnvelopeMembers<'a>) -> Option<usize> {
    let mut end = trimmed_end(bytes);
    let mut taken = Taken::default();
    loop {
        let last = bytes.get(end.wrapping_sub(1)).copied()?;
        if matches!(last, b'}' | b']') {
            return Some(taken.names.len());
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
        taken.once(name, &bytes[value_start..end], found);
        let comma = trimmed_end(&bytes[..name_start]);
        if comma == 0 || bytes[comma - 1] != b',' {
            return None;
        }
        end = trimmed_end(&bytes[..comma - 1]);
    }
}

/// The opening quote of the string whose closing quote is at `close`.
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

/// Which names a backward read has met: the first one met is the last one written.
#[derive(Default)]
struct Taken<'a> {
    names: Vec<&'a [u8]>,
}

impl<'a> Taken<'a> {
    fn once(&mut self, name: &'a [u8], value: &'a [u8], found: &mut EnvelopeMembers<'a>) {
        if !self.names.contains(&name) {
            self.names.push(name);
            found.take(name, value);
        }
    }
}

/// The members that make an envelope, as raw JSON values.
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

    /// Whether nothing that an envelope needs can still be hidden in the part of the line that was not read.
    fn is_settled(&self) -> bool {
        let Some(kind) = self.kind.and_then(kind_of) else { return false };
        let body_is_settled = match kind {
            Kind::Message => self.role.is_some(),
            Kind::Custom => self.custom_type.is_some(),
            Kind::Session | Kind::Title => return true,
            _ => true,
        };
        body_is_settled && self.id.is_some() && self.parent.is_some() && self.timestamp.is_some()
    }

    fn envelope(self) -> Result<Envelope<'a>, NoEnvelope> {
        let kind = self.kind.and_then(kind_of).unwrap_or(Kind::Unknown);
        let id = |value: Option<&'a [u8]>| value.and_then(string).filter(|id| !id.is_empty());
        Ok(Envelope {
            kind,
            role: (kind == Kind::Message).then(|| self.role.unwrap_or(Role::Unknown)),
            // The names of the tree proposal that came before version 2, where the others are not there at all: they
            // may stand in a part of the line that need not be read.
            id: id(self.id.or(self.uuid)),
            parent: id(self.parent.or(self.parent_uuid)),
            time: self.timestamp.and_then(string).and_then(|text| parse_iso(&text)),
            is_leaf_marker: kind == Kind::Custom && self.custom_type.and_then(string).as_deref() == Some(LEAF_MARKER),
        })
    }
}

/// The type that a raw JSON value names, if it is a string.
fn kind_of(value: &[u8]) -> Option<Kind> {
    // Nearly every line is one of these.
    if value == b"\"message\"" {
        Some(Kind::Message)
    } else {
        string(value).map(|word| Kind::from_word(word.as_bytes()))
    }
}

/// A raw JSON value as a string, if it is one.
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
