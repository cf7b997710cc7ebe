//! `offshoot tree`: a session's entries and branches, drawn, flat, or as JSON.

mod flat;

use std::io::Write as _;

use clap::builder::PossibleValuesParser;
use offshoot_session::outline::{Filter, Outline, OutlineRow};
use offshoot_session::session::Session;
use unicode_width::UnicodeWidthStr as _;

use crate::app::App;
use crate::error::Result;
use crate::records;
use crate::ui::columns::cut;
use crate::ui::style::{ASSISTANT, BOLD, DIM, LABEL, MARK, PLAIN, Painted, USER};

/// What a row's text gets on a narrow screen all the same.
const LEAST: usize = 20;

/// Show the tree of a session
///
/// A conversation runs straight down; where it branches, the branches stand
/// side by side, the open one first. `•` marks the entries of the open branch,
/// `›` the place where the session goes on, [text] a label.
///
/// --flat prints one entry per line, parents first, from depth 0:
///
///   DEPTH ID TYPE [ROLE] [LABEL]
///
/// It shows every entry unless --filter is given, and filters by type alone.
///
/// --json prints what pi's `getTree` gives, an array of roots:
///
///   [{"entry", "children": [...], "label"?, "labelTimestamp"?}]
///
/// with every entry exactly as it stands in the file (old versions upgraded).
/// In place of one whose line is damaged inside stands
///
///   {"type", "id", "parentId", "timestamp", "damage": "what is wrong"}
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Path, id, unique start of an id, name, or `latest`
    session: String,

    /// Which entries to show
    #[arg(long, value_name = "FILTER", value_parser = PossibleValuesParser::new(Filter::NAMES.map(|(name, _)| name)))]
    filter: Option<String>,

    /// Print one entry per line, for deep trees and for scripts
    #[arg(long)]
    flat: bool,

    /// Print JSON
    #[arg(long, conflicts_with_all = ["flat", "filter"])]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot tree latest
  offshoot tree latest --filter user-only
  offshoot tree session.jsonl --flat | wc -l";

/// Shows a tree.
pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let session = app.open(&args.session)?;
    let filter = args.filter.as_deref().and_then(Filter::parse);
    if args.json {
        let mut out = app.ui.raw();
        records::write_tree(&mut out, &session)?;
        out.write_all(b"\n")?;
        return Ok(out.finish()?);
    }
    if args.flat {
        let mut out = app.ui.raw();
        flat::write(&session, filter.unwrap_or(Filter::All), &mut out)?;
        return Ok(out.finish()?);
    }
    draw(app, &session, filter.unwrap_or_default())?;
    app.report(&session, &args.session);
    Ok(())
}

fn draw(app: &App, session: &Session, filter: Filter) -> Result<()> {
    let home = app.environment.home.as_ref().map(|home| home.to_string_lossy());
    let outline = Outline::with_home(session, session.leaf(), filter, home.as_deref())?;
    let mut out = app.ui.paged();
    for row in outline.rows(session) {
        draw_row(&mut out, &row?, app.ui.width)?;
    }
    writeln!(out, "  {}", Painted(DIM, &outline.footer()))?;
    Ok(out.finish()?)
}

/// What [`OutlineRow::line`] says, with colours, cut to the screen.
fn draw_row(out: &mut dyn std::io::Write, row: &OutlineRow, screen: Option<usize>) -> std::io::Result<()> {
    let cursor = if row.is_selected { "› " } else { "  " };
    let bullet = if row.is_on_path { "• " } else { "" };
    let label = row.label.as_ref().map(|label| format!("[{label}] ")).unwrap_or_default();
    let used = [cursor, &row.prefix, bullet, &label].iter().map(|part| part.width()).sum::<usize>();
    let text = match screen {
        Some(screen) => cut(&row.text, screen.saturating_sub(used).max(LEAST)),
        None => row.text.as_str().into(),
    };
    let (who, said) = match text.split_once(": ") {
        Some((who @ ("user" | "assistant"), _)) => text.split_at(who.len()),
        _ => ("", text.as_ref()),
    };
    let who_style = if who == "user" { USER } else { ASSISTANT };
    let said_style = match said {
        _ if row.is_selected => BOLD,
        _ if said.starts_with("[compaction: ") || said.starts_with("[branch summary]") => MARK,
        _ if said.starts_with('[') => DIM,
        _ => PLAIN,
    };
    write!(out, "{cursor}{}{bullet}{}", Painted(DIM, &row.prefix), Painted(LABEL, &label))?;
    writeln!(out, "{}{}", Painted(who_style, who), Painted(said_style, said))
}
