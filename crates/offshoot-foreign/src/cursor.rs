//! Cursor CLI's transcripts: messages without ids, times and results.

use std::borrow::Cow;

use offshoot_session::clock::Millis;
use offshoot_session::compose::NewEntry;
use offshoot_session::error::Result;
use offshoot_session::json::{Json, JsonKind, Object};
use offshoot_session::kind::{Kind, Operation, Role};

use crate::composing::{Composing, message, text_block_of, usage};
use crate::linear::{LinearEntry, LinearFormat, LinearStep};
use crate::planned::{ForeignHead, Shape};

/// What an entry of a transcript is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CursorForm {
    Prompt,
    Answer,
    LeafMarker,
}

/// Nothing is remembered.
#[derive(Debug, Default)]
pub(crate) struct CursorFormat;

impl LinearFormat for CursorFormat {
    type Form = CursorForm;

    const WORD: &'static str = "cursor";
    const LEAF: CursorForm = CursorForm::LeafMarker;

    fn read(&mut self, record: Json<'_>, _: &mut ForeignHead) -> Vec<LinearStep<CursorForm>> {
        let (role, form) = match record.str("role").as_deref() {
            Some("user") => (Role::User, CursorForm::Prompt),
            Some("assistant") => (Role::Assistant, CursorForm::Answer),
            _ => return Vec::new(),
        };
        vec![LinearStep::Entry(LinearEntry::new(None, (Kind::Message, Some(role)), form, record))]
    }

    fn record_id(_: Json<'_>) -> Option<String> {
        None
    }

    fn record_time(_: Json<'_>) -> Option<Millis> {
        None
    }

    fn compose(shape: Shape<CursorForm>, of: &Composing<'_>) -> Result<NewEntry> {
        let record = of.records.first().copied().unwrap_or(Json::NULL);
        let content = record.get("message").and_then(|message| message.get("content")).unwrap_or(Json::NULL);
        match shape.form {
            CursorForm::Prompt => {
                let texts =
                    content.items().filter_map(|block| block.str("text")).map(|text| text_block_of(&asked(&text)));
                let texts: Vec<String> = texts.collect();
                message(Object::new().str("role", "user").raw("content", format!("[{}]", texts.join(","))), of.time)
            }
            CursorForm::Answer => {
                let blocks: Vec<String> =
                    (0usize..).zip(content.items()).filter_map(|(at, part)| block(at, part)).collect();
                let object = Object::new()
                    .str("role", "assistant")
                    .raw("content", format!("[{}]", blocks.join(",")))
                    .str("api", "openai-completions")
                    .str("provider", "cursor")
                    .str("model", "")
                    .raw("usage", usage([0; 5], 0.0))
                    .str("stopReason", "stop");
                message(object, of.time)
            }
            CursorForm::LeafMarker => Ok(NewEntry::leaf_marker(Operation::Switch, None)),
        }
    }
}

/// What a person asked, without the marks around it.
fn asked(text: &str) -> Cow<'_, str> {
    let inner = text.trim().strip_prefix("<user_query>").and_then(|rest| rest.trim_end().strip_suffix("</user_query>"));
    Cow::Borrowed(inner.map_or(text, str::trim))
}

fn block(at: usize, part: Json<'_>) -> Option<String> {
    match part.str("type")?.as_ref() {
        "text" => Some(text_block_of(&part.str("text")?)),
        // A call has neither an id nor a result there.
        "tool_use" => {
            let input = part.get("input").filter(|input| input.kind() == JsonKind::Object);
            let object = Object::new().str("type", "toolCall").str("id", &format!("cursor-{at}"));
            let object = object.str("name", &part.str("name").unwrap_or_default());
            Some(object.raw("arguments", input.map_or("{}", Json::text)).finish())
        }
        _ => None,
    }
}
