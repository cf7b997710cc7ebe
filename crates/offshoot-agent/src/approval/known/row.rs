//! One row of the tables of commands: the options whose meaning is known, and what the operands may be. Knows no command.

/// What is known of one command, or of one command of a program such as `git log`.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct CommandRow {
    pub(super) name: &'static str,
    pub(super) effect: Effect,
    pub(super) style: OptionStyle,
    /// Options without a value. `-#` is a number such as `-5`.
    pub(super) flags: &'static [&'static str],
    /// Options with a value, in the same word or in the next one.
    pub(super) values: &'static [&'static str],
    /// Options whose value, if any, is in the same word.
    pub(super) optional: &'static [&'static str],
    /// Options whose value is judged like the first operand.
    pub(super) judged: &'static [&'static str],
    pub(super) operands: Operands,
    /// How the words after `--` are judged, if they are not operands.
    pub(super) after_dashes: Option<&'static CommandRow>,
}

/// The row from which others begin: a command that reads, with no option.
pub(super) const ROW: CommandRow = CommandRow {
    name: "",
    effect: Effect::Reads,
    style: OptionStyle::Bundled,
    flags: &[],
    values: &[],
    optional: &[],
    judged: &[],
    operands: Operands::Any,
    after_dashes: None,
};

/// What a command does with the options of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Effect {
    /// It reads, and so do its other options.
    OnlyReads,
    /// It reads. Some of its other options run or write something.
    Reads,
    /// It changes what its name says, such as the commits of a repository.
    Changes,
    /// It runs programs that the project's files name.
    RunsProject,
    /// It runs the command in its operands.
    Launches,
    /// It runs the command in its operands, with words that it reads.
    LaunchesWithMore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionStyle {
    /// `-ab`, `-n5`, `--name=value`, before and after operands.
    Bundled,
    /// The same, before the first operand only.
    BundledFirst,
    /// `-name value`: one dash and a whole word, as in find and go.
    Whole,
    /// Every word is an operand.
    NoOptions,
}

/// What the words may be that are not options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    Any,
    AtMost(usize),
    /// Files below the folder, by a relative path.
    Below,
    /// The first one is a script for sed.
    SedScript,
    /// The first one is a program for awk.
    AwkProgram,
    /// The first one is the format of printf.
    PrintfFormat,
    /// `+%Y`: what date prints, and no time to set.
    DateFormat,
    /// No `name=value`, which changes what make runs.
    NoAssignment,
    /// `name=value` of variables that programs print by.
    HarmlessVariables,
    /// The first one is a remote of the repository, the others branches and tags.
    Remote,
    /// One name with a dot, as git's configuration has them.
    ConfigName,
    /// An archive on this computer.
    LocalArchive,
    /// Files to page through, and no `+command`.
    NoCommand,
    /// The name of a manual page, and no file.
    PageName,
    /// Addresses of the web; only those of the rule if it has one.
    Addresses,
    /// After so many operands a command, which has a rule of its own.
    Command(usize),
}

/// Whether a column lists the option.
pub(in super::super) fn lists(column: &[&str], option: &str) -> bool {
    column.iter().any(|text| text.split_ascii_whitespace().any(|listed| listed == option))
}
