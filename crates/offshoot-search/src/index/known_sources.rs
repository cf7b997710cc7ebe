//! What the index has of the files of a folder, and the folders whose files it has all as they are.
//!
//! As long as the files of such a folder have the same stamps, none of its rows is looked at. The database forgets that a folder is
//! whole when a session of it is written or removed.

use std::ffi::OsStr;
use std::hash::BuildHasher as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use foldhash::quality::FixedState;
use hashbrown::HashMap;
use memchr::memrchr;
use offshoot_session::clock::Millis;
use offshoot_session::medium::Stamp;
use offshoot_session::store::FoundFile;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Row, TransactionBehavior, params};

use super::database::{PATIENCE, Sqlite};
use super::known_end::KnownEnd;

/// What the index has of a file; where its end is, is read of those that changed.
pub(super) struct KnownSource {
    pub(super) id: i64,
    pub(super) stamp: Option<Stamp>,
    pub(super) is_settled: bool,
    pub(super) in_blocks: usize,
}

/// By the bytes of their paths.
pub(super) type KnownSources = HashMap<Box<[u8]>, KnownSource>;

/// What files are in a folder.
pub(super) struct ListedFolder<'a> {
    path: &'a [u8],
    pub(super) files: Vec<&'a FoundFile>,
    /// Of the names and the stamps, in any order.
    digest: i64,
}

/// The folders of the index by their paths, with their digests if they are whole.
pub(super) type KnownFolders = HashMap<Box<[u8]>, Option<i64>>;

pub(super) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// The folder that a session's file is in, as the index has it: all before the last slash.
pub(super) fn folder_of(file: &Path) -> &[u8] {
    split(file).0
}

/// A path's folder and the name in it.
fn split(file: &Path) -> (&[u8], &[u8]) {
    let path = file.as_os_str().as_bytes();
    memrchr(b'/', path).and_then(|at| path.split_at_checked(at)).unwrap_or((b"", path))
}

/// Files by their folders.
pub(super) fn by_folders(files: &[FoundFile]) -> Vec<ListedFolder<'_>> {
    let mut numbers: HashMap<&[u8], usize> = HashMap::new();
    let mut folders: Vec<ListedFolder<'_>> = Vec::new();
    for found in files {
        let path = folder_of(&found.path);
        // Files of one folder mostly follow each other.
        let last = folders.len().checked_sub(1).filter(|last| folders.get(*last).is_some_and(|last| last.path == path));
        let number = last.unwrap_or_else(|| *numbers.entry(path).or_insert(folders.len()));
        if number == folders.len() {
            folders.push(ListedFolder { path, files: Vec::new(), digest: 0 });
        }
        if let Some(folder) = folders.get_mut(number) {
            folder.digest = folder.digest.wrapping_add(digest(found));
            folder.files.push(found);
        }
    }
    folders
}

fn digest(found: &FoundFile) -> i64 {
    let stamp = found.stamp.map(|stamp| {
        let (modified, changed) = (stamp.modified.cast_unsigned(), stamp.changed.cast_unsigned());
        [stamp.device, stamp.inode, stamp.length, modified, changed]
    });
    // Another version of the hash makes other digests: then all rows are compared once.
    FixedState::default().hash_one((split(&found.path).1, stamp)).cast_signed()
}

impl ListedFolder<'_> {
    /// Takes the folder out of those of the index, and returns whether it is whole there, with these files.
    pub(super) fn take_whole(&self, known: &mut KnownFolders) -> bool {
        known.remove(self.path) == Some(Some(self.digest))
    }

    /// Whether nothing can change in it without a trace.
    fn is_settled(&self, now: Millis) -> bool {
        self.files.iter().all(|found| found.stamp.is_some_and(|stamp| stamp.is_settled(now)))
    }

    /// Whether these files are what the index has of the folder.
    fn is_known(&self, connection: &Connection) -> Sqlite<bool> {
        let mut known = KnownSources::new();
        add_known(connection, self.path, &mut known)?;
        Ok(known.len() == self.files.len()
            && self.files.iter().all(|found| {
                let source = known.get(found.path.as_os_str().as_bytes());
                source.is_some_and(|source| source.is_settled && source.stamp == found.stamp)
            }))
    }

    /// Adds what the index has of it.
    pub(super) fn add_known(&self, connection: &Connection, known: &mut KnownSources) -> Sqlite<()> {
        add_known(connection, self.path, known)
    }
}

pub(super) fn known_folders(connection: &Connection) -> Sqlite<KnownFolders> {
    let mut query = connection.prepare("SELECT path, digest FROM session_folder")?;
    let rows = query.query_map([], |row| Ok((row.get_ref(0)?.as_blob()?.into(), row.get(1)?)))?;
    rows.collect()
}

/// Keeps which of these folders are whole. If another process is writing, the next search does it.
pub(super) fn put_whole(connection: &mut Connection, folders: &[ListedFolder<'_>], now: Millis) -> Sqlite<()> {
    let settled: Vec<&ListedFolder<'_>> = folders.iter().filter(|folder| folder.is_settled(now)).collect();
    if settled.is_empty() {
        return Ok(());
    }
    connection.busy_timeout(Duration::ZERO)?;
    let put = put_settled(connection, &settled);
    connection.busy_timeout(PATIENCE)?;
    match put {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
        put => put,
    }
}

fn put_settled(connection: &mut Connection, settled: &[&ListedFolder<'_>]) -> Sqlite<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for folder in settled {
        if folder.is_known(&transaction)? {
            let put = "UPDATE session_folder SET digest = ?2 WHERE path = ?1";
            transaction.prepare(put)?.execute(params![folder.path, folder.digest])?;
        }
    }
    transaction.commit()
}

/// Adds what the index has of the files of a folder.
pub(super) fn add_known(connection: &Connection, folder: &[u8], known: &mut KnownSources) -> Sqlite<()> {
    let mut query = connection.prepare(
        "SELECT id, path, device, inode, length, modified, changed, settled, in_blocks FROM source WHERE folder_path = ?1",
    )?;
    let mut rows = query.query([folder])?;
    while let Some(row) = rows.next()? {
        known.insert(row.get_ref(1)?.as_blob()?.into(), known_source(row)?);
    }
    Ok(())
}

fn known_source(row: &Row<'_>) -> Sqlite<KnownSource> {
    let device: Option<i64> = row.get(2)?;
    let number = |at: usize| row.get::<_, Option<i64>>(at).map(Option::unwrap_or_default);
    let stamp = Stamp {
        device: device.unwrap_or_default().cast_unsigned(),
        inode: number(3)?.cast_unsigned(),
        length: number(4)?.cast_unsigned(),
        modified: number(5)?,
        changed: number(6)?,
    };
    Ok(KnownSource {
        id: row.get(0)?,
        stamp: device.map(|_| stamp),
        is_settled: row.get(7)?,
        in_blocks: usize::try_from(number(8)?).unwrap_or_default(),
    })
}

pub(super) fn known_end(connection: &Connection, source: i64) -> Sqlite<KnownEnd> {
    let mut query = connection.prepare("SELECT entries, last, end, tail_hash FROM source WHERE id = ?1")?;
    let known = query.query_row([source], |row| {
        Ok(KnownEnd {
            entries: usize::try_from(row.get::<_, i64>(0)?).unwrap_or_default(),
            last: row.get(1)?,
            end: row.get::<_, i64>(2)?.cast_unsigned(),
            check: row.get(3)?,
        })
    });
    known.optional().map(Option::unwrap_or_default)
}
