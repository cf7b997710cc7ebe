//! One rule of `permissions`, such as `bash(git push:*)`, and what it matches.

use std::fmt;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use offshoot_session::medium::{real_path, real_path_or_same};

use super::ApprovalCall;
use super::known::{self, Effect, Table};
use super::shell_line::{ShellLine, SimpleCommand, base, part};
use crate::tool::Tier;

/// A rule, with its text.
#[derive(Debug, Clone)]
pub struct Rule {
    text: String,
    tool: String,
    what: Option<What>,
}

#[derive(Debug, Clone)]
pub(super) enum What {
    Command {
        words: Vec<String>,
        is_prefix: bool,
    },
    /// A line of several commands, each with its words.
    Line {
        text: String,
        commands: Vec<Vec<String>>,
    },
    Path {
        glob: GlobMatcher,
        from: PathStart,
    },
    Host(String),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum PathStart {
    Root,
    Home,
    Cwd,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Rule {}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Commands that run the command in their arguments.
const LAUNCHERS: &[&str] = &[
    "sudo", "doas", "env", "nohup", "exec", "command", "builtin", "time", "timeout", "nice", "ionice", "setsid",
    "stdbuf", "xargs", "parallel", "find", "watch", "chroot", "busybox", "strace", "script",
];

/// How a rule matches the words of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandMatch {
    /// It is a rule for the whole tool.
    Tool,
    /// It has exactly these words.
    Exact,
    /// It has so many of the first words.
    Prefix(usize),
}

impl Rule {
    /// Parses a rule in Claude Code's spelling with offshoot's names of tools.
    ///
    /// # Errors
    /// A phrase that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (tool, what) = match text.split_once('(') {
            Some((tool, rest)) => {
                let what = rest.strip_suffix(')').ok_or_else(|| format!("{text:?} has no closing bracket"))?;
                (tool, Some(what.trim()).filter(|what| !matches!(*what, "*" | "**" | ":*")))
            }
            None => (text, None),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*');
        if tool.is_empty() || !tool.chars().all(is_name) {
            return Err(format!("{text:?} does not begin with the name of a tool"));
        }
        let what = what.map(|what| What::parse(tool, what)).transpose()?;
        Ok(Self { text: text.to_owned(), tool: tool.to_owned(), what })
    }

    /// The rule that matches exactly this call, if one can.
    pub(super) fn exact(call: &ApprovalCall<'_>) -> Option<Self> {
        match call.tier {
            Tier::Command(command) => {
                let rule = Self::parse(&format!("bash({})", command.trim())).ok()?;
                (rule.is_exact() && rule.covers(call)).then_some(rule)
            }
            Tier::Write(paths) => {
                let [path] = paths.as_slice() else { return None };
                let inside = super::inside(path, call.cwd)?.to_str()?.to_owned();
                Self::parse(&format!("edit(./{})", globset::escape(&inside))).ok()
            }
            Tier::Read(_) | Tier::Exec | Tier::Net(_) => None,
        }
    }

    /// The tool that it names.
    pub(super) fn tool(&self) -> &str {
        &self.tool
    }

    /// What of the tool's calls it names; `None` for all.
    pub(super) fn what(&self) -> Option<&What> {
        self.what.as_ref()
    }

    /// Whether it names one command line or one path, not a group of them.
    pub(super) fn is_exact(&self) -> bool {
        match &self.what {
            Some(What::Command { is_prefix, .. }) => !is_prefix,
            Some(What::Line { .. }) => true,
            Some(What::Path { glob, .. }) => is_one_path(glob.glob().glob()),
            Some(What::Host(_)) | None => false,
        }
    }

    /// What whoever keeps the rule should know: that it lets more run than its words say.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        const PROJECT: &str = "files in the folder decide what it runs";
        let of_words = |words: &[String], is_prefix: bool| {
            let program = words.first()?;
            match known::table_of(words) {
                Table::Row(row) if row.effect() == Effect::RunsProject => Some(PROJECT.to_owned()),
                Table::None if program.contains('/') && !program.starts_with('/') => Some(PROJECT.to_owned()),
                Table::Unlisted if is_prefix && words.len() > 1 && !known::is_built_in(words) => {
                    Some(format!("it lets {} run with any words", words.join(" ")))
                }
                Table::None if is_prefix => Some(format!("it lets {program} run with any words")),
                Table::Row(_) | Table::None | Table::Unlisted => None,
            }
        };
        match &self.what {
            None => (self.tool == "bash").then(|| "it lets every command run".to_owned()),
            Some(What::Command { words, is_prefix }) => of_words(words, *is_prefix),
            Some(What::Line { commands, .. }) => commands.iter().find_map(|words| of_words(words, false)),
            Some(What::Path { .. } | What::Host(_)) => None,
        }
    }

    /// Whether it covers the whole call by itself: the tool, the files, the host, or exactly this command or line.
    pub(super) fn covers(&self, call: &ApprovalCall<'_>) -> bool {
        match (&self.what, call.tier) {
            _ if !self.names_tool(call) => false,
            (None, _) => true,
            (Some(What::Command { words, is_prefix }), Tier::Command(command)) => {
                let line = part(command);
                let [only] = line.commands.as_slice() else { return false };
                !is_prefix && line.is_plain && only.is_allowable() && only.words == *words
            }
            (Some(What::Line { text, .. }), Tier::Command(command)) => command.trim() == text,
            (Some(What::Path { glob, from }), Tier::Read(paths) | Tier::Write(paths)) => {
                let is_matched = |path: &PathBuf| real_path(path).is_ok_and(|real| from.matches(glob, &real, call));
                !paths.is_empty() && paths.iter().all(is_matched)
            }
            (Some(What::Host(host)), Tier::Net(asked)) => is_host(host, asked),
            (Some(What::Command { .. } | What::Line { .. } | What::Path { .. } | What::Host(_)), _) => false,
        }
    }

    /// Whether it is about some of the files that tools read: then those that a call does not name may be among them.
    pub(super) fn limits_reads_of_some_files(&self) -> bool {
        match &self.what {
            Some(What::Path { .. }) => self.tool != "edit",
            Some(What::Command { .. } | What::Line { .. } | What::Host(_)) | None => false,
        }
    }

    /// How it matches the words of one command of a line.
    pub(super) fn match_words(&self, words: &[String]) -> Option<CommandMatch> {
        match &self.what {
            None => (self.tool == "bash").then_some(CommandMatch::Tool),
            Some(What::Command { words: of_rule, is_prefix: false }) => {
                (words == of_rule).then_some(CommandMatch::Exact)
            }
            Some(What::Command { words: of_rule, is_prefix: true }) => {
                words.starts_with(of_rule).then_some(CommandMatch::Prefix(of_rule.len()))
            }
            Some(What::Line { .. } | What::Path { .. } | What::Host(_)) => None,
        }
    }

    /// Whether it touches any part of the call.
    pub(super) fn touches(&self, call: &ApprovalCall<'_>, line: &ShellLine) -> bool {
        match (&self.what, call.tier) {
            _ if !self.names_tool(call) => false,
            (None, _) => true,
            (Some(What::Command { words, is_prefix }), Tier::Command(_)) => line.commands.iter().any(|command| {
                readings(&command.words).any(|said| match is_prefix {
                    true => starts_like(said, words),
                    false => said.len() == words.len() && starts_like(said, words),
                })
            }),
            (Some(What::Line { commands, .. }), Tier::Command(_)) => commands.iter().all(|words| {
                line.commands.iter().any(|command| {
                    readings(&command.words).any(|said| said.len() == words.len() && starts_like(said, words))
                })
            }),
            (Some(What::Path { glob, from }), Tier::Read(paths) | Tier::Write(paths)) => {
                let is_real = |path: &Path| real_path(path).is_ok_and(|real| from.matches(glob, &real, call));
                paths.iter().any(|path| from.matches(glob, path, call) || is_real(path))
            }
            (Some(What::Host(host)), Tier::Net(asked)) => is_host(host, asked),
            (Some(What::Command { .. } | What::Line { .. } | What::Path { .. } | What::Host(_)), _) => false,
        }
    }

    /// `edit` matches every tool that writes files, `read` every tool that reads them.
    fn names_tool(&self, call: &ApprovalCall<'_>) -> bool {
        match (self.tool.as_str(), call.tier) {
            ("edit", Tier::Write(_)) | ("read", Tier::Read(_)) => true,
            (tool, _) => match tool.strip_suffix('*') {
                Some(start) => call.tool.starts_with(start),
                None if tool.starts_with("mcp__") => {
                    call.tool == tool || call.tool.strip_prefix(tool).is_some_and(|rest| rest.starts_with("__"))
                }
                None => call.tool == tool,
            },
        }
    }
}

/// Whether the pattern matches exactly one path: it contains no unescaped wildcard.
fn is_one_path(pattern: &str) -> bool {
    let without = |rest: String, c: char| rest.replace(&format!("[{c}]"), "");
    let rest = "*?{}[]!".chars().fold(pattern.to_owned(), without);
    !rest.contains(['*', '?', '[', '{', '\\'])
}

impl What {
    fn parse(tool: &str, what: &str) -> Result<Self, String> {
        if tool == "bash" {
            let prefix = what.strip_suffix(":*").or_else(|| what.strip_suffix(" *"));
            let line = part(prefix.unwrap_or(what));
            let is_plain = line.is_plain && line.commands.iter().all(SimpleCommand::is_allowable);
            return match line.commands.as_slice() {
                [command] if is_plain => {
                    Ok(Self::Command { words: command.words.clone(), is_prefix: prefix.is_some() })
                }
                [_, _, ..] if is_plain && prefix.is_none() => Ok(Self::Line {
                    text: what.trim().to_owned(),
                    commands: line.commands.into_iter().map(|command| command.words).collect(),
                }),
                _ => {
                    Err(format!("{what:?} is not a plain command or line; a group of commands is written `git push:*`"))
                }
            };
        }
        if let Some(host) = what.strip_prefix("domain:") {
            return Ok(Self::Host(host.trim().to_lowercase()));
        }
        let (from, pattern) = match what.strip_prefix("~/") {
            Some(rest) => (PathStart::Home, rest.to_owned()),
            None if what.starts_with('/') => (PathStart::Root, what.to_owned()),
            None => match what.strip_prefix("./") {
                Some(rest) => (PathStart::Cwd, rest.to_owned()),
                None if what.contains('/') => (PathStart::Cwd, what.to_owned()),
                None => (PathStart::Cwd, format!("**/{what}")),
            },
        };
        let glob = GlobBuilder::new(&pattern).literal_separator(true).backslash_escape(true).build();
        let glob = glob.map_err(|error| format!("{what:?} is not a pattern for paths: {error}"))?;
        Ok(Self::Path { glob: glob.compile_matcher(), from })
    }
}

impl PathStart {
    fn matches(self, glob: &GlobMatcher, path: &Path, call: &ApprovalCall<'_>) -> bool {
        let below = |folder: &Path| {
            let rest = path.strip_prefix(folder).or_else(|_| path.strip_prefix(real_path_or_same(folder)));
            rest.is_ok_and(|rest| glob.is_match(rest))
        };
        match self {
            Self::Root => glob.is_match(path),
            Self::Home => call.home.is_some_and(below),
            Self::Cwd => below(call.cwd),
        }
    }
}

/// The command itself, and after a command that runs another one every rest of its words.
pub(super) fn readings(words: &[String]) -> impl Iterator<Item = &[String]> {
    let launcher = words.iter().position(|word| LAUNCHERS.contains(&base(word)));
    let rests = launcher.map_or(0..0, |at| at + 1..words.len());
    std::iter::once(words).chain(rests.filter_map(|at| words.get(at..)))
}

fn starts_like(said: &[String], words: &[String]) -> bool {
    let is_same = |(at, (said, word)): (usize, (&String, &String))| said == word || (at == 0 && base(said) == word);
    said.len() >= words.len() && said.iter().zip(words).enumerate().all(is_same)
}

fn is_host(rule: &str, asked: &str) -> bool {
    let asked = asked.to_lowercase();
    asked == rule || rule.strip_prefix("*.").is_some_and(|end| asked.ends_with(&format!(".{end}")))
}
