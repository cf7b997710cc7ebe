//! The words by which a search in the tree finds an entry.

use super::row::units;
use crate::entry::{Entry, text_of};
use crate::json::{Json, JsonKind};
use crate::kind::{Kind, Role};
use crate::transcript::{context_edit, value_text};

/// How much of a message is searched, in UTF-16 units.
const SAID: usize = 200;

/// An entry's searchable words in lowercase: a message's role and start, other types' names and values, but not labels.
pub fn words(entry: &Entry) -> String {
    let member = |name: &str| entry.get(name).and_then(value_text).unwrap_or_default();
    let words = match entry.kind {
        Kind::Message => message(entry),
        Kind::CustomMessage => {
            let content = entry.get("content");
            let said = content.map(|content| match content.kind() {
                JsonKind::String => text_of(content, ""),
                _ => units(&text_of(content, ""), SAID).to_owned(),
            });
            format!("{} {}", member("customType"), said.unwrap_or_default())
        }
        Kind::Compaction => "compaction".to_owned(),
        Kind::BranchSummary => format!("branch summary {}", member("summary")),
        Kind::ModelChange => match entry.get("modelId") {
            Some(_) => format!("model {}", member("modelId")),
            None => format!("model {}", member("model")),
        },
        Kind::ThinkingLevelChange => format!("thinking {}", member("thinkingLevel")),
        Kind::Custom => format!("custom {}", member("customType")),
        Kind::Label => format!("label {}", member("label")),
        Kind::SessionInfo => format!("title {}", member("name")),
        Kind::TitleChange => format!("title {}", member("title")),
        Kind::ModeChange => format!("mode {}", member("mode")),
        Kind::ContextEdit => format!("context edit {} {}", context_edit(entry), member("targetId")),
        Kind::ResetBoundary => "context reset".to_owned(),
        Kind::Usage
        | Kind::TtsrInjection
        | Kind::SessionInit
        | Kind::ServiceTierChange
        | Kind::CredentialPin
        | Kind::ModelUsage
        | Kind::Session
        | Kind::Title
        | Kind::Unknown => member("type").replace('_', " "),
    };
    words.to_lowercase()
}

fn message(entry: &Entry) -> String {
    let Some(message) = entry.message() else { return String::new() };
    let member = |name: &str| message.get(name).and_then(value_text).unwrap_or_default();
    let said = message.get("content").filter(|content| !content.is_null()).map(|content| text_of(content, ""));
    let mut words = member("role");
    for more in [said.map(|said| units(&said, SAID).to_owned()), command(entry, message)].into_iter().flatten() {
        words.push(' ');
        words.push_str(&more);
    }
    words
}

fn command(entry: &Entry, message: Json<'_>) -> Option<String> {
    let command = message.get("command").filter(|_| entry.role == Some(Role::BashExecution))?;
    value_text(command)
}
