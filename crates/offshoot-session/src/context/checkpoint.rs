//! A provider's own checkpoint of a compaction, in omp's `preserveData`.

use crate::entry::Entry;
use crate::json::{Json, JsonKind, Object};

/// Holds the payload that the summary message carries.
#[derive(Debug)]
pub(super) enum Checkpoint {
    /// The provider's history replaces the kept range.
    OpenAi(String),
    /// The provider's block replaces the summary.
    Anthropic(String),
}

impl Checkpoint {
    pub(super) fn of(compaction: &Entry) -> Option<Self> {
        let preserved = |name: &str| compaction.get("preserveData").and_then(|data| data.get(name));
        let openai = preserved("openaiRemoteCompaction").and_then(openai).map(Self::OpenAi);
        openai.or_else(|| preserved("anthropicCompaction").and_then(anthropic).map(Self::Anthropic))
    }

    pub(super) fn payload(&self) -> &str {
        match self {
            Self::OpenAi(payload) | Self::Anthropic(payload) => payload,
        }
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
