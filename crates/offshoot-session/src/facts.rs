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

/// What is known of the first [`Facts::count`] entries of a tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// How many places in file order are covered.
    pub count: usize,
    /// Entries that report usage, in file order.
    pub reported: Vec<Reported>,
    /// Turns of the model that only call tools, in file order.
    pub silent: Vec<u32>,
}

impl Facts {
    /// What an entry reports: tokens and dollars.
    pub fn usage(&self, ix: NodeIx) -> (u64, f64) {
        let place = ix.index() as u32;
        let found = self.reported.binary_search_by_key(&place, |reported| reported.entry);
        found.ok().and_then(|at| self.reported.get(at)).map_or((0, 0.0), |found| (found.tokens, found.cost))
    }

    /// Whether it is a turn of the model that only calls tools.
    pub fn is_silent(&self, ix: NodeIx) -> bool {
        self.silent.binary_search(&(ix.index() as u32)).is_ok()
    }
}
