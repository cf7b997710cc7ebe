//! A search without an index: every session is read, the newest first, on all cores. It finds what the index finds.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use offshoot_session::entry::Source as _;
use offshoot_session::error::Result;
use offshoot_session::id::EntryId;
use offshoot_session::session::Session;
use offshoot_session::store::{DirStore, unreadable};

use crate::document::DocumentKind;
use crate::filtering::agent_word;
use crate::hit::{Found, SearchHit, by_order};
use crate::line_check::LineCheck;
use crate::matching::fit;
use crate::query::{SearchQuery, SortOrder};
use crate::session_documents::{OpenPath, PlacedDocument, Selected, for_each_document};
use crate::snippet::Snippet;

/// How many hits a search gives that asks for no number.
pub const USUAL_LIMIT: usize = 30;

/// Where a search looks.
#[derive(Clone, Copy)]
pub struct SearchedPlace<'a> {
    /// The sessions.
    pub store: &'a DirStore,
    /// Opens one to read it.
    pub open: &'a (dyn Fn(&Path) -> Result<Session> + Sync),
    /// A text without the keys in it; `None` if it has none. What it takes out is neither found nor shown, nor is it in an index.
    pub mask: &'a (dyn Fn(&str) -> Option<String> + Sync),
    /// Called with how many sessions are done, and of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

impl std::fmt::Debug for SearchedPlace<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchedPlace").field("store", self.store).finish_non_exhaustive()
    }
}

/// Copies of an entry are one hit.
#[derive(Debug, PartialEq, Eq, Hash)]
struct CopyKey {
    entry: Option<EntryId>,
    /// Names of sessions are no copies of each other.
    session: Option<String>,
    kind: DocumentKind,
    number: usize,
    text: u64,
}

/// The best hits so far.
struct Gathered {
    hits: HashMap<CopyKey, SearchHit>,
    /// Every hit that was met, also those that did not stay.
    met: HashSet<u64>,
    hasher: RandomState,
    /// Whether hits are of whole words. Else they are inside of other words, which counts where nothing else is found.
    has_words: bool,
    found: Found,
    order: SortOrder,
    wanted: usize,
}

/// Finds what fits a query in all sessions of a place. `skip` hits are passed over before the first one.
///
/// # Errors
/// The store's own root cannot be read. Sessions that cannot be read are diagnostics.
pub fn scan(place: SearchedPlace<'_>, query: &SearchQuery, skip: usize) -> Result<Found> {
    let files = place.store.recent_files(query.filters.folder.as_deref())?;
    let limit = query.filters.limit.unwrap_or(USUAL_LIMIT);
    let gathered = Mutex::new(Gathered {
        hits: HashMap::new(),
        met: HashSet::new(),
        hasher: RandomState::new(),
        has_words: false,
        found: Found::default(),
        order: query.filters.sort.unwrap_or_default(),
        wanted: skip.saturating_add(limit),
    });
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let check = LineCheck::of(query);
    let searching = Searching { place, query, check: &check };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(files.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let hits = searching.one(file);
                    gathered.lock().unwrap_or_else(PoisonError::into_inner).take(hits);
                    (place.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, files.len());
                }
            });
        }
    });
    let gathered = gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(gathered.finish(skip))
}

struct Searching<'a> {
    place: SearchedPlace<'a>,
    query: &'a SearchQuery,
    check: &'a LineCheck,
}

/// The hits of one session, and how many entries were too long; `None` if the filters leave it out.
type OfSession = Result<Option<(Vec<(CopyKey, SearchHit)>, usize)>>;

impl Searching<'_> {
    fn one(&self, file: &Path) -> OfSession {
        let flavour = self.place.store.root_of(file).map(|root| root.flavour);
        let session = (self.place.open)(file)?;
        if !self.query.filters.takes_session(agent_word(flavour), session.id()) {
            return Ok(None);
        }
        let mut fits = Vec::new();
        let selected = Selected { from: 0, can_matter: &|line| self.check.can_matter(line), mask: self.place.mask };
        let left_out = for_each_document(&session, selected, &mut |placed| {
            if self.query.filters.takes(&placed.document, placed.at)
                && let Some(fit) = fit(self.query, &placed.document)
            {
                fits.push((placed, fit));
            }
            true
        })?;
        if fits.is_empty() {
            return Ok(Some((Vec::new(), left_out)));
        }
        let (path, title) = (OpenPath::of(&session)?, session.name()?);
        let title = title.or_else(|| session.title().map(str::to_owned));
        let hit = |(placed, fit): (PlacedDocument, crate::matching::Fit)| {
            let offset = placed.node.map_or(0, |ix| session.tree().node(ix).offset());
            let hit = SearchHit {
                path: PathBuf::from(file),
                session: session.id().to_owned(),
                title: title.clone(),
                folder: session.cwd().map(str::to_owned),
                flavour,
                entry: placed.entry.clone(),
                kind: placed.document.kind,
                tool: placed.document.tool.clone(),
                is_error: placed.document.is_error,
                at: placed.at,
                offset,
                is_on_path: path.has(placed.node),
                is_compacted: path.has_compacted(placed.node),
                is_inside: fit.is_inside,
                snippet: Snippet::of(&placed.document.text, &fit.places),
                score: 0.0,
                also_in: Vec::new(),
            };
            (key_of(&session, &placed), hit)
        };
        let hits = fits.into_iter().map(hit);
        let hits = hits.filter(|(_, hit)| !self.query.filters.is_on_path || hit.is_on_path).collect();
        Ok(Some((hits, left_out)))
    }
}

fn key_of(session: &Session, placed: &PlacedDocument) -> CopyKey {
    CopyKey {
        entry: placed.entry.clone(),
        session: placed.entry.is_none().then(|| session.id().to_owned()),
        kind: placed.document.kind,
        number: placed.number,
        text: placed.hash,
    }
}

impl Gathered {
    fn take(&mut self, hits: OfSession) {
        match hits {
            Ok(Some((hits, left_out))) => {
                self.found.sessions += 1;
                self.found.left_out += left_out;
                for (key, hit) in hits {
                    self.add(key, hit);
                }
            }
            Ok(None) => {}
            Err(error) => self.found.diagnostics.push(unreadable(&error)),
        }
        if self.hits.len() > self.wanted.saturating_mul(4).max(1024) {
            self.shrink();
        }
    }

    fn add(&mut self, key: CopyKey, mut hit: SearchHit) {
        if !hit.is_inside && !self.has_words {
            self.has_words = true;
            self.hits.clear();
            self.met.clear();
        }
        if hit.is_inside && self.has_words {
            return;
        }
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
            known.also_in = std::mem::take(&mut hit.also_in);
        }
        if hit.session != known.session {
            known.also_in.push(hit.session);
        }
    }

    fn shrink(&mut self) {
        let order = by_order(self.order);
        let mut all: Vec<(CopyKey, SearchHit)> = self.hits.drain().collect();
        all.sort_by(|(_, a), (_, b)| order(a, b));
        all.truncate(self.wanted);
        self.hits.extend(all);
    }

    fn finish(self, skip: usize) -> Found {
        let mut hits: Vec<SearchHit> = self.hits.into_values().collect();
        hits.sort_by(by_order(self.order));
        hits.truncate(self.wanted);
        hits.drain(..skip.min(hits.len()));
        for hit in &mut hits {
            hit.also_in.sort();
        }
        Found { hits, count: self.met.len(), ..self.found }
    }
}
