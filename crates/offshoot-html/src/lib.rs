//! A session as one self-contained page: the tree at the side, the conversation in the middle, no network.
//!
//! [`render`] reads and writes entry by entry, so its memory does not grow with the conversation. The page carries the session's lines unchanged in base64 and a small script that shows them; text of a session is never written as HTML. `docs/adr/0014` has the reasons.
//!
//! Modules are declared in the order of the flow, and each uses only those above it.

#![warn(missing_docs)]

mod limits;
mod totals;
mod markdown;
mod beside;
mod pictures;
mod block;
mod press;
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
use press::Press;
use row::{PageEntry, TreeRows};
use streams::Stream;
use totals::Totals;

pub use limits::{LeftOut, Limits};
pub use shell::PageColours;

/// The content of a page and how it is written.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Which entries.
    pub part: SessionPart,
    /// The home directory: tree rows show paths below it as `~`. The lines do not change.
    pub home: Option<String>,
    /// Makes plain words of the model's markdown for tree rows; without it they show markdown as written.
    pub plain: Option<fn(&str) -> String>,
    /// What is too large for the page.
    pub limits: Limits,
    /// The user's own colours of pages.
    pub colours: PageColours,
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
pub fn render(session: &Session, options: &Options, out: &mut impl Write) -> Result<LeftOut, Error> {
    let picked = Picked::new(session, options.part);
    let title = shell::title(session)?;
    out.write_all(shell::head(&title, &options.colours).as_bytes())?;
    let (home, plain) = (options.home.as_deref(), options.plain);
    let setup = OutlineSetup { layout: TreeLayout::Trunk, filter: Filter::All, home, plain };
    let shown = Abridged::within(session, options.limits.line);
    let outline = Outline::new(&shown, picked.leaf, setup)?;
    let rows = TreeRows::new(&shown, outline)?;
    let mut totals = Totals::default();
    let left_out = std::thread::scope(|scope| {
        let press = Press::new(scope, out);
        let mut page = Page::new(&shown, session, options, &picked, &rows, press);
        page.begin()?;
        for ix in &picked.entries {
            let entry = shown.entry(*ix)?;
            totals.add(&shown, &entry);
            page.entry(&entry)?;
        }
        page.finish()
    })?;
    let end = match session.interruption()? {
        Some(Item::Notice(_, words)) if options.part == SessionPart::Everything => words,
        _ => String::new(),
    };
    let meta = Object::new()
        .raw("entries", picked.entries.len())
        .raw("leaf", picked.leaf.map_or(-1, |leaf| picked.place(leaf)))
        .raw("labels", format_args!("{:?}", picked.labels(session)))
        .str("session", session.id())
        .str("end", &end)
        .str("name", &shell::file_name(session));
    let card = shell::Card { session, title: &title, totals: &totals, part: options.part, picked: &picked, left_out };
    out.write_all(shell::tail(&card, &meta.finish()).as_bytes())?;
    out.flush()?;
    Ok(left_out)
}

struct Page<'a> {
    session: &'a Session,
    shown: &'a Abridged<'a>,
    picked: &'a Picked,
    rows: &'a TreeRows,
    limits: Limits,
    press: Press<'a>,
    /// The session's lines, which the download writes to a file.
    lines: Stream,
    beside: Stream,
    index: Stream,
    /// Where the last entry's line ended.
    line_end: u64,
    /// Whether `lines` is the whole file byte for byte, with lines that are not entries.
    is_verbatim: bool,
    copied: u64,
    left_out: LeftOut,
}

/// The most bytes copied at once between two entries.
const PIECE: u64 = 1 << 20;
/// A limit on pictures counts shorter ones, too, but not a few letters.
const A_FEW_LETTERS: usize = 64;

impl<'a> Page<'a> {
    fn new(
        shown: &'a Abridged<'a>,
        session: &'a Session,
        options: &Options,
        picked: &'a Picked,
        rows: &'a TreeRows,
        press: Press<'a>,
    ) -> Self {
        let is_verbatim =
            options.part == SessionPart::Everything && session.version() >= CURRENT_VERSION && session.raw_length() > 0;
        let [lines, beside, index] = ["s", "x", "i"].map(Stream::new);
        let (limits, left_out) = (options.limits, LeftOut::default());
        let (line_end, copied) = (0, 0);
        Self {
            session,
            shown,
            picked,
            rows,
            limits,
            press,
            lines,
            beside,
            index,
            line_end,
            is_verbatim,
            copied,
            left_out,
        }
    }

    /// Writes the header if the lines are not the file's bytes.
    fn begin(&mut self) -> Result<(), Error> {
        if !self.is_verbatim {
            self.lines.push(self.session.header_line().as_bytes(), &mut self.press)?;
            self.lines.push(b"\n", &mut self.press)?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), Error> {
        let line = self.line(entry)?;
        if self.is_verbatim {
            self.copy_to(self.session.tree().node(entry.ix).offset())?;
            self.copied += self.session.tree().node(entry.ix).length();
        }
        if self.shown.leaves_out(entry.ix) {
            self.left_out.lines += 1;
            self.left_out.bytes += self.session.tree().node(entry.ix).length();
        }
        let (start, gap) = (self.lines.length(), self.lines.length() - self.line_end);
        Self::push(&line, (&mut self.lines, &mut self.press), self.limits.picture, &mut self.left_out)?;
        self.line_end = self.lines.length();
        if !self.is_verbatim {
            self.lines.push(b"\n", &mut self.press)?;
        }
        self.lines.end_item(&mut self.press)?;
        let (beside_start, beside) = (self.beside.length(), beside::of(self.session, entry).unwrap_or_default());
        Self::push(beside.as_bytes(), (&mut self.beside, &mut self.press), self.limits.picture, &mut self.left_out)?;
        let row = PageEntry {
            parent: self.picked.parent(self.session, entry.ix),
            line: (gap, self.line_end - start),
            beside: self.beside.length() - beside_start,
        };
        self.beside.end_item(&mut self.press)?;
        let row = row.json(self.shown, entry, self.rows)?;
        self.index.push(row.as_bytes(), &mut self.press)?;
        self.index.push(b",\n", &mut self.press)?;
        Ok(self.index.end_item(&mut self.press)?)
    }

    /// Adds bytes to a stream, their pictures in blocks of their own or not at all.
    fn push(
        bytes: &[u8],
        (stream, press): (&mut Stream, &mut Press<'_>),
        limit: Option<usize>,
        left_out: &mut LeftOut,
    ) -> Result<(), Error> {
        let mut from = 0;
        for range in pictures::base64_in(bytes, limit.map(|_| A_FEW_LETTERS)) {
            let data = bytes.get(range.clone()).unwrap_or_default();
            stream.push(bytes.get(from..range.start).unwrap_or_default(), press)?;
            if limit.is_some_and(|limit| data.len() > limit) {
                left_out.pictures += 1;
                left_out.bytes += data.len() as u64;
            } else {
                stream.push_base64(data, press)?;
            }
            from = range.end;
        }
        Ok(stream.push(bytes.get(from..).unwrap_or_default(), press)?)
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
            self.lines.push(&bytes, &mut self.press)?;
            self.copied += length;
        }
        Ok(())
    }

    /// Copies everything after the last entry, so that the download ends with a line feed, and writes all blocks.
    fn finish(mut self) -> Result<LeftOut, Error> {
        if self.is_verbatim {
            let end = self.session.raw_length();
            self.copy_to(end)?;
            if self.session.raw_bytes(end - 1, 1)? != b"\n" {
                self.lines.push(b"\n", &mut self.press)?;
            }
        }
        for stream in [&mut self.lines, &mut self.beside, &mut self.index] {
            stream.finish(&mut self.press)?;
        }
        self.press.finish()?;
        Ok(self.left_out)
    }
}
