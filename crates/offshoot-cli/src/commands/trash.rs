//! `offshoot trash`: deletes a session so that it can be restored.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::ui::columns::{Align, Column, Table};
use offshoot_app::ui::style::{BOLD, DIM, ID, PLAIN, Painted};
use offshoot_session::clock::{Millis, to_iso};
use offshoot_session::json::Object;
use offshoot_session::list::{SessionInfo, session_info};
use offshoot_session::medium::FileMedium;
use offshoot_session::text::one_line;

use crate::trash::{Trash, Trashed};
use offshoot_workspace::when;

/// Move sessions to the trash, or restore one
///
/// The files move to the folder `trash` of the data folder and stay there. If
/// an argument does not match exactly one session, nothing is moved.
///
/// --restore moves a session back to its place, never over another file. Give
/// its id, a unique start of the id, its name or its old path. Without SESSION
/// it restores the session that was trashed last.
///
/// --json prints an array, with --list the session trashed last first:
///
///   [{"id", "name"?, "firstMessage", "path", "trashed", "file"}]
///
/// `path` is where the session came from, `file` where it is now: null with
/// --dry-run, and after --restore.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Paths, ids or their unique starts or ends, names, or `latest`
    #[arg(value_name = "SESSION", required_unless_present_any = ["list", "restore"], conflicts_with = "list")]
    sessions: Vec<String>,

    /// List what is in the trash
    #[arg(long, conflicts_with = "restore")]
    list: bool,

    /// Restore a session
    #[arg(long)]
    restore: bool,

    /// Show what would be moved, and move nothing
    #[arg(long, conflicts_with = "list")]
    dry_run: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot trash 0198c2
  offshoot trash 'my refactoring' 'the one I miss'
  offshoot trash --list
  offshoot trash --restore";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let trash = Trash::of(app)?;
    match args.sessions.as_slice() {
        _ if args.list => list(app, &trash, args),
        [] => restore(app, args, &trash, None),
        [given] if args.restore => restore(app, args, &trash, Some(given)),
        _ if args.restore => Err(CommandError::usage("--restore brings back one session")),
        several => throw(app, args, &trash, several),
    }
}

fn throw(app: &App, args: &Args, trash: &Trash, given: &[String]) -> Result<()> {
    let mut files: Vec<PathBuf> = Vec::new();
    for given in given {
        let file = app.file_to_write(given)?;
        if !files.contains(&file) {
            files.push(file);
        }
    }
    let mut rows = Vec::new();
    for file in &files {
        let (now, verb) = (app.now(), if args.dry_run { "would go to the trash:" } else { "in the trash:" });
        let trashed = if args.dry_run { None } else { Some(trash.put(file, now)?) };
        let moved = trashed.as_ref().map(|trashed| trashed.file.as_path());
        let info = info(moved.unwrap_or(file));
        if args.json {
            rows.push(json(
                info.as_ref(),
                &TrashRow { path: file, trashed: trashed.as_ref().map(|_| now), file: moved },
            ));
        } else {
            say(app, verb, info.as_ref())?;
        }
    }
    if args.json {
        return print_rows(app, &rows);
    }
    if args.dry_run {
        return Ok(());
    }
    app.ui.hint(match files.len() {
        1 => "`offshoot trash --restore` brings it back",
        _ => "`offshoot trash --restore` brings back the last one; with the id, another one",
    });
    Ok(())
}

fn restore(app: &App, args: &Args, trash: &Trash, given: Option<&str>) -> Result<()> {
    let trashed = find(trash.list()?, given)?;
    let info = info(&trashed.file);
    let file = args.dry_run.then_some(trashed.file.as_path());
    let row = json(info.as_ref(), &TrashRow { path: &trashed.origin, trashed: Some(trashed.at), file });
    if !args.dry_run {
        trashed.clone().restore()?;
    }
    if args.json {
        return print_rows(app, &[row]);
    }
    let verb = if args.dry_run { "would be brought back:" } else { "brought back:" };
    say(app, verb, info.as_ref())?;
    let mut out = app.ui.text();
    writeln!(out, "{}", Painted(DIM, &path(app, &trashed.origin)))?;
    Ok(out.finish()?)
}

/// The matching session; of several that match equally, the most recently deleted.
fn find(all: Vec<Trashed>, given: Option<&str>) -> Result<Trashed> {
    let nothing = |message: String| {
        CommandError::new(FailureKind::NotFound, message).hint("`offshoot trash --list` shows what is in the trash")
    };
    let Some(given) = given else {
        return all.into_iter().next().ok_or_else(|| CommandError::new(FailureKind::NotFound, "the trash is empty"));
    };
    let fits = |trashed: &Trashed, is_whole: bool| {
        let info = info(&trashed.file);
        let by_id = info.as_ref().is_some_and(|info| info.id == given || (!is_whole && info.id.starts_with(given)));
        by_id || info.and_then(|info| info.name).as_deref() == Some(given) || trashed.origin == Path::new(given)
    };
    if let Some(whole) = all.iter().find(|trashed| fits(trashed, true)) {
        return Ok(whole.clone());
    }
    let mut fitting: Vec<Trashed> = all.into_iter().filter(|trashed| fits(trashed, false)).collect();
    let mut ids: Vec<String> = fitting.iter().filter_map(|trashed| info(&trashed.file)).map(|info| info.id).collect();
    ids.sort();
    ids.dedup();
    if ids.len() > 1 {
        let ids = ids.join(", ");
        return Err(
            CommandError::usage(format!("{given:?} fits several in the trash: {ids}")).hint("give more of the id")
        );
    }
    if fitting.is_empty() {
        return Err(nothing(format!("nothing in the trash fits {given:?}")));
    }
    Ok(fitting.remove(0))
}

fn list(app: &App, trash: &Trash, args: &Args) -> Result<()> {
    let all: Vec<(Trashed, Option<SessionInfo>)> = trash
        .list()?
        .into_iter()
        .map(|trashed| {
            let info = info(&trashed.file);
            (trashed, info)
        })
        .collect();
    if args.json {
        let row = |trashed: &Trashed, info: Option<&SessionInfo>| {
            json(info, &TrashRow { path: &trashed.origin, trashed: Some(trashed.at), file: Some(&trashed.file) })
        };
        return print_rows(app, &all.iter().map(|(trashed, info)| row(trashed, info.as_ref())).collect::<Vec<_>>());
    }
    let mut table = Table::new(vec![
        Column::new("WHEN", Align::Right, DIM),
        Column::new("ID", Align::Left, ID),
        Column::new("SESSION", Align::Left, PLAIN).cut_to(40),
        Column::new("FROM", Align::Left, DIM).last(),
    ]);
    for (trashed, info) in &all {
        let id = info.as_ref().map_or_else(|| "?".to_owned(), |info| one_line(&info.id, 40));
        let said = info.as_ref().map_or_else(String::new, words);
        let style = if info.as_ref().is_some_and(|info| info.name.is_some()) { BOLD } else { PLAIN };
        table.row([when::ago(trashed.at, app.now()), id, said, path(app, &trashed.origin)], style);
    }
    let mut out = app.ui.paged();
    table.write(&mut out, app.ui.width)?;
    out.finish()?;
    if all.is_empty() {
        app.ui.note("the trash is empty");
    }
    Ok(())
}

/// Where a session was, since when it is in the trash, and its file there.
struct TrashRow<'a> {
    path: &'a Path,
    trashed: Option<Millis>,
    file: Option<&'a Path>,
}

fn print_rows(app: &App, rows: &[String]) -> Result<()> {
    let mut out = app.ui.raw();
    writeln!(out, "[{}]", rows.join(",\n"))?;
    Ok(out.finish()?)
}

fn json(info: Option<&SessionInfo>, row: &TrashRow<'_>) -> String {
    Object::new()
        .str_or_null("id", info.map(|info| info.id.as_str()))
        .opt_str("name", info.and_then(|info| info.name.as_deref()))
        .str_or_null("firstMessage", info.map(|info| info.first_message.as_str()))
        .str("path", &row.path.to_string_lossy())
        .str_or_null("trashed", row.trashed.map(to_iso).as_deref())
        .str_or_null("file", row.file.map(Path::to_string_lossy).as_deref())
        .finish()
}

fn say(app: &App, what: &str, info: Option<&SessionInfo>) -> Result<()> {
    let name = info.map_or_else(String::new, words);
    let mut out = app.ui.text();
    writeln!(out, "{what} {}", Painted(BOLD, &name))?;
    Ok(out.finish()?)
}

/// The list row of a session in the trash; `None` if it cannot be read.
fn info(file: &Path) -> Option<SessionInfo> {
    session_info(&FileMedium::open(file).ok()?, None, false).ok()
}

fn words(info: &SessionInfo) -> String {
    one_line(info.name.as_deref().unwrap_or(&info.first_message), 200)
}

fn path(app: &App, path: &Path) -> String {
    one_line(&app.environment.short(&path.to_string_lossy()), 400)
}
