//! Goose's messages: rows with content, and whom they are visible to. Also its older files of lines.

use std::borrow::Cow;
use std::collections::HashMap;

use offshoot_session::clock::{Millis, parse_iso};
use offshoot_session::compose::{NewCompaction, NewEntry};
use offshoot_session::error::Result;
use offshoot_session::header::Dialect;
use offshoot_session::json::{Json, JsonKind, Object};
use offshoot_session::kind::{Kind, Operation, Role};

use crate::composing::{Composing, message, text_block, usage};
use crate::linear::{LinearEntry, LinearFormat, LinearStep};
use crate::planned::{ForeignHead, Shape};

/// What an entry of a row is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GooseForm {
    Prompt,
    Answer,
    /// `part` is the number of the result in its row.
    Result,
    Compaction,
    Title,
    LeafMarker,
}

/// What is remembered of the rows so far.
#[derive(Debug, Default)]
pub(crate) struct GooseFormat {
    calls: HashMap<String, String>,
    model: String,
}

impl LinearFormat for GooseFormat {
    type Form = GooseForm;

    const WORD: &'static str = "goose";
    const LEAF: GooseForm = GooseForm::LeafMarker;

    fn read(&mut self, record: Json<'_>, head: &mut ForeignHead) -> Vec<LinearStep<GooseForm>> {
        if let Some(folder) = record.str("working_dir") {
            head.cwd = head.cwd.take().or(Some(folder.into_owned()).filter(|folder| !folder.is_empty()));
            let model = record.get("model_config_json").and_then(|config| config.str("model_name")).unwrap_or_default();
            self.model = format!("{}/{model}", record.str("provider_name").unwrap_or_default());
            let title = title_of(record);
            let entry = LinearEntry::new(None, (Kind::SessionInfo, None), GooseForm::Title, record);
            return if title.is_empty() { Vec::new() } else { vec![LinearStep::Entry(entry)] };
        }
        let id = record.str("message_id").filter(|id| !id.is_empty());
        let entry = |part: usize, role, form| {
            let numbered = |id: &Cow<'_, str>| if part == 0 { id.to_string() } else { format!("{id}.{part}") };
            let id = id.as_ref().map(numbered);
            let kind = (Kind::Message, Some(role));
            LinearEntry { part: part as u32, ..LinearEntry::new(id.as_deref(), kind, form, record) }
        };
        let visible = |whom: &str| {
            record.get("metadata_json").and_then(|data| data.get(whom)).and_then(Json::as_bool).unwrap_or(true)
        };
        let results: Vec<Json<'_>> = blocks(record, "toolResponse").collect();
        match record.str("role").unwrap_or_default().as_ref() {
            "user" if !results.is_empty() => {
                let step = |(part, block): (usize, &Json<'_>)| {
                    let call = block.str("id").unwrap_or_default();
                    let name = self.calls.remove(call.as_ref()).unwrap_or_default();
                    LinearStep::Entry(LinearEntry { name, ..entry(part, Role::ToolResult, GooseForm::Result) })
                };
                results.iter().enumerate().map(step).collect()
            }
            // The summary of what only people see from then on.
            "user" if !visible("userVisible") && visible("agentVisible") => {
                let id = id.as_deref();
                vec![LinearStep::Entry(LinearEntry::new(id, (Kind::Compaction, None), GooseForm::Compaction, record))]
            }
            "user" => vec![LinearStep::Entry(entry(0, Role::User, GooseForm::Prompt))],
            "assistant" => {
                let notices = blocks(record, "systemNotification").count();
                if notices > 0 && notices == content(record).items().count() {
                    return Vec::new();
                }
                for block in blocks(record, "toolRequest") {
                    if let (Some(id), Some(name)) = (block.str("id"), called(block).and_then(|call| call.str("name"))) {
                        self.calls.insert(id.into_owned(), name.into_owned());
                    }
                }
                let name = self.model.clone();
                vec![LinearStep::Entry(LinearEntry { name, ..entry(0, Role::Assistant, GooseForm::Answer) })]
            }
            _ => Vec::new(),
        }
    }

    fn record_id(record: Json<'_>) -> Option<String> {
        record.str("message_id").filter(|id| !id.is_empty()).map(Cow::into_owned)
    }

    fn record_time(record: Json<'_>) -> Option<Millis> {
        if let Some(text) = record.str("created_at") {
            return parse_iso(&format!("{}Z", text.replace(' ', "T")));
        }
        let time = record.get("created_timestamp").or_else(|| record.get("created"))?.as_f64()? as Millis;
        Some(time.saturating_mul(1000))
    }

    fn compose(shape: Shape<GooseForm>, of: &Composing<'_>) -> Result<NewEntry> {
        let record = of.records.first().copied().unwrap_or(Json::NULL);
        match shape.form {
            GooseForm::Prompt => {
                let blocks: Vec<String> = content(record).items().filter_map(block).collect();
                message(Object::new().str("role", "user").raw("content", format!("[{}]", blocks.join(","))), of.time)
            }
            GooseForm::Answer => answer(record, of),
            GooseForm::Result => {
                let response = blocks(record, "toolResponse").nth(shape.part as usize).unwrap_or(Json::NULL);
                let result = response.get("toolResult").unwrap_or(Json::NULL);
                let value = result.get("value").unwrap_or(Json::NULL);
                let parts = value.get("content").unwrap_or(value);
                let mut texts: Vec<String> = parts.items().filter_map(block).collect();
                texts.extend(result.get("error").filter(|error| error.kind() == JsonKind::String).map(text_block));
                let is_error =
                    result.get("error").is_some() || value.get("isError").and_then(Json::as_bool) == Some(true);
                let object = Object::new()
                    .str("role", "toolResult")
                    .json("toolCallId", response.get("id").unwrap_or(Json::NULL))
                    .str("toolName", of.name)
                    .raw("content", format!("[{}]", texts.join(",")))
                    .raw("isError", is_error);
                message(object, of.time)
            }
            GooseForm::Compaction => {
                let texts: Vec<_> = blocks(record, "text").filter_map(|block| block.str("text")).collect();
                let summary = texts.join("\n");
                let new = NewCompaction { summary: &summary, ..NewCompaction::default() };
                Ok(NewEntry::compaction(&new, Dialect::Pi))
            }
            GooseForm::Title => Ok(NewEntry::session_info(&title_of(record))),
            GooseForm::LeafMarker => Ok(NewEntry::leaf_marker(Operation::Switch, None)),
        }
    }
}

fn title_of(record: Json<'_>) -> String {
    let title = record.str("name").filter(|name| !name.is_empty()).or_else(|| record.str("description"));
    title.map(Cow::into_owned).unwrap_or_default()
}

fn content(record: Json<'_>) -> Json<'_> {
    record.get("content_json").or_else(|| record.get("content")).unwrap_or(Json::NULL)
}

fn blocks<'a>(record: Json<'a>, kind: &'static str) -> impl Iterator<Item = Json<'a>> {
    content(record).items().filter(move |block| block.str("type").is_some_and(|own| own == kind))
}

fn called(request: Json<'_>) -> Option<Json<'_>> {
    request.get("toolCall")?.get("value")
}

fn block(block: Json<'_>) -> Option<String> {
    match block.str("type")?.as_ref() {
        "text" => Some(text_block(block.get("text")?)),
        "image" => {
            let object = Object::new().str("type", "image").json("data", block.get("data")?);
            Some(object.json("mimeType", block.get("mimeType")?).finish())
        }
        _ => None,
    }
}

fn answer(record: Json<'_>, of: &Composing<'_>) -> Result<NewEntry> {
    let (mut made, mut has_calls) = (Vec::new(), false);
    for part in content(record).items() {
        let member = |name: &str| part.get(name).unwrap_or(Json::NULL);
        let thinking = || Object::new().str("type", "thinking");
        match part.str("type").unwrap_or_default().as_ref() {
            "thinking" => {
                let object = thinking().json("thinking", member("thinking"));
                made.push(object.json("thinkingSignature", member("signature")).finish());
            }
            "redactedThinking" => {
                let object = thinking().str("thinking", "").raw("redacted", true);
                made.push(object.json("thinkingSignature", member("data")).finish());
            }
            "toolRequest" => {
                has_calls = true;
                let call = called(part).unwrap_or(Json::NULL);
                let arguments = call.get("arguments").filter(|arguments| arguments.kind() == JsonKind::Object);
                let object = Object::new().str("type", "toolCall").json("id", member("id"));
                let object = object.str("name", &call.str("name").unwrap_or_default());
                made.push(object.raw("arguments", arguments.map_or("{}", Json::text)).finish());
            }
            _ => made.extend(block(part)),
        }
    }
    let (provider, model) = of.name.split_once('/').unwrap_or(("", of.name));
    let api = if provider == "anthropic" { "anthropic-messages" } else { "openai-completions" };
    let object = Object::new()
        .str("role", "assistant")
        .raw("content", format!("[{}]", made.join(",")))
        .str("api", api)
        .str("provider", provider)
        .str("model", model)
        .raw("usage", usage([0; 5], 0.0))
        .str("stopReason", if has_calls { "toolUse" } else { "stop" });
    message(object, of.time)
}
