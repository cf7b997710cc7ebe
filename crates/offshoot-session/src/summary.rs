//! A summary without a model: the words that are there, picked and put into the usual sections.
//!
//! It keeps what can be found again by rule (the request, what the person asked for, files, commands, errors, last
//! words) and says in its details that no model wrote it.

use std::collections::BTreeSet;

use crate::entry::{Entry, Source, text_of};
use crate::error::Result;
use crate::json::{Json, Object, quote};
use crate::kind::{Kind, Role};
use crate::text::one_line;
use crate::tree::NodeIx;

/// A finished summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Markdown with the peers' headings.
    pub text: String,
    /// `{"readFiles":[…],"modifiedFiles":[…],"summariser":"extractive"}`.
    pub details: String,
}

/// How many lines a section shows; it says how many more there were.
const SECTION: usize = 12;
const LINE: usize = 240;

#[derive(Default)]
struct Found {
    goal: Option<String>,
    constraints: Vec<String>,
    done: Vec<String>,
    blocked: Vec<String>,
    earlier: Vec<String>,
    last_request: Option<String>,
    last_answer: Option<String>,
    read: BTreeSet<String>,
    modified: BTreeSet<String>,
}

/// Summarises entries, given from the oldest to the newest.
///
/// # Errors
/// The medium cannot be read.
pub fn extractive(source: &dyn Source, entries: &[NodeIx]) -> Result<Summary> {
    let mut found = Found::default();
    for ix in entries {
        if matches!(source.tree().node(*ix).kind(), Kind::Message | Kind::BranchSummary | Kind::Compaction) {
            found.take(&source.entry(*ix)?);
        }
    }
    Ok(found.summary())
}

impl Found {
    fn take(&mut self, entry: &Entry) {
        match (entry.kind, entry.role) {
            (Kind::BranchSummary | Kind::Compaction, _) => {
                self.earlier.extend(entry.str("summary").map(|text| one_line(&text, LINE)));
                self.take_files(entry.get("details"));
            }
            (_, Some(Role::User)) => self.user(&said(entry)),
            (_, Some(Role::Assistant)) => self.assistant(entry),
            (_, Some(Role::ToolResult)) => {
                let failed = entry.message().and_then(|message| message.get("isError")).and_then(Json::as_bool);
                if failed == Some(true) {
                    self.blocked.push(one_line(&said(entry), LINE));
                }
            }
            (_, Some(Role::BashExecution)) => {
                let command =
                    entry.message().and_then(|message| message.str("command").map(std::borrow::Cow::into_owned));
                self.done.extend(command.map(|command| format!("ran `{}`", one_line(&command, 80))));
            }
            _ => {}
        }
    }

    fn user(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.goal.get_or_insert_with(|| one_line(text, 2 * LINE));
        self.last_request = Some(one_line(text, LINE));
        let rules = text.split(['\n', '.', '!']).filter(|sentence| is_rule(sentence));
        self.constraints.extend(rules.map(|rule| one_line(rule, LINE)));
    }

    fn assistant(&mut self, entry: &Entry) {
        let text = said(entry);
        if !text.trim().is_empty() {
            self.last_answer = Some(one_line(&text, 2 * LINE));
        }
        let blocks = entry.message().and_then(|message| message.get("content")).map(Json::items).into_iter().flatten();
        for block in blocks.filter(|block| block.str("type").is_some_and(|kind| kind == "toolCall")) {
            let argument = |name: &str| block.get("arguments").and_then(|arguments| arguments.str(name));
            match (block.str("name").as_deref(), argument("path"), argument("command")) {
                (Some("read"), Some(path), _) => drop(self.read.insert(path.into_owned())),
                (Some(tool @ ("edit" | "write")), Some(path), _) => {
                    self.done.push(format!("{} {path}", if tool == "edit" { "edited" } else { "wrote" }));
                    self.modified.insert(path.into_owned());
                }
                (Some("bash"), _, Some(command)) => self.done.push(format!("ran `{}`", one_line(&command, 80))),
                _ => {}
            }
        }
    }

    fn take_files(&mut self, details: Option<Json<'_>>) {
        let Some(details) = details else { return };
        let files = |name: &str| details.get(name).map(Json::items).into_iter().flatten().filter_map(Json::as_str);
        self.read.extend(files("readFiles").map(std::borrow::Cow::into_owned));
        self.modified.extend(files("modifiedFiles").map(std::borrow::Cow::into_owned));
    }

    fn summary(mut self) -> Summary {
        self.done.dedup();
        let read: Vec<String> = self.read.difference(&self.modified).cloned().collect();
        let modified: Vec<String> = self.modified.iter().cloned().collect();
        let last = [("Last request", &self.last_request), ("Last answer", &self.last_answer)];
        let last = last.iter().filter_map(|(what, text)| text.as_ref().map(|text| format!("{what}: {text}")));
        let mut text = format!("## Goal\n{}\n", self.goal.as_deref().unwrap_or("(none stated)"));
        section(&mut text, "## Constraints & Preferences", "- ", &self.constraints);
        text.push_str("\n## Progress");
        section(&mut text, "### Done", "- [x] ", &self.done);
        section(&mut text, "### Blocked", "- ", &self.blocked);
        section(&mut text, "## Critical Context", "- ", &self.earlier.iter().cloned().chain(last).collect::<Vec<_>>());
        for (tag, files) in [("read-files", &read), ("modified-files", &modified)] {
            if !files.is_empty() {
                text.push_str(&format!("\n<{tag}>\n{}\n</{tag}>\n", files.join("\n")));
            }
        }
        let list =
            |files: &[String]| format!("[{}]", files.iter().map(|file| quote(file)).collect::<Vec<_>>().join(","));
        let details = Object::new()
            .raw("readFiles", list(&read))
            .raw("modifiedFiles", list(&modified))
            .str("summariser", "extractive")
            .finish();
        Summary { text, details }
    }
}

fn said(entry: &Entry) -> String {
    let content = entry.message().and_then(|message| message.get("content"));
    content.map(|content| text_of(content, "\n")).unwrap_or_default()
}

/// Whether a sentence reads like a rule.
fn is_rule(sentence: &str) -> bool {
    const WORDS: [&str; 9] = ["must", "never", "always", "don't", "do not", "only", "prefer", "avoid", "make sure"];
    let lower = sentence.to_lowercase();
    sentence.len() < 400 && WORDS.iter().any(|word| lower.contains(word))
}

/// A heading and its lines; of many the last ones, and how many there were before them.
fn section(text: &mut String, heading: &str, bullet: &str, lines: &[String]) {
    text.push_str(&format!("\n{heading}\n"));
    if lines.is_empty() {
        text.push_str("(none)\n");
    }
    let hidden = lines.len().saturating_sub(SECTION);
    if hidden > 0 {
        text.push_str(&format!("- ({hidden} earlier ones not listed)\n"));
    }
    for line in &lines[hidden..] {
        text.push_str(&format!("{bullet}{line}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Options, Session};

    #[test]
    fn picks_goal_rules_files_and_last_words() {
        let message = |id: u32, message: &str| {
            format!(r#"{{"type":"message","id":"e{id}","parentId":null,"timestamp":"t","message":{message}}}"#)
        };
        let lines = [
            r#"{"type":"session","version":3,"id":"s"}"#.to_owned(),
            message(1, r#"{"role":"user","content":"Fix the parser. Never touch main.rs!"}"#),
            message(
                2,
                r#"{"role":"assistant","content":[{"type":"toolCall","name":"read","arguments":{"path":"a.rs"}},{"type":"toolCall","name":"edit","arguments":{"path":"a.rs"}},{"type":"toolCall","name":"read","arguments":{"path":"b.rs"}}]}"#,
            ),
            message(3, r#"{"role":"toolResult","isError":true,"content":[{"type":"text","text":"no such file"}]}"#),
            message(4, r#"{"role":"assistant","content":[{"type":"text","text":"It parses now."}]}"#),
        ];
        let session = Session::from_text(&(lines.join("\n") + "\n"), Options::default()).unwrap();
        let all: Vec<NodeIx> = session.tree().entries().collect();
        let summary = extractive(&session, &all).unwrap();
        for part in [
            "## Goal\nFix the parser",
            "- Never touch main",
            "- [x] edited a.rs",
            "- no such file",
            "Last answer: It parses now.",
            "<read-files>\nb.rs\n</read-files>",
            "<modified-files>\na.rs\n</modified-files>",
        ] {
            assert!(summary.text.contains(part), "{part} in {}", summary.text);
        }
        assert_eq!(summary.details, r#"{"readFiles":["b.rs"],"modifiedFiles":["a.rs"],"summariser":"extractive"}"#);
    }
}
