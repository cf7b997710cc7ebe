//! What must be known of every body to draw a tree or to price a branch, in a few bytes an entry.
//!
//! Only the values, by place in file order; gathering is elsewhere. Knows no bodies and no files.

use crate::tree::NodeIx;

/// Tokens and dollars that an entry reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reported {
    /// The entry's place in file order.
    pub entry: u32,
    /// Its tokens, all kinds together.
    pub tokens: u64,
    /// Its price in US dollars.
    pub cost: f64,
}

/// Sums over entries.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    /// Entries of any type.
    pub entries: u64,
    /// Message entries of any role.
    pub messages: u64,
    /// Tokens as reported by providers.
    pub tokens: u64,
    /// Dollars as reported by providers.
    pub cost: f64,
}

impl Totals {
    pub(crate) fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.messages += other.messages;
        self.tokens += other.tokens;
        self.cost += other.cost;
    }

    /// What is left of sums over more when sums over less are taken away.
    pub(crate) fn minus(&self, less: &Self) -> Self {
        Self {
            entries: self.entries.saturating_sub(less.entries),
            messages: self.messages.saturating_sub(less.messages),
            tokens: self.tokens.saturating_sub(less.tokens),
            cost: (self.cost - less.cost).max(0.0),
        }
    }
}

/// What is known of the first [`Facts::count`] entries of a tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// How many places in file order are covered.
    pub count: usize,
    /// Entries that report usage, in file order.
    pub reported: Vec<Reported>,
    /// Turns of the model that only call tools, in file order.
    pub silent: Vec<u32>,
    /// Tool calls that failed, in file order.
    pub failed: Vec<u32>,
    /// Sums over all of them, brought forward by what is new.
    pub totals: Totals,
}

impl Facts {
    /// What an entry reports: tokens and dollars.
    pub fn usage(&self, ix: NodeIx) -> (u64, f64) {
        let place = ix.index() as u32;
        let found = self.reported.binary_search_by_key(&place, |reported| reported.entry);
        found.ok().and_then(|at| self.reported.get(at)).map_or((0, 0.0), |found| (found.tokens, found.cost))
    }

    /// Whether it is the result of a tool call that failed.
    pub fn has_failed(&self, ix: NodeIx) -> bool {
        self.failed.binary_search(&(ix.index() as u32)).is_ok()
    }

    /// Whether it is a turn of the model that only calls tools.
    pub fn is_silent(&self, ix: NodeIx) -> bool {
        self.silent.binary_search(&(ix.index() as u32)).is_ok()
    }
}
