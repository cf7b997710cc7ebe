//! `offshoot show`: prints the transcript.

use std::io::Write;

use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_app::lookup;
use offshoot_app::ui::style::{BOLD, DIM, Painted};
use offshoot_session::clock::{parse_iso, to_iso};
use offshoot_session::entry::Source as _;
use offshoot_session::entry_name::short_ids;
use offshoot_session::id::{EntryId, ShortIds};
use offshoot_session::json::Object;
use offshoot_session::records;
use offshoot_session::session::{Abridged, Session};
use offshoot_session::stats::overview;
use offshoot_session::text::{counted, one_line};
use offshoot_session::transcript::items;
use offshoot_session::tree::NodeIx;
use offshoot_tui::markdown::plain_row;

use crate::select::SessionToRead;
use crate::transcript::screen::{Heading, Length, Screen};
use offshoot_workspace::totals_in_words;
use offshoot_workspace::when;

/// Show the transcript of a session
///
/// The transcript is one branch, from the first entry to the current one or to
/// --at: user messages, answers, one line for each tool call, and the first
/// lines of each result. It marks compactions and summaries of other branches.
/// `context` shows what the model would be sent.
///
/// --json prints what pi's `getBranch` gives, an array of entries from the
/// first one on, each as it is in the file (old versions upgraded).
///
/// --summary prints the session's name, place, times, branches and cost. The
/// cost is that of all branches; an entry that several branches share counts
/// once. With --json:
///
///   {"id", "name"?, "cwd", "file", "created", "modified", "leafId",
///    "branches", "entries", "messages", "tokens", "cost", "lastWords"}
///
/// `created`, `modified` and `leafId` may be null.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    session: SessionToRead,

    /// Show the branch up to this entry instead of the current branch
    #[arg(long, value_name = "ENTRY")]
    at: Option<String>,

    /// Show tool results and thinking in full
    #[arg(long, conflicts_with = "json")]
    full: bool,

    /// Leave out the ids of entries
    #[arg(long, conflicts_with = "json")]
    no_ids: bool,

    /// Show name, place, times, branches and cost instead of the transcript
    #[arg(long, conflicts_with_all = ["at", "full", "no_ids"])]
    summary: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot show latest
  offshoot show latest --at 1a2b
  offshoot show latest --summary
  offshoot show session.jsonl --json | jq -r '.[] | select(.type == \"message\") | .message.role'";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let session = args.session.open(app)?;
    if args.summary {
        return summary(app, args, &session);
    }
    let leaf = match &args.at {
        Some(given) => Some(lookup::entry(app, &session, given)?),
        None => session.leaf(),
    };
    let path = leaf.map(|leaf| session.tree().path(leaf)).unwrap_or_default();
    if args.json {
        let mut out = app.ui.raw();
        records::write_entries(&mut out, &session, &path)?;
        out.write_all(b"\n")?;
        return Ok(out.finish()?);
    }
    let length = if args.full { Length::Whole } else { Length::Cut };
    let ids = if args.no_ids { None } else { Some(short_ids(session.tree(), path.iter().copied())?) };
    transcript(app, &session, &Excerpt { path: &path, length, ids })?;
    app.report(&session, args.session.name(&session));
    Ok(())
}

/// The part of a session that a transcript shows.
struct Excerpt<'a> {
    path: &'a [NodeIx],
    length: Length,
    /// `None` leaves ids out.
    ids: Option<ShortIds<'a>>,
}

fn transcript(app: &App, session: &Session, excerpt: &Excerpt<'_>) -> Result<()> {
    let mut out = app.ui.paged();
    head(app, session, &mut out)?;
    let mut screen = Screen::new(&mut out, excerpt.length);
    let shown = Abridged::new(session);
    for item in items(&shown, excerpt.path) {
        let (ix, item) = item?;
        screen.item(&item, &heading(session, ix, excerpt.ids.as_ref()))?;
    }
    if let Some(notice) = session.interruption()?.filter(|_| excerpt.path.last().copied() == session.leaf()) {
        screen.item(&notice, &Heading::default())?;
    }
    let tree = session.tree();
    let is_shown = |ix: &NodeIx| !tree.node(*ix).is_leaf_marker();
    let here = excerpt.path.iter().copied().filter(is_shown).count();
    let elsewhere = tree.entries().filter(is_shown).count() - here;
    let line = match elsewhere {
        0 => counted(here, "entry", "entries"),
        _ => format!("{}, {elsewhere} more on other branches", counted(here, "entry", "entries")),
    };
    screen.close(&line)?;
    Ok(out.finish()?)
}

/// Name, id and folder, and an empty line.
fn head(app: &App, session: &Session, out: &mut dyn Write) -> Result<()> {
    if let Some(name) = title(session)? {
        writeln!(out, "{}", Painted(BOLD, &name))?;
    }
    let cwd = session.cwd().map(|cwd| app.environment.short(cwd)).unwrap_or_default();
    let about = [session.id(), &cwd].map(|word| one_line(word, 200)).join("  ");
    writeln!(out, "{}\n", Painted(DIM, about.trim_end()))?;
    Ok(())
}

fn heading(session: &Session, ix: NodeIx, ids: Option<&ShortIds<'_>>) -> Heading {
    let tree = session.tree();
    let node = tree.node(ix);
    let id = node.id().zip(ids).map(|(id, ids)| one_line(ids.get(id.as_str()), 40));
    Heading {
        id: id.unwrap_or_default(),
        label: node.id().and_then(|id| tree.label(id)).map(|label| one_line(&label.text, 80)),
        time: node.time(),
    }
}

fn summary(app: &App, args: &Args, session: &Session) -> Result<()> {
    let overview = overview(session, session.leaf())?;
    let totals = &overview.totals;
    let created = session.header().timestamp().and_then(parse_iso);
    let modified = session.tree().entries().filter_map(|ix| session.tree().node(ix).time()).max();
    let file = session.file().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
    if args.json {
        let object = Object::new()
            .str("id", session.id())
            .opt_str("name", title(session)?.as_deref())
            .str("cwd", session.cwd().unwrap_or_default())
            .str("file", &file)
            .str_or_null("created", created.map(to_iso).as_deref())
            .str_or_null("modified", modified.map(to_iso).as_deref())
            .str_or_null("leafId", session.leaf_id().map(EntryId::as_str))
            .raw("branches", overview.branches)
            .raw("entries", totals.entries)
            .raw("messages", totals.messages)
            .raw("tokens", totals.tokens)
            .raw("cost", totals.cost)
            .str("lastWords", &overview.last_words);
        let mut out = app.ui.raw();
        writeln!(out, "{}", object.finish())?;
        return Ok(out.finish()?);
    }
    let mut out = app.ui.text();
    head(app, session, &mut out)?;
    let rows = [
        ("file", one_line(&app.environment.short(&file), 400)),
        ("created", created.map(when::minute).unwrap_or_default()),
        ("changed", modified.map(when::minute).unwrap_or_default()),
        ("branches", overview.branches.to_string()),
        ("in all", totals_in_words(totals)),
        ("last words", plain_row(&overview.last_words)),
    ];
    for (what, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        writeln!(out, "{}{value}", Painted(DIM, &format!("{what:12}")))?;
    }
    out.finish()?;
    app.report(session, args.session.name(session));
    Ok(())
}

/// The session's name, or omp's title.
pub(crate) fn title(session: &Session) -> Result<Option<String>> {
    let name = match session.name()? {
        Some(name) => Some(name),
        None => session.title().map(str::to_owned),
    };
    Ok(name.map(|name| one_line(&name, 200)))
}
