//! What a mapper makes of records: entries that know of which records their lines are made. Knows no agent's records.

use offshoot_session::clock::Millis;
use offshoot_session::id::EntryId;
use offshoot_session::kind::{Kind, Role};

use crate::record::RecordSpan;

/// Records in the order in which an entry uses them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Spans {
    One(RecordSpan),
    Many(Box<[RecordSpan]>),
}

impl Spans {
    pub(crate) fn as_slice(&self) -> &[RecordSpan] {
        match self {
            Self::One(only) => std::slice::from_ref(only),
            Self::Many(all) => all,
        }
    }

    pub(crate) fn first(&self) -> RecordSpan {
        match self {
            Self::One(only) => *only,
            Self::Many(all) => all.first().copied().unwrap_or(RecordSpan { at: 0, length: 0, number: 0 }),
        }
    }
}

impl FromIterator<RecordSpan> for Spans {
    fn from_iter<I: IntoIterator<Item = RecordSpan>>(all: I) -> Self {
        let mut all = all.into_iter();
        match (all.next(), all.next()) {
            (Some(only), None) => Self::One(only),
            (first, second) => Self::Many(first.into_iter().chain(second).chain(all).collect()),
        }
    }
}

/// What an entry is made of, in words that only its agent's module understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape<F> {
    pub(crate) form: F,
    /// Which part of the record, or which of the mapper's names.
    pub(crate) part: u32,
    pub(crate) name: u16,
}

/// An entry that is not spelled out yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedEntry<F> {
    pub(crate) id: EntryId,
    pub(crate) parent: Option<EntryId>,
    pub(crate) kind: Kind,
    pub(crate) role: Option<Role>,
    pub(crate) time: Option<Millis>,
    pub(crate) spans: Spans,
    pub(crate) shape: Shape<F>,
    /// Another entry that it names: the first one that a compaction keeps, or the target of a label.
    pub(crate) refers: Option<EntryId>,
}

/// What a session says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignHead {
    /// The agent's own id.
    pub native_id: String,
    /// The working directory; `None` if no record says it.
    pub cwd: Option<String>,
    /// The time of the first record that has one.
    pub first: Option<Millis>,
    /// Versions of the agent that wrote it, in the order of their first records.
    pub versions: Vec<String>,
    /// Whether it is one that another session's call made.
    pub is_subagent: bool,
    /// Whether a record says all this.
    pub(crate) has_header: bool,
    /// The session from which it was made.
    pub parent: Option<String>,
    /// The record of another file after which it begins, and when it begins.
    pub(crate) continues: Option<(String, Option<Millis>)>,
}
