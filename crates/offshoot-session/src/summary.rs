//! A summary without a model, in the usual sections: the request, rules, edits, commands, errors and last words, picked
//! by rule.

use crate::entry::{Entry, Source, text_of};
use crate::error::Result;
use crate::json::Json;
use crate::kind::{Kind, Role};
use crate::text::{counted, one_line};
use crate::transcript::call_blocks;
use crate::tree::NodeIx;

/// How many lines a section lists; it counts the rest.
const SECTION: usize = 12;
const LINE: usize = 240;

#[derive(Default)]
struct SummaryFacts {
    goal: Option<String>,
    constraints: Vec<String>,
    done: Vec<String>,
    blocked: Vec<String>,
    earlier: Vec<String>,
    last_request: Option<String>,
    last_answer: Option<String>,
}

/// Summarises entries, oldest first, as Markdown with the peers' headings, without files (see [`crate::files`]).
///
/// # Errors
/// The medium cannot be read.
pub fn extractive(source: &dyn Source, entries: &[NodeIx]) -> Result<String> {
    let mut found = SummaryFacts::default();
    for ix in entries {
        if matches!(source.tree().node(*ix).kind(), Kind::Message | Kind::BranchSummary | Kind::Compaction) {
            found.take(&source.entry(*ix)?);
        }
    }
    source.tree().whole(found.summary())
}

impl SummaryFacts {
    fn take(&mut self, entry: &Entry) {
        if matches!(entry.kind, Kind::BranchSummary | Kind::Compaction) {
            self.earlier.extend(entry.str("summary").map(|text| one_line(&text, LINE)));
            return;
        }
        match entry.role {
            Some(Role::User) => self.user(&message_words(entry)),
            Some(Role::Assistant) => self.assistant(entry),
            Some(Role::ToolResult) => {
                let failed = entry.message().and_then(|message| message.get("isError")).and_then(Json::as_bool);
                if failed == Some(true) {
                    self.blocked.push(one_line(&message_words(entry), LINE));
                }
            }
            Some(Role::BashExecution) => {
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
        let rules = sentences(text).filter(|sentence| is_rule(sentence));
        self.constraints.extend(rules.map(|rule| one_line(rule, LINE)));
    }

    fn assistant(&mut self, entry: &Entry) {
        let text = message_words(entry);
        if !text.trim().is_empty() {
            self.last_answer = Some(one_line(&text, 2 * LINE));
        }
        for block in entry.message().into_iter().flat_map(call_blocks) {
            let argument = |name: &str| block.get("arguments").and_then(|arguments| arguments.str(name));
            match (block.str("name").as_deref(), argument("path"), argument("command")) {
                (Some(tool @ ("edit" | "write")), Some(path), _) => {
                    self.done.push(format!("{} {path}", if tool == "edit" { "edited" } else { "wrote" }));
                }
                (Some("bash"), _, Some(command)) => self.done.push(format!("ran `{}`", one_line(&command, 80))),
                _ => {}
            }
        }
    }

    fn summary(mut self) -> String {
        self.done.dedup();
        let last = [("Last request", &self.last_request), ("Last answer", &self.last_answer)];
        let last = last.iter().filter_map(|(what, text)| text.as_ref().map(|text| format!("{what}: {text}")));
        let mut text = format!("## Goal\n{}\n", self.goal.as_deref().unwrap_or("(none stated)"));
        section(&mut text, "## Constraints & Preferences", "- ", &self.constraints);
        text.push_str("\n## Progress");
        section(&mut text, "### Done", "- [x] ", &self.done);
        section(&mut text, "### Blocked", "- ", &self.blocked);
        section(&mut text, "## Critical Context", "- ", &self.earlier.iter().cloned().chain(last).collect::<Vec<_>>());
        text.truncate(text.trim_end().len());
        text
    }
}

fn message_words(entry: &Entry) -> String {
    let content = entry.message().and_then(|message| message.get("content"));
    content.map(|content| text_of(content, "\n")).unwrap_or_default()
}

/// Splits text into sentences at line ends and punctuation; a full stop inside a name does not end one.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let is_end = |at: &usize| {
            let rest = line.as_bytes().get(*at..).unwrap_or_default();
            matches!(rest, [b'.' | b'!' | b'?' | b';'] | [b'.' | b'!' | b'?' | b';', b' ' | b'\t', ..])
        };
        let ends = (0..line.len()).filter(is_end).map(|at| at + 1).chain([line.len()]);
        let pieces = ends.scan(0, move |start, end| line.get(std::mem::replace(start, end)..end));
        pieces.map(str::trim).filter(|piece| !piece.is_empty()).collect::<Vec<_>>()
    })
}

pub(crate) fn is_rule(sentence: &str) -> bool {
    const WORDS: [&str; 9] = ["must", "never", "always", "don't", "do not", "only", "prefer", "avoid", "make sure"];
    let lower = sentence.to_lowercase();
    sentence.len() < 400 && WORDS.iter().any(|word| lower.contains(word))
}

/// Writes a heading and the last lines, with a count of the earlier ones.
fn section(text: &mut String, heading: &str, bullet: &str, lines: &[String]) {
    text.push_str(&format!("\n{heading}\n"));
    if lines.is_empty() {
        text.push_str("(none)\n");
    }
    let hidden = lines.len().saturating_sub(SECTION);
    if hidden > 0 {
        text.push_str(&format!("- ({} not listed)\n", counted(hidden, "earlier one", "earlier ones")));
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
        ] {
            assert!(summary.contains(part), "{part} in {summary}");
        }
    }
}
