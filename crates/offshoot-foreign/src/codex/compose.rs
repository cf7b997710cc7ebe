//! Records of rollouts as version 3 entries: a pure function of the records of an entry.

use offshoot_session::compose::{NewCompaction, NewEntry};
use offshoot_session::error::Result;
use offshoot_session::header::Dialect;
use offshoot_session::json::{Json, JsonKind, Object, quote};
use offshoot_session::kind::Operation;

use super::item::CodexItem;
use crate::composing::{Composing, message, text_block, text_block_of, usage};
use crate::planned::Shape;

/// What an entry of a rollout is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodexForm {
    Prompt,
    Injected,
    /// `part` is 1 if the answer was interrupted.
    Answer,
    Result,
    Model,
    Thinking,
    Compaction,
    /// `part` is the number of the item in the history that replaces all before.
    Kept,
    Title,
    LeafMarker,
}

/// Makes an entry of its records.
pub(super) fn compose(shape: Shape<CodexForm>, of: &Composing<'_>) -> Result<NewEntry> {
    let items: Vec<CodexItem<'_>> = of.records.iter().filter_map(|record| CodexItem::read(*record)).collect();
    let first = items.first().map_or(Json::NULL, |item| item.payload);
    match shape.form {
        CodexForm::Prompt => {
            let object = Object::new().str("role", "user").raw("content", content(first));
            message(object, of.time)
        }
        CodexForm::Injected => injected(first, of.name),
        CodexForm::Answer => answer(&items, shape.part == 1, of),
        CodexForm::Result => result(first, of),
        CodexForm::Model => {
            let (provider, model) = model_of(of.name);
            Ok(NewEntry::model(provider, model, Dialect::Pi))
        }
        CodexForm::Thinking => Ok(NewEntry::thinking_level(of.name, Dialect::Pi)),
        CodexForm::Compaction => {
            let summary = first.str("message").unwrap_or_default();
            Ok(NewEntry::compaction(&NewCompaction { summary: &summary, ..NewCompaction::default() }, Dialect::Pi))
        }
        CodexForm::Kept => {
            let history = first.get("replacement_history").unwrap_or(Json::NULL);
            injected(history.items().nth(shape.part as usize).unwrap_or(first), of.name)
        }
        CodexForm::Title => Ok(NewEntry::session_info(&first.str("thread_name").unwrap_or_default())),
        CodexForm::LeafMarker => Ok(NewEntry::leaf_marker(Operation::Switch, None)),
    }
}

/// The provider and the model of a name.
fn model_of(name: &str) -> (&str, &str) {
    name.split_once('/').unwrap_or(("openai", name))
}

fn content(item: Json<'_>) -> String {
    let content = item.get("content").unwrap_or(Json::NULL);
    if content.kind() == JsonKind::String {
        return content.text().to_owned();
    }
    format!("[{}]", content.items().filter_map(block).collect::<Vec<_>>().join(","))
}

fn block(block: Json<'_>) -> Option<String> {
    match block.str("type")?.as_ref() {
        "input_text" | "output_text" | "text" => Some(text_block(block.get("text")?)),
        "input_image" => {
            let url = block.str("image_url")?;
            let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
            Some(match data {
                Some((mime, data)) => {
                    Object::new().str("type", "image").str("data", data).str("mimeType", mime).finish()
                }
                None => text_block_of(&format!("[image {url}]")),
            })
        }
        _ => None,
    }
}

fn injected(item: Json<'_>, name: &str) -> Result<NewEntry> {
    let content = content(item);
    NewEntry::custom_message(name, Json::parse(&content).unwrap_or(Json::NULL), false, None)
}

fn answer(items: &[CodexItem<'_>], is_aborted: bool, of: &Composing<'_>) -> Result<NewEntry> {
    let mut blocks = Vec::new();
    let mut has_calls = false;
    for item in items.iter().filter(|item| item.kind == "response_item") {
        let payload = item.payload;
        match payload.str("type").unwrap_or_default().as_ref() {
            "message" => blocks.extend(payload.get("content").unwrap_or(Json::NULL).items().filter_map(block)),
            "reasoning" => blocks.push(thinking(payload)),
            _ => {
                has_calls = true;
                blocks.push(call(item));
            }
        }
    }
    let (provider, model) = model_of(of.name);
    let report = items.iter().rev().find(|item| item.kind != "response_item").map_or(Json::NULL, |item| item.payload);
    let stop = match (is_aborted, has_calls) {
        (true, _) => "aborted",
        (false, true) => "toolUse",
        (false, false) => "stop",
    };
    let object = Object::new()
        .str("role", "assistant")
        .raw("content", format!("[{}]", blocks.join(",")))
        .str("api", "openai-responses")
        .str("provider", provider)
        .str("model", model)
        .raw("usage", usage_of(report))
        .str("stopReason", stop);
    message(object, of.time)
}

/// The signature is the whole item, which only the same provider takes back.
fn thinking(item: Json<'_>) -> String {
    let summary = item.get("summary").unwrap_or(Json::NULL);
    let texts: Vec<_> = summary.items().filter_map(|part| part.str("text")).collect();
    let object = Object::new().str("type", "thinking").str("thinking", &texts.join("\n\n"));
    object.raw("thinkingSignature", quote(item.text())).finish()
}

fn call(item: &CodexItem<'_>) -> String {
    let payload = item.payload;
    let object =
        Object::new().str("type", "toolCall").str("id", &item.call().unwrap_or_default()).str("name", &item.tool());
    let given = payload.str("arguments");
    let parsed = given.as_deref().and_then(|text| Json::parse(text).ok());
    let arguments = match parsed.filter(|parsed| parsed.kind() == JsonKind::Object) {
        Some(parsed) => parsed.text().to_owned(),
        None => match payload.get("arguments").or(payload.get("input")).or(payload.get("action")) {
            Some(action) if action.kind() == JsonKind::Object => action.text().to_owned(),
            Some(input) => Object::new().json("input", input).finish(),
            None => "{}".to_owned(),
        },
    };
    // Arguments are text of the model: their line breaks would break the line.
    object.raw("arguments", arguments.replace(['\n', '\r'], " ")).finish()
}

fn result(item: Json<'_>, of: &Composing<'_>) -> Result<NewEntry> {
    let output = item.get("output").unwrap_or(Json::NULL);
    let (content, is_error) = match output.as_str() {
        Some(text) => (text_block(output), has_failed(&text)),
        None => {
            let blocks = output.get("content").unwrap_or(output);
            let is_error = output.get("success").and_then(Json::as_bool) == Some(false);
            (blocks.items().filter_map(block).collect::<Vec<_>>().join(","), is_error)
        }
    };
    let object = Object::new()
        .str("role", "toolResult")
        .json("toolCallId", item.get("call_id").unwrap_or(Json::NULL))
        .str("toolName", of.name)
        .raw("content", format!("[{content}]"))
        .raw("isError", is_error);
    message(object, of.time)
}

/// Whether an output says that its command failed.
fn has_failed(text: &str) -> bool {
    if let Some(code) = Json::parse(text).ok().and_then(|json| json.get("metadata")?.get("exit_code")?.as_f64()) {
        return code != 0.0;
    }
    let said = text.lines().take(6).find_map(|line| line.strip_prefix("Process exited with code "));
    said.is_some_and(|code| code.trim() != "0")
}

fn usage_of(report: Json<'_>) -> String {
    let of = report.get("info").and_then(|info| info.get("last_token_usage")).or(report.get("usage"));
    let count = |name: &str| of.and_then(|of| of.get(name)).and_then(Json::as_f64).map_or(0, |n| n.max(0.0) as u64);
    let (all, output, read) = (count("input_tokens"), count("output_tokens"), count("cached_input_tokens"));
    let write = count("cache_write_input_tokens");
    let input = all.saturating_sub(read).saturating_sub(write);
    usage([input, output, read, write, all.saturating_add(output)], 0.0)
}
