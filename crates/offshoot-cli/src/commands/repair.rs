//! `offshoot repair`: a damaged file made sound, with every byte kept.

use std::io::Write as _;
use std::path::Path;

use offshoot_session::json::{Object, quote};
use offshoot_session::medium::FileMedium;
use offshoot_session::repair::{Action, Plan, Repaired, Step, plan};
use offshoot_session::text::one_line;

use crate::app::{App, quoted};
use crate::error::{CommandError, Kind, Result};
use crate::transcript::screen::count;
use crate::ui::style::{BOLD, DIM, Painted, WARNING};

/// Take out of a session what is no record
///
/// Not needed to read a session or to go on with it: offshoot steps over
/// damage. Other programs may not. Lines that cannot be read, NUL bytes and
/// torn ends move, byte for byte, to FILE.quarantine, each below a line that
/// says where it stood. Records that were glued together get lines of their
/// own. An entry that is damaged but has children leaves an empty one in its
/// place. The old file stays as FILE.bak; the new one takes its place in one
/// step. Whoever has the session open must open it again.
///
/// --json prints one object:
///
///   {"file", "steps": [{"code", "line", "offset", "length", "action"}],
///     "backup", "quarantine"}
///
/// `action` is "quarantine", "own-line" or "hold-place"; codes, lines and
/// offsets are those of `offshoot check`; `length` is in bytes; `backup` and
/// `quarantine` are paths or null.
///
/// If there is nothing to repair, nothing is written and the exit code is 2.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Path, id, unique start of an id, name, or `latest`
    session: String,

    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot repair latest --dry-run
  offshoot repair session.jsonl
  offshoot repair session.jsonl --json | jq '.steps[].line'";

/// Repairs a session.
pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let file = app.file(&args.session)?;
    let mut medium =
        FileMedium::open(&file).map_err(|error| CommandError::io(format!("open {}", file.display()), &error))?;
    let plan = plan(&medium).map_err(|error| hinted(error.into(), &args.session))?;
    if plan.steps.is_empty() {
        return Err(CommandError::usage(format!("{}: nothing to repair", file.display()))
            .hint(format!("`offshoot check {}` says what is odd all the same", quoted(&args.session))));
    }
    let repaired = if args.dry_run { None } else { Some(plan.apply(&mut medium)?) };
    if args.json {
        return json(app, &file, &plan, repaired.as_ref());
    }
    let mut out = app.ui.text();
    let name = one_line(&file.to_string_lossy(), 4096);
    for step in &plan.steps {
        let place = format!("{name}:{}", step.line);
        let code = format!("[{}]", step.code.as_str());
        let bytes = count(usize::try_from(step.length).unwrap_or(usize::MAX), "byte");
        let what = words(step, &bytes);
        writeln!(out, "{}: {what} {}", Painted(BOLD, &place), Painted(DIM, &code))?;
    }
    match repaired {
        Some(repaired) => {
            writeln!(out, "the old file is {}", shown(&repaired.backup))?;
            if let Some(quarantine) = &repaired.quarantine {
                writeln!(out, "what was taken out is in {}", shown(quarantine))?;
            }
        }
        None => writeln!(out, "{}", Painted(WARNING, "nothing was changed"))?,
    }
    Ok(out.finish()?)
}

/// Old versions are the one thing that a person can do something about.
fn hinted(error: CommandError, given: &str) -> CommandError {
    if error.kind == Kind::Usage {
        return error.hint(format!("`offshoot migrate {}` upgrades it", quoted(given)));
    }
    error
}

fn words(step: &Step, bytes: &str) -> String {
    match step.action {
        Action::Quarantine => format!("{bytes} from byte {} on to the quarantine", step.offset),
        Action::HoldPlace => {
            format!("{bytes} from byte {} on to the quarantine; an empty entry holds their place", step.offset)
        }
        Action::OwnLine => format!("the record at byte {} on a line of its own", step.offset),
    }
}

fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy(), 4096)
}

fn json(app: &App, file: &Path, plan: &Plan, repaired: Option<&Repaired>) -> Result<()> {
    let steps: Vec<String> = plan.steps.iter().map(step_json).collect();
    let path = |path: Option<&Path>| path.map_or("null".to_owned(), |path| quote(&path.to_string_lossy()));
    let object = Object::new()
        .str("file", &file.to_string_lossy())
        .raw("steps", format!("[{}]", steps.join(",")))
        .raw("backup", path(repaired.map(|repaired| repaired.backup.as_path())))
        .raw("quarantine", path(repaired.and_then(|repaired| repaired.quarantine.as_deref())));
    let mut out = app.ui.raw();
    writeln!(out, "{}", object.finish())?;
    Ok(out.finish()?)
}

fn step_json(step: &Step) -> String {
    Object::new()
        .str("code", step.code.as_str())
        .raw("line", step.line)
        .raw("offset", step.offset)
        .raw("length", step.length)
        .str("action", step.action.as_str())
        .finish()
}
