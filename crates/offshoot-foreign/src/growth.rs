//! The tree of a session while its records are read: which entry a foreign id became, and where the next one hangs. Knows
//! no agent.

use std::collections::HashMap;

use offshoot_session::id::EntryId;

use crate::key::Key;

const NONE: u32 = u32::MAX;

/// An entry by the number of its place, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EntryAt(u32);

impl EntryAt {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug, Clone)]
struct Grown {
    id: EntryId,
    parent: u32,
    /// The entry on which this one's children hang: itself, or one that stands behind it on the same branch.
    tip: u32,
    /// The last child that no person typed.
    next: u32,
}

/// The entries so far. Every walk is a loop.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    entries: Vec<Grown>,
    /// Each with a print of its record.
    known: HashMap<Key, (u32, u32)>,
}

impl Growth {
    pub(crate) fn last(&self) -> Option<EntryAt> {
        self.entries.len().checked_sub(1).map(|at| EntryAt(at as u32))
    }

    /// Adds an entry below another one.
    pub(crate) fn add(&mut self, id: EntryId, parent: Option<EntryAt>, is_typed: bool) -> EntryAt {
        let at = self.entries.len() as u32;
        self.entries.push(Grown { id, parent: parent.map_or(NONE, |parent| parent.0), tip: at, next: NONE });
        if let Some(above) = parent.filter(|_| !is_typed).and_then(|parent| self.entries.get_mut(parent.index())) {
            above.next = at;
        }
        EntryAt(at)
    }

    /// From now on a foreign id means this entry. `print` tells its record from others with the same id.
    pub(crate) fn name(&mut self, key: Key, at: EntryAt, print: u32) {
        self.known.insert(key, (at.0, print));
    }

    /// The entry that a foreign id means.
    pub(crate) fn find(&self, key: Key) -> Option<EntryAt> {
        self.known.get(&key).map(|(at, _)| EntryAt(*at))
    }

    /// The print of the record that last had a foreign id.
    pub(crate) fn print(&self, key: Key) -> Option<u32> {
        self.known.get(&key).map(|(_, print)| *print)
    }

    /// The end of the branch from an entry on, without what a person typed.
    pub(crate) fn end_of(&self, mut at: EntryAt) -> EntryAt {
        while let Some(next) = self.entries.get(at.index()).map(|grown| grown.next).filter(|next| *next != NONE) {
            at = EntryAt(next);
        }
        at
    }

    pub(crate) fn id(&self, at: EntryAt) -> Option<&EntryId> {
        self.entries.get(at.index()).map(|grown| &grown.id)
    }

    pub(crate) fn parent(&self, at: EntryAt) -> Option<EntryAt> {
        let parent = self.entries.get(at.index())?.parent;
        (parent != NONE).then_some(EntryAt(parent))
    }

    /// Children of the one entry hang on the other from now on.
    pub(crate) fn continue_at(&mut self, from: EntryAt, to: EntryAt) {
        if let Some(grown) = self.entries.get_mut(from.index()) {
            grown.tip = to.0;
        }
    }

    /// The entry on which children of this one hang.
    pub(crate) fn tip(&mut self, at: EntryAt) -> EntryAt {
        let mut tip = at.0;
        // Entries continue at later ones only.
        while let Some(next) = self.entries.get(tip as usize).map(|grown| grown.tip).filter(|next| *next > tip) {
            tip = next;
        }
        let mut step = at.0;
        while step != tip {
            let Some(grown) = self.entries.get_mut(step as usize) else { break };
            step = std::mem::replace(&mut grown.tip, tip);
        }
        EntryAt(tip)
    }

    /// Whether the one entry is the other, or stands above it, as far as `steps` walks reach.
    pub(crate) fn is_above(&self, above: EntryAt, below: EntryAt, steps: &mut u64) -> bool {
        let mut at = below;
        // Parents come before their children.
        while at > above && *steps > 0 {
            *steps -= 1;
            match self.parent(at) {
                Some(parent) => at = parent,
                None => return false,
            }
        }
        at == above
    }
}
