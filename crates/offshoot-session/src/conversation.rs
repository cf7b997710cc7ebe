//! Messages as plain text for a summariser, in a form that a model does not continue.
//!
//! The text is pi's, so that a summariser sees the same whichever program compacts. Knows messages, not entries. See
//! *The conversation as text* in `docs/compaction.md`.

use std::fmt;

use crate::context::Message;
use crate::entry::text_of;
use crate::json::{Json, JsonKind, js_members, stringify};
use crate::kind::Role;
use crate::llm::to_llm;

/// How much of a tool's result the summariser gets, in UTF-16 units.
pub const RESULT_UNITS: usize = 2000;

/// The speaker of a [`SpokenPart`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub enum Speaker {
    /// The user, and everything that a model takes for a user's: commands, notes, summaries.
    User,
    Assistant,
    Calls,
    Result,
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct SpokenPart {
    pub speaker: Speaker,
    pub text: String,
}

impl fmt::Display for SpokenPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = match self.speaker {
            Speaker::User => "User",
            Speaker::Assistant => "Assistant",
            Speaker::Calls => "Assistant tool calls",
            Speaker::Result => "Tool result",
        };
        write!(f, "[{who}]: {}", self.text)
    }
}

/// How much of a tool's result to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub enum Results {
    /// The first [`RESULT_UNITS`], and the number of the rest.
    Cut,
    Whole,
}

/// The spoken parts of a message; none if the model must not see it. Images and thinking are left out: providers return a
/// summary of the thinking, which is often not part of what a model gets.
pub fn parts(message: Message, results: Results) -> Vec<SpokenPart> {
    let Some(message) = to_llm(message) else { return Vec::new() };
    let json = message.json();
    let Some(content) = json.get("content") else { return Vec::new() };
    let part = |speaker, text| SpokenPart { speaker, text };
    match message.role {
        Role::User => spoken(Speaker::User, text_of(content, "")),
        Role::ToolResult => {
            let text = text_of(content, "");
            spoken(Speaker::Result, if results == Results::Cut { cut(text) } else { text })
        }
        Role::Assistant => {
            let mut said = content.as_str().map(std::borrow::Cow::into_owned);
            let mut calls: Vec<String> = Vec::new();
            for block in content.items() {
                let [kind, text, name, arguments] = block.pick(["type", "text", "name", "arguments"]);
                match kind.and_then(Json::as_str).as_deref() {
                    Some("text") => {
                        let text = text.and_then(Json::as_str).unwrap_or_default();
                        said = Some(said.map_or_else(|| text.clone().into_owned(), |said| said + "\n" + &text));
                    }
                    Some("toolCall") => calls.push(call(name, arguments)),
                    _ => {}
                }
            }
            let said = said.map(|said| part(Speaker::Assistant, said));
            let calls = (!calls.is_empty()).then(|| part(Speaker::Calls, calls.join("; ")));
            said.into_iter().chain(calls).collect()
        }
        Role::System
        | Role::Developer
        | Role::BashExecution
        | Role::PythonExecution
        | Role::Custom
        | Role::HookMessage
        | Role::BranchSummary
        | Role::CompactionSummary
        | Role::FileMention
        | Role::Unknown => Vec::new(),
    }
}

/// Joins parts with blank lines.
pub fn text<'a>(parts: impl IntoIterator<Item = &'a SpokenPart>) -> String {
    let parts: Vec<String> = parts.into_iter().map(ToString::to_string).collect();
    parts.join("\n\n")
}

fn spoken(speaker: Speaker, text: String) -> Vec<SpokenPart> {
    if text.is_empty() { Vec::new() } else { vec![SpokenPart { speaker, text }] }
}

/// `name(argument=JSON, …)`; arguments in a list are named by their indexes.
fn call(name: Option<Json<'_>>, arguments: Option<Json<'_>>) -> String {
    let arguments: Vec<String> = match arguments {
        Some(list) if list.kind() == JsonKind::Array => {
            list.items().enumerate().map(|(at, value)| format!("{at}={}", stringify(value))).collect()
        }
        Some(object) => {
            js_members(object).into_iter().map(|(name, value)| format!("{name}={}", stringify(value))).collect()
        }
        None => Vec::new(),
    };
    format!("{}({})", name.and_then(Json::as_str).unwrap_or_default(), arguments.join(", "))
}

/// Cuts a long text and counts the UTF-16 units after the limit. A character at the limit is left out whole.
fn cut(text: String) -> String {
    // A text never has more units than bytes.
    if text.len() <= RESULT_UNITS {
        return text;
    }
    let mut units = 0;
    let mut end = None;
    for (at, c) in text.char_indices() {
        if end.is_none() && units + c.len_utf16() > RESULT_UNITS {
            end = Some(at);
        }
        units += c.len_utf16();
    }
    let Some(at) = end else { return text };
    let more = units - RESULT_UNITS;
    format!("{}\n\n[... {more} more characters truncated]", text.get(..at).unwrap_or(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(json: &str) -> Message {
        let role = Role::from_word(Json::parse(json).unwrap().str("role").unwrap().as_bytes());
        Message { entry: None, role, json: json.to_owned() }
    }

    fn said(messages: &[&str]) -> String {
        let parts: Vec<SpokenPart> = messages.iter().flat_map(|json| parts(message(json), Results::Cut)).collect();
        text(&parts)
    }

    #[test]
    fn parts_stand_in_pis_order() {
        let answer = r#"{"role":"assistant","content":[{"type":"text","text":"t1"},{"type":"thinking","thinking":"th"},{"type":"toolCall","name":"edit","arguments":{"path":"a","n":1.0}},{"type":"text","text":"t2"}]}"#;
        let result = format!(r#"{{"role":"toolResult","content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(2005));
        let empty = r#"{"role":"toolResult","content":[]}"#;
        let expected = format!(
            "[User]: q\n\n[Assistant]: t1\nt2\n\n[Assistant tool calls]: edit(path=\"a\", n=1)\n\n[Tool result]: {}\n\n[... 5 more characters truncated]",
            "x".repeat(2000)
        );
        assert_eq!(said(&[r#"{"role":"user","content":"q"}"#, answer, &result, empty]), expected);
    }

    #[test]
    fn what_no_model_may_see_is_not_said() {
        for hidden in [
            r#"{"role":"bashExecution","command":"ls","output":"","excludeFromContext":true}"#,
            r#"{"role":"user","content":[{"type":"image","data":"x"}]}"#,
            r#"{"role":"system","content":"prompt"}"#,
        ] {
            assert_eq!(said(&[hidden]), "", "{hidden}");
        }
        assert_eq!(said(&[r#"{"role":"bashExecution","command":"ls","output":"a"}"#]), "[User]: Ran `ls`\n```\na\n```");
    }

    #[test]
    fn a_cut_counts_utf16_units() {
        let halved = format!("{}😀tail", "x".repeat(1999));
        assert_eq!(cut(halved), format!("{}\n\n[... 5 more characters truncated]", "x".repeat(1999)));
        let whole = "é".repeat(2000);
        assert_eq!(cut(whole.clone()), whole);
    }
}
