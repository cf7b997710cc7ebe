//! `offshoot tree`: draws a session's tree, or prints it flat or as JSON.

mod flat;

use std::io::Write as _;

use clap::builder::PossibleValuesParser;
use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_app::lookup;
use offshoot_app::ui::columns::cut;
use offshoot_app::ui::style::{ASSISTANT, BOLD, DIM, LABEL, MARK, PLAIN, Painted, USER};
use offshoot_session::entry::Source as _;
use offshoot_session::entry_name::short_ids;
use offshoot_session::id::ShortIds;
use offshoot_session::outline::{Filter, Folds, Outline, OutlineRow, OutlineScope, OutlineSetup, Sums, TreeLayout};
use offshoot_session::records;
use offshoot_session::session::{Abridged, Session};
use offshoot_session::text::one_line;
use offshoot_settings::Settings;
use offshoot_tui::markdown::plain_row;
use unicode_width::UnicodeWidthStr as _;

use crate::select::SessionToRead;

/// The minimum width of a row's text on a narrow screen.
const LEAST: usize = 20;
/// The rows of the screen needed besides the tree: its last line and the shell's prompt.
const AROUND: usize = 2;

/// Show the tree of a session
///
/// The current branch runs straight down; its entries are marked with `•`, the
/// entry where the session continues with `›`, labels with [text]. Every other
/// branch hangs below the entry that it leaves, folded to one row (`⊞`) with
/// its size, cost, age and last words. Successive tool calls share a row. The
/// first column is the shortest start of the entry's id that is unique, with
/// at least four characters.
///
/// If the whole tree fits the terminal, or with --open, branches are open.
///
/// --layout pi draws what pi and omp draw: each branch point moves everything
/// below it to the right. The setting `treeLayout` chooses the default.
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
/// with every entry exactly as it is in the file (old versions upgraded).
/// An entry whose line is damaged inside is shown as
///
///   {"type", "id", "parentId", "timestamp": null, "damage": {"offset", "message"}}
///
/// `offset` counts bytes from the beginning of the line.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    session: SessionToRead,

    /// Draw the tree as if the session continued at this entry
    #[arg(long, value_name = "ENTRY", conflicts_with_all = ["flat", "json"])]
    at: Option<String>,

    /// Which entries to show
    #[arg(long, value_name = "FILTER", value_parser = PossibleValuesParser::new(Filter::NAMES.map(|(name, _)| name)))]
    filter: Option<String>,

    /// Open all branches and runs of tool calls
    #[arg(long)]
    open: bool,

    /// How to draw the tree
    #[arg(long, value_name = "LAYOUT", value_parser = PossibleValuesParser::new(TreeLayout::NAMES.map(|(name, _)| name)))]
    layout: Option<String>,

    /// Leave out the column of ids
    #[arg(long, conflicts_with_all = ["flat", "json"])]
    no_ids: bool,

    /// Print one entry per line, for deep trees and for scripts
    #[arg(long, conflicts_with_all = ["open", "layout"])]
    flat: bool,

    /// Print JSON
    #[arg(long, conflicts_with_all = ["flat", "filter", "open", "layout"])]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot tree latest
  offshoot tree latest --filter user-only
  offshoot tree latest --open
  offshoot tree latest --at 1a2b
  offshoot tree session.jsonl --flat | wc -l";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let session = args.session.open(app)?;
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
    let chosen = args.layout.as_deref().and_then(TreeLayout::parse);
    let layout = chosen.unwrap_or_else(|| layout_of_settings(app, &session));
    let home = app.environment.home.as_ref().map(|home| home.to_string_lossy());
    let setup =
        OutlineSetup { layout, filter: filter.unwrap_or_default(), home: home.as_deref(), plain: Some(plain_row) };
    let leaf = match &args.at {
        Some(given) => Some(lookup::entry(app, &session, given)?),
        None => session.leaf(),
    };
    let shown = Abridged::new(&session);
    let mut outline = Outline::new(&shown, leaf, setup)?;
    if args.open {
        let folds = Folds::everything_open();
        outline.arrange(
            session.tree(),
            OutlineScope { filter: setup.filter, folds: Some(&folds), ..OutlineScope::default() },
        );
    } else if let Some(height) = app.ui.height {
        outline.open_if_it_fits(session.tree(), height.saturating_sub(AROUND));
    }
    let rows = (0..outline.len()).filter_map(|at| outline.entry(at));
    let ids = if args.no_ids { None } else { Some(short_ids(session.tree(), rows)?) };
    draw(app, &shown, &outline, ids.as_ref())?;
    app.report(&session, args.session.name(&session));
    Ok(())
}

/// An invalid settings file does not prevent drawing.
fn layout_of_settings(app: &App, session: &Session) -> TreeLayout {
    let layers = app.settings_files(&app.folder_of(session)).load();
    layers.map(|(layers, _)| Settings::from(&layers).tree_layout).unwrap_or_default()
}

fn draw(app: &App, session: &Abridged<'_>, outline: &Outline, ids: Option<&ShortIds<'_>>) -> Result<()> {
    let mut out = app.ui.paged();
    let sums = match outline.layout() {
        TreeLayout::Trunk => Some(Sums::new(session, outline)?),
        TreeLayout::Pi => None,
    };
    let id_width = ids.map_or(0, ShortIds::longest);
    for (at, row) in outline.rows(session).enumerate() {
        let row = row?;
        let id = ids.map(|ids| {
            let id = session.tree().node(row.ix).id().map_or("", |id| ids.get(id.as_str()));
            format!("{:id_width$} ", one_line(id, usize::MAX))
        });
        let mut drawn = DrawnRow { row: &row, id: id.unwrap_or_default(), note: String::new(), room: None };
        drawn.room = app.ui.width.map(|width| width.saturating_sub(drawn.used()).max(LEAST));
        if let Some(note) = sums.as_ref().and_then(|sums| sums.note(session, outline, at).transpose()) {
            let fitted = note?.fit(row.text.width(), drawn.room, app.now());
            (drawn.room, drawn.note) = (Some(fitted.words), fitted.note);
        }
        drawn.write(&mut out)?;
    }
    writeln!(out, "  {}", Painted(DIM, &outline.footer()))?;
    Ok(out.finish()?)
}

/// [`OutlineRow::line`] with colours, cut to the screen, between the command's columns.
struct DrawnRow<'a> {
    row: &'a OutlineRow,
    /// With the blank after it; empty without ids.
    id: String,
    note: String,
    room: Option<usize>,
}

impl DrawnRow<'_> {
    fn parts(&self) -> (&'static str, &'static str, String) {
        let cursor = if self.row.is_selected { "› " } else { "  " };
        let bullet = if self.row.is_on_path { "• " } else { "" };
        (cursor, bullet, self.row.label.as_ref().map(|label| format!("[{label}] ")).unwrap_or_default())
    }

    /// The columns before the text.
    fn used(&self) -> usize {
        let (cursor, bullet, label) = self.parts();
        [&self.id, cursor, &self.row.prefix, bullet, &label].iter().map(|part| part.width()).sum()
    }

    fn write(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        let (cursor, bullet, label) = self.parts();
        let text = match self.room {
            Some(room) => cut(&self.row.text, room),
            None => self.row.text.as_str().into(),
        };
        let (who, said) = match text.split_once(": ") {
            Some((who @ ("user" | "assistant"), _)) => text.split_at(who.len()),
            _ => ("", text.as_ref()),
        };
        let who_style = if who == "user" { USER } else { ASSISTANT };
        let said_style = match said {
            _ if self.row.is_selected => BOLD,
            _ if said.starts_with("[compaction: ") || said.starts_with("[branch summary]") => MARK,
            _ if said.starts_with('[') => DIM,
            _ => PLAIN,
        };
        write!(
            out,
            "{}{cursor}{}{bullet}{}",
            Painted(DIM, &self.id),
            Painted(DIM, &self.row.prefix),
            Painted(LABEL, &label)
        )?;
        write!(out, "{}{}", Painted(who_style, who), Painted(said_style, said))?;
        writeln!(out, "{}", Painted(DIM, &self.note))
    }
}
