//! `offshoot repair`: repairs a damaged file and keeps every byte.

mod waiting;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use offshoot_app::app::{App, quoted};
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::ui::style::{BOLD, DIM, Painted, WARNING};
use offshoot_session::id::EntryId;
use offshoot_session::json::{Object, quote};
use offshoot_session::medium::FileMedium;
use offshoot_session::repair::{Action, RepairPlan, RepairStep, Repaired, plan};
use offshoot_session::session::Session;
use offshoot_session::text::{counted, one_line};

use offshoot_workspace::is_path;

/// Remove from a session the lines that are not entries
///
/// offshoot skips damaged lines, so it reads and continues a damaged session
/// without this command. Other programs may not. Lines that cannot be read,
/// NUL bytes and torn ends move to FILE.quarantine, byte for byte, each below a
/// line that says where it was. Records on one line get a line each. A damaged
/// entry that has children leaves an empty entry in its place. The old file is
/// kept as FILE.bak, and the new one replaces it in one step. Programs that
/// have the session open must open it again.
///
/// Entries that could not be written, as on a full disk, wait outside the
/// session. They are put into it first, below the entries where they belong.
/// --spilled lists them, --discard drops them, --copy writes them elsewhere.
///
/// If there is nothing to repair, nothing is written.
///
/// --json prints one object:
///
///   {"file", "steps": [{"code", "line", "offset", "length", "action"}],
///     "backup", "quarantine", "givenBack": [id]}
///
/// `action` is "quarantine", "own-line" or "hold-place"; `code` and `line` are
/// those of `offshoot check`; `offset` and `length` are the bytes that it
/// concerns; `backup` and `quarantine` are paths or null.
///
/// --spilled --json prints an array with an element for each session:
///
///   [{"file", "sessionId", "spill", "entries": [the entries' lines]}]
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A path, an id or its unique start or end, a name, or `latest`
    #[arg(required_unless_present = "spilled")]
    session: Option<String>,

    /// Show what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// List the entries that wait outside SESSION, or outside any session
    #[arg(long, conflicts_with_all = ["dry_run", "discard", "copy"])]
    spilled: bool,

    /// Discard the entries that wait outside SESSION
    #[arg(long, requires = "session", conflicts_with_all = ["dry_run", "copy", "json"])]
    discard: bool,

    /// Write a copy of SESSION that has the entries that wait outside it; change neither
    #[arg(long, value_name = "FILE", requires = "session", conflicts_with_all = ["dry_run", "json"])]
    copy: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot repair latest --dry-run
  offshoot repair session.jsonl
  offshoot repair --spilled                      # entries that wait outside sessions
  offshoot repair session.jsonl --json | jq '.steps[].line'";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let given = args.session.as_deref().unwrap_or_default();
    match &args.copy {
        _ if args.spilled => return waiting::list(app, args),
        _ if args.discard => return waiting::discard(app, args),
        Some(copy) => return waiting::copy(app, given, &app.environment.path(copy)),
        None => {}
    }
    let (file, returned) = returned(app, args, given)?;
    let mut medium =
        FileMedium::open(&file).map_err(|error| CommandError::io(format!("open {}", file.display()), &error))?;
    let plan = plan(&medium).map_err(|error| hinted(error.into(), given))?;
    if plan.steps.is_empty() && returned.is_empty() && !args.json {
        return app.ui.nothing_to_do(&format!("{} has no damaged lines", shown(&file)));
    }
    let is_done = args.dry_run || plan.steps.is_empty();
    let repaired = if is_done { None } else { Some(plan.apply(&mut medium)?) };
    if args.json {
        return json(app, &file, (&plan, repaired.as_ref()), &returned);
    }
    let mut out = app.ui.text();
    let name = one_line(&file.to_string_lossy(), 4096);
    if !returned.is_empty() {
        let verb = if args.dry_run { "wait to be put" } else { "were put" };
        writeln!(
            out,
            "{name}: {} that could not be written {verb} into the session",
            counted(returned.len(), "entry", "entries")
        )?;
    }
    for step in &plan.steps {
        let place = format!("{name}:{}", step.line);
        let code = format!("[{}]", step.code.as_str());
        let bytes = counted(step.length, "byte", "bytes");
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
        None if args.dry_run => writeln!(out, "{}", Painted(WARNING, "nothing was changed"))?,
        None => {}
    }
    Ok(out.finish()?)
}

/// The file, and the entries in its spill file, which are appended unless it is a dry run.
fn returned(app: &App, args: &Args, named: &str) -> Result<(PathBuf, Vec<EntryId>)> {
    let given = app.environment.path(named);
    // A session whose first append failed exists only in its spill file.
    let unborn = match given.exists() || !is_path(named) {
        true => None,
        false => Session::open_spilled(&given, app.options_for(&given))?,
    };
    let (file, mut session) = match unborn {
        Some(_) if args.dry_run => {
            return Err(CommandError::usage(format!("{} would begin with what was kept outside it", given.display())));
        }
        Some(session) => (given, session),
        None => {
            let file = app.file_to_write(named)?;
            let session = app.open_file(&file).map_err(|error| hinted(error, named))?;
            (file, session)
        }
    };
    let ids = if args.dry_run { session.spilled_ids()? } else { session.append_spilled()? };
    Ok((file, ids))
}

/// An old version is the one refusal that a person can act on.
fn hinted(error: CommandError, given: &str) -> CommandError {
    if error.kind == FailureKind::Usage {
        return error.hint(format!("`offshoot migrate {}` upgrades it", quoted(given)));
    }
    error
}

fn words(step: &RepairStep, bytes: &str) -> String {
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

fn json(
    app: &App,
    file: &Path,
    (plan, repaired): (&RepairPlan, Option<&Repaired>),
    returned: &[EntryId],
) -> Result<()> {
    let returned: Vec<String> = returned.iter().map(|id| quote(id.as_str())).collect();
    let steps: Vec<String> = plan.steps.iter().map(step_json).collect();
    let path = |path: Option<&Path>| path.map_or("null".to_owned(), |path| quote(&path.to_string_lossy()));
    let object = Object::new()
        .str("file", &file.to_string_lossy())
        .raw("steps", format!("[{}]", steps.join(",")))
        .raw("backup", path(repaired.map(|repaired| repaired.backup.as_path())))
        .raw("quarantine", path(repaired.and_then(|repaired| repaired.quarantine.as_deref())))
        .raw("givenBack", format!("[{}]", returned.join(",")));
    let mut out = app.ui.raw();
    writeln!(out, "{}", object.finish())?;
    Ok(out.finish()?)
}

fn step_json(step: &RepairStep) -> String {
    Object::new()
        .str("code", step.code.as_str())
        .raw("line", step.line)
        .raw("offset", step.offset)
        .raw("length", step.length)
        .str("action", step.action.as_str())
        .finish()
}
