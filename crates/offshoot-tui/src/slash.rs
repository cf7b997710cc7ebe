//! The commands that begin with `/`: their table, what is typed as a command, and what may have been meant. Does none.

mod parse;

use offshoot_agent::provider::ThinkingLevel;

pub use parse::{Mistake, parse};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlashCommand {
    New,
    /// Open another session: this one, or one that is chosen.
    Resume(Option<String>),
    Tree,
    Branches,
    Switch(String),
    /// Go on from an earlier message in this file: from this entry, or one that is chosen.
    BranchHere(Option<String>),
    /// Begin a session before an earlier message: this entry, or one that is chosen.
    Branch(Option<String>),
    Clone,
    /// Back to the last message of the user, or to this entry, with a summary of what is left.
    Pop(Option<String>),
    ExportBranch {
        entry: String,
        /// The file; `None` for one in this folder.
        path: Option<String>,
    },
    /// Put a label on the last entry; no text takes it away.
    Label(Option<String>),
    /// Name the session; no text asks for the name.
    Name(Option<String>),
    Compact {
        instructions: Option<String>,
    },
    /// Use a model: this one, or one that is chosen.
    Model(Option<String>),
    Thinking(Option<ThinkingLevel>),
    Session,
    /// Write the session into a file, by its ending; no path: a page in this folder.
    Export(Option<String>),
    Import(String),
    /// Copy the last answer.
    Copy,
    Settings,
    Help,
    Quit,
}

/// What an argument names, so that it can be completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Argument {
    Entry,
    Session,
    Model,
    Thinking,
    Label,
    File,
    Text,
}

impl Argument {
    /// Whether something that no list has may stand there.
    pub(crate) fn is_open(self) -> bool {
        match self {
            Self::Entry | Self::Session | Self::Label | Self::File | Self::Text => true,
            Self::Model | Self::Thinking => false,
        }
    }
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// Its name, without the `/`.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// Its arguments as they are shown: `<needed>`, `[may be left out]`.
    pub usage: &'static str,
    /// What the first argument names; `None`: it takes none.
    pub argument: Option<Argument>,
    pub says: &'static str,
}

impl Spec {
    /// Whether it means nothing without an argument.
    #[must_use]
    pub fn needs_argument(&self) -> bool {
        self.usage.starts_with('<')
    }

    /// How it is typed: `/export-branch <entry> [path]`.
    #[must_use]
    pub fn typed(&self) -> String {
        if self.usage.is_empty() { format!("/{}", self.name) } else { format!("/{} {}", self.name, self.usage) }
    }
}

/// The row of a command with these arguments.
const fn spec(name: &'static str, usage: &'static str, argument: Option<Argument>, says: &'static str) -> Spec {
    Spec { name, aliases: &[], usage, argument, says }
}

const FORK: &[&str] = &["fork"];

/// All commands, in the order in which they are shown.
pub const COMMANDS: &[Spec] = &[
    spec("new", "", None, "begin a session"),
    spec("resume", "[session]", Some(Argument::Session), "open another session"),
    spec("tree", "", None, "walk the tree of this session"),
    spec("branches", "", None, "list the branches of this session"),
    spec("switch", "<entry>", Some(Argument::Entry), "go on behind an entry"),
    spec("branch-here", "[entry]", Some(Argument::Entry), "go on from an earlier message, in this session"),
    Spec {
        aliases: FORK,
        ..spec("branch", "[entry]", Some(Argument::Entry), "begin a session before an earlier message")
    },
    spec("clone", "", None, "begin a session with all that stands up to here"),
    spec("pop", "[entry]", Some(Argument::Entry), "back to the last message, with a summary"),
    spec("export-branch", "<entry> [path]", Some(Argument::Entry), "write the branch up to an entry into a file"),
    spec("label", "[text]", Some(Argument::Label), "put a label here; no text takes it away"),
    spec("name", "[name]", Some(Argument::Text), "name the session, or show its name"),
    spec("compact", "[instructions]", Some(Argument::Text), "summarise what came before, and cut"),
    spec("model", "[model]", Some(Argument::Model), "choose a model"),
    spec("thinking", "[level]", Some(Argument::Thinking), "choose how much the model thinks"),
    spec("session", "", None, "show file, figures and cost of the session"),
    spec("export", "[path]", Some(Argument::File), "write the session to a file: .html, .jsonl, .md"),
    spec("import", "<path>", Some(Argument::File), "take a session file into the store and open it"),
    spec("copy", "", None, "copy the last answer"),
    spec("settings", "", None, "see and change the settings"),
    spec("help", "", None, "show commands and keys"),
    spec("quit", "", None, "leave"),
];

#[must_use]
pub fn find(name: &str) -> Option<&'static Spec> {
    position(name).and_then(|at| COMMANDS.get(at))
}

/// Where in the table it stands.
pub(crate) fn position(name: &str) -> Option<usize> {
    COMMANDS.iter().position(|spec| spec.name == name || spec.aliases.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_stands_for_one_command() {
        let mut names: Vec<_> =
            COMMANDS.iter().flat_map(|spec| [spec.name].into_iter().chain(spec.aliases.to_vec())).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(find("fork").map(|spec| spec.name), Some("branch"));
        assert_eq!(find("bogus"), None);
    }

    #[test]
    fn who_takes_an_argument_says_so() {
        for spec in COMMANDS {
            assert_eq!(spec.usage.is_empty(), spec.argument.is_none(), "{}", spec.name);
        }
        assert_eq!(find("export-branch").map(Spec::typed).as_deref(), Some("/export-branch <entry> [path]"));
    }
}
