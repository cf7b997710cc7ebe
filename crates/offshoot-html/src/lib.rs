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
mod clip;
mod block;
mod streams;
mod picked;
mod row;
mod batch;
mod press;
mod shell;

use std::io::{self, Write};

use offshoot_session::call_view;
use offshoot_session::json::Object;
use offshoot_session::outline::RowTexts;
use offshoot_session::session::{Abridged, Session, SessionPart};
use offshoot_session::transcript::Item;

use batch::Maker;
use picked::Picked;
use press::{Part, Press};
use row::TreeRows;
use streams::Stream;
use totals::Totals;

pub use limits::{PageLimits, PageOmissions};
pub use shell::{PageColours, PageThemes};

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
    pub limits: PageLimits,
    /// The user's own colours of pages.
    pub themes: PageThemes,
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
pub fn render(session: &Session, options: &Options, out: &mut impl Write) -> Result<PageOmissions, Error> {
    let picked = Picked::new(session, options.part);
    let title = shell::title(session)?;
    out.write_all(shell::head(&title, &options.themes).as_bytes())?;
    let shown = Abridged::within(session, options.limits.line);
    let rows = TreeRows::new(&shown, RowTexts::new(options.home.as_deref(), options.plain), &picked)?;
    let maker = Maker { session, shown: &shown, picked: &picked, rows: &rows, options };
    let (totals, left_out) = std::thread::scope(|scope| write_blocks(maker, Press::new(scope, maker), out))?;
    let end = match session.interruption()? {
        Some(Item::Notice(_, words)) if options.part == SessionPart::Everything => words,
        _ => String::new(),
    };
    let meta = Object::new()
        .raw("calls", call_view::dialects())
        .raw("entries", picked.entries.len())
        .raw("leaf", picked.leaf.map_or(-1, |leaf| picked.place(leaf)))
        .raw("labels", format_args!("{:?}", picked.labels(session)))
        .str("session", session.id())
        .str("end", &end)
        .str("name", &shell::file_name(session));
    let card = shell::Card {
        session,
        title: &title,
        totals: &totals,
        part: options.part,
        picked: &picked,
        left_out: &left_out,
    };
    out.write_all(shell::tail(&card, &meta.finish()).as_bytes())?;
    out.flush()?;
    Ok(left_out)
}

/// Writes the three streams: the session's lines, what belongs to them, the index.
fn write_blocks(maker: Maker<'_>, mut press: Press, out: &mut impl Write) -> Result<(Totals, PageOmissions), Error> {
    let mut page = Page { beside: Stream::new("x"), index: Stream::new("i"), ..Page::default() };
    for batch in maker.batches() {
        while press.is_full(batch.bytes) {
            page.write_next(&mut press, out)?;
        }
        press.add_batch(batch)?;
    }
    while page.write_next(&mut press, out)? {}
    page.beside.finish(&mut press)?;
    page.index.finish(&mut press)?;
    while page.write_next(&mut press, out)? {}
    Ok((page.totals, page.left_out))
}

#[derive(Debug, Default)]
struct Page {
    beside: Stream,
    index: Stream,
    totals: Totals,
    left_out: PageOmissions,
}

impl Page {
    /// Writes the oldest part. Returns whether there was one.
    fn write_next(&mut self, press: &mut Press, out: &mut impl Write) -> Result<bool, Error> {
        let Some(part) = press.next() else { return Ok(false) };
        match part? {
            Part::Element(element) => out.write_all(&element)?,
            Part::Batch(made) => {
                out.write_all(&made.elements)?;
                for block in &made.beside {
                    self.beside.push_block(block, press)?;
                }
                self.beside.end_item(press)?;
                self.index.push(made.index.as_bytes(), press)?;
                self.index.end_item(press)?;
                self.totals.merge(made.totals);
                self.left_out.merge(made.left_out);
            }
        }
        Ok(true)
    }
}
