//! How a SQLite file of another program is opened: by what lies beside it, so that SQLite makes and changes nothing there. Knows no table.
//!
//! - Without a log (`-wal`) and journal the file is taken as unchanging, and its stamp is compared afterwards.
//! - With a log and its shared memory (`-shm`), somebody has it open: then it is read with read locks only.
//! - With a log alone, or a journal, its program has crashed: a copy of bounded size is read.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_session::medium::{Stamp, create_regular, open_regular};
use offshoot_session::path_words::file_uri;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

/// A larger file is not read.
const LARGEST: u64 = 64 << 20;
/// How many steps of SQLite's machine a store may cost, in ten thousands.
const MOST_STEPS: u32 = 2_000;
/// No text of a row is longer.
const LONGEST_VALUE: i32 = 1 << 20;
/// The same of a store with sessions: a store of 4 GiB, of which a copy of 512 MiB is made.
const SESSIONS: StoreBounds = StoreBounds { largest: 4 << 30, copied: 512 << 20, steps: 200_000, value: 64 << 20 };
const USUAL: StoreBounds = StoreBounds { largest: LARGEST, copied: LARGEST, steps: MOST_STEPS, value: LONGEST_VALUE };
/// How long a lock of the store's own program is awaited.
const PATIENCE: Duration = Duration::from_millis(300);
/// A store that changes while it is read is read again so often.
const TRIES: usize = 3;

/// Why a store is not read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum ForeignStoreError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error("it changes while it is read")]
    Changing,
}

type Result<T> = std::result::Result<T, ForeignStoreError>;

/// A SQLite file of another program.
#[derive(Debug, Clone)]
pub struct ForeignStore {
    file: PathBuf,
    bounds: StoreBounds,
}

#[derive(Debug, Clone, Copy)]
struct StoreBounds {
    largest: u64,
    copied: u64,
    steps: u32,
    value: i32,
}

/// What lies beside a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Closed,
    Live,
    Crashed,
}

impl ForeignStore {
    /// That of this path. Opens nothing yet.
    pub fn new(file: &Path) -> Self {
        Self { file: file.to_path_buf(), bounds: USUAL }
    }

    /// The same of a store with sessions, which may be large.
    pub fn of_sessions(file: &Path) -> Self {
        Self { file: file.to_path_buf(), bounds: SESSIONS }
    }

    /// Reads from the store; `None` if there is none.
    ///
    /// # Errors
    /// It is not a regular file, is too large, is not a sound database, or changes all the time.
    pub fn read<T>(&self, query: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<Option<T>> {
        for _ in 0..TRIES {
            let before = match self.stamps() {
                Ok(before) => before,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            let (mut connection, copy) = match standing(&before) {
                Standing::Closed => (open_unchanging(&self.file)?, None),
                Standing::Live => (open_live(&self.file)?, None),
                Standing::Crashed => {
                    let copy = self.copy()?;
                    (open_copy(&copy.path().join("store"))?, Some(copy))
                }
            };
            let found = bounded(&mut connection, self.bounds).and_then(|()| query(&connection));
            drop(connection);
            drop(copy);
            // What a live store holds is consistent by its locks.
            if standing(&before) == Standing::Live || self.stamps().ok() == Some(before) {
                return Ok(Some(found?));
            }
        }
        Err(ForeignStoreError::Changing)
    }

    /// The stamps of the file and of what lies beside it.
    fn stamps(&self) -> io::Result<[Option<Stamp>; 4]> {
        let meta = open_regular(&self.file)?.metadata()?;
        if meta.len() > self.bounds.largest {
            return Err(too_large(self.bounds.largest));
        }
        let [wal, shm, journal] = ["-wal", "-shm", "-journal"].map(|suffix| stamp(&beside(&self.file, suffix)));
        Ok([Some(Stamp::of(&meta)), wal?, shm?, journal?])
    }

    /// The file and its log or journal in a folder that goes with the value.
    fn copy(&self) -> io::Result<TempDir> {
        let folder = tempfile::Builder::new().prefix("offshoot-store-").tempdir()?;
        for suffix in ["", "-wal", "-journal"] {
            let target = folder.path().join(format!("store{suffix}"));
            match open_regular(&beside(&self.file, suffix)) {
                Ok(source) => copy_bounded(source, &target, self.bounds.copied)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound && !suffix.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(folder)
    }
}

fn standing([_, wal, shm, journal]: &[Option<Stamp>; 4]) -> Standing {
    match (wal, shm, journal) {
        (None, _, None) => Standing::Closed,
        (Some(_), Some(_), None) => Standing::Live,
        (Some(_), None, None) | (_, _, Some(_)) => Standing::Crashed,
    }
}

fn copy_bounded(source: File, target: &Path, largest: u64) -> io::Result<()> {
    let mut target = create_regular(target)?;
    let copied = io::copy(&mut source.take(largest + 1), &mut target)?;
    if copied > largest { Err(too_large(largest)) } else { Ok(()) }
}

fn too_large(largest: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {} MiB", largest >> 20))
}

/// `None` if the file is missing or empty.
fn stamp(file: &Path) -> io::Result<Option<Stamp>> {
    match fs::symlink_metadata(file) {
        Ok(meta) if !meta.is_file() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "a log or journal beside it is not a regular file"))
        }
        Ok(meta) if meta.len() == 0 => Ok(None),
        Ok(meta) => Ok(Some(Stamp::of(&meta))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn open_unchanging(file: &Path) -> rusqlite::Result<Connection> {
    open(&uri(file, "?mode=ro&immutable=1"), OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn open_live(file: &Path) -> rusqlite::Result<Connection> {
    open(&uri(file, "?mode=ro&readonly_shm=1"), OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// The copy is ours: SQLite may restore it.
fn open_copy(file: &Path) -> rusqlite::Result<Connection> {
    open(&uri(file, "?mode=rw"), OpenFlags::SQLITE_OPEN_READ_WRITE)
}

fn open(uri: &str, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection =
        Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

/// A store may come from anybody: its views, triggers and values cannot run code or take for ever.
fn bounded(connection: &mut Connection, bounds: StoreBounds) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, bounds.value)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    let mut steps = 0;
    connection.progress_handler(
        10_000,
        Some(move || {
            steps += 1;
            steps > bounds.steps
        }),
    )?;
    connection.pragma_update(None, "cell_size_check", true)
}

fn uri(file: &Path, options: &str) -> String {
    file_uri(file) + options
}

fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut beside = file.as_os_str().to_owned();
    beside.push(suffix);
    PathBuf::from(beside)
}
