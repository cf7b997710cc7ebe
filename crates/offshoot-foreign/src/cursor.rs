//! Cursor CLI: the store of a chat with its messages, calls and results; transcripts, which have neither ids nor results; and those of older
//! versions, which are text.

pub(crate) mod store;
pub(crate) mod text;
pub(crate) mod order;

use std::borrow::Cow;

use offshoot_session::clock::Millis;
use offshoot_session::compose::NewEntry;
use offshoot_session::error::Result;
use offshoot_session::json::{Json, JsonKind, Object};
use offshoot_session::kind::{Kind, Operation, Role};

use crate::composing::{Composing, message, text_block_of, usage};
use crate::linear::{LinearEntry, LinearFormat, LinearStep};
use crate::planned::{ForeignHead, Shape};

/// What an entry of a chat is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CursorForm {
    Prompt,
    Answer,
    /// `part` is the number of the result in its message.
    Result,
    /// A text that the agent gave the model.
    Injected,
    Title,
    LeafMarker,
}

/// What is remembered of the records so far.
#[derive(Debug, Default)]
pub(crate) struct CursorFormat {
    /// The model that was used last.
    model: String,
    title: String,
}

impl LinearFormat for CursorFormat {
    type Form = CursorForm;

    const WORD: &'static str = "cursor";
    const LEAF: CursorForm = CursorForm::LeafMarker;

    fn read(&mut self, record: Json<'_>, head: &mut ForeignHead) -> Vec<LinearStep<CursorForm>> {
        match record.str("table").as_deref() {
            Some("meta") => self.meta(record, head),
            Some("blob") => self.blob(record),
            Some(_) => Vec::new(),
            None => said_in(record),
        }
    }

    fn record_id(record: Json<'_>) -> Option<String> {
        let is_blob = record.str("table").is_some_and(|table| table.ends_with("blob"));
        record.str("id").filter(|id| is_blob && !id.is_empty()).map(Cow::into_owned)
    }

    fn record_time(record: Json<'_>) -> Option<Millis> {
        let is_meta = record.str("table").is_some_and(|table| table == "meta");
        Some(record.get("createdAt").filter(|_| is_meta)?.as_f64()?.max(0.0) as Millis)
    }

    fn compose(shape: Shape<CursorForm>, of: &Composing<'_>) -> Result<NewEntry> {
        let record = of.records.first().copied().unwrap_or(Json::NULL);
        match shape.form {
            CursorForm::Prompt => {
                let texts = texts(record).into_iter().map(|text| text_block_of(&asked(&text)));
                let images = content(record).items().filter_map(image);
                let blocks: Vec<String> = texts.chain(images).collect();
                message(Object::new().str("role", "user").raw("content", format!("[{}]", blocks.join(","))), of.time)
            }
            CursorForm::Injected => {
                let blocks: Vec<String> = texts(record).iter().map(|text| text_block_of(text)).collect();
                let content = format!("[{}]", blocks.join(","));
                NewEntry::custom_message("cursor.context", Json::parse(&content).unwrap_or(Json::NULL), false, None)
            }
            CursorForm::Answer => answer(record, of),
            CursorForm::Result => result(record, shape.part, of.time),
            CursorForm::Title => Ok(NewEntry::session_info(&record.str("name").unwrap_or_default())),
            CursorForm::LeafMarker => Ok(NewEntry::leaf_marker(Operation::Switch, None)),
        }
    }
}

impl CursorFormat {
    fn meta(&mut self, record: Json<'_>, head: &mut ForeignHead) -> Vec<LinearStep<CursorForm>> {
        head.has_header = true;
        self.model = record.str("lastUsedModel").unwrap_or_default().into_owned();
        let title = record.str("name").filter(|title| !title.trim().is_empty() && *title != self.title);
        let Some(title) = title else { return Vec::new() };
        self.title = title.into_owned();
        vec![LinearStep::Entry(LinearEntry::new(None, (Kind::SessionInfo, None), CursorForm::Title, record))]
    }

    /// A message of the store. A blob without one is kept as it is.
    fn blob(&mut self, record: Json<'_>) -> Vec<LinearStep<CursorForm>> {
        let Some(id) = record.str("id") else { return Vec::new() };
        let entry = |id: &str, kind, form| {
            let entry = LinearEntry::new(Some(id), kind, form, record);
            LinearStep::Entry(LinearEntry { name: self.model.clone(), ..entry })
        };
        let is_typed = || {
            texts(record).iter().any(|text| !is_context(text))
                || content(record).items().any(|part| image(part).is_some())
        };
        match record.get("data").and_then(|data| data.str("role")).unwrap_or_default().as_ref() {
            "user" if is_typed() => vec![entry(&id, (Kind::Message, Some(Role::User)), CursorForm::Prompt)],
            "user" | "system" => vec![entry(&id, (Kind::CustomMessage, None), CursorForm::Injected)],
            "assistant" => vec![entry(&id, (Kind::Message, Some(Role::Assistant)), CursorForm::Answer)],
            "tool" => {
                let own = |part: u32| if part == 0 { id.clone().into_owned() } else { format!("{id}.{part}") };
                let result = |(part, _): (u32, Json<'_>)| {
                    let kind = (Kind::Message, Some(Role::ToolResult));
                    let entry = LinearEntry::new(Some(&own(part)), kind, CursorForm::Result, record);
                    LinearStep::Entry(LinearEntry { part, ..entry })
                };
                (0u32..).zip(results(record)).map(result).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A line of a transcript.
fn said_in(record: Json<'_>) -> Vec<LinearStep<CursorForm>> {
    let (role, form) = match record.str("role").as_deref() {
        Some("user") => (Role::User, CursorForm::Prompt),
        Some("assistant") => (Role::Assistant, CursorForm::Answer),
        _ => return Vec::new(),
    };
    vec![LinearStep::Entry(LinearEntry::new(None, (Kind::Message, Some(role)), form, record))]
}

/// The content of a message, of whatever kind its record is.
fn content(record: Json<'_>) -> Json<'_> {
    let message = record.get("data").or_else(|| record.get("message"));
    message.and_then(|message| message.get("content")).unwrap_or(Json::NULL)
}

fn texts(record: Json<'_>) -> Vec<Cow<'_, str>> {
    if let Some(text) = record.str("text") {
        return vec![Cow::Owned(text::said(&text).to_owned())];
    }
    let content = content(record);
    match content.as_str() {
        Some(text) => vec![text],
        None => content
            .items()
            .filter(|part| part.str("type").is_some_and(|kind| kind == "text"))
            .filter_map(|part| part.str("text"))
            .collect(),
    }
}

/// What a person asked, without the marks around it.
fn asked(text: &str) -> Cow<'_, str> {
    let inner = text.trim().strip_prefix("<user_query>").and_then(|rest| rest.trim_end().strip_suffix("</user_query>"));
    Cow::Borrowed(inner.map_or(text, str::trim))
}

/// How texts begin that the agent adds to a prompt.
fn is_context(text: &str) -> bool {
    let text = text.trim_start();
    [
        "<user_info>",
        "<git_status>",
        "<rules>",
        "<agent_skills>",
        "<system_reminder>",
        "<open_and_recently_viewed_files>",
    ]
    .iter()
    .any(|mark| text.starts_with(mark))
        && !text.contains("<user_query>")
}

fn image(part: Json<'_>) -> Option<String> {
    part.str("type").filter(|kind| kind == "image")?;
    let mime = part.get("mimeType").or_else(|| part.get("mediaType"))?;
    let data = part.get("image").or_else(|| part.get("data")).filter(|data| data.kind() == JsonKind::String)?;
    Some(Object::new().str("type", "image").json("data", data).json("mimeType", mime).finish())
}

fn answer(record: Json<'_>, of: &Composing<'_>) -> Result<NewEntry> {
    let content = content(record);
    let blocks: Vec<String> = match content.kind() {
        JsonKind::Array => (0usize..).zip(content.items()).filter_map(|(at, part)| block(at, part)).collect(),
        _ => texts(record).iter().map(|text| text_block_of(text)).collect(),
    };
    // A transcript does not say whether an answer goes on.
    let is_stored = record.get("data").is_some();
    let has_calls = is_stored && blocks.iter().any(|block| block.starts_with(r#"{"type":"toolCall""#));
    let object = Object::new()
        .str("role", "assistant")
        .raw("content", format!("[{}]", blocks.join(",")))
        .str("api", "openai-completions")
        .str("provider", "cursor")
        .str("model", of.name)
        .raw("usage", usage([0; 5], 0.0))
        .str("stopReason", if has_calls { "toolUse" } else { "stop" });
    message(object, of.time)
}

fn block(at: usize, part: Json<'_>) -> Option<String> {
    let arguments = |name: &str| {
        let input = part.get(name).filter(|input| input.kind() == JsonKind::Object);
        input.map_or_else(|| "{}".to_owned(), |input| input.text().to_owned())
    };
    let call = |id: &str, name: &str, input: &str| {
        let object = Object::new().str("type", "toolCall").str("id", id).str("name", name);
        object.raw("arguments", arguments(input)).finish()
    };
    match part.str("type")?.as_ref() {
        "text" => Some(text_block_of(&part.str("text")?)),
        "reasoning" => {
            let object = Object::new().str("type", "thinking").json("thinking", part.get("text")?);
            let signature = part.get("signature").filter(|signature| signature.kind() == JsonKind::String);
            Some(match signature {
                Some(signature) => object.json("thinkingSignature", signature).finish(),
                None => object.finish(),
            })
        }
        "tool-call" => Some(call(&part.str("toolCallId")?, &part.str("toolName").unwrap_or_default(), "args")),
        // In a transcript a call has neither an id nor a result.
        "tool_use" => Some(call(&format!("cursor-{at}"), &part.str("name").unwrap_or_default(), "input")),
        _ => None,
    }
}

fn results(record: Json<'_>) -> impl Iterator<Item = Json<'_>> {
    content(record).items().filter(|part| part.str("type").is_some_and(|kind| kind == "tool-result"))
}

fn result(record: Json<'_>, part: u32, time: Millis) -> Result<NewEntry> {
    let result = results(record).nth(part as usize).unwrap_or(Json::NULL);
    let value = result.get("result").or_else(|| result.get("output")).unwrap_or(Json::NULL);
    let text = match value.as_str() {
        Some(text) => text_block_of(&text),
        None if value.is_null() => String::new(),
        None => text_block_of(value.text()),
    };
    let object = Object::new()
        .str("role", "toolResult")
        .json("toolCallId", result.get("toolCallId").unwrap_or(Json::NULL))
        .str("toolName", &result.str("toolName").unwrap_or_default())
        .raw("content", format!("[{text}]"))
        .raw("isError", result.get("isError").and_then(Json::as_bool) == Some(true));
    message(object, time)
}
