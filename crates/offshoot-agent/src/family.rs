//! An agent's place among those that a root has started, and how many there may be. Starts none.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use offshoot_session::id::is_valid_session_id;
use tokio::sync::Semaphore;

use crate::resources::Spawns;
use crate::spending::Spending;
use crate::tool::FormAsker;

/// How many agents there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FamilyLimits {
    /// So many children of one depth run at once; the others wait.
    pub at_once: usize,
    /// A root's children have depth 1. Deeper ones are not started.
    pub depth: u64,
    /// So many one root may start in one run, with those of its children.
    pub children: usize,
}

impl Default for FamilyLimits {
    fn default() -> Self {
        Self { at_once: 4, depth: 2, children: 64 }
    }
}

/// An agent's place in its family. That of a root is made of its limits.
#[derive(Clone, Default)]
pub struct Family {
    shared: Arc<SharedFamily>,
    pub(crate) own: Option<Arc<ChildPlace>>,
}

struct SharedFamily {
    limits: FamilyLimits,
    /// Of the files in which roots record what is spent.
    ledgers: Option<PathBuf>,
    /// One for each depth: an agent that waits for its children keeps none of them from running.
    slots: Mutex<Vec<Arc<Semaphore>>>,
    /// Ids in use, with those that were.
    ids: Mutex<BTreeSet<String>>,
}

/// What a child is, as its parent has decided.
pub(crate) struct ChildPlace {
    /// The stem of its file.
    pub(crate) id: String,
    pub(crate) depth: u64,
    /// Of the files of all children; `None`: they are in memory.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) spawns: Spawns,
    pub(crate) spending: Spending,
    /// Asks the person in its name.
    pub(crate) asker: Option<FormAsker>,
}

impl Default for SharedFamily {
    fn default() -> Self {
        Self::new(FamilyLimits::default(), None)
    }
}

impl SharedFamily {
    fn new(limits: FamilyLimits, ledgers: Option<PathBuf>) -> Self {
        Self { limits, ledgers, slots: Mutex::default(), ids: Mutex::default() }
    }
}

impl Family {
    /// Of a root. What is spent is recorded in a file of this folder for each root session; without one it is in memory only.
    #[must_use]
    pub fn new(limits: FamilyLimits, ledgers: Option<PathBuf>) -> Self {
        Self { shared: Arc::new(SharedFamily::new(limits, ledgers)), own: None }
    }

    /// The ledger of a root session. An id that is no name of a file has none.
    pub(crate) fn ledger_of(&self, session: &str) -> Option<PathBuf> {
        let folder = self.shared.ledgers.as_ref().filter(|_| is_valid_session_id(session))?;
        Some(folder.join(format!("{session}.jsonl")))
    }

    pub(crate) fn limits(&self) -> FamilyLimits {
        self.shared.limits
    }

    /// The family as this child of it sees it.
    pub(crate) fn of_child(&self, own: ChildPlace) -> Self {
        Self { shared: Arc::clone(&self.shared), own: Some(Arc::new(own)) }
    }

    /// The account of a child.
    pub(crate) fn spending(&self) -> Option<Spending> {
        self.own.as_ref().map(|own| own.spending.clone())
    }

    pub(crate) fn is_child(&self) -> bool {
        self.own.is_some()
    }

    pub(crate) fn depth(&self) -> u64 {
        self.own.as_ref().map_or(0, |own| own.depth)
    }

    /// Those of children of this depth.
    pub(crate) fn slots(&self, depth: u64) -> Arc<Semaphore> {
        let depth = usize::try_from(depth.min(64)).unwrap_or_default();
        let mut slots = self.shared.slots.lock().unwrap_or_else(PoisonError::into_inner);
        while slots.len() <= depth {
            slots.push(Arc::new(Semaphore::new(self.shared.limits.at_once.max(1))));
        }
        slots.get(depth).cloned().unwrap_or_else(|| Arc::new(Semaphore::new(1)))
    }

    /// Takes the first id of `wanted`, `wanted-2`, … that is free; `None` if the family is complete.
    pub(crate) fn take_id(&self, wanted: &str, is_free: impl Fn(&str) -> bool) -> Option<String> {
        let mut ids = self.shared.ids.lock().unwrap_or_else(PoisonError::into_inner);
        if ids.len() >= self.shared.limits.children {
            return None;
        }
        let numbered = (2..).map(|number: u64| format!("{wanted}-{number}"));
        let id = std::iter::once(wanted.to_owned()).chain(numbered).find(|id| !ids.contains(id) && is_free(id))?;
        ids.insert(id.clone());
        Some(id)
    }
}

impl std::fmt::Debug for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Family").field("limits", &self.shared.limits).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_there_once_and_end_with_the_limit() {
        let family = Family::new(FamilyLimits { children: 3, ..FamilyLimits::default() }, None);
        let take = |wanted: &str| family.take_id(wanted, |id| id != "Alpha-2");
        assert_eq!(take("Alpha").as_deref(), Some("Alpha"));
        assert_eq!(take("Alpha").as_deref(), Some("Alpha-3"));
        assert_eq!(take("Beta").as_deref(), Some("Beta"));
        assert_eq!(take("Gamma"), None);
    }
}
