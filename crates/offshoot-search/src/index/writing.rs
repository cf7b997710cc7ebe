//! Writes prepared sessions into the index, within a transaction.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;

use offshoot_session::clock::Millis;
use offshoot_session::store::id_in_name;
use rusqlite::{OptionalExtension as _, Statement, Transaction, params};

use super::blocks::PreparedBlock;
use super::database::{OF_NAMES, Sqlite, flag};
use super::known_end::KnownEnd;
use super::known_sources::folder_of;
use super::prepared::{DocumentWords, PreparedDocument, SessionHead, kind_number};
use crate::document::DocumentKind;
use crate::word_list::WordList;

/// How many bits of an id tell documents of one second apart; more than fit take the ids of the next ones.
const IDS_OF_SECOND: u32 = 8;

/// The statements of a transaction that writes, and what it has not written yet.
///
/// SQLite gathers words in memory as long as row ids rise, and a session that is older than the one before has lower ones. So words
/// and trigrams wait for [`IndexWriter::write_waiting`], which writes them in the order of their ids.
pub(super) struct IndexWriter<'t> {
    transaction: &'t Transaction<'t>,
    waiting_words: Vec<(i64, DocumentWords)>,
    waiting_trigrams: Vec<(i64, WordList)>,
    find_source: Statement<'t>,
    same_source: Statement<'t>,
    put_source: Statement<'t>,
    drop_words: Statement<'t>,
    drop_documents: Statement<'t>,
    last_id: Statement<'t>,
    put_document: Statement<'t>,
    put_words: Statement<'t>,
    drop_trigrams: Statement<'t>,
    drop_blocks: Statement<'t>,
    last_block: Statement<'t>,
    put_block: Statement<'t>,
    put_trigrams: Statement<'t>,
}

impl<'t> IndexWriter<'t> {
    pub(super) fn new(transaction: &'t Transaction<'t>) -> Sqlite<Self> {
        let statement = |sql: &str| transaction.prepare(sql);
        Ok(Self {
            transaction,
            waiting_words: Vec::new(),
            waiting_trigrams: Vec::new(),
            find_source: statement("SELECT id FROM source WHERE path = ?1")?,
            same_source: statement(
                "SELECT 1 FROM source
                 WHERE path = ?1 AND inode = ?2 AND length = ?3 AND modified = ?4 AND changed = ?5 AND settled",
            )?,
            put_source: statement(
                "INSERT OR REPLACE INTO source VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21)",
            )?,
            drop_words: statement(
                "DELETE FROM fts WHERE rowid IN (SELECT id FROM doc WHERE source = ?1 AND kind < ?2)",
            )?,
            drop_documents: statement("DELETE FROM doc WHERE source = ?1 AND kind < ?2")?,
            last_id: statement("SELECT max(id) FROM doc WHERE id >= ?1 AND id < ?2")?,
            put_document: statement(PUT_DOCUMENT)?,
            put_words: statement(PUT_WORDS)?,
            drop_trigrams: statement(
                "DELETE FROM part WHERE rowid IN (SELECT id FROM block WHERE source = ?1 AND first BETWEEN ?2 AND ?3)",
            )?,
            drop_blocks: statement("DELETE FROM block WHERE source = ?1 AND first BETWEEN ?2 AND ?3")?,
            last_block: statement("SELECT max(id) FROM block WHERE id >= ?1 AND id < ?2")?,
            put_block: statement(
                "INSERT INTO block (id, source, first, last) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) DO NOTHING",
            )?,
            put_trigrams: statement("INSERT INTO part (rowid, trigrams) VALUES (?1, ?2)")?,
        })
    }

    /// Removes a session.
    pub(super) fn forget(&mut self, source: i64) -> Sqlite<()> {
        self.forget_documents(source, i64::MAX)?;
        self.forget_blocks(source, OF_NAMES, i64::MAX)?;
        self.transaction.execute("DELETE FROM source WHERE id = ?1", [source])?;
        Ok(())
    }

    /// Makes room for what is new of a session, or for all of it. Until [`IndexWriter::end`] the index does not count it as read.
    /// `None` if another process has written it meanwhile.
    pub(super) fn begin(&mut self, head: &SessionHead) -> Sqlite<Option<i64>> {
        let path = head.path.as_os_str().as_bytes();
        if self.is_written(head)? {
            return Ok(None);
        }
        let known: Option<i64> = self.find_source.query_row([path], |row| row.get(0)).optional()?;
        if let Some(source) = known {
            // Names and labels are read again each time.
            let (below, last) =
                if head.from > 0 { (kind_number(DocumentKind::User), OF_NAMES) } else { (i64::MAX, i64::MAX) };
            self.forget_documents(source, below)?;
            self.forget_blocks(source, OF_NAMES, last)?;
            if head.from > 0 {
                self.move_leaf(source, &head.places)?;
            }
        }
        self.put_source(known, head, None)?;
        Ok(Some(known.unwrap_or_else(|| self.transaction.last_insert_rowid())))
    }

    fn is_written(&mut self, head: &SessionHead) -> Sqlite<bool> {
        let Some(stamp) = head.stamp.filter(|_| head.is_settled) else { return Ok(false) };
        let (length, modified, changed) = (stamp.length.cast_signed(), stamp.modified, stamp.changed);
        let path = head.path.as_os_str().as_bytes();
        self.same_source.exists(params![path, stamp.inode.cast_signed(), length, modified, changed])
    }

    /// Takes documents of a session.
    pub(super) fn add(&mut self, source: i64, documents: Vec<PreparedDocument>) -> Sqlite<()> {
        documents.into_iter().try_for_each(|document| self.add_document(source, document))
    }

    /// Writes the words and trigrams of everything that was taken. The transaction is not whole without it.
    pub(super) fn write_waiting(&mut self) -> Sqlite<()> {
        self.waiting_words.sort_unstable_by_key(|(id, _)| *id);
        for (id, words) in self.waiting_words.drain(..) {
            put_words(&mut self.put_words, id, &words)?;
        }
        self.waiting_trigrams.sort_unstable_by_key(|(id, _)| *id);
        for (id, trigrams) in self.waiting_trigrams.drain(..) {
            self.put_trigrams.execute(params![id, trigrams])?;
        }
        Ok(())
    }

    /// All documents of a session are written; so many entries were left out.
    pub(super) fn end(&mut self, source: i64, head: &SessionHead, left_out: usize) -> Sqlite<()> {
        self.put_source(Some(source), head, Some(left_out))
    }

    /// Removes the documents of a session whose kind has a number below this one.
    fn forget_documents(&mut self, source: i64, below: i64) -> Sqlite<()> {
        self.drop_words.execute(params![source, below])?;
        self.drop_documents.execute(params![source, below])?;
        Ok(())
    }

    /// Removes the blocks of a session that begin at these places in its file.
    fn forget_blocks(&mut self, source: i64, first: i64, last: i64) -> Sqlite<()> {
        self.drop_trigrams.execute([source, first, last])?;
        self.drop_blocks.execute([source, first, last])?;
        Ok(())
    }

    /// Makes room for the blocks of a session from a place in its file on.
    pub(super) fn begin_blocks(&mut self, source: i64, from: i64) -> Sqlite<()> {
        self.forget_blocks(source, from, i64::MAX)
    }

    /// Takes blocks of a session.
    pub(super) fn add_blocks(&mut self, source: i64, blocks: Vec<PreparedBlock>) -> Sqlite<()> {
        for block in blocks {
            let mut id = first_free(&mut self.last_block, block.at)?;
            while self.put_block.execute(params![id, source, block.first, block.last])? == 0 {
                id += 1;
            }
            self.waiting_trigrams.push((id, block.trigrams));
        }
        Ok(())
    }

    /// So many entries of a session are in blocks.
    pub(super) fn end_blocks(&mut self, source: i64, entries: usize) -> Sqlite<()> {
        let entries = i64::try_from(entries).unwrap_or(i64::MAX);
        self.transaction.execute("UPDATE source SET in_blocks = ?2 WHERE id = ?1", [source, entries])?;
        Ok(())
    }

    /// `left_out` is `None` while documents are missing.
    fn put_source(&mut self, id: Option<i64>, head: &SessionHead, left_out: Option<usize>) -> Sqlite<()> {
        let none = KnownEnd::default();
        let is_whole = left_out.is_some();
        let (stamp, end) = (head.stamp.filter(|_| is_whole), if is_whole { &head.end } else { &none });
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.put_source.execute(params![
            id,
            head.path.as_os_str().as_bytes(),
            head.agent,
            head.session,
            head.folder,
            head.title,
            head.is_old,
            number(left_out.unwrap_or_default()),
            stamp.map(|stamp| stamp.device.cast_signed()),
            stamp.map(|stamp| stamp.inode.cast_signed()),
            stamp.map(|stamp| stamp.length.cast_signed()),
            stamp.map(|stamp| stamp.modified),
            stamp.map(|stamp| stamp.changed),
            is_whole && head.is_settled,
            number(end.entries),
            end.last,
            end.end.cast_signed(),
            end.check,
            number(if is_whole { head.in_blocks } else { 0 }),
            folder_of(&head.path),
            id_in_name(&head.path) == Some(head.session.as_str()),
        ])?;
        Ok(())
    }

    /// Puts what is on the path, and what is compacted, as a new leaf has it.
    fn move_leaf(&self, source: i64, places: &[(u64, i64)]) -> Sqlite<()> {
        let places: HashMap<u64, i64> = places.iter().copied().collect();
        let mut query = self.transaction.prepare("SELECT id, offset, flags FROM doc WHERE source = ?1")?;
        let number = |row: &rusqlite::Row<'_>, at: usize| row.get::<_, i64>(at);
        let rows = query.query_map([source], |row| Ok((number(row, 0)?, number(row, 1)?, number(row, 2)?)))?;
        let mut change = self.transaction.prepare("UPDATE doc SET flags = ?2 WHERE id = ?1")?;
        for (id, offset, flags) in rows.collect::<Sqlite<Vec<_>>>()? {
            let Some(of_path) = places.get(&offset.cast_unsigned()) else { continue };
            let now = flags & !flag::OF_PATH | of_path;
            if now != flags {
                change.execute(params![id, now])?;
            }
        }
        Ok(())
    }

    fn add_document(&mut self, source: i64, document: PreparedDocument) -> Sqlite<()> {
        let mut id = first_free(&mut self.last_id, document.time)?;
        while put_document(&mut self.put_document, (id, source), &document)? == 0 {
            id += 1;
        }
        self.waiting_words.push((id, document.words));
        Ok(())
    }
}

/// Inserts a document by [`put_document`].
pub(super) const PUT_DOCUMENT: &str =
    "INSERT INTO doc (id, source, entry, offset, length, kind, number, tool, model, files, time, flags, hash)
     VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13) ON CONFLICT (id) DO NOTHING";
/// Inserts its words by [`put_words`].
pub(super) const PUT_WORDS: &str = "INSERT INTO fts (rowid, words, parts, kinds) VALUES (?1, ?2, ?3, ?4)";

/// Returns how many rows were inserted: none if the id is taken.
pub(super) fn put_document(
    statement: &mut Statement<'_>,
    (id, source): (i64, i64),
    document: &PreparedDocument,
) -> Sqlite<usize> {
    statement.execute(params![
        id,
        source,
        document.entry,
        document.offset.cast_signed(),
        document.length.cast_signed(),
        kind_number(document.kind),
        i64::try_from(document.number).unwrap_or(i64::MAX),
        document.tool,
        document.model,
        document.files,
        document.time,
        document.flags,
        document.hash,
    ])
}

pub(super) fn put_words(statement: &mut Statement<'_>, id: i64, words: &DocumentWords) -> Sqlite<()> {
    statement.execute(params![id, words.words, words.parts, words.kinds]).map(drop)
}

/// The first id of a time. Ids are in the order of time, so that the newest rows are found first.
pub(super) fn first_id(at: Millis) -> i64 {
    (at.max(0) / 1000).saturating_mul(1 << IDS_OF_SECOND)
}

/// The second of an id.
pub(super) fn second_of_id(id: i64) -> i64 {
    id >> IDS_OF_SECOND
}

/// The first id that may be free.
fn first_free(last_id: &mut Statement<'_>, at: Option<i64>) -> Sqlite<i64> {
    let first = first_id(at.unwrap_or_default());
    let last: Option<i64> = last_id.query_row([first, first + (1 << IDS_OF_SECOND)], |row| row.get(0))?;
    Ok(last.map_or(first, |last| last + 1))
}
