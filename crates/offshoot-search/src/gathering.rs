//! The best hits so far, wherever they come from: copies of an entry are one.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};

use offshoot_session::clock::Millis;
use offshoot_session::id::EntryId;

use crate::document::DocumentKind;
use crate::hit::{Found, SearchHit, by_order};
use crate::query::{SearchQuery, SortOrder, USUAL_LIMIT};

/// Copies of an entry are one hit.
#[derive(Debug, PartialEq, Eq, Hash)]
struct CopyKey {
    entry: Option<EntryId>,
    /// The session, for a name: two sessions may have the same name.
    session: Option<String>,
    kind: DocumentKind,
    number: usize,
    text: u64,
}

impl CopyKey {
    fn of(hit: &SearchHit) -> Self {
        Self {
            entry: hit.entry.clone(),
            session: hit.entry.is_none().then(|| hit.session.clone()),
            kind: hit.kind,
            number: hit.number,
            text: hit.text,
        }
    }
}

/// The best hits so far.
pub(crate) struct Gathered {
    hits: HashMap<CopyKey, SearchHit>,
    /// Every hit that was met, also those that did not stay.
    met: HashSet<u64>,
    hasher: RandomState,
    /// Whether hits are of whole words. Else they are inside of other words, which counts where nothing else is found.
    has_words: bool,
    order: SortOrder,
    skip: usize,
    wanted: usize,
}

impl Gathered {
    /// Nothing yet. `skip` hits are passed over before the first one.
    pub(crate) fn new(query: &SearchQuery, skip: usize) -> Self {
        Self {
            hits: HashMap::new(),
            met: HashSet::new(),
            hasher: RandomState::new(),
            has_words: false,
            order: query.filters.sort.unwrap_or_default(),
            skip,
            wanted: skip.saturating_add(query.filters.limit.unwrap_or(USUAL_LIMIT)),
        }
    }

    /// Whether there is a hit of whole words.
    pub(crate) fn has_words(&self) -> bool {
        self.has_words
    }

    /// Adds a hit.
    pub(crate) fn add(&mut self, mut hit: SearchHit) {
        if !hit.is_inside && !self.has_words {
            self.has_words = true;
            self.hits.clear();
            self.met.clear();
        }
        if hit.is_inside && self.has_words {
            return;
        }
        let key = CopyKey::of(&hit);
        let is_new = self.met.insert(self.hasher.hash_one(&key));
        let Some(known) = self.hits.get_mut(&key) else {
            // A copy has the time of its original: it would not stay either.
            if is_new {
                self.hits.insert(key, hit);
            }
            return;
        };
        let is_better = |hit: &SearchHit| (hit.is_on_path, hit.path.clone());
        if is_better(&hit) > is_better(known) {
            std::mem::swap(known, &mut hit);
            known.also_in.append(&mut hit.also_in);
        }
        known.also_in.append(&mut hit.also_in);
        if hit.session != known.session {
            known.also_in.push(hit.session);
        }
    }

    /// Drops those that are not among the wanted ones, if there are many.
    pub(crate) fn shrink(&mut self) {
        if self.hits.len() <= self.wanted.saturating_mul(4).max(1024) {
            return;
        }
        let order = by_order(self.order);
        let mut all: Vec<(CopyKey, SearchHit)> = self.hits.drain().collect();
        all.sort_by(|(_, a), (_, b)| order(a, b));
        all.truncate(self.wanted);
        self.hits.extend(all);
    }

    /// Whether the wanted hits are all newer than this, so that older ones change nothing.
    pub(crate) fn has_enough(&self, newest_to_come: Millis) -> bool {
        if self.order == SortOrder::Old || self.hits.len() < self.wanted {
            return false;
        }
        let newer = self.hits.values().filter(|hit| hit.at.is_some_and(|at| at > newest_to_come));
        newer.count() >= self.wanted
    }

    /// The hits, and how many were met.
    pub(crate) fn finish(self) -> Found {
        let mut hits: Vec<SearchHit> = self.hits.into_values().collect();
        hits.sort_by(by_order(self.order));
        hits.truncate(self.wanted);
        hits.drain(..self.skip.min(hits.len()));
        for hit in &mut hits {
            hit.also_in.sort();
            hit.also_in.dedup();
        }
        Found { hits, count: self.met.len(), ..Found::default() }
    }
}
