//! What SQLite alone takes for the rows of an index: the floor of the benchmarks. Knows no search.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};

use super::blocks::{BlockMaker, PreparedBlock};
use super::database::{Database, Sqlite};
use super::prepared::{Prepared, PreparedDocument, ToPrepare, prepare};
use super::writing::{PUT_DOCUMENT, PUT_WORDS, put_document, put_words};
use crate::scan::SearchedPlace;

/// More than the index writes in one transaction, so that SQLite has less to merge.
const BATCH: usize = 48 << 20;

/// What was inserted, and how long SQLite took; the rows were prepared outside of that time.
#[derive(Debug, Clone, Copy, Default)]
pub struct BareInserts {
    /// Documents, with their words.
    pub documents: i64,
    /// The time of the documents.
    pub words: Duration,
    /// Blocks, with their trigrams.
    pub blocks: i64,
    /// The time of the blocks.
    pub trigrams: Duration,
}

/// Inserts the rows of all sessions of a place into a new index file, one after another, first all documents and then all blocks.
/// `clock` tells the time that has passed.
///
/// # Errors
/// A session cannot be read, or the file cannot be written.
pub fn insert_bare(
    place: SearchedPlace<'_>,
    file: &Path,
    clock: &dyn Fn() -> Duration,
) -> Result<BareInserts, Box<dyn Error>> {
    let mut database = Database::open(file).ok_or("cannot make the index file")?;
    let mut inserts = BareInserts::default();
    let mut documents = Vec::new();
    for_each_piece(place, false, &mut |piece, is_last| {
        documents.extend(if let Some(Prepared::Documents(new)) = piece { new } else { Vec::new() });
        if is_last || documents.iter().map(PreparedDocument::weight).sum::<usize>() >= BATCH {
            let before = clock();
            insert_documents(&mut database.connection, &mut inserts.documents, &documents)?;
            inserts.words += clock().saturating_sub(before);
            documents.clear();
        }
        Ok(())
    })?;
    let mut blocks = Vec::new();
    for_each_piece(place, true, &mut |piece, is_last| {
        blocks.extend(if let Some(Prepared::Blocks(new)) = piece { new } else { Vec::new() });
        if is_last || blocks.iter().map(|block: &PreparedBlock| block.trigrams.len()).sum::<usize>() >= BATCH {
            let before = clock();
            insert_blocks(&mut database.connection, &mut inserts.blocks, &blocks)?;
            inserts.trigrams += clock().saturating_sub(before);
            blocks.clear();
        }
        Ok(())
    })?;
    Ok(inserts)
}

/// Passes what is prepared of each session to `each`, and nothing at the end.
fn for_each_piece(
    place: SearchedPlace<'_>,
    with_blocks: bool,
    each: &mut dyn FnMut(Option<Prepared>, bool) -> Sqlite<()>,
) -> Result<(), Box<dyn Error>> {
    let mut maker = BlockMaker::new();
    for path in place.store.recent_files(None)? {
        let session = (place.open)(&path)?;
        let task =
            ToPrepare { path: &path, agent: "", stamp: None, is_settled: true, known: None, in_blocks: 0, with_blocks };
        let mut inserted = Ok(());
        prepare(&session, &task, &mut maker, place.mask, &mut |piece| {
            inserted = each(Some(piece), false);
            inserted.is_ok()
        })?;
        inserted?;
    }
    Ok(each(None, true)?)
}

fn insert_documents(connection: &mut Connection, last: &mut i64, documents: &[PreparedDocument]) -> Sqlite<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    {
        let (mut row, mut words) = (transaction.prepare(PUT_DOCUMENT)?, transaction.prepare(PUT_WORDS)?);
        for document in documents {
            *last += 1;
            put_document(&mut row, (*last, 1), document)?;
            put_words(&mut words, *last, &document.words)?;
        }
    }
    transaction.commit()
}

fn insert_blocks(connection: &mut Connection, last: &mut i64, blocks: &[PreparedBlock]) -> Sqlite<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    {
        let mut place = transaction.prepare("INSERT INTO block (id, source, first, last) VALUES (?1, 1, ?2, ?3)")?;
        let mut trigrams = transaction.prepare("INSERT INTO part (rowid, trigrams) VALUES (?1, ?2)")?;
        for block in blocks {
            *last += 1;
            place.execute(params![*last, block.first, block.last])?;
            trigrams.execute(params![*last, block.trigrams])?;
        }
    }
    transaction.commit()
}

/// How many of the best 30 documents SQLite finds for an expression of FTS5 in the words of an index.
///
/// # Errors
/// The file is no index, or the expression is none.
pub fn query_bare(file: &Path, expression: &str) -> Result<usize, Box<dyn Error>> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut query =
        connection.prepare("SELECT rowid FROM fts WHERE fts MATCH ?1 ORDER BY bm25(fts, 1.0, 0.4, 0.0) LIMIT 30")?;
    let found = query.query_map([expression], |row| row.get::<_, i64>(0))?.collect::<Sqlite<Vec<_>>>()?;
    Ok(found.len())
}
