//! `offshoot fork`: copies a branch, or all of them, into a new session.

use std::io::Write as _;
use std::path::PathBuf;

use offshoot_session::session::{NewFork, SessionPart};

use crate::app::App;
use crate::error::{CommandError, FailureKind, Result};
use crate::select;

/// Make a new session from the path to an entry
///
/// The new session holds the entries from the root to ENTRY with their ids,
/// and the labels on them; its header names the session it comes from. --all
/// copies every branch. The source stays as it is; one of an old version is
/// upgraded in the copy.
///
/// The new session is named after the source, or after its first words, with
/// `(fork)`, `(fork 2)` and so on, and comes first in `list`.
///
/// Prints the path of the new file, which is in offshoot's own store or, with
/// --session-dir, in that folder.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// The last entry to copy; without it the current one
    #[arg(long, value_name = "ENTRY", conflicts_with = "all")]
    at: Option<String>,

    /// The working directory of the new session; without it the source's
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Copy every branch
    #[arg(long)]
    all: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot fork latest --at 1a2b3c4d
  offshoot fork 019b --all --cwd ~/other-project
  offshoot show \"$(offshoot fork latest)\"";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let mut session = app.open(&args.session)?;
    let part = match (&args.at, args.all) {
        (Some(given), _) => SessionPart::Path(select::entry(app, &session, given)?),
        (None, true) => SessionPart::Everything,
        (None, false) => SessionPart::Path(session.leaf().ok_or_else(empty)?),
    };
    let cwd = match &args.cwd {
        Some(cwd) => app.absolute(cwd),
        None => session.cwd().filter(|cwd| !cwd.is_empty()).map_or_else(|| app.cwd(), str::to_owned),
    };
    let store = app.store()?;
    let name = app.fork_name(&session, &store, &cwd)?;
    let fork = NewFork { part, cwd: Some(&cwd), name: name.as_deref(), id: None };
    let new = session.export(&fork, |id, timestamp| store.place(&cwd, id, timestamp))?;
    let mut out = app.ui.raw();
    writeln!(out, "{}", new.file.unwrap_or_default().display())?;
    out.finish()?;
    app.report(&session, &args.session);
    Ok(())
}

pub(crate) fn empty() -> CommandError {
    CommandError::new(FailureKind::Usage, "the session is empty: there is nothing to copy")
}
