//! SQLite files in the cache folder, which can be deleted at any time: making, reading without a trace, telling damage, removing.
//! Knows no table.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_session::medium::{Stamp, create_regular, make_private_folder};
use offshoot_session::path_words::file_uri;
use rusqlite::{Connection, ErrorCode, OpenFlags};

/// Whether a file can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub enum CacheHealth {
    /// It does not exist yet.
    Absent,
    Sound,
    /// Another version made it. It will be rebuilt.
    Foreign,
    /// It is damaged and will be rebuilt.
    Damaged(String),
    /// It cannot be opened. Everything works without it.
    Unusable(String),
}

impl CacheHealth {
    /// A word for it, and what is wrong.
    #[must_use]
    pub fn words(&self) -> (&'static str, Option<&str>) {
        match self {
            Self::Absent => ("absent", None),
            Self::Sound => ("sound", None),
            Self::Foreign => ("foreign", None),
            Self::Damaged(why) => ("damaged", Some(why)),
            Self::Unusable(why) => ("unusable", Some(why)),
        }
    }
}

/// Creates the folder and an empty file, readable by their owner only: what people say is private.
pub fn make_place(file: &Path) {
    if let Some(folder) = file.parent() {
        drop(make_private_folder(folder));
    }
    drop(create_regular(file));
}

/// Whether a folder is on a file system of another machine, where SQLite's locks and shared memory do not hold. Told on Linux
/// only.
#[must_use]
pub fn is_remote(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        rustix::fs::statfs(folder).is_ok_and(|system| is_remote_kind(system.f_type))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        false
    }
}

/// NFS, SMB and CIFS, 9P, AFS, Ceph and Coda: the numbers of `statfs(2)`, whose type machines do not agree on.
#[cfg(target_os = "linux")]
fn is_remote_kind(kind: impl TryInto<i64>) -> bool {
    let kind = kind.try_into().unwrap_or_default() & 0xFFFF_FFFF;
    [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x5346_414F, 0x00C3_6400, 0x7375_7245].contains(&kind)
}

/// The stamp of a file.
#[must_use]
pub fn stamp(file: &Path) -> Option<Stamp> {
    fs::metadata(file).ok().map(|meta| Stamp::of(&meta))
}

/// Whether the file is not a database, is truncated, or lacks the tables of its version.
#[must_use]
pub fn is_damage(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => {
            matches!(failure.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown)
        }
        rusqlite::Error::SqlInputError { .. }
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..) => true,
        _ => false,
    }
}

/// Removes a database, unless another process has replaced it since `known` was taken.
pub fn remove(file: &Path, known: Option<Stamp>) {
    let identity = |stamp: Stamp| (stamp.device, stamp.inode);
    if stamp(file).map(identity) == known.map(identity) {
        remove_all(file);
    }
}

/// Removes a database and what SQLite keeps beside it.
pub fn remove_all(file: &Path) {
    drop(fs::remove_file(file));
    for suffix in ["-wal", "-shm"] {
        drop(fs::remove_file(beside(file, suffix)));
    }
}

/// The version that a database says it has.
///
/// # Errors
/// It cannot be read.
pub fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Opens an existing database without creating a file.
///
/// # Errors
/// There is none, or it cannot be read.
pub fn connect_to_read(file: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // Even a reader creates the files beside a database, unless it is immutable. Without a log it can be treated so.
    let log = fs::metadata(beside(file, "-wal")).map_or(0, |meta| meta.len());
    let connection = match log {
        0 => Connection::open_with_flags(unchanging(file), flags | OpenFlags::SQLITE_OPEN_URI)?,
        _ => Connection::open_with_flags(file, flags)?,
    };
    connection.busy_timeout(patience)?;
    Ok(connection)
}

/// What a file is examined for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheExamination {
    /// That this version made it.
    Version,
    /// And that all of its pages are sound, which takes as long as to read them.
    Pages,
}

/// The health of a file, its size in bytes, and what `count` says of a sound one. Creates and changes nothing.
pub fn state<T>(
    file: &Path,
    (expected, examination): (i64, CacheExamination),
    patience: Duration,
    count: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> (CacheHealth, u64, Option<T>) {
    let size = match fs::metadata(file) {
        Ok(meta) if meta.is_file() => meta.len(),
        Ok(_) => return (CacheHealth::Unusable("it is not a regular file".to_owned()), 0, None),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return (CacheHealth::Absent, 0, None),
        Err(error) => return (CacheHealth::Unusable(error.to_string()), 0, None),
    };
    let examined = connect_to_read(file, patience).and_then(|connection| {
        if version(&connection)? != expected {
            return Ok(None);
        }
        if examination == CacheExamination::Pages {
            check(&connection)?;
        }
        count(&connection).map(Some)
    });
    match examined {
        Ok(Some(counted)) => (CacheHealth::Sound, size, Some(counted)),
        Ok(None) => (CacheHealth::Foreign, size, None),
        Err(error) if is_damage(&error) => (CacheHealth::Damaged(error.to_string()), size, None),
        Err(error) => (CacheHealth::Unusable(error.to_string()), size, None),
    }
}

fn check(connection: &Connection) -> rusqlite::Result<()> {
    let verdict: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if verdict == "ok" {
        return Ok(());
    }
    let corrupt = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(corrupt, Some(verdict)))
}

/// The URI that makes SQLite treat a file as immutable.
fn unchanging(file: &Path) -> String {
    file_uri(file) + "?immutable=1"
}

/// The file that SQLite keeps beside a database.
fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut beside = file.as_os_str().to_owned();
    beside.push(suffix);
    PathBuf::from(beside)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn file_systems_of_other_machines_are_told_by_their_numbers() {
        for kind in [0x6969_i64, 0xFF53_4D42, -11_317_950, 0x0102_1997] {
            assert!(is_remote_kind(kind), "{kind:x}");
        }
        // ext4, Btrfs, tmpfs, XFS, overlays, FUSE.
        for kind in [0xEF53_i64, 0x9123_683E, 0x0102_1994, 0x5846_5342, 0x794C_7630, 0x6573_5546] {
            assert!(!is_remote_kind(kind), "{kind:x}");
        }
        assert!(!is_remote(Path::new("/")));
    }
}
