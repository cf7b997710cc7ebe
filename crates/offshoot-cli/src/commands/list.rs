//! `offshoot list`: lists sessions.

use std::io::Write as _;

use offshoot_session::list::SessionInfo;
use offshoot_session::store::{DirStore, Flavour, Scope};
use offshoot_session::text::one_line;

use crate::app::App;
use crate::error::Result;
use crate::ui::columns::{Align, Column, Table};
use crate::ui::style::{BOLD, DIM, ID, MARK, PLAIN};
use crate::ui::when;

/// List the sessions of this folder, newest activity first
///
/// Sessions of offshoot, pi and oh-my-pi are listed together; those of pi and
/// oh-my-pi are marked. The id is shown as far as it takes to name the session.
/// A session without a name shows the first words that were said.
///
/// --json prints an array of pi's `SessionInfo`:
///
///   [{"path", "id", "cwd", "name"?, "parentSessionPath"?, "created",
///     "modified", "messageCount", "firstMessage", "allMessagesText"?}]
///
/// Times are ISO 8601 in UTC, or null. `messageCount` counts the messages of
/// all branches and all roles. `allMessagesText` is there with --text.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES, visible_alias = "ls")]
pub(crate) struct Args {
    /// List the sessions of every folder
    #[arg(long)]
    all: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// With --json: add everything that was said, for searching
    #[arg(long, requires = "json")]
    text: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot list
  offshoot list --all
  offshoot list --all --json | jq -r '.[] | select(.messageCount > 100) | .path'";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let store = app.store()?;
    let cwd = app.cwd();
    let scope = Scope { cwd: Some(cwd.as_str()).filter(|_| !args.all), with_text: args.text };
    let mut progress = app.ui.progress("reading sessions");
    let (sessions, diagnostics) = app.list(&store, scope, &mut |done, total| progress.at(done, total))?;
    drop(progress);
    if args.json {
        json(app, &sessions)?;
    } else {
        table(app, &store, args, &sessions)?;
        if sessions.is_empty() {
            say_nothing_is_there(app, args, &cwd);
        }
    }
    app.report_all(&diagnostics, "FILE");
    Ok(())
}

fn json(app: &App, sessions: &[SessionInfo]) -> Result<()> {
    let mut out = app.ui.raw();
    out.write_all(b"[")?;
    for (at, info) in sessions.iter().enumerate() {
        let comma = if at > 0 { ",\n" } else { "" };
        write!(out, "{comma}{}", info.to_json())?;
    }
    out.write_all(b"]\n")?;
    Ok(out.finish()?)
}

fn table(app: &App, store: &DirStore, args: &Args, sessions: &[SessionInfo]) -> Result<()> {
    let marks: Vec<&str> = sessions.iter().map(|info| mark(app, store, info)).collect();
    let ids = short_ids(sessions);
    let mut table = Table::new(vec![
        Column::new("WHEN", Align::Right, DIM),
        Column::new("ID", Align::Left, ID),
        Column::new("OF", Align::Left, MARK),
        Column::new("MESSAGES", Align::Right, PLAIN),
        Column::new("FOLDER", Align::Left, DIM).cut_to(28),
        Column::new("SESSION", Align::Left, PLAIN).last(),
    ]);
    for ((info, mark), id) in sessions.iter().zip(marks).zip(ids) {
        let folder = if args.all { one_line(&app.environment.short(&info.cwd), 200) } else { String::new() };
        let name = info.name.as_deref().map(|name| one_line(name, 200));
        let style = if name.is_some() { BOLD } else { PLAIN };
        let said = name.unwrap_or_else(|| one_line(&info.first_message, 200));
        let when = info.modified.map_or_else(|| "?".to_owned(), |time| when::ago(time, app.now()));
        let cells = [when, id, mark.to_owned(), info.message_count.to_string(), folder, said];
        table.row(cells, style);
    }
    let mut out = app.ui.paged();
    table.write(&mut out, app.ui.width)?;
    Ok(out.finish()?)
}

/// The program whose session it is; empty for offshoot's own.
fn mark(app: &App, store: &DirStore, info: &SessionInfo) -> &'static str {
    match store.root_of(&info.path).map(|root| root.flavour) {
        Some(Flavour::Pi) => "pi",
        Some(Flavour::Omp) => "omp",
        Some(Flavour::Flat) if app.session_dir.is_none() => "pi",
        Some(Flavour::Flat | Flavour::Offshoot) | None => "",
    }
}

/// Shortens each id to a unique start of at least 8 characters.
fn short_ids(sessions: &[SessionInfo]) -> Vec<String> {
    let mut sorted: Vec<&str> = sessions.iter().map(|info| info.id.as_str()).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let shared = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let needed = |id: &str| {
        let at = sorted.binary_search(&id).unwrap_or_default();
        let before = at.checked_sub(1).and_then(|at| sorted.get(at)).map_or(0, |other| shared(id, other));
        let after = sorted.get(at + 1).map_or(0, |other| shared(id, other));
        before.max(after) + 1
    };
    let short = |id: &str| id.chars().take(needed(id).max(8)).collect::<String>();
    sessions.iter().map(|info| one_line(&short(&info.id), 40)).collect()
}

fn say_nothing_is_there(app: &App, args: &Args, cwd: &str) {
    if args.all {
        app.ui.note("there are no sessions yet");
        return;
    }
    app.ui.note(&format!("there are no sessions of {} yet", app.environment.short(cwd)));
    app.ui.hint("`offshoot list --all` shows those of every folder");
}
