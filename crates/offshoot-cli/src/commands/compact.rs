//! `offshoot compact`: replaces the older part of a session's context with a summary.

use std::io::Write;

use offshoot_app::app::{App, quoted};
use offshoot_app::error::Result;
use offshoot_app::lookup;
use offshoot_app::models::ModelArgs;
use offshoot_app::ui::columns::{Align, Column, Table};
use offshoot_app::ui::style::{BOLD, DIM, ID, MARK, PLAIN, Painted};
use offshoot_app::{next_request, summarise};
use offshoot_session::compact::report::{Finding, Report, report};
use offshoot_session::compact::{CompactionPlan, Planned, PlannedMessage, Settings, plan};
use offshoot_session::entry::Source as _;
use offshoot_session::entry_name::short_ids;
use offshoot_session::id::ShortIds;
use offshoot_session::session::Session;
use offshoot_session::stats::words;
use offshoot_session::text::{counted, one_line};

use offshoot_workspace::{sizes, with_forecast, with_summary_cost, words_without_summary};

use crate::plans;

/// Summarise the older part of a session to shorten its context
///
/// The newest messages stay word for word: about --keep-recent-tokens tokens,
/// else the number in settings.json, else 20000. A summary replaces everything
/// before them in the context. Nothing is deleted: the summary is one more
/// entry, and you can go back to the entries before it. The cut is where pi
/// would cut. Entries with the label `pin` stay word for word, inside the
/// summary.
///
/// Afterwards a report lists paths, addresses, identifiers, numbers and rules
/// that the summary dropped. The model is --model, else the session's, else
/// the one of settings.json. Without a model, or if it fails, offshoot extracts
/// the summary by rules, and the new entry says so.
///
/// --dry-run changes nothing: it shows what would be summarised and what would
/// stay, the first and last messages of each part, and what the next request and
/// the summary would cost. -v shows all messages.
///
/// --undo takes the newest compaction of the branch back, also later: the session
/// continues before it, with copies of everything that was said since. It prints
/// what `pick` does with --json, and takes --dry-run.
///
/// --json prints the plan, or `null` if there is nothing to compact:
///
///   {"firstKeptEntryId", "isSplitTurn", "turnStartEntryId", "tokensBefore",
///    "messageTokensBefore", "tokensKept", "previousCompactionId", "previousSummary",
///    "messagesToSummarize": [{"entryId", "role", "tokens"}],
///    "turnPrefixMessages": [...], "keptMessages": [...], "pinned": [ids],
///    "readFiles", "modifiedFiles", "conversation", "turnPrefixConversation",
///    "settings": {"enabled", "reserveTokens", "keepRecentTokens"}}
///
/// With --dry-run it has more members, where null is not known:
///
///   "forecast": {"contextTokens", "messageTokens", "overheadTokens",
///                "cachedTokens", "freshTokens", "cacheExpiresInMs",
///                "costNow", "costLater"},
///   "summaryCost"
///
/// Without --dry-run it has others:
///
///   "id", "summary", "details", "estimatedTokensAfter",
///   "report": {"rules": {"said", "missing", "listed": [{"text", "times"}]},
///              "paths", "addresses", "identifiers", "numbers"}
///
/// `id` is that of the new entry. Each part of the report has the members of
/// `rules`. Costs are in US dollars.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    session: String,

    /// What the summary should pay attention to
    instructions: Option<String>,

    /// Only show what would be summarised and what would stay
    #[arg(long)]
    dry_run: bool,

    /// With --dry-run: show every message
    #[arg(short, long, requires = "dry_run", conflicts_with = "json")]
    verbose: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Take the newest compaction back
    #[arg(long, conflicts_with_all = ["instructions", "keep_recent_tokens", "verbose", "model", "provider", "thinking"])]
    undo: bool,

    /// With --undo: also if the result does not fit into the model's window
    #[arg(long, requires = "undo")]
    force: bool,

    /// How many tokens of the newest messages to keep
    #[arg(long, value_name = "N")]
    keep_recent_tokens: Option<u64>,

    #[command(flatten)]
    model: ModelArgs,
}

const EXAMPLES: &str = "\
Examples:
  offshoot compact latest --dry-run
  offshoot compact latest --keep-recent-tokens 5000
  offshoot compact latest 'what was decided' --model haiku:low
  offshoot compact latest --undo            # as if it had not been compacted
  offshoot label latest 1a2b3c4d pin        # keeps that entry word for word";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let mut session = if args.dry_run { app.open(&args.session)? } else { app.open_to_write(&args.session)? };
    let user = summarise::compaction_settings(app, &session, &args.model)?;
    let keep_recent_tokens = args.keep_recent_tokens.unwrap_or(user.keep_recent_tokens);
    let settings = Settings { keep_recent_tokens, ..user };
    let plan = match plan(&session, session.leaf(), session.dialect(), &settings)? {
        Planned::Cut(plan) => plan,
        Planned::AlreadyCompacted => return nothing_to_do(app, args, "nothing was said since the last compaction"),
        Planned::TooSmall => {
            nothing_to_do(app, args, "everything is recent enough to be kept")?;
            app.ui.hint(&format!("--keep-recent-tokens N keeps less than {keep_recent_tokens} tokens"));
            return Ok(());
        }
    };
    match (args.dry_run, args.json) {
        (true, true) => {
            let object = plans::compaction(session.tree(), &plan);
            let forecast = next_request::after_compaction(app, &session, plan.tokens_kept())?;
            let cost = summary_cost(app, args, &session, &plan)?;
            let object = with_summary_cost(with_forecast(object, Some(&forecast)), cost);
            let mut out = app.ui.raw();
            writeln!(out, "{}", object.finish())?;
            Ok(out.finish()?)
        }
        (true, false) => preview(app, args, &session, &plan),
        (false, _) => compact(app, args, &mut session, &plan),
    }
}

fn summary_cost(app: &App, args: &Args, session: &Session, plan: &CompactionPlan) -> Result<Option<f64>> {
    summarise::compaction_cost(app, session, plan, args.instructions.as_deref(), &args.model)
}

fn nothing_to_do(app: &App, args: &Args, why: &str) -> Result<()> {
    if !args.json {
        return app.ui.nothing_to_do(why);
    }
    let mut out = app.ui.raw();
    writeln!(out, "null")?;
    Ok(out.finish()?)
}

fn compact(app: &App, args: &Args, session: &mut Session, plan: &CompactionPlan) -> Result<()> {
    let drafted = summarise::compaction(app, session, plan, args.instructions.as_deref(), &args.model)?;
    let report = report(plan, &drafted.text);
    app.upgrade(session)?;
    let id = session.append(&plan.entry(&drafted, session.dialect()))?;
    if args.json {
        let object = plans::compaction(session.tree(), plan)
            .str("id", id.as_str())
            .str("summary", &drafted.text)
            .raw("details", &drafted.details)
            .raw("estimatedTokensAfter", plan.tokens_after(&drafted.text))
            .raw("report", report.to_json());
        let mut out = app.ui.raw();
        writeln!(out, "{}", object.finish())?;
        return Ok(out.finish()?);
    }
    let mut out = app.ui.text();
    let after = plan.tokens_after(&drafted.text);
    writeln!(out, "compacted in {}: {}", Painted(ID, id.as_str()), sizes(plan.before.messages, after))?;
    writeln!(out, "{}", counts(session, plan)?)?;
    print_report(&mut out, &report)?;
    out.finish()?;
    app.ui.hint(&format!("`offshoot entry {} {id}` shows the summary", quoted(&args.session)));
    Ok(())
}

fn counts(session: &Session, plan: &CompactionPlan) -> Result<String> {
    let went = counted(plan.dropped().count(), "message", "messages");
    let split = if plan.is_split() { ", among them the beginning of a turn whose end stays" } else { "" };
    let pinned = match plan.pinned.len() {
        0 => String::new(),
        count => format!("; {} pinned", counted(count, "entry is", "entries are")),
    };
    let first_kept = lookup::short_id(session, plan.first_kept_id.as_str())?;
    Ok(format!("{went} summarised{split}; {} kept from {first_kept}{pinned}", plan.kept.len()))
}

/// Prints what the summary dropped.
fn print_report(out: &mut dyn Write, report: &Report) -> Result<()> {
    if report.is_clean() {
        writeln!(out, "the summary lacks no rule, path, address, identifier or number of what went")?;
        return Ok(());
    }
    writeln!(out, "\nthe summary lacks, of what went:")?;
    for finding in report.findings.iter().filter(|finding| finding.missing > 0) {
        let Finding { sort, said, missing, listed } = finding;
        writeln!(out, "  {}", Painted(BOLD, &format!("{missing} of {said} {}", sort.noun(*said))))?;
        for one in listed {
            let times = if one.times > 1 { format!("  ({} times)", one.times) } else { String::new() };
            writeln!(out, "    {}{}", one_line(&one.text, 200), Painted(DIM, &times))?;
        }
        if *missing > listed.len() {
            writeln!(out, "    {}", Painted(DIM, &format!("and {} more", missing - listed.len())))?;
        }
    }
    Ok(())
}

/// Longer parts show their first and last [`ENDS`] messages, so that a preview fits a screen.
const SHOWN: usize = 5;
const ENDS: usize = 2;

fn preview(app: &App, args: &Args, session: &Session, plan: &CompactionPlan) -> Result<()> {
    let mut table = Table::new(vec![
        Column::new(" ", Align::Left, MARK),
        Column::new("ENTRY", Align::Left, DIM),
        Column::new("ROLE", Align::Left, PLAIN),
        Column::new("TOKENS", Align::Right, DIM),
        Column::new("WORDS", Align::Left, PLAIN).last(),
    ]);
    let parts = [("goes", &plan.history), ("goes (turn)", &plan.turn_prefix), ("stays", &plan.kept)];
    let entries = parts.iter().flat_map(|(_, messages)| messages.iter().map(|said| said.ix));
    let ids = short_ids(session.tree(), entries)?;
    let mut hidden = 0;
    for (what, messages) in parts {
        let is_cut = messages.len() > SHOWN && !args.verbose;
        for (at, said) in messages.iter().enumerate() {
            if is_cut && at == ENDS {
                let rest = &messages[ENDS..messages.len() - ENDS];
                let tokens: u64 = rest.iter().map(|said| said.tokens).sum();
                let count = format!("… {} more messages", rest.len());
                table.row([what.to_owned(), "…".to_owned(), String::new(), tokens.to_string(), count], DIM);
                hidden += rest.len();
            }
            if !is_cut || at < ENDS || at >= messages.len() - ENDS {
                table.row(row(session, plan, what, said, &ids)?, PLAIN);
            }
        }
    }
    let mut out = app.ui.paged();
    table.write(&mut out, app.ui.width)?;
    writeln!(out, "\n{}", counts(session, plan)?)?;
    let kept = plan.tokens_kept();
    writeln!(out, "{}, and the summary", sizes(plan.before.messages, kept))?;
    let forecast = next_request::after_compaction(app, session, kept)?;
    let words = words_without_summary(&forecast, summary_cost(app, args, session, plan)?);
    writeln!(out, "{}", Painted(DIM, &words))?;
    out.finish()?;
    if hidden > 0 {
        app.ui.hint("-v shows every message");
    }
    Ok(())
}

fn row(
    session: &Session,
    plan: &CompactionPlan,
    what: &str,
    said: &PlannedMessage,
    ids: &ShortIds<'_>,
) -> Result<Vec<String>> {
    let is_pinned = plan.pinned.iter().any(|pinned| pinned.ix == said.ix);
    let what = if is_pinned { "pinned" } else { what };
    let id = session.tree().node(said.ix).id().map_or("-", |id| ids.get(id.as_str()));
    let spoken = said.parts.first().map(|part| one_line(&part.text, 100));
    let words = words(&session.entry(said.ix)?).or(spoken).unwrap_or_default();
    let role = said.role.word().unwrap_or("?");
    Ok(vec![what.to_owned(), one_line(id, 40), role.to_owned(), said.tokens.to_string(), words])
}
