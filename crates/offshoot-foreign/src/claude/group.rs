//! An answer whose lines still come: its parts, and the records that stand between them.

use std::collections::HashSet;

use super::draft::ClaudeDraft;
use super::line::ClaudeRecord;
use crate::key::Key;

/// The lines of one message, in the order in which they came.
#[derive(Debug)]
pub(super) struct AnswerGroup {
    /// The id that all of its lines have.
    message: String,
    pub(super) parts: Vec<ClaudeDraft>,
    /// What stands between them or behind: it follows the answer.
    pub(super) held: Vec<ClaudeDraft>,
    uuids: HashSet<Key>,
    calls: HashSet<Key>,
}

impl AnswerGroup {
    pub(super) fn new(first: ClaudeDraft) -> Self {
        let mut group = Self {
            message: first.message.clone(),
            parts: Vec::new(),
            held: Vec::new(),
            uuids: HashSet::new(),
            calls: HashSet::new(),
        };
        group.add(first);
        group
    }

    fn add(&mut self, part: ClaudeDraft) {
        self.uuids.insert(part.key());
        self.calls.extend(&part.calls);
        self.parts.push(part);
    }

    /// Takes a record that belongs to the answer; gives back one that does not, which ends it.
    pub(super) fn take(&mut self, draft: ClaudeDraft) -> Option<ClaudeDraft> {
        let is_known = self.uuids.contains(&draft.key());
        match draft.record {
            ClaudeRecord::Answer if draft.message == self.message => {
                if !is_known {
                    self.add(draft);
                }
                return None;
            }
            ClaudeRecord::Results(_) if draft.calls.iter().any(|call| self.calls.contains(call)) => {}
            ClaudeRecord::Other | ClaudeRecord::Progress | ClaudeRecord::Injected(_)
                if !draft.is_interruption()
                    && draft.parent.as_deref().is_some_and(|parent| self.uuids.contains(&Key::of(parent))) => {}
            _ => return Some(draft),
        }
        if !is_known {
            self.uuids.insert(draft.key());
            self.held.push(draft);
        }
        None
    }
}
