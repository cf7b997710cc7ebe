//! One line of a session file, written as pi writes it.
//!
//! Owns the spelling of header and entries, so that a generated file does not depend on the code that is measured.

use std::io::{Result, Write};

use jiff::Timestamp;

/// Start of all generated time: 2026-01-01T00:00:00Z.
pub(super) const EPOCH_MS: i64 = 1_767_225_600_000;

/// The version decides whether entries have ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// No ids: the order of lines is the conversation.
    V1,
    V3,
}

/// An entry's number, its parent's number, its time.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryPlace {
    pub(super) at: u32,
    pub(super) parent: Option<u32>,
    pub(super) ms: i64,
}

pub(super) struct Records<W> {
    out: W,
    version: Version,
}

impl<W: Write> Records<W> {
    pub(super) fn new(out: W, version: Version) -> Self {
        Self { out, version }
    }

    pub(super) fn header(&mut self, session: &str, cwd: &str, ms: i64) -> Result<()> {
        let (time, cwd) = (iso(ms), quoted(cwd));
        match self.version {
            Version::V3 => writeln!(
                self.out,
                r#"{{"type":"session","version":3,"id":"{session}","timestamp":"{time}","cwd":{cwd}}}"#
            ),
            Version::V1 => writeln!(
                self.out,
                r#"{{"type":"session","id":"{session}","timestamp":"{time}","cwd":{cwd},"provider":"anthropic","modelId":"claude-opus-4-5","thinkingLevel":"off"}}"#
            ),
        }
    }

    /// `body` is the members of the payload, without braces.
    pub(super) fn entry(&mut self, kind: &str, place: EntryPlace, body: &[u8]) -> Result<()> {
        let time = iso(place.ms);
        match (self.version, place.parent) {
            (Version::V1, _) => write!(self.out, r#"{{"type":"{kind}","timestamp":"{time}""#)?,
            (Version::V3, None) => {
                write!(self.out, r#"{{"type":"{kind}","id":"{}","parentId":null,"timestamp":"{time}""#, id(place.at))?;
            }
            (Version::V3, Some(parent)) => {
                write!(
                    self.out,
                    r#"{{"type":"{kind}","id":"{}","parentId":"{}","timestamp":"{time}""#,
                    id(place.at),
                    id(parent)
                )?;
            }
        }
        if !body.is_empty() {
            self.out.write_all(b",")?;
        }
        self.out.write_all(body)?;
        self.out.write_all(b"}\n")
    }

    /// A line of another form.
    pub(super) fn line(&mut self, line: &[u8]) -> Result<()> {
        self.out.write_all(line)?;
        self.out.write_all(b"\n")
    }

    pub(super) fn finish(mut self) -> Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Eight hex digits, different for every number.
pub(super) fn id(number: u32) -> String {
    format!("{:08x}", number.wrapping_mul(0x9e37_79b1).wrapping_add(0x0ff5_0075))
}

/// A version 7 UUID that depends on `number` alone.
pub(super) fn session_id(number: u64) -> String {
    let ms = EPOCH_MS.unsigned_abs() + number * 61_000;
    let tail = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!(
        "{:08x}-{:04x}-7{:03x}-8{:03x}-{:012x}",
        ms >> 16,
        ms & 0xffff,
        (tail >> 48) & 0xfff,
        (tail >> 36) & 0xfff,
        tail & 0xffff_ffff_ffff
    )
}

/// Like JavaScript's `toISOString`.
pub(super) fn iso(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| String::new(), |time| format!("{time:.3}"))
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

pub(super) fn push_quoted(body: &mut Vec<u8>, text: &str) {
    // Writing to a Vec cannot fail.
    serde_json::to_writer(body, text).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_pi_s() {
        let mut records = Records::new(Vec::new(), Version::V3);
        records.header("s", "/home/u/\"p\"", EPOCH_MS).unwrap();
        records.entry("label", EntryPlace { at: 1, parent: Some(0), ms: EPOCH_MS + 1 }, br#""targetId":"x""#).unwrap();
        let text = String::from_utf8(records.finish().unwrap()).unwrap();
        let expected = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/home/u/\\\"p\\\"\"}}\n{{\"type\":\"label\",\"id\":\"{}\",\"parentId\":\"{}\",\"timestamp\":\"2026-01-01T00:00:00.001Z\",\"targetId\":\"x\"}}\n",
            id(1),
            id(0)
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn ids_differ_and_have_their_form() {
        let ids: std::collections::BTreeSet<String> = (0..10_000).map(id).collect();
        assert!(ids.len() == 10_000 && ids.iter().all(|id| id.len() == 8));
        let session = session_id(5);
        assert_eq!((session.len(), session.matches('-').count(), &session[14..15]), (36, 4, "7"));
        assert_ne!(session, session_id(6));
    }
}
