//! `offshoot undo`: moves the leaf to where it was before the last operation.

use std::io::Write as _;

use offshoot_session::entry::Source as _;
use offshoot_session::error::{Conflict, Error};

use super::switch::place;
use crate::app::{App, quoted};
use crate::error::{CommandError, Result};
use crate::next_request::{self, with_forecast};
use crate::plans;
use crate::ui::style::{DIM, Painted};

/// Go back to before the last operation
///
/// Operations are switch, pop, pick, merge, compact and undo itself: undo twice
/// is redo. Nothing is removed; the session continues from the entry at which it
/// was, and what the operation wrote remains as another branch.
///
/// Labels, names and settings written since are no obstacle. A message is:
/// then nothing happens (exit code 5), and a hint names the `switch` that goes
/// back all the same. Sessions without a recorded operation have nothing to
/// undo, which is not an error.
///
/// --json prints {"operation", "from", "to", "id"}, or null if there is nothing
/// to undo. `to` is null before the first entry; `id` is the entry that was
/// written, null with --dry-run. With --dry-run there is "forecast", as `switch`
/// prints it.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// Show what would be undone, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot undo latest
  offshoot undo latest --dry-run";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let mut session = if args.dry_run { app.open(&args.session)? } else { app.open_to_write(&args.session)? };
    let Some(plan) = session.plan_undo().map_err(|error| refused(args, error))? else {
        return nothing(app, args);
    };
    let id = if args.dry_run {
        None
    } else {
        app.upgrade(&mut session)?;
        session.undo(&plan)?
    };
    let forecast = args.dry_run.then(|| next_request::after(app, &session, plan.target, 0)).transpose()?;
    if args.json {
        let mut out = app.ui.raw();
        let object = with_forecast(plans::undo(session.tree(), &plan, id.as_ref()), forecast.as_ref());
        writeln!(out, "{}", object.finish())?;
        return Ok(out.finish()?);
    }
    let what = plan.operation.with_article();
    let shown = plan.target.and_then(|to| session.tree().skip_leaf_markers(to));
    let to = shown.map_or_else(|| Ok("the beginning of the session".to_owned()), |to| place(&session, to))?;
    let mut out = app.ui.text();
    match args.dry_run {
        true => writeln!(out, "would undo {what} and go to {to}")?,
        false => writeln!(out, "undid {what}; now at {to}")?,
    }
    if let Some(forecast) = forecast {
        writeln!(out, "{}", Painted(DIM, &forecast.detailed_words()))?;
    }
    out.finish()?;
    if !args.dry_run {
        app.ui.hint(&format!("`offshoot undo {}` again is redo", quoted(&args.session)));
    }
    Ok(())
}

fn nothing(app: &App, args: &Args) -> Result<()> {
    if !args.json {
        return app.ui.nothing_to_do("there is nothing to undo");
    }
    let mut out = app.ui.raw();
    writeln!(out, "null")?;
    Ok(out.finish()?)
}

/// Names the command that goes back although something was said.
fn refused(args: &Args, error: Error) -> CommandError {
    let before = match &error {
        Error::Conflict { why: Conflict::SaidSince { before, .. }, .. } => before.clone(),
        _ => None,
    };
    let error = CommandError::from(error);
    match before {
        Some(before) => {
            error.hint(format!("`offshoot switch {} {before}` goes back all the same", quoted(&args.session)))
        }
        None => error,
    }
}
