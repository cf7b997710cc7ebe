//! A query of parts of words and of patterns put to the index: blocks that can have them, the newest first, and their
//! documents, which are read.

use std::collections::HashSet;

use offshoot_session::clock::Millis;
use rusqlite::{Statement, params};

use super::candidate::Candidate;
use super::database::{OF_NAMES, Sqlite};
use super::prepared::kind_number;
use super::rows::{DOCUMENT, Rows};
use super::writing::{first_id, second_of_id};
use crate::document::DocumentKind;
use crate::gathering::Gathered;
use crate::required::required;

/// Adds the hits of blocks, until no older one can change the answer. `has_whole` says that a document may have the whole words
/// of the query: parts of words count only if none has. Returns whether all blocks were read.
///
/// # Errors
/// The database cannot be read.
pub(super) fn ask_blocks(rows: &Rows<'_>, has_whole: bool, gathered: &mut Gathered) -> Sqlite<bool> {
    let required = required(rows.query);
    let chosen = match &required {
        Some(_) => "SELECT rowid FROM part WHERE part MATCH ?2 AND rowid >= ?1 ORDER BY rowid DESC",
        None => "SELECT id FROM block WHERE id >= ?1 AND ?2 IS NULL ORDER BY id DESC",
    };
    let mut blocks = rows.connection.prepare(chosen)?;
    let mut asking = AskingBlocks::new(rows)?;
    // What was said since a time is in no block that ends before.
    let mut ids = blocks.query(params![rows.query.filters.since.map_or(0, first_id), required])?;
    while let Some(row) = ids.next()? {
        let id = row.get(0)?;
        let newest: Millis = second_of_id(id).saturating_add(1).saturating_mul(1000);
        if (gathered.has_words() || !has_whole) && gathered.has_enough(newest) || (rows.place.is_over)() {
            return Ok(false);
        }
        for candidate in asking.documents(id)? {
            if let Some((document, fit)) = rows.read(&candidate)? {
                gathered.add(rows.hit(candidate, &document, &fit)?);
            }
        }
        gathered.shrink();
    }
    Ok(true)
}

struct AskingBlocks<'a, 'd> {
    rows: &'a Rows<'d>,
    block: Statement<'d>,
    documents: Statement<'d>,
    seen: HashSet<i64>,
}

impl<'a, 'd> AskingBlocks<'a, 'd> {
    fn new(rows: &'a Rows<'d>) -> Sqlite<Self> {
        let names = kind_number(DocumentKind::User);
        Ok(Self {
            rows,
            block: rows.connection.prepare("SELECT source, first, last FROM block WHERE id = ?1")?,
            documents: rows.connection.prepare(&format!(
                "{DOCUMENT} WHERE source = ?1 AND offset BETWEEN ?2 AND ?3 AND (kind < {names}) = ?4"
            ))?,
            seen: HashSet::new(),
        })
    }

    /// The documents of a block that were not met before and pass the filters.
    fn documents(&mut self, block: i64) -> Sqlite<Vec<Candidate>> {
        let place = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let (source, first, last): (i64, i64, i64) = self.block.query_row([block], place)?;
        let is_names = first == OF_NAMES;
        let (first, last) = if is_names { (0, i64::MAX) } else { (first, last) };
        let mut rows = self.documents.query(params![source, first, last, is_names])?;
        let mut candidates = Vec::new();
        while let Some(row) = rows.next()? {
            if self.seen.insert(row.get(0)?) {
                // Hits inside of words are ordered by time, not by rank.
                candidates.extend(self.rows.candidate(row, 0.0)?);
            }
        }
        Ok(candidates)
    }
}
