//! Crush's messages: rows with parts.

use std::borrow::Cow;

use offshoot_session::clock::Millis;
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
pub(crate) enum CrushForm {
    Prompt,
    Answer,
    /// `part` is the number of the result in its row.
    Result,
    Bash,
    Compaction,
    Title,
    LeafMarker,
}

/// What is remembered of the rows so far.
#[derive(Debug, Default)]
pub(crate) struct CrushFormat {
    summary: Option<String>,
}

impl LinearFormat for CrushFormat {
    type Form = CrushForm;

    const WORD: &'static str = "crush";
    const LEAF: CrushForm = CrushForm::LeafMarker;

    fn read(&mut self, record: Json<'_>, head: &mut ForeignHead) -> Vec<LinearStep<CrushForm>> {
        let id = record.str("id");
        match record.str("table").unwrap_or_default().as_ref() {
            "sessions" => {
                self.summary = record.str("summary_message_id").filter(|id| !id.is_empty()).map(Cow::into_owned);
                head.parent = record.str("parent_session_id").filter(|id| !id.is_empty()).map(Cow::into_owned);
                head.is_subagent = head.parent.is_some();
                let has_title = record.str("title").is_some_and(|title| !title.is_empty());
                let entry = LinearEntry::new(None, (Kind::SessionInfo, None), CrushForm::Title, record);
                if has_title { vec![LinearStep::Entry(entry)] } else { Vec::new() }
            }
            "messages" => {
                let entry = |role, form| LinearEntry::new(id.as_deref(), (Kind::Message, Some(role)), form, record);
                let is_summary = self.summary.is_some() && self.summary.as_deref() == id.as_deref();
                let has_shell = parts(record, "shell_command").next().is_some();
                match record.str("role").unwrap_or_default().as_ref() {
                    _ if is_summary => {
                        let kind = (Kind::Compaction, None);
                        vec![LinearStep::Entry(LinearEntry::new(id.as_deref(), kind, CrushForm::Compaction, record))]
                    }
                    "user" if has_shell => vec![LinearStep::Entry(entry(Role::BashExecution, CrushForm::Bash))],
                    "user" => vec![LinearStep::Entry(entry(Role::User, CrushForm::Prompt))],
                    "assistant" => vec![LinearStep::Entry(entry(Role::Assistant, CrushForm::Answer))],
                    "tool" => (0u32..)
                        .zip(parts(record, "tool_result"))
                        .map(|(part, _)| {
                            let own = id.as_deref().unwrap_or_default();
                            let id = if part == 0 { own.to_owned() } else { format!("{own}.{part}") };
                            let kind = (Kind::Message, Some(Role::ToolResult));
                            let entry = LinearEntry::new(Some(&id), kind, CrushForm::Result, record);
                            LinearStep::Entry(LinearEntry { part, ..entry })
                        })
                        .collect(),
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    fn record_id(record: Json<'_>) -> Option<String> {
        let is_message = record.str("table").is_some_and(|table| table == "messages");
        record.str("id").filter(|id| is_message && !id.is_empty()).map(Cow::into_owned)
    }

    fn record_time(record: Json<'_>) -> Option<Millis> {
        let time = record.get("created_at")?.as_f64()? as Millis;
        // Seconds, though comments say milliseconds.
        Some(if time < 100_000_000_000 { time.saturating_mul(1000) } else { time })
    }

    fn compose(shape: Shape<CrushForm>, of: &Composing<'_>) -> Result<NewEntry> {
        let record = of.records.first().copied().unwrap_or(Json::NULL);
        match shape.form {
            CrushForm::Prompt => {
                let blocks: Vec<String> = record.get("parts").unwrap_or(Json::NULL).items().filter_map(block).collect();
                message(Object::new().str("role", "user").raw("content", format!("[{}]", blocks.join(","))), of.time)
            }
            CrushForm::Answer => answer(record, of.time),
            CrushForm::Result => {
                let result = parts(record, "tool_result").nth(shape.part as usize).unwrap_or(Json::NULL);
                let text = result.get("content").filter(|text| text.kind() == JsonKind::String);
                let object = Object::new()
                    .str("role", "toolResult")
                    .json("toolCallId", result.get("tool_call_id").unwrap_or(Json::NULL))
                    .str("toolName", &result.str("name").unwrap_or_default())
                    .raw("content", format!("[{}]", text.map(text_block).unwrap_or_default()))
                    .raw("isError", result.get("is_error").and_then(Json::as_bool) == Some(true));
                message(object, of.time)
            }
            CrushForm::Bash => {
                let shell = parts(record, "shell_command").next().unwrap_or(Json::NULL);
                let code = shell.get("exit_code").and_then(Json::as_f64).unwrap_or_default();
                let object = Object::new()
                    .str("role", "bashExecution")
                    .str("command", &shell.str("command").unwrap_or_default())
                    .str("output", &shell.str("output").unwrap_or_default())
                    .raw("exitCode", code)
                    .raw("cancelled", false)
                    .raw("truncated", false);
                message(object, of.time)
            }
            CrushForm::Compaction => {
                let texts: Vec<_> = parts(record, "text").filter_map(|part| part.str("text")).collect();
                let summary = texts.join("\n");
                let new = NewCompaction { summary: &summary, ..NewCompaction::default() };
                Ok(NewEntry::compaction(&new, Dialect::Pi))
            }
            CrushForm::Title => Ok(NewEntry::session_info(&record.str("title").unwrap_or_default())),
            CrushForm::LeafMarker => Ok(NewEntry::leaf_marker(Operation::Switch, None)),
        }
    }
}

/// The data of all parts of a type.
fn parts<'a>(record: Json<'a>, kind: &'static str) -> impl Iterator<Item = Json<'a>> {
    let parts = record.get("parts").unwrap_or(Json::NULL);
    let is_it = move |part: &Json<'_>| part.str("type").is_some_and(|own| own == kind);
    parts.items().filter(is_it).filter_map(|part| part.get("data"))
}

fn block(part: Json<'_>) -> Option<String> {
    let data = part.get("data")?;
    match part.str("type")?.as_ref() {
        "text" => Some(text_block(data.get("text")?)),
        "binary" => {
            let object = Object::new().str("type", "image").json("data", data.get("Data")?);
            Some(object.json("mimeType", data.get("MIMEType")?).finish())
        }
        _ => None,
    }
}

fn answer(record: Json<'_>, time: Millis) -> Result<NewEntry> {
    let (mut blocks, mut has_calls, mut reason) = (Vec::new(), false, String::new());
    for part in record.get("parts").unwrap_or(Json::NULL).items() {
        let data = part.get("data").unwrap_or(Json::NULL);
        match part.str("type").unwrap_or_default().as_ref() {
            "reasoning" => {
                let object = Object::new().str("type", "thinking");
                let object = object.json("thinking", data.get("thinking").unwrap_or(Json::NULL));
                let signature = data.get("signature").filter(|text| text.text() != "\"\"" && !text.is_null());
                blocks.push(match signature {
                    Some(signature) => object.json("thinkingSignature", signature).finish(),
                    None => object.finish(),
                });
            }
            "tool_call" => {
                has_calls = true;
                let member = |name: &str| data.get(name).unwrap_or(Json::NULL);
                let input = data.str("input").unwrap_or_default();
                let parsed = Json::parse(&input).ok().filter(|input| input.kind() == JsonKind::Object);
                let arguments = parsed.map_or_else(|| "{}".to_owned(), |input| input.text().replace(['\n', '\r'], " "));
                let object =
                    Object::new().str("type", "toolCall").json("id", member("id")).json("name", member("name"));
                blocks.push(object.raw("arguments", arguments).finish());
            }
            "finish" => reason = data.str("reason").unwrap_or_default().into_owned(),
            _ => blocks.extend(block(part)),
        }
    }
    let stop = match reason.as_str() {
        "max_tokens" => "length",
        "canceled" | "cancelled" => "aborted",
        "error" | "permission_denied" => "error",
        _ if has_calls => "toolUse",
        _ => "stop",
    };
    let provider = record.str("provider").unwrap_or_default();
    let api = if provider == "anthropic" { "anthropic-messages" } else { "openai-completions" };
    let object = Object::new()
        .str("role", "assistant")
        .raw("content", format!("[{}]", blocks.join(",")))
        .str("api", api)
        .str("provider", &provider)
        .str("model", &record.str("model").unwrap_or_default())
        .raw("usage", usage([0; 5], 0.0))
        .str("stopReason", stop);
    message(object, time)
}
