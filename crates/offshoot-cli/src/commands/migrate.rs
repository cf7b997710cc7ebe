//! `offshoot migrate`: upgrades files of old versions.

use std::io::Write;

use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_app::ui::style::{BOLD, Painted};
use offshoot_session::header::CURRENT_VERSION;
use offshoot_session::json::Object;
use offshoot_session::text::{counted, one_line};

use crate::failures::Failures;

/// Upgrade sessions of an old version
///
/// offshoot reads old versions without this command, and the first change to an
/// old session upgrades it. The new file replaces the old one in one step; the
/// old bytes are kept as FILE.v1.bak or FILE.v2.bak. A session that cannot be
/// upgraded is reported, and the others still are.
///
/// --json prints one object for each session that can be read: {"path",
/// "version", "backup"}. `version` is the one that was found, `backup` the old
/// file, null if nothing was done.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Paths, ids, names, or `latest`
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<String>,

    /// Show what would be upgraded, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  offshoot migrate latest
  offshoot migrate old/*.jsonl";

pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let mut out = app.ui.text();
    let mut failures = Failures::new(app, args.sessions.len());
    let mut upgraded = 0;
    for given in &args.sessions {
        let migrated = migrate(app, args, given, &mut out);
        upgraded += usize::from(failures.catch(&mut out, migrated)? == Some(true));
    }
    if args.sessions.len() > 1 && !args.json {
        let failed = if failures.count > 0 { format!(", {} failed", failures.count) } else { String::new() };
        let would = if args.dry_run { "would be " } else { "" };
        writeln!(out, "{}: {upgraded} {would}upgraded{failed}", counted(args.sessions.len(), "session", "sessions"))?;
    }
    out.finish()?;
    failures.outcome(&format!("{} could not be upgraded", counted(failures.count, "session", "sessions")))
}

/// Upgrades one session; returns whether it was old.
fn migrate(app: &App, args: &Args, given: &str, out: &mut dyn Write) -> Result<bool> {
    let file = app.file_to_write(given)?;
    let session = app.open_file(&file)?;
    let (version, is_old) = (session.version(), session.version() < CURRENT_VERSION);
    if args.json {
        let backup = if args.dry_run { None } else { session.upgrade_and_close()? };
        let object = Object::new().str("path", &file.to_string_lossy()).raw("version", version);
        let backup = backup.map(|backup| backup.to_string_lossy().into_owned());
        writeln!(out, "{}", object.str_or_null("backup", backup.as_deref()).finish())?;
        return Ok(is_old);
    }
    let name = one_line(&file.to_string_lossy(), 4096);
    let name = Painted(BOLD, &name);
    if args.dry_run && is_old {
        writeln!(out, "{name}: would be upgraded from version {version}")?;
        return Ok(true);
    }
    let Some(backup) = session.upgrade_and_close()? else {
        writeln!(out, "{name}: nothing to do: version {version}")?;
        return Ok(false);
    };
    let backup = one_line(&backup.to_string_lossy(), 4096);
    writeln!(out, "{name}: upgraded from version {version}; the old file is {backup}")?;
    Ok(true)
}
