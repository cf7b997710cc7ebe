//! From entries and messages, as any program wrote them, to items. Nothing is required of them: what is missing or of
//! another type is left out.

use std::sync::Arc;

use offshoot_agent::message::Message;
use offshoot_session::entry::{Entry, text_of};
use offshoot_session::json::{Json, JsonKind};
use offshoot_session::kind::{DAMAGED, Kind, Role};

use super::{Answer, Call, End, Item, Level, Part, Picture, Run, Summary, ToolResult};

/// The kinds of entries that may say something to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Telling {
    /// A message.
    Message,
    /// A message of an extension.
    Note,
    /// A summary of what stood before.
    Compaction,
    /// A summary of another branch.
    BranchSummary,
    /// The context begins anew.
    Reset,
    /// What an extension or a repair keeps; only the latter says something.
    Custom,
}

impl Telling {
    /// What a kind may say; `None`: nothing, ever.
    pub(crate) fn of(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Message => Some(Self::Message),
            Kind::CustomMessage => Some(Self::Note),
            Kind::Compaction => Some(Self::Compaction),
            Kind::BranchSummary => Some(Self::BranchSummary),
            Kind::ResetBoundary => Some(Self::Reset),
            Kind::Custom => Some(Self::Custom),
            Kind::ModelChange
            | Kind::ThinkingLevelChange
            | Kind::Label
            | Kind::SessionInfo
            | Kind::Usage
            | Kind::ContextEdit
            | Kind::TtsrInjection
            | Kind::SessionInit
            | Kind::ModeChange
            | Kind::ServiceTierChange
            | Kind::TitleChange
            | Kind::CredentialPin
            | Kind::ModelUsage
            | Kind::Session
            | Kind::Title
            | Kind::Unknown => None,
        }
    }
}

impl Item {
    /// What an entry says; `None` if it says nothing to a person.
    #[must_use]
    pub fn of_entry(entry: &Entry) -> Option<Self> {
        if entry.damage().is_some() {
            return Some(Self::Notice(Level::Warning, "an entry that cannot be read stands here".to_owned()));
        }
        match entry.kind {
            Kind::Message => Self::of_message(entry.role.unwrap_or(Role::Unknown), entry.message()?),
            kind => Self::of_json(kind, entry.json()),
        }
    }

    /// What the line of an entry says, as [`offshoot_agent::event::Event::EntryAppended`] brings it.
    #[must_use]
    pub fn of_line(line: &str) -> Option<Self> {
        let json = Json::parse(line).ok()?;
        let kind = Kind::from_word(json.str("type")?.as_bytes());
        if kind == Kind::Message {
            let message = json.get("message")?;
            return Self::of_message(Role::from_word(message.str("role")?.as_bytes()), message);
        }
        Self::of_json(kind, json)
    }

    fn of_json(kind: Kind, json: Json<'_>) -> Option<Self> {
        match Telling::of(kind)? {
            Telling::Note => note(json, true),
            Telling::Compaction => Some(compaction(json)),
            Telling::BranchSummary => Some(branch_summary(json)),
            Telling::Reset => Some(Self::Notice(Level::Info, "the context begins anew here".to_owned())),
            Telling::Custom if json.str("customType").is_some_and(|kind| kind == DAMAGED) => {
                Some(Self::Notice(Level::Warning, "a damaged entry stood here; repair set it aside".to_owned()))
            }
            Telling::Custom | Telling::Message => None,
        }
    }

    /// What a message says.
    #[must_use]
    pub fn of_message(role: Role, message: Json<'_>) -> Option<Self> {
        match role {
            Role::User => Some(Self::User(parts(message.get("content")))),
            Role::Assistant => Some(Self::Answer(answer(message))),
            Role::ToolResult => Some(Self::Result(tool_result(message))),
            Role::BashExecution => Some(Self::Run(run(message, "$", "command"))),
            Role::PythonExecution => Some(Self::Run(run(message, ">>>", "code"))),
            Role::Custom | Role::HookMessage => note(message, true),
            Role::FileMention | Role::Unknown => note(message, false),
            Role::BranchSummary => Some(branch_summary(message)),
            Role::CompactionSummary => Some(compaction(message)),
            Role::System | Role::Developer => None,
        }
    }

    /// What a message of this agent says: the same as when it is read from a session.
    #[must_use]
    pub fn of_live(message: &Message) -> Option<Self> {
        let role = match message {
            Message::User(_) => Role::User,
            Message::Assistant(_) => Role::Assistant,
            Message::ToolResult(_) => Role::ToolResult,
        };
        let json = serde_json::to_string(message).ok()?;
        Self::of_message(role, Json::parse(&json).ok()?)
    }
}

fn answer(message: Json<'_>) -> Answer {
    let error = || message.str("errorMessage").map(std::borrow::Cow::into_owned);
    let end = match message.str("stopReason").unwrap_or_default().as_ref() {
        "aborted" => End::Aborted,
        "length" => End::Length,
        "error" => End::Error(error().unwrap_or_else(|| "the model gave no answer".to_owned())),
        _ => End::Done,
    };
    Answer { parts: parts(message.get("content")), end }
}

fn tool_result(message: Json<'_>) -> ToolResult {
    ToolResult {
        call: member(message, "toolCallId"),
        tool: member(message, "toolName"),
        parts: parts(message.get("content")),
        details: message.get("details").filter(|details| !details.is_null()).map(|details| details.text().to_owned()),
        is_error: flag(message, "isError"),
        is_partial: false,
    }
}

fn run(message: Json<'_>, prompt: &str, input: &str) -> Run {
    let code = message.get("exitCode").and_then(Json::as_f64).filter(|code| *code != 0.0);
    let is_stopped = flag(message, "cancelled");
    let whole = message.str("fullOutputPath").map(|path| format!("all of the output is in {path}"));
    let cut = flag(message, "truncated").then(|| "the output was cut".to_owned());
    let remarks =
        [code.map(|code| format!("exit code {code}")), is_stopped.then(|| "stopped".to_owned()), whole.or(cut)];
    Run {
        prompt: prompt.to_owned(),
        command: member(message, input),
        output: member(message, "output"),
        remarks: remarks.into_iter().flatten().collect(),
        is_error: code.is_some() || is_stopped,
        is_private: flag(message, "excludeFromContext"),
    }
}

/// A message of an extension, unless it is not to be displayed.
fn note(json: Json<'_>, is_custom: bool) -> Option<Item> {
    if json.get("display").and_then(Json::as_bool) == Some(false) {
        return None;
    }
    let label = member(json, if is_custom { "customType" } else { "role" });
    let said = parts(json.get("content"));
    let files = json.get("files").into_iter().flat_map(Json::items).filter_map(|file| file.str("path"));
    let files: Vec<_> = files.map(|path| Part::Text(path.into_owned())).collect();
    Some(Item::Note { label, parts: if said.is_empty() { files } else { said } })
}

fn compaction(json: Json<'_>) -> Item {
    let tokens = json.get("tokensBefore").and_then(Json::as_f64).filter(|tokens| *tokens > 0.0);
    let about = tokens.map(|tokens| format!("{} tokens summarised", grouped(tokens as u64))).unwrap_or_default();
    Item::Summary(Summary { label: "compaction", about, text: summary_text(json) })
}

fn branch_summary(json: Json<'_>) -> Item {
    let left = member(json, "fromId");
    let about = match left.as_str() {
        "" | "root" => String::new(),
        left => format!("of the branch that ended at {left}"),
    };
    Item::Summary(Summary { label: "branch summary", about, text: summary_text(json) })
}

fn summary_text(json: Json<'_>) -> String {
    json.get("summary").map(|summary| text_of(summary, "\n")).unwrap_or_default()
}

/// A number with a comma every three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The parts of a message's content: a string, or blocks.
pub(super) fn parts(content: Option<Json<'_>>) -> Vec<Part> {
    let Some(content) = content else { return Vec::new() };
    match content.kind() {
        JsonKind::String => vec![Part::Text(content.as_str().unwrap_or_default().into_owned())],
        _ => content.items().map(part).collect(),
    }
}

fn part(block: Json<'_>) -> Part {
    match block.str("type").unwrap_or_default().as_ref() {
        "text" => Part::Text(member(block, "text")),
        "thinking" => Part::Thinking(member(block, "thinking")),
        "toolCall" => Part::Call(Call {
            id: member(block, "id"),
            name: member(block, "name"),
            arguments: block.get("arguments").map(|json| json.text().to_owned()).unwrap_or_default(),
        }),
        "image" => Part::Picture(Arc::new(Picture::new(member(block, "data"), member(block, "mimeType")))),
        other => Part::Other(other.to_owned()),
    }
}

/// A string member, decoded; of another value its JSON.
fn member(json: Json<'_>, name: &str) -> String {
    let value = json.get(name).filter(|value| !value.is_null());
    value
        .map(|value| value.as_str().map_or_else(|| value.text().to_owned(), std::borrow::Cow::into_owned))
        .unwrap_or_default()
}

fn flag(json: Json<'_>, name: &str) -> bool {
    json.get(name).and_then(Json::as_bool) == Some(true)
}
