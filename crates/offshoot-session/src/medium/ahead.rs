//! Read-ahead: entries are small and mostly read in file order, so one system call serves many reads.

use std::io;
use std::sync::{Mutex, PoisonError};

/// How much to read at once in a sequence of reads.
const WINDOW: usize = 64 << 10;
/// Reads from this size on gain nothing.
const LARGE: usize = 16 << 10;

/// The number of sequences: several threads may read at once.
const STREAMS: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Ahead {
    streams: Mutex<Streams>,
}

#[derive(Debug, Default)]
struct Streams {
    streams: [Stream; STREAMS],
    /// Counts reads, to find the stream that rested longest.
    now: u64,
}

#[derive(Debug, Default)]
struct Stream {
    offset: u64,
    bytes: Vec<u8>,
    /// The end of the last read; `None` before the first.
    last_end: Option<u64>,
    used: u64,
}

impl Ahead {
    /// Reads as `read_at` does, but calls it for a whole window when reads follow each other.
    pub(super) fn read(
        &self,
        offset: u64,
        buffer: &mut [u8],
        read_at: impl Fn(&mut [u8], u64) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if buffer.len() >= LARGE {
            return read_at(buffer, offset);
        }
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = streams.of(offset);
        let follows = stream.is_followed_by(offset);
        stream.last_end = Some(offset + buffer.len() as u64);
        if let Some(count) = stream.copy(offset, buffer) {
            return Ok(count);
        }
        let mut bytes = std::mem::take(&mut stream.bytes);
        if !follows {
            drop(streams);
            return read_at(buffer, offset);
        }
        bytes.resize(WINDOW, 0);
        let count = read_at(&mut bytes, offset)?;
        bytes.truncate(count);
        (stream.offset, stream.bytes) = (offset, bytes);
        let count = count.min(buffer.len());
        buffer[..count].copy_from_slice(&stream.bytes[..count]);
        Ok(count)
    }

    /// Forgets the windows, because other processes may have written.
    pub(super) fn forget(&self) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.streams.iter_mut().for_each(|stream| stream.bytes.clear());
    }
}

impl Streams {
    /// The stream that a read continues, or the one that rested longest.
    fn of(&mut self, offset: u64) -> &mut Stream {
        self.now += 1;
        let rested = (0..STREAMS).min_by_key(|at| self.streams[*at].used).unwrap_or_default();
        let at = (0..STREAMS).find(|at| self.streams[*at].is_followed_by(offset)).unwrap_or(rested);
        self.streams[at].used = self.now;
        &mut self.streams[at]
    }
}

impl Stream {
    fn is_followed_by(&self, offset: u64) -> bool {
        let gap = self.last_end.and_then(|end| offset.checked_sub(end));
        gap.is_some_and(|gap| gap < WINDOW as u64)
    }

    /// Serves a read that lies inside the window.
    fn copy(&self, offset: u64, buffer: &mut [u8]) -> Option<usize> {
        let from = usize::try_from(offset.checked_sub(self.offset)?).ok()?;
        buffer.copy_from_slice(self.bytes.get(from..from.checked_add(buffer.len())?)?);
        Some(buffer.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_read_gives_what_stands_there() {
        let file: Vec<u8> = (0..300_000u32).map(|n| n as u8 ^ (n >> 8) as u8).collect();
        let reads = std::cell::Cell::new(0);
        let read_at = |buffer: &mut [u8], offset: u64| {
            reads.set(reads.get() + 1);
            let rest = file.get(offset as usize..).unwrap_or_default();
            let count = rest.len().min(buffer.len());
            buffer[..count].copy_from_slice(&rest[..count]);
            Ok(count)
        };
        let ahead = Ahead::default();
        let mut buffer = vec![0; 20_000];
        let mut check = |offset: usize, length: usize| {
            let count = ahead.read(offset as u64, &mut buffer[..length], read_at).unwrap();
            assert_eq!(&buffer[..count], &file[offset.min(file.len())..(offset + length).min(file.len())]);
        };
        (0..3000).for_each(|n| check(n * 99, 90)); // in order
        assert!(reads.get() < 10, "{} reads of the system", reads.get());
        for (offset, length) in [(0, 10), (299_990, 20), (299_999, 1), (300_000, 5), (5, 20_000), (100, 50), (130, 400)]
        {
            check(offset, length);
        }
        (0..2000).for_each(|n| check(n * 7919 % 300_000, n % 700)); // all over the place
    }
}
