//! Entries and messages as a person reads them: who spoke, and the parts of what was said.
//!
//! Everything in a [`Turn`] is harmless for a screen. How it is laid out is the business of `screen` and `markdown`.

pub(crate) mod markdown;
pub(crate) mod screen;

use offshoot_session::entry::{Entry, Source, text_of};
use offshoot_session::error::Result;
use offshoot_session::json::{Json, JsonKind};
use offshoot_session::kind::{Kind, Role};
use offshoot_session::text::{one_line, plain};
use offshoot_session::tree::NodeIx;

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    User,
    Assistant,
    Tool,
    /// A compaction, a branch summary, a reset: something about the conversation.
    Mark,
    /// A setting or another small thing; its title says it all.
    Aside,
}

/// A part of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Words.
    Text(String),
    /// What the model thought.
    Thinking(String),
    /// A tool call, on one line.
    Call(String),
    /// What a tool or a command answered.
    Output(String),
    /// An image, by its type.
    Image(String),
    /// What went wrong, on one line.
    Trouble(String),
}

/// One entry or message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) who: Who,
    /// One or two words: `user`, `assistant`, the tool's name.
    pub(crate) title: String,
    /// What else belongs beside the title, such as the model.
    pub(crate) beside: String,
    pub(crate) parts: Vec<Part>,
}

impl Turn {
    fn new(who: Who, title: impl AsRef<str>, parts: Vec<Part>) -> Self {
        Self { who, title: one_line(title.as_ref(), 60), beside: String::new(), parts }
    }

    fn beside(self, text: impl AsRef<str>) -> Self {
        Self { beside: one_line(text.as_ref(), 80), ..self }
    }
}

/// The turns of a path. Bookkeeping that nobody reads (labels, names, state of extensions) gives none.
pub(crate) fn turns<'a>(
    source: &'a dyn Source,
    path: &'a [NodeIx],
) -> impl Iterator<Item = Result<(NodeIx, Turn)>> + 'a {
    path.iter().filter_map(move |ix| match source.entry(*ix) {
        Ok(entry) => of_entry(&entry).map(|turn| Ok((*ix, turn))),
        Err(error) => Some(Err(error)),
    })
}

/// What an entry says, if it says something.
pub(crate) fn of_entry(entry: &Entry) -> Option<Turn> {
    if entry.damage().is_some() {
        return Some(Turn::new(Who::Aside, "damaged entry", Vec::new()));
    }
    let member = |name: &str| entry.get(name).map(shown).unwrap_or_default();
    let aside = |title: String| Some(Turn::new(Who::Aside, title, Vec::new()));
    match entry.kind {
        Kind::Message => entry.message().map(|message| of_message(entry.role.unwrap_or(Role::Unknown), message)),
        Kind::CustomMessage => Some(Turn::new(Who::Mark, member("customType"), content(entry.get("content")))),
        Kind::Compaction => Some(compaction(entry.json())),
        Kind::BranchSummary => Some(branch_summary(entry.json())),
        Kind::ModelChange => {
            let id = if entry.get("modelId").is_some() { "modelId" } else { "model" };
            let provider = member("provider");
            let slash = if provider.is_empty() { "" } else { "/" };
            aside(format!("model: {provider}{slash}{}", member(id)))
        }
        Kind::ThinkingLevelChange => aside(format!("thinking: {}", member("thinkingLevel"))),
        Kind::ContextEdit => aside(format!("context edit of {}", member("targetId"))),
        Kind::ModeChange => aside(format!("mode: {}", member("mode"))),
        Kind::ResetBoundary => Some(Turn::new(Who::Mark, "context reset", Vec::new())),
        Kind::Unknown => aside(member("type")),
        Kind::Custom
        | Kind::Label
        | Kind::SessionInfo
        | Kind::Usage
        | Kind::TtsrInjection
        | Kind::SessionInit
        | Kind::ServiceTierChange
        | Kind::TitleChange
        | Kind::CredentialPin
        | Kind::ModelUsage
        | Kind::Session
        | Kind::Title => None,
    }
}

/// What a message says.
pub(crate) fn of_message(role: Role, message: Json<'_>) -> Turn {
    let member = |name: &str| message.get(name).map(shown).unwrap_or_default();
    let said = || content(message.get("content"));
    match role {
        Role::User => Turn::new(Who::User, "user", said()),
        Role::Assistant => {
            let mut parts = said();
            parts.extend(trouble(&member("stopReason"), &member("errorMessage")));
            Turn::new(Who::Assistant, "assistant", parts).beside(member("model"))
        }
        Role::ToolResult => {
            let failed = message.get("isError").and_then(Json::as_bool) == Some(true);
            let parts = said().into_iter().map(|part| match part {
                Part::Text(text) => Part::Output(text),
                other => other,
            });
            let turn = Turn::new(Who::Tool, member("toolName"), parts.collect());
            if failed { turn.beside("failed") } else { turn }
        }
        Role::BashExecution | Role::PythonExecution => {
            let (title, input) = if role == Role::BashExecution { ("bash", "command") } else { ("python", "code") };
            let call = Part::Call(one_line(&format!("$ {}", member(input)), 400));
            let output = Part::Output(plain(&member("output")));
            let failed = message.get("exitCode").and_then(Json::as_f64).filter(|code| *code != 0.0);
            let beside = failed.map(|code| format!("exit code {code}")).unwrap_or_default();
            Turn::new(Who::Tool, title, vec![call, output]).beside(beside)
        }
        Role::Custom | Role::HookMessage => Turn::new(Who::Mark, member("customType"), said()),
        Role::BranchSummary => branch_summary(message),
        Role::CompactionSummary => compaction(message),
        Role::System | Role::Developer | Role::FileMention | Role::Unknown => {
            Turn::new(Who::Mark, member("role"), said())
        }
    }
}

fn compaction(json: Json<'_>) -> Turn {
    let tokens = json.get("tokensBefore").and_then(Json::as_f64).unwrap_or(0.0);
    let turn = Turn::new(Who::Mark, "compaction", content(json.get("summary")));
    turn.beside(format!("{}k tokens before", (tokens / 1000.0).round()))
}

fn branch_summary(json: Json<'_>) -> Turn {
    let left = json.str("fromId").unwrap_or_default();
    Turn::new(Who::Mark, "branch summary", content(json.get("summary")))
        .beside(format!("of the branch that ended at {left}"))
}

fn trouble(stop_reason: &str, error: &str) -> Option<Part> {
    match (stop_reason, error) {
        ("aborted", _) => Some(Part::Trouble("(aborted)".to_owned())),
        ("length", _) => Some(Part::Trouble("(cut off: the answer reached its length limit)".to_owned())),
        (_, "") => None,
        (_, error) => Some(Part::Trouble(one_line(error, 400))),
    }
}

/// The parts of a message's content.
fn content(content: Option<Json<'_>>) -> Vec<Part> {
    let Some(content) = content else { return Vec::new() };
    if content.kind() == JsonKind::String {
        return text(&text_of(content, "")).into_iter().collect();
    }
    content.items().filter_map(part).collect()
}

fn text(text: &str) -> Option<Part> {
    let text = plain(text);
    let text = text.trim_end();
    (!text.trim().is_empty()).then(|| Part::Text(text.to_owned()))
}

fn part(block: Json<'_>) -> Option<Part> {
    match block.str("type")?.as_ref() {
        "text" => text(&block.str("text")?),
        "thinking" => {
            let thought = plain(block.str("thinking")?.trim());
            (!thought.is_empty()).then_some(Part::Thinking(thought))
        }
        "toolCall" => Some(Part::Call(call(&block.str("name").unwrap_or_default(), block.get("arguments")))),
        "image" => Some(Part::Image(one_line(&block.str("mimeType").unwrap_or("image".into()), 40))),
        other => Some(Part::Image(one_line(other, 40))),
    }
}

/// A tool call on one line: the tool, and the argument that says most.
fn call(tool: &str, arguments: Option<Json<'_>>) -> String {
    const TELLING: [&str; 7] = ["command", "path", "file_path", "pattern", "query", "url", "code"];
    let telling = TELLING.iter().find_map(|name| arguments.and_then(|arguments| arguments.get(name)));
    match telling.or(arguments) {
        Some(argument) => one_line(&format!("{tool}: {}", shown(argument)), 200),
        None => one_line(tool, 200),
    }
}

/// A value as text: a string's content, else its JSON.
fn shown(value: Json<'_>) -> String {
    match value.kind() {
        JsonKind::Null => String::new(),
        JsonKind::String => value.as_str().unwrap_or_default().into_owned(),
        _ => value.text().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(role: Role, message: &str) -> Turn {
        of_message(role, Json::parse(message).unwrap())
    }

    #[test]
    fn nothing_in_a_turn_steers_a_terminal() {
        let hostile = "\\u001b[2J\\u0007x";
        for (role, message) in [
            (Role::User, format!(r#"{{"content":"{hostile}"}}"#)),
            (
                Role::Assistant,
                format!(
                    r#"{{"content":[{{"type":"toolCall","name":"{hostile}","arguments":{{"path":"{hostile}"}}}},{{"type":"thinking","thinking":"{hostile}"}},{{"type":"{hostile}"}}],"model":"{hostile}","errorMessage":"{hostile}"}}"#
                ),
            ),
            (
                Role::ToolResult,
                format!(r#"{{"toolName":"{hostile}","content":[{{"type":"text","text":"{hostile}"}}]}}"#),
            ),
            (Role::BashExecution, format!(r#"{{"command":"{hostile}","output":"{hostile}"}}"#)),
            (Role::Unknown, format!(r#"{{"role":"{hostile}","content":"{hostile}"}}"#)),
        ] {
            let turn = format!("{:?}", turn(role, &message));
            assert!(!turn.contains("\\u{1b}") && !turn.contains("\\u{7}") && turn.contains('x'), "{turn}");
        }
    }

    #[test]
    fn a_call_shows_the_argument_that_says_most() {
        let arguments = |json| Json::parse(json).ok();
        assert_eq!(call("bash", arguments(r#"{"timeout":5,"command":"ls\n-l"}"#)), "bash: ls -l");
        assert_eq!(call("novel", arguments(r#"{"a":1}"#)), r#"novel: {"a":1}"#);
        assert_eq!(call("none", None), "none");
    }

    #[test]
    fn an_answer_that_failed_says_so() {
        let failed = turn(Role::Assistant, r#"{"content":[],"stopReason":"error","errorMessage":"overloaded"}"#);
        assert_eq!(failed.parts, [Part::Trouble("overloaded".to_owned())]);
        assert_eq!(turn(Role::Assistant, r#"{"content":[],"stopReason":"stop"}"#).parts, []);
    }
}
