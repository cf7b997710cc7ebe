//! A query put to the index: the expression that SQLite understands, its rows, their rank, and the hits that are read back.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_session::clock::Millis;
use offshoot_session::id::EntryId;
use rusqlite::{Connection, Row, Statement, params};

use super::candidate::{Candidate, IndexedSession};
use super::database::{Database, Sqlite, flag};
use super::prepared::kind_word;
use super::reading::document;
use super::writing::IDS_OF_SECOND;
use crate::document::DocumentKind;
use crate::hit::{Found, SearchHit, by_order};
use crate::matching::fit;
use crate::query::{SearchQuery, SortOrder, SpokenBy, Term, TermWords};
use crate::rank::{Ranked, score};
use crate::scan::{SearchedPlace, USUAL_LIMIT};
use crate::snippet::Snippet;

/// How many of the newest rows are ranked; of titles and questions all are.
const RANKED: usize = 5000;

/// Documents of one second that are too many for its ids have those of later seconds: so far from theirs, in milliseconds.
const SPILL: Millis = 3_600_000;

/// The expression of a query; `None` for one that the words of the index cannot answer.
pub(super) fn expression(query: &SearchQuery) -> Option<String> {
    let words = |term: &Term| match term {
        Term::Words(words) => Some(phrase(words)),
        Term::Part(_) | Term::Pattern(_) => None,
    };
    let any = |terms: &[Term]| {
        let terms: Option<Vec<String>> = terms.iter().map(words).collect();
        terms.map(|terms| format!("({{words parts}} : ({}))", terms.join(" OR ")))
    };
    let mut parts: Vec<String> = query.all.iter().map(|terms| any(terms)).collect::<Option<_>>()?;
    parts.extend(kinds(query));
    if parts.is_empty() {
        parts.push("({kinds} : \"k\" *)".to_owned());
    }
    let mut expression = parts.join(" AND ");
    if !query.none.is_empty() {
        expression = format!("({expression}) NOT {}", any(&query.none)?);
    }
    Some(expression)
}

fn phrase(words: &TermWords) -> String {
    let star = if words.is_beginning { " *" } else { "" };
    format!("\"{}\"{star}", words.words.join(" "))
}

fn kinds(query: &SearchQuery) -> Vec<String> {
    let filters = &query.filters;
    let mut parts = Vec::new();
    if !filters.spoken_by.is_empty() {
        parts.push(format!("({{kinds}} : ({}))", kind_words(&|by| filters.spoken_by.contains(&by))));
    }
    for (is_wanted, word) in [(filters.is_error, "error"), (filters.has_picture, "image")] {
        if is_wanted {
            parts.push(format!("({{kinds}} : {word})"));
        }
    }
    parts
}

fn kind_words(is_wanted: &dyn Fn(SpokenBy) -> bool) -> String {
    let wanted = DocumentKind::ALL.iter().filter(|kind| kind.spoken_by().is_some_and(is_wanted));
    let words: Vec<String> = wanted.map(|kind| kind_word(*kind)).collect();
    words.join(" OR ")
}

/// Whether words of the query may be inside of other words.
pub(super) fn may_be_inside(query: &SearchQuery) -> bool {
    query.terms().any(|term| matches!(term, Term::Words(words) if !words.is_quoted))
}

/// The words of a query beside each other, if it is nothing but single words.
fn adjacent(query: &SearchQuery) -> Option<String> {
    let words = query.all.iter().map(|any| match any.as_slice() {
        [Term::Words(words)] if !words.is_beginning => Some(words.words.join(" ")),
        _ => None,
    });
    let words: Vec<String> = words.collect::<Option<_>>()?;
    (words.len() > 1).then(|| format!("{{words parts}} : \"{}\"", words.join(" ")))
}

/// The hits.
///
/// # Errors
/// The database cannot be read.
pub(super) fn ask(
    database: &Database,
    place: SearchedPlace<'_>,
    query: &SearchQuery,
    expression: &str,
    skip: usize,
    now: Millis,
) -> Sqlite<Found> {
    let connection = &database.connection;
    // One snapshot for all questions.
    let transaction = connection.unchecked_transaction()?;
    let documents = connection.prepare(&format!("{DOCUMENT} WHERE id = ?1"))?.into();
    let sources = connection.prepare("SELECT path, agent, session, folder, title, old FROM source WHERE id = ?1")?;
    let asking = Asking { connection, documents, sources: sources.into(), place, query, now };
    let found = asking.ask(expression, skip);
    drop(transaction);
    found
}

struct Asking<'a> {
    connection: &'a Connection,
    documents: RefCell<Statement<'a>>,
    sources: RefCell<Statement<'a>>,
    place: SearchedPlace<'a>,
    query: &'a SearchQuery,
    now: Millis,
}

/// What was looked at.
#[derive(Default)]
struct Gathered {
    candidates: Vec<Candidate>,
    sessions: HashMap<i64, Arc<IndexedSession>>,
    seen: HashSet<i64>,
}

impl Asking<'_> {
    fn ask(&self, expression: &str, skip: usize) -> Sqlite<Found> {
        let filters = &self.query.filters;
        let wanted = skip.saturating_add(filters.limit.unwrap_or(USUAL_LIMIT));
        let order = filters.sort.unwrap_or_default();
        let mut gathered = Gathered::default();
        let is_whole = self.gather(expression, order, wanted.max(RANKED), &mut gathered)?;
        if !is_whole && order == SortOrder::Rank {
            let titles = kind_words(&|by| matches!(by, SpokenBy::Title | SpokenBy::User));
            let titles = format!("({expression}) AND ({{kinds}} : ({titles}))");
            self.gather(&titles, order, RANKED, &mut gathered)?;
        }
        self.gather_cut(&mut gathered)?;
        let mut candidates = gathered.candidates;
        self.rank(&mut candidates, order)?;
        let mut candidates = without_copies(candidates);
        let mut found =
            Found { count: candidates.len(), is_least: !is_whole, left_out: self.left_out()?, ..Found::default() };
        let by = by_order(order);
        candidates.sort_by(|a, b| compare(a, b, order));
        for candidate in candidates {
            if found.hits.len() >= wanted {
                break;
            }
            match self.hit(candidate) {
                Some(hit) => found.hits.push(hit),
                // The file has changed since.
                None => found.count -= 1,
            }
        }
        found.hits.sort_by(by);
        found.hits.drain(..skip.min(found.hits.len()));
        Ok(found)
    }

    /// How many entries of the sessions here are too long to be searched.
    fn left_out(&self) -> Sqlite<usize> {
        let mut query = self.connection.prepare("SELECT path, left_out FROM source WHERE left_out > 0")?;
        let rows = query.query_map([], |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, i64>(1)?)))?;
        let mut sum = 0;
        for row in rows {
            let (path, count) = row?;
            let is_here = self.place.store.root_of(Path::new(OsStr::from_bytes(&path))).is_some();
            sum += if is_here { usize::try_from(count).unwrap_or_default() } else { 0 };
        }
        Ok(sum)
    }

    /// Gathers the rows of an expression that pass the filters, at least so many if there are. Returns whether these are all.
    fn gather(&self, expression: &str, order: SortOrder, least: usize, gathered: &mut Gathered) -> Sqlite<bool> {
        let filters = &self.query.filters;
        let second = |at: Millis| at.div_euclid(1000).max(0).saturating_mul(1 << IDS_OF_SECOND);
        let (mut first, mut last) =
            (filters.since.map_or(0, second), filters.until.map_or(i64::MAX, |at| second(at.saturating_add(SPILL))));
        let (direction, is_old_first) = if order == SortOrder::Old { ("ASC", true) } else { ("DESC", false) };
        let mut query = self.connection.prepare(&format!(
            "SELECT rowid, bm25(fts, 1.0, 0.4, 0.0) FROM fts WHERE fts MATCH ?1 AND rowid BETWEEN ?2 AND ?3
             ORDER BY rowid {direction} LIMIT ?4"
        ))?;
        loop {
            let window = i64::try_from(RANKED).unwrap_or(i64::MAX);
            let rows =
                query.query_map(params![expression, first, last, window], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let rows: Vec<(i64, f64)> = rows.collect::<Sqlite<_>>()?;
            for (id, words) in &rows {
                self.look_at(*id, -words, gathered)?;
            }
            let Some((end, _)) = rows.last().filter(|_| rows.len() == RANKED) else { return Ok(true) };
            if gathered.candidates.len() >= least {
                return Ok(false);
            }
            if is_old_first { first = end + 1 } else { last = end - 1 }
        }
    }

    fn look_at(&self, id: i64, words: f64, gathered: &mut Gathered) -> Sqlite<()> {
        if !gathered.seen.insert(id) {
            return Ok(());
        }
        let mut query = self.documents.borrow_mut();
        let mut rows = query.query([id])?;
        if let Some(row) = rows.next()? {
            gathered.candidates.extend(self.candidate(row, words, &mut gathered.sessions)?);
        }
        Ok(())
    }

    /// Long documents have only their ends in the index: all of them are read.
    fn gather_cut(&self, gathered: &mut Gathered) -> Sqlite<()> {
        let mut query = self.connection.prepare(&format!("{DOCUMENT} WHERE flags & 32"))?;
        let mut rows = query.query([])?;
        gathered.candidates.retain(|candidate| candidate.flags & flag::CUT == 0);
        while let Some(row) = rows.next()? {
            let Some(candidate) = self.candidate(row, 1.0, &mut gathered.sessions)? else { continue };
            let text = document(self.place, &candidate);
            let fits = text.and_then(|document| fit(self.query, &document)).is_some_and(|fit| !fit.is_inside);
            if fits {
                gathered.candidates.push(candidate);
            }
        }
        Ok(())
    }

    /// A row as a candidate, if it passes the filters.
    fn candidate(
        &self,
        row: &Row<'_>,
        words: f64,
        sessions: &mut HashMap<i64, Arc<IndexedSession>>,
    ) -> Sqlite<Option<Candidate>> {
        let source: i64 = row.get(1)?;
        let session = match sessions.get(&source) {
            Some(known) => Arc::clone(known),
            None => {
                let read = Arc::new(self.session(source)?);
                sessions.insert(source, Arc::clone(&read));
                read
            }
        };
        let kind = usize::try_from(row.get::<_, i64>(5)?).ok().and_then(|at| DocumentKind::ALL.get(at).copied());
        let Some(kind) = kind else { return Ok(None) };
        let candidate = Candidate {
            id: row.get(0)?,
            source: session,
            entry: row.get(2)?,
            offset: row.get(3)?,
            length: row.get(4)?,
            kind,
            number: usize::try_from(row.get::<_, i64>(6)?).unwrap_or_default(),
            tool: row.get(7)?,
            at: row.get(10)?,
            flags: row.get(11)?,
            hash: row.get(12)?,
            words,
            also_in: Vec::new(),
            score: 0.0,
        };
        let (model, files): (Option<String>, Option<String>) = (row.get(8)?, row.get(9)?);
        Ok(self.takes(&candidate, model.as_deref(), files.as_deref()).then_some(candidate))
    }

    fn takes(&self, candidate: &Candidate, model: Option<&str>, files: Option<&str>) -> bool {
        let filters = &self.query.filters;
        let source = &candidate.source;
        let in_folder = filters.folder.is_none() || filters.folder == source.folder;
        in_folder
            && source.is_here
            && filters.takes_session(&source.agent, &source.session)
            && (!filters.is_on_path || candidate.flags & flag::OFF_PATH == 0)
            && filters.takes_facts(&mut crate::filtering::Facts {
                kind: candidate.kind,
                tool: candidate.tool.as_deref(),
                model,
                files: &mut files.unwrap_or_default().lines(),
                at: candidate.at,
                is_error: candidate.flags & flag::ERROR != 0,
                has_picture: candidate.flags & flag::PICTURE != 0,
                is_injected: candidate.flags & flag::INJECTED != 0,
            })
    }

    fn session(&self, id: i64) -> Sqlite<IndexedSession> {
        self.sources.borrow_mut().query_row([id], |row| {
            let path = PathBuf::from(OsStr::from_bytes(&row.get::<_, Vec<u8>>(0)?));
            Ok(IndexedSession {
                is_here: self.place.store.root_of(&path).is_some(),
                path,
                agent: row.get(1)?,
                session: row.get(2)?,
                folder: row.get(3)?,
                title: row.get(4)?,
                is_old: row.get(5)?,
            })
        })
    }

    fn rank(&self, candidates: &mut [Candidate], order: SortOrder) -> Sqlite<()> {
        if order != SortOrder::Rank {
            return Ok(());
        }
        let mut beside = HashSet::new();
        if let Some(expression) = adjacent(self.query) {
            let mut query = self.connection.prepare("SELECT rowid FROM fts WHERE fts MATCH ?1 ORDER BY rowid DESC")?;
            let rows = query.query_map([expression], |row| row.get::<_, i64>(0))?;
            beside = rows.take(RANKED).collect::<Sqlite<_>>()?;
        }
        for candidate in candidates {
            let ranked = Ranked {
                words: candidate.words,
                kind: candidate.kind,
                at: candidate.at,
                is_on_path: candidate.flags & flag::OFF_PATH == 0,
                is_adjacent: beside.contains(&candidate.id),
            };
            candidate.score = score(ranked, self.now);
        }
        Ok(())
    }

    fn hit(&self, candidate: Candidate) -> Option<SearchHit> {
        let document = document(self.place, &candidate)?;
        let fit = fit(self.query, &document)?;
        let source = &candidate.source;
        let is_on_path = candidate.flags & flag::OFF_PATH == 0;
        Some(SearchHit {
            path: source.path.clone(),
            session: source.session.clone(),
            title: source.title.clone(),
            folder: source.folder.clone(),
            flavour: self.place.store.root_of(&source.path).map(|root| root.flavour),
            entry: candidate.entry.as_deref().map(EntryId::new),
            kind: candidate.kind,
            tool: candidate.tool,
            is_error: candidate.flags & flag::ERROR != 0,
            at: candidate.at,
            offset: candidate.offset.cast_unsigned(),
            is_on_path,
            is_compacted: candidate.flags & flag::COMPACTED != 0,
            is_inside: fit.is_inside,
            snippet: Snippet::of(&document.text, &fit.places),
            score: candidate.score,
            also_in: candidate.also_in,
        })
    }
}

/// The columns of a document.
const DOCUMENT: &str =
    "SELECT id, source, entry, offset, length, kind, number, tool, model, files, time, flags, hash FROM doc";

fn compare(a: &Candidate, b: &Candidate, order: SortOrder) -> std::cmp::Ordering {
    let newer = || b.at.cmp(&a.at).then_with(|| a.source.path.cmp(&b.source.path)).then(a.offset.cmp(&b.offset));
    match order {
        SortOrder::Rank => b.score.total_cmp(&a.score).then_with(newer),
        SortOrder::New => newer(),
        SortOrder::Old => a.at.cmp(&b.at).then_with(newer),
    }
}

/// Copies of an entry become one: one on the path if there is, else that of the last path.
fn without_copies(candidates: Vec<Candidate>) -> Vec<Candidate> {
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
        let worth = |one: &Candidate| (one.flags & flag::OFF_PATH == 0, one.source.path.clone());
        if worth(&candidate) > worth(before) {
            std::mem::swap(before, &mut candidate);
            before.also_in = std::mem::take(&mut candidate.also_in);
        }
        if candidate.source.session != before.source.session {
            before.also_in.push(candidate.source.session.clone());
        }
    }
    for candidate in &mut kept {
        candidate.also_in.sort();
    }
    kept
}
