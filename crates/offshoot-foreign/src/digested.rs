//! The records of a large session, read on all cores and handed out in their order. Each thread reads stretches of the bytes and keeps of a
//! record what placing it needs; a record that nobody could digest is only located. Knows no agent.

use std::convert::Infallible;
use std::io;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread;

use memchr::memchr;
use offshoot_session::in_order::made_in_order;
use offshoot_session::medium::Medium as _;

use crate::foreign_medium::ForeignMedium;
use crate::record::{RawRecord, RecordSpan};

/// How much is read at once to find the end of a record.
const SHORTEST_PIECE: u64 = 16 << 10;
const LONGEST_PIECE: u64 = 1 << 20;
/// Room is made for so many records of a stretch.
const USUAL_RECORDS: usize = 256;

/// Makes digests of records that follow each other.
pub(crate) trait RecordDigester: Default {
    /// What is kept of a record.
    type Digest: Send;

    /// Whether it makes any.
    const IS_USED: bool = true;

    /// The digest of a record; `None` if the record itself is needed.
    fn digest(&mut self, span: RecordSpan, text: &str) -> Option<Self::Digest>;
}

/// Needs every record itself.
#[derive(Debug, Default)]
pub(crate) struct NoDigests;

impl RecordDigester for NoDigests {
    type Digest = Infallible;

    const IS_USED: bool = false;

    fn digest(&mut self, _: RecordSpan, _: &str) -> Option<Infallible> {
        None
    }
}

/// A record of which something was kept, or where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FoundRecord<D> {
    Digest(RecordSpan, D),
    /// Its place, and whether a line feed ends it.
    Place(RecordSpan, bool),
}

impl<D> FoundRecord<D> {
    pub(crate) fn span(&self) -> RecordSpan {
        match self {
            Self::Digest(span, _) | Self::Place(span, _) => *span,
        }
    }
}

/// How the bytes are divided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Division {
    /// Shorter sessions are read by one thread.
    pub(crate) shortest: u64,
    /// How much a thread reads before it passes results on.
    pub(crate) stretch: u64,
    /// A longer record is only located.
    pub(crate) longest: usize,
}

impl Division {
    pub(crate) const USUAL: Self = Self { shortest: 8 << 20, stretch: 1 << 20, longest: 4 << 20 };

    /// Whether several threads read so many bytes.
    pub(crate) fn divides(self, length: u64) -> bool {
        length >= self.shortest && thread::available_parallelism().is_ok_and(|threads| threads.get() > 1)
    }
}

/// Calls `each` with every record of a medium.
///
/// # Errors
/// The medium cannot be read; those of `each`.
pub(crate) fn for_each_digest<D: RecordDigester>(
    medium: &ForeignMedium,
    division: Division,
    mut each: impl FnMut(FoundRecord<D::Digest>) -> io::Result<()>,
) -> io::Result<()> {
    let length = medium.len()?;
    let stretches = usize::try_from(length.div_ceil(division.stretch)).map_err(io::Error::other)?;
    let parts: Vec<Range<usize>> = (0..stretches).map(|at| at..at + 1).collect();
    let windows: Mutex<Vec<Window>> = Mutex::default();
    let waiting = || windows.lock().unwrap_or_else(PoisonError::into_inner);
    let read = |at: usize| {
        let mut window = waiting().pop().unwrap_or_default();
        let digester = D::default();
        let mut reader =
            StretchReader { medium, division, length, digester, found: Vec::with_capacity(USUAL_RECORDS), lines: 0 };
        let read = reader.read(at as u64 * division.stretch, &mut window);
        waiting().push(window);
        read.map(|()| Stretch { found: reader.found, lines: reader.lines })
    };
    let mut lines = 0u32;
    made_in_order(&parts, read, |_, stretch| {
        for mut found in stretch.found.drain(..) {
            let (FoundRecord::Digest(span, _) | FoundRecord::Place(span, _)) = &mut found;
            span.number = span.number.saturating_add(lines);
            each(found)?;
        }
        lines = lines.saturating_add(stretch.lines);
        Ok(())
    })
}

/// The records that begin in a stretch, numbered from 1.
struct Stretch<D> {
    found: Vec<FoundRecord<D>>,
    lines: u32,
}

/// Bytes of a medium that follow each other. Its memory is used again for the next ones.
#[derive(Default)]
struct Window {
    bytes: Vec<u8>,
    filled: usize,
}

impl Window {
    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.filled).unwrap_or_default()
    }

    fn from(&self, at: usize) -> &[u8] {
        self.bytes().get(at..).unwrap_or_default()
    }

    /// Appends the bytes of a medium from `at` to `to`.
    fn read_on(&mut self, medium: &ForeignMedium, mut at: u64, to: u64) -> io::Result<()> {
        let length = usize::try_from(to - at).map_err(io::Error::other)?;
        if self.bytes.len() < self.filled + length {
            self.bytes.resize(self.filled + length, 0);
        }
        while at < to {
            let rest = usize::try_from(to - at).unwrap_or_default();
            let read = medium.read_at(at, self.bytes.get_mut(self.filled..self.filled + rest).unwrap_or_default())?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.filled += read;
            at += read as u64;
        }
        Ok(())
    }
}

struct StretchReader<'a, D: RecordDigester> {
    medium: &'a ForeignMedium,
    division: Division,
    length: u64,
    digester: D,
    found: Vec<FoundRecord<D::Digest>>,
    lines: u32,
}

impl<D: RecordDigester> StretchReader<'_, D> {
    /// Reads the records that begin in the stretch from `start` on.
    fn read(&mut self, start: u64, window: &mut Window) -> io::Result<()> {
        let end = (start + self.division.stretch).min(self.length);
        // The line feed before the first record may be the byte before the stretch.
        let base = start.saturating_sub(1);
        window.filled = 0;
        window.read_on(self.medium, base, end)?;
        let mut from = match memchr(b'\n', window.bytes()) {
            _ if start == 0 => 0,
            Some(at) => at + 1,
            None => return Ok(()),
        };
        while base + (from as u64) < end {
            let rest = window.from(from);
            let Some(length) = memchr(b'\n', rest) else { return self.read_last(base, from, window) };
            self.take(base + from as u64, rest.get(..length).unwrap_or_default(), true);
            from += length + 1;
        }
        Ok(())
    }

    /// Reads the record that begins in the stretch and ends after it, or at the end of the medium.
    fn read_last(&mut self, base: u64, from: usize, window: &mut Window) -> io::Result<()> {
        let at = base + from as u64;
        loop {
            let searched = window.filled;
            let next = base + searched as u64;
            if next >= self.length {
                self.take(at, window.from(from), false);
                return Ok(());
            }
            if searched - from > self.division.longest {
                return self.locate(at, next);
            }
            // Most records are short.
            let more = ((searched - from) as u64).clamp(SHORTEST_PIECE, LONGEST_PIECE);
            window.read_on(self.medium, next, (next + more).min(self.length))?;
            if let Some(found) = memchr(b'\n', window.from(searched)) {
                let record = window.bytes().get(from..searched + found).unwrap_or_default();
                self.take(at, record, true);
                return Ok(());
            }
        }
    }

    /// Finds the end of a record that is too long to be kept.
    fn locate(&mut self, at: u64, mut next: u64) -> io::Result<()> {
        let mut piece = Window::default();
        while next < self.length {
            let end = (next + self.division.stretch).min(self.length);
            piece.filled = 0;
            piece.read_on(self.medium, next, end)?;
            if let Some(found) = memchr(b'\n', piece.bytes()) {
                self.place(at, next + found as u64, true);
                return Ok(());
            }
            next = end;
        }
        self.place(at, self.length, false);
        Ok(())
    }

    fn take(&mut self, at: u64, bytes: &[u8], is_terminated: bool) {
        let span = self.next_span(at, bytes.len() as u64);
        let raw = RawRecord { span, bytes, is_terminated };
        let text = raw.text();
        // What is odd about a record is said by whoever takes the record itself.
        let is_plain = is_terminated && !raw.has_nuls() && matches!(text, std::borrow::Cow::Borrowed(_));
        let digest = is_plain.then(|| self.digester.digest(span, &text)).flatten();
        self.found.push(match digest {
            Some(digest) => FoundRecord::Digest(span, digest),
            None => FoundRecord::Place(span, is_terminated),
        });
    }

    fn place(&mut self, at: u64, end: u64, is_terminated: bool) {
        let span = self.next_span(at, end - at);
        self.found.push(FoundRecord::Place(span, is_terminated));
    }

    fn next_span(&mut self, at: u64, length: u64) -> RecordSpan {
        self.lines = self.lines.saturating_add(1);
        RecordSpan { at, length: u32::try_from(length).unwrap_or(u32::MAX), number: self.lines }
    }
}

#[cfg(test)]
mod tests {
    use offshoot_session::medium::Stamp;
    use proptest::prelude::*;

    use super::*;
    use crate::record::for_each_record;

    /// Keeps the texts of records that begin with a letter.
    #[derive(Default)]
    struct Letters;

    impl RecordDigester for Letters {
        type Digest = String;

        fn digest(&mut self, _: RecordSpan, text: &str) -> Option<String> {
            text.starts_with(char::is_alphabetic).then(|| text.to_owned())
        }
    }

    fn medium(bytes: &[u8]) -> ForeignMedium {
        let stamp = Stamp::of(&std::fs::metadata("/").unwrap());
        ForeignMedium::of_bytes(std::path::Path::new("records"), stamp, bytes.to_vec())
    }

    fn divided(bytes: &[u8], division: Division) -> Vec<FoundRecord<String>> {
        let mut found = Vec::new();
        for_each_digest::<Letters>(&medium(bytes), division, |record| {
            found.push(record);
            Ok(())
        })
        .unwrap();
        found
    }

    /// What one thread finds; only records of at most `longest` bytes are digested everywhere.
    fn plain(bytes: &[u8]) -> Vec<FoundRecord<String>> {
        let mut found = Vec::new();
        for_each_record(&medium(bytes), |raw| {
            let text = raw.text();
            let is_plain = raw.is_terminated && !raw.has_nuls() && std::str::from_utf8(raw.bytes).is_ok();
            found.push(match Letters.digest(raw.span, &text).filter(|_| is_plain) {
                Some(digest) => FoundRecord::Digest(raw.span, digest),
                None => FoundRecord::Place(raw.span, raw.is_terminated),
            });
            Ok(())
        })
        .unwrap();
        found
    }

    proptest! {
        #[test]
        fn threads_find_the_records_that_one_pass_finds(
            pieces in proptest::collection::vec(0..PIECES.len(), 0..60),
            stretch in 1..40u64,
        ) {
            let bytes = pieces.into_iter().flat_map(|piece| PIECES[piece].iter().copied()).collect::<Vec<u8>>();
            let division = Division { shortest: 0, stretch, longest: 1 << 20 };
            prop_assert_eq!(divided(&bytes, division), plain(&bytes));
        }
    }

    const PIECES: &[&[u8]] = &[b"a", b"bcd", b"\n", b"\n\n", b"7", b"\0", b"\xff", "é".as_bytes()];

    #[test]
    fn a_record_that_is_too_long_is_located() {
        let bytes = [b"ab\n".to_vec(), vec![b'x'; 50_000], b"\ncd\n".to_vec(), vec![b'y'; 50_000]].concat();
        let division = Division { shortest: 0, stretch: 64, longest: 100 };
        let span = |at, length, number| RecordSpan { at, length, number };
        let expected = [
            FoundRecord::Digest(span(0, 2, 1), "ab".to_owned()),
            FoundRecord::Place(span(3, 50_000, 2), true),
            FoundRecord::Digest(span(50_004, 2, 3), "cd".to_owned()),
            FoundRecord::Place(span(50_007, 50_000, 4), false),
        ];
        assert_eq!(divided(&bytes, division), expected);
    }
}
