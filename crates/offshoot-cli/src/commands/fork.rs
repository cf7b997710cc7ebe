//! `offshoot fork`: copies a branch, or all of them, into a new session.

use std::io::Write as _;
use std::path::PathBuf;

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::ui::style::{DIM, Painted};
use offshoot_app::{lookup, next_request};
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::session::{NewFork, Session, SessionPart};
use offshoot_session::text::{counted, one_line};
use offshoot_session::tree::NodeIx;

use super::switch::place;

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
///
/// --dry-run shows what would be copied and what the next request would cost.
///
/// --json prints {"path", "name", "at", "entries"}: `at` is the last entry that
/// is copied, null with --all. With --dry-run `path` is null, and there is
/// "forecast", as `switch` prints it.
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

    /// Show what would be copied, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot fork latest --at 1a2b3c4d
  offshoot fork latest --at 1a2b3c4d --dry-run
  offshoot fork 019b --all --cwd ~/other-project
  offshoot show \"$(offshoot fork latest)\"";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let mut session = app.open(&args.session)?;
    let part = match (&args.at, args.all) {
        (Some(given), _) => SessionPart::Path(lookup::entry(app, &session, given)?),
        (None, true) => SessionPart::Everything,
        (None, false) => SessionPart::Path(session.leaf().ok_or_else(empty)?),
    };
    let cwd = match &args.cwd {
        Some(cwd) => app.absolute(cwd),
        None => session.cwd().filter(|cwd| !cwd.is_empty()).map_or_else(|| app.cwd(), str::to_owned),
    };
    let store = app.store()?;
    let name = app.fork_name(&session, &store, &cwd)?;
    let target = match part {
        SessionPart::Path(at) => Some(at),
        _ => None,
    };
    if args.dry_run {
        return show(app, args, &session, (target, name.as_deref()));
    }
    let count = entries(&session, target);
    let fork = NewFork { part, cwd: Some(&cwd), name: name.as_deref(), id: None };
    let new = session.export(&fork, |id, timestamp| store.path_for(&cwd, id, timestamp))?;
    let path = new.file.unwrap_or_default();
    let mut out = app.ui.raw();
    if args.json {
        let path = path.to_string_lossy();
        writeln!(out, "{}", json(&session, Some(&path), (target, name.as_deref()), count).finish())?;
        return Ok(out.finish()?);
    }
    writeln!(out, "{}", path.display())?;
    out.finish()?;
    app.report(&session, &args.session);
    Ok(())
}

/// The entries of a path, or of the session, without leaf markers.
fn entries(session: &Session, target: Option<NodeIx>) -> usize {
    let tree = session.tree();
    let is_shown = |ix: &NodeIx| !tree.node(*ix).is_leaf_marker();
    match target {
        Some(target) => tree.path(target).iter().filter(|ix| is_shown(ix)).count(),
        None => tree.entries().filter(is_shown).count(),
    }
}

type Copied<'a> = (Option<NodeIx>, Option<&'a str>);

fn json(session: &Session, path: Option<&str>, (target, name): Copied<'_>, entries: usize) -> Object {
    let at = target.and_then(|at| session.tree().node(at).id()).map(EntryId::as_str);
    let object = Object::new().str_or_null("path", path).str_or_null("name", name);
    object.str_or_null("at", at).raw("entries", entries)
}

/// What a fork would copy.
fn show(app: &App, args: &Args, session: &Session, copied: Copied<'_>) -> Result<()> {
    let (target, name) = copied;
    let count = entries(session, target);
    let forecast = next_request::after(app, session, target.or(session.leaf()), 0)?;
    if args.json {
        let mut out = app.ui.raw();
        let object = json(session, None, copied, count).raw("forecast", next_request::json(&forecast));
        writeln!(out, "{}", object.finish())?;
        return Ok(out.finish()?);
    }
    let upto =
        target.map_or(Ok("of every branch".to_owned()), |at| place(session, at).map(|at| format!("up to {at}")))?;
    let mut out = app.ui.text();
    writeln!(out, "would copy {} {upto}", counted(count, "entry", "entries"))?;
    let named = name.map_or_else(|| "without a name".to_owned(), |name| format!("named {}", one_line(name, 100)));
    for line in [named, forecast.detailed_words()] {
        writeln!(out, "{}", Painted(DIM, &line))?;
    }
    Ok(out.finish()?)
}

pub(crate) fn empty() -> CommandError {
    CommandError::new(FailureKind::Usage, "the session is empty: there is nothing to copy")
}
