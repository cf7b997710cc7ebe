//! `offshoot migrate`: upgrades files of old versions.

use std::io::Write as _;

use offshoot_session::text::one_line;

use crate::app::App;
use crate::error::Result;
use crate::ui::style::{BOLD, Painted};

/// Upgrade sessions of an old version
///
/// Not needed to read them, and the first change to one does the same. The new
/// file takes the old one's place in one step; the old bytes stay beside it as
/// FILE.v1.bak or FILE.v2.bak.
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
    for given in &args.sessions {
        let file = app.file_to_write(given)?;
        let session = app.open_file(&file)?;
        let version = session.version();
        let name = one_line(&file.to_string_lossy(), 4096);
        let name = Painted(BOLD, &name);
        match session.upgrade_and_close()? {
            Some(backup) => {
                let backup = one_line(&backup.to_string_lossy(), 4096);
                writeln!(out, "{name}: upgraded from version {version}; the old file is {backup}")?;
            }
            None => writeln!(out, "{name}: version {version}, nothing to do")?,
        }
    }
    Ok(out.finish()?)
}
