//! The command line: its global options, its commands, and the exit code.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use offshoot_session::session::Durability;

use crate::app::App;
use crate::commands::{
    append, branches, check, compact, completions, context, doctor, entry, export, fork, import, label, list, man,
    migrate, models, name, pop, repair, show, switch, tail, trash, tree,
};
use crate::config::Environment;
use crate::error::{CommandError, Result};
use crate::ui::{self, ColorWhen, Ui};
use crate::{agent, api, tui};

/// Sessions of terminal coding agents as trees: look into them, go back in them, branch them, lose nothing.
///
/// A session is one append-only file in which every entry names its parent. offshoot reads and writes its own sessions
/// and those of pi and oh-my-pi where they are. Commands that only look never change a file.
///
/// SESSION is the path of a session file, a session id or a unique start of one, a session's name, or `latest`.
/// ENTRY is an entry id or a unique start of one.
///
/// `offshoot -p PROMPT` asks a model, which works with tools in this folder, and prints its answer.
///
/// Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 damaged input, 5 conflict, 6 the model failed, 130 stopped.
#[derive(Debug, Parser)]
#[command(name = "offshoot", version, after_help = EXAMPLES)]
#[command(args_conflicts_with_subcommands = true)]
#[command(max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,

    #[command(flatten)]
    pub(crate) agent: agent::Args,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  offshoot list                       sessions of this folder, newest first
  offshoot show latest                read the newest one
  offshoot tree latest                see its branches
  offshoot switch latest 1a2b3c4d     go back to an entry; pi and oh-my-pi open there too
  offshoot -p 'why does the build fail?'
  offshoot -c -p 'and now mend it'    goes on with the newest session of this folder";

/// Options of every command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Use the sessions in this folder, and no others, for this run
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) session_dir: Option<PathBuf>,

    /// When to use colours: auto (on a terminal, unless NO_COLOR is set), always, never
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub(crate) color: ColorWhen,

    /// Do without the side index and the catalogue (caches: big sessions and long lists at once)
    #[arg(long, global = true)]
    pub(crate) no_index: bool,

    /// Do not send long output through a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
}

/// Every command of the program, in the order of the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
    Tree(tree::Args),
    Branches(branches::Args),
    Context(context::Args),
    Entry(entry::Args),
    Tail(tail::Args),
    Switch(switch::Args),
    Pop(pop::Args),
    Compact(compact::Args),
    Label(label::Args),
    Name(name::Args),
    Trash(trash::Args),
    Fork(fork::Args),
    Export(export::Args),
    Import(import::Args),
    Append(append::Args),
    Check(check::Args),
    Repair(repair::Args),
    Doctor(doctor::Args),
    Migrate(migrate::Args),
    Models(models::Args),
    Api(api::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    fn run(&self, app: &App) -> Result<()> {
        match self {
            Self::List(args) => list::run(app, args),
            Self::Show(args) => show::run(app, args),
            Self::Tree(args) => tree::run(app, args),
            Self::Branches(args) => branches::run(app, args),
            Self::Context(args) => context::run(app, args),
            Self::Entry(args) => entry::run(app, args),
            Self::Tail(args) => tail::run(app, args),
            Self::Switch(args) => switch::run(app, args),
            Self::Pop(args) => pop::run(app, args),
            Self::Compact(args) => compact::run(app, args),
            Self::Label(args) => label::run(app, args),
            Self::Name(args) => name::run(app, args),
            Self::Trash(args) => trash::run(app, args),
            Self::Fork(args) => fork::run(app, args),
            Self::Export(args) => export::run(app, args),
            Self::Import(args) => import::run(app, args),
            Self::Append(args) => append::run(app, args),
            Self::Check(args) => check::run(app, args),
            Self::Repair(args) => repair::run(app, args),
            Self::Doctor(args) => doctor::run(app, args),
            Self::Migrate(args) => migrate::run(app, args),
            Self::Models(args) => models::run(app, args),
            Self::Api(args) => api::run(app, args),
            Self::Completions(args) => completions::run(app, args, &mut Cli::command()),
            Self::Man(args) => man::run(app, args, Cli::command()),
        }
    }
}

fn run_agent(app: &App, args: &agent::Args) -> Result<()> {
    match args.form(ui::is_interactive())? {
        Some(form) => agent::run(app, args, form),
        None => tui::run(app, args),
    }
}

pub(crate) fn run() -> ExitCode {
    // Without a terminal, `offshoot` without arguments prints its help.
    let command = Cli::command().arg_required_else_help(!ui::is_interactive());
    let parsed = command.try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to stdout, which may be closed.
            drop(error.print());
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let mut environment = Environment::read();
    environment.cache = environment.cache.filter(|_| !cli.global.no_index);
    let ui = Ui::new(&environment, cli.global.color, !cli.global.no_pager);
    let durability = environment.durability.as_deref().map(Durability::from_word).transpose();
    let level = durability.as_ref().ok().copied().flatten().unwrap_or_default();
    let app = App { ui, environment, session_dir: cli.global.session_dir, durability: level };
    let ran = match durability {
        Ok(_) => match &cli.command {
            Some(command) => command.run(&app),
            None => run_agent(&app, &cli.agent),
        },
        Err(error) => Err(CommandError::usage(format!("OFFSHOOT_DURABILITY: {error}"))),
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            app.ui.error(&error);
            ExitCode::from(error.kind.code())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_examples() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Examples:\n  offshoot "), "{}: {help}", command.get_name());
        }
    }
}
