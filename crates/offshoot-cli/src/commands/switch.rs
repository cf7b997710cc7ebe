//! `offshoot switch`: moves the leaf in the file.

use std::io::Write as _;

use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::outline::entry_text;
use offshoot_session::session::Session;
use offshoot_session::stats::words;
use offshoot_session::text::{counted, one_line};
use offshoot_session::tree::NodeIx;

use crate::app::App;
use crate::error::Result;
use crate::models::ModelArgs;
use crate::ui::style::{DIM, ID, Painted};
use crate::{select, summarise};

/// Go to another entry; the session continues from there
///
/// Nothing is lost: the entries after it remain as another branch. offshoot
/// appends one small entry below the target, which trees and transcripts do
/// not show, so pi and oh-my-pi open there too.
///
/// With --summarize that entry is a summary of the branch that is left, and
/// the model sees it. A model writes it: --model, else the session's, else the
/// one of settings.json. Without a model offshoot extracts the summary from
/// the messages.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES, visible_alias = "checkout")]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// An id or its unique start, a label, `@`, `@-`, or a time such as 2h
    entry: String,

    /// Summarise the branch that is left
    #[arg(long)]
    summarize: bool,

    #[command(flatten)]
    model: ModelArgs,
}

const EXAMPLES: &str = "\
Examples:
  offshoot switch latest 1a2b3c4d
  offshoot switch latest 1a2b3c4d --summarize
  offshoot branches latest            # shows the branches";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    if !args.summarize {
        args.model.refuse("--summarize has a summary written")?;
    }
    let mut session = app.open_to_write(&args.session)?;
    let target = select::entry_to_write(app, &session, &args.entry)?;
    let tree = session.tree();
    let is_there = session.leaf().and_then(|leaf| tree.skip_leaf_markers(leaf)) == tree.skip_leaf_markers(target);
    if is_there {
        return app.ui.nothing_to_do(&format!("the session is at {}", place(&session, target)?));
    }
    let left = session.abandoned_by(Some(target));
    let left = left.iter().filter(|ix| !session.tree().node(**ix).is_leaf_marker()).count();
    let summarise = || summarise::left_behind(app, &session, target, &args.model);
    let drafted = (args.summarize && session.leaves_messages(target)).then(summarise).transpose()?;
    let target = app.upgraded(&mut session, target)?;
    let mut out = app.ui.text();
    let Some(drafted) = drafted else {
        session.switch(target)?;
        writeln!(out, "now at {}", place(&session, target)?)?;
        return Ok(out.finish()?);
    };
    let id = session.tree().node(target).id().cloned();
    let summary = session.branch_with_summary(id.as_ref().map(EntryId::as_str), &drafted.branch_summary())?;
    writeln!(out, "now at {}", place(&session, target)?)?;
    let left = counted(left, "entry", "entries");
    let line = format!("{left} left behind, summarised in {summary}");
    writeln!(out, "{}", Painted(DIM, &one_line(&line, 200)))?;
    Ok(out.finish()?)
}

pub(crate) fn place(session: &Session, ix: NodeIx) -> Result<String> {
    let tree = session.tree();
    let id = tree.node(ix).id().map_or(Ok("-".to_owned()), |id| select::short_id(session, id.as_str()))?;
    let said = words(&session.entry(ix)?).map_or_else(|| entry_text(session, ix), Ok)?;
    Ok(format!("{}  {}", Painted(ID, &one_line(&id, 40)), one_line(&said, 60)))
}
