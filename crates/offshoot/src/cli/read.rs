//! Interprets an argument vector: a command, a conversation with a prompt, or a mistake. Reads no file, asks no model.
//!
//! A model with a shell must never receive a mistyped command. A prompt is therefore one argument that contains white
//! space, or follows `-p`, `--` or `chat`; anything else that is not a command is refused.

mod completed;
mod other_words;

use std::ffi::OsString;
use std::ops::Deref;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand as _};
use offshoot_app::agent;
use offshoot_app::error::{CommandError, Result};
use offshoot_app::known_flags::KnownFlags;
use offshoot_workspace::LatestOf;

use super::pi_flags::{extension_flags, translated};
use super::rows::{TypedOperation, with_operations};
use super::{Command, Global, help};
use completed::{Completed, completed};
use other_words::not_a_command;

/// The command line without its commands.
#[derive(Debug, Parser)]
#[command(name = "offshoot", version, after_help = help::EXAMPLES, max_term_width = 100)]
#[command(about = help::ABOUT, long_about = help::LONG_ABOUT)]
struct Conversation {
    #[command(flatten)]
    global: Global,
    #[command(flatten)]
    agent: agent::Args,
}

/// The interpreted command line. The global options are known even if the rest is a mistake.
#[derive(Debug)]
pub(super) struct CommandLine {
    pub(super) global: Global,
    pub(super) task: Result<Task>,
    /// Whose latest session SESSION is, because nobody named one.
    pub(super) assumed_latest: Option<LatestOf>,
}

impl CommandLine {
    fn of(global: Global, task: Result<Task>) -> Self {
        Self { global, task, assumed_latest: None }
    }
}

#[derive(Debug)]
pub(super) enum Task {
    Command(Box<Command>),
    Operation(TypedOperation),
    Conversation(Box<agent::Args>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marked {
    /// `-p`, `--` or `chat`.
    Yes,
    No,
}

/// The whole command line, with every command.
pub(crate) fn command_line() -> clap::Command {
    let all = Command::augment_subcommands(with_operations(Conversation::command()));
    let all = all.about(help::ABOUT).long_about(help::LONG_ABOUT);
    all.override_usage("offshoot [OPTIONS] [PROMPT]\n       offshoot COMMAND …")
}

/// Interprets an argument vector, which starts with the program's name. `extensions` is read where an option is unknown.
///
/// # Errors
/// clap's: an unknown option or a missing value; also help and version, which the caller prints.
pub(super) fn read(
    arguments: &[OsString],
    session: Option<&str>,
    is_terminal: bool,
    extensions: &impl Deref<Target = KnownFlags>,
) -> std::result::Result<CommandLine, clap::Error> {
    // Without a terminal a bare `offshoot` cannot start a conversation: it shows its help.
    let all = command_line();
    let arguments = &translated(&all, arguments);
    let seen = look(&all, arguments);
    if seen.first.is_none() && arguments.len() < 2 && !is_terminal {
        let grouped = help::grouped(all).arg_required_else_help(true);
        let shown = grouped.try_get_matches_from(["offshoot"]).err();
        return Err(shown.unwrap_or_else(|| clap::Error::new(ErrorKind::DisplayHelp)));
    }
    let is_command = seen.first.as_deref().is_some_and(|word| word == "help" || all.find_subcommand(word).is_some());
    if is_command && !seen.is_print && !seen.is_after_dashes {
        let Completed { matches, assumed_latest } =
            completed(all, arguments, seen.at, session).map_err(|error| with_groups(error, arguments))?;
        let global = Global::from_arg_matches(&matches)?;
        let name = matches.subcommand_name().unwrap_or_default();
        return Ok(CommandLine { global, task: command(&matches, name)?, assumed_latest });
    }
    let (known, flags) = extension_flags(&all, arguments, extensions);
    match without_commands(&known) {
        Ok(Conversation { global, mut agent }) => {
            agent.extension_flags = flags;
            let marked = if seen.is_after_dashes || agent.print { Marked::Yes } else { Marked::No };
            Ok(CommandLine::of(global, checked(agent, marked)))
        }
        // An error about a command's option is less helpful than one about the mistyped word before it.
        Err(error) => match seen.first.filter(|_| is_behind(&error, arguments, seen.at) && !seen.is_print) {
            Some(word) if !is_phrase(&word) => {
                let global = without_commands(&arguments[..arguments.len().min(1)])?.global;
                Ok(CommandLine::of(global, Err(not_a_command(&[&word]))))
            }
            _ => Err(error),
        },
    }
}

/// Whether the error is about an unknown option behind the word at `at`.
fn is_behind(error: &clap::Error, arguments: &[OsString], at: usize) -> bool {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return false };
    let is_it = |word: &OsString| word.to_str().is_some_and(|word| word.split('=').next() == Some(option.as_str()));
    error.kind() == ErrorKind::UnknownArgument && !arguments.iter().take(at).any(is_it)
}

/// Parses words that are not commands. Their help is that of the whole program.
fn without_commands(arguments: &[OsString]) -> std::result::Result<Conversation, clap::Error> {
    let whole = ["offshoot".into(), "--help".into()];
    Conversation::try_parse_from(arguments).map_err(|error| with_groups(error, &whole))
}

/// A help that groups the commands, which takes longer to build than most commands take to run.
fn with_groups(error: clap::Error, arguments: &[OsString]) -> clap::Error {
    match error.kind() {
        ErrorKind::DisplayHelp => help::grouped(command_line()).try_get_matches_from(arguments).err().unwrap_or(error),
        _ => error,
    }
}

/// An option of a conversation that stands before the command. The options are built only if any option stands there.
fn option_of_conversation(matches: &ArgMatches) -> Option<String> {
    let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    if !matches.ids().any(|id| is_given(id.as_str())) {
        return None;
    }
    let conversation = <agent::Args as clap::Args>::augment_args(clap::Command::new("offshoot"));
    let foreign = conversation.get_arguments().find(|argument| is_given(argument.get_id().as_str()))?;
    Some(foreign.get_long().map_or_else(|| foreign.to_string(), |long| format!("--{long}")))
}

/// A command; refuses options that belong to a conversation.
fn command(matches: &ArgMatches, name: &str) -> std::result::Result<Result<Task>, clap::Error> {
    if let Some(option) = option_of_conversation(matches) {
        let error = CommandError::usage(format!("{option} belongs to a conversation, and `{name}` is a command"));
        return Ok(Err(error
            .hint(format!("`offshoot {name} --help` lists the options of the command"))
            .hint("a prompt that begins with a command's name needs `-p` before it, or quotes")));
    }
    if let Some((name, matches)) = matches.subcommand()
        && let Some(operation) = TypedOperation::of(name, matches)?
    {
        return Ok(Ok(Task::Operation(operation)));
    }
    match Command::from_arg_matches(matches)? {
        Command::Chat(args) => Ok(checked(*args, Marked::Yes)),
        command => Ok(Ok(Task::Command(Box::new(command)))),
    }
}

/// Refuses words that may be a mistyped command, and arguments that older versions took for several prompts.
fn checked(args: agent::Args, marked: Marked) -> Result<Task> {
    let words: Vec<&str> = args.prompt_words().collect();
    match (marked, words.as_slice()) {
        (_, []) => {}
        (_, [word]) if word.trim().is_empty() => return Err(CommandError::usage("the prompt is empty")),
        (Marked::No, [phrase]) if is_phrase(phrase) => {}
        (Marked::No, words) => return Err(not_a_command(words)),
        (Marked::Yes, words) if words.iter().filter(|word| is_phrase(word)).count() > 1 => {
            return Err(CommandError::usage("several prompts were given, and only the words of one are joined")
                .hint("`--then TEXT` sends a further prompt after the answer"));
        }
        (Marked::Yes, _) => {}
    }
    Ok(Task::Conversation(Box::new(args)))
}

fn is_phrase(word: &str) -> bool {
    word.trim().contains(char::is_whitespace)
}

/// The first word that is not an option, and the options before it.
#[derive(Debug, Default)]
struct Seen {
    is_print: bool,
    is_after_dashes: bool,
    first: Option<String>,
    /// The place of `first` in the argument vector.
    at: usize,
}

/// Skips the options before the first word, with their values.
fn look(all: &clap::Command, arguments: &[OsString]) -> Seen {
    let mut seen = Seen::default();
    let mut words = arguments.iter().enumerate().skip(1).map(|(at, word)| (at, word.to_string_lossy()));
    while let Some((at, word)) = words.next() {
        if word == "--" {
            seen.is_after_dashes = true;
        } else if let Some(long) = word.strip_prefix("--").filter(|_| !seen.is_after_dashes) {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let option = all.get_arguments().find(|option| option.get_long() == Some(name));
            seen.is_print |= name == "print";
            if option.is_some_and(|option| option.get_action().takes_values()) && value.is_none() {
                words.next();
            }
        } else if let Some(shorts) = word.strip_prefix('-').filter(|s| !s.is_empty() && !seen.is_after_dashes) {
            for (place, short) in shorts.char_indices() {
                seen.is_print |= short == 'p';
                let option = all.get_arguments().find(|option| option.get_short() == Some(short));
                if option.is_some_and(|option| option.get_action().takes_values()) {
                    if place + short.len_utf8() == shorts.len() {
                        words.next();
                    }
                    break;
                }
            }
        } else {
            (seen.first, seen.at) = (Some(word.into_owned()), at);
            break;
        }
    }
    seen
}

#[cfg(test)]
mod tests;
