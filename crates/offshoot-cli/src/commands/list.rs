//! `offshoot list`: lists sessions.

use std::cmp::Reverse;
use std::io::Write as _;
use std::path::PathBuf;

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, Result};
use offshoot_app::ui::columns::{Align, Column, Table};
use offshoot_app::ui::style::{BOLD, DIM, ID, MARK, PLAIN};
use offshoot_session::clock::{Millis, Zone};
use offshoot_session::entry_name;
use offshoot_session::id::ShortIds;
use offshoot_session::list::SessionInfo;
use offshoot_session::store::{DirStore, Flavour, Scope};
use offshoot_session::text::{dollars, in_short, one_line};

use offshoot_workspace::when;

/// List the sessions of this folder, newest activity first
///
/// Sessions of offshoot, pi and oh-my-pi are listed together; those of pi and
/// oh-my-pi are marked. The id is the shortest start that is unique, with at
/// least four characters. A session without a name shows its first message.
/// Tokens and cost are what providers reported, summed over all branches. With
/// --all the column of tokens needs a terminal of at least 100 columns.
///
/// --json prints an array of pi's `SessionInfo`, with tokens and cost:
///
///   [{"path", "id", "cwd", "name"?, "parentSessionPath"?, "created",
///     "modified", "messageCount", "firstMessage", "allMessagesText"?,
///     "tokens", "cost"}]
///
/// Times are ISO 8601 in UTC, or null. `messageCount` counts the messages of
/// all branches and all roles. --text adds `allMessagesText`.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// List the sessions of every folder
    #[arg(long)]
    all: bool,

    /// List the sessions of this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    cwd: Option<PathBuf>,

    /// List the sessions of this program only
    #[arg(long, value_name = "PROGRAM", value_enum)]
    agent: Option<Agent>,

    /// List sessions with activity since then: an age such as 2h, 3d, 1w, or a date
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// List the first N sessions only
    #[arg(short = 'n', long, value_name = "N")]
    number: Option<usize>,

    /// Sort by this key, largest or latest first
    #[arg(long, value_name = "KEY", value_enum, default_value_t, hide_default_value = true)]
    sort: SortKey,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// With --json: add the text of all messages, for searching
    #[arg(long, requires = "json")]
    text: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Agent {
    Offshoot,
    Pi,
    Omp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum SortKey {
    #[default]
    Activity,
    Created,
    Messages,
    Tokens,
    Cost,
}

const EXAMPLES: &str = "\
Examples:
  offshoot list
  offshoot list --all
  offshoot list --all --since 1w --sort cost -n 5
  offshoot list --all --json | jq -r '.[] | select(.messageCount > 100) | .path'";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let since = args.since.as_deref().map(|given| since(app, given)).transpose()?;
    let store = app.store()?;
    let here = app.cwd();
    // Ids are unique among the sessions that are looked at, so another folder's are found among all.
    let is_here = !args.all && args.cwd.is_none();
    let scope = Scope { cwd: Some(here.as_str()).filter(|_| is_here), with_text: args.text };
    let mut progress = app.ui.progress("reading sessions");
    let (sessions, diagnostics) = app.list(&store, scope, &mut |done, total| progress.at(done, total))?;
    drop(progress);
    let folder = args.cwd.as_deref().map(|folder| app.absolute(folder));
    let is_of = |info: &SessionInfo, folder: &str| !info.cwd.is_empty() && store.belongs(info, Some(folder));
    let is_wanted = |info: &&SessionInfo| {
        folder.as_deref().is_none_or(|folder| is_of(info, folder))
            && args.agent.is_none_or(|agent| agent == agent_of(app, &store, info))
            && since.is_none_or(|since| info.modified.is_some_and(|time| time >= since))
    };
    let mut wanted: Vec<&SessionInfo> = sessions.iter().filter(is_wanted).collect();
    sort(&mut wanted, args.sort);
    wanted.truncate(args.number.unwrap_or(usize::MAX));
    if args.json {
        json(app, &wanted)?;
    } else {
        let rows = Rows { store: &store, sessions: &wanted, ids: &short_ids(&sessions) };
        table(app, args, &rows)?;
        if wanted.is_empty() {
            say_nothing_is_there(app, args, folder.as_deref().unwrap_or(&here));
        }
    }
    app.report_all(&diagnostics, "FILE");
    Ok(())
}

fn since(app: &App, given: &str) -> Result<Millis> {
    entry_name::time(given, app.now(), &Zone::local()).ok_or_else(|| {
        let error = CommandError::usage(format!("{given:?} is not a time"));
        error.hint("an age is a number with s, m, h, d or w, such as 2h; a date is 2026-01-14 or 2026-01-14T10:00")
    })
}

/// Sessions that are equal in the key stay in the order of their activity.
fn sort(sessions: &mut [&SessionInfo], key: SortKey) {
    match key {
        SortKey::Activity => {}
        SortKey::Created => sessions.sort_by_key(|info| Reverse(info.created)),
        SortKey::Messages => sessions.sort_by_key(|info| Reverse(info.message_count)),
        SortKey::Tokens => sessions.sort_by_key(|info| Reverse(info.tokens)),
        SortKey::Cost => sessions.sort_by(|a, b| b.cost.total_cmp(&a.cost)),
    }
}

fn json(app: &App, sessions: &[&SessionInfo]) -> Result<()> {
    let mut out = app.ui.raw();
    out.write_all(b"[")?;
    for (at, info) in sessions.iter().enumerate() {
        let comma = if at > 0 { ",\n" } else { "" };
        let object = info.to_object().raw("tokens", info.tokens).raw("cost", info.cost);
        write!(out, "{comma}{}", object.finish())?;
    }
    out.write_all(b"]\n")?;
    Ok(out.finish()?)
}

struct Rows<'a> {
    store: &'a DirStore,
    sessions: &'a [&'a SessionInfo],
    ids: &'a ShortIds<'a>,
}

fn table(app: &App, args: &Args, rows: &Rows<'_>) -> Result<()> {
    let mut table = Table::new(vec![
        Column::new("WHEN", Align::Right, DIM),
        Column::new("ID", Align::Left, ID),
        Column::new("OF", Align::Left, MARK),
        Column::new("MESSAGES", Align::Right, PLAIN).leaves(2),
        Column::new("TOKENS", Align::Right, PLAIN).leaves(1),
        Column::new("COST", Align::Right, PLAIN).leaves(3),
        Column::new("FOLDER", Align::Left, DIM).cut_to(28),
        Column::new("SESSION", Align::Left, PLAIN).last(),
    ]);
    for info in rows.sessions {
        let mark = match agent_of(app, rows.store, info) {
            Agent::Offshoot => "",
            Agent::Pi => "pi",
            Agent::Omp => "omp",
        };
        let folder = if args.all { one_line(&app.environment.short(&info.cwd), 200) } else { String::new() };
        let name = info.name.as_deref().map(|name| one_line(name, 200));
        let style = if name.is_some() { BOLD } else { PLAIN };
        table.row(
            [
                info.modified.map_or_else(|| "?".to_owned(), |time| when::ago(time, app.now())),
                one_line(rows.ids.get(&info.id), 40),
                mark.to_owned(),
                info.message_count.to_string(),
                if info.tokens > 0 { in_short(info.tokens) } else { String::new() },
                if info.cost > 0.0 { dollars(info.cost) } else { String::new() },
                folder,
                name.unwrap_or_else(|| one_line(&info.first_message, 200)),
            ],
            style,
        );
    }
    let mut out = app.ui.paged();
    table.write(&mut out, app.ui.width)?;
    Ok(out.finish()?)
}

/// The program whose session it is.
fn agent_of(app: &App, store: &DirStore, info: &SessionInfo) -> Agent {
    match store.root_of(&info.path).map(|root| root.flavour) {
        Some(Flavour::Pi) => Agent::Pi,
        Some(Flavour::Omp) => Agent::Omp,
        Some(Flavour::Flat) if app.session_dir.is_none() => Agent::Pi,
        Some(Flavour::Flat | Flavour::Offshoot) | None => Agent::Offshoot,
    }
}

/// Starts of ids that name their sessions: the end of an id is a name too.
fn short_ids(sessions: &[SessionInfo]) -> ShortIds<'_> {
    let all = || sessions.iter().map(|info| info.id.as_str());
    let mut ids = ShortIds::of(all());
    all().for_each(|id| ids.beside(id));
    let mut backwards: Vec<String> = all().map(|id| id.chars().rev().collect()).collect();
    backwards.sort_unstable();
    ids.avoid(|start| {
        let start: String = start.chars().rev().collect();
        let at = backwards.partition_point(|id| *id < start);
        backwards.get(at).is_some_and(|id| id.starts_with(&start))
    });
    ids
}

fn say_nothing_is_there(app: &App, args: &Args, folder: &str) {
    if let Some(given) = app.session_dir.as_ref().filter(|folder| !folder.is_dir()) {
        app.ui.note(&format!("the folder {} does not exist", given.display()));
        return;
    }
    if args.agent.is_some() || args.since.is_some() || args.number.is_some() {
        app.ui.note("no session matches these options");
        return;
    }
    if args.all {
        app.ui.note("there are no sessions yet");
        return;
    }
    app.ui.note(&format!("there are no sessions of {} yet", app.environment.short(folder)));
    app.ui.hint("`offshoot list --all` shows those of every folder");
}
