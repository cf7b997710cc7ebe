//! A run of entries as parts of the page: their lines as finished elements, and what goes to the other two streams. Threads
//! make batches independently: positions in the streams are lengths and gaps, which need no other batch.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;
use offshoot_session::entry::{Entry, Source as _};
use offshoot_session::header::CURRENT_VERSION;
use offshoot_session::id::EntryId;
use offshoot_session::session::{Abridged, Session, SessionPart};
use offshoot_session::tree::NodeIx;

use crate::block::{Block, Packer};
use crate::clip::clip;
use crate::limits::PageOmissions;
use crate::picked::Picked;
use crate::row::{BatchRows, PageEntry, TreeRows};
use crate::streams::{BLOCK, Sink, Stream};
use crate::totals::Totals;
use crate::{Error, Options, beside, pictures};

/// Replaces bytes that are not UTF-8.
const REPLACED: &[u8] = "\u{fffd}".as_bytes();
/// Bytes that are read at once.
const PIECE: u64 = 1 << 20;
/// Most entries have fewer bytes beside their line. Buffers that begin small and grow are slow where threads share memory.
const USUAL_BESIDE: usize = 4096;
/// A limit on pictures counts shorter ones, too, but not a few letters.
const A_FEW_LETTERS: usize = 64;

/// Entries whose lines are about a block.
#[derive(Debug)]
pub(crate) struct Batch {
    /// Places on the page.
    entries: Range<usize>,
    pub(crate) bytes: u64,
}

/// A batch as parts of the page.
#[derive(Debug, Default)]
pub(crate) struct Made {
    /// The lines.
    pub(crate) elements: Vec<u8>,
    pub(crate) beside: Vec<Block>,
    pub(crate) index: String,
    pub(crate) totals: Totals,
    pub(crate) left_out: PageOmissions,
}

/// What is needed to make batches.
#[derive(Clone, Copy)]
pub(crate) struct Maker<'a> {
    pub(crate) session: &'a Session,
    pub(crate) shown: &'a Abridged<'a>,
    pub(crate) picked: &'a Picked,
    pub(crate) rows: &'a TreeRows,
    pub(crate) options: &'a Options,
}

impl<'a> Maker<'a> {
    /// All entries as batches, at least one.
    pub(crate) fn batches(self) -> impl Iterator<Item = Batch> + 'a {
        let entries = &self.picked.entries;
        let mut next = Some(0);
        std::iter::from_fn(move || {
            let start = next?;
            let (mut end, mut bytes) = (start, 0);
            while let Some(ix) = entries.get(end).filter(|_| bytes < BLOCK as u64) {
                bytes += self.session.tree().node(*ix).length();
                end += 1;
            }
            next = Some(end).filter(|end| *end < entries.len());
            Some(Batch { entries: start..end, bytes })
        })
    }

    pub(crate) fn make(self, batch: &Batch, packer: &mut Packer) -> Result<Made, Error> {
        let mut making = Making {
            maker: self,
            rows: self.rows.of_batch(),
            elements: Elements { packer, out: Vec::with_capacity(BLOCK / 2) },
            lines: Stream::new("s"),
            beside: Stream::new("x"),
            beside_text: String::with_capacity(USUAL_BESIDE),
            blocks: Vec::new(),
            read: Read { session: self.session, start: 0, bytes: Vec::new() },
            made: Made { index: String::with_capacity(BLOCK / 8), ..Made::default() },
        };
        let before = batch.entries.start.checked_sub(1).and_then(|at| self.picked.entries.get(at));
        let mut end = before.map_or(0, |ix| self.end(*ix));
        if batch.entries.start == 0 {
            making.begin()?;
        }
        for at in batch.entries.clone() {
            let Some(ix) = self.picked.entries.get(at) else { break };
            making.entry(&self.shown.entry(*ix)?, end, at)?;
            end = self.end(*ix);
        }
        if batch.entries.end == self.picked.entries.len() {
            making.finish(end)?;
        }
        making.lines.finish(&mut making.elements)?;
        making.beside.finish(&mut making.blocks)?;
        Ok(Made { elements: making.elements.out, beside: making.blocks, ..making.made })
    }

    /// Whether the lines are the whole file byte for byte, with lines that are not entries.
    fn is_verbatim(self) -> bool {
        let session = self.session;
        // The bytes of another program's session are not its lines.
        let has_lines = session.version() >= CURRENT_VERSION && session.raw_length() > 0 && !session.is_made();
        self.options.part == SessionPart::Everything && has_lines
    }

    /// Where an entry's line ends in the file.
    fn end(self, ix: NodeIx) -> u64 {
        let node = self.session.tree().node(ix);
        node.offset() + node.length()
    }
}

struct Making<'a, 'p> {
    maker: Maker<'a>,
    rows: BatchRows<'a>,
    elements: Elements<'p>,
    /// The session's lines, which the download writes to a file.
    lines: Stream,
    beside: Stream,
    /// What one entry has beside its line.
    beside_text: String,
    blocks: Vec<Block>,
    read: Read<'a>,
    made: Made,
}

impl Making<'_, '_> {
    /// Writes the header if the lines are not the file's bytes.
    fn begin(&mut self) -> Result<(), Error> {
        if !self.maker.is_verbatim() {
            self.lines.push(self.maker.session.header_line().as_bytes(), &mut self.elements)?;
            self.lines.push(b"\n", &mut self.elements)?;
        }
        Ok(())
    }

    /// Writes an entry; `before` is where the line of the one before it ends in the file.
    fn entry(&mut self, entry: &Entry, before: u64, place: usize) -> Result<(), Error> {
        let Maker { session, shown, picked, options, .. } = self.maker;
        let facts = self.rows.facts(session.tree(), entry);
        self.made.totals.add(shown, entry, facts.usage);
        let node = session.tree().node(entry.ix);
        let gap = if self.maker.is_verbatim() {
            self.copy(before..node.offset())?;
            node.offset() - before
        } else if place == 0 {
            session.header_line().len() as u64 + 1
        } else {
            1
        };
        let missing = self.made.left_out.count();
        if shown.leaves_out(entry.ix) {
            self.made.left_out.lines += 1;
            self.made.left_out.bytes += node.length();
        }
        let clipped = options.limits.text.and_then(|longest| clip(session.tree(), entry, longest));
        let entry = clipped.as_ref().map_or(entry, |(clipped, missing)| {
            self.made.left_out.texts += missing.len();
            self.made.left_out.bytes += missing.iter().sum::<usize>() as u64;
            clipped
        });
        let start = self.lines.length();
        let line = match clipped {
            Some(_) => Cow::Borrowed(entry.line().as_bytes()),
            None => line(self.maker, entry, &mut self.read)?,
        };
        push(&line, (&mut self.lines, &mut self.elements), options.limits.picture, &mut self.made.left_out)?;
        let length = self.lines.length() - start;
        if !self.maker.is_verbatim() {
            self.lines.push(b"\n", &mut self.elements)?;
        }
        self.lines.end_item(&mut self.elements)?;
        let start = self.beside.length();
        self.beside_text.clear();
        let files = node.id().and_then(|id| options.files.entries.get(id.as_str()));
        beside::write(session, entry, files.map(String::as_str), &mut self.beside_text);
        let stream = (&mut self.beside, &mut self.blocks as &mut dyn Sink);
        if !self.beside_text.is_empty() {
            push(self.beside_text.as_bytes(), stream, options.limits.picture, &mut self.made.left_out)?;
        }
        if self.made.left_out.count() > missing {
            self.made.left_out.name(node.id().map_or("without an id", EntryId::as_str));
        }
        let parent = picked.parent(session, entry.ix);
        let row = PageEntry { parent, line: (gap, length), beside: self.beside.length() - start, facts };
        row.write(shown, entry, &self.rows, &mut self.made.index)?;
        self.made.index.push_str(",\n");
        Ok(())
    }

    /// Copies a range of the file: the header, lines that are not entries, line feeds.
    fn copy(&mut self, range: Range<u64>) -> Result<(), Error> {
        let mut at = range.start;
        if range.start > 0 && range.end == range.start + 1 {
            // What separates two lines is a line feed.
            return Ok(self.lines.push(b"\n", &mut self.elements)?);
        }
        while at < range.end {
            let length = (range.end - at).min(PIECE);
            self.lines.push(&self.read.get(at, length)?, &mut self.elements)?;
            at += length;
        }
        Ok(())
    }

    /// Copies everything after the last entry, so that the download ends with a line feed.
    fn finish(&mut self, before: u64) -> Result<(), Error> {
        if self.maker.is_verbatim() {
            let end = self.maker.session.raw_length();
            self.copy(before..end)?;
            if *self.read.get(end - 1, 1)? != *b"\n" {
                self.lines.push(b"\n", &mut self.elements)?;
            }
        }
        Ok(())
    }
}

/// Adds bytes to a stream, their pictures in blocks of their own or not at all.
fn push(
    bytes: &[u8],
    (stream, sink): (&mut Stream, &mut dyn Sink),
    limit: Option<usize>,
    left_out: &mut PageOmissions,
) -> Result<(), Error> {
    let mut from = 0;
    for range in pictures::base64_in(bytes, limit.map(|_| A_FEW_LETTERS)) {
        let data = bytes.get(range.clone()).unwrap_or_default();
        stream.push(bytes.get(from..range.start).unwrap_or_default(), sink)?;
        if limit.is_some_and(|limit| data.len() > limit) {
            left_out.pictures += 1;
            left_out.bytes += data.len() as u64;
        } else {
            stream.push_base64(data, sink)?;
        }
        from = range.end;
    }
    Ok(stream.push(bytes.get(from..).unwrap_or_default(), sink)?)
}

/// The line as version 3 writes it. A line that is the same in the file keeps its bytes, even if they are not UTF-8.
fn line<'e>(maker: Maker<'_>, entry: &'e Entry, read: &mut Read<'_>) -> Result<Cow<'e, [u8]>, Error> {
    let text = Cow::Borrowed(entry.line().as_bytes());
    if maker.shown.leaves_out(entry.ix) {
        return Ok(text);
    }
    let is_odd = || memmem::find(entry.line().as_bytes(), REPLACED).is_some();
    match maker.session.raw_span(entry.ix) {
        Some((offset, length)) if length != entry.line().len() as u64 || is_odd() => {
            Ok(Cow::Owned(read.get(offset, length)?.into_owned()))
        }
        _ => Ok(text),
    }
}

/// Reads ranges of the file that follow each other, many at once.
struct Read<'a> {
    session: &'a Session,
    start: u64,
    bytes: Vec<u8>,
}

impl Read<'_> {
    fn get(&mut self, offset: u64, length: u64) -> Result<Cow<'_, [u8]>, Error> {
        let count = usize::try_from(length).unwrap_or(usize::MAX);
        if length >= PIECE {
            return Ok(Cow::Owned(self.session.raw_bytes(offset, count)?));
        }
        let has_it = offset >= self.start && offset + length <= self.start + self.bytes.len() as u64;
        if !has_it {
            let rest = self.session.raw_length().saturating_sub(offset).min(BLOCK as u64).max(length);
            self.bytes = self.session.raw_bytes(offset, usize::try_from(rest).unwrap_or(count))?;
            self.start = offset;
        }
        let from = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
        Ok(Cow::Borrowed(self.bytes.get(from..from.saturating_add(count)).unwrap_or_default()))
    }
}

/// Blocks as elements.
struct Elements<'p> {
    packer: &'p mut Packer,
    out: Vec<u8>,
}

impl Sink for Elements<'_> {
    fn add(&mut self, block: Block) -> std::io::Result<()> {
        self.packer.element(&block, &mut self.out)
    }
}
