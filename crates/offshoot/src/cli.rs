//! The command line: its global options, its commands, and the exit code.

mod deferred;
mod help;
mod pi_flags;
mod misplaced;
mod rows;
mod read;

use std::cell::LazyCell;
use std::ffi::OsString;
use std::io::Write as _;
use std::ops::Deref;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use offshoot_agent::WorkFolders;
use offshoot_app::agent;
use offshoot_app::app::App;
use offshoot_app::config::settings::{file_limits, own_settings};
use offshoot_app::config::{Environment, variable};
use offshoot_app::error::{CommandError, FailureKind, Result, exit_code};
use offshoot_app::known_flags::KnownFlags;
use offshoot_app::registered::Registered;
use offshoot_app::trust::RunTrust;
use offshoot_app::ui::{self, ColorWhen, Ui};
use offshoot_session::session::{Durability, SpillPolicy};
use offshoot_session::text::clean_lines;
use offshoot_tui::markdown::plain_row;
use offshoot_tui::terminal::detect;
use offshoot_workspace::LatestOf;

use crate::commands::{
    append, auth, bisect, completions, config, doctor, install, man, mcp, migrate_from, packages, permissions, remove,
    tail, update,
};
use crate::{api, copies, file_limit, guard, page, print, sandbox, tui};
use deferred::Deferred;
use read::Task;
pub(crate) use read::command_line;

const CHAT_EXAMPLES: &str = "\
Examples:
  offshoot chat
  offshoot chat why does the build fail
  offshoot chat -c and now fix it";

/// Options of every command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = completions::GLOBAL_OPTIONS)]
pub(crate) struct Global {
    /// Use only the sessions in this folder and the folders in it
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) session_dir: Option<PathBuf>,

    /// When to use colours: auto (on a terminal, unless NO_COLOR is set), always, never
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub(crate) color: ColorWhen,

    /// Do not use the caches (side index and catalogue)
    #[arg(long, global = true)]
    pub(crate) no_index: bool,

    /// Do not send long output through a pager: $OFFSHOOT_PAGER, else $PAGER, else less
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,

    /// Use the settings of projects this once, whatever was answered before
    #[arg(long, global = true, conflicts_with = "no_trust")]
    pub(crate) trust: bool,

    /// Use no settings of projects this once
    #[arg(long, global = true)]
    pub(crate) no_trust: bool,
}

impl Global {
    fn run_trust(&self) -> RunTrust {
        match (self.trust, self.no_trust) {
            (true, _) => RunTrust::EveryFolder(true),
            (false, true) => RunTrust::EveryFolder(false),
            (false, false) => RunTrust::Undecided,
        }
    }
}

/// Every command of the program, in the order of the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Tail(Deferred<tail::Args>),
    Append(Deferred<append::Args>),
    Bisect(Deferred<bisect::Args>),
    Doctor(Deferred<doctor::Args>),
    /// Start a conversation; the words are its first prompt
    #[command(after_help = CHAT_EXAMPLES)]
    Chat(Box<agent::Args>),
    Permissions(Deferred<permissions::Args>),
    Auth(Deferred<auth::Args>),
    Mcp(Deferred<mcp::Args>),
    Install(Deferred<install::Args>),
    #[command(alias = "uninstall")]
    Remove(Deferred<remove::Args>),
    Update(Deferred<update::Args>),
    Config(Deferred<config::Args>),
    Packages(Deferred<packages::Args>),
    MigrateFrom(Deferred<migrate_from::Args>),
    Api(Deferred<api::Args>),
    Completions(Deferred<completions::Args>),
    Man(Deferred<man::Args>),
}

impl Command {
    fn run(&self, app: &App) -> Result<()> {
        match self {
            Self::Tail(args) => tail::run(app, args),
            Self::Append(args) => append::run(app, args),
            Self::Bisect(args) => bisect::run(app, args),
            Self::Doctor(args) => doctor::run(app, args),
            Self::Chat(args) => run_agent(app, args),
            Self::Permissions(args) => permissions::run(app, args),
            Self::Auth(args) => auth::run(app, args),
            Self::Mcp(args) => mcp::run(app, args),
            Self::Install(args) => install::run(app, args),
            Self::Remove(args) => remove::run(app, args),
            Self::Update(args) => update::run(app, args),
            Self::Config(args) => config::run(app, args),
            Self::Packages(args) => packages::run(app, args),
            Self::MigrateFrom(args) => migrate_from::run(app, args),
            Self::Api(args) => api::run(app, args),
            Self::Completions(args) => completions::run(app, args, command_line()),
            Self::Man(args) => man::run(app, args, command_line()),
        }
    }
}

impl Task {
    /// What an agent heard is kept whatever fails. A command that can never write fails, and can be typed again.
    fn spill_policy(&self) -> SpillPolicy {
        match self {
            Self::Conversation(_) => SpillPolicy::Everything,
            // Its row says it.
            Self::Operation(_) => SpillPolicy::default(),
            Self::Command(command) => match command.as_ref() {
                Command::Chat(_) | Command::Api(_) | Command::Append(_) => SpillPolicy::Everything,
                _ => SpillPolicy::Temporary,
            },
        }
    }
}

fn run_agent(app: &App, args: &agent::Args) -> Result<()> {
    if args.mode == Some(agent::AgentOutput::Rpc) {
        return offshoot_rpc::run(app, args);
    }
    match args.form(ui::is_interactive())? {
        Some(form) => print::run(app, args, form),
        None if detect(variable).moves_cursor => tui::run(app, args),
        None => Err(agent::Args::no_screen("a conversation needs a terminal that moves its cursor, and TERM is dumb")),
    }
}

pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    if let Some((_, rest)) =
        arguments.get(1..).and_then(<[_]>::split_first).filter(|(first, _)| *first == sandbox::NAME)
    {
        return sandbox::run(rest.iter().cloned());
    }
    if let Some((_, rest)) = arguments.get(1..).and_then(<[_]>::split_first).filter(|(first, _)| *first == guard::NAME)
    {
        return guard::run(rest);
    }
    file_limit::is_a_failed_write();
    let mut environment = Environment::read();
    let line = {
        let flags = LazyCell::new(|| KnownFlags::read(&environment));
        match read::read(arguments, environment.session.as_deref(), ui::is_interactive(), &flags) {
            Ok(line) => line,
            Err(error) => return refused(&environment, arguments, &error, &flags),
        }
    };
    environment.cache = environment.cache.filter(|_| !line.global.no_index);
    let ui = Ui::new(&environment, line.global.color, !line.global.no_pager);
    let durability = environment.durability.as_deref().map(Durability::from_word).transpose();
    let level = durability.as_ref().ok().copied().flatten().unwrap_or_default();
    let spill_policy = line.task.as_ref().map(Task::spill_policy).unwrap_or_default();
    let trust = line.global.run_trust();
    let own = own_settings(&environment);
    let (session_dir, session_dir_by) = match line.global.session_dir {
        Some(folder) => (Some(folder), "--session-dir"),
        None => (own.session_dir.as_deref().map(|folder| environment.whole_path(folder)), "sessionDir"),
    };
    let app = App {
        folders: WorkFolders::new(&environment.cwd),
        ui,
        environment,
        session_dir,
        session_dir_by,
        file_limits: file_limits(&own),
        durability: level,
        spill_policy,
        trust,
        registered: Registered::default(),
        plain: plain_row,
        page: page::write,
    };
    if let Some(latest) = line.assumed_latest {
        tell_latest(&app, latest);
    }
    let mut shown = None;
    let ran = match durability {
        Ok(_) => line.task.and_then(|task| match task {
            Task::Command(command) => command.run(&app),
            Task::Operation(operation) => operation.run(&app, &mut shown),
            Task::Conversation(args) => run_agent(&app, &args),
        }),
        Err(error) => Err(CommandError::usage(format!("OFFSHOOT_DURABILITY: {error}"))),
    };
    let code = match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell_programs(&app.ui, arguments, &error);
            app.ui.error(&error);
            ExitCode::from(exit_code(error.kind))
        }
    };
    if let Some(output) = shown {
        output.afterwards();
    }
    copies::copy_beside(&app);
    code
}

/// Says which session is looked at, where nobody named one. That there is none is said by the command.
fn tell_latest(app: &App, latest: LatestOf) {
    let (place, cwd) = (app.place(), app.environment.cwd.to_string_lossy());
    let (folder, whose) = match latest {
        LatestOf::ThisFolder => (Some(cwd.as_ref()), "of this folder"),
        LatestOf::EveryFolder => (None, "of all folders"),
    };
    if let Ok(file) = place.latest(folder) {
        let file = place.short(&file.to_string_lossy());
        app.ui.note(&format!("no SESSION was given; this is the latest one {whose}: {file}"));
    }
}

/// Prints help, the version, or what is wrong with the command line.
fn refused(
    environment: &Environment,
    arguments: &[OsString],
    error: &clap::Error,
    flags: &impl Deref<Target = KnownFlags>,
) -> ExitCode {
    let ui = Ui::new(environment, ColorWhen::Auto, false);
    if error.use_stderr() {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        tell_programs(&ui, arguments, &CommandError::usage(first.trim_start_matches("error: ")));
    }
    let is_of_all = arguments.get(1).is_none_or(|word| word.to_str().is_some_and(|word| word.starts_with('-')));
    let printed = error.print().map_err(CommandError::from).and_then(|()| match error.kind() {
        clap::error::ErrorKind::DisplayHelp if is_of_all => print_flags(&ui, flags),
        _ => Ok(()),
    });
    match printed {
        Err(failed) if failed.kind != FailureKind::ClosedPipe => {
            ui.error(&failed);
            ExitCode::from(exit_code(failed.kind))
        }
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
    }
}

/// The options of extensions, after the others.
fn print_flags(ui: &Ui, flags: &KnownFlags) -> Result<()> {
    let mut out = ui.raw();
    for (number, (path, flag)) in flags.all().enumerate() {
        if number == 0 {
            writeln!(out, "\nOptions of extensions:")?;
        }
        let value = if flag.kind == "boolean" { "" } else { " <VALUE>" };
        let path = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("--{}{value}", flag.name);
        writeln!(out, "  {name:<24} {} ({path})", clean_lines(&flag.description))?;
    }
    out.finish()?;
    Ok(())
}

/// A program that asked for JSON gets it for every failure.
fn tell_programs(ui: &Ui, arguments: &[OsString], error: &CommandError) {
    let failure = print::failure(arguments, error).filter(|_| !error.is_in_output);
    if let Some(failure) = failure {
        let mut out = ui.raw();
        // The exit code tells it too.
        drop(writeln!(out, "{failure}").and_then(|()| out.finish()));
    }
}

#[cfg(test)]
mod tests {
    use offshoot_app::error::EXIT_CODES;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command_line().debug_assert();
    }

    /// A start that built the arguments of every command took a quarter longer.
    #[test]
    fn arguments_of_commands_are_built_if_they_are_asked_for() {
        let all = command_line();
        let built = all.get_subcommands().filter(|command| command.get_arguments().next().is_some());
        // Not deferred: its help lists the agent's options before the global ones.
        assert_eq!(built.map(clap::Command::get_name).collect::<Vec<_>>(), ["chat"]);
    }

    #[test]
    fn the_help_lists_the_exit_codes() {
        let listed: Vec<String> = EXIT_CODES.iter().map(|(code, _, says)| format!("{code} {says}")).collect();
        assert!(help::LONG_ABOUT.contains(&format!("Exit codes: {}.", listed.join(", "))), "{listed:?}");
    }

    #[test]
    fn every_command_shows_examples() {
        let mut all = command_line().disable_help_subcommand(true);
        all.build();
        for command in all.get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Examples:\n  offshoot "), "{}: {help}", command.get_name());
        }
    }
}
