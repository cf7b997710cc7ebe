//! Lines of transcripts as version 3 entries: a pure function of the records of an entry. Values keep their spelling.

use std::borrow::Cow;

use offshoot_session::compose::{NewCompaction, NewEntry};
use offshoot_session::error::Result;
use offshoot_session::header::Dialect;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Json, JsonKind, Object, quote};
use offshoot_session::kind::Operation;

use super::line::first_text;
use crate::composing::{Composing, SideFiles, message, text_block, text_block_of};
use crate::planned::Shape;

/// What an entry of a transcript is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClaudeForm {
    Prompt,
    Queued,
    Injected,
    /// `part` is the number of the result among the blocks of its record.
    Result,
    /// `part` is 1 if the answer was interrupted.
    Answer,
    /// The command, and what it printed.
    Bash,
    Compaction,
    Title,
    Label,
    Other,
    LeafMarker,
}

/// Makes an entry of its records.
pub(super) fn compose(shape: Shape<ClaudeForm>, of: &Composing<'_>) -> Result<NewEntry> {
    let first = of.records.first().copied().unwrap_or(Json::NULL);
    match shape.form {
        ClaudeForm::Prompt => prompt(first.get("message").and_then(|message| message.get("content")), of),
        ClaudeForm::Queued => prompt(first.get("attachment").and_then(|attachment| attachment.get("prompt")), of),
        ClaudeForm::Injected => injected(first, of),
        ClaudeForm::Result => result(first, shape.part, of),
        ClaudeForm::Answer => answer(shape.part == 1, of),
        ClaudeForm::Bash => bash(of),
        ClaudeForm::Compaction => Ok(compaction(first, of)),
        ClaudeForm::Title => Ok(NewEntry::session_info(&title(first).unwrap_or_default())),
        ClaudeForm::Label => {
            let target = of.refers.map(EntryId::as_str).unwrap_or_default();
            Ok(NewEntry::label(target, Some(of.name)))
        }
        ClaudeForm::Other => Ok(NewEntry::custom(of.name, None)),
        ClaudeForm::LeafMarker => Ok(NewEntry::leaf_marker(Operation::Switch, None)),
    }
}

/// The title that a record gives the session.
pub(super) fn title(record: Json<'_>) -> Option<Cow<'_, str>> {
    ["customTitle", "aiTitle", "summary"].into_iter().find_map(|name| record.str(name))
}

fn prompt(content: Option<Json<'_>>, of: &Composing<'_>) -> Result<NewEntry> {
    let object = Object::new().str("role", "user").raw("content", content_of(content));
    message(object, of.time)
}

/// A content as it is if it is a string, else as blocks.
fn content_of(content: Option<Json<'_>>) -> String {
    match content {
        Some(content) if content.kind() == JsonKind::String => content.text().to_owned(),
        Some(content) => format!("[{}]", blocks(content).join(",")),
        None => "[]".to_owned(),
    }
}

/// The blocks of a content without results of calls.
fn blocks(content: Json<'_>) -> Vec<String> {
    content.items().filter_map(block).collect()
}

fn block(block: Json<'_>) -> Option<String> {
    let kind = block.str("type")?;
    match kind.as_ref() {
        "text" => Some(text_block(block.get("text")?)),
        "image" => Some(image(block.get("source")?)),
        "tool_result" => None,
        "document" => Some(text_block_of("[document]")),
        _ => None,
    }
}

fn image(source: Json<'_>) -> String {
    match (source.get("data"), source.get("media_type")) {
        (Some(data), Some(mime)) => {
            Object::new().str("type", "image").json("data", data).json("mimeType", mime).finish()
        }
        _ => text_block_of(&format!("[image {}]", source.str("url").unwrap_or_default())),
    }
}

fn injected(record: Json<'_>, of: &Composing<'_>) -> Result<NewEntry> {
    let content = match record.get("attachment") {
        Some(_) if of.name == "claude.attachment" => {
            let parts = record.get("rendered").unwrap_or(Json::NULL).items().filter_map(|part| part.str("content"));
            quote(&parts.collect::<Vec<_>>().join("\n"))
        }
        Some(attachment) => {
            let texts: Vec<_> = match attachment.get("content") {
                Some(content) if content.kind() == JsonKind::Array => {
                    content.items().filter_map(Json::as_str).collect()
                }
                Some(content) => content.as_str().into_iter().collect(),
                None => Vec::new(),
            };
            quote(&texts.join("\n"))
        }
        None => content_of(record.get("message").and_then(|message| message.get("content"))),
    };
    NewEntry::custom_message(of.name, Json::parse(&content).unwrap_or(Json::NULL), false, None)
}

fn result(record: Json<'_>, part: u32, of: &Composing<'_>) -> Result<NewEntry> {
    let content = record.get("message").and_then(|message| message.get("content")).unwrap_or(Json::NULL);
    // Outputs are long: each is passed over once.
    let blocks_of = content.items().map(|block| block.pick(["type", "is_error", "content", "tool_use_id"]));
    let mut results =
        blocks_of.filter(|[kind, ..]| kind.and_then(Json::as_str).is_some_and(|kind| kind == "tool_result"));
    let [_, is_error, output, call] = results.nth(part as usize).unwrap_or_default();
    let is_error = is_error.and_then(Json::as_bool) == Some(true);
    let text = match output {
        Some(text) if text.kind() == JsonKind::String => match spilled(record, text, of.side) {
            Some(whole) => text_block_of(&whole),
            None => text_block(text),
        },
        Some(content) => blocks(content).join(","),
        None => String::new(),
    };
    let object = Object::new()
        .str("role", "toolResult")
        .json("toolCallId", call.unwrap_or(Json::NULL))
        .str("toolName", of.name)
        .raw("content", format!("[{text}]"))
        .raw("isError", is_error);
    message(object, of.time)
}

/// The whole output of which a result has only a preview.
fn spilled(record: Json<'_>, text: Json<'_>, side: &dyn SideFiles) -> Option<String> {
    // Nearly all outputs begin with something else, and are long.
    let may_begin_so = text.text().starts_with("\"<") || text.text().starts_with("\"\\");
    if !may_begin_so || !text.as_str()?.starts_with("<persisted-output>") {
        return None;
    }
    let path = record.get("toolUseResult")?.str("persistedOutputPath")?;
    // Only the name counts: the folder is the session's own.
    side.text("tool-results", path.rsplit(['/', '\\']).next()?)
}

/// The records of one answer, which have one block or more each.
fn answer(is_aborted: bool, of: &Composing<'_>) -> Result<NewEntry> {
    let parts: Vec<AnswerPart<'_>> = of.records.iter().map(|record| AnswerPart::of(*record)).collect();
    let content: Vec<String> = parts
        .iter()
        .filter_map(|part| part.content)
        .flat_map(|content| match content.kind() {
            JsonKind::String => vec![text_block(content)],
            _ => content.items().filter_map(answer_block).collect(),
        })
        .collect();
    let text = |value: Option<Json<'_>>| value.and_then(Json::as_str).map(Cow::into_owned);
    let model = parts.iter().rev().find_map(|part| text(part.model)).unwrap_or_default();
    let failed = parts.last().is_some_and(|part| part.has_failed);
    let has_calls = content.iter().any(|block| block.starts_with(r#"{"type":"toolCall""#));
    let said = parts.iter().rev().find_map(|part| text(part.stop_reason));
    let stop = match said.as_deref() {
        _ if failed => "error",
        Some("end_turn" | "stop_sequence") => "stop",
        Some("max_tokens" | "model_context_window_exceeded") => "length",
        Some("tool_use") => "toolUse",
        Some("refusal") => "error",
        _ if is_aborted => "aborted",
        _ if has_calls => "toolUse",
        _ => "stop",
    };
    let cost = parts.iter().rev().find_map(|part| part.cost?.as_f64());
    let object = Object::new()
        .str("role", "assistant")
        .raw("content", format!("[{}]", content.join(",")))
        .str("api", "anthropic-messages")
        .str("provider", "anthropic")
        .str("model", &model)
        .raw("usage", usage(&parts, cost.unwrap_or_default()))
        .str("stopReason", stop);
    let error = failed.then(|| parts.iter().find_map(|part| first_text(part.content?))).flatten();
    message(object.opt_str("errorMessage", error.as_deref()), of.time)
}

/// The members of an answer's record and of its message that count.
#[derive(Default)]
struct AnswerPart<'a> {
    has_failed: bool,
    cost: Option<Json<'a>>,
    content: Option<Json<'a>>,
    model: Option<Json<'a>>,
    stop_reason: Option<Json<'a>>,
    usage: Option<Json<'a>>,
}

impl<'a> AnswerPart<'a> {
    /// Texts are long: each is passed over once for both.
    fn of(record: Json<'a>) -> Self {
        let [message, has_failed, cost] = record.pick(["message", "isApiErrorMessage", "costUSD"]);
        let members = message.map(|message| message.pick(["content", "model", "stop_reason", "usage"]));
        let [content, model, stop_reason, usage] = members.unwrap_or_default();
        let has_failed = has_failed.and_then(Json::as_bool) == Some(true);
        Self { has_failed, cost, content, model, stop_reason, usage }
    }
}

fn answer_block(block: Json<'_>) -> Option<String> {
    let object = |kind| Object::new().str("type", kind);
    let [kind, text, thinking, signature, data, id, name, input] =
        block.pick(["type", "text", "thinking", "signature", "data", "id", "name", "input"]);
    match kind?.as_str()?.as_ref() {
        "text" => Some(text_block(text?)),
        "thinking" => {
            let thinking = object("thinking").json("thinking", thinking?);
            Some(match signature {
                Some(signature) => thinking.json("thinkingSignature", signature).finish(),
                None => thinking.finish(),
            })
        }
        "redacted_thinking" => {
            let thinking = object("thinking").str("thinking", "").raw("redacted", true);
            Some(thinking.json("thinkingSignature", data?).finish())
        }
        "tool_use" => {
            let call = object("toolCall").json("id", id?).json("name", name?);
            Some(match input {
                Some(input) if input.kind() == JsonKind::Object => call.json("arguments", input).finish(),
                Some(input) => call.raw("arguments", Object::new().json("input", input).finish()).finish(),
                None => call.raw("arguments", "{}").finish(),
            })
        }
        _ => None,
    }
}

/// Streaming repeats the usage of an answer; the largest output is the last one.
fn usage(parts: &[AnswerPart<'_>], cost: f64) -> String {
    let of =
        |usage: Json<'_>, name: &str| usage.get(name).and_then(Json::as_f64).map_or(0, |count| count.max(0.0) as u64);
    let all = parts.iter().filter_map(|part| part.usage);
    let largest = all.max_by_key(|usage| of(*usage, "output_tokens"));
    let count = |name| largest.map_or(0, |usage| of(usage, name));
    let (input, output) = (count("input_tokens"), count("output_tokens"));
    let (read, write) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
    let total = input.saturating_add(output).saturating_add(read).saturating_add(write);
    crate::composing::usage([input, output, read, write, total], cost)
}

fn bash(of: &Composing<'_>) -> Result<NewEntry> {
    let text = |record: Option<&Json<'_>>| {
        let content = record?.get("message")?.get("content")?;
        first_text(content).map(Cow::into_owned)
    };
    let input = text(of.records.first()).unwrap_or_default();
    let output = text(of.records.get(1)).unwrap_or_default();
    let printed = [between(&output, "bash-stdout"), between(&output, "bash-stderr")];
    let printed: Vec<&str> = printed.into_iter().flatten().filter(|text| !text.is_empty()).collect();
    let object = Object::new()
        .str("role", "bashExecution")
        .str("command", between(&input, "bash-input").unwrap_or(&input))
        .str("output", &printed.join("\n"))
        .raw("cancelled", false)
        .raw("truncated", false);
    message(object, of.time)
}

fn between<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let rest = text.split_once(&format!("<{tag}>"))?.1;
    Some(rest.split_once(&format!("</{tag}>")).map_or(rest, |(inner, _)| inner))
}

/// The boundary and the summary behind it; an old transcript has the summary alone.
fn compaction(first: Json<'_>, of: &Composing<'_>) -> NewEntry {
    let summary = of.records.iter().find_map(|record| first_text(record.get("message")?.get("content")?));
    let before = first.get("compactMetadata").and_then(|data| data.get("preTokens")).and_then(Json::as_f64);
    let new = NewCompaction {
        summary: summary.as_deref().unwrap_or_default(),
        first_kept: of.refers.map(EntryId::as_str),
        tokens_before: before.map_or(0, |count| count.max(0.0) as u64),
        ..NewCompaction::default()
    };
    NewEntry::compaction(&new, Dialect::Pi)
}
