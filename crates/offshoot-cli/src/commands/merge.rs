//! `offshoot merge`: brings what a branch has to the current one, as a summary or as copies.

use std::io::Write as _;

use clap::builder::NonEmptyStringValueParser;
use offshoot_agent::forecast::RequestForecast;
use offshoot_app::app::{App, quoted};
use offshoot_app::error::Result;
use offshoot_app::lookup;
use offshoot_app::models::ModelArgs;
use offshoot_app::next_request;
use offshoot_app::ui::style::{DIM, Painted};
use offshoot_session::branch_summary::Instructions;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::merge::{MergePlan, MergeRequest};
use offshoot_session::pick::{PickOptions, PickRequest};
use offshoot_session::session::{PlannedMerge, Session};
use offshoot_session::summariser::Drafted;
use offshoot_session::text::counted;
use offshoot_session::tokens::estimate_summary;
use offshoot_session::tree::NodeIx;

use super::switch::place;
use offshoot_workspace::{with_brought, with_forecast, with_summary_cost, words_without_summary};

use crate::{bring_back, summarise};

/// Bring what another branch has to the end of this one, as a summary
///
/// SOURCE is an entry of the branch: what it has up to there and this branch
/// lacks is summarised. The summary goes below the current entry or, with
/// --onto, below ENTRY, so the model knows what was tried there and what was
/// found. A later merge of the same branch brings only what is new since. What
/// was picked from it is not summarised again. `undo` takes a merge back.
///
/// Without --summary a model writes it: --model, else the session's, else the
/// one of settings.json. Without a model offshoot extracts the summary from the
/// messages. --entries copies the entries instead, as `pick` does.
///
/// --json prints {"ontoId", "merged": {"base", "tip"}, "entries", "alreadyHere",
/// "isRepeated", "tokens", "tokensBefore", "leftOut", "readFiles",
/// "modifiedFiles", "id", "summary"}. The last two are null with --dry-run, and if
/// nothing is new. With --entries it prints what `pick` does. With --dry-run
/// there is "forecast", as `switch` prints it, and "summaryCost" in US dollars,
/// null if no model would write the summary.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// An id or its unique start, a label, or a time such as 2h
    source: String,

    /// Below which entry the summary goes; without it below the current one
    #[arg(long, value_name = "ENTRY")]
    onto: Option<String>,

    /// The session that has the branch; without it this one
    #[arg(long, value_name = "OTHER")]
    from: Option<String>,

    /// The summary, in your words
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    summary: Option<String>,

    /// Have the summary written (this is the default)
    #[arg(long, conflicts_with = "summary")]
    summarize: bool,

    /// Copy the entries instead of a summary
    #[arg(long, conflicts_with_all = ["summary", "summarize", "instructions"])]
    entries: bool,

    /// What the summary should say
    #[arg(long, value_name = "TEXT", conflicts_with = "summary")]
    instructions: Option<String>,

    /// Merge also what does not fit into the window of the model
    #[arg(long)]
    force: bool,

    /// Show what would be merged, and write nothing
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
  offshoot merge latest 1a2b3c4d --dry-run
  offshoot merge latest 1a2b3c4d --summary 'the regex crate cannot be loaded here'
  offshoot merge latest 1a2b3c4d --entries";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    if args.summary.is_some() || args.entries {
        args.model.refuse("no model writes a summary")?;
    }
    let mut session = if args.dry_run { app.open(&args.session)? } else { app.open_to_write(&args.session)? };
    let other = args.from.as_ref().map(|from| app.open(from)).transpose()?;
    let other = other.as_ref().filter(|other| other.id() != session.id());
    let onto = args.onto.as_ref().map(|onto| lookup::entry_to_write(app, &session, onto)).transpose()?;
    let onto = onto.or(session.leaf());
    let tip = lookup::entry_to_write(app, other.unwrap_or(&session), &args.source)?;
    let request = MergeRequest { from: other.map(Session::pick_end), tip, onto, budget: 0 };
    let planned = session.plan_merge(&request)?;
    if args.entries {
        return entries(app, args, &mut session, other, &planned.plan);
    }
    if planned.plan.is_empty() || args.dry_run {
        let cost = summary_cost(app, args, &session, request)?;
        return report(app, args, &session, other, (&planned.plan, Outcome::Planned { cost }));
    }
    let drafted = match &args.summary {
        Some(text) => planned.plan.in_words(text),
        None => written(app, args, &session, other, request)?,
    };
    if !args.force {
        bring_back::refuse_too_big(app, &session, planned.plan.before, estimate_summary(&drafted.text))?;
    }
    app.upgrade(&mut session)?;
    let id = session.merge(&planned, &drafted)?;
    report(app, args, &session, other, (&planned.plan, Outcome::Merged { id: &id, drafted: &drafted }))
}

enum Outcome<'a> {
    /// With the cost of the summary, in US dollars.
    Planned {
        cost: Option<f64>,
    },
    Merged {
        id: &'a EntryId,
        drafted: &'a Drafted,
    },
}

/// What a model's summary would cost, for dry runs.
fn summary_cost(app: &App, args: &Args, session: &Session, request: MergeRequest<'_>) -> Result<Option<f64>> {
    if !args.dry_run || args.summary.is_some() {
        return Ok(None);
    }
    let plan = |budget| Ok(session.plan_merge(&MergeRequest { budget, ..request })?.plan.summary);
    summarise::branch_cost(app, session, &plan, &args.model)
}

fn written(
    app: &App,
    args: &Args,
    session: &Session,
    other: Option<&Session>,
    request: MergeRequest<'_>,
) -> Result<Drafted> {
    let instructions = args.instructions.as_deref().map_or(Instructions::Plain, Instructions::Focus);
    let plan = |budget: u64| -> offshoot_session::error::Result<_> {
        let planned: PlannedMerge = session.plan_merge(&MergeRequest { budget, ..request })?;
        Ok(planned.plan.summary)
    };
    summarise::branch(app, session, other.unwrap_or(session), (&plan, instructions), &args.model)
}

/// `--entries`: the same as a pick.
fn entries(app: &App, args: &Args, session: &mut Session, other: Option<&Session>, plan: &MergePlan) -> Result<()> {
    let selections = [plan.entries.clone()];
    let options = PickOptions::default();
    let request = PickRequest { from: other.map(Session::pick_end), selections: &selections, onto: plan.onto, options };
    let planned = session.plan_pick(&request)?.as_merge();
    if !args.force {
        bring_back::refuse_too_big(app, session, planned.plan.before, planned.plan.tokens)?;
    }
    let brought = if args.dry_run { None } else { session.pick(&planned)? };
    let forecast = args.dry_run.then(|| next_request::after(app, session, planned.plan.onto, planned.plan.tokens));
    let forecast = forecast.transpose()?;
    if args.json {
        let mut out = app.ui.raw();
        let onto = plan.onto.and_then(|onto| session.tree().node(onto).id()).map(EntryId::as_str);
        let object = with_brought(planned.plan.to_json(onto), brought.as_ref());
        writeln!(out, "{}", with_forecast(object, forecast.as_ref()).finish())?;
        return Ok(out.finish()?);
    }
    if planned.plan.is_empty() {
        return app.ui.nothing_to_do("nothing new on that branch");
    }
    let mut out = app.ui.text();
    let count = counted(planned.plan.copies.len(), "entry", "entries");
    let verb = if args.dry_run { "would copy" } else { "copied" };
    writeln!(out, "{verb} {count}, about {}", counted(planned.plan.tokens, "token", "tokens"))?;
    if let Some(forecast) = forecast {
        writeln!(out, "{}", Painted(DIM, &forecast.detailed_words()))?;
    }
    out.finish()?;
    bring_back::report_files(app, session, &planned.plan.files);
    undo_hint(app, args, brought.is_some());
    Ok(())
}

/// What the next request would cost, for dry runs. With --summary TEXT it contains that.
fn forecast(app: &App, args: &Args, session: &Session, plan: &MergePlan) -> Result<Option<RequestForecast>> {
    let more = args.summary.as_deref().map_or(0, estimate_summary);
    args.dry_run.then(|| next_request::after(app, session, plan.onto, more)).transpose()
}

fn undo_hint(app: &App, args: &Args, is_written: bool) {
    if is_written {
        app.ui.hint(&format!("`offshoot undo {}` takes it back", quoted(&args.session)));
    }
}

fn report(
    app: &App,
    args: &Args,
    session: &Session,
    other: Option<&Session>,
    (plan, outcome): (&MergePlan, Outcome<'_>),
) -> Result<()> {
    let from = other.unwrap_or(session);
    let (merged, cost) = match outcome {
        Outcome::Planned { cost } => (None, cost),
        Outcome::Merged { id, drafted } => (Some((id, drafted)), None),
    };
    if args.json {
        let onto = plan.onto.and_then(|onto| session.tree().node(onto).id()).map(EntryId::as_str);
        let object = plan.to_json(from, onto);
        let object = object.str_or_null("id", merged.map(|(id, _)| id.as_str()));
        let object = object.str_or_null("summary", merged.map(|(_, drafted)| drafted.text.as_str()));
        let object = with_forecast(object, forecast(app, args, session, plan)?.as_ref());
        let object = if args.dry_run { with_summary_cost(object, cost) } else { object };
        let mut out = app.ui.raw();
        writeln!(out, "{}", object.finish())?;
        return Ok(out.finish()?);
    }
    if plan.is_empty() {
        return app.ui.nothing_to_do("nothing new on that branch");
    }
    let shown = |ix: Option<NodeIx>| -> Result<String> {
        ix.map_or_else(|| Ok("the beginning".to_owned()), |ix| place(from, ix))
    };
    let count = counted(plan.entries.len(), "entry", "entries");
    let mut out = app.ui.text();
    match merged {
        Some((id, _)) => writeln!(out, "merged {count} as a summary in {id}")?,
        None => {
            let tokens = counted(plan.summary.tokens, "token", "tokens");
            writeln!(out, "would merge {count}, about {tokens} to summarise")?;
        }
    }
    let since = if plan.is_repeated { "since the last merge at" } else { "after" };
    let base = plan.merged.base.as_ref().and_then(|base| from.tree().find(base.as_str()));
    writeln!(out, "{} {}", Painted(DIM, since), shown(base)?)?;
    if plan.already > 0 {
        writeln!(
            out,
            "{}",
            Painted(DIM, &format!("{} here already", counted(plan.already, "entry is", "entries are")))
        )?;
    }
    if let Some(forecast) = forecast(app, args, session, plan)? {
        let words = match &args.summary {
            Some(_) => forecast.detailed_words(),
            None => words_without_summary(&forecast, cost),
        };
        writeln!(out, "{}", Painted(DIM, &words))?;
    }
    out.finish()?;
    if merged.is_some() {
        bring_back::report_files(app, session, &plan.summary.files);
    }
    undo_hint(app, args, merged.is_some());
    Ok(())
}
