//! `offshoot completions`: shell completions of the command line.

use std::io::Write as _;

use clap_complete::Shell;

use crate::app::App;
use crate::error::Result;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  offshoot completions bash > ~/.local/share/bash-completion/completions/offshoot
  offshoot completions zsh > ~/.zfunc/_offshoot
  offshoot completions fish > ~/.config/fish/completions/offshoot.fish";

pub(crate) fn run(app: &App, args: &Args, command_line: &mut clap::Command) -> Result<()> {
    // Into memory first: the generator panics on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command_line, "offshoot", &mut script);
    let mut out = app.ui.raw();
    out.write_all(&script)?;
    Ok(out.finish()?)
}
