//! `offshoot man`: manual pages from the text of `--help`.

use std::io::Write as _;
use std::path::PathBuf;

use clap_mangen::Man;
use offshoot_app::app::App;
use offshoot_app::error::{CommandError, Result};

/// Print the manual page, or write all of them
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Write a page for every command into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  offshoot man | man -l -
  offshoot man --out ~/.local/share/man/man1";

pub(crate) fn run(app: &App, args: &Args, command_line: clap::Command) -> Result<()> {
    if let Some(folder) = args.out.as_ref().map(|folder| app.environment.path(folder)) {
        let failed = |error| CommandError::io(format!("write manual pages to {}", folder.display()), &error);
        std::fs::create_dir_all(&folder).map_err(failed)?;
        return clap_mangen::generate_to(command_line, &folder).map_err(failed);
    }
    let mut page = Vec::new();
    Man::new(command_line).render(&mut page)?;
    let mut out = app.ui.raw();
    out.write_all(&page)?;
    Ok(out.finish()?)
}
