//! `offshoot show`: prints the transcript.

use std::io::Write as _;

use offshoot_session::entry::Source as _;
use offshoot_session::session::Session;
use offshoot_session::text::one_line;
use offshoot_session::transcript::items;
use offshoot_session::tree::NodeIx;

use crate::app::App;
use crate::error::Result;
use crate::transcript::screen::{Heading, Length, Screen, entries};
use crate::ui::style::{BOLD, DIM, Painted};
use crate::{records, select};

/// Show the transcript of a session
///
/// What was said from the root to an entry, on one branch: the person, the
/// model, one line for each tool call, the first lines of each result, marks
/// where the conversation was compacted or came back from another branch.
/// `context` shows what of it the model would see.
///
/// --json prints what pi's `getBranch` gives, an array of entries from the
/// root on, each exactly as it stands in the file (old versions upgraded).
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES, visible_alias = "log")]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// Show the branch up to this entry; without it the open branch
    #[arg(long, value_name = "ENTRY")]
    at: Option<String>,

    /// Show tool results and thinking in full
    #[arg(long, conflicts_with = "json")]
    full: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot show latest
  offshoot show 019b --at 1a2b3c4d
  offshoot show session.jsonl --json | jq -r '.[] | select(.type == \"message\") | .message.role'";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let session = app.open(&args.session)?;
    let leaf = match &args.at {
        Some(given) => Some(select::entry(app, &session, given)?),
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
    transcript(app, &session, &path, length)?;
    app.report(&session, &args.session);
    Ok(())
}

fn transcript(app: &App, session: &Session, path: &[NodeIx], length: Length) -> Result<()> {
    let mut out = app.ui.paged();
    if let Some(name) = title(session)? {
        writeln!(out, "{}", Painted(BOLD, &name))?;
    }
    let cwd = session.cwd().map(|cwd| app.environment.short(cwd)).unwrap_or_default();
    let about = [session.id(), &cwd].map(|word| one_line(word, 200)).join("  ");
    writeln!(out, "{}\n", Painted(DIM, about.trim_end()))?;
    let mut screen = Screen::new(&mut out, length);
    for item in items(session, path) {
        let (ix, item) = item?;
        screen.item(&item, &heading(session, ix))?;
    }
    let tree = session.tree();
    let is_shown = |ix: &NodeIx| !tree.node(*ix).is_leaf_marker();
    let here = path.iter().copied().filter(is_shown).count();
    let elsewhere = tree.entries().filter(is_shown).count() - here;
    let line = match elsewhere {
        0 => entries(here),
        _ => format!("{}, {elsewhere} more on other branches", entries(here)),
    };
    screen.close(&line)?;
    Ok(out.finish()?)
}

fn heading(session: &Session, ix: NodeIx) -> Heading {
    let tree = session.tree();
    let node = tree.node(ix);
    Heading {
        id: node.id().map(|id| one_line(id.as_str(), 40)).unwrap_or_default(),
        label: node.id().and_then(|id| tree.label(id)).map(|label| one_line(&label.text, 80)),
        time: node.time(),
    }
}

/// The session's name, or omp's title.
pub(crate) fn title(session: &Session) -> Result<Option<String>> {
    let name = match session.name()? {
        Some(name) => Some(name),
        None => session.title().map(str::to_owned),
    };
    Ok(name.map(|name| one_line(&name, 200)))
}
