//! `offshoot pick`: copies entries of another branch or session to the current one.

use std::io::Write as _;

use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::kind::Role;
use offshoot_session::outline::entry_text;
use offshoot_session::pick::{LeftOut, PickOptions, PickPlan, PickRequest};
use offshoot_session::session::{Brought, Session};
use offshoot_session::stats::words;
use offshoot_session::text::{counted, one_line};
use offshoot_session::tree::NodeIx;

use super::switch::place;
use crate::app::{App, quoted};
use crate::error::{CommandError, Result};
use crate::next_request::{self, sizes, with_forecast};
use crate::ui::columns::{Align, Column, Table};
use crate::ui::style::{DIM, MARK, PLAIN, Painted};
use crate::{bring_back, select};
use offshoot_workspace::Selecting;

/// Copy entries of another branch, or of another session, to the end of this one
///
/// SELECTION is ENTRY, or A..B: what comes after A, up to B, on the path of B.
/// Without A it begins where B and the current branch part, without B it ends at
/// the last entry. The copies go below the current entry or, with --onto, below
/// ENTRY. Nothing is removed, so `undo` takes a pick back.
///
/// A tool call and its results stay together: what is missing of them comes
/// along. Entries that the model sees here already are skipped, unless --again.
/// Compactions, settings, state of extensions and labels are left out; options
/// take the last three along. The model of here stays. Tokens and cost of a copy
/// count where they were spent.
///
/// Copies bring words, not files: a notice lists files that are not as the
/// copied calls left them.
///
/// --json prints {"ontoId", "copies": [{"entryId", "type", "role", "tokens",
/// "added", "gone"}], "leftOut": [{"entryId", "reason", "message"}],
/// "alreadyHere": [{"entryId", "hereId"}], "restatedModel", "tokens",
/// "tokensBefore", "bytes", "imagesWrittenOut", "readFiles", "modifiedFiles",
/// "operationId", "entryIds"}. The last two are null with --dry-run, and if
/// there is nothing to pick. With --dry-run there is "forecast", as `switch`
/// prints it.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES, visible_alias = "cherry-pick")]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// ENTRY or A..B
    #[arg(required_unless_present = "turn")]
    selection: Vec<String>,

    /// The user's message at or above ENTRY, and all up to the next one
    #[arg(long, value_name = "ENTRY")]
    turn: Vec<String>,

    /// Below which entry the copies go; without it below the current one
    #[arg(long, value_name = "ENTRY")]
    onto: Option<String>,

    /// The session that has the entries; without it this one
    #[arg(long, value_name = "OTHER")]
    from: Option<String>,

    /// Copy also what is here already
    #[arg(long)]
    again: bool,

    /// Take models, thinking levels and other settings along
    #[arg(long)]
    settings: bool,

    /// Take state of extensions along
    #[arg(long)]
    state: bool,

    /// Put the labels of the entries on the copies
    #[arg(long)]
    labels: bool,

    /// Pick also what does not fit into the window of the model
    #[arg(long)]
    force: bool,

    /// Show what would be written and left out, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot pick latest 1a2b3c4d
  offshoot pick latest ..1a2b3c4d --dry-run          # all that the branch has and this one lacks
  offshoot pick latest --turn 1a2b3c4d --onto @-
  offshoot pick latest .. --from 0198c2aa            # all of another session";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let mut session = if args.dry_run { app.open(&args.session)? } else { app.open_to_write(&args.session)? };
    let other = args.from.as_ref().map(|from| app.open(from)).transpose()?;
    let other = other.as_ref().filter(|other| other.id() != session.id());
    let onto = args.onto.as_ref().map(|onto| select::entry_to_write(app, &session, onto)).transpose()?;
    let onto = onto.or(session.leaf());
    let find = |given: &str| select::entry_to_write(app, other.unwrap_or(&session), given);
    let selecting = Selecting { here: &session, from: other, onto, find: &find };
    let given = args.selection.iter().map(|given| selecting.entries(given));
    let selections: Vec<_> = given.chain(args.turn.iter().map(|turn| selecting.turn(turn))).collect::<Result<_>>()?;
    let options = PickOptions { again: args.again, settings: args.settings, state: args.state, labels: args.labels };
    let request = PickRequest { from: other.map(Session::pick_end), selections: &selections, onto, options };
    let planned = session.plan_pick(&request)?;
    if !args.force {
        bring_back::refuse_too_big(app, &session, planned.plan.before, planned.plan.tokens)?;
    }
    let table = if args.json { None } else { Some(table(&session, other, &planned.plan)?) };
    let brought = if args.dry_run { None } else { session.pick(&planned)? };
    let forecast = args.dry_run.then(|| next_request::after(app, &session, planned.plan.onto, planned.plan.tokens));
    let forecast = forecast.transpose()?;
    if args.json {
        let mut out = app.ui.raw();
        let object = with_forecast(json(&session, &planned.plan, brought.as_ref()), forecast.as_ref());
        writeln!(out, "{}", object.finish())?;
        return Ok(out.finish()?);
    }
    if planned.plan.is_empty() {
        let why =
            if planned.plan.already.is_empty() { "the selection has no messages" } else { "all of it is here already" };
        return app.ui.nothing_to_do(why);
    }
    let mut out = app.ui.paged();
    table.iter().try_for_each(|table| table.write(&mut out, app.ui.width))?;
    writeln!(out, "\n{}", told(&session, &planned.plan, args.dry_run)?)?;
    if let Some(forecast) = forecast {
        writeln!(out, "{}", Painted(DIM, &forecast.detailed_words()))?;
    }
    out.finish()?;
    bring_back::report_files(app, &session, &planned.plan.files);
    if brought.is_some() {
        app.ui.hint(&format!("`offshoot undo {}` takes it back", quoted(&args.session)));
    }
    Ok(())
}

fn told(session: &Session, plan: &PickPlan, is_dry: bool) -> Result<String> {
    let count = counted(plan.copies.len(), "entry", "entries");
    let before = plan.before.messages;
    let size = sizes(before, before + plan.tokens);
    let onto = plan.onto.map_or_else(
        || Ok("as the first entry".to_owned()),
        |onto| Ok::<_, CommandError>(format!("below {}", place(session, onto)?)),
    )?;
    let verb = if is_dry { "would pick" } else { "picked" };
    let mut lines = vec![format!("{verb} {count} {onto}"), Painted(DIM, &size).to_string()];
    lines.extend(plan.restated.as_ref().map(|model| format!("the model stays {}", one_line(model, 80))));
    if plan.images > 0 {
        let images = counted(plan.images, "entry", "entries");
        lines.push(format!("the pictures of {images} are written into the session, as pi keeps them"));
    }
    Ok(lines.join("\n"))
}

/// What is copied, what is here, and what is left out.
fn table(session: &Session, other: Option<&Session>, plan: &PickPlan) -> Result<Table> {
    let from = other.unwrap_or(session);
    let mut table = Table::new(vec![
        Column::new(" ", Align::Left, MARK),
        Column::new("ENTRY", Align::Left, DIM),
        Column::new("ROLE", Align::Left, PLAIN),
        Column::new("TOKENS", Align::Right, DIM),
        Column::new("WORDS", Align::Left, PLAIN).last(),
    ]);
    let said = |ix: NodeIx| -> Result<String> {
        Ok(one_line(&words(&from.entry(ix)?).map_or_else(|| entry_text(from, ix), Ok)?, 100))
    };
    let short = |id: &EntryId| select::short_id(from, id.as_str());
    for copy in &plan.copies {
        let what = match (copy.gone, copy.is_added) {
            (Some(_), _) => "back",
            (None, true) => "with it",
            (None, false) => "pick",
        };
        let role = copy.role.and_then(Role::word).or(copy.kind.word()).unwrap_or("?");
        let cells = [what.to_owned(), short(&copy.id)?, role.to_owned(), copy.tokens.to_string(), said(copy.ix)?];
        table.row(cells, PLAIN);
    }
    for (id, here) in &plan.already {
        let why = if id == here { "here already".to_owned() } else { format!("here already, as {here}") };
        table.row(["here".to_owned(), short(id)?, String::new(), String::new(), one_line(&why, 80)], DIM);
    }
    for (id, why) in &plan.left_out {
        let id = if from.tree().find(id.as_str()).is_some() { short(id)? } else { one_line(id.as_str(), 40) };
        table.row(["left out".to_owned(), id, String::new(), String::new(), reason(*why)], DIM);
    }
    Ok(table)
}

fn reason(why: LeftOut) -> String {
    let option = match why {
        LeftOut::Setting => ": --settings takes it along",
        LeftOut::State => ": --state takes it along",
        LeftOut::Label => ": --labels puts it on the copy",
        _ => "",
    };
    format!("{}{option}", why.text())
}

fn json(session: &Session, plan: &PickPlan, brought: Option<&Brought>) -> Object {
    let onto = plan.onto.and_then(|onto| session.tree().node(onto).id()).map(EntryId::as_str);
    bring_back::with_ids(plan.to_json(onto), brought)
}
