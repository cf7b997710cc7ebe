//! A record of the chain without its texts: what is needed to give it a place later.

use std::borrow::Cow;

use offshoot_session::clock::Millis;
use offshoot_session::id::EntryId;
use offshoot_session::json::Json;

use super::line::{ClaudeBlock, ClaudeLine, ClaudeRecord, mark_of};
use crate::key::{ForeignId, Key, clean};
use crate::record::RecordSpan;

/// A record that may have to wait. Many are passed from thread to thread, so it is small.
#[derive(Debug)]
pub(super) struct ClaudeDraft {
    pub(super) span: RecordSpan,
    pub(super) record: ClaudeRecord,
    uuid: ForeignId,
    pub(super) parent: Option<ForeignId>,
    pub(super) time: Option<Millis>,
    /// Tells it from another record with the same id.
    pub(super) print: u32,
    pub(super) is_sidechain: bool,
    details: Option<Box<DraftDetails>>,
}

/// What only some records say.
#[derive(Debug)]
pub(super) struct DraftDetails {
    /// A print of the record where another one had the same id before.
    version: Option<String>,
    /// Of an answer: the id of its message.
    pub(super) message: String,
    /// Of an answer: the calls that it makes, with their tools.
    pub(super) tools: Vec<(Key, String)>,
    /// Of an answer: whether it says why it ended.
    pub(super) is_ended: bool,
    /// Of results: the calls that they answer.
    pub(super) answered: Vec<Key>,
    /// Of results: the type of a text that stands beside them.
    pub(super) beside: Option<&'static str>,
    /// Of a boundary: the record before it, and the first one that is kept.
    pub(super) logical_parent: Option<String>,
    pub(super) kept: Option<Key>,
    /// Of anything else: the type of its entry.
    pub(super) name: String,
}

static NO_DETAILS: DraftDetails = DraftDetails::NONE;

impl ClaudeDraft {
    pub(super) fn of(line: &ClaudeLine<'_>, span: RecordSpan, print: u32) -> Self {
        let record = line.record();
        let details = match record {
            ClaudeRecord::Answer => DraftDetails::of_answer(line),
            ClaudeRecord::Results(_) => DraftDetails::of_results(line),
            ClaudeRecord::Boundary => Some(DraftDetails::of_boundary(line)),
            ClaudeRecord::Other => Some(DraftDetails { name: other_name(line), ..DraftDetails::NONE }),
            _ => None,
        };
        Self {
            span,
            record,
            uuid: ForeignId::of(line.uuid.as_deref().unwrap_or_default()),
            parent: line.parent.as_deref().map(ForeignId::of),
            time: line.time,
            print,
            is_sidechain: line.is_sidechain,
            details: details.map(Box::new),
        }
    }

    /// The same with another id of the record.
    pub(super) fn with_id(self, uuid: &str) -> Self {
        Self { uuid: ForeignId::of(uuid), ..self }
    }

    /// The same of a record whose id another one had before; `version` is a print of it.
    pub(super) fn with_version(mut self, version: String) -> Self {
        self.details.get_or_insert_with(|| Box::new(DraftDetails::NONE)).version = Some(version);
        self
    }

    /// The id of its first entry.
    pub(super) fn id(&self) -> EntryId {
        let id = self.uuid.entry_id();
        match &self.details().version {
            Some(version) => EntryId::new(format!("{id}~{version}")),
            None => id,
        }
    }

    pub(super) fn key(&self) -> Key {
        self.uuid.key()
    }

    pub(super) fn details(&self) -> &DraftDetails {
        self.details.as_deref().unwrap_or(&NO_DETAILS)
    }

    pub(super) fn is_interruption(&self) -> bool {
        self.record == ClaudeRecord::Injected("claude.interrupted")
    }
}

impl DraftDetails {
    const NONE: Self = Self {
        version: None,
        message: String::new(),
        tools: Vec::new(),
        is_ended: false,
        answered: Vec::new(),
        beside: None,
        logical_parent: None,
        kept: None,
        name: String::new(),
    };

    fn of_answer(line: &ClaudeLine<'_>) -> Option<Self> {
        let message = line.message.as_ref()?;
        let text = |value: Option<Json<'_>>| value.and_then(Json::as_str).map(Cow::into_owned);
        let uuid = || line.uuid.as_deref().unwrap_or_default().to_owned();
        let calls = message.blocks_of("tool_use");
        let tool = |call: &ClaudeBlock<'_>| Some((Key::of(&call.id?.as_str()?), text(call.name).unwrap_or_default()));
        Some(Self {
            message: text(message.id).unwrap_or_else(uuid),
            is_ended: message.stop_reason.and_then(Json::as_str).is_some(),
            tools: calls.filter_map(tool).collect(),
            ..Self::NONE
        })
    }

    fn of_results(line: &ClaudeLine<'_>) -> Option<Self> {
        let message = line.message.as_ref()?;
        let call = |result: &ClaudeBlock<'_>| Key::of(&result.tool_use_id.and_then(Json::as_str).unwrap_or_default());
        let mark = |text: Cow<'_, str>| match mark_of(&text) {
            Some(ClaudeRecord::Injected(name)) => name,
            _ => "claude.meta",
        };
        Some(Self {
            answered: message.blocks_of("tool_result").map(call).collect(),
            beside: message.first_text().map(mark),
            ..Self::NONE
        })
    }

    fn of_boundary(line: &ClaudeLine<'_>) -> Self {
        let kept = || {
            let data = line.json.get("compactMetadata")?;
            let segment = data.get("preservedSegment").and_then(|segment| segment.str("headUuid"));
            let first = || data.get("preservedMessages")?.get("uuids")?.items().next()?.as_str();
            segment.or_else(first).map(|id| Key::of(&id))
        };
        let logical_parent = line.logical_parent.as_deref().map(str::to_owned);
        Self { logical_parent, kept: kept(), ..Self::NONE }
    }
}

/// The type of an entry that only keeps its place.
fn other_name(line: &ClaudeLine<'_>) -> String {
    match line.sort() {
        Some(sort) => format!("claude.{}.{}", line.kind, clean(&sort)),
        None => format!("claude.{}", line.kind),
    }
}
