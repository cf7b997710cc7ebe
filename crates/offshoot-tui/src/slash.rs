//! Slash commands: their table and parser. Runs none.

mod alias;
mod parse;

use offshoot_protocol::{ApprovalMode, FilesAlong, SandboxMode, ThinkingLevel};
use offshoot_session::entry_name::LAST_SAID;
use offshoot_workspace::{Arg, ArgKind, FrontEnd, LineForm, OPERATIONS, OperationOrder, Row};
use std::sync::LazyLock;

pub use alias::ALIASES;
pub(crate) use alias::yields;
pub(crate) use parse::called_name;
pub use parse::{Mistake, parse};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlashCommand {
    New,
    /// Opens another session: this one, or one that the user picks.
    Resume(Option<String>),
    /// Searches what was said in all sessions, for these words at first.
    Search(Option<String>),
    Tree,
    Branches,
    Switch(String, FilesAlong),
    /// Continues in this file at an entry: this one, or one that the user picks.
    BranchHere(Option<String>, FilesAlong),
    /// Starts a session before a message: this entry, or one that the user picks.
    Fork(Option<String>, FilesAlong),
    Clone,
    /// Goes back to the last user message, or to this entry, with a summary of the abandoned branch.
    Pop(Option<String>, FilesAlong),
    /// Compares two entries, or one with the current one.
    Compare(String, Option<String>),
    /// An operation of the table.
    Operation(OperationOrder),
    ExportBranch {
        entry: String,
        /// `None` for a file in this folder.
        path: Option<String>,
    },
    /// Asks for the session's name.
    AskName,
    Compact {
        instructions: Option<String>,
    },
    /// Uses this model, or one that the user picks.
    Model(Option<String>),
    Thinking(Option<ThinkingLevel>),
    /// Shows and switches what the model may do unasked.
    Approval(Option<ApprovalMode>),
    /// Says what the sandbox is, and switches it.
    Sandbox(Option<SandboxMode>),
    Background,
    /// Lists the agents of the session.
    Agents,
    /// Lists, explains or removes rules of approval.
    Permissions(Option<String>),
    /// Lists MCP servers, or connects one again.
    Mcp(Option<String>),
    /// Keeps or removes a key of this provider, or of one that the user chooses.
    Auth(AuthAction, Option<String>),
    Session,
    /// Exports the session in the format of the file's extension; `None`: a page in this folder.
    Export(Option<String>),
    Import(String),
    Copy,
    Settings,
    Theme,
    /// Reads settings, keys, skills, templates and themes anew.
    Reload,
    /// Lists the extensions of this run.
    Extensions,
    /// Chooses the models that a key changes between.
    ScopedModels,
    /// Asks whether this folder is trusted.
    Trust,
    Help,
    Quit,
}

/// What becomes of a provider's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthAction {
    Login,
    Logout,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Argument {
    Entry,
    Session,
    Model,
    Thinking,
    Approval,
    Sandbox,
    Label,
    File,
    Text,
    /// Of a command of an extension, which knows its values.
    Called,
    /// An option of a command that brings files.
    FilesOption,
}

impl Argument {
    /// Whether values that are in no list are allowed.
    pub(crate) fn is_open(self) -> bool {
        match self {
            Self::Entry | Self::Session | Self::Label | Self::File | Self::Text | Self::Called | Self::FilesOption => {
                true
            }
            Self::Model | Self::Thinking | Self::Approval | Self::Sandbox => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// Without the `/`.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// The arguments as shown: `<required>`, `[optional]`.
    pub usage: &'static str,
    /// The first argument; `None` if the command takes none.
    pub argument: Option<Argument>,
    pub says: &'static str,
}

/// What a command takes that brings files: that they come, and that they come across commits of git.
pub(crate) const FILES_OPTIONS: [&str; 2] = ["--files", "--across-commits"];

impl Spec {
    #[must_use]
    pub fn needs_argument(&self) -> bool {
        self.usage.starts_with('<')
    }

    /// Whether the command takes `--files`.
    #[must_use]
    pub fn brings_files(&self) -> bool {
        self.usage.contains("[--files]")
    }

    /// Such as `/export-branch <entry> [path]`.
    #[must_use]
    pub fn typed(&self) -> String {
        if self.usage.is_empty() { format!("/{}", self.name) } else { format!("/{} {}", self.name, self.usage) }
    }
}

const fn spec(name: &'static str, usage: &'static str, argument: Option<Argument>, says: &'static str) -> Spec {
    Spec { name, aliases: &[], usage, argument, says }
}

/// The name in pi's documents.
const BRANCH: &[&str] = &["branch"];

/// Commands with words of their own. Every other operation of the table is a command, too: see [`commands`].
const COMMANDS: &[Spec] = &[
    spec("new", "", None, "begin a session"),
    spec("resume", "[session]", Some(Argument::Session), "open another session"),
    spec("search", "[words]", Some(Argument::Text), "find what was said in any session"),
    spec("tree", "", None, "walk the tree of this session"),
    spec("branches", "", None, "list the branches of this session"),
    spec("switch", "<entry> [--files]", Some(Argument::Entry), "continue after an entry"),
    spec("branch-here", "[entry]", Some(Argument::Entry), "continue this session from an earlier message"),
    Spec {
        aliases: BRANCH,
        ..spec("fork", "[entry] [--files]", Some(Argument::Entry), "begin a session before an earlier message")
    },
    spec("clone", "", None, "begin a session with everything up to here"),
    spec("pop", "[entry] [--files]", Some(Argument::Entry), "back to the last message, with a summary"),
    Spec {
        aliases: &["cherry-pick"],
        ..spec("pick", "<entries>", Some(Argument::Entry), "copy entries of another branch here: 1a2b, 1a2b..3c4d")
    },
    spec("merge", "<entry> [instructions]", Some(Argument::Entry), "summarise here what another branch has"),
    spec("compare", "<entry> [entry]", Some(Argument::Entry), "show where two branches part, and what each has"),
    spec("undo", "[--files]", None, "undo the last switch, pick, merge or compaction; again: redo"),
    spec("export-branch", "<entry> [path]", Some(Argument::Entry), "write the branch up to an entry into a file"),
    spec("label", "[text | --clear]", Some(Argument::Label), "show, set or remove a label here"),
    spec("name", "[name]", Some(Argument::Text), "name the session, or show its name"),
    spec("compact", "[instructions]", Some(Argument::Text), "summarise what came before, and cut"),
    spec("uncompact", "", None, "continue as if the newest compaction had not happened"),
    spec("model", "[model]", Some(Argument::Model), "choose a model"),
    spec("scoped-models", "", None, "choose the models that a key changes between"),
    spec("thinking", "[level]", Some(Argument::Thinking), "choose how much the model thinks"),
    spec("approval", "[mode]", Some(Argument::Approval), "choose what the model may do unasked"),
    spec("sandbox", "[mode]", Some(Argument::Sandbox), "see and switch the sandbox of commands"),
    spec("permissions", "[why CALL | remove RULE]", Some(Argument::Text), "list, explain and remove approval rules"),
    spec("background", "", None, "list the commands that run beside the conversation, and stop one"),
    spec("agents", "", None, "list the agents of this session, and read one"),
    spec("mcp", "[reconnect NAME]", Some(Argument::Text), "list MCP servers, and connect one again"),
    spec("login", "[provider]", Some(Argument::Text), "save the key of a provider"),
    spec("logout", "[provider]", Some(Argument::Text), "remove the key of a provider"),
    spec("session", "", None, "show file, figures and cost of the session"),
    spec("context", "", None, "show what fills the model's window"),
    spec("export", "[path]", Some(Argument::File), "write the session to a file: .html, .jsonl, .md"),
    spec("import", "<path>", Some(Argument::File), "take a session file into the store and open it"),
    spec("copy", "", None, "copy the last answer"),
    spec("settings", "", None, "see and change the settings"),
    spec("theme", "", None, "choose the colours"),
    spec("extensions", "", None, "list the extensions, and what is wrong with them"),
    spec("reload", "", None, "read settings, keys, skills, templates, themes and extensions again"),
    spec("trust", "", None, "choose whether this folder's settings, skills and templates count"),
    Spec { aliases: &["hotkeys"], ..spec("help", "", None, "show commands and keys") },
    spec("quit", "", None, "leave"),
];

/// How lines are read that are not read as their arguments say: a label goes to what was said last, what follows the
/// branch of a merge is for the summary, and the messages that the model sees are in the conversation already.
const FORMS: &[(&str, LineForm)] = &[
    ("label", LineForm { preset: &[("entry", LAST_SAID)], rest: None }),
    ("context", LineForm { preset: &[("window", "")], rest: None }),
    ("merge", LineForm { preset: &[], rest: Some("instructions") }),
];

/// How the line of an operation is read.
pub(crate) fn form(operation: &str) -> LineForm {
    FORMS.iter().find(|(name, _)| *name == operation).map_or_else(LineForm::default, |(_, form)| *form)
}

static ALL: LazyLock<Vec<Spec>> = LazyLock::new(|| with_operations(OPERATIONS));

/// Every command, in the order of the help.
#[must_use]
pub fn commands() -> &'static [Spec] {
    &ALL
}

fn with_operations(operations: &'static [Row]) -> Vec<Spec> {
    let is_there = |row: &&Row| COMMANDS.iter().any(|spec| spec.name == row.about.name);
    let is_command = |row: &&Row| row.has_session() && row.is_on(FrontEnd::Slash);
    let others = operations.iter().filter(|row| is_command(row) && !is_there(row));
    COMMANDS.iter().copied().chain(others.map(spec_of)).collect()
}

fn spec_of(row: &'static Row) -> Spec {
    let args: Vec<&Arg> = row.typed_args(form(row.about.name)).collect();
    let shown = |arg: &&Arg| if arg.must_be_given() { format!("<{}>", arg.name) } else { format!("[{}]", arg.name) };
    let usage = args.iter().map(shown).collect::<Vec<_>>().join(" ");
    let argument = args.first().map(|arg| match arg.kind {
        ArgKind::Session => Argument::Session,
        ArgKind::Entry | ArgKind::EntryRange => Argument::Entry,
        ArgKind::File | ArgKind::Folder => Argument::File,
        ArgKind::Text | ArgKind::FilledText | ArgKind::Number | ArgKind::Size | ArgKind::Flag | ArgKind::Word(_) => {
            Argument::Text
        }
    });
    // Once in a run: the table is static.
    Spec { name: row.about.name, aliases: row.about.aliases, usage: usage.leak(), argument, says: row.about.title }
}

#[must_use]
pub fn find(name: &str) -> Option<&'static Spec> {
    position(name).and_then(|at| commands().get(at))
}

fn position(name: &str) -> Option<usize> {
    let named = |name: &str| commands().iter().position(|spec| spec.name == name || spec.aliases.contains(&name));
    named(name).or_else(|| named(alias::meant_by(name)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_stands_for_one_command() {
        let mut names: Vec<_> =
            commands().iter().flat_map(|spec| [spec.name].into_iter().chain(spec.aliases.to_vec())).collect();
        let count = names.len();
        names.extend(ALIASES.iter().map(|(alias, _)| *alias));
        let count = count + ALIASES.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(find("branch").map(|spec| spec.name), Some("fork"));
        assert_eq!(find("bogus"), None);
    }

    #[test]
    fn the_words_of_other_programs_land_on_a_command() {
        for (alias, command) in ALIASES {
            assert_eq!(find(alias).map(|spec| spec.name), command.split(' ').next(), "{alias}");
            assert!(yields(alias) && parse::OF_PI.iter().all(|(of_pi, _)| of_pi != alias), "{alias}");
        }
    }

    #[test]
    fn a_word_of_another_program_may_say_an_argument() {
        for (typed, mode) in [("/plan", ApprovalMode::Plan), ("/plan ask", ApprovalMode::Ask)] {
            assert_eq!(parse(typed), Some(Ok(SlashCommand::Approval(Some(mode)))), "{typed}");
        }
        assert_eq!(parse("/approvals"), Some(Ok(SlashCommand::Approval(None))));
    }

    /// A new operation needs no words of its own.
    #[test]
    fn an_operation_becomes_a_command_by_its_arguments() {
        let spec = |name| spec_of(offshoot_workspace::find_operation(name).unwrap());
        assert_eq!((spec("label").typed(), spec("label").argument), ("/label [text]".to_owned(), Some(Argument::Text)));
        assert_eq!(
            (spec("pick").typed(), spec("pick").argument),
            ("/pick <selection>".to_owned(), Some(Argument::Entry))
        );
        assert_eq!((spec("undo").typed(), spec("undo").argument), ("/undo".to_owned(), None));
        assert_eq!(spec("pick").aliases, ["cherry-pick"]);
    }

    #[test]
    fn who_takes_an_argument_says_so() {
        for spec in commands() {
            let is_told = !spec.usage.trim_end_matches("[--files]").is_empty();
            assert_eq!(is_told, spec.argument.is_some(), "{}", spec.name);
        }
        assert_eq!(find("export-branch").map(Spec::typed).as_deref(), Some("/export-branch <entry> [path]"));
    }
}
