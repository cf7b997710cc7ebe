//! The SQLite file: opening, creating, reading and writing rows. Nothing here fails: without a database, every file is
//! read.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_session::medium::Stamp;
use offshoot_session::store::{Folder, FoundFile};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, TransactionBehavior, params};

use crate::Rows;
use crate::cache_file::{
    self, CacheExamination, CacheHealth, connect_to_read, is_damage, make_place, remove, stamp, version,
};
use crate::files::Memory;
use crate::row::StoredReading;

/// The schema version; a database of another version is emptied.
const VERSION: i64 = 4;
/// How long to wait for another process. Readers never wait for a writer. Opening waits, and so does a second writer,
/// which then gives up.
const PATIENCE: Duration = Duration::from_millis(100);
/// From this many files on, two threads read.
const MANY: usize = 1024;

pub(crate) struct Database {
    connection: Connection,
    file: PathBuf,
    stamp: Option<Stamp>,
}

/// Rows to save and to delete; folders by their index in the list.
#[derive(Default)]
pub(crate) struct Changes {
    pub(crate) rows: Vec<(usize, OsString, StoredReading)>,
    pub(crate) gone: Vec<(usize, OsString)>,
}

impl Changes {
    /// What happens to the row of a file.
    pub(crate) fn keep(&mut self, folder: usize, name: OsString, memory: Memory) {
        match memory {
            Memory::Stays => {}
            Memory::New(row) => self.rows.push((folder, name, *row)),
            Memory::Goes => self.gone.push((folder, name)),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.gone.is_empty()
    }
}

#[derive(Clone, Copy)]
pub(crate) struct ListedFile<'a> {
    pub(crate) at: usize,
    pub(crate) folder: &'a Folder,
    pub(crate) found: &'a FoundFile,
}

/// The state of a catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct CatalogueState {
    pub health: CacheHealth,
    /// Bytes of the database file.
    pub size: u64,
    /// How many session files it has rows for.
    pub sessions: u64,
}

type Sqlite<T> = rusqlite::Result<T>;

impl Database {
    /// Opens or creates the database; `None` if neither works.
    pub(crate) fn open(file: &Path) -> Option<Self> {
        make_place(file);
        let before = stamp(file);
        match connect(file) {
            Ok(connection) => Some(Self { connection, file: file.to_path_buf(), stamp: before }),
            Err(error) if is_damage(&error) => {
                remove(file, before);
                make_place(file);
                let stamp = stamp(file);
                connect(file).ok().map(|connection| Self { connection, file: file.to_path_buf(), stamp })
            }
            Err(_) => None,
        }
    }

    /// Opens a database of this version only to read it; `None` if there is none.
    pub(crate) fn open_to_read(file: &Path) -> Option<Self> {
        let connection = connect_to_read(file, PATIENCE).ok()?;
        let is_readable = version(&connection).is_ok_and(|version| version == VERSION);
        is_readable.then(|| Self { connection, file: file.to_path_buf(), stamp: None })
    }

    /// The rows of each folder, in order. Rebuilds a damaged database.
    pub(crate) fn known(&mut self, folders: &[Folder]) -> Vec<Rows> {
        match self.read(folders) {
            Ok(known) => known,
            Err(error) => {
                if is_damage(&error) {
                    self.rebuild();
                }
                Vec::new()
            }
        }
    }

    /// The rows of single files. Files without a readable row are left out.
    pub(crate) fn some<'a>(&self, files: impl Iterator<Item = ListedFile<'a>>) -> Vec<(ListedFile<'a>, StoredReading)> {
        let query = format!("{SELECT} = (SELECT id FROM folder WHERE path = ?1) AND file = ?2");
        let Ok(mut query) = self.connection.prepare(&query) else { return Vec::new() };
        let mut row = |place: &ListedFile<'_>| {
            let name = place.found.path.file_name()?;
            let key = params![place.folder.real.as_os_str().as_bytes(), name.as_bytes()];
            query.query_row(key, |columns| Ok(row_of(columns))).ok()?
        };
        files.filter_map(|place| row(&place).map(|(_, row)| (place, row))).collect()
    }

    fn rebuild(&mut self) {
        if let Ok(nothing) = Connection::open_in_memory() {
            drop(std::mem::replace(&mut self.connection, nothing));
            remove(&self.file, self.stamp);
            if let Some(anew) = Self::open(&self.file) {
                *self = anew;
            }
        }
    }

    /// Large lists are read on two threads, because decoding rows costs more than finding them. Rows are independent,
    /// so another process may write in between.
    fn read(&self, folders: &[Folder]) -> Sqlite<Vec<Rows>> {
        let files: usize = folders.iter().map(|folder| folder.files.len()).sum();
        if files < MANY {
            return rows(&self.connection, folders);
        }
        let (own, others) = folders.split_at(folders.len() / 2);
        let file = self.file.as_path();
        std::thread::scope(|scope| {
            let helper = scope.spawn(move || rows(&connect(file)?, others));
            let mut known = rows(&self.connection, own)?;
            // If the helper failed, its half is read here.
            known.extend(helper.join().unwrap_or_else(|_| rows(&self.connection, others))?);
            Ok(known)
        })
    }

    /// Saves all changes in one transaction, or none if another process is writing or the write fails.
    pub(crate) fn save(mut self, folders: &[Folder], changes: Changes) {
        if let Err(error) = self.write(folders, changes)
            && is_damage(&error)
        {
            let Self { connection, file, stamp } = self;
            drop(connection);
            remove(&file, stamp);
        }
    }

    fn write(&mut self, folders: &[Folder], mut changes: Changes) -> Sqlite<()> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut ids = Vec::with_capacity(folders.len());
            let mut make = transaction.prepare("INSERT OR IGNORE INTO folder (path) VALUES (?1)")?;
            let mut id_of = transaction.prepare("SELECT id FROM folder WHERE path = ?1")?;
            for folder in folders {
                let path = folder.real.as_os_str().as_bytes();
                make.execute([path])?;
                ids.push(id_of.query_row([path], |row| row.get::<_, i64>(0))?);
            }
            let mut put = transaction.prepare("INSERT OR REPLACE INTO session VALUES (?1, ?2, ?3)")?;
            // In the order of the table, so that its pages are full.
            changes.rows.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
            for (folder, file, row) in changes.rows {
                if let Some(id) = ids.get(folder) {
                    put.execute(params![id, file.as_bytes(), row.pack(*id, &file)])?;
                }
            }
            let mut forget = transaction.prepare("DELETE FROM session WHERE folder = ?1 AND file = ?2")?;
            for (folder, file) in changes.gone {
                if let Some(id) = ids.get(folder) {
                    forget.execute(params![id, file.as_bytes()])?;
                }
            }
        }
        forget_folders(&transaction)?;
        transaction.commit()
    }
}

fn rows(connection: &Connection, folders: &[Folder]) -> Sqlite<Vec<Rows>> {
    // One snapshot of the database for all folders.
    let transaction = connection.unchecked_transaction()?;
    let mut of_folder = transaction.prepare("SELECT id FROM folder WHERE path = ?1")?;
    let mut rows = transaction.prepare(&format!("{SELECT} = ?1"))?;
    folders
        .iter()
        .map(|folder| {
            let path = folder.real.as_os_str().as_bytes();
            let Some(id) = of_folder.query_row([path], |row| row.get::<_, i64>(0)).optional()? else {
                return Ok(HashMap::new());
            };
            let mut known = HashMap::with_capacity(folder.files.len());
            let mut found = rows.query([id])?;
            while let Some(columns) = found.next()? {
                known.extend(row_of(columns));
            }
            Ok(known)
        })
        .collect()
}

/// A query for rows, up to the condition on the folder.
const SELECT: &str = "SELECT folder, file, reading FROM session WHERE folder";

/// The file's name and its reading; `None` for a damaged row.
fn row_of(columns: &rusqlite::Row<'_>) -> Option<(OsString, StoredReading)> {
    let folder = columns.get_ref(0).ok()?.as_i64().ok()?;
    let file = OsStr::from_bytes(columns.get_ref(1).ok()?.as_blob().ok()?);
    let reading = StoredReading::unpack(folder, file, columns.get_ref(2).ok()?.as_blob().ok()?)?;
    Some((file.to_owned(), reading))
}

/// Deletes folders that no longer exist, with all their rows.
fn forget_folders(connection: &Connection) -> Sqlite<()> {
    let mut all = connection.prepare("SELECT id, path FROM folder")?;
    let known: Vec<(i64, Vec<u8>)> = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Sqlite<_>>()?;
    for (id, path) in known {
        let is_there = Path::new(OsStr::from_bytes(&path)).try_exists();
        if matches!(is_there, Ok(false)) {
            connection.execute("DELETE FROM session WHERE folder = ?1", [id])?;
            connection.execute("DELETE FROM folder WHERE id = ?1", [id])?;
        }
    }
    Ok(())
}

fn connect(file: &Path) -> Sqlite<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(PATIENCE)?;
    if version(&connection)? != VERSION {
        connection.pragma_update(None, "page_size", 16384)?; // lists read most of it
        connection.pragma_update(None, "journal_mode", "WAL")?;
        make_tables(&mut connection)?;
    }
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(connection)
}

/// Replaces all tables by this version's in one transaction, so that other processes see the old or the new ones.
fn make_tables(connection: &mut Connection) -> Sqlite<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if version(&transaction)? == VERSION {
        return Ok(()); // another process was quicker
    }
    transaction.execute_batch(&format!(
        "DROP TABLE IF EXISTS session;
         DROP TABLE IF EXISTS folder;
         CREATE TABLE folder (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE);
         CREATE TABLE session (
             folder INTEGER NOT NULL, file BLOB NOT NULL, reading BLOB NOT NULL, PRIMARY KEY (folder, file)
         ) WITHOUT ROWID;
         PRAGMA user_version = {VERSION};"
    ))?;
    transaction.commit()
}

pub(crate) fn state(file: &Path) -> CatalogueState {
    let count = |connection: &Connection| connection.query_row("SELECT count(*) FROM session", [], |row| row.get(0));
    let (health, size, sessions) = cache_file::state(file, (VERSION, CacheExamination::Pages), PATIENCE, count);
    CatalogueState { health, size, sessions: sessions.map_or(0, i64::cast_unsigned) }
}
