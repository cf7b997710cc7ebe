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

use std::collections::BTreeMap;
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
    /// What entries changed in files.
    pub files: PageFiles,
}

/// What entries changed in files.
#[derive(Debug, Clone, Default)]
pub struct PageFiles {
    /// By the ids of entries `offshoot.files`: an object with `list` and `note`, whose members `assets/files.js` names.
    pub entries: BTreeMap<String, String>,
    /// What the page says of the entries of which nothing more is here.
    pub note: String,
}

/// The session of an agent that the session of a page has started, or that one of those has.
#[derive(Debug, Clone, Copy)]
pub struct PageAgent<'a> {
    /// Such as `Alpha`; an agent that it has started is `Alpha.Beta`.
    pub id: &'a str,
    /// Its row, such as `Alpha · scout · completed`.
    pub words: &'a str,
    /// The call that has started it; `None` if nothing says it.
    pub call: Option<&'a str>,
    /// The entry with that call; `None` if nothing says it.
    pub entry: Option<&'a str>,
    /// What it did.
    pub session: &'a Session,
    /// What its entries changed in files.
    pub files: &'a PageFiles,
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
    render_with(session, &[], options, out)
}

/// The same with the sessions of agents, each below the call that has started it, by one click.
///
/// # Errors
/// As [`render`].
pub fn render_with(
    session: &Session,
    agents: &[PageAgent<'_>],
    options: &Options,
    out: &mut impl Write,
) -> Result<PageOmissions, Error> {
    let title = shell::title(session)?;
    out.write_all(shell::head(&title, &options.themes).as_bytes())?;
    let mut left_out = PageOmissions::default();
    for agent in agents {
        out.write_all(shell::agent_start(agent.id).as_bytes())?;
        let options = Options { part: SessionPart::Everything, files: agent.files.clone(), ..options.clone() };
        let (end, lacks) = write_session(agent.session, agent.words, (agents, agent.id), &options, out)?;
        out.write_all(end.as_bytes())?;
        out.write_all(shell::AGENT_END.as_bytes())?;
        left_out.merge(lacks);
    }
    let (end, lacks) = write_session(session, &title, (agents, ""), options, out)?;
    left_out.merge(lacks);
    out.write_all(end.as_bytes())?;
    out.write_all(shell::tail().as_bytes())?;
    out.flush()?;
    Ok(left_out)
}

/// Writes the blocks of one session. Returns its card and facts, which come after them, and what it lacks.
fn write_session(
    session: &Session,
    title: &str,
    (agents, id): (&[PageAgent<'_>], &str),
    options: &Options,
    out: &mut impl Write,
) -> Result<(String, PageOmissions), Error> {
    let picked = Picked::new(session, options.part);
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
        .raw("agents", agents_json(agents, id))
        .str("files", &options.files.note)
        .str("end", &end)
        .str("name", &shell::file_name(session));
    let card =
        shell::Card { session, title, totals: &totals, part: options.part, picked: &picked, left_out: &left_out };
    Ok((shell::session_end(&card, &meta.finish()), left_out))
}

/// The agents that one has started; the empty id is that of the session of the page.
fn agents_json(agents: &[PageAgent<'_>], id: &str) -> String {
    let is_own = |agent: &&PageAgent<'_>| agent.id.rsplit_once('.').map_or("", |(above, _)| above) == id;
    let object = |agent: &PageAgent<'_>| {
        let object = Object::new().str("id", agent.id).str("words", agent.words);
        object.str_or_null("call", agent.call).str_or_null("entry", agent.entry).finish()
    };
    format!("[{}]", agents.iter().filter(is_own).map(object).collect::<Vec<_>>().join(","))
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
