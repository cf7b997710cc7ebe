//! A search without an index: every session is read, the newest first, on all cores. It finds what the index finds.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use offshoot_session::clock::Millis;
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Diagnostic, Result};
use offshoot_session::session::Session;
use offshoot_session::store::{DirStore, id_in_name, unreadable};

use crate::filtering::agent_word;
use crate::gathering::Gathered;
use crate::hit::{Found, SearchHit};
use crate::line_check::LineCheck;
use crate::matching::{Fit, fit};
use crate::query::SearchQuery;
use crate::rank::{Ranked, score};
use crate::session_documents::{OpenPath, PlacedDocument, Selected, for_each_document};
use crate::snippet::Snippet;

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
    /// Whether the answer is no longer wanted. Then it is only a part of what there is.
    pub is_over: &'a (dyn Fn() -> bool + Sync),
}

impl std::fmt::Debug for SearchedPlace<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchedPlace").field("store", self.store).finish_non_exhaustive()
    }
}

/// Finds what fits a query in all sessions of a place. `skip` hits are passed over before the first one.
///
/// # Errors
/// The store's own root cannot be read. Sessions that cannot be read are diagnostics.
pub fn scan(place: SearchedPlace<'_>, query: &SearchQuery, skip: usize) -> Result<Found> {
    let files = files(place.store, &query.filters.folders)?;
    let gathered = Mutex::new(Gathered::new(query, skip));
    let scanned = scan_files(place, query, &files, None, &gathered);
    let found = gathered.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
    let Scanned { sessions, left_out, diagnostics } = scanned;
    let all = if query.filters.folders.is_empty() { files } else { place.store.recent_files(None)? };
    let session_ids = ids_in_names(&all);
    Ok(Found { is_least: (place.is_over)(), sessions, left_out, session_ids, diagnostics, ..found })
}

/// The ids that the names of files say.
pub(crate) fn ids_in_names<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Vec<String> {
    files.into_iter().filter_map(|file| id_in_name(file)).map(str::to_owned).collect()
}

/// The sessions of some folders, or all, those of each folder newest first.
fn files(store: &DirStore, folders: &[String]) -> Result<Vec<PathBuf>> {
    let [first, others @ ..] = folders else { return store.recent_files(None) };
    let mut files = store.recent_files(Some(first))?;
    for folder in others {
        files.extend(store.recent_files(Some(folder))?);
    }
    // Sessions of one root may be found for any folder.
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    Ok(files)
}

/// What a scan read.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    pub(crate) sessions: usize,
    pub(crate) left_out: usize,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// What stands for the words of a hit beside hits of the index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UsualRank {
    pub(crate) words: f64,
    pub(crate) now: Millis,
}

/// Adds the hits of some sessions. Without a rank there are only times.
pub(crate) fn scan_files(
    place: SearchedPlace<'_>,
    query: &SearchQuery,
    files: &[PathBuf],
    rank: Option<UsualRank>,
    gathered: &Mutex<Gathered>,
) -> Scanned {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let check = LineCheck::of(query);
    let searching = Searching { place, query, check: &check, rank };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(files.len());
    let scanned = Mutex::new(Scanned::default());
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)).filter(|_| !(place.is_over)()) {
                    let hits = searching.one(file);
                    let hits = scanned.lock().unwrap_or_else(PoisonError::into_inner).take(hits);
                    let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
                    hits.into_iter().for_each(|hit| gathered.add(hit));
                    gathered.shrink();
                    drop(gathered);
                    (place.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, files.len());
                }
            });
        }
    });
    scanned.into_inner().unwrap_or_else(PoisonError::into_inner)
}

struct Searching<'a> {
    place: SearchedPlace<'a>,
    query: &'a SearchQuery,
    check: &'a LineCheck,
    rank: Option<UsualRank>,
}

/// The hits of one session, and how many entries were too long; `None` if the filters leave it out.
type OfSession = Result<Option<(Vec<SearchHit>, usize)>>;

impl Searching<'_> {
    fn one(&self, file: &Path) -> OfSession {
        let flavour = self.place.store.root_of(file).map(|root| root.flavour);
        let session = (self.place.open)(file)?;
        let filters = &self.query.filters;
        if !filters.takes_folder(session.cwd()) || !filters.takes_session(agent_word(flavour), session.id()) {
            return Ok(None);
        }
        let mut fits = Vec::new();
        let selected =
            Selected { from: 0, can_matter: Some(&|line| self.check.can_matter(line)), mask: self.place.mask };
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
        let hit = |(placed, fit): (PlacedDocument, Fit)| {
            let offset = placed.node.map_or(0, |ix| session.tree().node(ix).offset());
            let hit = SearchHit {
                path: PathBuf::from(file),
                session: session.id().to_owned(),
                title: title.clone(),
                folder: session.cwd().map(str::to_owned),
                flavour,
                entry: placed.entry,
                kind: placed.document.kind,
                tool: placed.document.tool,
                is_error: placed.document.is_error,
                at: placed.at,
                offset,
                is_on_path: path.has(placed.node),
                is_compacted: path.has_compacted(placed.node),
                is_inside: fit.is_inside,
                snippet: Snippet::of(&placed.document.text, &fit.places),
                score: 0.0,
                also_in: Vec::new(),
                number: placed.number,
                text: placed.hash,
            };
            SearchHit { score: self.rank.map_or(0.0, |usual| usual.score(&hit)), ..hit }
        };
        let hits = fits.into_iter().map(hit);
        let hits = hits.filter(|hit| !self.query.filters.is_on_path || hit.is_on_path).collect();
        Ok(Some((hits, left_out)))
    }
}

impl UsualRank {
    fn score(self, hit: &SearchHit) -> f64 {
        let (kind, at, is_on_path) = (hit.kind, hit.at, hit.is_on_path);
        score(Ranked { words: self.words, kind, at, is_on_path, is_adjacent: false }, self.now)
    }
}

impl Scanned {
    fn take(&mut self, hits: OfSession) -> Vec<SearchHit> {
        match hits {
            Ok(Some((hits, left_out))) => {
                self.sessions += 1;
                self.left_out += left_out;
                return hits;
            }
            Ok(None) => {}
            Err(error) => self.diagnostics.push(unreadable(&error)),
        }
        Vec::new()
    }
}
