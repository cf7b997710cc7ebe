//! What a person has opened and folded: side branches and runs of tool calls. Knows no rows.

use std::collections::HashSet;

use crate::tree::NodeIx;

/// Which branches and runs of tool calls are open, each named by its first entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folds {
    are_all_open: bool,
    are_runs_open: bool,
    /// Branches that are not as `are_all_open` says.
    toggled: HashSet<NodeIx>,
    /// Runs that are not as `are_runs_open` says.
    runs: HashSet<NodeIx>,
}

impl Folds {
    /// All branches are open.
    #[must_use]
    pub fn all_open() -> Self {
        Self { are_all_open: true, ..Self::default() }
    }

    /// All branches and all runs of tool calls are open.
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

    /// Opens a branch that is folded, folds one that is open.
    pub fn toggle(&mut self, ix: NodeIx) {
        if !self.toggled.remove(&ix) {
            self.toggled.insert(ix);
        }
    }

    /// The same for a run of tool calls.
    pub fn toggle_run(&mut self, ix: NodeIx) {
        if !self.runs.remove(&ix) {
            self.runs.insert(ix);
        }
    }
}
