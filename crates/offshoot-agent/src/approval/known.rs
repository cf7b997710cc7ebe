//! Commands whose options are known: the tables, and whether the words of a command are all in its row. An option that is not listed, or is
//! abbreviated, is not known. Looks whether a file exists, for git's remotes; runs nothing.

mod row;
mod files;
mod shell;
mod build;
mod git;
#[cfg(test)]
mod tests;

use std::path::Path;

pub(super) use row::{CommandRow, Effect, lists};
use row::{Operands, OptionStyle};

use super::script;
use super::shell_line::base;

/// What the tables say of a command.
#[derive(Debug, Clone, Copy)]
pub(super) enum Table {
    /// The program has no table.
    None,
    /// The program has one, without this command: `git frobnicate`, or a built-in that nothing can be said of.
    Unlisted,
    Row(&'static CommandRow),
}

/// A command in the folder where it would run.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownWords<'a> {
    pub(super) words: &'a [String],
    /// How many of the words a rule has itself.
    pub(super) of_rule: usize,
    pub(super) folder: &'a Path,
}

/// What a word of a command is to its program, by the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WordPart<'a> {
    Option { name: String, value: Option<&'a str> },
    Operand(&'a str),
}

/// Variables that change how programs print, and not what they do.
const HARMLESS_VARIABLES: &[&str] = &[
    "RUST_BACKTRACE",
    "RUST_LOG",
    "CARGO_TERM_COLOR",
    "CI",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "TERM",
    "TZ",
    "COLUMNS",
    "PYTHONUNBUFFERED",
    "NODE_ENV",
];

/// All rows, in the order of the tables.
pub(super) fn rows() -> impl Iterator<Item = &'static CommandRow> {
    [files::ROWS, shell::ROWS, build::ROWS, git::ROWS].into_iter().flatten()
}

/// The row of the command, by as many of its words as one has.
pub(super) fn table_of(words: &[String]) -> Table {
    let Some(program) = words.first() else { return Table::None };
    // A program that is named by a relative path is another one.
    let name = if program.starts_with('/') { base(program) } else { program.as_str() };
    let is_named = |row: &&CommandRow| {
        let mut names = row.name.split(' ');
        names.next() == Some(name)
            && names.enumerate().all(|(at, name)| words.get(at + 1).is_some_and(|word| word == name))
    };
    match rows().filter(is_named).max_by_key(|row| row.name.len()) {
        Some(row) => Table::Row(row),
        None if shell::NEVER.contains(&name) || rows().any(|row| row.name.split(' ').next() == Some(name)) => {
            Table::Unlisted
        }
        None => Table::None,
    }
}

/// Whether bash has the command built in.
pub(super) fn is_built_in(words: &[String]) -> bool {
    words
        .first()
        .is_some_and(|name| shell::NEVER.contains(&name.as_str()) || shell::ROWS.iter().any(|row| row.name == name))
}

impl CommandRow {
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    #[cfg(test)]
    pub(super) fn takes_value(&self, option: &str) -> bool {
        [self.values, self.optional, self.judged].iter().any(|column| lists(column, option))
    }

    pub(super) fn effect(&self) -> Effect {
        self.effect
    }

    /// The command that it runs, if all words before that are known; `Err` is the first word that is not.
    pub(super) fn inner<'a>(&self, known: KnownWords<'a>) -> Result<&'a [String], &'a str> {
        Ok(self.walk(self.own(known), known)?.0.unwrap_or_default())
    }

    /// Options and operands, if all words are known; `Err` is the first word that is not.
    pub(super) fn parts<'a>(&self, known: KnownWords<'a>) -> Result<Vec<WordPart<'a>>, &'a str> {
        Ok(self.walk(self.own(known), known)?.1)
    }

    /// The words after the command's name.
    fn own<'a>(&self, known: KnownWords<'a>) -> &'a [String] {
        known.words.get(self.name.split(' ').count()..).unwrap_or_default()
    }

    /// Goes through the words after the command's name, up to a command among them.
    fn walk<'a>(&self, own: &'a [String], known: KnownWords<'a>) -> Result<Walked<'a>, &'a str> {
        let mut found = Found { row: self, known, operands: 0, is_judged_by_option: false, parts: Vec::new() };
        let mut at = 0;
        let mut takes_options = self.style != OptionStyle::NoOptions;
        if self.operands == Operands::LocalArchive && own.first().is_some_and(|word| !word.starts_with('-')) {
            at = found.old_style(own)?;
        }
        while let Some(word) = own.get(at) {
            if let Operands::Command(before) = self.operands
                && found.operands == before
                && !(takes_options && word.starts_with('-'))
            {
                return Ok((own.get(at..), found.parts));
            }
            if takes_options && word == "--" {
                if let Some(row) = self.after_dashes {
                    return row.walk(own.get(at + 1..).unwrap_or_default(), known);
                }
                takes_options = false;
                at += 1;
            } else if takes_options && word.len() > 1 && word.starts_with('-') {
                at += found.option(word, own.get(at + 1), self.origin_of_word(own, at, known))?;
            } else {
                found.operand(word, self.origin_of_word(own, at, known))?;
                takes_options &= self.style != OptionStyle::BundledFirst;
                at += 1;
            }
        }
        Ok((None, found.parts))
    }

    /// Whether the rule itself has the word.
    fn origin_of_word(&self, own: &[String], at: usize, known: KnownWords<'_>) -> WordOf {
        if known.words.len() - own.len() + at < known.of_rule { WordOf::Rule } else { WordOf::Call }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordOf {
    Rule,
    Call,
}

/// The command among the words, and what the words before it are.
type Walked<'a> = (Option<&'a [String]>, Vec<WordPart<'a>>);

/// What was found so far among the words of a command.
struct Found<'r, 'a> {
    row: &'r CommandRow,
    known: KnownWords<'a>,
    parts: Vec<WordPart<'a>>,
    operands: usize,
    /// An option has had the text that is else the first operand.
    is_judged_by_option: bool,
}

impl<'a> Found<'_, 'a> {
    fn add(&mut self, name: &str, value: Option<&'a str>) {
        self.parts.push(WordPart::Option { name: name.to_owned(), value });
    }

    /// How many words the option is.
    fn option(&mut self, word: &'a str, next: Option<&'a String>, of: WordOf) -> Result<usize, &'a str> {
        let row = self.row;
        let is_number = word.get(1..).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()));
        if lists(row.flags, word) || lists(row.optional, word) || (is_number && lists(row.flags, "-#")) {
            self.add(word, None);
            return Ok(1);
        }
        if lists(row.values, word) {
            self.add(word, next.map(String::as_str));
            return Ok(2);
        }
        if lists(row.judged, word) {
            self.add(word, next.map(String::as_str));
            let is_known = next.is_none_or(|next| self.judge(next));
            return is_known.then_some(2).ok_or(word);
        }
        let known = match (word.split_once('='), row.style) {
            (Some((name, value)), _) if name.starts_with("--") || row.style == OptionStyle::Whole => {
                self.add(name, Some(value));
                let takes_value = lists(row.values, name) || lists(row.optional, name);
                takes_value || (lists(row.judged, name) && self.judge(value))
            }
            (_, OptionStyle::Bundled | OptionStyle::BundledFirst) if !word.starts_with("--") => {
                return self.bundle(word, next, of);
            }
            (_, OptionStyle::Whole) if word.starts_with("--") => {
                return word.get(1..).map_or(Err(word), |word| self.option(word, next, of));
            }
            (_, OptionStyle::Bundled | OptionStyle::BundledFirst | OptionStyle::Whole | OptionStyle::NoOptions) => {
                false
            }
        };
        // A word of the rule itself was allowed with it.
        if known || of == WordOf::Rule { Ok(1) } else { Err(word) }
    }

    /// Options of one letter each, the last one perhaps with a value.
    fn bundle(&mut self, word: &'a str, next: Option<&'a String>, of: WordOf) -> Result<usize, &'a str> {
        for (at, letter) in word.char_indices().skip(1) {
            let option = format!("-{letter}");
            let rest = word.get(at + letter.len_utf8()..).unwrap_or_default();
            let value = if rest.is_empty() { next.map(String::as_str) } else { Some(rest) };
            let count = if rest.is_empty() { 2 } else { 1 };
            if lists(self.row.values, &option) {
                self.add(&option, value);
                return Ok(count);
            }
            if lists(self.row.optional, &option) {
                self.add(&option, Some(rest).filter(|rest| !rest.is_empty()));
                return Ok(1);
            }
            self.add(&option, value.filter(|_| lists(self.row.judged, &option)));
            if lists(self.row.judged, &option) {
                return value.is_none_or(|value| self.judge(value)).then_some(count).ok_or(word);
            }
            if !lists(self.row.flags, &option) && of == WordOf::Call {
                return Err(word);
            }
        }
        Ok(1)
    }

    /// `tar tvf a`: letters without a dash, whose values follow in their order.
    fn old_style<'w>(&mut self, own: &'w [String]) -> Result<usize, &'w str> {
        let Some(letters) = own.first() else { return Ok(0) };
        let mut at = 1;
        for letter in letters.chars() {
            let option = format!("-{letter}");
            let is_archive = lists(self.row.judged, &option);
            if is_archive {
                if !own.get(at).is_none_or(|value| self.judge(value)) {
                    return Err(letters);
                }
                at += 1;
            } else if !lists(self.row.flags, &option) {
                return Err(letters);
            }
        }
        Ok(at)
    }

    /// Whether the value of an option is one that is known.
    fn judge(&mut self, text: &str) -> bool {
        self.is_judged_by_option = true;
        match self.row.operands {
            Operands::SedScript => script::is_known_sed(text),
            Operands::LocalArchive => !text.contains(':'),
            Operands::Below => is_below(text) && !is_hidden(text),
            Operands::Command(_) => text == "{}",
            Operands::Any
            | Operands::AtMost(_)
            | Operands::AwkProgram
            | Operands::PrintfFormat
            | Operands::DateFormat
            | Operands::NoAssignment
            | Operands::HarmlessVariables
            | Operands::Remote
            | Operands::ConfigName
            | Operands::NoCommand
            | Operands::PageName
            | Operands::Addresses => false,
        }
    }

    fn rule_has_operand(&self) -> bool {
        let of_rule = self.known.words.iter().take(self.known.of_rule);
        of_rule.skip(self.row.name.split(' ').count()).any(|word| !word.starts_with('-'))
    }

    fn operand(&mut self, word: &'a str, of: WordOf) -> Result<(), &'a str> {
        self.parts.push(WordPart::Operand(word));
        let at = self.operands;
        self.operands += 1;
        let is_first = at == 0 && !self.is_judged_by_option;
        let is_known = match self.row.operands {
            Operands::Any | Operands::LocalArchive | Operands::Command(_) => true,
            Operands::AtMost(count) => at < count,
            Operands::Below => is_below(word),
            Operands::SedScript => !is_first || script::is_known_sed(word),
            Operands::AwkProgram => !is_first || script::is_known_awk(word),
            Operands::PrintfFormat => !is_first || script::is_known_printf(word),
            Operands::DateFormat => word.starts_with('+'),
            Operands::NoAssignment => !word.contains('='),
            Operands::HarmlessVariables => {
                HARMLESS_VARIABLES.contains(&word.split_once('=').map_or(word, |(name, _)| name))
            }
            Operands::Remote if at == 0 => is_remote(word, self.known.folder),
            Operands::Remote => !word.contains([':', '+']),
            Operands::ConfigName => at == 0 && word.contains('.'),
            Operands::NoCommand => !word.starts_with('+'),
            Operands::PageName => !word.starts_with('+') && !word.contains('/'),
            Operands::Addresses => is_web_address(word) && !self.rule_has_operand(),
        };
        if is_known || of == WordOf::Rule { Ok(()) } else { Err(word) }
    }
}

/// A relative path that does not go up; a file of arguments (`@file`) is not one.
fn is_below(word: &str) -> bool {
    !word.starts_with(['/', '~', '@']) && word.split('/').all(|part| part != "..")
}

/// Whether a file lies in a hidden folder or is hidden itself, such as a hook of git.
fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.') && part != ".")
}

fn is_web_address(word: &str) -> bool {
    word.starts_with("http://") || word.starts_with("https://")
}

/// A name of a remote. A folder of that name would be another repository.
fn is_remote(word: &str, folder: &Path) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let names_folder =
        ["", ".git", ".bundle"].iter().any(|end| folder.join(format!("{word}{end}")).symlink_metadata().is_ok());
    word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(is_name) && !names_folder
}
