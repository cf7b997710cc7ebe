//! A session as one self-contained page: the tree at the side, the conversation in the middle, no network.
//!
//! [`render`] reads and writes entry by entry, so its memory does not grow with the conversation. The page carries the session's lines unchanged in base64 and a small script that shows them; text of a session is never written as HTML. `docs/adr/0014` has the reasons.
//!
//! Modules are declared in the order of the flow, and each uses only those above it.

#![warn(missing_docs)]

mod totals;
mod markdown;
mod beside;
mod streams;
mod picked;
mod row;
mod shell;

use std::io::{self, Write};

use offshoot_session::entry::{Entry, Source as _};
use offshoot_session::header::CURRENT_VERSION;
use offshoot_session::json::Object;
use offshoot_session::outline::{Filter, Outline, OutlineSetup, TreeLayout};
use offshoot_session::session::{Abridged, Session, SessionPart};
use offshoot_session::transcript::Item;

use picked::Picked;
use row::{PageEntry, TreeRows};
use streams::{BLOCK, Stream};
use totals::Totals;

/// The content of a page and how it is written.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Which entries.
    pub part: SessionPart,
    /// The home directory: tree rows show paths below it as `~`. The lines do not change.
    pub home: Option<String>,
    /// Makes plain words of the model's markdown for tree rows; without it they show markdown as written.
    pub plain: Option<fn(&str) -> String>,
}

/// Why a page is not finished.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The session cannot be read.
    #[error(transparent)]
    Read(#[from] offshoot_session::error::Error),
    /// The page cannot be written.
    #[error("could not write the page")]
    Write(#[from] io::Error),
}

/// Writes a session as a page. The session does not change; after an error, `out` has part of a page.
///
/// # Errors
/// The session cannot be read, or `out` cannot be written.
pub fn render(session: &Session, options: &Options, out: &mut impl Write) -> Result<(), Error> {
    let picked = Picked::new(session, options.part);
    let title = shell::title(session)?;
    out.write_all(shell::head(&title).as_bytes())?;
    let (home, plain) = (options.home.as_deref(), options.plain);
    let setup = OutlineSetup { layout: TreeLayout::Trunk, filter: Filter::All, home, plain };
    let shown = Abridged::new(session);
    let outline = Outline::new(&shown, picked.leaf, setup)?;
    let rows = TreeRows::new(&shown, outline)?;
    let mut page = Page::new(session, options.part, &picked, rows, out);
    if !page.is_verbatim {
        page.lines.push(session.header_line().as_bytes(), page.out)?;
        page.lines.push(b"\n", page.out)?;
    }
    let mut totals = Totals::default();
    for ix in &picked.entries {
        let entry = shown.entry(*ix)?;
        totals.add(&shown, &entry);
        page.entry(&entry)?;
    }
    page.rest()?;
    page.lines.finish(page.out)?;
    page.beside.finish(page.out)?;
    page.index.finish(page.out)?;
    let end = match session.interruption()? {
        Some(Item::Notice(_, words)) if options.part == SessionPart::Everything => words,
        _ => String::new(),
    };
    let meta = Object::new()
        .raw("block", BLOCK)
        .raw("entries", picked.entries.len())
        .raw("leaf", picked.leaf.map_or(-1, |leaf| picked.place(leaf)))
        .raw("labels", format_args!("{:?}", picked.labels(session)))
        .str("end", &end)
        .str("name", &shell::file_name(session));
    let card = shell::Card { session, title: &title, totals: &totals, part: options.part, picked: &picked };
    out.write_all(shell::tail(&card, &meta.finish()).as_bytes())?;
    Ok(out.flush()?)
}

struct Page<'a, W> {
    session: &'a Session,
    shown: Abridged<'a>,
    picked: &'a Picked,
    rows: TreeRows,
    out: &'a mut W,
    /// The session's lines, which the download writes to a file.
    lines: Stream,
    beside: Stream,
    index: Stream,
    /// Whether `lines` is the whole file byte for byte, with lines that are not entries.
    is_verbatim: bool,
    copied: u64,
}

/// The most bytes copied at once between two entries.
const PIECE: u64 = 1 << 20;

impl<'a, W: Write> Page<'a, W> {
    fn new(session: &'a Session, part: SessionPart, picked: &'a Picked, rows: TreeRows, out: &'a mut W) -> Self {
        let is_verbatim =
            part == SessionPart::Everything && session.version() >= CURRENT_VERSION && session.raw_length() > 0;
        let [lines, beside, index] = ["s", "x", "i"].map(Stream::new);
        Self { session, shown: Abridged::new(session), picked, rows, out, lines, beside, index, is_verbatim, copied: 0 }
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), Error> {
        let line = self.line(entry)?;
        if self.is_verbatim {
            self.copy_to(self.session.tree().node(entry.ix).offset())?;
            self.copied += self.session.tree().node(entry.ix).length();
        }
        let beside = beside::of(self.session, entry).unwrap_or_default();
        let row = PageEntry {
            parent: self.picked.parent(self.session, entry.ix),
            line: self.lines.span(line.len()),
            beside: self.beside.span(beside.len()),
        };
        let row = row.json(&self.shown, entry, &self.rows)?;
        self.lines.push(&line, self.out)?;
        if !self.is_verbatim {
            self.lines.push(b"\n", self.out)?;
        }
        self.beside.push(beside.as_bytes(), self.out)?;
        self.index.push(row.as_bytes(), self.out)?;
        self.index.push(b"\n", self.out)?;
        Ok(())
    }

    /// The line as version 3 writes it. A line that is the same in the file keeps its bytes, even if they are not
    /// UTF-8.
    fn line(&self, entry: &Entry) -> Result<Vec<u8>, Error> {
        if self.shown.leaves_out(entry.ix) {
            return Ok(entry.line().as_bytes().to_vec());
        }
        let is_odd = entry.line().contains(char::REPLACEMENT_CHARACTER);
        let raw = self.session.raw_span(entry.ix);
        if raw.is_some_and(|(_, length)| is_odd || length != entry.line().len() as u64) {
            return Ok(self.session.raw_line(entry.ix)?);
        }
        Ok(entry.line().as_bytes().to_vec())
    }

    /// Copies the bytes up to `offset` that are not copied yet: the header, lines that are not entries, line feeds.
    fn copy_to(&mut self, offset: u64) -> Result<(), Error> {
        while self.copied < offset {
            let length = (offset - self.copied).min(PIECE);
            let bytes = self.session.raw_bytes(self.copied, usize::try_from(length).unwrap_or(0))?;
            self.lines.push(&bytes, self.out)?;
            self.copied += length;
        }
        Ok(())
    }

    /// Copies everything after the last entry; the download ends with a line feed.
    fn rest(&mut self) -> Result<(), Error> {
        let end = self.session.raw_length();
        if !self.is_verbatim {
            return Ok(());
        }
        self.copy_to(end)?;
        if self.session.raw_bytes(end - 1, 1)? != b"\n" {
            self.lines.push(b"\n", self.out)?;
        }
        Ok(())
    }
}
