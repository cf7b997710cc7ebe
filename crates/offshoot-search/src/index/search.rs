//! One search: what the index answers, and a scan of the sessions that it does not have yet.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use offshoot_session::clock::Millis;

use super::asking::ask_words;
use super::database::{Database, Sqlite};
use super::expression::{expression, expression_of_words, may_be_inside};
use super::inside::ask_blocks;
use super::refresh::Refreshed;
use super::rows::{KnownIndex, Rows, SourceColumns};
use crate::gathering::Gathered;
use crate::hit::Found;
use crate::query::SearchQuery;
use crate::scan::{Scanned, SearchedPlace, UsualRank, scan_files};

pub(super) struct IndexSearch<'a> {
    pub(super) place: SearchedPlace<'a>,
    pub(super) query: &'a SearchQuery,
    pub(super) skip: usize,
    pub(super) now: Millis,
    pub(super) refreshed: &'a Refreshed,
}

impl IndexSearch<'_> {
    /// # Errors
    /// The database cannot be read.
    pub(super) fn ask(&self, database: &Database) -> Sqlite<Found> {
        // One snapshot for all questions.
        let snapshot = database.connection.unchecked_transaction()?;
        let sources = SourceColumns::read(database, self.place.store)?;
        let mut found = match expression(self.query) {
            Some(expression) => {
                let found = self.ask_whole_words((database, &sources), &expression)?;
                if found.count > 0 || !may_be_inside(self.query) {
                    found
                } else {
                    self.ask_parts((database, &sources), false)?
                }
            }
            None => {
                let words = expression_of_words(self.query);
                self.ask_parts((database, &sources), words.map_or(Ok(true), |words| has_rows(database, &words))?)?
            }
        };
        found.session_ids = sources.session_ids;
        drop(snapshot);
        found.diagnostics.extend(self.refreshed.diagnostics.iter().cloned());
        found.sessions = self.refreshed.sessions.saturating_sub(found.diagnostics.len());
        found.is_index_behind = !self.refreshed.unread.is_empty() || !self.refreshed.without_blocks.is_empty();
        found.is_least |= (self.place.is_over)();
        Ok(found)
    }

    fn ask_whole_words(&self, (database, sources): KnownIndex<'_>, expression: &str) -> Sqlite<Found> {
        let unread = &self.refreshed.unread;
        let rows = Rows::new((database, sources), self.place, self.query, unread)?;
        let found = ask_words(&rows, expression, if unread.is_empty() { self.skip } else { 0 }, self.now)?;
        if unread.is_empty() {
            return Ok(found);
        }
        let words: Vec<f64> = found.hits.iter().map(|hit| hit.score).collect();
        let words = words.get(words.len() / 2).copied().unwrap_or(1.0);
        let mut gathered = Gathered::new(self.query, self.skip);
        let rank = Some(UsualRank { words, now: self.now });
        let has_more = found.is_least || found.count > found.hits.len();
        found.hits.into_iter().for_each(|hit| gathered.add(hit));
        let (gathered, scanned) = self.scan_rest(unread, rank, gathered);
        let is_inside = !gathered.has_words();
        let merged = gathered.finish();
        // Without whole words everything is looked at again.
        let count = if is_inside { 0 } else { merged.count.max(found.count) };
        let left_out = found.left_out + scanned.left_out;
        Ok(Found { count, is_least: has_more, left_out, diagnostics: scanned.diagnostics, ..merged })
    }

    /// What is inside of words, or fits patterns. `has_whole` says that a document may have the whole words of the query.
    fn ask_parts(&self, (database, sources): KnownIndex<'_>, has_whole: bool) -> Sqlite<Found> {
        let Refreshed { unread, without_blocks, .. } = self.refreshed;
        let rest: HashSet<PathBuf> = unread.union(without_blocks).cloned().collect();
        let rows = Rows::new((database, sources), self.place, self.query, &rest)?;
        let mut gathered = Gathered::new(self.query, self.skip);
        let is_whole = ask_blocks(&rows, has_whole, &mut gathered)?;
        let here = rest.iter().filter(|path| self.place.store.root_of(path).is_some()).cloned().collect();
        let (gathered, scanned) = self.scan_rest(&here, None, gathered);
        let left_out = rows.left_out() + scanned.left_out;
        Ok(Found { is_least: !is_whole, left_out, diagnostics: scanned.diagnostics, ..gathered.finish() })
    }

    fn scan_rest(&self, rest: &HashSet<PathBuf>, rank: Option<UsualRank>, gathered: Gathered) -> (Gathered, Scanned) {
        if rest.is_empty() {
            return (gathered, Scanned::default());
        }
        let files: Vec<PathBuf> = rest.iter().cloned().collect();
        let gathered = Mutex::new(gathered);
        let scanned = scan_files(self.place, self.query, &files, rank, &gathered);
        (gathered.into_inner().unwrap_or_else(PoisonError::into_inner), scanned)
    }
}

fn has_rows(database: &Database, expression: &str) -> Sqlite<bool> {
    let mut query = database.connection.prepare("SELECT 1 FROM fts WHERE fts MATCH ?1 LIMIT 1")?;
    query.exists([expression])
}
