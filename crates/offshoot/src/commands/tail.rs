//! `offshoot tail`: follows a session.

mod following;

use std::io::Write as _;

use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_app::session_words::session_words;
use offshoot_session::entry::Source as _;
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::text::one_line;
use offshoot_session::transcript::Item;
use offshoot_session::tree::NodeIx;

use offshoot_workspace::transcript::screen::{Heading, Length, ScreenItem, TranscriptScreen};
use offshoot_workspace::{Access, LatestOf, WordsBlock};

use offshoot_app::ui::UiOutput;
use offshoot_session::records;

use following::Following;

/// Follow a session: show entries as any program appends them
///
/// Shows the last entries of the current branch, then every new entry, on
/// whichever branch it is. An entry that does not follow the one shown before
/// it names its parent. The session is not changed, and other programs are not
/// disturbed. Ctrl-C ends the command, and so does the end of its output. If
/// the file is replaced, shortened or deleted, it ends with exit code 5.
///
/// A session of another agent is read again when it has changed. Its last entry
/// shows when nothing came for a second, because an answer may still grow. One
/// that grows after that shows again, whole.
///
/// --json prints the line of each entry exactly as it is in the file, including
/// labels and settings.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    #[arg(value_name = "SESSION", value_parser = session_words())]
    session: String,

    /// With `latest`: the latest session of every folder, not of this one
    #[arg(long)]
    all: bool,

    /// How many entries to show first
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 10)]
    last: usize,

    /// Print the entries' lines
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot tail latest
  offshoot tail latest -n 0 --json | jq -r .type";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let latest = if args.all { LatestOf::EveryFolder } else { LatestOf::ThisFolder };
    let session = app
        .looked_up(&args.session, |place| place.open_of(latest, &args.session, Access::Read, SpillPolicy::Temporary))?;
    let path = session.leaf().map(|leaf| session.tree().path(leaf)).unwrap_or_default();
    let shown = path.len().saturating_sub(args.last);
    let mut before = shown.checked_sub(1).and_then(|at| path.get(at)).copied();
    let mut fresh: Vec<NodeIx> = path.get(shown..).unwrap_or_default().to_vec();
    let mut following = Following::new(session);
    loop {
        show(app, args, following.session(), &fresh, &mut before)?;
        fresh = following.next(app, &mut before)?;
    }
}

/// Prints and flushes entries: the reader may be waiting.
fn show(app: &App, args: &Args, session: &Session, entries: &[NodeIx], before: &mut Option<NodeIx>) -> Result<()> {
    let mut out = if args.json { app.ui.raw() } else { app.ui.text() };
    for ix in entries {
        if args.json {
            records::write_entry(&mut out, session, *ix)?;
            out.write_all(b"\n")?;
        } else {
            turn(&mut out, session, *ix, *before)?;
        }
        *before = Some(*ix);
    }
    Ok(out.finish()?)
}

fn turn(out: &mut UiOutput, session: &Session, ix: NodeIx, before: Option<NodeIx>) -> Result<()> {
    let tree = session.tree();
    let Some(item) = Item::of_entry(&session.entry(ix)?) else { return Ok(()) };
    let name = |ix: NodeIx| tree.node(ix).id().map(|id| one_line(id.as_str(), 40)).unwrap_or_default();
    let continues = before.is_none() || tree.parent(ix) == before;
    let label = (!continues)
        .then(|| tree.parent(ix).map_or("a new root".to_owned(), |parent| format!("below {}", name(parent))));
    let heading = Heading { id: name(ix), label, time: tree.node(ix).time() };
    let mut say = |block: &WordsBlock| match block {
        WordsBlock::Line(line) => out.line(line),
        WordsBlock::Table(_) => Ok(()),
    };
    TranscriptScreen::new(&mut say).item(&ScreenItem::of(&item, Length::Cut), &heading)?;
    Ok(writeln!(out)?)
}
