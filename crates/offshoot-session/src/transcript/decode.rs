//! Converts entries and messages of any origin to items. Members that are missing or of another type are left out.

use std::borrow::Cow;
use std::sync::Arc;

use super::{
    Answer, End, Item, ItemPart, Level, Run, RunLanguage, StoredPicture, Summarised, Summary, ToolCall, ToolResult,
    value_text,
};
use crate::clock::{self, Millis};
use crate::entry::{ContentBlock, Entry, text_of};
use crate::json::{Json, JsonKind};
use crate::kind::{DAMAGED, Kind, Role};

impl Item {
    /// The item of an entry; `None` if it has none.
    #[must_use]
    pub fn of_entry(entry: &Entry) -> Option<Self> {
        if entry.damage().is_some() {
            return Some(Self::Notice(Level::Warning, "the entry here cannot be read".to_owned()));
        }
        if entry.kind == Kind::Message {
            let message = entry.message()?;
            return Some(Self::of_said(
                entry.role.unwrap_or(Role::Unknown),
                SaidMessage { entry: Some(entry), message },
            ));
        }
        Self::of_json(entry.kind, entry.json())
    }

    /// The item of an entry's line.
    #[must_use]
    pub fn of_line(line: &str) -> Option<Self> {
        let json = Json::parse(line).ok()?;
        let kind = Kind::from_word(json.str("type")?.as_bytes());
        if kind == Kind::Message {
            let message = json.get("message")?;
            return Some(Self::of_message(Role::from_word(message.str("role")?.as_bytes()), message));
        }
        Self::of_json(kind, json)
    }

    fn of_json(kind: Kind, json: Json<'_>) -> Option<Self> {
        let setting = |name: &str, value: String| Some(system(format!("{name}: {value}"), Vec::new()));
        match kind {
            Kind::CustomMessage => Some(note(json, "customType")),
            Kind::Compaction => Some(compaction(json)),
            Kind::BranchSummary => Some(branch_summary(json)),
            Kind::ResetBoundary => Some(Self::Notice(Level::Info, "the context starts anew here".to_owned())),
            Kind::Custom if json.str("customType").is_some_and(|kind| kind == DAMAGED) => Some(Self::Notice(
                Level::Warning,
                "a damaged entry was here; repair moved it to the quarantine file".to_owned(),
            )),
            Kind::ModelChange => setting("model", model(json)),
            Kind::ThinkingLevelChange => setting("thinking", member(json, "thinkingLevel")),
            Kind::ModeChange => setting("mode", member(json, "mode")),
            Kind::ContextEdit => Some(system(format!("context edit of {}", member(json, "targetId")), Vec::new())),
            Kind::Message | Kind::Unknown => Some(system(member(json, "type"), Vec::new())),
            Kind::Custom
            | Kind::TtsrInjection
            | Kind::SessionInit
            | Kind::ServiceTierChange
            | Kind::CredentialPin
            | Kind::Label
            | Kind::SessionInfo
            | Kind::TitleChange
            | Kind::Usage
            | Kind::ModelUsage
            | Kind::Session
            | Kind::Title => None,
        }
    }

    /// The item of a message.
    #[must_use]
    pub fn of_message(role: Role, message: Json<'_>) -> Self {
        Self::of_said(role, SaidMessage { entry: None, message })
    }

    fn of_said(role: Role, said: SaidMessage<'_>) -> Self {
        let message = said.message;
        match role {
            Role::User => Self::User(said.parts(said.pick(["content"])[0])),
            Role::Assistant => Self::Answer(answer(said)),
            Role::ToolResult => Self::Result(tool_result(said)),
            Role::BashExecution => Self::Run(run(message, RunLanguage::Bash, "command")),
            Role::PythonExecution => Self::Run(run(message, RunLanguage::Python, "code")),
            Role::Custom | Role::HookMessage => note(message, "customType"),
            Role::FileMention | Role::Unknown => note(message, "role"),
            Role::BranchSummary => branch_summary(message),
            Role::CompactionSummary => compaction(message),
            Role::System | Role::Developer => system(member(message, "role"), parts(message.get("content"))),
        }
    }
}

/// A message, alone or in an entry, which knows where its members are.
#[derive(Clone, Copy)]
struct SaidMessage<'a> {
    entry: Option<&'a Entry>,
    message: Json<'a>,
}

impl<'a> SaidMessage<'a> {
    fn pick<const N: usize>(self, names: [&str; N]) -> [Option<Json<'a>>; N] {
        match self.entry {
            Some(entry) => names.map(|name| entry.of_message(name)),
            None => self.message.pick(names),
        }
    }

    /// The parts of the message's content.
    fn parts(self, content: Option<Json<'_>>) -> Vec<ItemPart> {
        match (self.entry, content) {
            (Some(entry), Some(content)) if content.kind() != JsonKind::String => entry.blocks().map(part).collect(),
            (_, content) => parts(content),
        }
    }
}

fn answer(message: SaidMessage<'_>) -> Answer {
    let [error, stop_reason, content, model] = message.pick(["errorMessage", "stopReason", "content", "model"]);
    let error = Some(said(error)).filter(|error| !error.is_empty());
    let end = match stop_reason.and_then(Json::as_str).unwrap_or_default().as_ref() {
        "aborted" => End::Aborted,
        "length" => End::Length,
        "error" => End::Error(error.unwrap_or_else(|| "the model gave no answer".to_owned())),
        _ => error.map_or(End::Done, End::Error),
    };
    Answer { parts: message.parts(content), model: said(model), end }
}

fn tool_result(message: SaidMessage<'_>) -> ToolResult {
    let [call, tool, content, details, is_error] =
        message.pick(["toolCallId", "toolName", "content", "details", "isError"]);
    let details = details.filter(|details| !details.is_null());
    ToolResult {
        call: said(call),
        tool: said(tool),
        parts: message.parts(content),
        details: details.map(|details| details.text().to_owned()),
        duration: details.and_then(duration),
        is_error: is_true(is_error),
        is_partial: false,
    }
}

fn run(message: Json<'_>, language: RunLanguage, input: &str) -> Run {
    let [command, output, code, is_stopped, whole, is_cut, is_private] =
        message.pick([input, "output", "exitCode", "cancelled", "fullOutputPath", "truncated", "excludeFromContext"]);
    let code = code.and_then(Json::as_f64).filter(|code| *code != 0.0);
    let is_stopped = is_true(is_stopped);
    let whole = whole.and_then(Json::as_str).map(|path| format!("all of the output is in {path}"));
    let cut = is_true(is_cut).then(|| "the output was cut".to_owned());
    let status = code.map(|code| format!("exit code {code}"));
    let remarks = [status, is_stopped.then(|| "stopped".to_owned()), duration(message), whole.or(cut)];
    Run {
        language,
        command: said(command),
        output: said(output),
        remarks: remarks.into_iter().flatten().collect(),
        is_error: code.is_some() || is_stopped,
        is_private: is_true(is_private),
    }
}

/// How long a command took, in words, if it was over a second and the file says it.
fn duration(object: Json<'_>) -> Option<String> {
    let took = clock::took(object.get("durationMs")?.as_f64()? as Millis)?;
    Some(format!("took {took}"))
}

/// A message of an extension; the member `name` names it.
fn note(json: Json<'_>, name: &str) -> Item {
    let label = member(json, name);
    let said = parts(json.get("content"));
    let files = json.get("files").into_iter().flat_map(Json::items).filter_map(|file| file.str("path"));
    let parts = if said.is_empty() { files.map(|path| ItemPart::Text(path.into_owned())).collect() } else { said };
    match json.get("display").and_then(Json::as_bool) {
        Some(false) => system(label, parts),
        Some(true) | None => Item::Note { label, parts },
    }
}

fn system(label: String, parts: Vec<ItemPart>) -> Item {
    Item::System { label, parts }
}

/// The chosen model, from pi's two members or omp's one.
fn model(json: Json<'_>) -> String {
    let name = if json.get("modelId").is_some() { "modelId" } else { "model" };
    let words = [member(json, "provider"), member(json, name)];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join("/")
}

fn compaction(json: Json<'_>) -> Item {
    let tokens = json.get("tokensBefore").and_then(Json::as_f64).filter(|tokens| *tokens > 0.0);
    let of = tokens.map_or(Summarised::Unknown, |tokens| Summarised::Tokens(tokens as u64));
    Item::Summary(Summary { label: "compaction", of, text: summary_text(json) })
}

fn branch_summary(json: Json<'_>) -> Item {
    let of = match member(json, "fromId") {
        left if left.is_empty() || left == "root" => Summarised::Unknown,
        left => Summarised::BranchTo(left),
    };
    Item::Summary(Summary { label: "branch summary", of, text: summary_text(json) })
}

fn summary_text(json: Json<'_>) -> String {
    json.get("summary").map(|summary| text_of(summary, "\n")).unwrap_or_default()
}

fn parts(content: Option<Json<'_>>) -> Vec<ItemPart> {
    let Some(content) = content else { return Vec::new() };
    match content.kind() {
        JsonKind::String => vec![ItemPart::Text(content.as_str().unwrap_or_default().into_owned())],
        _ => content.items().map(ContentBlock::from).map(part).collect(),
    }
}

fn part(block: ContentBlock<'_>) -> ItemPart {
    let [kind, text, thinking, id, name, arguments, arguments_error, data, mime_type] =
        block.pick(["type", "text", "thinking", "id", "name", "arguments", "argumentsError", "data", "mimeType"]);
    match kind.and_then(Json::as_str).unwrap_or_default().as_ref() {
        "text" => ItemPart::Text(said(text)),
        "thinking" => ItemPart::Thinking(said(thinking)),
        "toolCall" => ItemPart::Call(ToolCall {
            id: said(id),
            name: said(name),
            arguments: arguments.map(|json| json.text().to_owned()).unwrap_or_default(),
            arguments_error: arguments_error.and_then(Json::as_str).map(Cow::into_owned).unwrap_or_default(),
        }),
        "image" => ItemPart::Picture(Arc::new(StoredPicture { data: said(data), mime_type: said(mime_type) })),
        other => ItemPart::Other(other.to_owned()),
    }
}

fn member(json: Json<'_>, name: &str) -> String {
    said(json.get(name))
}

/// What a value says in words, if it is there.
fn said(value: Option<Json<'_>>) -> String {
    value.and_then(value_text).unwrap_or_default()
}

fn is_true(value: Option<Json<'_>>) -> bool {
    value.and_then(Json::as_bool) == Some(true)
}
