//! The SQLite file: opening, making, and what it is made of.

use std::fs;
use std::path::Path;
use std::time::Duration;

use offshoot_catalogue::cache_file::{is_damage, make_place, remove, stamp};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

/// The name of the file in the cache folder. Another schema has another name.
pub(super) const FILE: &str = "search-v1.sqlite";
/// Marks the tables as made whole.
const VERSION: i64 = 1;
/// How long to wait for another process.
const PATIENCE: Duration = Duration::from_secs(2);

/// `fts` has the words of each document, the parts of its identifiers, and words for its kind; the words are separated, folded
/// and paired before, so the tokenizer only cuts at blanks. Its row ids are those of `doc`, in the order of time.
const TABLES: &str = "
    CREATE TABLE source (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, agent TEXT NOT NULL, session TEXT NOT NULL,
        folder TEXT, title TEXT, old INTEGER NOT NULL, device INTEGER, inode INTEGER, length INTEGER, modified INTEGER,
        changed INTEGER, settled INTEGER NOT NULL, entries INTEGER NOT NULL, last TEXT, last_offset INTEGER NOT NULL);
    CREATE TABLE doc (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, entry TEXT, offset INTEGER NOT NULL,
        length INTEGER NOT NULL, kind INTEGER NOT NULL, number INTEGER NOT NULL, tool TEXT, model TEXT, files TEXT,
        time INTEGER, flags INTEGER NOT NULL, hash INTEGER NOT NULL);
    CREATE INDEX doc_source ON doc (source);
    CREATE INDEX doc_cut ON doc (id) WHERE flags & 32;
    CREATE VIRTUAL TABLE fts USING fts5 (words, parts, kinds, content='', contentless_delete=1,
        tokenize=\"ascii tokenchars '_'\");";

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
}

/// The state of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexState {
    /// Whether it can be used.
    pub health: IndexHealth,
    /// Bytes of the database file.
    pub size: u64,
    /// How many sessions it has.
    pub sessions: u64,
    /// How many documents it has.
    pub documents: u64,
}

/// Whether an index can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others say it")]
pub enum IndexHealth {
    /// It does not exist yet.
    Absent,
    Sound,
    /// It is damaged and will be made anew.
    Damaged(String),
    /// It cannot be opened. Searches work without it.
    Unusable(String),
}

impl Database {
    /// Opens or makes the database to write; `None` if neither works.
    pub(super) fn open(file: &Path) -> Option<Self> {
        make_place(file);
        let before = stamp(file);
        let connected = connect(file).or_else(|error| {
            if !is_damage(&error) {
                return Err(error);
            }
            remove(file, before);
            make_place(file);
            connect(file)
        });
        connected.ok().map(|connection| Self { connection })
    }

    /// Opens it to read; `None` if there is none that is whole.
    pub(super) fn open_to_read(file: &Path) -> Option<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = is_regular(file).then(|| Connection::open_with_flags(file, flags).ok())??;
        connection.busy_timeout(PATIENCE).ok()?;
        (version(&connection) == Ok(VERSION)).then_some(Self { connection })
    }
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
    Ok(connection)
}

fn version(connection: &Connection) -> Sqlite<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn make_tables(connection: &mut Connection) -> Sqlite<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if version(&transaction)? == VERSION {
        return Ok(()); // another process was quicker
    }
    // Another program's tables are not ours to touch: such a file counts as damaged.
    transaction.execute_batch(&format!("{TABLES} PRAGMA user_version = {VERSION};"))?;
    transaction.commit()
}

pub(super) fn state(file: &Path) -> IndexState {
    let state = |health, size| IndexState { health, size, sessions: 0, documents: 0 };
    let size = match fs::symlink_metadata(file) {
        Ok(meta) if meta.is_file() => meta.len(),
        Ok(_) => return state(IndexHealth::Unusable("it is no regular file".to_owned()), 0),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return state(IndexHealth::Absent, 0),
        Err(error) => return state(IndexHealth::Unusable(error.to_string()), 0),
    };
    if size == 0 {
        return state(IndexHealth::Absent, 0);
    }
    match counts(file) {
        Ok((sessions, documents)) => IndexState { health: IndexHealth::Sound, size, sessions, documents },
        Err(error) if is_damage(&error) => state(IndexHealth::Damaged(error.to_string()), size),
        Err(error) => state(IndexHealth::Unusable(error.to_string()), size),
    }
}

fn counts(file: &Path) -> Sqlite<(u64, u64)> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(PATIENCE)?;
    let verdict: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if verdict != "ok" {
        let corrupt = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        return Err(rusqlite::Error::SqliteFailure(corrupt, Some(verdict)));
    }
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned);
    Ok((count("SELECT count(*) FROM source")?, count("SELECT count(*) FROM doc")?))
}
