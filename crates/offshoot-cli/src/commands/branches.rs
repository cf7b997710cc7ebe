//! `offshoot branches`: every branch with its counts and cost.

use std::io::Write as _;

use offshoot_session::clock::to_iso;
use offshoot_session::entry::Source as _;
use offshoot_session::entry_name::short_ids;
use offshoot_session::facts::Totals;
use offshoot_session::id::{EntryId, ShortIds};
use offshoot_session::json::Object;
use offshoot_session::merge::{MergeProgress, progress};
use offshoot_session::session::Session;
use offshoot_session::stats::{Branch, branches, totals};
use offshoot_session::text::{dollars, in_short, one_line};
use offshoot_session::tree::NodeIx;
use offshoot_tui::markdown::plain_row;

use crate::app::App;
use crate::error::Result;
use crate::select::SessionToRead;
use crate::transcript::in_words;
use crate::ui::columns::{Align, Column, Table};
use crate::ui::style::{BOLD, DIM, LABEL, MARK, PLAIN, Painted};
use crate::ui::when;

/// List the branches of a session, with their sizes and costs
///
/// A branch is the path from the first entry to one that nothing follows. `›`
/// marks the current branch. Of entries, tokens and cost the first number
/// counts what only this branch has, the second its whole path. The last line
/// counts every entry of the session once. Tokens and cost are those that
/// providers reported. The newest branch comes first; `switch` goes to one.
/// MERGED says which branches `merge` or `pick` brought to the current one, and
/// how many messages they have since.
///
/// --json prints an array, one element for each branch, in file order:
///
///   [{"leafId", "isOpen", "label", "lastWords", "time", "forksFrom",
///     "merged", "unmergedMessages", "entries", "messages", "tokens", "cost",
///     "own": {"entries", "messages", "tokens", "cost"}}]
///
/// `isOpen` is true for the current branch. `forksFrom` is the last entry that
/// other branches share; it, `label` and `time` may be null. `merged` is "no",
/// "partly" or "all".
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    session: SessionToRead,

    /// Only branches with messages that the current one lacks
    #[arg(long)]
    unmerged: bool,

    /// Leave out the column of ids
    #[arg(long, conflicts_with = "json")]
    no_ids: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot branches latest
  offshoot branches latest --unmerged     # what `merge` would still bring
  offshoot branches latest --json | jq 'map(.own.cost) | add'";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let session = args.session.open(app)?;
    let is_wanted = |(_, progress): &ListedBranch| !args.unmerged || progress.lacking > 0;
    let branches: Vec<ListedBranch> = listed(&session)?.into_iter().filter(is_wanted).collect();
    if branches.is_empty() && args.unmerged && !args.json {
        return app.ui.nothing_to_do("no branch has messages that this one lacks");
    }
    if args.json {
        let mut out = app.ui.raw();
        let objects: Vec<String> = branches.iter().map(|branch| json(&session, branch)).collect();
        writeln!(out, "[{}]", objects.join(",\n"))?;
        return Ok(out.finish()?);
    }
    let leaves = branches.iter().map(|(branch, _)| branch.leaf);
    let ids = if args.no_ids { None } else { Some(short_ids(session.tree(), leaves)?) };
    table(app, &session, branches, ids.as_ref())?;
    app.report(&session, args.session.name(&session));
    Ok(())
}

type ListedBranch = (Branch, MergeProgress);

fn listed(session: &Session) -> Result<Vec<ListedBranch>> {
    let branches = branches(session, session.leaf())?;
    let leaves: Vec<NodeIx> = branches.iter().map(|branch| branch.leaf).collect();
    let progress = progress(session.pick_end(), &leaves)?;
    Ok(branches.into_iter().zip(progress).collect())
}

/// All branches, as `branches --json` prints them.
pub(crate) fn all_as_json(session: &Session) -> Result<String> {
    let objects: Vec<String> = listed(session)?.iter().map(|branch| json(session, branch)).collect();
    Ok(format!("[{}]", objects.join(",")))
}

fn id(session: &Session, ix: NodeIx) -> Option<&EntryId> {
    session.tree().node(ix).id()
}

fn json(session: &Session, (branch, progress): &ListedBranch) -> String {
    let forks_from = branch.forks_from.and_then(|ix| id(session, ix));
    let object = Object::new()
        .str_or_null("leafId", id(session, branch.leaf).map(EntryId::as_str))
        .raw("isOpen", branch.is_open)
        .str_or_null("label", branch.label.as_deref())
        .str("lastWords", &branch.last_words)
        .str_or_null("time", branch.time.map(to_iso).as_deref())
        .str_or_null("forksFrom", forks_from.map(EntryId::as_str))
        .str("merged", progress.word())
        .raw("unmergedMessages", progress.lacking);
    sums(object, &branch.whole).raw("own", sums(Object::new(), &branch.own).finish()).finish()
}

fn sums(object: Object, totals: &Totals) -> Object {
    object
        .raw("entries", totals.entries)
        .raw("messages", totals.messages)
        .raw("tokens", totals.tokens)
        .raw("cost", totals.cost)
}

fn merged(branch: &Branch, progress: MergeProgress) -> String {
    match (branch.is_open || !progress.is_begun, progress.lacking) {
        (true, _) => String::new(),
        (false, 0) => "all".to_owned(),
        (false, lacking) => format!("partly, {lacking} since"),
    }
}

fn table(app: &App, session: &Session, mut branches: Vec<ListedBranch>, ids: Option<&ShortIds<'_>>) -> Result<()> {
    branches.sort_by_key(|(branch, _)| std::cmp::Reverse(branch.time));
    let mut table = Table::new(vec![
        Column::new(" ", Align::Left, MARK),
        Column::new("LEAF", Align::Left, DIM),
        Column::new("WHEN", Align::Right, DIM),
        Column::new("ENTRIES", Align::Right, PLAIN).leaves(2),
        Column::new("TOKENS", Align::Right, PLAIN).leaves(1),
        Column::new("COST", Align::Right, PLAIN).leaves(3),
        Column::new("MERGED", Align::Left, PLAIN).leaves(4),
        Column::new("LABEL", Align::Left, LABEL).cut_to(16),
        Column::new("LAST WORDS", Align::Left, PLAIN).last(),
    ]);
    let has_cost = branches.iter().any(|(branch, _)| branch.whole.cost > 0.0);
    let has_tokens = branches.iter().any(|(branch, _)| branch.whole.tokens > 0);
    for (branch, progress) in &branches {
        let (own, whole) = (&branch.own, &branch.whole);
        let tokens = format!("{}/{}", in_short(own.tokens), in_short(whole.tokens));
        let cost = format!("{}/{}", dollars(own.cost), dollars(whole.cost).trim_start_matches('$'));
        let cells = vec![
            if branch.is_open { "›" } else { " " }.to_owned(),
            ids.map_or(String::new(), |ids| {
                id(session, branch.leaf).map_or("-".to_owned(), |id| one_line(ids.get(id.as_str()), 40))
            }),
            branch.time.map_or("?".to_owned(), |time| when::ago(time, app.now())),
            format!("{}/{}", own.entries, whole.entries),
            Some(tokens).filter(|_| has_tokens).unwrap_or_default(),
            Some(cost).filter(|_| has_cost).unwrap_or_default(),
            merged(branch, *progress),
            branch.label.as_ref().map(|label| one_line(label, 80)).unwrap_or_default(),
            plain_row(&branch.last_words),
        ];
        table.row(cells, if branch.is_open { BOLD } else { PLAIN });
    }
    let mut out = app.ui.paged();
    table.write(&mut out, app.ui.width)?;
    if !branches.is_empty() {
        writeln!(out, "{}", Painted(DIM, &format!("the whole session: {}", in_words(&totals(session)?))))?;
    }
    out.finish()?;
    if branches.is_empty() {
        app.ui.note("the session is empty");
    }
    Ok(())
}
