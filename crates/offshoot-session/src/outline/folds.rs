//! The side branches and runs of tool calls that a user has opened or folded. Knows no rows.

use std::collections::HashSet;

use crate::tree::NodeIx;

/// Open branches and runs of tool calls, each named by its first entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folds {
    are_all_open: bool,
    are_runs_open: bool,
    /// Branches that differ from `are_all_open`.
    toggled: HashSet<NodeIx>,
    /// Runs that differ from `are_runs_open`.
    runs: HashSet<NodeIx>,
}

#[expect(missing_docs, reason = "the names of the others say what they do")]
impl Folds {
    /// Opens all branches.
    #[must_use]
    pub fn all_open() -> Self {
        Self { are_all_open: true, ..Self::default() }
    }

    /// Opens all branches and all runs of tool calls.
    #[must_use]
    pub fn everything_open() -> Self {
        Self { are_runs_open: true, ..Self::all_open() }
    }

    /// Whether the branch that begins with an entry is open.
    pub fn is_open(&self, ix: NodeIx) -> bool {
        self.are_all_open != self.toggled.contains(&ix)
    }

    /// Whether the run of tool calls that begins with an entry is open.
    pub fn is_run_open(&self, ix: NodeIx) -> bool {
        self.are_runs_open != self.runs.contains(&ix)
    }

    pub fn toggle(&mut self, ix: NodeIx) {
        if !self.toggled.remove(&ix) {
            self.toggled.insert(ix);
        }
    }

    pub fn toggle_run(&mut self, ix: NodeIx) {
        if !self.runs.remove(&ix) {
            self.runs.insert(ix);
        }
    }
}
