//! The tree of a session while its records are read: which entry a foreign id became, and where the next one hangs. Knows
//! no agent.

use offshoot_session::clock::Millis;
use offshoot_session::id::EntryId;
use offshoot_session::kind::{Kind, Role};

use crate::key::{ForeignId, Key, hex_hash};
use crate::known_ids::{KnownId, KnownIds};
use crate::planned::{PlannedEntry, Shape, Spans};

const NONE: u32 = u32::MAX;

/// An entry by the number of its place, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EntryAt(u32);

impl EntryAt {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An entry to be, without its parent.
#[derive(Debug)]
pub(crate) struct Coming<F> {
    pub(crate) id: EntryId,
    pub(crate) kind: Kind,
    pub(crate) role: Option<Role>,
    pub(crate) spans: Spans,
    /// `None` takes the time of the entry before it.
    pub(crate) time: Option<Millis>,
    pub(crate) form: F,
    pub(crate) part: u32,
    pub(crate) name: u16,
    pub(crate) refers: Option<EntryId>,
    /// Whether a person typed it.
    pub(crate) is_typed: bool,
}

impl<F> Coming<F> {
    pub(crate) fn new(id: EntryId, (kind, role): (Kind, Option<Role>), spans: Spans, form: F) -> Self {
        Self { id, kind, role, spans, time: None, form, part: 0, name: 0, refers: None, is_typed: false }
    }
}

/// What an entry hangs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Parent {
    Root,
    Of(EntryAt),
    /// No record has had this id yet.
    Unknown(ForeignId),
}

impl Parent {
    pub(crate) fn at(&self) -> Option<EntryAt> {
        match self {
            Self::Of(at) => Some(*at),
            Self::Root | Self::Unknown(_) => None,
        }
    }
}

#[derive(Debug, Clone)]
struct Grown {
    /// The known id that is its own; of others the list has it.
    own: u32,
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
    known: KnownIds,
    /// The ids of entries that are not UUIDs which are known, in the order of their entries.
    other_ids: Vec<(u32, EntryId)>,
    /// The id of the last entry, on which the next one usually hangs.
    last_id: Option<EntryId>,
    /// The last id that was given a meaning, which the next record usually names.
    last_named: Option<(Key, EntryAt)>,
    last_time: Millis,
}

impl Growth {
    /// Makes room for so many more entries.
    pub(crate) fn expect(&mut self, more: usize) {
        self.entries.reserve(more);
        self.known.expect(more);
    }

    pub(crate) fn last(&self) -> Option<EntryAt> {
        self.entries.len().checked_sub(1).map(|at| EntryAt(at as u32))
    }

    /// Plans an entry below another one.
    pub(crate) fn plan<F>(&mut self, coming: Coming<F>, parent: Parent, out: &mut Vec<PlannedEntry<F>>) -> EntryAt {
        let above = parent.at();
        let parent = match parent {
            Parent::Root => None,
            Parent::Of(at) => self.id(at),
            Parent::Unknown(id) => Some(id.entry_id()),
        };
        let id = coming.id;
        let at = self.add(id.clone(), above, coming.is_typed);
        self.last_time = coming.time.unwrap_or(self.last_time);
        out.push(PlannedEntry {
            id,
            parent,
            kind: coming.kind,
            role: coming.role,
            time: Some(self.last_time),
            spans: coming.spans,
            shape: Shape { form: coming.form, part: coming.part, name: coming.name },
            refers: coming.refers,
        });
        at
    }

    /// The marker that opens the session at this entry, unless it is the last one. `records` is how many there are.
    pub(crate) fn leaf_marker<F>(&mut self, leaf: EntryAt, records: u32, form: F) -> Option<PlannedEntry<F>> {
        let leaf = self.tip(leaf);
        let parent = self.id(leaf).filter(|_| Some(leaf) != self.last())?;
        let hash = hex_hash(&[parent.as_str().as_bytes(), records.to_string().as_bytes()], 16);
        Some(PlannedEntry {
            id: EntryId::new(format!("leaf-{hash}")),
            parent: Some(parent),
            kind: Kind::Custom,
            role: None,
            time: Some(self.last_time),
            spans: Spans::Many(Box::new([])),
            shape: Shape { form, part: 0, name: 0 },
            refers: None,
        })
    }

    /// Adds an entry below another one.
    fn add(&mut self, id: EntryId, parent: Option<EntryAt>, is_typed: bool) -> EntryAt {
        let at = self.entries.len() as u32;
        self.last_id = Some(id.clone());
        self.other_ids.push((at, id));
        self.entries.push(Grown { own: NONE, parent: parent.map_or(NONE, |parent| parent.0), tip: at, next: NONE });
        if let Some(above) = parent.filter(|_| !is_typed).and_then(|parent| self.entries.get_mut(parent.index())) {
            above.next = at;
        }
        EntryAt(at)
    }

    /// The time of an entry whose record has none is the last one before it.
    pub(crate) fn note_time(&mut self, time: Option<Millis>) {
        self.last_time = time.unwrap_or(self.last_time);
    }

    /// From now on a foreign id means this entry. `print` tells its record from others with the same id.
    pub(crate) fn name(&mut self, key: Key, at: EntryAt, print: u32) {
        self.last_named = Some((key, at));
        let number = self.known.put(KnownId { key, at: at.0, print });
        // Nearly all entries have the UUID of a record, which need not be kept twice.
        if let Some(grown) = self.entries.get_mut(at.index())
            && self.other_ids.pop_if(|(of, id)| *of == at.0 && key.is_uuid(id.as_str())).is_some()
        {
            grown.own = number;
        }
    }

    /// The entry that a foreign id means.
    pub(crate) fn find(&self, key: Key) -> Option<EntryAt> {
        if let Some((last, at)) = self.last_named
            && last == key
        {
            return Some(at);
        }
        self.known.get(key).map(|known| EntryAt(known.at))
    }

    /// The print of the record that last had a foreign id.
    pub(crate) fn print(&self, key: Key) -> Option<u32> {
        self.known.get(key).map(|known| known.print)
    }

    /// The end of the branch from an entry on, without what a person typed.
    pub(crate) fn end_of(&self, mut at: EntryAt) -> EntryAt {
        while let Some(next) = self.entries.get(at.index()).map(|grown| grown.next).filter(|next| *next != NONE) {
            at = EntryAt(next);
        }
        at
    }

    pub(crate) fn id(&self, at: EntryAt) -> Option<EntryId> {
        if Some(at) == self.last() {
            return self.last_id.clone();
        }
        let own = self.entries.get(at.index())?.own;
        if let Some(key) = self.known.key(own) {
            return Some(key.uuid());
        }
        let place = self.other_ids.binary_search_by_key(&at.0, |(of, _)| *of).ok()?;
        self.other_ids.get(place).map(|(_, id)| id.clone())
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
