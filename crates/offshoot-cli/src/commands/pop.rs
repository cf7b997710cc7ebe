//! `offshoot pop`: goes back and appends a summary of the abandoned branch.

use std::io::Write as _;

use clap::builder::NonEmptyStringValueParser;
use offshoot_app::app::{App, quoted};
use offshoot_app::error::Result;
use offshoot_app::lookup;
use offshoot_app::models::ModelArgs;
use offshoot_app::ui::style::{DIM, Painted};
use offshoot_app::{next_request, summarise};
use offshoot_session::compose::NewBranchSummary;
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Error, Invalid};
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::session::Session;
use offshoot_session::text::{counted, one_line};
use offshoot_session::tokens::estimate_summary;
use offshoot_session::tree::NodeIx;

use super::switch::place;
use offshoot_workspace::{Access, with_forecast, with_summary_cost, words_without_summary};

/// Go back, with a summary of what is left
///
/// Goes back to the last user message that has messages after it, or to ENTRY.
/// Another pop goes one user message further back. The entries after it remain
/// as another branch. A summary of them becomes the next entry, so the model
/// knows what was tried.
///
/// Without --summary a model writes it: --model, else the session's, else the
/// one of settings.json. Without a model offshoot extracts the summary from the
/// messages: goal, requests, files read and changed, errors, last words.
///
/// --json prints {"id", "to", "left", "summary"}: the entry of the summary, the
/// target, the number of entries left behind, and the text; or null if there is
/// nothing to go back to. With --dry-run `id` and `summary` are null, unless
/// --summary gives the text, and there is "forecast", as `switch` prints it, and
/// "summaryCost" in US dollars, null if no model would write the summary.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// An id or its unique start, a label, `@`, `@-`, or a time such as 2h
    entry: Option<String>,

    /// The summary, in your words
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    summary: Option<String>,

    /// Have the summary written (this is the default)
    #[arg(long, conflicts_with = "summary")]
    summarize: bool,

    /// Show where it would go and what the next request would cost, and write nothing
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
  offshoot pop latest
  offshoot pop latest --dry-run
  offshoot pop latest 1a2b3c4d --summary 'the cache was a dead end: invalidation is too hard'";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    if args.summary.is_some() {
        args.model.refuse("without --summary a model writes it")?;
    }
    let mut session = if args.dry_run { app.open(&args.session)? } else { app.open_to_write(&args.session)? };
    let given = args.entry.as_ref().map(|given| lookup::last_entry(app, &session, given, Access::Write)).transpose()?;
    let target = match session.pop_target(given) {
        Ok(target) => target,
        Err(Error::Invalid(Invalid::NothingLeft)) if args.json => return print_json(app, "null"),
        Err(Error::Invalid(why @ Invalid::NothingLeft)) => return app.ui.nothing_to_do(&why.to_string()),
        Err(error) => return Err(error.into()),
    };
    let left = session.abandoned_by(Some(target));
    let left_entries = left.iter().filter(|ix| !session.tree().node(**ix).is_leaf_marker()).count();
    if args.dry_run {
        return show(app, args, &session, (target, left_entries));
    }
    let drafted = match &args.summary {
        Some(_) => None,
        None => Some(summarise::left_behind(app, &session, target, &args.model)?),
    };
    let own = NewBranchSummary { summary: args.summary.as_deref().unwrap_or_default(), ..NewBranchSummary::default() };
    let target = app.upgraded(&mut session, target)?;
    let summary = drafted.as_ref().map_or(own, |drafted| drafted.branch_summary());
    let popped = session.pop(target, &summary)?;
    if args.json {
        let object = json(&session, Some(popped.summary.as_str()), (target, left_entries));
        return print_json(app, &object.str("summary", summary.summary).finish());
    }
    let mut out = app.ui.text();
    writeln!(out, "back at {}", place(&session, target)?)?;
    let left_entries = counted(left_entries, "entry", "entries");
    let line = format!("{left_entries} left behind, summarised in {}", popped.summary);
    writeln!(out, "{}", Painted(DIM, &one_line(&line, 200)))?;
    out.finish()?;
    app.ui.hint(&format!("`offshoot switch {} {}` goes back to what was left", quoted(&args.session), popped.left));
    Ok(())
}

fn json(session: &Session, written: Option<&str>, (target, left): (NodeIx, usize)) -> Object {
    let to = session.tree().node(target).id().map(EntryId::as_str);
    Object::new().str_or_null("id", written).str_or_null("to", to).raw("left", left)
}

fn print_json(app: &App, json: &str) -> Result<()> {
    let mut out = app.ui.raw();
    writeln!(out, "{json}")?;
    Ok(out.finish()?)
}

/// What a pop would do. Only a summary in the person's words is known before it is written.
fn show(app: &App, args: &Args, session: &Session, (target, left): (NodeIx, usize)) -> Result<()> {
    let more = args.summary.as_deref().map_or(0, estimate_summary);
    let forecast = next_request::after(app, session, Some(target), more)?;
    let cost = match args.summary {
        Some(_) => None,
        None => summarise::left_behind_cost(app, session, target, &args.model)?,
    };
    if args.json {
        let object = json(session, None, (target, left)).str_or_null("summary", args.summary.as_deref());
        let object = with_summary_cost(object, cost);
        return print_json(app, &with_forecast(object, Some(&forecast)).finish());
    }
    let mut out = app.ui.text();
    writeln!(out, "would go back to {}", place(session, target)?)?;
    let left = counted(left, "entry", "entries");
    writeln!(out, "{}", Painted(DIM, &format!("{left} left behind, to be summarised")))?;
    let words = match more {
        0 => words_without_summary(&forecast, cost),
        _ => forecast.detailed_words(),
    };
    writeln!(out, "{}", Painted(DIM, &words))?;
    Ok(out.finish()?)
}
