//! What the words before the one to complete say. They may be incomplete or wrong.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ArgMatches;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TypedLine {
    pub(super) command: Option<String>,
    /// The value of SESSION.
    pub(super) session: Option<String>,
    pub(super) session_dir: Option<PathBuf>,
}

impl TypedLine {
    /// Reads all words but the last.
    pub(super) fn read(command_line: &clap::Command, line: &[OsString]) -> Self {
        let before = line.get(..line.len().saturating_sub(1)).unwrap_or_default();
        let Ok(matches) = command_line.clone().ignore_errors(true).try_get_matches_from(before) else {
            return Self::default();
        };
        let (name, inner) = matches.subcommand().unzip();
        let inner = inner.unwrap_or(&matches);
        Self {
            command: name.map(str::to_owned),
            session: session(inner),
            session_dir: folder(inner).or_else(|| folder(&matches)),
        }
    }
}

fn session(matches: &ArgMatches) -> Option<String> {
    matches.try_get_one::<String>("session").ok().flatten().cloned()
}

fn folder(matches: &ArgMatches) -> Option<PathBuf> {
    matches.try_get_one::<PathBuf>("session_dir").ok().flatten().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command, value_parser};

    fn read(line: &[&str]) -> TypedLine {
        let folder = Arg::new("session_dir").long("session-dir").global(true).value_parser(value_parser!(PathBuf));
        let show = Command::new("show").arg(Arg::new("session").required(true)).arg(Arg::new("at").long("at"));
        let all = Command::new("offshoot").arg(folder).subcommand(show);
        TypedLine::read(&all, &line.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn an_incomplete_line_says_what_it_can() {
        let whole = TypedLine {
            command: Some("show".to_owned()),
            session: Some("a b".to_owned()),
            session_dir: Some("/s".into()),
        };
        assert_eq!(read(&["offshoot", "show", "a b", "--session-dir", "/s", "--at", ""]), whole);
        assert_eq!(read(&["offshoot", "--session-dir", "/s", "show", "a b", "--unknown", "x"]), whole);
        assert_eq!(read(&["offshoot", "show", "a"]), TypedLine { session: None, session_dir: None, ..whole });
        assert_eq!(read(&[]), TypedLine::default());
    }
}
