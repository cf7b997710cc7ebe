//! `offshoot switch`: moves the leaf in the file.

use std::io::Write as _;

use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_app::models::ModelArgs;
use offshoot_app::ui::style::{DIM, ID, Painted};
use offshoot_app::{lookup, next_request, summarise};
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::kind::Kind;
use offshoot_session::outline::entry_text;
use offshoot_session::session::Session;
use offshoot_session::stats::words;
use offshoot_session::text::{counted, one_line};
use offshoot_session::tree::NodeIx;

use offshoot_workspace::{Access, with_summary_cost, words_without_summary};

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
///
/// --dry-run shows how many entries would be left behind, the tokens of the next
/// request, what the provider probably still caches of them, and the price
/// without the answer. What is not known is not shown.
///
/// --json prints one object: {"id", "to", "left"}, the entry that was written,
/// the target's id, and the number of entries left behind; or null if the session
/// is there already. With --dry-run `id` is null, and there is "forecast":
/// {"contextTokens", "messageTokens", "overheadTokens", "cachedTokens",
/// "freshTokens", "cacheExpiresInMs", "costNow",
/// "costLater"}, where null is not known.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// An id or its unique start, a label, `@`, `@-`, or a time such as 2h
    entry: String,

    /// Summarise the branch that is left
    #[arg(long)]
    summarize: bool,

    /// Show what would be left behind and what the next request would cost, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    model: ModelArgs,
}

const EXAMPLES: &str = "\
Examples:
  offshoot switch latest 1a2b3c4d --dry-run
  offshoot switch latest 1a2b3c4d
  offshoot switch latest 1a2b3c4d --summarize
  offshoot branches latest            # shows the branches";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    if !args.summarize {
        args.model.refuse("--summarize has a summary written")?;
    }
    let mut session = if args.dry_run { app.open(&args.session)? } else { app.open_to_write(&args.session)? };
    let target = lookup::last_entry(app, &session, &args.entry, Access::Write)?;
    let tree = session.tree();
    let is_there = session.leaf().and_then(|leaf| tree.skip_leaf_markers(leaf)) == tree.skip_leaf_markers(target);
    if is_there && args.json && !args.dry_run {
        return print_line(app, "null");
    }
    if is_there && !args.dry_run {
        return app.ui.nothing_to_do(&format!("the session is at {}", place(&session, target)?));
    }
    let left = session.abandoned_by(Some(target));
    let left = left.iter().filter(|ix| !session.tree().node(**ix).is_leaf_marker()).count();
    if args.dry_run {
        return show(app, args, session, Move { target, left });
    }
    let summarise = || summarise::left_behind(app, &session, target, &args.model);
    let drafted = (args.summarize && session.leaves_messages(target)).then(summarise).transpose()?;
    let target = app.upgraded(&mut session, target)?;
    match &drafted {
        None => session.switch(target)?,
        Some(drafted) => {
            let id = session.tree().node(target).id().cloned();
            session.branch_with_summary(id.as_ref().map(EntryId::as_str), &drafted.branch_summary())?;
        }
    }
    let written = session.leaf_id().map(EntryId::as_str).unwrap_or_default();
    if args.json {
        return print_line(app, &Move { target, left }.json(&session, Some(written)).finish());
    }
    let mut out = app.ui.text();
    writeln!(out, "now at {}", place(&session, target)?)?;
    if drafted.is_some() {
        let line = format!("{} left behind, summarised in {written}", counted(left, "entry", "entries"));
        writeln!(out, "{}", Painted(DIM, &one_line(&line, 200)))?;
    }
    Ok(out.finish()?)
}

#[derive(Debug, Clone, Copy)]
struct Move {
    target: NodeIx,
    /// How many entries are left behind.
    left: usize,
}

impl Move {
    fn json(&self, session: &Session, written: Option<&str>) -> Object {
        let to = session.tree().node(self.target).id().map(EntryId::as_str);
        Object::new().str_or_null("id", written).str_or_null("to", to).raw("left", self.left)
    }
}

/// What a move would do. Moves only the session in memory.
fn show(app: &App, args: &Args, mut session: Session, there: Move) -> Result<()> {
    let cost = match args.summarize {
        true => summarise::left_behind_cost(app, &session, there.target, &args.model)?,
        false => None,
    };
    if let Some(id) = session.tree().node(there.target).id().cloned() {
        session.branch(id.as_str())?;
    }
    let forecast = next_request::after(app, &session, session.leaf(), 0)?;
    let object = there.json(&session, None);
    if args.json {
        let object = if args.summarize { with_summary_cost(object, cost) } else { object };
        let json = object.raw("forecast", next_request::json(&forecast));
        return print_line(app, &json.finish());
    }
    let mut out = app.ui.text();
    writeln!(out, "would go to {}", place(&session, there.target)?)?;
    let left = format!("{} left behind", counted(there.left, "entry", "entries"));
    let words = match args.summarize {
        true => words_without_summary(&forecast, cost),
        false => forecast.detailed_words(),
    };
    for line in [left, words] {
        writeln!(out, "{}", Painted(DIM, &line))?;
    }
    Ok(out.finish()?)
}

fn print_line(app: &App, json: &str) -> Result<()> {
    let mut out = app.ui.raw();
    writeln!(out, "{json}")?;
    Ok(out.finish()?)
}

/// Names the entry, or the one above it that people see.
pub(crate) fn place(session: &Session, ix: NodeIx) -> Result<String> {
    let tree = session.tree();
    let is_seen = |ix: &NodeIx| !tree.node(*ix).is_leaf_marker() && tree.node(*ix).kind() != Kind::Label;
    let ix = tree.ancestors(ix).find(is_seen).unwrap_or(ix);
    let id = tree.node(ix).id().map_or(Ok("-".to_owned()), |id| lookup::short_id(session, id.as_str()))?;
    let said = words(&session.entry(ix)?).map_or_else(|| entry_text(session, ix), Ok)?;
    Ok(format!("{}  {}", Painted(ID, &one_line(&id, 40)), one_line(&said, 60)))
}
