//! What a context weighs, in tokens. Every part of offshoot that counts tokens of a context counts them here.
//!
//! Two numbers make the size of a request: the *messages*, each estimated, and the *overhead*, the system prompt and the tools
//! that whoever makes the request adds. A provider's report measures both, but only for the context that it was about. Knows no
//! system prompt and no window.

use std::collections::HashSet;

use super::Message;
use crate::json::Json;
use crate::kind::{Kind, Role};
use crate::system::Replay;
use crate::tokens::{estimate, reported};
use crate::tree::{NodeIx, Tree};

/// What a context weighs, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextWeight {
    /// The estimates of all messages. Stored system prompts are not among them: a request has its own.
    pub messages: u64,
    /// An estimate of the system prompt and the tools that the session stores.
    pub stored_overhead: u64,
    /// The last usable report: no compaction and no edit of the context follows it.
    pub report: Option<ContextReport>,
}

/// A provider's report on the beginning of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextReport {
    /// The place of the answer among the messages of the context, from 0.
    pub index: usize,
    /// The tokens of the request and the answer.
    pub tokens: u64,
    /// The estimates of the messages after the answer.
    pub trailing: u64,
    /// The estimates of the stored system messages after it.
    pub trailing_system: u64,
}

impl ContextWeight {
    /// The tokens of a request with this context. A report has counted the overhead.
    #[must_use]
    pub fn total(&self, overhead: u64) -> u64 {
        match self.report {
            Some(report) => report.tokens.saturating_add(report.trailing),
            None => self.messages.saturating_add(overhead),
        }
    }

    /// The tokens of what the session stores, as pi counts them for `tokensBefore`.
    #[must_use]
    pub fn stored_total(&self) -> u64 {
        match self.report {
            Some(report) => report.tokens.saturating_add(report.trailing).saturating_add(report.trailing_system),
            None => self.messages.saturating_add(self.stored_overhead),
        }
    }
}

/// Weighs the messages of a context one by one, in their order.
#[derive(Debug, Default)]
pub struct ContextScale {
    changed: Option<LastChange>,
    weight: ContextWeight,
    stored: Replay,
    seen: usize,
}

impl ContextScale {
    /// A scale for the context at `leaf`.
    #[must_use]
    pub fn new(tree: &Tree, leaf: Option<NodeIx>) -> Self {
        Self { changed: LastChange::find(tree, leaf), ..Self::default() }
    }

    /// Adds the next message and returns its own estimate.
    pub fn add(&mut self, tree: &Tree, message: &Message) -> u64 {
        let own = estimate(message.json());
        match (message.role == Role::System, usable(tree, self.changed.as_ref(), message)) {
            (true, _) => {
                self.stored.take(message.json());
                self.weight.report.iter_mut().for_each(|report| report.trailing_system += own);
            }
            (false, Some(tokens)) => {
                self.weight.messages += own;
                self.weight.report = Some(ContextReport { index: self.seen, tokens, trailing: 0, trailing_system: 0 });
            }
            (false, None) => {
                self.weight.messages += own;
                self.weight.report.iter_mut().for_each(|report| report.trailing += own);
            }
        }
        self.seen += 1;
        own
    }

    #[expect(missing_docs, reason = "the name says it")]
    #[must_use]
    pub fn finish(self) -> ContextWeight {
        let stored = self.stored.finish(0);
        let stored_overhead = stored.as_deref().map_or(0, |system| estimate(Json::trusted(system)));
        ContextWeight { stored_overhead, ..self.weight }
    }
}

/// Weighs messages from the last one on, until one has a usable report.
#[derive(Debug)]
pub(super) struct TailTally {
    pub(super) changed: Option<LastChange>,
    pub(super) trailing: u64,
}

impl TailTally {
    pub(super) fn new(tree: &Tree, leaf: Option<NodeIx>) -> Self {
        Self { changed: LastChange::find(tree, leaf), trailing: 0 }
    }

    /// Adds the message before those that were added; answers the sum when it has a report.
    pub(super) fn add(&mut self, tree: &Tree, message: &Message) -> Option<u64> {
        if message.role == Role::System {
            return None;
        }
        let tokens = usable(tree, self.changed.as_ref(), message);
        if tokens.is_none() {
            self.trailing += estimate(message.json());
        }
        tokens.map(|tokens| tokens.saturating_add(self.trailing))
    }
}

/// The last entry of a path that makes reports before it be about another context.
#[derive(Debug)]
pub(super) struct LastChange {
    ix: NodeIx,
    /// What follows on the path, if a child is before its parent in the file.
    shuffled: Option<HashSet<NodeIx>>,
}

impl LastChange {
    fn find(tree: &Tree, leaf: Option<NodeIx>) -> Option<Self> {
        let leaf = leaf?;
        let is_change = |ix: NodeIx| matches!(tree.node(ix).kind(), Kind::Compaction | Kind::ContextEdit);
        let ix = tree.ancestors(leaf).find(|ix| is_change(*ix))?;
        let after = || tree.ancestors(leaf).take_while(|at| *at != ix);
        let is_in_order = after().chain(std::iter::once(ix)).is_sorted_by(|child, parent| child > parent);
        Some(Self { ix, shuffled: (!is_in_order).then(|| after().collect()) })
    }

    pub(super) fn ix(&self) -> NodeIx {
        self.ix
    }

    fn is_before(&self, entry: NodeIx) -> bool {
        self.shuffled.as_ref().map_or(entry > self.ix, |after| after.contains(&entry))
    }
}

/// What a provider reported with a message, if that is about a beginning of this context.
fn usable(tree: &Tree, changed: Option<&LastChange>, message: &Message) -> Option<u64> {
    let tokens = reported(message.json())?;
    let Some(changed) = changed else { return Some(tokens) };
    let answer = message.entry.as_ref().and_then(|id| tree.find(id.as_str()))?;
    changed.is_before(answer).then_some(tokens)
}
