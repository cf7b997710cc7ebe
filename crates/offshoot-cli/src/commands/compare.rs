//! `offshoot compare`: where two branches part, and what only each of them has.

use std::io::Write;

use offshoot_agent::branch_files::{FilePatch, patches};
use offshoot_session::compare::{Comparison, Side};
use offshoot_session::text::{clean_lines, counted, dollars, in_short, noun, one_line};

use super::switch::place;
use crate::app::App;
use crate::error::Result;
use crate::plans;
use crate::select::{self, SessionToRead};
use crate::ui::style::{BOLD, DIM, Painted};
use offshoot_workspace::when;

/// Compare two branches: where they part, and what only each of them has
///
/// A and B are entries; each stands for the path to it. For each side the
/// entries, turns, tokens, cost, models and files count that the other side
/// lacks.
///
/// --patch also prints, for each file that a branch changed, what differs from
/// A to B. Contents are known as far as the calls of `read`, `write` and `edit`
/// show them; what commands did to files is not.
///
/// --json prints {"ancestorId", "sides": [{"tipId", "entries", "turns",
/// "tokens", "cost", "oldest", "newest", "models", "readFiles",
/// "modifiedFiles", "files": [{"path", "reads", "changes"}], "lastWords"}, …]},
/// first A, then B.
/// `ancestorId` is null if they share nothing. With --patch there is "patches":
/// [{"path", "patch"}], where null is not known and "" is no difference.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    session: SessionToRead,

    /// An id or its unique start, a label, `@`, `@-`, or a time such as 2h
    a: String,

    /// The same
    b: String,

    /// Print what differs in the files
    #[arg(long)]
    patch: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot compare latest @ 1a2b3c4d
  offshoot compare latest @ 1a2b3c4d --patch
  offshoot compare latest @ 1a2b3c4d --json | jq '.sides[].cost'";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let session = args.session.open(app)?;
    let (a, b) = (select::entry(app, &session, &args.a)?, select::entry(app, &session, &args.b)?);
    let mut compared = Comparison::new(&session, a, b)?;
    while compared.work(&session, plans::BUDGET)? {}
    let patches = if args.patch { Some(patches(&session, &compared)?) } else { None };
    if args.json {
        let mut out = app.ui.raw();
        writeln!(out, "{}", plans::comparison(&session, &compared, patches.as_deref()).finish())?;
        return Ok(out.finish()?);
    }
    let mut out = app.ui.paged();
    match compared.ancestor {
        Some(ancestor) => writeln!(out, "they part after {}", place(&session, ancestor)?)?,
        None => writeln!(out, "they share nothing")?,
    }
    for (name, side) in ["A", "B"].iter().zip(&compared.sides) {
        writeln!(out, "\n{}  {}", Painted(BOLD, name), place(&session, side.tip)?)?;
        for line in lines(app, side) {
            writeln!(out, "   {}", Painted(DIM, &line))?;
        }
    }
    patches.iter().flatten().try_for_each(|file| write_patch(&mut out, file))?;
    Ok(out.finish()?)
}

fn write_patch(out: &mut dyn Write, file: &FilePatch) -> Result<()> {
    let path = one_line(&file.path, 400);
    writeln!(out)?;
    match file.patch.as_deref() {
        None => writeln!(out, "{path}: unknown")?,
        Some("") => writeln!(out, "{path}: the same in both")?,
        Some(patch) => write!(out, "{}", clean_lines(patch))?,
    }
    Ok(())
}

fn lines(app: &App, side: &Side) -> Vec<String> {
    let totals = &side.totals;
    let mut figures = vec![
        counted(side.entries.len(), "entry", "entries"),
        counted(side.turns, "turn", "turns"),
        format!("{} {}", in_short(totals.tokens), noun(totals.tokens, "token", "tokens")),
        dollars(totals.cost),
    ];
    figures.extend(side.took().map(|took| format!("over {took}")));
    figures.extend(side.newest.map(|newest| when::ago(newest, app.now())));
    let mut lines = vec![figures.join(" · ")];
    if side.entries.is_empty() {
        return vec!["nothing of its own".to_owned()];
    }
    if !side.models.is_empty() {
        lines.push(format!("models: {}", one_line(&side.models.join(", "), 200)));
    }
    let files = side.file_uses();
    let changed = files.iter().filter(|file| file.changes > 0).map(|file| (&file.path, file.changes));
    let read = files.iter().filter(|file| file.reads > 0).map(|file| (&file.path, file.reads));
    for (what, files) in [("changed", changed.collect::<Vec<_>>()), ("read", read.collect())] {
        if !files.is_empty() {
            let count = counted(files.len(), "file", "files");
            let times = |(path, times): &(&String, usize)| {
                if *times > 1 { format!("{path} ×{times}") } else { (*path).clone() }
            };
            let named: Vec<String> = files.iter().map(times).collect();
            lines.push(format!("{what} {count}: {}", one_line(&named.join(", "), 200)));
        }
    }
    lines.extend(side.last_words.as_ref().map(|words| format!("“{}”", one_line(words, 160))));
    lines
}
