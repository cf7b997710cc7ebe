//! Opens a session: one scan gives the header, the tree of envelopes and diagnostics. Never writes. A bad line is a
//! diagnostic, never an error; opening fails only if the file is not a session or cannot be read. See *The tree* and
//! *Odd input* in `docs/format.md`.

mod found;
mod scan;
mod extend;
mod made;

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;

use crate::entry::{Entry, Source};
use crate::envelope::Envelope;
use crate::error::{Diagnostic, Error, Result};
use crate::header::{CURRENT_VERSION, Dialect, Header, TitleSlot};
use crate::id::EntryId;
use crate::json::{Json, validate};
use crate::lines::LineSpan;
use crate::medium::{Medium, fill_exact_at, read_exact_at};
use crate::migrate::{SPLICE_SAMPLE, TreePlace, kept_index, splice, spliced, takes_splice, upgrade_entry};
use crate::per_thread::with_room;
use crate::tree::{Label, NewNode, Node, NodeIx, Tree};

pub(crate) use extend::More;
use found::{FoundLine, for_each_found};
use made::Made;
pub use made::{MadeLines, MadeTree};
use scan::Scan;

/// Progress is reported every so many lines.
const PROGRESS: usize = 4096;
/// After this many lines their average length predicts the number of the others, for which space is reserved, up to a
/// limit.
const SAMPLE: usize = 4096;
const MOST_EXPECTED: usize = 1 << 20;

/// An opened file without its medium.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Loaded {
    /// `None` for an empty file, which is a session that has not begun.
    pub header: Option<Header>,
    /// The first byte and the length (without line feed) of the header's line.
    pub header_span: (u64, u64),
    /// omp's title slot before the header.
    pub slot: Option<TitleSlot>,
    pub tree: Tree,
    /// In file order, as far as they are about lines.
    pub diagnostics: Vec<Diagnostic>,
    /// The file's spelling; `None` if nothing in it shows one.
    pub dialect: Option<Dialect>,
    /// The last `session_info` entry in file order.
    pub last_session_info: Option<NodeIx>,
    /// The end of the scanned part.
    pub end: FileEnd,
    /// Later records that look like headers, by the record number that version 1 uses.
    pub(crate) second_headers: Vec<u64>,
    /// Makes the lines, if the medium does not have them as they are.
    pub(crate) made: Option<Made>,
}

/// The end of a file as far as it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct FileEnd {
    /// In bytes.
    pub length: u64,
    pub lines: u64,
    /// Whether the last line has its line feed; true for an empty file.
    pub terminated: bool,
}

impl Default for Loaded {
    fn default() -> Self {
        Self {
            header: None,
            header_span: (0, 0),
            slot: None,
            tree: Tree::new(),
            diagnostics: Vec::new(),
            dialect: None,
            last_session_info: None,
            end: FileEnd { length: 0, lines: 0, terminated: true },
            second_headers: Vec::new(),
            made: None,
        }
    }
}

/// Reads a whole medium.
///
/// # Errors
/// [`Error::NotASession`] if the first record is not a header; [`Error::Io`].
pub fn load(medium: &dyn Medium) -> Result<Loaded> {
    let length = medium.len().map_err(Error::io("read", medium.path()))?;
    load_until(medium, length)
}

/// Reads the first `length` bytes of a medium; fails as [`load`] does.
pub(crate) fn load_until(medium: &dyn Medium, length: u64) -> Result<Loaded> {
    load_some(medium, length, Stretch::ALL, &mut |_| ())
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    /// The most lines, ...
    pub(crate) lines: usize,
    /// ... and no line that begins after this many bytes.
    pub(crate) bytes: u64,
}

impl Stretch {
    pub(crate) const ALL: Self = Self { lines: usize::MAX, bytes: u64::MAX };

    fn is_full(self, lines: usize, bytes: u64) -> bool {
        lines >= self.lines || bytes >= self.bytes
    }
}

/// Reads the first `length` bytes of a medium, or a stretch of them. Calls `progress` with the number of bytes read.
/// Old versions are always read to the end. Fails as [`load`] does.
pub(crate) fn load_some(
    medium: &dyn Medium,
    length: u64,
    stretch: Stretch,
    progress: &mut dyn FnMut(u64),
) -> Result<Loaded> {
    let mut scan = Scan::new(medium);
    let mut end = length;
    let mut entries = 0;
    for_each_found(medium, (0, length), 1, |found| {
        let next = match found {
            FoundLine::Line(span, line) => scan.line(span, line).map(|()| span.offset + span.length + 1),
            FoundLine::Entry(new) => {
                let next = new.offset + new.length + 1;
                scan.entry(new).map(|()| next)
            }
        }?;
        entries += 1;
        if entries == SAMPLE {
            scan.expect(expected(next, length.min(stretch.bytes)).min(stretch.lines));
        }
        if entries % PROGRESS == 0 {
            progress(next);
        }
        if stretch.is_full(entries, next) && next < length && !scan.is_old() {
            end = next;
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    scan.finish(end)
}

/// An estimate of the lines that follow the first [`SAMPLE`] ones, which end at `at`.
fn expected(at: u64, length: u64) -> usize {
    let each = (at / SAMPLE as u64).max(1);
    usize::try_from(length.saturating_sub(at) / each).map_or(MOST_EXPECTED, |lines| lines.min(MOST_EXPECTED))
}

impl Loaded {
    /// The file's version; the current one if the file has not begun.
    pub fn version(&self) -> u32 {
        self.header.as_ref().map_or(CURRENT_VERSION, Header::version)
    }

    /// Whether lines are made from records of another program.
    pub fn is_made(&self) -> bool {
        self.made.is_some()
    }

    /// Whether lines must be upgraded to version 3.
    pub fn is_old(&self) -> bool {
        self.version() < CURRENT_VERSION
    }

    /// An entry's version 3 line, from its line in the file.
    pub fn upgraded(&self, ix: NodeIx, line: String) -> String {
        if !self.is_old() {
            return line;
        }
        match self.upgrade(ix, &line) {
            Cow::Owned(upgraded) => upgraded,
            Cow::Borrowed(_) => line,
        }
    }

    fn upgrade<'a>(&self, ix: NodeIx, line: &'a str) -> Cow<'a, str> {
        let id = |ix: NodeIx| self.tree.node(ix).id().map(EntryId::as_str);
        let mut place = TreePlace { id: id(ix), parent: self.tree.parent_id(ix).map(EntryId::as_str), kept: None };
        if self.version() < 2
            && let Some(upgraded) = spliced(line, place)
        {
            return Cow::Owned(upgraded);
        }
        place.kept = kept_index(line).and_then(|index| id(self.kept_node(ix, index)));
        upgrade_entry(line, place)
    }

    /// The first entry that a version 1 compaction keeps. Record 0 is the header and keeps everything. A record after
    /// the compaction, or a missing one, keeps nothing, which the compaction's own id says.
    fn kept_node(&self, compaction: NodeIx, index: u64) -> NodeIx {
        if index == 0 {
            return self.tree.entries().next().unwrap_or(compaction);
        }
        if self.second_headers.contains(&index) {
            return compaction;
        }
        let headers_before = 1 + self.second_headers.iter().filter(|at| **at < index).count() as u64;
        let entry = usize::try_from(index - headers_before).unwrap_or(usize::MAX);
        // In a version 1 file every entry but the last has a child, so no index in between is missing.
        self.tree.entries_from(entry).next().filter(|kept| *kept < compaction).unwrap_or(compaction)
    }
}

/// A loaded file with its medium, to read bodies.
pub(crate) struct Opened<'a> {
    pub(crate) medium: &'a dyn Medium,
    pub(crate) loaded: &'a Loaded,
}

impl<'a> Opened<'a> {
    /// See [`Source::view`]. Pages that are read for it are not kept by the file's own tree.
    pub(crate) fn view(&self) -> Option<Box<dyn Source + 'a>> {
        let medium = self.medium;
        let is_paged = self.loaded.tree.paged_len() > 0;
        is_paged.then(|| Box::new(OpenedView { medium, loaded: self.loaded.clone() }) as Box<dyn Source>)
    }
}

/// An opened file with a copy of its tree.
struct OpenedView<'a> {
    medium: &'a dyn Medium,
    loaded: Loaded,
}

impl OpenedView<'_> {
    fn opened(&self) -> Opened<'_> {
        Opened { medium: self.medium, loaded: &self.loaded }
    }
}

impl Source for OpenedView<'_> {
    fn tree(&self) -> &Tree {
        &self.loaded.tree
    }

    fn entry(&self, ix: NodeIx) -> Result<Entry> {
        self.opened().entry(ix)
    }

    fn raw_span(&self, ix: NodeIx) -> Option<(u64, u64)> {
        self.opened().raw_span(ix)
    }

    fn splice(&self, ix: NodeIx) -> Result<Option<(u64, u64, String)>> {
        self.opened().splice(ix)
    }
}

impl Source for Opened<'_> {
    fn tree(&self) -> &Tree {
        &self.loaded.tree
    }

    fn entry(&self, ix: NodeIx) -> Result<Entry> {
        if let Some(made) = &self.loaded.made {
            return Ok(Entry::new(&self.loaded.tree, ix, made.line(&self.loaded.tree, ix)?));
        }
        let node = self.loaded.tree.whole(self.loaded.tree.node(ix))?;
        let line = line_text(self.medium, node).map_err(Error::io("read", self.medium.path()))?;
        self.loaded.tree.whole(Entry::new(&self.loaded.tree, ix, self.loaded.upgraded(ix, line)))
    }

    fn raw_span(&self, ix: NodeIx) -> Option<(u64, u64)> {
        let node = self.loaded.tree.node(ix);
        let is_known = !self.loaded.is_old() && !self.loaded.is_made() && self.loaded.tree.whole(()).is_ok();
        is_known.then(|| (node.offset(), node.length()))
    }

    fn splice(&self, ix: NodeIx) -> Result<Option<(u64, u64, String)>> {
        let node = self.loaded.tree.whole(self.loaded.tree.node(ix))?;
        let (offset, length) = (node.offset(), node.length());
        if let Some((offset, length)) = self.raw_span(ix) {
            return Ok(Some((offset, length, String::new())));
        }
        if self.loaded.is_made() {
            return Ok(None);
        }
        let failed = || Error::io("read", self.medium.path());
        if self.loaded.version() < 2 && is_spliceable(self.medium, node).map_err(failed())? {
            let id = node.id().map(EntryId::as_str);
            let place = TreePlace { id, parent: self.loaded.tree.parent_id(ix).map(EntryId::as_str), kept: None };
            return Ok(Some((offset, length - 1, splice(place))));
        }
        let line = line_text(self.medium, node).map_err(failed())?;
        let is_unchanged = matches!(self.loaded.upgrade(ix, &line), Cow::Borrowed(_));
        Ok(is_unchanged.then_some((offset, length, String::new())))
    }
}

/// A line's text. Bytes that are not UTF-8 become U+FFFD, as in the peers.
fn line_text(medium: &dyn Medium, node: &Node) -> std::io::Result<String> {
    with_room(usize::try_from(node.length()).map_err(std::io::Error::other)?, |bytes| {
        fill_exact_at(medium, node.offset(), bytes)?;
        // Nearly all of them are UTF-8, which is seen sooner than where they are not.
        let text = simdutf8::basic::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        Ok(text.into_owned())
    })
}

/// Whether a version 1 line can be upgraded by adding ids at its end.
fn is_spliceable(medium: &dyn Medium, node: &Node) -> std::io::Result<bool> {
    let size = SPLICE_SAMPLE.min(node.length());
    let read = |offset| read_exact_at(medium, offset, size as usize);
    Ok(takes_splice(&read(node.offset())?, &read(node.offset() + node.length() - size)?))
}

/// Whether an entry's whole line is JSON.
fn is_sound(medium: &dyn Medium, node: &Node) -> std::io::Result<bool> {
    let length = usize::try_from(node.length()).map_err(std::io::Error::other)?;
    Ok(validate(&read_exact_at(medium, node.offset(), length)?).is_ok())
}

fn new_node(span: LineSpan, envelope: &Envelope<'_>, (id, parent): (Option<EntryId>, Option<EntryId>)) -> NewNode {
    NewNode {
        id,
        parent,
        kind: envelope.kind,
        role: envelope.role,
        time: envelope.time,
        is_leaf_marker: envelope.is_leaf_marker,
        is_copy: envelope.is_copy,
        offset: span.offset,
        length: span.length,
        line: span.number,
    }
}

/// The target of a label entry, and the label, or `None` if the entry removes it.
fn label_of(line: &str) -> Option<(EntryId, Option<Label>)> {
    let json = Json::trusted(line);
    let owned = |name: &str| json.str(name).map(Cow::into_owned);
    let label = owned("label").map(|text| Label { text, timestamp: owned("timestamp") });
    Some((EntryId::new(owned("targetId")?), label))
}

fn not_a_session(path: &Path, line: u64, offset: u64, why: &'static str) -> Error {
    Error::NotASession { path: path.to_path_buf(), line, offset, why }
}

#[cfg(test)]
mod tests;
