//! A mapper for agents whose records have no parents: each entry follows the one before it, and some records go back. Knows no
//! agent's records.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt::Debug;

use offshoot_session::clock::Millis;
use offshoot_session::compose::NewEntry;
use offshoot_session::error::Result;
use offshoot_session::id::EntryId;
use offshoot_session::json::Json;
use offshoot_session::kind::{Kind, Role};

use crate::composing::Composing;
use crate::digested::NoDigests;
use crate::growth::{Coming, EntryAt, Growth, Parent};
use crate::key::{Key, hex_hash, print_of};
use crate::mapper::{Mapper, Names};
use crate::planned::{ForeignHead, PlannedEntry, Shape, Spans};
use crate::record::RecordSpan;

/// An entry that a record gives.
#[derive(Debug, Clone)]
pub(crate) struct LinearEntry<F> {
    /// The agent's id for it; `None` is made of what the record says.
    pub(crate) id: Option<String>,
    pub(crate) kind: Kind,
    pub(crate) role: Option<Role>,
    pub(crate) form: F,
    pub(crate) part: u32,
    pub(crate) name: String,
    pub(crate) time: Option<Millis>,
    /// The id of the first entry that a compaction keeps.
    pub(crate) kept: Option<String>,
    /// What tells it from another entry with the same id.
    pub(crate) print: u32,
}

impl<F> LinearEntry<F> {
    pub(crate) fn new(id: Option<&str>, (kind, role): (Kind, Option<Role>), form: F, of: Json<'_>) -> Self {
        let id = id.filter(|id| !id.is_empty()).map(str::to_owned);
        let print = print_of(of.text());
        Self { id, kind, role, form, part: 0, name: String::new(), time: None, kept: None, print }
    }
}

/// What a record does.
#[derive(Debug, Clone)]
pub(crate) enum LinearStep<F> {
    Entry(LinearEntry<F>),
    /// What follows is a branch beside the entry with this id; without one a new root.
    RewindBefore(String),
    /// The session is open here, whatever follows.
    OpenHere,
}

/// What an agent's records say. It has no texts.
pub(crate) trait LinearFormat: Default + Debug {
    /// What an entry is made of.
    type Form: Copy + Debug + Send + Sync + 'static;

    /// The agent's word, for ids.
    const WORD: &'static str;
    /// The form of a marker of where the session is open.
    const LEAF: Self::Form;

    /// Reads a record. What it says of the session goes to the head.
    fn read(&mut self, record: Json<'_>, head: &mut ForeignHead) -> Vec<LinearStep<Self::Form>>;

    /// The id that a record has; `None` if it is to be made of its bytes.
    fn record_id(record: Json<'_>) -> Option<String>;

    /// The time of a record.
    fn record_time(record: Json<'_>) -> Option<Millis>;

    /// Spells an entry.
    ///
    /// # Errors
    /// The records do not make a valid entry.
    fn compose(shape: Shape<Self::Form>, of: &Composing<'_>) -> Result<NewEntry>;
}

/// The entries so far, one behind the other.
#[derive(Debug)]
pub(crate) struct LinearMapper<L> {
    format: L,
    growth: Growth,
    names: Names,
    head: ForeignHead,
    point: Option<EntryAt>,
    /// Where the session is open, if that is not at its end.
    leaf: Option<EntryAt>,
    repeated: HashMap<Key, u32>,
}

impl<L: LinearFormat> LinearMapper<L> {
    /// A session with this id; `cwd` is its folder, where no record says it.
    pub(crate) fn new(native_id: &str, cwd: Option<String>) -> Self {
        Self {
            format: L::default(),
            growth: Growth::default(),
            names: Names::default(),
            head: ForeignHead { native_id: native_id.to_owned(), cwd, ..ForeignHead::default() },
            point: None,
            leaf: None,
            repeated: HashMap::new(),
        }
    }

    fn entry(
        &mut self,
        span: RecordSpan,
        record: Json<'_>,
        entry: LinearEntry<L::Form>,
        out: &mut Vec<PlannedEntry<L::Form>>,
    ) {
        let mut parent = self.point;
        let id = match &entry.id {
            Some(id) => match (self.growth.find(Key::of(id)), self.growth.print(Key::of(id))) {
                (Some(known), Some(print)) if print == entry.print => {
                    // It is there already, and the newest of the branch again.
                    self.point = Some(known);
                    return;
                }
                (Some(known), _) => {
                    parent = self.growth.parent(known);
                    format!("{id}~{}", hex_hash(&[record.text().as_bytes()], 8))
                }
                (None, _) => id.clone(),
            },
            None => {
                let hash =
                    hex_hash(&[L::WORD.as_bytes(), self.head.native_id.as_bytes(), record.text().as_bytes()], 16);
                let key = Key::of(&format!("{hash}.{}", entry.part));
                let count = self.repeated.entry(key).and_modify(|count| *count += 1).or_insert(0);
                let base = if *count == 0 { hash } else { format!("{hash}-{count}") };
                if entry.part == 0 { base } else { format!("{base}.{}", entry.part) }
            }
        };
        let refers = entry.kept.and_then(|kept| self.growth.find(Key::of(&kept)));
        let coming = Coming {
            time: entry.time.or(L::record_time(record)),
            part: entry.part,
            name: self.names.number(&entry.name),
            refers: refers.and_then(|at| self.growth.id(at)),
            is_typed: entry.role == Some(Role::User),
            ..Coming::new(EntryId::new(id), (entry.kind, entry.role), Spans::One(span), entry.form)
        };
        let at = self.growth.plan(coming, parent.map_or(Parent::Root, Parent::Of), out);
        if let Some(id) = &entry.id {
            self.growth.name(Key::of(id), at, entry.print);
        }
        self.point = Some(at);
    }
}

impl<L: LinearFormat + Send + Sync + 'static> Mapper for LinearMapper<L> {
    type Form = L::Form;

    fn take(&mut self, span: RecordSpan, record: Json<'_>, out: &mut Vec<PlannedEntry<L::Form>>) {
        if self.head.first.is_none() {
            self.head.first = L::record_time(record);
            self.growth.note_time(self.head.first);
        }
        for step in self.format.read(record, &mut self.head) {
            match step {
                LinearStep::Entry(entry) => self.entry(span, record, entry, out),
                LinearStep::RewindBefore(id) => {
                    self.point = self.growth.find(Key::of(&id)).and_then(|at| self.growth.parent(at));
                }
                LinearStep::OpenHere => self.leaf = self.point,
            }
        }
    }

    type Digester = NoDigests;

    fn take_digest(&mut self, _: RecordSpan, digest: Infallible, _: &mut Vec<PlannedEntry<L::Form>>) -> bool {
        match digest {}
    }

    fn close_open(&mut self, _: &mut Vec<PlannedEntry<L::Form>>) {}

    fn leaf_marker(&mut self, records: u32) -> Option<PlannedEntry<L::Form>> {
        self.growth.leaf_marker(self.leaf.or(self.point)?, records, L::LEAF)
    }

    fn is_waiting(&self) -> bool {
        false
    }

    fn head(&self) -> &ForeignHead {
        &self.head
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn into_head(self) -> (ForeignHead, Names) {
        (self.head, self.names)
    }

    fn record_id(record: Json<'_>) -> Option<String> {
        L::record_id(record)
    }

    fn record_time(record: Json<'_>) -> Option<Millis> {
        L::record_time(record)
    }

    fn loss(record: Json<'_>) -> Option<String> {
        let is_silent = L::default().read(record, &mut ForeignHead::default()).is_empty();
        let named = ["type", "table", "kind", "role"].into_iter().find_map(|name| record.str(name));
        // An operator is named by its member.
        let sort = named.or_else(|| record.members().next().map(|(name, _)| name)).unwrap_or_default();
        is_silent.then(|| crate::key::clean(&format!("no-place:{sort}")))
    }

    fn compose(shape: Shape<L::Form>, of: &Composing<'_>) -> Result<NewEntry> {
        L::compose(shape, of)
    }
}
