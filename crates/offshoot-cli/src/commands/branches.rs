//! `offshoot branches`: every branch with its counts and cost.

use std::io::Write as _;

use offshoot_session::clock::to_iso;
use offshoot_session::entry::Source as _;
use offshoot_session::facts::Totals;
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::session::Session;
use offshoot_session::stats::{Branch, branches};
use offshoot_session::text::one_line;
use offshoot_session::tree::NodeIx;
use offshoot_tui::text::in_short;

use crate::app::App;
use crate::error::Result;
use crate::ui::columns::{Align, Column, Table};
use crate::ui::style::{BOLD, DIM, ID, LABEL, MARK, PLAIN};
use crate::ui::when;

/// List the branches of a session, with their sizes and costs
///
/// A branch is the path from the root to a leaf. `›` marks the open one. Of
/// entries, tokens and cost the first number is what only this branch holds,
/// the second its whole path. Tokens and cost are those that providers
/// reported. The newest branch comes first; `switch` goes to one.
///
/// --json prints an array, one element for each branch, in file order:
///
///   [{"leafId", "isOpen", "label", "lastWords", "time", "forksFrom",
///     "entries", "messages", "tokens", "cost",
///     "own": {"entries", "messages", "tokens", "cost"}}]
///
/// `forksFrom` is the last entry that other branches share; it, `label` and
/// `time` may be null.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot branches latest
  offshoot branches latest --json | jq 'map(.own.cost) | add'";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let session = app.open(&args.session)?;
    let branches = branches(&session, session.leaf())?;
    if args.json {
        let mut out = app.ui.raw();
        let objects: Vec<String> = branches.iter().map(|branch| json(&session, branch)).collect();
        writeln!(out, "[{}]", objects.join(",\n"))?;
        return Ok(out.finish()?);
    }
    table(app, &session, branches)?;
    app.report(&session, &args.session);
    Ok(())
}

fn id(session: &Session, ix: NodeIx) -> Option<&EntryId> {
    session.tree().node(ix).id()
}

fn json(session: &Session, branch: &Branch) -> String {
    let forks_from = branch.forks_from.and_then(|ix| id(session, ix));
    let object = Object::new()
        .str_or_null("leafId", id(session, branch.leaf).map(EntryId::as_str))
        .raw("isOpen", branch.is_open)
        .str_or_null("label", branch.label.as_deref())
        .str("lastWords", &branch.last_words)
        .str_or_null("time", branch.time.map(to_iso).as_deref())
        .str_or_null("forksFrom", forks_from.map(EntryId::as_str));
    totals(object, &branch.whole).raw("own", totals(Object::new(), &branch.own).finish()).finish()
}

fn totals(object: Object, totals: &Totals) -> Object {
    object
        .raw("entries", totals.entries)
        .raw("messages", totals.messages)
        .raw("tokens", totals.tokens)
        .raw("cost", totals.cost)
}

fn table(app: &App, session: &Session, mut branches: Vec<Branch>) -> Result<()> {
    branches.sort_by_key(|branch| std::cmp::Reverse(branch.time));
    let mut table = Table::new(vec![
        Column::new(" ", Align::Left, MARK),
        Column::new("LEAF", Align::Left, ID),
        Column::new("WHEN", Align::Right, DIM),
        Column::new("ENTRIES", Align::Right, PLAIN),
        Column::new("TOKENS", Align::Right, PLAIN),
        Column::new("COST", Align::Right, PLAIN),
        Column::new("LABEL", Align::Left, LABEL).cut_to(16),
        Column::new("LAST WORDS", Align::Left, PLAIN).last(),
    ]);
    let has_cost = branches.iter().any(|branch| branch.whole.cost > 0.0);
    let has_tokens = branches.iter().any(|branch| branch.whole.tokens > 0);
    for branch in &branches {
        let (own, whole) = (&branch.own, &branch.whole);
        let tokens = format!("{}/{}", in_short(own.tokens), in_short(whole.tokens));
        let cost = format!("${:.2}/{:.2}", own.cost, whole.cost);
        let cells = vec![
            if branch.is_open { "›" } else { " " }.to_owned(),
            id(session, branch.leaf).map_or("-".to_owned(), |id| one_line(id.as_str(), 40)),
            branch.time.map_or("?".to_owned(), |time| when::ago(time, app.now())),
            format!("{}/{}", own.entries, whole.entries),
            Some(tokens).filter(|_| has_tokens).unwrap_or_default(),
            Some(cost).filter(|_| has_cost).unwrap_or_default(),
            branch.label.as_ref().map(|label| one_line(label, 80)).unwrap_or_default(),
            branch.last_words.clone(),
        ];
        table.row(cells, if branch.is_open { BOLD } else { PLAIN });
    }
    let mut out = app.ui.paged();
    table.write(&mut out, app.ui.width)?;
    out.finish()?;
    if branches.is_empty() {
        app.ui.note("the session is empty");
    }
    Ok(())
}
