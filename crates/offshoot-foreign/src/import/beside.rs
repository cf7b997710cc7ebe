//! What an import keeps beside the records: files of the session's folder, and of a subagent what made it and how it ended.

use offshoot_session::child::{CHILD_END, CHILD_START, ChildEnd};
use offshoot_session::clock::Millis;
use offshoot_session::compose::NewEntry;
use offshoot_session::error::Result;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Json, Object};
use offshoot_session::kind::{Role, SOURCE_RECORD};

use super::{Importing, LineToBe, OpenEnd, payload_of};
use crate::key::hex_hash;
use crate::mapper::Mapper;
use crate::planned::PlannedEntry;
use crate::side_files::{file_id, side_files};
use crate::source_record::{file_data_of, first_text};

/// What a subagent said last is cut there for the entry that says how it ended.
const LONGEST_OUTPUT: usize = 50_000;

impl<M: Mapper> Importing<'_, '_, M> {
    /// The files that the entry which was just made has its text from. One that is not there is a loss.
    pub(super) fn files_read(&mut self, entry: &PlannedEntry<M::Form>) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (name, text) in self.side.take() {
            match text {
                Some(text) => found.push((name, text)),
                None => self.lose("missing-side-file", entry.spans.first()),
            }
        }
        found
    }

    /// Keeps the files that an entry has its text from, before it. Returns the line on which the entry hangs.
    pub(super) fn keep_used(
        &mut self,
        used: Vec<(String, String)>,
        entry: &PlannedEntry<M::Form>,
        new: &NewEntry,
        mut parent: Option<EntryId>,
    ) -> Result<Option<EntryId>> {
        for (name, text) in used {
            let id = file_id(self.how.agent, &name, text.as_bytes());
            if !self.files.insert(id.clone()) {
                continue;
            }
            self.report.files += 1;
            let is_its_text = payload_of(new).and_then(first_text).as_deref() == Some(text.as_str());
            let data = file_data_of(&name, text.as_bytes(), is_its_text.then(|| entry.id.as_str()));
            parent = Some(self.keep_file(id, &data, parent)?);
        }
        Ok(parent)
    }

    /// The other files of the session's folder follow its records.
    pub(super) fn keep_files(&mut self) -> Result<()> {
        for file in side_files(self.how.agent, self.how.path) {
            let Ok(bytes) = file.bytes() else {
                self.report.losses.entry("unreadable-side-file".to_owned()).or_insert((0, 1)).0 += 1;
                continue;
            };
            let id = file_id(self.how.agent, &file.name, &bytes);
            if self.files.contains(&id) || self.how.known.contains(&id) {
                continue;
            }
            self.report.files += 1;
            let data = file_data_of(&file.name, &bytes, None);
            let parent = Some(self.how.versions.tail(&self.last.0).clone());
            let id = self.keep_file(id, &data, parent)?;
            self.follow(id);
        }
        Ok(())
    }

    fn keep_file(&mut self, id: String, data: &str, parent: Option<EntryId>) -> Result<EntryId> {
        let entry = NewEntry::custom(SOURCE_RECORD, Some(Json::parse(data).unwrap_or(Json::NULL)));
        let id = EntryId::new(id);
        self.write(LineToBe { id: id.clone(), parent, entry, time: self.time, is_leaf: false })?;
        Ok(id)
    }

    /// The first entry of a subagent's session, and what the marker of the import says of it.
    pub(super) fn child_start(
        &mut self,
        native_id: &str,
        at: Millis,
        data: Object,
    ) -> Result<(Option<EntryId>, Object)> {
        let Some(child) = self.how.child else { return Ok((None, data)) };
        let id = hex_hash(&[CHILD_START.as_bytes(), self.how.agent.word().as_bytes(), native_id.as_bytes()], 16);
        let id = EntryId::new(id);
        let entry = child.start.entry();
        self.write(LineToBe { id: id.clone(), parent: None, entry, time: at, is_leaf: false })?;
        let spawn = Object::new()
            .str("toolCallId", &child.start.tool_call_id)
            .str("agentType", &child.start.agent)
            .str("description", &child.start.task);
        Ok((Some(id), data.raw("spawn", spawn.finish())))
    }

    /// Counts what an answer of a subagent has cost, and remembers what it says.
    pub(super) fn note_said(&mut self, new: &NewEntry) {
        if self.how.child.is_none() || new.role() != Some(Role::Assistant) {
            return;
        }
        let Some(message) = payload_of(new).and_then(|text| Json::parse(text).ok()) else { return };
        let texts = message.get("content").into_iter().flat_map(Json::items).filter_map(|block| block.str("text"));
        let text = texts.collect::<Vec<_>>().join("\n");
        let usage = message.get("usage").unwrap_or(Json::NULL);
        let tokens = usage.get("totalTokens").and_then(Json::as_f64).unwrap_or_default();
        let cost = usage.get("cost").and_then(|cost| cost.get("total")).and_then(Json::as_f64).unwrap_or_default();
        self.said.requests += 1;
        self.said.tokens = self.said.tokens.saturating_add(tokens.max(0.0) as u64);
        self.said.cost += cost.max(0.0);
        if !text.is_empty() {
            let end = (0..=LONGEST_OUTPUT.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
            text.get(..end.unwrap_or_default()).unwrap_or_default().clone_into(&mut self.said.output);
        }
    }

    /// Says how a subagent has ended, after all that it said.
    pub(super) fn end_child(&mut self) -> Result<()> {
        let (Some(child), Some(open_at)) = (self.how.child, self.open_at.clone()) else { return Ok(()) };
        if !child.status.is_end() || self.how.end == OpenEnd::Held || !self.has_begun {
            return Ok(());
        }
        let status = child.status.word();
        let id = hex_hash(&[CHILD_END.as_bytes(), status.as_bytes(), open_at.as_str().as_bytes()], 16);
        let entry = ChildEnd { status: status.to_owned(), ..self.said.clone() }.entry();
        let is_leaf = self.leaf_line.is_some();
        let parent = Some(self.leaf_line.clone().unwrap_or_else(|| self.tail(&open_at)));
        self.write(LineToBe { id: EntryId::new(id), parent, entry, time: self.time, is_leaf })
    }
}
