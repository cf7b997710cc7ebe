//! `offshoot completions`: the scripts that teach shells to complete, and the candidates that these scripts ask for.
//!
//! A candidate that contains control characters is never printed, and a shell never waits long.

mod typed;
mod offer;

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::sync::mpsc;
use std::time::Duration;

use clap::builder::StyledStr;
use clap_complete::{CompletionCandidate, Shell};
use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_session::text::one_line;

use typed::TypedLine;

/// Print completions for a shell
///
/// Shells complete commands, options, session ids and names, labels, entries,
/// models and files. The script asks `offshoot` each time, so it does not
/// become outdated. Elvish and PowerShell complete only commands and options.
///
/// After `--`, give the words of a command line: the command prints what
/// completes the last one, a value per line, with a tab before its description.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell
    #[arg(required_unless_present = "line")]
    shell: Option<Shell>,

    /// A command line to complete
    #[arg(last = true, value_name = "WORD", conflicts_with = "shell")]
    line: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  offshoot completions -- offshoot show ''
  echo 'eval \"$(offshoot completions bash)\"' >> ~/.bashrc
  echo 'eval \"$(offshoot completions zsh)\"' >> ~/.zshrc
  mkdir -p ~/.config/fish && echo 'offshoot completions fish | source' >> ~/.config/fish/config.fish";

/// The heading of the options of every command.
pub(crate) const GLOBAL_OPTIONS: &str = "Global options";
/// How long a shell waits for candidates.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a description is.
const DESCRIPTION: usize = 100;

pub(crate) fn run(app: &App, args: &Args, mut command_line: clap::Command) -> Result<()> {
    let mut text = Vec::new();
    match args.shell {
        None => write_candidates(app, &args.line, command_line, &mut text)?,
        Some(Shell::Bash) => text.extend(include_bytes!("completions/offshoot.bash")),
        Some(Shell::Zsh) => text.extend(include_bytes!("completions/offshoot.zsh")),
        Some(Shell::Fish) => text.extend(include_bytes!("completions/offshoot.fish")),
        // The generator panics on a closed pipe, so it writes to memory.
        Some(other) => clap_complete::generate(other, &mut command_line, "offshoot", &mut text),
    }
    let mut out = app.ui.raw();
    out.write_all(&text)?;
    Ok(out.finish()?)
}

fn write_candidates(app: &App, line: &[OsString], command_line: clap::Command, text: &mut Vec<u8>) -> Result<()> {
    let (send, receive) = mpsc::channel();
    let (app, line) = (app.clone(), line.to_vec());
    // A folder that does not answer must not hang the shell. The thread ends with the process.
    std::thread::spawn(move || drop(send.send(candidates(app, line, command_line))));
    for candidate in receive.recv_timeout(PATIENCE).unwrap_or_default() {
        let Some(value) = candidate.get_value().to_str().filter(|value| is_harmless(value)) else { continue };
        let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
        let help = one_line(help.lines().next().unwrap_or_default(), DESCRIPTION);
        writeln!(text, "{}", format!("{value}\t{help}").trim_end())?;
    }
    Ok(())
}

fn candidates(app: App, line: Vec<OsString>, mut command_line: clap::Command) -> Vec<CompletionCandidate> {
    let Some(last) = line.last().cloned() else { return Vec::new() };
    let typed = TypedLine::read(&command_line, &line);
    let aliases: HashMap<String, String> = command_line
        .get_subcommands()
        .filter(|command| typed.command.is_none() && command.get_name().starts_with(&*last.to_string_lossy()))
        .flat_map(|command| {
            command.get_visible_aliases().map(|alias| (alias.to_owned(), command.get_name().to_owned()))
        })
        .collect();
    let folder = app.environment.cwd.clone();
    let is_of_command = typed.command.is_some();
    // Arguments that are not built yet would get no candidates.
    command_line.build();
    let mut command_line = offer::with_candidates(command_line, app, typed);
    let at = line.len() - 1;
    let mut found = clap_complete::engine::complete(&mut command_line, line, at, Some(&folder)).unwrap_or_default();
    let is_option = |candidate: &CompletionCandidate| candidate.get_value().as_encoded_bytes().starts_with(b"-");
    if last.is_empty() && !found.iter().all(is_option) {
        found.retain(|candidate| !is_option(candidate));
    }
    // A command's own options come first.
    let is_global = |tag: &StyledStr| tag.to_string() == GLOBAL_OPTIONS;
    found.sort_by_key(|candidate| is_of_command && candidate.get_tag().is_some_and(is_global));
    let named = |candidate: CompletionCandidate| {
        let name = candidate.get_value().to_string_lossy();
        // The engine offers one name of a command, often an alias, and `help` knows nothing of commands.
        match (aliases.get(&*name), command_line.find_subcommand(&*name)) {
            (Some(name), _) => CompletionCandidate::new(name).help(candidate.get_help().cloned()),
            (None, Some(command)) if !is_of_command => candidate.help(command.get_about().cloned()),
            (None, _) => candidate,
        }
    };
    found.into_iter().map(named).collect()
}

/// Whether a value can be printed and typed unchanged.
fn is_harmless(value: &str) -> bool {
    !value.is_empty() && one_line(value, usize::MAX) == value
}
