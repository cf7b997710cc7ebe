//! A query of words put to the index: its rows, their rank, and the best hits.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use offshoot_session::clock::Millis;
use rusqlite::{Statement, params};

use super::beginnings::Beginnings;
use super::candidate::Candidate;
use super::common::RankedBy;
use super::database::{Sqlite, flag};
use super::expression::{EVERYTHING, adjacent, kind_words};
use super::reading::{LastFile, document};
use super::rows::{DOCUMENT, Rows};
use super::writing::first_id;
use crate::document::DocumentKind;
use crate::hit::{Found, by_order};
use crate::matching::fit;
use crate::query::{SortOrder, SpokenBy, USUAL_LIMIT};
use crate::rank::{Ranked, score};
use crate::required::required;

/// How many of the newest rows are ranked; of titles and questions all are.
const RANKED: usize = 5000;
/// Without a rank by words, newness decides more: so many are enough.
const RANKED_BY_TIME: usize = 1000;
/// At most so many rows are read at once.
const LARGEST_WINDOW: usize = 256_000;
/// Of so many of the best it is checked whether they have the words beside each other.
const CHECKED_BESIDE: usize = 200;
/// In bytes.
const SHORT_LINE: i64 = 64 << 10;

/// Documents of one second that are too many for its ids have those of later seconds: so far from theirs, in milliseconds.
const SPILL: Millis = 3_600_000;

/// What was looked at.
#[derive(Default)]
struct LookedAt {
    candidates: Vec<Candidate>,
    seen: HashSet<i64>,
}

/// The hits of an expression of words.
///
/// # Errors
/// The database cannot be read.
pub(super) fn ask_words(rows: &Rows<'_>, expression: &str, skip: usize, now: Millis) -> Sqlite<Found> {
    let is_ranked = rows.query.filters.sort.unwrap_or_default() == SortOrder::Rank;
    let beginnings = Beginnings::of(rows.query, rows.connection)?;
    let by = if is_ranked { RankedBy::of(rows.query, rows.connection, &beginnings)? } else { RankedBy::None };
    // A beginning that ranks counts as one word.
    let in_full = if matches!(by, RankedBy::All) { expression.to_owned() } else { beginnings.in_full(expression) };
    Asking { rows, now, by }.ask(&in_full, skip)
}

struct Asking<'a, 'd> {
    rows: &'a Rows<'d>,
    now: Millis,
    by: RankedBy,
}

impl Asking<'_, '_> {
    fn ask(&self, expression: &str, skip: usize) -> Sqlite<Found> {
        let filters = &self.rows.query.filters;
        let wanted = skip.saturating_add(filters.limit.unwrap_or(USUAL_LIMIT));
        let order = filters.sort.unwrap_or_default();
        let mut gathered = LookedAt::default();
        let window = self.window();
        let is_whole = self.gather(expression, order, (window, wanted.max(window)), &mut gathered)?;
        if !is_whole && order == SortOrder::Rank {
            let titles = kind_words(&|by| matches!(by, SpokenBy::Title | SpokenBy::User));
            let titles = format!("({{kinds}} : ({titles}))");
            let titles = if expression == EVERYTHING { titles } else { format!("{titles} AND ({expression})") };
            // Where newness decides, the newest ones do.
            let titled = if matches!(self.by, RankedBy::None) { wanted.saturating_mul(2) } else { window };
            self.gather(&titles, order, (titled, titled), &mut gathered)?;
            if let RankedBy::Some(rare) = &self.by {
                self.gather(&format!("({expression}) AND ({rare})"), order, (window, window), &mut gathered)?;
            }
        }
        self.gather_cut(&mut gathered)?;
        let mut candidates = gathered.candidates;
        self.rank(&mut candidates, order)?;
        let mut candidates = self.without_copies(candidates)?;
        let mut found =
            Found { count: candidates.len(), is_least: !is_whole, left_out: self.rows.left_out(), ..Found::default() };
        let by = by_order(order);
        self.put_in_order(&mut candidates, order)?;
        for candidate in candidates {
            if found.hits.len() >= wanted {
                break;
            }
            match self.rows.read(&candidate)? {
                Some((document, fit)) => found.hits.push(self.rows.hit(candidate, &document, &fit)?),
                // The file has changed since.
                None => found.count -= 1,
            }
        }
        found.hits.sort_by(by);
        found.hits.drain(..skip.min(found.hits.len()));
        Ok(found)
    }

    /// Whether the answer is no longer wanted; asked now and then.
    fn is_over_at(&self, row: usize) -> bool {
        row.is_multiple_of(1024) && (self.rows.place.is_over)()
    }

    /// How many rows are read at once.
    fn window(&self) -> usize {
        if matches!(self.by, RankedBy::None) { RANKED_BY_TIME } else { RANKED }
    }

    /// Gathers the rows of an expression that pass the filters, at least so many if there are, `window` of them at once. Returns whether
    /// these are all.
    fn gather(
        &self,
        expression: &str,
        order: SortOrder,
        (window, least): (usize, usize),
        gathered: &mut LookedAt,
    ) -> Sqlite<bool> {
        let filters = &self.rows.query.filters;
        let (mut first, mut last) = (
            filters.since.map_or(0, first_id),
            filters.until.map_or(i64::MAX, |at| first_id(at.saturating_add(SPILL))),
        );
        let (direction, is_old_first) = if order == SortOrder::Old { ("ASC", true) } else { ("DESC", false) };
        if expression == EVERYTHING {
            return self.gather_all((first, last), direction, least, gathered);
        }
        let words = if matches!(self.by, RankedBy::All) { BM25 } else { "-1.0" };
        let mut query = self.rows.connection.prepare(&format!(
            "SELECT rowid, {words} FROM fts WHERE fts MATCH ?1 AND rowid BETWEEN ?2 AND ?3
             ORDER BY rowid {direction} LIMIT ?4"
        ))?;
        let mut window = window;
        loop {
            let limit = i64::try_from(window).unwrap_or(i64::MAX);
            let rows =
                query.query_map(params![expression, first, last, limit], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let rows: Vec<(i64, f64)> = rows.collect::<Sqlite<_>>()?;
            let scores = self.scores_of_some(&rows)?;
            for (at, (id, words)) in rows.iter().enumerate() {
                if self.is_over_at(at) {
                    return Ok(false);
                }
                self.look_at(*id, -scores.get(id).unwrap_or(words), gathered)?;
            }
            let Some((end, _)) = rows.last().filter(|_| rows.len() == window) else { return Ok(true) };
            if gathered.candidates.len() >= least {
                return Ok(false);
            }
            if is_old_first {
                first = end + 1;
            } else {
                last = end - 1;
            }
            // Where hardly any row passes, few questions are asked.
            window = window.saturating_mul(4).min(LARGEST_WINDOW);
        }
    }

    /// The same of all rows, without a question to SQLite's words.
    fn gather_all(
        &self,
        (first, last): (i64, i64),
        direction: &str,
        least: usize,
        gathered: &mut LookedAt,
    ) -> Sqlite<bool> {
        let sql = format!("{DOCUMENT} WHERE id BETWEEN ?1 AND ?2 ORDER BY id {direction}");
        let mut query = self.rows.connection.prepare(&sql)?;
        let mut rows = query.query([first, last])?;
        while let Some(row) = rows.next()? {
            if gathered.candidates.len() >= least || self.is_over_at(gathered.seen.len()) {
                return Ok(false);
            }
            if gathered.seen.insert(row.get(0)?) {
                gathered.candidates.extend(self.rows.candidate(row, 1.0)?);
            }
        }
        Ok(true)
    }

    /// What the words that are not common say of rows, where others are.
    fn scores_of_some(&self, rows: &[(i64, f64)]) -> Sqlite<HashMap<i64, f64>> {
        let RankedBy::Some(expression) = &self.by else { return Ok(HashMap::new()) };
        let (first, last) = (rows.iter().map(|row| row.0).min(), rows.iter().map(|row| row.0).max());
        let mut query = self
            .rows
            .connection
            .prepare(&format!("SELECT rowid, {BM25} FROM fts WHERE fts MATCH ?1 AND rowid BETWEEN ?2 AND ?3"))?;
        let scores = query.query_map(params![expression, first, last], |row| Ok((row.get(0)?, row.get(1)?)))?;
        scores.collect()
    }

    fn look_at(&self, id: i64, words: f64, gathered: &mut LookedAt) -> Sqlite<()> {
        if !gathered.seen.insert(id) {
            return Ok(());
        }
        gathered.candidates.extend(self.rows.of_id(id, words)?);
        Ok(())
    }

    /// Long documents have only their ends in the index: those are read whose blocks have what the query requires.
    fn gather_cut(&self, gathered: &mut LookedAt) -> Sqlite<()> {
        let mut query = self.rows.connection.prepare(&format!("{DOCUMENT} WHERE flags & 32"))?;
        let mut rows = query.query([])?;
        let required = required(self.rows.query);
        let mut may_have = required.as_ref().map(|_| self.rows.connection.prepare(MAY_HAVE)).transpose()?;
        gathered.candidates.retain(|candidate| candidate.flags & flag::CUT == 0);
        while let Some(row) = rows.next()? {
            let Some(candidate) = self.rows.candidate(row, 1.0)? else { continue };
            let may_have = match (&mut may_have, &required) {
                (Some(query), Some(required)) => may_have_in(query, &candidate, required)?,
                _ => true,
            };
            if may_have && self.rows.read(&candidate)?.is_some_and(|(_, fit)| !fit.is_inside) {
                gathered.candidates.push(candidate);
            }
        }
        Ok(())
    }

    fn rank(&self, candidates: &mut [Candidate], order: SortOrder) -> Sqlite<()> {
        if order != SortOrder::Rank {
            return Ok(());
        }
        let scored = |candidate: &Candidate, is_adjacent| {
            let ranked = Ranked {
                words: candidate.words,
                kind: candidate.kind,
                at: candidate.at,
                is_on_path: candidate.flags & flag::OFF_PATH == 0,
                is_adjacent,
            };
            score(ranked, self.now)
        };
        candidates.iter_mut().for_each(|candidate| candidate.score = scored(candidate, false));
        let Some((expression, phrase)) = adjacent(self.rows.query) else { return Ok(()) };
        self.put_in_order(candidates, order)?;
        let mut query = self.rows.connection.prepare("SELECT 1 FROM fts WHERE fts MATCH ?1 AND rowid = ?2")?;
        let mut last = LastFile::default();
        for candidate in candidates.iter_mut().take(CHECKED_BESIDE) {
            // Of common words, a short text tells it sooner than the index.
            let session = self.rows.session(candidate.source)?;
            let is_beside = if candidate.kind.is_name() || session.is_old || candidate.length > SHORT_LINE {
                query.exists(params![expression, candidate.id])?
            } else {
                document(self.rows.place, (candidate, &session), &mut last, &|_| true)
                    .is_some_and(|document| fit(&phrase, &document).is_some())
            };
            if is_beside {
                candidate.score = scored(candidate, true);
            }
        }
        Ok(())
    }

    /// The best first; of equal ones that of the first path, and the earlier in it. Only of equal ones the paths are read.
    fn put_in_order(&self, candidates: &mut [Candidate], order: SortOrder) -> Sqlite<()> {
        candidates.sort_by(|a, b| compare(a, b, order));
        for equal in candidates.chunk_by_mut(|a, b| compare(a, b, order).is_eq()) {
            if equal.iter().any(|candidate| equal.first().is_some_and(|first| first.source != candidate.source)) {
                let mut by_path = HashMap::new();
                for candidate in equal.iter() {
                    by_path.insert(candidate.source, self.rows.session(candidate.source)?);
                }
                let path = |candidate: &Candidate| by_path.get(&candidate.source).map(|session| &session.path);
                equal.sort_by(|a, b| path(a).cmp(&path(b)).then(a.offset.cmp(&b.offset)));
            } else {
                equal.sort_by_key(|candidate| candidate.offset);
            }
        }
        Ok(())
    }

    /// Copies of an entry become one: one on the path if there is, else that of the last path.
    fn without_copies(&self, candidates: Vec<Candidate>) -> Sqlite<Vec<Candidate>> {
        let mut kept: Vec<Candidate> = Vec::with_capacity(candidates.len());
        let mut known: HashMap<(String, DocumentKind, usize, i64), usize> = HashMap::new();
        for mut candidate in candidates {
            let key = candidate.entry.clone().map(|entry| (entry, candidate.kind, candidate.number, candidate.hash));
            let Some(at) = key.as_ref().and_then(|key| known.get(key).copied()) else {
                known.extend(key.map(|key| (key, kept.len())));
                kept.push(candidate);
                continue;
            };
            let Some(before) = kept.get_mut(at) else { continue };
            let (session, session_before) = (self.rows.session(candidate.source)?, self.rows.session(before.source)?);
            let is_on_path = |one: &Candidate| one.flags & flag::OFF_PATH == 0;
            let is_better = (is_on_path(&candidate), &session.path) > (is_on_path(before), &session_before.path);
            if is_better {
                std::mem::swap(before, &mut candidate);
                before.also_in = std::mem::take(&mut candidate.also_in);
            }
            if session.session != session_before.session {
                before.also_in.push(if is_better { &session_before } else { &session }.session.clone());
            }
        }
        for candidate in &mut kept {
            candidate.also_in.sort();
        }
        Ok(kept)
    }
}

/// What the words of an expression say of a row; less is better.
const BM25: &str = "bm25(fts, 1.0, 0.4, 0.0)";

/// Whether the blocks of a document can have something.
const MAY_HAVE: &str = "SELECT EXISTS (SELECT 1 FROM part WHERE part MATCH ?3 AND rowid = block.id)
    FROM doc JOIN block ON block.source = doc.source AND block.first BETWEEN 0 AND ?2 AND block.last >= ?2
    WHERE doc.id = ?1";

/// Asks [`MAY_HAVE`]. A document that has no block yet can.
fn may_have_in(query: &mut Statement<'_>, candidate: &Candidate, required: &str) -> Sqlite<bool> {
    let blocks = query.query_map(params![candidate.id, candidate.offset, required], |row| row.get::<_, bool>(0))?;
    let blocks: Vec<bool> = blocks.collect::<Sqlite<_>>()?;
    Ok(blocks.is_empty() || blocks.contains(&true))
}

/// Which of two comes first by score and time.
fn compare(a: &Candidate, b: &Candidate, order: SortOrder) -> Ordering {
    match order {
        SortOrder::Rank => b.score.total_cmp(&a.score).then(b.at.cmp(&a.at)),
        SortOrder::New => b.at.cmp(&a.at),
        SortOrder::Old => a.at.cmp(&b.at),
    }
}
