//! opencode's messages: rows with their parts.

use std::borrow::Cow;

use offshoot_session::clock::Millis;
use offshoot_session::compose::{NewCompaction, NewEntry};
use offshoot_session::error::Result;
use offshoot_session::header::Dialect;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Json, JsonKind, Object, quote};
use offshoot_session::kind::{Kind, Operation, Role};

use crate::composing::{Composing, message, text_block, text_block_of, usage};
use crate::linear::{LinearEntry, LinearFormat, LinearStep};
use crate::planned::{ForeignHead, Shape};

/// What an entry of a message is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpencodeForm {
    Prompt,
    /// Texts that nobody typed.
    Injected,
    Answer,
    /// `part` is the number of the part.
    Result,
    Compaction,
    Title,
    LeafMarker,
}

/// What is remembered of the records so far.
#[derive(Debug, Default)]
pub(crate) struct OpencodeFormat {
    /// The message from which on all is taken back, until the next prompt.
    reverted: Option<String>,
    /// The first message that the next compaction keeps.
    tail: Option<String>,
}

impl LinearFormat for OpencodeFormat {
    type Form = OpencodeForm;

    const WORD: &'static str = "opencode";
    const LEAF: OpencodeForm = OpencodeForm::LeafMarker;

    fn read(&mut self, record: Json<'_>, head: &mut ForeignHead) -> Vec<LinearStep<OpencodeForm>> {
        match record.str("table").unwrap_or_default().as_ref() {
            "session" => self.session(record, head),
            "message" => self.message(record),
            _ => Vec::new(),
        }
    }

    fn record_id(record: Json<'_>) -> Option<String> {
        let is_message = record.str("table").is_some_and(|table| table == "message");
        record.str("id").filter(|id| is_message && !id.is_empty()).map(Cow::into_owned)
    }

    fn record_time(record: Json<'_>) -> Option<Millis> {
        record.get("time_created")?.as_f64().map(|time| time as Millis)
    }

    fn compose(shape: Shape<OpencodeForm>, of: &Composing<'_>) -> Result<NewEntry> {
        let record = of.records.first().copied().unwrap_or(Json::NULL);
        let join = |is_typed: bool| {
            let made = parts(record).filter(|part| is_said(*part) == is_typed).filter_map(block);
            format!("[{}]", made.collect::<Vec<_>>().join(","))
        };
        match shape.form {
            OpencodeForm::Prompt => message(Object::new().str("role", "user").raw("content", join(true)), of.time),
            OpencodeForm::Injected => {
                let content = join(false);
                let content = Json::parse(&content).unwrap_or(Json::NULL);
                NewEntry::custom_message("opencode.synthetic", content, false, None)
            }
            OpencodeForm::Answer => answer(record, of.time),
            OpencodeForm::Result => result(record, shape.part, of.time),
            OpencodeForm::Compaction => {
                let texts: Vec<_> =
                    parts(record).filter(|part| is(*part, "text")).filter_map(|part| part.str("text")).collect();
                let summary = texts.join("\n");
                let first_kept = of.refers.map(EntryId::as_str);
                let new = NewCompaction { summary: &summary, first_kept, ..NewCompaction::default() };
                Ok(NewEntry::compaction(&new, Dialect::Pi))
            }
            OpencodeForm::Title => Ok(NewEntry::session_info(&record.str("title").unwrap_or_default())),
            OpencodeForm::LeafMarker => Ok(NewEntry::leaf_marker(Operation::Switch, None)),
        }
    }
}

impl OpencodeFormat {
    fn session(&mut self, record: Json<'_>, head: &mut ForeignHead) -> Vec<LinearStep<OpencodeForm>> {
        let text = |name: &str| record.str(name).filter(|text| !text.is_empty()).map(Cow::into_owned);
        let worktree = text("worktree");
        head.cwd = text("directory").filter(|folder| folder != "/").or(worktree);
        head.parent = text("parent_id");
        head.is_subagent = head.parent.is_some();
        head.versions.extend(text("version"));
        self.reverted = record.get("revert").and_then(|revert| revert.str("messageID")).map(Cow::into_owned);
        let entry = LinearEntry::new(None, (Kind::SessionInfo, None), OpencodeForm::Title, record);
        if text("title").is_some() { vec![LinearStep::Entry(entry)] } else { Vec::new() }
    }

    fn message(&mut self, record: Json<'_>) -> Vec<LinearStep<OpencodeForm>> {
        let (Some(id), Some(data)) = (record.str("id"), record.get("data")) else { return Vec::new() };
        let mut steps = Vec::new();
        // What was taken back stays there until the next prompt; ids rise.
        if self.reverted.as_deref().is_some_and(|reverted| id.as_ref() >= reverted) {
            self.reverted = None;
            steps.push(LinearStep::OpenHere);
        }
        let entry = |suffix: &str, kind, form| {
            LinearStep::Entry(LinearEntry::new(Some(&format!("{id}{suffix}")), kind, form, record))
        };
        let said = |role| (Kind::Message, Some(role));
        match data.str("role").unwrap_or_default().as_ref() {
            "user" => {
                if let Some(part) = parts(record).find(|part| is(*part, "compaction")) {
                    self.tail = part.str("tail_start_id").map(Cow::into_owned);
                }
                let is_typed = parts(record).any(|part| is_said(part) && block(part).is_some());
                if is_typed {
                    steps.push(entry("", said(Role::User), OpencodeForm::Prompt));
                }
                if parts(record).any(|part| !is_said(part) && block(part).is_some()) {
                    let suffix = if is_typed { ".1" } else { "" };
                    steps.push(entry(suffix, (Kind::CustomMessage, None), OpencodeForm::Injected));
                }
            }
            "assistant" if data.get("summary").and_then(Json::as_bool) == Some(true) => {
                let entry = LinearEntry::new(Some(&id), (Kind::Compaction, None), OpencodeForm::Compaction, record);
                steps.push(LinearStep::Entry(LinearEntry { kept: self.tail.take(), ..entry }));
            }
            "assistant" => {
                steps.push(entry("", said(Role::Assistant), OpencodeForm::Answer));
                for (at, part) in parts(record).enumerate().filter(|(_, part)| is(*part, "tool")) {
                    let state = part.get("state").and_then(|state| state.str("status"));
                    if state.is_some_and(|state| state == "completed" || state == "error") {
                        let id = format!("{id}.{}", at + 1);
                        let entry = LinearEntry::new(Some(&id), said(Role::ToolResult), OpencodeForm::Result, record);
                        steps.push(LinearStep::Entry(LinearEntry { part: at as u32, ..entry }));
                    }
                }
            }
            _ => {}
        }
        steps
    }
}

fn parts(record: Json<'_>) -> impl Iterator<Item = Json<'_>> {
    record.get("parts").unwrap_or(Json::NULL).items().filter_map(|part| part.get("data"))
}

fn is(part: Json<'_>, kind: &str) -> bool {
    part.str("type").is_some_and(|own| own == kind)
}

/// Whether a person typed it or put it there.
fn is_said(part: Json<'_>) -> bool {
    part.get("synthetic").and_then(Json::as_bool) != Some(true) && !is(part, "subtask")
}

fn block(part: Json<'_>) -> Option<String> {
    match part.str("type")?.as_ref() {
        "text" if part.get("ignored").and_then(Json::as_bool) != Some(true) => Some(text_block(part.get("text")?)),
        "subtask" => Some(text_block(part.get("prompt")?)),
        "file" => {
            let url = part.str("url")?;
            let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
            Some(match data {
                Some((mime, data)) => {
                    Object::new().str("type", "image").str("data", data).str("mimeType", mime).finish()
                }
                None => text_block_of(&format!("@{}", url.strip_prefix("file://").unwrap_or(&url))),
            })
        }
        _ => None,
    }
}

fn answer(record: Json<'_>, time: Millis) -> Result<NewEntry> {
    let data = record.get("data").unwrap_or(Json::NULL);
    let (mut blocks, mut has_calls) = (Vec::new(), false);
    for part in parts(record) {
        match part.str("type").unwrap_or_default().as_ref() {
            "reasoning" => {
                let object = Object::new().str("type", "thinking");
                let object = object.json("thinking", part.get("text").unwrap_or(Json::NULL));
                let signature = part.get("metadata").and_then(|data| {
                    data.members()
                        .find_map(|(_, of)| of.get("signature").filter(|text| text.kind() == JsonKind::String))
                });
                blocks.push(match signature {
                    Some(signature) => object.json("thinkingSignature", signature).finish(),
                    None => object.finish(),
                });
            }
            "tool" => {
                has_calls = true;
                let input = part.get("state").and_then(|state| state.get("input"));
                let input = input.filter(|input| input.kind() == JsonKind::Object);
                let object = Object::new().str("type", "toolCall").json("id", part.get("callID").unwrap_or(Json::NULL));
                let object = object.json("name", part.get("tool").unwrap_or(Json::NULL));
                blocks.push(object.raw("arguments", input.map_or("{}", Json::text)).finish());
            }
            _ => blocks.extend(block(part)),
        }
    }
    let tokens = data.get("tokens").unwrap_or(Json::NULL);
    let count = |of: Json<'_>, name: &str| of.get(name).and_then(Json::as_f64).map_or(0, |count| count.max(0.0) as u64);
    let cache = tokens.get("cache").unwrap_or(Json::NULL);
    let (input, output) = (count(tokens, "input"), count(tokens, "output") + count(tokens, "reasoning"));
    let (read, write) = (count(cache, "read"), count(cache, "write"));
    let cost = data.get("cost").and_then(Json::as_f64).unwrap_or_default();
    let error = data.get("error").and_then(|error| error.str("name"));
    let stop = match error.as_deref() {
        Some("MessageAbortedError") => "aborted",
        Some(_) => "error",
        None if has_calls => "toolUse",
        None => "stop",
    };
    let provider = data.str("providerID").unwrap_or_default();
    let api = match provider.as_ref() {
        "anthropic" => "anthropic-messages",
        "openai" => "openai-responses",
        "google" => "google-generative-ai",
        _ => "openai-completions",
    };
    let object = Object::new()
        .str("role", "assistant")
        .raw("content", format!("[{}]", blocks.join(",")))
        .str("api", api)
        .str("provider", &provider)
        .str("model", &data.str("modelID").unwrap_or_default())
        .raw("usage", usage([input, output, read, write, input + output + read + write], cost))
        .str("stopReason", stop);
    message(object.opt_str("errorMessage", error.as_deref()), time)
}

fn result(record: Json<'_>, part: u32, time: Millis) -> Result<NewEntry> {
    let part = parts(record).nth(part as usize).unwrap_or(Json::NULL);
    let state = part.get("state").unwrap_or(Json::NULL);
    let text = state.get("output").or_else(|| state.get("error")).filter(|text| text.kind() == JsonKind::String);
    let code = state.get("metadata").and_then(|data| data.get("exit")).and_then(Json::as_f64);
    let is_error = state.str("status").is_some_and(|status| status == "error") || code.is_some_and(|code| code != 0.0);
    let object = Object::new()
        .str("role", "toolResult")
        .json("toolCallId", part.get("callID").unwrap_or(Json::NULL))
        .raw("toolName", quote(&part.str("tool").unwrap_or_default()))
        .raw("content", format!("[{}]", text.map(text_block).unwrap_or_default()))
        .raw("isError", is_error);
    message(object, time)
}
