//! Facts about bodies that drawing a tree and summing a branch need, in a few bytes an entry, and sums over them. Plain
//! values by index; `gather` collects them. Knows no bodies and no files.

pub(crate) mod chains;

use crate::kind::Kind;
use crate::tree::{Node, NodeIx};

/// Usage that an entry reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reported {
    /// The entry's index in the tree.
    pub entry: u32,
    /// Tokens of all kinds.
    pub tokens: u64,
    /// US dollars.
    pub cost: f64,
}

/// A branch that a summary brought back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergedBranch {
    /// The summary's index in the tree.
    pub summary: u32,
    /// The index of the last entry that it covers.
    pub tip: u32,
}

/// Sums over entries.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Totals {
    /// Of any type.
    pub entries: u64,
    /// Message entries of any role.
    pub messages: u64,
    pub tokens: u64,
    /// US dollars as reported by providers.
    pub cost: f64,
}

impl Totals {
    pub(crate) fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.messages += other.messages;
        self.tokens += other.tokens;
        self.cost += other.cost;
    }
}

/// The facts about the first [`Facts::count`] entries of a tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// How many indexes are covered.
    pub count: usize,
    /// Entries that report usage, by index.
    pub reported: Vec<Reported>,
    /// Turns of the model that only call tools, by index.
    pub silent: Vec<u32>,
    /// Results of failed tool calls, by index.
    pub failed: Vec<u32>,
    /// Merges of branches of this tree, by index of the summary.
    pub merged: Vec<MergedBranch>,
    /// Sums over the covered entries.
    pub totals: Totals,
    /// Sums over pieces of branches.
    pub(crate) chains: chains::Chains,
}

impl Facts {
    /// An entry's part of the sums.
    pub(crate) fn of(&self, ix: NodeIx, node: &Node) -> Totals {
        let (tokens, cost) = self.usage(ix);
        Totals {
            entries: u64::from(!node.is_leaf_marker()),
            messages: u64::from(node.kind() == Kind::Message),
            tokens,
            cost,
        }
    }

    /// Tokens and dollars that an entry reports.
    pub fn usage(&self, ix: NodeIx) -> (u64, f64) {
        let place = ix.index() as u32;
        let found = self.reported.binary_search_by_key(&place, |reported| reported.entry);
        found.ok().and_then(|at| self.reported.get(at)).map_or((0, 0.0), |found| (found.tokens, found.cost))
    }

    /// Whether an entry is the result of a failed tool call.
    pub fn has_failed(&self, ix: NodeIx) -> bool {
        self.failed.binary_search(&(ix.index() as u32)).is_ok()
    }

    /// Whether an entry is a turn of the model that only calls tools.
    pub fn is_silent(&self, ix: NodeIx) -> bool {
        self.silent.binary_search(&(ix.index() as u32)).is_ok()
    }
}
