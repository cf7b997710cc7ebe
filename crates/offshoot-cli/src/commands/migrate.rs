//! `offshoot migrate`: upgrades files of old versions.

use std::io::Write;

use offshoot_session::text::{counted, one_line};

use crate::app::App;
use crate::error::Result;
use crate::failures::Failures;
use crate::ui::style::{BOLD, Painted};

/// Upgrade sessions of an old version
///
/// offshoot reads old versions without this command, and the first change to an
/// old session upgrades it. The new file replaces the old one in one step; the
/// old bytes are kept as FILE.v1.bak or FILE.v2.bak. A session that cannot be
/// upgraded is reported, and the others still are.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Paths, ids, names, or `latest`
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<String>,
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
        let migrated = migrate(app, given, &mut out);
        upgraded += usize::from(failures.catch(&mut out, migrated)? == Some(true));
    }
    if args.sessions.len() > 1 {
        let failed = if failures.count > 0 { format!(", {} failed", failures.count) } else { String::new() };
        writeln!(out, "{}: {upgraded} upgraded{failed}", counted(args.sessions.len(), "session", "sessions"))?;
    }
    out.finish()?;
    failures.outcome(&format!("{} could not be upgraded", counted(failures.count, "session", "sessions")))
}

/// Upgrades one session; returns whether it was old.
fn migrate(app: &App, given: &str, out: &mut dyn Write) -> Result<bool> {
    let file = app.file_to_write(given)?;
    let session = app.open_file(&file)?;
    let version = session.version();
    let name = one_line(&file.to_string_lossy(), 4096);
    let name = Painted(BOLD, &name);
    let Some(backup) = session.upgrade_and_close()? else {
        writeln!(out, "{name}: nothing to do: version {version}")?;
        return Ok(false);
    };
    let backup = one_line(&backup.to_string_lossy(), 4096);
    writeln!(out, "{name}: upgraded from version {version}; the old file is {backup}")?;
    Ok(true)
}
