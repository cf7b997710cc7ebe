//! SQLite files in the cache folder, which can be deleted at any time: making, telling damage, removing. Nothing here fails. Knows no
//! table.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_session::medium::{Stamp, create_regular, make_private_folder};
use rusqlite::ErrorCode;

/// Creates the folder and an empty file, readable by their owner only: what people say is private.
pub fn make_place(file: &Path) {
    if let Some(folder) = file.parent() {
        drop(make_private_folder(folder));
    }
    drop(create_regular(file));
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

/// The file that SQLite keeps beside a database.
pub(crate) fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut beside = file.as_os_str().to_owned();
    beside.push(suffix);
    PathBuf::from(beside)
}
