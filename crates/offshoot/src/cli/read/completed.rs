//! A command whose arguments by place are too few or too many: what can only mean one thing is done, and for the rest the error
//! names the line that works. Reads no file.

use std::ffi::OsString;

use clap::ArgMatches;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use offshoot_app::app::quoted;
use offshoot_workspace::{LATEST, LatestOf, is_path};

/// Commands that only look: without a SESSION they look at the latest one of this folder.
const LOOK: &[&str] = &["branches", "context", "export", "show", "tree"];

/// Commands that need their SESSION on the command line, because they take it away.
const NO_DEFAULT: &[&str] = &["trash"];

/// Options of git and of shells, by command, with the line that does the same.
const OTHER_OPTIONS: &[(&str, &[&str], &str)] = &[
    ("list", &["-a", "-A", "-la"], "`offshoot list --all`"),
    ("show", &["--oneline", "--graph", "--all"], "`offshoot tree latest`"),
    ("switch", &["-b", "-c", "-C", "--create"], "`offshoot switch latest ENTRY`: the next entry begins the branch"),
    ("tail", &["-f", "--follow"], "`offshoot tail latest` follows until it is stopped"),
    ("trash", &["-f", "-r", "-rf", "--force"], "`offshoot trash SESSION`: it can be restored"),
];

/// A command line that was understood.
pub(super) struct Completed {
    pub(super) matches: ArgMatches,
    /// Whose latest session its SESSION is, because nobody named one.
    pub(super) assumed_latest: Option<LatestOf>,
}

/// Parses a command, whose name is at `at`. If its SESSION is missing, it is `session`, which a variable of the environment
/// names, else the latest one where nothing is changed.
///
/// # Errors
/// clap's; where the line shows what was meant, with a line that works.
pub(super) fn completed(
    mut all: clap::Command,
    arguments: &[OsString],
    at: usize,
    session: Option<&str>,
) -> std::result::Result<Completed, clap::Error> {
    let error = match all.try_get_matches_from_mut(arguments) {
        Ok(matches) => return Ok(Completed { matches, assumed_latest: None }),
        Err(error) => error,
    };
    let Some(command) = arguments.get(at).and_then(|name| all.find_subcommand(name)).cloned() else {
        return Err(error);
    };
    let line = TypedCommand { command: &command, arguments, at };
    match error.kind() {
        ErrorKind::MissingRequiredArgument if line.takes_session() => {
            let missing = names(&error);
            let named =
                session.filter(|session| !session.starts_with('-') && !NO_DEFAULT.contains(&command.get_name()));
            let is_missing = missing.iter().any(|name| name == "SESSION");
            let is_latest = session.is_none() && is_missing && LOOK.contains(&command.get_name());
            if let Some(session) = named.or(is_latest.then_some(LATEST)) {
                let words = line.with(at + 1, &[session]);
                let matches = all.try_get_matches_from(&words).map_err(|error| {
                    let missing = names(&error).into_iter().filter(|name| name.starts_with('-')).collect::<Vec<_>>();
                    let tip =
                        (!missing.is_empty()).then(|| spelled(&words, missing.iter().map(|name| plain_option(name))));
                    with_tip(error, tip.map(|line| format!("`{line}`")))
                })?;
                return Ok(Completed { assumed_latest: is_latest.then(|| latest_of(&matches)), matches });
            }
            let latest = line.with_latest(&missing).map(|line| format!("for the latest session: `{line}`"));
            let tip = latest.or_else(|| line.for_named_session(&missing));
            Err(with_tip(error, tip))
        }
        ErrorKind::UnknownArgument => match line.with_extra(&error) {
            Some(Meant::Line(words)) => {
                let matches = all.try_get_matches_from(words)?;
                Ok(Completed { matches, assumed_latest: None })
            }
            Some(Meant::Tip(line)) => Err(with_tip(error, Some(format!("`{line}`")))),
            None => Err(line.with_other_option(error)),
        },
        _ => Err(error),
    }
}

fn latest_of(matches: &ArgMatches) -> LatestOf {
    let is_all = |(_, command): (&str, &ArgMatches)| command.try_get_one::<bool>("all").ok().flatten().copied();
    if matches.subcommand().and_then(is_all).unwrap_or_default() { LatestOf::EveryFolder } else { LatestOf::ThisFolder }
}

/// What a line with a word too many means.
enum Meant {
    Line(Vec<OsString>),
    /// A line to type instead.
    Tip(String),
}

/// A command as it was typed.
struct TypedCommand<'a> {
    command: &'a clap::Command,
    arguments: &'a [OsString],
    /// The place of its name.
    at: usize,
}

impl TypedCommand<'_> {
    fn takes_session(&self) -> bool {
        self.command.get_positionals().next().is_some_and(|first| {
            first.get_value_names().is_some_and(|names| names.iter().any(|name| name.as_str() == "SESSION"))
        })
    }

    fn with(&self, at: usize, words: &[&str]) -> Vec<OsString> {
        let (before, behind) = self.arguments.split_at_checked(at).unwrap_or((self.arguments, &[]));
        before.iter().cloned().chain(words.iter().map(Into::into)).chain(behind.iter().cloned()).collect()
    }

    /// The line with `latest` for its SESSION, and the names of what is still missing; `None` if a session is named. A command
    /// that takes sessions away is not offered the latest one.
    fn with_latest(&self, missing: &[String]) -> Option<String> {
        let name = self.command.get_name();
        if NO_DEFAULT.contains(&name) {
            return None;
        }
        let is_session = |word: &OsString| word.to_str().is_some_and(|word| word == LATEST || is_path(word));
        if self.arguments.iter().skip(self.at + 1).any(is_session) {
            return None;
        }
        // git's name for the place before.
        if name == "switch" && self.arguments.iter().any(|word| word == "-") {
            return Some("offshoot undo latest".to_owned());
        }
        // The word in the place of SESSION is the first missing argument.
        let took = usize::from(missing.iter().all(|name| name != "SESSION"));
        let rest = missing.iter().filter(|name| *name != "SESSION").skip(took).map(String::as_str);
        Some(spelled(&self.with(self.at + 1, &[LATEST]), rest))
    }

    /// What helps where a session is named and the entry is missing.
    fn for_named_session(&self, missing: &[String]) -> Option<String> {
        let session = self.arguments.get(self.at + 1).map(|word| quoted(&word.to_string_lossy()))?;
        match (self.command.get_name(), missing) {
            (_, [.., last]) if session.starts_with('-') || last.starts_with('-') => None,
            ("compare", [last]) if last == "B" => {
                Some(format!("with the current branch: `{}`", spelled(self.arguments, ["@"])))
            }
            ("merge" | "pick", _) => {
                Some(format!("`offshoot branches {session} --unmerged` lists branches with something new"))
            }
            ("entry" | "switch", _) => Some(format!("`offshoot tree {session}` shows the entries")),
            _ => None,
        }
    }

    /// The error with the line for an option of another program. clap's advice to pass an option as a value is left out: no
    /// command here takes one.
    fn with_other_option(&self, mut error: clap::Error) -> clap::Error {
        let typed = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(typed)) => typed.clone(),
            _ => String::new(),
        };
        let is_advice = matches!(error.get(ContextKind::Suggested), Some(ContextValue::StyledStrs(_)));
        if is_advice {
            error.remove(ContextKind::Suggested);
        }
        let name = self.command.get_name();
        let tip =
            OTHER_OPTIONS.iter().find(|(command, options, _)| *command == name && options.contains(&typed.as_str()));
        with_tip(error, tip.map(|(.., tip)| (*tip).to_owned()))
    }

    /// What a word too many can mean: an entry up to which is shown, a file that is written, more words of a text.
    fn with_extra(&self, error: &clap::Error) -> Option<Meant> {
        let Some(ContextValue::String(extra)) = error.get(ContextKind::InvalidArg) else { return None };
        let place = self.arguments.iter().rposition(|word| word.to_str() == Some(extra.as_str()))?;
        if extra.starts_with('-') || place <= self.at {
            return None;
        }
        let has_option = |long| self.command.get_arguments().any(|arg| arg.get_long() == Some(long));
        let is_typed = |long: &str| self.arguments.iter().any(|word| word.to_str() == Some(long));
        match self.command.get_name() {
            "show" | "tree" | "context" if has_option("at") && !is_typed("--at") => {
                Some(Meant::Line(self.with(place, &["--at"])))
            }
            "fork" if has_option("at") && !is_typed("--at") => {
                Some(Meant::Tip(spelled::<&str>(&self.with(place, &["--at"]), [])))
            }
            "list" => Some(Meant::Tip(match is_path(extra) {
                true => "offshoot list --all".to_owned(),
                false => format!("offshoot show {}", quoted(extra)),
            })),
            "man" => Some(Meant::Tip(format!("offshoot {} --help", quoted(extra)))),
            "export" => Some(Meant::Tip(spelled::<&str>(&self.with(place, &["-o"]), []))),
            "label" | "name" => {
                let texts = usize::from(self.command.get_name() == "label") + 2;
                let (before, text) = self.arguments.split_at_checked(self.at + texts)?;
                let is_plain =
                    text.iter().chain(before.get(self.at..)?).all(|word| !word.to_string_lossy().starts_with('-'));
                let text = text.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
                is_plain.then(|| Meant::Tip(spelled(before, [quoted(&text).as_str()])))
            }
            _ => None,
        }
    }
}

/// An option as it is typed: `--output <FILE>` is `--output FILE`.
fn plain_option(option: &str) -> String {
    option.replace(['<', '>'], "")
}

/// The names of the arguments that are missing.
fn names(error: &clap::Error) -> Vec<String> {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(names)) => {
            let plain = |name: &String| name.trim_end_matches('.').trim_matches(['<', '>', '[', ']']).to_owned();
            names.iter().map(plain).collect()
        }
        _ => Vec::new(),
    }
}

/// A line as one types it. The rest is added as it is.
fn spelled<T: AsRef<str>>(words: &[OsString], rest: impl IntoIterator<Item = T>) -> String {
    let typed = words.iter().skip(1).map(|word| quoted(&word.to_string_lossy()));
    let line: Vec<String> = std::iter::once("offshoot".to_owned())
        .chain(typed)
        .chain(rest.into_iter().map(|word| word.as_ref().to_owned()))
        .collect();
    line.join(" ")
}

fn with_tip(mut error: clap::Error, tip: Option<String>) -> clap::Error {
    if let Some(tip) = tip {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}
