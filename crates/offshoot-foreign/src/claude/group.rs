//! An answer whose lines still come: its parts, and the records that stand between them.

use std::collections::HashSet;

use super::draft::ClaudeDraft;
use super::line::ClaudeRecord;
use crate::key::Key;

/// The lines of one message, in the order in which they came.
#[derive(Debug)]
pub(super) struct AnswerGroup {
    pub(super) first: ClaudeDraft,
    more: Vec<ClaudeDraft>,
    /// What stands between them or behind: it follows the answer.
    pub(super) held: Vec<ClaudeDraft>,
    /// The ids of all but the first.
    later: HashSet<Key>,
    calls: HashSet<Key>,
}

impl AnswerGroup {
    pub(super) fn new(first: ClaudeDraft) -> Self {
        let calls = calls_of(&first).collect();
        Self { first, more: Vec::new(), held: Vec::new(), later: HashSet::new(), calls }
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &ClaudeDraft> {
        std::iter::once(&self.first).chain(&self.more)
    }

    fn has(&self, key: Key) -> bool {
        self.first.key() == key || self.later.contains(&key)
    }

    /// Takes a record that belongs to the answer; gives back one that does not, which ends it.
    pub(super) fn take(&mut self, draft: ClaudeDraft) -> Option<ClaudeDraft> {
        let is_part = match draft.record {
            // All of its lines have one id of the message.
            ClaudeRecord::Answer if draft.details().message == self.first.details().message => true,
            ClaudeRecord::Results(_) if draft.details().answered.iter().any(|call| self.calls.contains(call)) => false,
            ClaudeRecord::Other | ClaudeRecord::Progress | ClaudeRecord::Injected(_)
                if !draft.is_interruption() && draft.parent.as_ref().is_some_and(|parent| self.has(parent.key())) =>
            {
                false
            }
            _ => return Some(draft),
        };
        if self.has(draft.key()) {
            return None;
        }
        self.later.insert(draft.key());
        if is_part {
            self.calls.extend(calls_of(&draft));
            self.more.push(draft);
        } else {
            self.held.push(draft);
        }
        None
    }
}

fn calls_of(part: &ClaudeDraft) -> impl Iterator<Item = Key> {
    part.details().tools.iter().map(|(call, _)| *call)
}
