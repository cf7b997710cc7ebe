//! Lines for the shell that only read: each command is in the table of reads with words that are all known, and its files may be read. Such a
//! line runs as it was judged: spelled anew, with the programs by their whole paths. Looks at the file system; runs nothing.

mod table;
mod programs;
mod files;
mod repository;
mod settings;
mod judged;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use offshoot_session::text::spell_lines;

pub(crate) use settings::{LISTING, NeutralSettings};

use super::place;
use super::shell_line::{Joiner, ShellLine, SimpleCommand};
use super::{ApprovalCall, Permissions};
use crate::tool::Tier;

/// What must be known of the system so that a command counts as a read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadCommands {
    /// The folders of `PATH`.
    pub search_path: Vec<PathBuf>,
    /// Whether git finds its repository and settings by the folder alone, and not by variables.
    pub finds_repositories: bool,
}

/// A line that only reads, as it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadLine {
    /// For a shell: every word in quotes.
    pub(crate) text: String,
    /// What must be looked at right before it runs.
    pub(crate) git: Option<GitReads>,
    /// Variables by which git runs nothing.
    pub(crate) variables: Vec<(String, String)>,
}

/// Where a line runs git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitReads {
    pub(crate) program: PathBuf,
    pub(crate) folders: Vec<PathBuf>,
}

/// A line that only reads, and whether it reads outside the working folder.
pub(super) struct LineReads {
    pub(super) line: ReadLine,
    pub(super) is_outside: bool,
}

/// Redirections that lead nowhere else.
const REDIRECTIONS: &[(&str, &str)] = &[
    ("2>&1", "2>&1"),
    ("2>/dev/null", "2>/dev/null"),
    (">/dev/null", ">/dev/null"),
    ("1>/dev/null", ">/dev/null"),
    ("&>/dev/null", ">/dev/null 2>&1"),
    (">&2", ">&2"),
    ("1>&2", ">&2"),
];

/// The line as it runs, if it only reads.
pub(super) fn of_line(permissions: &Permissions, call: &ApprovalCall<'_>, line: &ShellLine) -> Option<LineReads> {
    let reads = permissions.reads.as_ref()?;
    let is_last_ended = line.commands.last()?.joined_to_next == Joiner::Then;
    if call.tool != "bash" || !line.is_plain || !is_last_ended || !line.commands.iter().all(is_simple) {
        return None;
    }
    let folders = place::folders(line, call.cwd)?;
    let mut found = judged::JudgedLine::new(reads, call);
    let mut text = String::new();
    for (command, folders) in line.commands.iter().zip(&folders) {
        let words = match command.words.as_slice() {
            [name, target] if name == "cd" => moved(target),
            _ if place::moves(&command.words) => return None,
            words => found.command(words, folders)?,
        };
        text.push_str(&spelled(&words, command)?);
    }
    let paths = Tier::Read(found.paths.clone());
    let read = ApprovalCall { tool: "read", tier: &paths, ..*call };
    let mut limits = permissions.deny.iter().chain(&permissions.ask);
    let is_limited = |rule: &super::Rule| {
        rule.touches(&read, &ShellLine::default()) || (found.reads_unnamed_files && rule.limits_reads_of_some_files())
    };
    if limits.any(is_limited) {
        return None;
    }
    let git = found.git.map(|program| GitReads { program, folders: found.git_folders });
    Some(LineReads { line: ReadLine { text, git, variables: Vec::new() }, is_outside: found.is_outside })
}

fn is_simple(command: &SimpleCommand) -> bool {
    // A tilde may be a home directory: in quotes it is none. What cannot be seen is asked about, and spelled out.
    let is_home = |word: &String| word.starts_with('~') || word.contains("=~") || word.contains(":~");
    let is_word = |word: &String| !is_home(word) && spell_lines(word) == word.as_str();
    let is_known = |redirection: &String| REDIRECTIONS.iter().any(|(known, _)| known == redirection);
    command.is_allowable()
        && !command.is_nested
        && command.joined_to_next != Joiner::Background
        && command.words.iter().all(is_word)
        && command.redirections.iter().all(is_known)
}

/// Where `cd` leads is not looked up in `CDPATH`.
fn moved(target: &str) -> Vec<String> {
    let is_rooted = matches!(target, "." | "..") || ["/", "./", "../"].iter().any(|start| target.starts_with(start));
    vec!["cd".to_owned(), if is_rooted { target.to_owned() } else { format!("./{target}") }]
}

fn spelled(words: &[String], command: &SimpleCommand) -> Option<String> {
    let mut text: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    for redirection in &command.redirections {
        text.push(REDIRECTIONS.iter().find(|(known, _)| known == redirection)?.1.to_owned());
    }
    let joiner = match command.joined_to_next {
        Joiner::Then => "\n",
        Joiner::And => " && ",
        Joiner::Or => " || ",
        Joiner::Pipe => " | ",
        Joiner::Background => return None,
    };
    Some(text.join(" ") + joiner)
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
