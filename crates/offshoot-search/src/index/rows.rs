//! The rows of the index: which may be hits, by what the query filters, and the hits that are read back from the sessions.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_session::id::EntryId;
use offshoot_session::store::DirStore;
use rusqlite::{Connection, Row, Statement};

use super::candidate::{Candidate, IndexedSession};
use super::database::{Database, Sqlite, flag};
use super::reading::{LastFile, document};
use crate::document::{Document, DocumentKind};
use crate::filtering::Facts;
use crate::hit::SearchHit;
use crate::line_check::LineCheck;
use crate::matching::{Fit, fit};
use crate::query::SearchQuery;
use crate::scan::SearchedPlace;
use crate::snippet::Snippet;

/// The columns of a document.
pub(super) const DOCUMENT: &str =
    "SELECT id, source, entry, offset, length, kind, number, tool, model, files, time, flags, hash FROM doc";

/// An open index, and what it says of all of its sessions.
pub(super) type KnownIndex<'a> = (&'a Database, &'a SourceColumns);

/// What an index says of all of its sessions, read at once.
pub(super) struct SourceColumns {
    /// The ids that are not in the names of the files.
    pub(super) session_ids: Vec<String>,
    /// The sessions with entries that are too long to be searched, and how many.
    left_out: Vec<(PathBuf, usize)>,
    /// Whether each is below a root of the store that is searched.
    are_all_here: bool,
}

impl SourceColumns {
    /// # Errors
    /// The database cannot be read.
    pub(super) fn read(database: &Database, store: &DirStore) -> Sqlite<Self> {
        let connection = &database.connection;
        let mut unnamed = connection.prepare("SELECT session FROM source WHERE NOT is_named")?;
        let session_ids = unnamed.query_map([], |row| row.get(0))?.collect::<Sqlite<_>>()?;
        let mut cut = connection.prepare("SELECT path, left_out FROM source WHERE left_out > 0")?;
        let left_out = cut.query_map([], |row| {
            let path = PathBuf::from(OsStr::from_bytes(row.get_ref(0)?.as_blob()?));
            Ok((path, usize::try_from(row.get::<_, i64>(1)?).unwrap_or_default()))
        })?;
        let left_out = left_out.collect::<Sqlite<_>>()?;
        let mut folders = connection.prepare("SELECT path FROM session_folder")?;
        let mut rows = folders.query([])?;
        let mut are_all_here = true;
        while let Some(row) = rows.next()? {
            let some_file = Path::new(OsStr::from_bytes(row.get_ref(0)?.as_blob()?)).join("_");
            are_all_here &= store.root_of(&some_file).is_some();
        }
        Ok(Self { session_ids, left_out, are_all_here })
    }
}

/// The rows of an open index.
pub(super) struct Rows<'a> {
    pub(super) connection: &'a Connection,
    sources_read: &'a SourceColumns,
    documents: RefCell<Statement<'a>>,
    sources: RefCell<Statement<'a>>,
    known: RefCell<HashMap<i64, Arc<IndexedSession>>>,
    pub(super) place: SearchedPlace<'a>,
    pub(super) query: &'a SearchQuery,
    check: LineCheck,
    last: RefCell<LastFile>,
    /// Files whose rows are not looked at.
    passed_over: &'a HashSet<PathBuf>,
    /// Whether every session can have hits.
    takes_all: bool,
}

impl<'a> Rows<'a> {
    /// # Errors
    /// The database has other tables.
    pub(super) fn new(
        (database, sources_read): KnownIndex<'a>,
        place: SearchedPlace<'a>,
        query: &'a SearchQuery,
        passed_over: &'a HashSet<PathBuf>,
    ) -> Sqlite<Self> {
        let connection = &database.connection;
        let documents = connection.prepare(&format!("{DOCUMENT} WHERE id = ?1"))?.into();
        let sources =
            connection.prepare("SELECT path, agent, session, folder, title, old FROM source WHERE id = ?1")?;
        let known = RefCell::default();
        let check = LineCheck::of(query);
        Ok(Self {
            connection,
            sources_read,
            documents,
            sources: sources.into(),
            known,
            place,
            query,
            check,
            last: RefCell::default(),
            passed_over,
            takes_all: sources_read.are_all_here && passed_over.is_empty() && query.filters.take_all_sessions(),
        })
    }

    /// The document of an id, if it passes the filters.
    pub(super) fn of_id(&self, id: i64, words: f64) -> Sqlite<Option<Candidate>> {
        let mut query = self.documents.borrow_mut();
        let mut rows = query.query([id])?;
        rows.next()?.map_or(Ok(None), |row| self.candidate(row, words))
    }

    /// How many entries of the sessions here are too long to be searched.
    pub(super) fn left_out(&self) -> usize {
        self.sources_read.left_out.iter().filter(|(path, _)| self.is_here(path)).map(|(_, count)| count).sum()
    }

    fn is_here(&self, path: &Path) -> bool {
        self.place.store.root_of(path).is_some() && !self.passed_over.contains(path)
    }

    /// A row as a candidate, if it passes the filters.
    pub(super) fn candidate(&self, row: &Row<'_>, words: f64) -> Sqlite<Option<Candidate>> {
        let source: i64 = row.get(1)?;
        if !self.takes_session(source)? {
            return Ok(None);
        }
        let kind = usize::try_from(row.get::<_, i64>(5)?).ok().and_then(|at| DocumentKind::ALL.get(at).copied());
        let Some(kind) = kind else { return Ok(None) };
        let candidate = Candidate {
            id: row.get(0)?,
            source,
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
        (!filters.is_on_path || candidate.flags & flag::OFF_PATH == 0)
            && filters.takes_facts(&mut Facts {
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

    /// Whether a session can have hits. Reads nothing of it if all can.
    fn takes_session(&self, id: i64) -> Sqlite<bool> {
        if self.takes_all {
            return Ok(true);
        }
        let (filters, session) = (&self.query.filters, self.session(id)?);
        Ok(session.is_here
            && filters.takes_folder(session.folder.as_deref())
            && filters.takes_session(&session.agent, &session.session))
    }

    /// The session of a candidate.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn session(&self, id: i64) -> Sqlite<Arc<IndexedSession>> {
        if let Some(known) = self.known.borrow().get(&id) {
            return Ok(Arc::clone(known));
        }
        let read = Arc::new(self.read_session(id)?);
        self.known.borrow_mut().insert(id, Arc::clone(&read));
        Ok(read)
    }

    fn read_session(&self, id: i64) -> Sqlite<IndexedSession> {
        self.sources.borrow_mut().query_row([id], |row| {
            let path = PathBuf::from(OsStr::from_bytes(&row.get::<_, Vec<u8>>(0)?));
            Ok(IndexedSession {
                is_here: self.is_here(&path),
                path,
                agent: row.get(1)?,
                session: row.get(2)?,
                folder: row.get(3)?,
                title: row.get(4)?,
                is_old: row.get(5)?,
            })
        })
    }

    /// The document as its session has it now, and how it fits; `None` if it does not.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn read(&self, candidate: &Candidate) -> Sqlite<Option<(Document, Fit)>> {
        let can_matter = |line: &[u8]| self.check.can_matter(line);
        let session = self.session(candidate.source)?;
        let document = document(self.place, (candidate, &session), &mut self.last.borrow_mut(), &can_matter);
        Ok(document.and_then(|document| fit(self.query, &document).map(|fit| (document, fit))))
    }

    /// A hit.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) fn hit(&self, candidate: Candidate, document: &Document, fit: &Fit) -> Sqlite<SearchHit> {
        let source = self.session(candidate.source)?;
        let is_on_path = candidate.flags & flag::OFF_PATH == 0;
        Ok(SearchHit {
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
            number: candidate.number,
            text: candidate.hash.cast_unsigned(),
        })
    }
}
