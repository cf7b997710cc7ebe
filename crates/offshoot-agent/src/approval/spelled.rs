//! What a rule matches, in words for whoever keeps it. Decides nothing.

use super::known::{self, Table};
use super::rule::{PathStart, Rule, What};

impl Rule {
    /// What it lets run on a list of what is allowed, as a noun phrase.
    #[must_use]
    pub fn allows(&self) -> String {
        let matches = self.matches();
        match self.what() {
            Some(What::Command { words, is_prefix: true }) => match known::table_of(words) {
                Table::Row(_) => format!("{matches}, with options that offshoot knows; other options still ask"),
                Table::None | Table::Unlisted => format!("{matches}, whatever follows"),
            },
            _ => matches,
        }
    }

    /// What it matches, as a noun phrase: `commands that begin with cargo test`.
    #[must_use]
    pub fn matches(&self) -> String {
        match self.what() {
            None => match self.tool() {
                "bash" => "every command".to_owned(),
                "edit" => "every change of a file, in every folder".to_owned(),
                "read" => "every read of a file, in every folder".to_owned(),
                tool if tool.ends_with('*') => {
                    format!("every call of a tool whose name begins with {}", tool.trim_end_matches('*'))
                }
                tool => format!("every call of {tool}"),
            },
            Some(What::Command { words, is_prefix: false }) => format!("exactly the command {}", words.join(" ")),
            Some(What::Command { words, is_prefix: true }) => format!("commands that begin with {}", words.join(" ")),
            Some(What::Line { text, .. }) => format!("exactly the line {text}"),
            Some(What::Path { glob, from }) => {
                let pattern = glob.glob().glob();
                let (name, place) = match (from, pattern.strip_prefix("**/")) {
                    (PathStart::Cwd, Some(name)) if !name.contains('/') => {
                        (name.to_owned(), " in every folder below the working folder")
                    }
                    (PathStart::Cwd, _) => (pattern.to_owned(), " in the working folder"),
                    (PathStart::Home, _) => (format!("~/{pattern}"), ""),
                    (PathStart::Root, _) => (pattern.to_owned(), ""),
                };
                let what = match self.tool() {
                    "edit" => "changes of".to_owned(),
                    "read" => "reads of".to_owned(),
                    tool => format!("calls of {tool} for"),
                };
                let files = if self.is_exact() { "the file" } else { "the files" };
                format!("{what} {files} {}{place}", unescaped(&name))
            }
            Some(What::Host(host)) => format!("requests of {} to {host}", self.tool()),
        }
    }
}

/// A pattern for one path as the path itself.
fn unescaped(pattern: &str) -> String {
    let of = |text: String, c: char| text.replace(&format!("[{c}]"), &c.to_string());
    "*?{}[]!".chars().fold(pattern.to_owned(), of)
}
