//! Compactions with a provider's own checkpoint (`preserveData`), which the summary message carries.

use crate::context::{Message, render};
use crate::entry::{Entry, Source};
use crate::error::Result;
use crate::json::{Json, JsonKind, Object};
use crate::kind::Role;
use crate::tree::NodeIx;

#[derive(Debug, Default)]
pub(super) struct Checkpoint {
    payload: Option<String>,
    /// The provider's history replaces the kept range.
    pub(super) replaces_kept_range: bool,
    /// The summary is dated just before the first retained entry.
    dated_before_retained: bool,
}

pub(super) fn read(compaction: &Entry) -> Checkpoint {
    let preserved = |name: &str| compaction.get("preserveData").and_then(|data| data.get(name));
    let anthropic = preserved("anthropicCompaction").and_then(anthropic);
    let openai = preserved("openaiRemoteCompaction").and_then(openai);
    Checkpoint {
        replaces_kept_range: openai.is_some(),
        dated_before_retained: anthropic.is_some(),
        payload: openai.or(anthropic),
    }
}

fn non_empty<'a>(data: Json<'a>, name: &str) -> Option<Json<'a>> {
    data.get(name).filter(|value| value.as_str().is_some_and(|text| !text.is_empty()))
}

fn openai(data: Json<'_>) -> Option<String> {
    let provider = non_empty(data, "provider")?;
    let history = data.get("replacementHistory")?;
    let is_list = history.kind() == JsonKind::Array && history.items().all(|item| item.kind() == JsonKind::Object);
    let object = Object::new().str("type", "openaiResponsesHistory").json("provider", provider).json("items", history);
    is_list.then(|| object.finish())
}

fn anthropic(data: Json<'_>) -> Option<String> {
    let (provider, content) = (non_empty(data, "provider")?, non_empty(data, "content")?);
    let mut object =
        Object::new().str("type", "anthropicCompaction").json("provider", provider).json("content", content);
    for name in ["encryptedContent", "filesText"] {
        if let Some(value) = non_empty(data, name) {
            object = object.json(name, value);
        }
    }
    Some(object.finish())
}

pub(super) fn summary(
    source: &dyn Source,
    compaction: &Entry,
    checkpoint: &Checkpoint,
    first_retained: Option<NodeIx>,
) -> Result<Message> {
    let names = ["summary", "shortSummary", "tokensBefore", "tokensAfter", "method"];
    let mut object = render::copy(Object::new().str("role", "compactionSummary"), compaction, &names);
    if let Some(payload) = &checkpoint.payload {
        object = object.raw("providerPayload", payload);
    }
    let object = render::copy(object, compaction, &["warning"]);
    let retained_at = match first_retained.filter(|_| checkpoint.dated_before_retained) {
        Some(ix) => source.entry(ix)?.js_time(),
        None => None,
    };
    Ok(match retained_at {
        None => render::message(compaction, Role::CompactionSummary, object),
        Some(ms) => Message {
            entry: compaction.id.clone(),
            role: Role::CompactionSummary,
            json: object.raw("timestamp", ms - 1).finish(),
        },
    })
}
