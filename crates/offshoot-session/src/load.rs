//! Opening: one scan over a medium gives the header, the tree of envelopes and what is odd about the file.
//!
//! Never writes. Never fails on a line: a line that is no entry is a diagnostic, and stays where it is. It fails only
//! where the file is not a session at all, or cannot be read. See
//! `docs/format.md`, *The tree* and *Odd input*.

mod found;
mod scan;
mod extend;

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;

use crate::entry::{Entry, Source};
use crate::envelope::Envelope;
use crate::error::{Code, Diagnostic, Error, Result};
use crate::header::{CURRENT_VERSION, Dialect, Header, TitleSlot};
use crate::id::EntryId;
use crate::json::{Json, validate};
use crate::lines::LineSpan;
use crate::medium::{Medium, read_exact_at};
use crate::migrate::{SPLICE_SAMPLE, TreePlace, kept_index, splice, spliced, takes_splice, upgrade_entry};
use crate::tree::{Label, NewNode, Node, NodeIx, Tree};

pub(crate) use extend::More;
use found::{FoundLine, for_each_found};
use scan::Scan;

/// After so many lines, how far the reading is is told again.
const PROGRESS: usize = 4096;
/// After so many lines the length of the others is guessed, and room is made for them, though never for more than so many.
const SAMPLE: usize = 4096;
const MOST_EXPECTED: usize = 1 << 20;

/// What opening a file gives.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The header; `None` for an empty file, which is a session that has not begun.
    pub header: Option<Header>,
    /// Where the header's line stands: first byte and length without line feed.
    pub header_span: (u64, u64),
    /// omp's title slot before the header.
    pub slot: Option<TitleSlot>,
    /// The tree.
    pub tree: Tree,
    /// What is odd, in file order as far as it concerns lines.
    pub diagnostics: Vec<Diagnostic>,
    /// The spelling of the file; `None` if nothing in it tells.
    pub dialect: Option<Dialect>,
    /// The last `session_info` entry in file order.
    pub last_session_info: Option<NodeIx>,
    /// Where the scan ended.
    pub end: End,
    /// Records that look like headers behind the first, counted as version 1 counts records.
    pub(crate) second_headers: Vec<u64>,
}

/// The end of a file as far as it has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// The length in bytes.
    pub length: u64,
    /// How many lines there are.
    pub lines: u64,
    /// Whether the last line has its line feed (also true of an empty file).
    pub terminated: bool,
}

impl Default for Loaded {
    /// A session that has not begun.
    fn default() -> Self {
        Self {
            header: None,
            header_span: (0, 0),
            slot: None,
            tree: Tree::new(),
            diagnostics: Vec::new(),
            dialect: None,
            last_session_info: None,
            end: End { length: 0, lines: 0, terminated: true },
            second_headers: Vec::new(),
        }
    }
}

/// Reads a whole medium.
///
/// # Errors
/// [`Error::NotASession`] if it is not empty and its first record is no header; [`Error::Io`].
pub fn load(medium: &dyn Medium) -> Result<Loaded> {
    let length = medium.len().map_err(Error::io("read", medium.path()))?;
    load_until(medium, length)
}

/// Reads the first `length` bytes of a medium.
///
/// # Errors
/// As [`load`].
pub(crate) fn load_until(medium: &dyn Medium, length: u64) -> Result<Loaded> {
    load_some(medium, length, Stretch::ALL, &mut |_| ())
}

/// How much of a file is read at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    /// At most so many lines, ...
    pub(crate) lines: usize,
    /// ... and none behind so many bytes.
    pub(crate) bytes: u64,
}

impl Stretch {
    pub(crate) const ALL: Self = Self { lines: usize::MAX, bytes: u64::MAX };

    fn is_full(self, lines: usize, bytes: u64) -> bool {
        lines >= self.lines || bytes >= self.bytes
    }
}

/// Reads the first `length` bytes of a medium, or only a stretch of them; `progress` is told how many
/// bytes are read. Files of old versions are always read to their end.
///
/// # Errors
/// As [`load`].
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

/// How many lines are probably still to come, the first ones ending at `at`.
fn expected(at: u64, length: u64) -> usize {
    let each = (at / SAMPLE as u64).max(1);
    usize::try_from(length.saturating_sub(at) / each).map_or(MOST_EXPECTED, |lines| lines.min(MOST_EXPECTED))
}

impl Loaded {
    /// The version of the file; that of a file that has not begun is the current one.
    pub fn version(&self) -> u32 {
        self.header.as_ref().map_or(CURRENT_VERSION, Header::version)
    }

    /// Whether lines have to be upgraded before they are version 3.
    pub fn is_old(&self) -> bool {
        self.version() < CURRENT_VERSION
    }

    /// The line of an entry as version 3 has it, from the text that stands in the file.
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

    /// What a version 1 compaction keeps from: record 0 is the header and means everything; a record behind the
    /// compaction, or none at all, means nothing, which is the compaction's own id.
    fn kept_node(&self, compaction: NodeIx, index: u64) -> NodeIx {
        if index == 0 {
            return self.tree.entries().next().unwrap_or(compaction);
        }
        if self.second_headers.contains(&index) {
            return compaction;
        }
        let headers_before = 1 + self.second_headers.iter().filter(|at| **at < index).count() as u64;
        let entry = usize::try_from(index - headers_before).unwrap_or(usize::MAX);
        // Of a version 1 file every entry but the last has a child, and so a place: none is missing in between.
        self.tree.entries_from(entry).next().filter(|kept| *kept < compaction).unwrap_or(compaction)
    }
}

/// A loaded file with its medium: the bodies of its entries.
pub(crate) struct Opened<'a> {
    pub(crate) medium: &'a dyn Medium,
    pub(crate) loaded: &'a Loaded,
}

impl Source for Opened<'_> {
    fn tree(&self) -> &Tree {
        &self.loaded.tree
    }

    fn entry(&self, ix: NodeIx) -> Result<Entry> {
        let node = self.loaded.tree.whole(self.loaded.tree.node(ix))?;
        let line = line_text(self.medium, node).map_err(Error::io("read", self.medium.path()))?;
        self.loaded.tree.whole(Entry::new(&self.loaded.tree, ix, self.loaded.upgraded(ix, line)))
    }

    fn raw_span(&self, ix: NodeIx) -> Option<(u64, u64)> {
        let node = self.loaded.tree.node(ix);
        let is_known = !self.loaded.is_old() && self.loaded.tree.whole(()).is_ok();
        is_known.then(|| (node.offset(), node.length()))
    }

    fn splice(&self, ix: NodeIx) -> Result<Option<(u64, u64, String)>> {
        let node = self.loaded.tree.whole(self.loaded.tree.node(ix))?;
        let (offset, length) = (node.offset(), node.length());
        if let Some((offset, length)) = self.raw_span(ix) {
            return Ok(Some((offset, length, String::new())));
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

/// The text of a line; bytes that are no UTF-8 become U+FFFD, as in the peers.
fn line_text(medium: &dyn Medium, node: &Node) -> std::io::Result<String> {
    let length = usize::try_from(node.length()).map_err(std::io::Error::other)?;
    let bytes = read_exact_at(medium, node.offset(), length)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// Whether ids can be put at the end of a version 1 line, by its two ends.
fn is_spliceable(medium: &dyn Medium, node: &Node) -> std::io::Result<bool> {
    let size = SPLICE_SAMPLE.min(node.length());
    let read = |offset| read_exact_at(medium, offset, size as usize);
    Ok(takes_splice(&read(node.offset())?, &read(node.offset() + node.length() - size)?))
}

/// Whether an entry's line is JSON throughout.
fn is_sound(medium: &dyn Medium, node: &Node) -> std::io::Result<bool> {
    let length = usize::try_from(node.length()).map_err(std::io::Error::other)?;
    Ok(validate(&read_exact_at(medium, node.offset(), length)?).is_ok())
}

/// An entry for the tree: where its line stands, what its envelope says, its id and its parent's.
fn new_node(span: LineSpan, envelope: &Envelope<'_>, (id, parent): (Option<EntryId>, Option<EntryId>)) -> NewNode {
    NewNode {
        id,
        parent,
        kind: envelope.kind,
        role: envelope.role,
        time: envelope.time,
        is_leaf_marker: envelope.is_leaf_marker,
        offset: span.offset,
        length: span.length,
        line: span.number,
    }
}

/// What a label entry says: its target, and the bookmark or that there is none any more.
fn label_of(line: &str) -> Option<(EntryId, Option<Label>)> {
    let json = Json::trusted(line);
    let owned = |name: &str| json.str(name).map(Cow::into_owned);
    let label = owned("label").map(|text| Label { text, timestamp: owned("timestamp") });
    Some((EntryId::new(owned("targetId")?), label))
}

fn not_a_session(path: &Path, line: u64, offset: u64, why: &'static str) -> Error {
    Error::NotASession { path: path.to_path_buf(), line, offset, why }
}

fn diagnostic(code: Code, line: u64, offset: u64, message: impl Into<String>) -> Diagnostic {
    Diagnostic { code, line: Some(line), offset, entry: None, message: message.into() }
}

#[cfg(test)]
mod tests;
