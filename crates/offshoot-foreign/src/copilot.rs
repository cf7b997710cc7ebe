//! Copilot CLI's events: what was said, called and answered, one event after another.

use std::borrow::Cow;
use std::collections::HashMap;

use offshoot_session::clock::{Millis, parse_iso};
use offshoot_session::compose::NewEntry;
use offshoot_session::error::Result;
use offshoot_session::json::{Json, JsonKind, Object};
use offshoot_session::kind::{Kind, Operation, Role};

use crate::composing::{Composing, message, text_block, usage};
use crate::linear::{LinearEntry, LinearFormat, LinearStep};
use crate::planned::{ForeignHead, Shape};

/// What an entry of an event is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopilotForm {
    Prompt,
    Answer,
    Result,
    LeafMarker,
}

/// What is remembered of the events so far.
#[derive(Debug, Default)]
pub(crate) struct CopilotFormat {
    /// The tools of calls.
    calls: HashMap<String, String>,
}

impl LinearFormat for CopilotFormat {
    type Form = CopilotForm;

    const WORD: &'static str = "copilot";
    const LEAF: CopilotForm = CopilotForm::LeafMarker;

    fn read(&mut self, record: Json<'_>, head: &mut ForeignHead) -> Vec<LinearStep<CopilotForm>> {
        let (Some(kind), Some(data)) = (record.str("type"), record.get("data")) else { return Vec::new() };
        let id = record.str("id");
        let entry = |role, form| LinearEntry::new(id.as_deref(), (Kind::Message, Some(role)), form, record);
        match kind.as_ref() {
            "session.start" => {
                let cwd = data.get("context").and_then(|context| context.str("cwd")).map(Cow::into_owned);
                head.cwd = head.cwd.take().or(cwd);
                Vec::new()
            }
            "user.message" => vec![LinearStep::Entry(entry(Role::User, CopilotForm::Prompt))],
            "assistant.message" => {
                for call in data.get("toolRequests").unwrap_or(Json::NULL).items() {
                    if let (Some(id), Some(name)) = (call.str("toolCallId"), call.str("name")) {
                        self.calls.insert(id.into_owned(), name.into_owned());
                    }
                }
                vec![LinearStep::Entry(entry(Role::Assistant, CopilotForm::Answer))]
            }
            "tool.execution_complete" => {
                let call = data.str("toolCallId").unwrap_or_default();
                let name = self.calls.remove(call.as_ref()).unwrap_or_default();
                vec![LinearStep::Entry(LinearEntry { name, ..entry(Role::ToolResult, CopilotForm::Result) })]
            }
            _ => Vec::new(),
        }
    }

    fn record_id(record: Json<'_>) -> Option<String> {
        record.str("id").filter(|id| !id.is_empty()).map(Cow::into_owned)
    }

    fn record_time(record: Json<'_>) -> Option<Millis> {
        parse_iso(&record.str("timestamp")?)
    }

    fn compose(shape: Shape<CopilotForm>, of: &Composing<'_>) -> Result<NewEntry> {
        let record = of.records.first().copied().unwrap_or(Json::NULL);
        let data = record.get("data").unwrap_or(Json::NULL);
        match shape.form {
            CopilotForm::Prompt => {
                let content = data.get("content").filter(|content| content.kind() == JsonKind::String);
                message(Object::new().str("role", "user").raw("content", content.map_or("\"\"", Json::text)), of.time)
            }
            CopilotForm::Answer => answer(data, of.time),
            CopilotForm::Result => {
                let result = data.get("result").unwrap_or(Json::NULL);
                let text = result.get("content").or(Some(result)).filter(|text| text.kind() == JsonKind::String);
                let is_error = data.get("success").and_then(Json::as_bool) == Some(false);
                let object = Object::new()
                    .str("role", "toolResult")
                    .json("toolCallId", data.get("toolCallId").unwrap_or(Json::NULL))
                    .str("toolName", of.name)
                    .raw("content", format!("[{}]", text.map(text_block).unwrap_or_default()))
                    .raw("isError", is_error);
                message(object, of.time)
            }
            CopilotForm::LeafMarker => Ok(NewEntry::leaf_marker(Operation::Switch, None)),
        }
    }
}

fn answer(data: Json<'_>, time: Millis) -> Result<NewEntry> {
    let mut blocks = Vec::new();
    let is_text = |text: &Json<'_>| text.kind() == JsonKind::String && text.text() != "\"\"";
    if let Some(text) = data.get("reasoningText").filter(is_text) {
        blocks.push(Object::new().str("type", "thinking").json("thinking", text).finish());
    }
    blocks.extend(data.get("content").filter(is_text).map(text_block));
    let calls = data.get("toolRequests").unwrap_or(Json::NULL);
    for call in calls.items() {
        let member = |name: &str| call.get(name).unwrap_or(Json::NULL);
        let object =
            Object::new().str("type", "toolCall").json("id", member("toolCallId")).json("name", member("name"));
        let arguments = call.get("arguments").filter(|arguments| arguments.kind() == JsonKind::Object);
        blocks.push(object.raw("arguments", arguments.map_or("{}", Json::text)).finish());
    }
    let stop = if calls.items().next().is_some() { "toolUse" } else { "stop" };
    let object = Object::new()
        .str("role", "assistant")
        .raw("content", format!("[{}]", blocks.join(",")))
        .str("api", "openai-completions")
        .str("provider", "github-copilot")
        .str("model", &data.str("model").unwrap_or_default())
        .raw("usage", usage([0; 5], 0.0))
        .str("stopReason", stop);
    message(object, time)
}
