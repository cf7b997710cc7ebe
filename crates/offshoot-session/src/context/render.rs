//! Renders steps as messages, with the peers' members in their order.

use crate::blobs::resolve;
use crate::context::{Message, RenderStep};
use crate::entry::{Entry, Source, is_truthy};
use crate::error::Result;
use crate::json::{Json, JsonKind, Object, quote};
use crate::kind::{KindSpeech, Role};

pub(super) fn step(source: &dyn Source, step: &RenderStep) -> Result<Vec<Message>> {
    Ok(match step {
        RenderStep::Entry(ix) => entry_message(&source.entry(*ix)?).into_iter().collect(),
        RenderStep::Verbatim(ix) => {
            verbatim(&source.entry(*ix)?).map(|message| with_blobs(source, message)).into_iter().collect()
        }
        RenderStep::Edited(ix, content) => {
            let message = entry_message(&source.entry(*ix)?);
            message.map(|message| edited(message, content)).into_iter().collect()
        }
        RenderStep::WithoutContent(ix) => {
            let message = entry_message(&source.entry(*ix)?);
            message.map(|message| Message { json: without(message.json(), "content"), ..message }).into_iter().collect()
        }
        RenderStep::Compaction(ix) => compaction(&source.entry(*ix)?),
        RenderStep::Ready(message) => vec![with_blobs(source, message.clone())],
    })
}

/// Restores images that are stored elsewhere (in omp's files only).
fn with_blobs(source: &dyn Source, message: Message) -> Message {
    match resolve(&message.json, &|hash| source.blob(hash)) {
        Some(json) => Message { json, ..message },
        None => message,
    }
}

fn verbatim(entry: &Entry) -> Option<Message> {
    let json = entry.message()?.text().to_owned();
    Some(Message { entry: entry.id.clone(), role: entry.role.unwrap_or(Role::Unknown), json })
}

pub(super) fn entry_message(entry: &Entry) -> Option<Message> {
    match entry.kind.speech() {
        KindSpeech::Message => {
            let role = entry.role.unwrap_or(Role::Unknown);
            Some(Message { entry: entry.id.clone(), role, json: stored(entry, role)? })
        }
        KindSpeech::CustomMessage => {
            let mut object = copy(Object::new().str("role", "custom"), entry, &["customType"]);
            object = match entry.get("content").filter(|content| !content.is_null()) {
                Some(content) => object.json("content", content),
                None => object.raw("content", "[]"),
            };
            let object = copy(object, entry, &["display", "details"]);
            Some(message(entry, Role::Custom, object))
        }
        KindSpeech::BranchSummary => branch_summary(entry),
        KindSpeech::Compaction | KindSpeech::Nothing => None,
    }
}

/// The message of a branch summary that is not empty.
pub(super) fn branch_summary(entry: &Entry) -> Option<Message> {
    entry.get("summary").filter(|summary| is_truthy(*summary))?;
    let object = copy(Object::new().str("role", "branchSummary"), entry, &["summary", "fromId"]);
    Some(message(entry, Role::BranchSummary, object))
}

fn compaction(entry: &Entry) -> Vec<Message> {
    if entry.damage().is_some() {
        return Vec::new();
    }
    let system = entry.get("systemMessage").filter(|system| is_truthy(*system)).map(|system| Message {
        entry: entry.id.clone(),
        role: Role::System,
        json: system.text().to_owned(),
    });
    let object = copy(Object::new().str("role", "compactionSummary"), entry, &["summary", "tokensBefore"]);
    system.into_iter().chain([message(entry, Role::CompactionSummary, object)]).collect()
}

/// Adds the members that the entry has.
pub(super) fn copy(object: Object, entry: &Entry, names: &[&str]) -> Object {
    names.iter().fold(object, |object, name| match entry.get(name) {
        Some(value) => object.json(name, value),
        None => object,
    })
}

/// Finishes a message made from an entry; its time is the entry's.
pub(super) fn message(entry: &Entry, role: Role, object: Object) -> Message {
    let object = match entry.js_time() {
        Some(ms) => object.raw("timestamp", ms),
        None => object.raw("timestamp", "null"),
    };
    Message { entry: entry.id.clone(), role, json: object.finish() }
}

/// A stored message; a missing content becomes an empty one, as in pi.
fn stored(entry: &Entry, role: Role) -> Option<String> {
    let message = entry.message()?;
    let empty = match role {
        Role::User | Role::Assistant | Role::ToolResult => "[]",
        Role::System => "\"\"",
        Role::Developer
        | Role::BashExecution
        | Role::PythonExecution
        | Role::Custom
        | Role::HookMessage
        | Role::BranchSummary
        | Role::CompactionSummary
        | Role::FileMention
        | Role::Unknown => return Some(message.text().to_owned()),
    };
    Some(match entry.of_message("content") {
        Some(content) if !content.is_null() => message.text().to_owned(),
        _ => with_content(message, empty),
    })
}

/// The message with another content, in the old one's place.
pub(crate) fn with_content(message: Json<'_>, content: &str) -> String {
    match message.get("content") {
        Some(old) => {
            let (text, span) = (message.text(), old.span_in(message.text()));
            format!("{}{content}{}", &text[..span.start], &text[span.end..])
        }
        None => {
            let object = message.members().fold(Object::new(), |object, (name, value)| object.json(&name, value));
            object.raw("content", content).finish()
        }
    }
}

fn edited(message: Message, content: &str) -> Message {
    let content = Json::trusted(content);
    let takes_blocks = matches!(message.role, Role::Assistant | Role::ToolResult);
    let content = match content.kind() {
        JsonKind::String if takes_blocks => {
            format!("[{}]", Object::new().str("type", "text").raw("text", content.text()).finish())
        }
        _ => content.text().to_owned(),
    };
    Message { json: with_content(message.json(), &content), ..message }
}

pub(super) fn without(object: Json<'_>, name: &str) -> String {
    let others = object.members().filter(|(member, _)| member != name);
    others.fold(Object::new(), |new, (name, value)| new.json(&name, value)).finish()
}

pub(crate) fn text_block(text: &str) -> String {
    Object::new().str("type", "text").raw("text", quote(text)).finish()
}
