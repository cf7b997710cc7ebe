//! Reads lines of any bytes in pieces of any size and compares them with a split at line feeds.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use super::Choices;
use crate::lines::for_each_line;
use crate::medium::{Medium, MediumState, MemoryMedium};

/// Lines longer than the reader's buffer (1 MiB) take another path through it.
const LONG: [usize; 4] = [(1 << 20) - 2, (1 << 20) - 1, 1 << 20, (1 << 20) + (65 << 10)];

/// The first bytes choose the size of the pieces, a long line, and the range.
///
/// # Panics
/// If a line is lost, invented or changed.
pub fn lines(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let (piece, long, place, from, to) =
        (choices.byte(), choices.byte(), choices.byte(), choices.byte(), choices.byte());
    let mut bytes = choices.0.to_vec();
    // Rare, because it is slow.
    if let Some(length) = LONG.get(usize::from(long)) {
        let at = usize::from(place) % (bytes.len() + 1);
        bytes.splice(at..at, std::iter::repeat_n(b'x', *length));
    }
    let to = bytes.len() - usize::from(to) % (bytes.len() + 1);
    let from = bytes[..to].iter().take(usize::from(from)).rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    // Tiny pieces of a long line take too long.
    let piece = if bytes.len() > 4096 { (usize::from(piece) + 1) << 12 } else { usize::from(piece) + 1 };
    let medium = Dribble { inner: MemoryMedium::new(bytes.clone()), piece };
    let mut expected: Vec<&[u8]> = bytes[from..to].split(|byte| *byte == b'\n').collect();
    let last_is_terminated = expected.last().is_some_and(|last| last.is_empty());
    if last_is_terminated {
        expected.pop();
    }
    let mut seen = 0;
    let mut offset = from;
    for_each_line(&medium, from as u64, to as u64, 1, |span, line| {
        let whole = expected.get(seen).expect("a line too many");
        seen += 1;
        assert_eq!((span.number, span.offset, span.length), (seen as u64, offset as u64, whole.len() as u64));
        assert_eq!(span.terminated, seen < expected.len() || last_is_terminated);
        assert!(whole.starts_with(line.head));
        match line.tail {
            None => assert_eq!(line.head.len(), whole.len()),
            Some(tail) => assert!(whole.ends_with(tail) && line.head.len() + tail.len() <= whole.len()),
        }
        offset += whole.len() + 1;
        ControlFlow::Continue(())
    })
    .expect("memory can be read");
    assert_eq!(seen, expected.len(), "lines are missing");
}

/// Returns few bytes at a time, as pipes and network file systems may.
struct Dribble {
    inner: MemoryMedium,
    piece: usize,
}

impl Medium for Dribble {
    fn path(&self) -> &Path {
        self.inner.path()
    }

    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(self.piece);
        self.inner.read_at(offset, &mut buffer[..most])
    }

    fn lock(&mut self) -> io::Result<MediumState> {
        self.inner.lock()
    }

    fn unlock(&mut self) -> io::Result<()> {
        self.inner.unlock()
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.inner.append(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.inner.sync()
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.inner.truncate(length)
    }
}
