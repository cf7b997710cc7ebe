//! Whether the rules of the settings cover each command of a line, and why not. A group of commands (`git log:*`) covers what is known of its
//! command, a program without a table with anything.

use std::path::{Path, PathBuf};

use super::ApprovalCall;
use super::known::{self, Effect, KnownWords, Table};
use super::place;
use super::rule::{CommandMatch, Rule};
use super::shell_line::{ShellLine, base};

/// Commands that run commands (`timeout 5 nice make`) are followed so far.
const DEPTH: usize = 4;
/// Of a word that a rule does not cover, so much is named.
const NAMED: usize = 60;

/// Why a rule that names a command does not cover it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Uncovered(String);

impl Uncovered {
    fn new(rule: &Rule, word: &str) -> Self {
        let end: String = word.chars().take(NAMED).collect();
        let ellipsis = if end.len() < word.len() { "…" } else { "" };
        Self(format!("the rule {rule} does not cover `{end}{ellipsis}`"))
    }

    pub(super) fn words(&self) -> &str {
        &self.0
    }
}

/// Whether the rules cover all commands of the line; `Err` says why if a rule names one that it does not cover.
pub(super) fn of_line(rules: &[Rule], call: &ApprovalCall<'_>, line: &ShellLine) -> Result<(), Option<Uncovered>> {
    if call.tool != "bash" || !line.is_plain || line.commands.is_empty() {
        return Err(None);
    }
    let Some(folders) = place::folders(line, call.cwd) else {
        let mover = line.commands.iter().find(|command| place::moves(&command.words));
        let uncovered = mover.and_then(|command| {
            let rule = rules.iter().find(|rule| rule.match_words(&command.words).is_some())?;
            Some(Uncovered::new(rule, &command.words.join(" ")))
        });
        return Err(uncovered);
    };
    let is_alone = line.commands.len() == 1;
    line.commands.iter().zip(&folders).try_for_each(|(command, folders)| {
        let place = Place { cwd: call.cwd, folders, is_alone };
        if !command.is_allowable() {
            return Err(None);
        }
        let words = &command.words;
        covers(rules, words, place, DEPTH).or_else(|why| match words.as_slice() {
            // Output that is read by a model has no pager.
            [git, option, rest @ ..] if git == "git" && option == "--no-pager" => {
                let words: Vec<String> = std::iter::once(git).chain(rest).cloned().collect();
                covers(rules, &words, place, DEPTH)
            }
            _ => Err(why),
        })
    })
}

/// Where a command runs.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    cwd: &'a Path,
    folders: &'a [PathBuf],
    /// Whether it is the only command of the line.
    is_alone: bool,
}

impl Place<'_> {
    /// Whether the command is in this place what it is in the person's folder.
    fn has_same(self, words: &[String]) -> bool {
        let program = words.first().map(String::as_str).unwrap_or_default();
        match base(program) {
            "git" => place::is_own_repository(self.folders, self.cwd),
            _ if program.contains('/') && !program.starts_with('/') => self.folders == [self.cwd],
            _ => true,
        }
    }
}

fn covers(rules: &[Rule], words: &[String], place: Place<'_>, depth: usize) -> Result<(), Option<Uncovered>> {
    let mut why = None;
    for rule in rules {
        let covered = match rule.match_words(words) {
            None => continue,
            Some(CommandMatch::Tool) => Ok(()),
            Some(CommandMatch::Exact) => covers_exactly(words, place),
            Some(CommandMatch::Prefix(of_rule)) => covers_group(rules, (words, of_rule), place, depth),
        };
        match covered {
            Ok(()) => return Ok(()),
            Err(word) => why = why.or_else(|| Some(Uncovered::new(rule, &word))),
        }
    }
    Err(why)
}

/// A rule for this command, in a line with others: it must not change what their words mean.
fn covers_exactly(words: &[String], place: Place<'_>) -> Result<(), String> {
    let changes_words = || known::is_built_in(words) && !place::moves(words) && before_inner(words, 0, place).is_err();
    let is_covered = place.has_same(words) && (place.is_alone || !changes_words());
    is_covered.then_some(()).ok_or_else(|| first(words))
}

/// A rule for the commands that begin with the first `of_rule` words.
fn covers_group(
    rules: &[Rule],
    (words, of_rule): (&[String], usize),
    place: Place<'_>,
    depth: usize,
) -> Result<(), String> {
    if !place.has_same(words) {
        return Err(first(words));
    }
    if place::moves(words) {
        return Ok(());
    }
    let (inner, effect) = before_inner(words, of_rule, place)?;
    if inner.is_empty() {
        return Ok(());
    }
    // What xargs adds to the words may be an option.
    let is_known = match (effect, known::table_of(inner)) {
        (Effect::LaunchesWithMore, Table::Row(row)) => row.effect() == Effect::OnlyReads,
        (Effect::LaunchesWithMore, Table::None | Table::Unlisted) => false,
        (Effect::OnlyReads | Effect::Reads | Effect::Changes | Effect::RunsProject | Effect::Launches, _) => true,
    };
    let is_covered = is_known && depth > 0 && !place::moves(inner) && covers(rules, inner, place, depth - 1).is_ok();
    is_covered.then_some(()).ok_or_else(|| inner.join(" "))
}

/// The command that the command runs, if every word before it is known, and what the outer one does; else the word that is not known.
fn before_inner<'w>(words: &'w [String], of_rule: usize, place: Place<'w>) -> Result<(&'w [String], Effect), String> {
    let folder = place.folders.first().map_or(place.cwd, PathBuf::as_path);
    match known::table_of(words) {
        Table::Row(row) => match row.inner(KnownWords { words, of_rule, folder }) {
            Ok(inner) => Ok((inner, row.effect())),
            Err(word) => Err(word.to_owned()),
        },
        Table::None => Ok((&[], Effect::Changes)),
        // A rule that has the name of the command itself grants it.
        Table::Unlisted
            if !known::is_built_in(words) && of_rule > 1 && words.get(1).is_some_and(|word| !word.starts_with('-')) =>
        {
            Ok((&[], Effect::Changes))
        }
        Table::Unlisted => Err(words.iter().take(2).cloned().collect::<Vec<_>>().join(" ")),
    }
}

fn first(words: &[String]) -> String {
    words.first().cloned().unwrap_or_default()
}
