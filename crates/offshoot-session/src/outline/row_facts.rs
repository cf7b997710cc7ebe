//! What a tree shows of an entry besides its text, from the entry alone, without a pass over all others.

use super::Filter;
use super::order::{FAILED, HIDDEN, class, is_good_result, shows};
use crate::entry::Entry;
use crate::gather::EntryFacts;
use crate::tokens::Usage;
use crate::tree::{NodeIx, Tree};

/// Facts about one entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowFacts {
    class: u8,
    /// Usage that the entry reports.
    pub usage: Option<Usage>,
}

impl RowFacts {
    /// Of an entry that has been read; `open` is the open entry.
    pub fn of(tree: &Tree, entry: &Entry, open: Option<NodeIx>) -> Self {
        let facts = EntryFacts::of(entry);
        let mut class = class(tree.node(entry.ix), false);
        if facts.is_silent && open != Some(entry.ix) {
            class |= HIDDEN;
        }
        if facts.has_failed {
            class |= FAILED;
        }
        Self { class, usage: facts.usage }
    }

    /// Whether a filter shows the entry. [`Filter::LabeledOnly`] shows it if it also has a label.
    pub fn is_shown(&self, filter: Filter) -> bool {
        shows(self.class, filter)
    }

    /// Whether the entry is a turn of the model that only calls tools, or another one without a row.
    pub(super) fn is_silent(&self) -> bool {
        self.class & HIDDEN != 0
    }

    /// Whether the entry is the result of a tool call that failed.
    pub fn has_failed(&self) -> bool {
        self.class & FAILED != 0
    }

    /// Whether the entry is the result of a tool call that did not fail: it may share a row with those around it.
    pub fn is_good_result(&self) -> bool {
        is_good_result(self.class)
    }
}
