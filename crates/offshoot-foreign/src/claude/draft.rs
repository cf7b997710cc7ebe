//! A record of the chain without its texts: what is needed to give it a place later.

use std::borrow::Cow;

use offshoot_session::clock::Millis;
use offshoot_session::id::EntryId;
use offshoot_session::json::Json;

use super::line::{ClaudeBlock, ClaudeLine, ClaudeRecord, mark_of};
use crate::key::{Key, clean};
use crate::record::RecordSpan;

/// A record that may have to wait.
#[derive(Debug, Clone)]
pub(super) struct ClaudeDraft {
    pub(super) span: RecordSpan,
    pub(super) record: ClaudeRecord,
    pub(super) uuid: EntryId,
    key: Key,
    pub(super) parent: Option<String>,
    pub(super) time: Option<Millis>,
    /// Tells it from another record with the same id.
    pub(super) print: u32,
    pub(super) is_sidechain: bool,
    /// Of an answer: the id of its message.
    pub(super) message: String,
    /// A print of the record where another one had the same id before.
    pub(super) version: Option<String>,
    /// Of an answer: the tools that it calls.
    pub(super) tools: Vec<(Key, String)>,
    /// Of an answer: the calls that it makes. Of results: the calls that they answer.
    pub(super) calls: Vec<Key>,
    /// Of an answer: whether it says why it ended.
    pub(super) is_ended: bool,
    /// Of results: the type of a text that stands beside them.
    pub(super) beside: Option<&'static str>,
    /// Of a boundary: the record before it, and the first one that is kept.
    pub(super) logical_parent: Option<String>,
    pub(super) kept: Option<Key>,
    /// Of anything else: the type of its entry.
    pub(super) name: String,
}

impl ClaudeDraft {
    pub(super) fn of(line: &ClaudeLine<'_>, span: RecordSpan, print: u32) -> Self {
        let record = line.record();
        let uuid = EntryId::new(line.uuid.as_deref().unwrap_or_default());
        let mut draft = Self {
            span,
            record,
            parent: line.parent.as_deref().map(str::to_owned),
            time: line.time,
            print,
            is_sidechain: line.is_sidechain,
            version: None,
            tools: Vec::new(),
            message: String::new(),
            calls: Vec::new(),
            is_ended: false,
            beside: None,
            logical_parent: None,
            kept: None,
            name: String::new(),
            key: Key::of(uuid.as_str()),
            uuid,
        };
        match record {
            ClaudeRecord::Answer => draft.read_answer(line),
            ClaudeRecord::Results(_) => draft.read_results(line),
            ClaudeRecord::Boundary => draft.read_boundary(line),
            ClaudeRecord::Other => draft.name = other_name(line),
            _ => {}
        }
        draft
    }

    /// The same with another id of the record.
    pub(super) fn with_id(self, uuid: &str) -> Self {
        Self { key: Key::of(uuid), uuid: EntryId::new(uuid), ..self }
    }

    /// The id of its first entry.
    pub(super) fn id(&self) -> EntryId {
        match &self.version {
            Some(version) => EntryId::new(format!("{}~{version}", self.uuid)),
            None => self.uuid.clone(),
        }
    }

    pub(super) fn key(&self) -> Key {
        self.key
    }

    pub(super) fn is_interruption(&self) -> bool {
        self.record == ClaudeRecord::Injected("claude.interrupted")
    }

    fn read_answer(&mut self, line: &ClaudeLine<'_>) {
        let Some(message) = &line.message else { return };
        let text = |value: Option<Json<'_>>| value.and_then(Json::as_str).map(Cow::into_owned);
        self.message = text(message.id).unwrap_or_else(|| self.uuid.to_string());
        self.is_ended = message.stop_reason.and_then(Json::as_str).is_some();
        let calls = message.blocks_of("tool_use");
        let tool = |call: &ClaudeBlock<'_>| Some((Key::of(&call.id?.as_str()?), text(call.name).unwrap_or_default()));
        self.tools = calls.filter_map(tool).collect();
        self.calls = self.tools.iter().map(|(call, _)| *call).collect();
    }

    fn read_results(&mut self, line: &ClaudeLine<'_>) {
        let Some(message) = &line.message else { return };
        let call = |result: &ClaudeBlock<'_>| Key::of(&result.tool_use_id.and_then(Json::as_str).unwrap_or_default());
        self.calls = message.blocks_of("tool_result").map(call).collect();
        self.beside = message.first_text().map(|text| match mark_of(&text) {
            Some(ClaudeRecord::Injected(name)) => name,
            _ => "claude.meta",
        });
    }

    fn read_boundary(&mut self, line: &ClaudeLine<'_>) {
        self.logical_parent = line.logical_parent.as_deref().map(str::to_owned);
        let Some(data) = line.json.get("compactMetadata") else { return };
        let segment = data.get("preservedSegment").and_then(|segment| segment.str("headUuid"));
        let first = || data.get("preservedMessages")?.get("uuids")?.items().next()?.as_str();
        self.kept = segment.or_else(first).map(|id| Key::of(&id));
    }
}

/// The type of an entry that only keeps its place.
fn other_name(line: &ClaudeLine<'_>) -> String {
    match line.sort() {
        Some(sort) => format!("claude.{}.{}", line.kind, clean(&sort)),
        None => format!("claude.{}", line.kind),
    }
}
