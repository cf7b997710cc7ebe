//! Records that an agent has changed in place: the import keeps the newer version beside the old one. Knows no agent.

use std::collections::HashMap;

use offshoot_session::compose::NewEntry;
use offshoot_session::error::Result;
use offshoot_session::id::EntryId;
use offshoot_session::kind::{Kind, Operation};

use super::{Importing, LineToBe};
use crate::key::hex_hash;
use crate::mapper::Mapper;
use crate::planned::PlannedEntry;

impl<M: Mapper> Importing<'_, '_, M> {
    /// The entry as it is named and placed beside what is there already. An older version of it is noted.
    pub(super) fn version(
        &mut self,
        mut entry: PlannedEntry<M::Form>,
        older: &mut HashMap<EntryId, EntryId>,
    ) -> PlannedEntry<M::Form> {
        let is_marker = entry.kind == Kind::Custom && entry.spans.as_slice().is_empty();
        let version = entry.spans.as_slice().iter().find_map(|span| self.newer.get(&span.number)).cloned();
        if let Some(version) = version {
            let span = entry.spans.first();
            let new = EntryId::new(format!("{}~{version}", entry.id));
            self.renamed.insert(entry.id.clone(), new.clone());
            let old = std::mem::replace(&mut entry.id, new.clone());
            if entry.kind == Kind::Message && !self.how.known.contains(new.as_str()) {
                self.lose("version-replaced", span);
                older.insert(new, old);
            }
        }
        if let Some(parent) = entry.parent.as_ref().and_then(|parent| self.renamed.get(parent)).cloned() {
            if is_marker {
                entry.id = EntryId::new(format!(
                    "leaf-{}",
                    hex_hash(&[entry.id.as_str().as_bytes(), parent.as_str().as_bytes()], 16)
                ));
            }
            entry.parent = Some(parent);
        }
        if let Some(refers) = entry.refers.as_ref().and_then(|refers| self.renamed.get(refers)).cloned() {
            entry.refers = Some(refers);
        }
        // A new title of a session is said at its end.
        let is_new = !self.how.known.contains(entry.id.as_str());
        if entry.kind == Kind::SessionInfo && is_new && self.how.versions.leaf.is_some() {
            entry.parent.clone_from(&self.how.versions.leaf);
        }
        entry
    }

    /// Rows that are gone move the end of a session, and so does a row in the middle that has a newer version.
    pub(super) fn open_where_the_agent_is(&mut self) -> Result<()> {
        let Some(open_at) = self.open_at.clone() else { return Ok(()) };
        if self.how.versions.open_at.is_none() || self.written.as_ref() == Some(&open_at) {
            return Ok(());
        }
        let hash = hex_hash(&[open_at.as_str().as_bytes(), self.report.records.to_string().as_bytes()], 16);
        let parent = Some(self.tail(&open_at));
        let entry = NewEntry::leaf_marker(Operation::Switch, None);
        let id = EntryId::new(format!("leaf-{hash}"));
        self.write(LineToBe { id, parent, entry, time: self.time, is_leaf: true })
    }

    /// Says that an entry has a newer version. What follows that one follows this label.
    pub(super) fn supersede(&mut self, older: &EntryId, newer: &EntryId) -> Result<()> {
        let id = EntryId::new(format!("{newer}.l"));
        let label = NewEntry::label(older.as_str(), Some("superseded"));
        self.write(LineToBe {
            id: id.clone(),
            parent: Some(newer.clone()),
            entry: label,
            time: self.time,
            is_leaf: false,
        })?;
        self.tails.insert(newer.clone(), id.clone());
        self.last = (id, newer.clone());
        Ok(())
    }
}
