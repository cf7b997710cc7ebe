//! The SQLite file: opening, making, and what it is made of.

use std::fs;
use std::path::Path;
use std::time::Duration;

use offshoot_catalogue::cache_file::{
    self, CacheExamination, CacheHealth, is_damage, is_remote, make_place, remove, stamp, version,
};
use offshoot_session::medium::Stamp;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

/// The name of the file in the cache folder. Another schema has another name.
pub(super) const FILE: &str = "search-v2.sqlite";
/// Marks the tables as made whole.
const VERSION: i64 = 2;
/// How long to wait for another process.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// How many bytes of words SQLite gathers before it writes them: fewer pieces are merged later.
const HASH_SIZE: usize = 16 << 20;
/// How many pieces are merged at once: more are written again less often.
const MERGED: usize = 16;
/// How many KiB of the file's pages are kept in memory while it is written: merges read what was just written.
const PAGES_KEPT: i64 = 64 << 10;
/// The same while a search reads it: rows that are far apart, each once. Memory that is used again costs no fault of a page.
const PAGES_READ: i64 = 2 << 10;

/// `fts` has the words of each document, the parts of its identifiers, and words for its kind; the words are separated, folded
/// and paired before, so the tokenizer only cuts at blanks. Its row ids are those of `doc`, in the order of time.
///
/// `part` has the trigrams of each block: neighbouring documents of one session, from one place in its file to another. The
/// names of a session are a block of their own, whose places are [`OF_NAMES`]. `in_blocks` of a session counts the entries
/// that have blocks: words come first. `is_named` says that the name of the file has the session's id.
///
/// `session_folder` has the folders of the files of `source`, with a digest of the files if `source` has all of them as they are.
const TABLES: &str = "
    CREATE TABLE source (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, agent TEXT NOT NULL, session TEXT NOT NULL,
        folder TEXT, title TEXT, old INTEGER NOT NULL, left_out INTEGER NOT NULL, device INTEGER, inode INTEGER, length INTEGER, modified INTEGER,
        changed INTEGER, settled INTEGER NOT NULL, entries INTEGER NOT NULL, last TEXT, end INTEGER NOT NULL,
        tail_hash INTEGER NOT NULL, in_blocks INTEGER NOT NULL, folder_path BLOB NOT NULL, is_named INTEGER NOT NULL);
    CREATE INDEX source_folder ON source (folder_path);
    CREATE INDEX source_lacking ON source (path) WHERE in_blocks < entries;
    CREATE INDEX source_cut ON source (path, left_out) WHERE left_out > 0;
    CREATE INDEX source_unnamed ON source (session) WHERE NOT is_named;
    CREATE TABLE session_folder (path BLOB PRIMARY KEY, digest INTEGER) WITHOUT ROWID;
    CREATE TRIGGER source_put AFTER INSERT ON source BEGIN
        INSERT OR REPLACE INTO session_folder (path, digest) VALUES (new.folder_path, NULL);
    END;
    CREATE TRIGGER source_gone AFTER DELETE ON source BEGIN
        UPDATE session_folder SET digest = NULL WHERE path = old.folder_path;
    END;
    CREATE TABLE doc (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, entry TEXT, offset INTEGER NOT NULL,
        length INTEGER NOT NULL, kind INTEGER NOT NULL, number INTEGER NOT NULL, tool TEXT, model TEXT, files TEXT,
        time INTEGER, flags INTEGER NOT NULL, hash INTEGER NOT NULL);
    CREATE INDEX doc_source ON doc (source, offset);
    CREATE INDEX doc_cut ON doc (id) WHERE flags & 32;
    CREATE VIRTUAL TABLE fts USING fts5 (words, parts, kinds, content='', contentless_delete=1,
        tokenize=\"ascii tokenchars '_'\");
    CREATE TABLE block (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL);
    CREATE INDEX block_source ON block (source, first);
    CREATE VIRTUAL TABLE part USING fts5 (trigrams, content='', contentless_delete=1, detail=none, tokenize='ascii');";

/// The place of the block of a session's names.
pub(super) const OF_NAMES: i64 = -1;

pub(super) type Sqlite<T> = rusqlite::Result<T>;

/// Flags of a document.
pub(super) mod flag {
    pub(crate) const ERROR: i64 = 1;
    pub(crate) const PICTURE: i64 = 2;
    pub(crate) const INJECTED: i64 = 4;
    pub(crate) const OFF_PATH: i64 = 8;
    pub(crate) const COMPACTED: i64 = 16;
    /// Only the ends of the text are in the index.
    pub(crate) const CUT: i64 = 32;
    /// Those that a new leaf changes.
    pub(crate) const OF_PATH: i64 = OFF_PATH | COMPACTED;
}

/// An open index.
pub(super) struct Database {
    pub(super) connection: Connection,
    stamp: Option<Stamp>,
}

/// The state of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexState {
    /// Whether it can be used.
    pub health: CacheHealth,
    /// Bytes of the database file.
    pub size: u64,
    /// How many sessions it has.
    pub sessions: u64,
    /// How many documents it has.
    pub documents: u64,
}

impl Database {
    /// Opens or makes the database to write; `None` if neither works.
    pub(super) fn open(file: &Path) -> Option<Self> {
        make_place(file);
        if is_elsewhere(file) {
            return None;
        }
        let before = stamp(file);
        let connected = connect(file).or_else(|error| {
            if !is_damage(&error) {
                return Err(error);
            }
            remove(file, before);
            make_place(file);
            connect(file)
        });
        connected.ok().map(|connection| Self { connection, stamp: stamp(file) })
    }

    /// Opens it to read; `None` if there is none that is whole.
    pub(super) fn open_to_read(file: &Path) -> Option<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            (is_regular(file) && !is_elsewhere(file)).then(|| Connection::open_with_flags(file, flags).ok())??;
        connection.busy_timeout(PATIENCE).ok()?;
        connection.pragma_update(None, "cache_size", -PAGES_READ).ok()?;
        (version(&connection) == Ok(VERSION)).then(|| Self { connection, stamp: stamp(file) })
    }

    /// What was found, if it could be. A damaged file is removed: the next search makes it anew.
    pub(super) fn done<T>(self, file: &Path, found: Sqlite<T>) -> Option<T> {
        let Self { connection, stamp } = self;
        drop(connection);
        found
            .inspect_err(|error| {
                if is_damage(error) {
                    remove(file, stamp);
                }
            })
            .ok()
    }
}

/// Whether the file would be on another machine's file system.
fn is_elsewhere(file: &Path) -> bool {
    file.parent().is_some_and(is_remote)
}

fn is_regular(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok_and(|meta| meta.is_file())
}

fn connect(file: &Path) -> Sqlite<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if !is_regular(file) {
        return Err(rusqlite::Error::InvalidPath(file.to_path_buf()));
    }
    let mut connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(PATIENCE)?;
    if version(&connection)? != VERSION {
        connection.pragma_update(None, "journal_mode", "WAL")?;
        make_tables(&mut connection)?;
    }
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "cache_size", -PAGES_KEPT)?;
    Ok(connection)
}

fn make_tables(connection: &mut Connection) -> Sqlite<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if version(&transaction)? == VERSION {
        return Ok(()); // another process was quicker
    }
    // Another program's tables are not ours to touch: such a file counts as damaged.
    transaction.execute_batch(TABLES)?;
    for table in ["fts", "part"] {
        for (name, value) in [("hashsize", HASH_SIZE), ("automerge", MERGED)] {
            transaction.execute(&format!("INSERT INTO {table} ({table}, rank) VALUES ('{name}', {value})"), [])?;
        }
    }
    transaction.execute_batch(&format!("PRAGMA user_version = {VERSION};"))?;
    transaction.commit()
}

pub(super) fn state(file: &Path, examination: CacheExamination) -> IndexState {
    if is_elsewhere(file) {
        let health = CacheHealth::Unusable("the cache folder is on a network file system".to_owned());
        return IndexState { health, size: 0, sessions: 0, documents: 0 };
    }
    let (health, size, counts) = cache_file::state(file, (VERSION, examination), PATIENCE, |connection| {
        let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned);
        Ok((count("SELECT count(*) FROM source")?, count("SELECT count(*) FROM doc")?))
    });
    let (sessions, documents) = counts.unwrap_or_default();
    IndexState { health, size, sessions, documents }
}
