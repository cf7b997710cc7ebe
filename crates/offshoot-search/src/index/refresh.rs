//! Brings the index up to date: which files are new, grown or gone, and which lack blocks.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use offshoot_session::clock::Millis;
use offshoot_session::error::{Diagnostic, Result};
use offshoot_session::medium::Stamp;
use offshoot_session::store::{FoundFile, unreadable};
use rusqlite::{Connection, Row, TransactionBehavior};

use super::database::{Database, Sqlite};
use super::known_end::KnownEnd;
use super::later_blocks::{ToBlock, prepare_blocks};
use super::pipeline::write_all;
use super::prepared::{ToPrepare, prepare};
use super::writing::IndexWriter;
use crate::filtering::agent_word;
use crate::scan::SearchedPlace;

/// What came of a refresh.
#[derive(Debug, Clone, Default)]
pub struct Refreshed {
    /// How many sessions there are.
    pub sessions: usize,
    /// How many were read.
    pub read: usize,
    /// Files that are not in the index as they are now, though they can be read.
    pub unread: HashSet<PathBuf>,
    /// Files that have their words in the index, and not all of their blocks.
    pub without_blocks: HashSet<PathBuf>,
    /// What could not be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// What the index has of a file; where its end is, is read of those that changed.
struct KnownSource {
    id: i64,
    stamp: Option<Stamp>,
    is_settled: bool,
    in_blocks: usize,
    lacks_blocks: bool,
}

/// By the bytes of their paths: there are very many of them.
type KnownSources = HashMap<Box<[u8]>, KnownSource>;

/// How much is read, in bytes that are new.
#[derive(Debug, Clone, Copy)]
pub(super) struct RefreshBounds {
    /// Where more are new, words are read first, and blocks are made later.
    pub(super) with_blocks: u64,
    /// No more are read; the newest sessions that fit.
    pub(super) read: u64,
}

pub(super) fn refresh(
    file: &Path,
    place: SearchedPlace<'_>,
    (now, bounds): (Millis, RefreshBounds),
) -> Result<Refreshed> {
    // What the index knows is read while the folders are listed.
    let (known, listed) = std::thread::scope(|scope| {
        let known = scope.spawn(|| {
            Database::open(file).map(|database| {
                let known = known_sources(&database.connection);
                (database, known)
            })
        });
        let listed = place.store.folders(None);
        (known.join().unwrap_or_default(), listed)
    });
    let (folders, unread) = listed?;
    let mut files: Vec<FoundFile> = folders.into_iter().flat_map(|folder| folder.files).collect();
    files.sort_by_key(|found| std::cmp::Reverse(found.stamp.map(|stamp| stamp.modified)));
    let mut refreshed = Refreshed { sessions: files.len(), ..Refreshed::default() };
    refreshed.diagnostics = unread.iter().map(unreadable).collect();
    let all = |refreshed: &mut Refreshed| refreshed.unread = files.iter().map(|found| found.path.clone()).collect();
    let Some((mut database, known)) = known else {
        all(&mut refreshed);
        return Ok(refreshed);
    };
    let known = match known {
        Ok(known) => known,
        Err(error) => {
            database.done(file, Sqlite::<()>::Err(error));
            all(&mut refreshed);
            return Ok(refreshed);
        }
    };
    let done = bring_up_to_date(&mut database, place, (&files, now, bounds), known, &mut refreshed);
    database.done(file, done);
    Ok(refreshed)
}

fn bring_up_to_date(
    database: &mut Database,
    place: SearchedPlace<'_>,
    (files, now, bounds): (&[FoundFile], Millis, RefreshBounds),
    mut known: KnownSources,
    refreshed: &mut Refreshed,
) -> Sqlite<()> {
    let (mut tasks, mut new_bytes, mut left) = (Vec::new(), 0, bounds.read);
    let lacks_blocks = known.values().any(|source| source.lacks_blocks);
    for found in files {
        let source = known.remove(found.path.as_os_str().as_bytes());
        let length = |stamp: Option<Stamp>| stamp.map_or(0, |stamp| stamp.length);
        if source.as_ref().is_some_and(|source| source.is_settled && source.stamp == found.stamp) {
            continue;
        }
        let same = source.filter(|source| is_same_file(source.stamp, found.stamp));
        let new = length(found.stamp).saturating_sub(same.as_ref().map_or(0, |source| length(source.stamp)));
        new_bytes += new;
        refreshed.unread.insert(found.path.clone());
        if new > left {
            continue;
        }
        left -= new;
        let in_blocks = same.as_ref().map_or(0, |source| source.in_blocks);
        tasks.push(ToPrepare {
            path: &found.path,
            agent: agent_word(place.store.root_of(&found.path).map(|root| root.flavour)),
            stamp: found.stamp,
            is_settled: found.stamp.is_some_and(|stamp| stamp.is_settled(now)),
            known: same.map(|source| known_end(&database.connection, source.id)).transpose()?,
            in_blocks,
            with_blocks: true,
        });
    }
    let with_blocks = new_bytes <= bounds.with_blocks;
    tasks.iter_mut().for_each(|task| task.with_blocks = with_blocks);
    let gone = known.into_iter().filter(|(path, _)| matches!(path_of(path).try_exists(), Ok(false)));
    let gone: Vec<i64> = gone.map(|(_, source)| source.id).collect();
    forget(database, &gone)?;
    read(database, place, &tasks, refreshed)?;
    if tasks.is_empty() && !lacks_blocks {
        return Ok(());
    }
    let mut lacking = database.connection.prepare("SELECT path FROM source WHERE in_blocks < entries")?;
    let lacking = lacking.query_map([], |row| Ok(PathBuf::from(OsStr::from_bytes(&row.get::<_, Vec<u8>>(0)?))))?;
    refreshed.without_blocks = lacking.collect::<Sqlite<_>>()?;
    Ok(())
}

fn is_same_file(one: Option<Stamp>, other: Option<Stamp>) -> bool {
    let identity = |stamp: Stamp| (stamp.device, stamp.inode);
    let has_grown = one.zip(other).is_some_and(|(one, other)| one.length <= other.length);
    one.map(identity) == other.map(identity) && has_grown
}

fn known_sources(connection: &Connection) -> Sqlite<KnownSources> {
    let count: i64 = connection.query_row("SELECT count(*) FROM source", [], |row| row.get(0))?;
    let mut query = connection.prepare(
        "SELECT id, path, device, inode, length, modified, changed, settled, in_blocks, in_blocks < entries FROM source",
    )?;
    let mut known = KnownSources::with_capacity(usize::try_from(count).unwrap_or_default());
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        known.insert(row.get_ref(1)?.as_blob()?.into(), known_source(row)?);
    }
    Ok(known)
}

fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
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
        lacks_blocks: row.get(9)?,
    })
}

fn known_end(connection: &Connection, source: i64) -> Sqlite<KnownEnd> {
    let mut query = connection.prepare("SELECT entries, last, end, tail_hash FROM source WHERE id = ?1")?;
    query.query_row([source], |row| {
        Ok(KnownEnd {
            entries: usize::try_from(row.get::<_, i64>(0)?).unwrap_or_default(),
            last: row.get(1)?,
            end: row.get::<_, i64>(2)?.cast_unsigned(),
            check: row.get(3)?,
        })
    })
}

/// Removes sessions that are gone.
fn forget(database: &mut Database, gone: &[i64]) -> Sqlite<()> {
    if gone.is_empty() {
        return Ok(());
    }
    let transaction = database.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut writer = IndexWriter::new(&transaction)?;
    for id in gone {
        writer.forget(*id)?;
    }
    drop(writer);
    transaction.commit()
}

fn read(
    database: &mut Database,
    place: SearchedPlace<'_>,
    tasks: &[ToPrepare<'_>],
    refreshed: &mut Refreshed,
) -> Sqlite<()> {
    let prepare = |number: usize, tell: &mut dyn FnMut(_) -> bool| {
        let Some(task) = tasks.get(number) else { return Ok(()) };
        (place.open)(task.path).and_then(|session| prepare(&session, task, place.mask, tell))
    };
    write_all(database, tasks.len(), &prepare, place.is_over, &mut |number, result| {
        if let Some(task) = tasks.get(number) {
            refreshed.unread.remove(task.path);
        }
        refreshed.diagnostics.extend(result.err().as_ref().map(unreadable));
        refreshed.read += 1;
        (place.progress)(refreshed.read, tasks.len());
    })
}

/// Makes the blocks that are missing, the newest sessions first. Returns whether none is missing now.
pub(super) fn make_blocks(file: &Path, place: SearchedPlace<'_>) -> bool {
    let Some(mut database) = Database::open(file) else { return false };
    let made = make_all_blocks(&mut database, place);
    database.done(file, made).unwrap_or(false)
}

fn make_all_blocks(database: &mut Database, place: SearchedPlace<'_>) -> Sqlite<bool> {
    let known = known_sources(&database.connection)?.into_iter();
    let known = known.map(|(path, source)| (path_of(&path).to_path_buf(), source));
    let lacking = known.filter(|(path, source)| source.lacks_blocks && place.store.root_of(path).is_some());
    let mut lacking: Vec<(PathBuf, KnownSource)> = lacking.collect();
    lacking.sort_by_key(|(_, source)| std::cmp::Reverse(source.stamp.map(|stamp| stamp.modified)));
    let tasks = lacking.into_iter().map(|(path, source)| {
        let end = known_end(&database.connection, source.id)?;
        Ok(ToBlock { source: source.id, path, end, in_blocks: source.in_blocks })
    });
    let tasks: Vec<ToBlock> = tasks.collect::<Sqlite<_>>()?;
    let prepare = |number: usize, tell: &mut dyn FnMut(_) -> bool| {
        let Some(task) = tasks.get(number) else { return Ok(()) };
        (place.open)(&task.path).and_then(|session| prepare_blocks(&session, task, place.mask, tell))
    };
    let mut made = 0;
    write_all(database, tasks.len(), &prepare, place.is_over, &mut |_, result| {
        made += usize::from(result.is_ok());
        (place.progress)(made, tasks.len());
    })?;
    Ok(made == tasks.len())
}
