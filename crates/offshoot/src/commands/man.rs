//! `offshoot man`: manual pages from the text of `--help`.

mod sections;

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap_mangen::Man;
use offshoot_app::app::App;
use offshoot_app::config::variable;
use offshoot_app::error::{CommandError, Result};
use offshoot_session::clock::to_iso;

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
    // Packages that are built twice are the same.
    let built = variable("SOURCE_DATE_EPOCH").and_then(|seconds| seconds.parse::<i64>().ok()?.checked_mul(1000));
    let date = to_iso(built.unwrap_or_else(|| app.now())).split('T').next().unwrap_or_default().to_owned();
    let mut all = command_line.disable_help_subcommand(true);
    all.build();
    if let Some(folder) = args.out.as_ref().map(|folder| app.environment.path(folder)) {
        let failed = |error| CommandError::io(format!("write manual pages to {}", folder.display()), &error);
        return write_all(&all, &date, &folder).map_err(failed);
    }
    let mut out = app.ui.raw();
    out.write_all(&page(&all, &date)?)?;
    Ok(out.finish()?)
}

fn write_all(all: &clap::Command, date: &str, folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for command in all.get_subcommands().chain([all]).filter(|command| !command.is_hide_set()) {
        let name = Man::new(command.clone()).get_filename();
        File::create(folder.join(name))?.write_all(&page(command, date)?)?;
    }
    Ok(())
}

/// The page of the program or of a command.
fn page(command: &clap::Command, date: &str) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone()).date(date).manual("User Commands");
    let man = man.source(concat!("offshoot ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    sections::of(command).to_writer(&mut page)?;
    Ok(page)
}
