//! Records of a foreign session: the lines of its bytes, one after another. Knows no agent.

use std::borrow::Cow;
use std::io;

use memchr::memchr;
use offshoot_session::medium::{Medium, read_exact_at};

/// How much is read at once.
const STEP: usize = 1 << 20;
/// A longer line is not read as a record. Its bytes stay where they are.
pub(crate) const LONGEST_RECORD: u64 = 256 << 20;

/// Where a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordSpan {
    /// Its first byte.
    pub(crate) at: u64,
    /// Its length without line feed.
    pub(crate) length: u32,
    /// Its number, from 1.
    pub(crate) number: u32,
}

/// A record as it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawRecord<'a> {
    pub(crate) span: RecordSpan,
    /// Without line feed; empty if the line is too long.
    pub(crate) bytes: &'a [u8],
    /// Whether a line feed ends it.
    pub(crate) is_terminated: bool,
}

impl<'a> RawRecord<'a> {
    /// Its text, without NUL bytes at its front; U+FFFD replaces bytes that are not UTF-8.
    pub(crate) fn text(&self) -> Cow<'a, str> {
        text_of(self.bytes)
    }

    pub(crate) fn has_nuls(&self) -> bool {
        self.bytes.first() == Some(&0)
    }
}

/// A record's text, without NUL bytes at its front; U+FFFD replaces bytes that are not UTF-8.
pub(crate) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    let front = bytes.iter().take_while(|byte| **byte == 0).count();
    let bytes = bytes.get(front..).unwrap_or_default();
    // Nearly all of them are UTF-8, which is seen sooner than where they are not.
    simdutf8::basic::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Reads one record again.
pub(crate) fn read_record(medium: &dyn Medium, span: RecordSpan) -> io::Result<String> {
    let bytes = read_exact_at(medium, span.at, usize::try_from(span.length).map_err(io::Error::other)?)?;
    if bytes.first() == Some(&0) {
        return Ok(text_of(&bytes).into_owned());
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Calls `each` with every line from a byte to the end of a medium.
pub(crate) fn for_each_record(
    medium: &dyn Medium,
    mut each: impl FnMut(RawRecord<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let end = medium.len()?;
    // How many bytes of the buffer are filled, and how many of these were passed on.
    let (mut buffer, mut filled, mut from) = (Vec::new(), 0usize, 0usize);
    let (mut start, mut number) = (0u64, 1u32);
    // Of the line that begins at `from`: what holds no line feed, and what was dropped because it is too long.
    let (mut searched, mut skipped) = (0usize, 0u64);
    loop {
        if let Some(found) = memchr(b'\n', buffer.get(from + searched..filled).unwrap_or_default()) {
            let length = searched + found;
            let whole = skipped + length as u64;
            let span = RecordSpan { at: start, length: u32::try_from(whole).unwrap_or(u32::MAX), number };
            let bytes = if skipped > 0 { &[] } else { buffer.get(from..from + length).unwrap_or_default() };
            each(RawRecord { span, bytes, is_terminated: true })?;
            from += length + 1;
            (start, number, searched, skipped) = (start + whole + 1, number.saturating_add(1), 0, 0);
            continue;
        }
        buffer.copy_within(from..filled, 0);
        filled -= std::mem::take(&mut from);
        searched = filled;
        if searched as u64 > LONGEST_RECORD {
            skipped += searched as u64;
            (filled, searched) = (0, 0);
        }
        let at = start + skipped + searched as u64;
        if at >= end {
            break;
        }
        let step = STEP.min(usize::try_from(end - at).unwrap_or(STEP));
        if buffer.len() < filled + step {
            buffer.resize(filled + step, 0);
        }
        let read = medium.read_at(at, buffer.get_mut(filled..filled + step).unwrap_or_default())?;
        filled += read;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let rest = buffer.get(..filled).unwrap_or_default();
    let whole = skipped + rest.len() as u64;
    if whole == 0 {
        return Ok(());
    }
    let span = RecordSpan { at: start, length: u32::try_from(whole).unwrap_or(u32::MAX), number };
    each(RawRecord { span, bytes: if skipped > 0 { &[] } else { rest }, is_terminated: false })
}
/// JSON on one line, as a record needs it. Line breaks are only between its values.
pub(crate) fn on_one_line(json: &str) -> String {
    json.trim().replace(['\n', '\r'], " ")
}
