//! Gemini CLI's logs: messages with ids, of which the last one of an id counts, and operators on the conversation.

use offshoot_session::clock::{Millis, parse_iso};
use offshoot_session::compose::{NewCompaction, NewEntry};
use offshoot_session::error::Result;
use offshoot_session::header::Dialect;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Json, JsonKind, Object, quote};
use offshoot_session::kind::{Kind, Operation, Role};

use crate::composing::{Composing, message, text_block, text_block_of, usage};
use crate::linear::{LinearEntry, LinearFormat, LinearStep};
use crate::planned::{ForeignHead, Shape};

/// What an entry of a log is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GeminiForm {
    Prompt,
    Answer,
    /// `part` is the number of the call in its answer, from 1.
    Result,
    /// A view that replaces what was said before.
    Compaction,
    Title,
    LeafMarker,
}

/// What is remembered of the records so far.
#[derive(Debug, Default)]
pub(crate) struct GeminiFormat {
    title: Option<String>,
    /// The ids that records have had.
    seen: std::collections::HashSet<String>,
}

impl LinearFormat for GeminiFormat {
    type Form = GeminiForm;

    const WORD: &'static str = "gemini";
    const LEAF: GeminiForm = GeminiForm::LeafMarker;

    fn read(&mut self, record: Json<'_>, head: &mut ForeignHead) -> Vec<LinearStep<GeminiForm>> {
        if let Some(id) = record.str("$rewindTo") {
            return vec![LinearStep::RewindBefore(id.into_owned())];
        }
        if let Some(set) = record.get("$set") {
            return self.set(set, head);
        }
        if record.get("projectHash").is_some() && record.get("sessionId").is_some() {
            let mut steps = self.set(record, head);
            // The old form is one object with everything.
            for message in record.get("messages").unwrap_or(Json::NULL).items() {
                steps.extend(self.message(message));
            }
            return steps;
        }
        self.message(record)
    }

    fn record_id(record: Json<'_>) -> Option<String> {
        record.str("id").filter(|id| !id.is_empty()).map(std::borrow::Cow::into_owned)
    }

    fn record_time(record: Json<'_>) -> Option<Millis> {
        let time = record.str("timestamp").or_else(|| record.str("startTime"));
        parse_iso(&time?)
    }

    fn compose(shape: Shape<GeminiForm>, of: &Composing<'_>) -> Result<NewEntry> {
        let record = of.records.first().copied().unwrap_or(Json::NULL);
        let said = said_in(record, of.name);
        match shape.form {
            GeminiForm::Prompt => message(Object::new().str("role", "user").raw("content", content(said)), of.time),
            GeminiForm::Answer => answer(said, of.time),
            GeminiForm::Result => result(said, shape.part, of.time),
            GeminiForm::Compaction => {
                let messages = record.get("$set").and_then(|set| set.get("messages")).unwrap_or(Json::NULL);
                let new = messages.items().filter(|item| item.str("id").is_none_or(|id| !is_in(&id, of.name)));
                let texts: Vec<String> = new.map(text_of).collect();
                let summary = texts.join("\n\n");
                let new = NewCompaction {
                    summary: &summary,
                    first_kept: of.refers.map(EntryId::as_str),
                    ..NewCompaction::default()
                };
                Ok(NewEntry::compaction(&new, Dialect::Pi))
            }
            GeminiForm::Title => {
                let set = record.get("$set").unwrap_or(record);
                Ok(NewEntry::session_info(&set.str("summary").unwrap_or_default()))
            }
            GeminiForm::LeafMarker => Ok(NewEntry::leaf_marker(Operation::Switch, None)),
        }
    }
}

impl GeminiFormat {
    fn set(&mut self, set: Json<'_>, head: &mut ForeignHead) -> Vec<LinearStep<GeminiForm>> {
        if let Some(id) = set.str("sessionId").filter(|id| !id.is_empty() && head.native_id.is_empty()) {
            head.native_id = id.into_owned();
        }
        let folder = set.get("directories").and_then(|folders| folders.items().next()?.as_str());
        if let Some(folder) = folder.filter(|_| head.cwd.is_none()) {
            head.cwd = Some(folder.into_owned());
        }
        head.is_subagent |= set.str("kind").is_some_and(|kind| kind == "subagent");
        let mut steps = Vec::new();
        if let Some(title) = set.str("summary").filter(|title| self.title.as_deref() != Some(title.as_ref())) {
            self.title = Some(title.into_owned());
            steps.push(LinearStep::Entry(LinearEntry::new(None, (Kind::SessionInfo, None), GeminiForm::Title, set)));
        }
        if let Some(messages) = set.get("messages").filter(|_| set.get("sessionId").is_none()) {
            let known = |item: &Json<'_>| item.str("id").is_some_and(|id| self.seen.contains(id.as_ref()));
            let kept = messages.items().find(known).and_then(|item| item.str("id")).map(std::borrow::Cow::into_owned);
            let ids: Vec<_> = messages.items().filter(known).filter_map(|item| item.str("id")).collect();
            let name = ids.join(",");
            let entry = LinearEntry::new(None, (Kind::Compaction, None), GeminiForm::Compaction, set);
            steps.push(LinearStep::Entry(LinearEntry { kept, name, ..entry }));
        }
        steps
    }

    fn message(&mut self, said: Json<'_>) -> Vec<LinearStep<GeminiForm>> {
        let Some(id) = said.str("id") else { return Vec::new() };
        let form = match said.str("type").unwrap_or_default().as_ref() {
            "user" => GeminiForm::Prompt,
            "gemini" => GeminiForm::Answer,
            _ => return Vec::new(),
        };
        self.seen.insert(id.clone().into_owned());
        let role = if form == GeminiForm::Prompt { Role::User } else { Role::Assistant };
        let entry = |id: &str, role, form| LinearEntry {
            name: said.str("id").unwrap_or_default().into_owned(),
            time: Self::record_time(said),
            ..LinearEntry::new(Some(id), (Kind::Message, Some(role)), form, said)
        };
        let mut steps = vec![LinearStep::Entry(entry(&id, role, form))];
        let calls = said.get("toolCalls").unwrap_or(Json::NULL);
        for (part, call) in (1u32..).zip(calls.items()) {
            if call.get("result").is_some_and(|result| !result.is_null()) {
                let result = entry(&format!("{id}.{part}"), Role::ToolResult, GeminiForm::Result);
                steps.push(LinearStep::Entry(LinearEntry { part, ..result }));
            }
        }
        steps
    }
}

/// Whether an id is one of a list.
fn is_in(id: &str, list: &str) -> bool {
    list.split(',').any(|known| known == id)
}

/// The message with this id: the record itself, or one in the old form.
fn said_in<'a>(record: Json<'a>, id: &str) -> Json<'a> {
    let is_it = |item: &Json<'_>| item.str("id").is_some_and(|own| own == id);
    let messages = record.get("messages").unwrap_or(Json::NULL);
    messages.items().find(is_it).unwrap_or(record)
}

fn text_of(said: Json<'_>) -> String {
    let content = said.get("content").unwrap_or(Json::NULL);
    match content.as_str() {
        Some(text) => text.into_owned(),
        None => content.items().filter_map(|part| part.str("text")).collect::<Vec<_>>().join("\n"),
    }
}

fn content(said: Json<'_>) -> String {
    let content = said.get("content").unwrap_or(Json::NULL);
    if content.kind() == JsonKind::String {
        return content.text().to_owned();
    }
    format!("[{}]", content.items().filter_map(part).collect::<Vec<_>>().join(","))
}

fn part(part: Json<'_>) -> Option<String> {
    if let Some(text) = part.get("text") {
        return Some(text_block(text));
    }
    let data = part.get("inlineData")?;
    let object = Object::new().str("type", "image").json("data", data.get("data")?);
    Some(object.json("mimeType", data.get("mimeType")?).finish())
}

fn answer(said: Json<'_>, time: Millis) -> Result<NewEntry> {
    let mut blocks = Vec::new();
    for thought in said.get("thoughts").unwrap_or(Json::NULL).items() {
        let (subject, text) =
            (thought.str("subject").unwrap_or_default(), thought.str("description").unwrap_or_default());
        let words = format!("**{subject}** {text}");
        blocks.push(Object::new().str("type", "thinking").str("thinking", &words).finish());
    }
    match said.get("content") {
        Some(text) if text.kind() == JsonKind::String && text.text() != "\"\"" => blocks.push(text_block(text)),
        Some(parts) => blocks.extend(parts.items().filter_map(part)),
        None => {}
    }
    let calls = said.get("toolCalls").unwrap_or(Json::NULL);
    let has_calls = calls.items().next().is_some();
    for call in calls.items() {
        let object = Object::new().str("type", "toolCall").json("id", call.get("id").unwrap_or(Json::NULL));
        let object = object.json("name", call.get("name").unwrap_or(Json::NULL));
        let arguments = call.get("args").filter(|args| args.kind() == JsonKind::Object);
        blocks.push(object.raw("arguments", arguments.map_or("{}", Json::text).replace(['\n', '\r'], " ")).finish());
    }
    let tokens = said.get("tokens").unwrap_or(Json::NULL);
    let count = |name: &str| tokens.get(name).and_then(Json::as_f64).map_or(0, |count| count.max(0.0) as u64);
    let (input, cached, output) = (count("input"), count("cached"), count("output") + count("thoughts"));
    let object = Object::new()
        .str("role", "assistant")
        .raw("content", format!("[{}]", blocks.join(",")))
        .str("api", "google-generative-ai")
        .str("provider", "google")
        .str("model", &said.str("model").unwrap_or_default())
        .raw("usage", usage([input.saturating_sub(cached), output, cached, 0, count("total")], 0.0))
        .str("stopReason", if has_calls { "toolUse" } else { "stop" });
    message(object, time)
}

fn result(said: Json<'_>, part: u32, time: Millis) -> Result<NewEntry> {
    let calls = said.get("toolCalls").unwrap_or(Json::NULL);
    let call = calls.items().nth((part as usize).saturating_sub(1)).unwrap_or(Json::NULL);
    let responses = call.get("result").unwrap_or(Json::NULL);
    let texts = responses.items().filter_map(|result| {
        let response = result.get("functionResponse")?.get("response")?;
        Some(match response.get("output").or_else(|| response.get("error")) {
            Some(text) if text.kind() == JsonKind::String => text_block(text),
            _ => text_block_of(response.text()),
        })
    });
    let texts: Vec<String> = texts.collect();
    let is_error = call.str("status").is_some_and(|status| status == "error");
    let object = Object::new()
        .str("role", "toolResult")
        .json("toolCallId", call.get("id").unwrap_or(Json::NULL))
        .raw("toolName", quote(&call.str("name").unwrap_or_default()))
        .raw("content", format!("[{}]", texts.join(",")))
        .raw("isError", is_error);
    message(object, time)
}
