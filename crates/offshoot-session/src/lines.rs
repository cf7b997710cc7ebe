//! Splits a range of a medium into lines at line feeds, in one pass and bounded memory.
//!
//! A line longer than the buffer is passed on as its two ends; its middle is only searched for the line feed. Knows no
//! JSON.

use std::io;
use std::ops::ControlFlow;

use crate::envelope::LineBytes;
use crate::medium::{Medium, read_exact_at};

const BUFFER: usize = 1 << 20;
const END: usize = 64 << 10;

/// The place of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct LineSpan {
    /// The line's number in the file, from 1.
    pub number: u64,
    pub offset: u64,
    /// Bytes without the line feed.
    pub length: u64,
    /// Whether a line feed ends the line; only the last one can lack it.
    pub terminated: bool,
}

/// Calls `each` for every line of `[from, to)` until it breaks. `from` is the start of line `first_number`.
///
/// # Errors
/// Those of the medium.
pub fn for_each_line(
    medium: &dyn Medium,
    from: u64,
    to: u64,
    first_number: u64,
    each: impl FnMut(LineSpan, LineBytes<'_>) -> ControlFlow<()>,
) -> io::Result<()> {
    for_each_line_in(&mut Vec::new(), medium, (from, to), first_number, each)
}

/// [`for_each_line`] with a buffer to reuse: allocating and zeroing a megabyte costs as much as reading one.
pub(crate) fn for_each_line_in(
    buffer: &mut Vec<u8>,
    medium: &dyn Medium,
    (from, to): (u64, u64),
    first_number: u64,
    mut each: impl FnMut(LineSpan, LineBytes<'_>) -> ControlFlow<()>,
) -> io::Result<()> {
    // One byte more than there is to read, so that a full buffer means an incomplete line.
    let room = to.saturating_sub(from).saturating_add(1);
    let room = BUFFER.min(usize::try_from(room).unwrap_or(BUFFER));
    if buffer.len() < room {
        buffer.resize(room, 0);
    }
    let buffer = &mut buffer[..room];
    let mut span = LineSpan { number: first_number, offset: from, length: 0, terminated: true };
    let mut filled = 0; // bytes in the buffer; its first byte is at `span.offset`
    loop {
        let at = span.offset + filled as u64;
        let room = (buffer.len() - filled).min(usize::try_from(to - at).unwrap_or(usize::MAX));
        let count = read_some(medium, at, &mut buffer[filled..filled + room])?;
        let searched = filled;
        filled += count;
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', &buffer[searched..filled]) {
            let end = searched + newline;
            span.length = (end - start) as u64;
            if each(span, LineBytes { head: &buffer[start..end], tail: None }).is_break() {
                return Ok(());
            }
            start = end + 1;
            span = LineSpan {
                number: span.number + 1,
                offset: span.offset + span.length + 1,
                length: 0,
                terminated: true,
            };
        }
        buffer.copy_within(start..filled, 0);
        filled -= start;
        if count == 0 {
            if filled > 0 {
                span.length = filled as u64;
                span.terminated = false;
                let _whole_file_is_read = each(span, LineBytes { head: &buffer[..filled], tail: None });
            }
            return Ok(());
        }
        if filled == buffer.len() {
            let ControlFlow::Continue(next) = long_line(medium, buffer, span, to, &mut each)? else {
                return Ok(());
            };
            span = next;
            filled = 0;
        }
    }
}

/// [`for_each_line`] with every line as a whole, however long it is.
pub(crate) fn for_each_whole_line(
    medium: &dyn Medium,
    (from, to): (u64, u64),
    first_number: u64,
    mut each: impl FnMut(LineSpan, &[u8]),
) -> io::Result<()> {
    let mut trouble = Ok(());
    for_each_line(medium, from, to, first_number, |span, line| {
        if line.tail.is_none() {
            each(span, line.head);
            return ControlFlow::Continue(());
        }
        match read_exact_at(medium, span.offset, usize::try_from(span.length).unwrap_or(usize::MAX)) {
            Ok(bytes) => each(span, &bytes),
            Err(error) => trouble = Err(error),
        }
        if trouble.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    trouble
}

/// Passes on a line that fills the buffer, and returns the start of the next one.
fn long_line(
    medium: &dyn Medium,
    buffer: &mut [u8],
    mut span: LineSpan,
    to: u64,
    each: &mut impl FnMut(LineSpan, LineBytes<'_>) -> ControlFlow<()>,
) -> io::Result<ControlFlow<(), LineSpan>> {
    let head = buffer[..END.min(buffer.len())].to_vec();
    let mut at = span.offset + buffer.len() as u64;
    let end = loop {
        let room = buffer.len().min(usize::try_from(to - at).unwrap_or(usize::MAX));
        let count = read_some(medium, at, &mut buffer[..room])?;
        if count == 0 {
            span.terminated = false;
            break at;
        }
        if let Some(newline) = memchr::memchr(b'\n', &buffer[..count]) {
            break at + newline as u64;
        }
        at += count as u64;
    };
    span.length = end - span.offset;
    let tail_length = (span.length - head.len() as u64).min(END as u64);
    let tail = read_exact_at(medium, end - tail_length, usize::try_from(tail_length).unwrap_or(END))?;
    let flow = each(span, LineBytes { head: &head, tail: Some(&tail) });
    if flow.is_break() || !span.terminated {
        return Ok(ControlFlow::Break(()));
    }
    Ok(ControlFlow::Continue(LineSpan { number: span.number + 1, offset: end + 1, length: 0, terminated: true }))
}

fn read_some(medium: &dyn Medium, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match medium.read_at(at, buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::MemoryMedium;

    fn lines(bytes: &[u8]) -> Vec<(LineSpan, usize)> {
        let medium = MemoryMedium::new(bytes.to_vec());
        let mut out = Vec::new();
        for_each_line(&medium, 0, bytes.len() as u64, 1, |span, line| {
            let start = span.offset as usize;
            let whole = &bytes[start..start + span.length as usize];
            assert!(whole.starts_with(line.head));
            if let Some(tail) = line.tail {
                assert!(whole.ends_with(tail));
                assert!(line.head.len() + tail.len() <= whole.len());
            } else {
                assert_eq!(line.head, whole);
            }
            out.push((span, whole.len()));
            ControlFlow::Continue(())
        })
        .unwrap();
        out
    }

    #[test]
    fn only_line_feeds_split() {
        let all = lines("a\r\n\n\u{2028}b\nlast".as_bytes());
        let lengths: Vec<_> = all.iter().map(|(_, length)| *length).collect();
        assert_eq!(lengths, [2, 0, 4, 4]);
        assert_eq!(all.iter().map(|(span, _)| span.terminated).collect::<Vec<_>>(), [true, true, true, false]);
        assert!(lines(b"").is_empty());
    }

    #[test]
    fn every_length_around_the_buffer_is_whole() {
        for length in [BUFFER - 2, BUFFER - 1, BUFFER, BUFFER + 1, 2 * BUFFER - 1, 2 * BUFFER, 3 * BUFFER + 7] {
            for end in [&b""[..], b"\n", b"\nxyz", b"\nxyz\n"] {
                let mut bytes = b"first\n".to_vec();
                bytes.extend(std::iter::repeat_n(b'x', length));
                bytes.extend_from_slice(end);
                let found: Vec<_> = lines(&bytes).into_iter().map(|(_, length)| length).collect();
                let expected: Vec<_> = bytes.split(|b| *b == b'\n').map(<[u8]>::len).collect();
                let expected = if bytes.ends_with(b"\n") { &expected[..expected.len() - 1] } else { &expected[..] };
                assert_eq!(found, expected, "{length} {end:?}");
            }
        }
    }
}
