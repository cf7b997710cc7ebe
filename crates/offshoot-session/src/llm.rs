//! Converts a context to messages for a model: known roles only, and a result for every tool call. Nothing of this is
//! stored. Requests therefore never have a call without result or a result without call, which the peers ensure in
//! their provider layers.

use crate::context::{Message, text_block};
use crate::entry::text_of;
use crate::error::{Code, Diagnostic};
use crate::id::EntryId;
use crate::json::{Json, JsonKind, Object, quote};
use crate::kind::Role;
use crate::transcript::call_blocks;

const BRANCH_LEAD: &str = "This conversation went down another branch and came back from it. What happened there:";
const COMPACTION_LEAD: &str = "The earlier part of this conversation was compacted. What happened in it:";
const NO_RESULT: &str = "No result: the tool call was not completed.";

/// Converts messages in order; call [`Converter::finish`] after the last one.
#[derive(Debug, Default)]
pub struct Converter {
    /// Unanswered calls of the last assistant turn: id and tool.
    open: Vec<(String, String)>,
    turn: Option<EntryId>,
    diagnostics: Vec<Diagnostic>,
}

/// Converts a whole context.
pub fn convert(messages: Vec<Message>) -> (Vec<Message>, Vec<Diagnostic>) {
    let mut converter = Converter::default();
    let mut out: Vec<Message> = messages.into_iter().flat_map(|message| converter.push(message)).collect();
    let (rest, diagnostics) = converter.finish();
    out.extend(rest);
    (out, diagnostics)
}

impl Converter {
    /// Converts the next message. The result includes substitutes for missing tool results.
    pub fn push(&mut self, message: Message) -> Vec<Message> {
        let Some(converted) = to_llm(message) else { return Vec::new() };
        match converted.role {
            Role::ToolResult => self.result(converted).into_iter().collect(),
            Role::Assistant => {
                let mut out = self.close();
                if !is_failed(&converted) {
                    self.open = calls(&converted);
                    self.turn = converted.entry.clone();
                    out.push(converted);
                }
                out
            }
            Role::System => vec![converted],
            Role::User
            | Role::Developer
            | Role::BashExecution
            | Role::PythonExecution
            | Role::Custom
            | Role::HookMessage
            | Role::BranchSummary
            | Role::CompactionSummary
            | Role::FileMention
            | Role::Unknown => {
                let mut out = self.close();
                out.push(converted);
                out
            }
        }
    }

    /// The messages after the last one, and diagnostics about substitutes and omissions.
    pub fn finish(mut self) -> (Vec<Message>, Vec<Diagnostic>) {
        (self.close(), self.diagnostics)
    }

    fn result(&mut self, message: Message) -> Option<Message> {
        let id = message.json().str("toolCallId").map(std::borrow::Cow::into_owned).unwrap_or_default();
        match self.open.iter().position(|(open, _)| *open == id) {
            Some(at) => {
                self.open.remove(at);
                Some(message)
            }
            None => {
                let what = format!("the result of tool call {id} has no call before it; left out for the model");
                self.note(Code::OrphanToolResult, message.entry, what);
                None
            }
        }
    }

    /// Substitutes results for unanswered calls.
    fn close(&mut self) -> Vec<Message> {
        let open = std::mem::take(&mut self.open);
        let turn = self.turn.take();
        let answers = open.into_iter().map(|(id, tool)| {
            let json = Object::new()
                .str("role", "toolResult")
                .str("toolCallId", &id)
                .str("toolName", &tool)
                .raw("content", format!("[{}]", text_block(NO_RESULT)))
                .raw("isError", true)
                .raw("timestamp", 0)
                .finish();
            let message = Message { entry: None, role: Role::ToolResult, json };
            self.note(
                Code::DanglingToolCall,
                turn.clone(),
                format!("tool call {id} has no result; the model gets one that says so"),
            );
            message
        });
        answers.collect()
    }

    fn note(&mut self, code: Code, entry: Option<EntryId>, what: String) {
        self.diagnostics.push(Diagnostic { code, line: None, offset: 0, entry, message: what });
    }
}

/// Failed and stopped turns are not sent again.
fn is_failed(message: &Message) -> bool {
    matches!(message.json().str("stopReason").as_deref(), Some("error" | "aborted"))
}

fn calls(message: &Message) -> Vec<(String, String)> {
    let member = |block: Json<'_>, name: &str| block.str(name).unwrap_or_default().into_owned();
    call_blocks(message.json()).map(|block| (member(block, "id"), member(block, "name"))).collect()
}

/// One message in a form for the model; `None` if it must not see it.
pub(crate) fn to_llm(message: Message) -> Option<Message> {
    let json = message.json();
    let (role, content) = match message.role {
        Role::User | Role::Assistant | Role::ToolResult | Role::System | Role::Developer => return Some(message),
        Role::Custom | Role::HookMessage => (Role::User, blocks(json.get("content")?)),
        Role::BranchSummary => (Role::User, summary(BRANCH_LEAD, json, "</summary>")),
        Role::CompactionSummary => (Role::User, summary(COMPACTION_LEAD, json, "\n</summary>")),
        Role::BashExecution => (Role::User, one_block(&bash(json)?)),
        Role::PythonExecution => (Role::User, one_block(&python(json)?)),
        Role::FileMention => file_mention(json),
        Role::Unknown => return None,
    };
    let object = Object::new().str("role", role.word()?).raw("content", content);
    let object = json.get("timestamp").into_iter().fold(object, |object, time| object.json("timestamp", time));
    Some(Message { entry: message.entry.clone(), role, json: object.finish() })
}

fn one_block(text: &str) -> String {
    format!("[{}]", text_block(text))
}

fn blocks(content: Json<'_>) -> String {
    match content.kind() {
        JsonKind::String => one_block(&content.as_str().unwrap_or_default()),
        _ => content.text().to_owned(),
    }
}

fn summary(lead: &str, json: Json<'_>, end: &str) -> String {
    let text = json.str("summary").unwrap_or_default();
    one_block(&format!("{lead}\n\n<summary>\n{text}{end}"))
}

fn is_true(json: Json<'_>, name: &str) -> bool {
    json.get(name).and_then(Json::as_bool).unwrap_or(false)
}

/// How a run ended, shown below its output.
fn ending(json: Json<'_>) -> String {
    let mut text = String::new();
    if is_true(json, "cancelled") {
        text.push_str("\n\n(command cancelled)");
    } else if let Some(code) = json.get("exitCode").filter(|code| code.as_f64().is_some_and(|code| code != 0.0)) {
        text.push_str(&format!("\n\nCommand exited with code {}", code.text()));
    }
    if let Some(path) = json.str("fullOutputPath").filter(|path| is_true(json, "truncated") && !path.is_empty()) {
        text.push_str(&format!("\n\n[Output truncated. Full output: {path}]"));
    }
    text
}

fn fenced(text: &str) -> String {
    format!("```\n{text}\n```")
}

fn bash(json: Json<'_>) -> Option<String> {
    if is_true(json, "excludeFromContext") {
        return None;
    }
    let (command, output) = (json.str("command").unwrap_or_default(), json.str("output").unwrap_or_default());
    let output = if output.is_empty() { "(no output)".to_owned() } else { fenced(&output) };
    Some(format!("Ran `{command}`\n{output}{}", ending(json)))
}

fn python(json: Json<'_>) -> Option<String> {
    if is_true(json, "excludeFromContext") {
        return None;
    }
    let (code, output) = (json.str("code").unwrap_or_default(), json.str("output").unwrap_or_default());
    let output = if output.is_empty() { "(no output)".to_owned() } else { format!("Output:\n{}", fenced(&output)) };
    Some(format!("Ran Python:\n```python\n{code}\n```\n{output}{}", ending(json)))
}

/// Mentioned files, as a developer message, or as a user message if there are images.
fn file_mention(json: Json<'_>) -> (Role, String) {
    let mut content = Vec::new();
    let mut role = Role::Developer;
    for file in json.get("files").map(Json::items).into_iter().flatten() {
        let path = file.str("path").unwrap_or_default();
        let text = file.get("content").map(|content| text_of(content, "")).unwrap_or_default();
        content.push(text_block(&format!("<file path={}>\n{text}\n</file>", quote(&path))));
        if let Some(image) = file.get("image").filter(|image| image.kind() == JsonKind::Object) {
            role = Role::User;
            content.push(image.text().to_owned());
        }
    }
    (role, format!("[{}]", content.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(json: &str) -> Message {
        let role = Role::from_word(Json::parse(json).unwrap().str("role").unwrap().as_bytes());
        Message { entry: None, role, json: json.to_owned() }
    }

    fn texts(messages: &[&str]) -> (Vec<String>, Vec<Code>) {
        let (out, diagnostics) = convert(messages.iter().map(|json| message(json)).collect());
        let line = |message: &Message| {
            let content = message.json().get("content").map(|content| text_of(content, "|")).unwrap_or_default();
            format!("{}: {content}", message.role.word().unwrap())
        };
        (out.iter().map(line).collect(), diagnostics.into_iter().map(|d| d.code).collect())
    }

    const CALLS: &str = r#"{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"ls"},{"type":"toolCall","id":"c2","name":"ls"}],"stopReason":"toolUse"}"#;

    #[test]
    fn every_call_has_its_result_before_the_next_turn() {
        let result = r#"{"role":"toolResult","toolCallId":"c2","content":[{"type":"text","text":"two"}]}"#;
        let (out, codes) =
            texts(&[r#"{"role":"user","content":"go"}"#, CALLS, result, r#"{"role":"user","content":"on"}"#]);
        assert_eq!(
            out,
            ["user: go", "assistant: ", "toolResult: two", &format!("toolResult: {NO_RESULT}"), "user: on"]
        );
        assert_eq!(codes, [Code::DanglingToolCall]);
        let (out, codes) = texts(&[CALLS]);
        assert_eq!(out.len(), 3, "open calls at the end are answered too");
        assert_eq!(codes.len(), 2);
    }

    #[test]
    fn failed_turns_go_with_their_results() {
        let failed = CALLS.replace("toolUse", "aborted");
        let result = r#"{"role":"toolResult","toolCallId":"c1","content":"one"}"#;
        let (out, codes) = texts(&[&failed, result, r#"{"role":"user","content":"x"}"#]);
        assert_eq!(out, ["user: x"]);
        assert_eq!(codes, [Code::OrphanToolResult]);
    }

    #[test]
    fn other_roles_become_what_models_know() {
        for (json, expected) in [
            (r#"{"role":"custom","content":"hey"}"#, "user: hey"),
            (
                r#"{"role":"bashExecution","command":"ls","output":"a","exitCode":2}"#,
                "user: Ran `ls`\n```\na\n```\n\nCommand exited with code 2",
            ),
            (
                r#"{"role":"bashExecution","command":"ls","output":"","cancelled":true}"#,
                "user: Ran `ls`\n(no output)\n\n(command cancelled)",
            ),
            (
                r#"{"role":"fileMention","files":[{"path":"a","content":"x"}]}"#,
                "developer: <file path=\"a\">\nx\n</file>",
            ),
        ] {
            assert_eq!(texts(&[json]).0, [expected]);
        }
        for hidden in [r#"{"role":"bashExecution","command":"ls","excludeFromContext":true}"#, r#"{"role":"novel"}"#] {
            assert!(texts(&[hidden]).0.is_empty(), "{hidden}");
        }
        let (summary, _) = texts(&[r#"{"role":"branchSummary","summary":"S","timestamp":5}"#]);
        assert!(summary[0].ends_with("<summary>\nS</summary>"));
    }
}
