//! Brings the index up to date: which files are new, grown or gone, and which lack blocks.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use offshoot_session::clock::Millis;
use offshoot_session::error::{Diagnostic, Result};
use offshoot_session::medium::Stamp;
use offshoot_session::store::{FoundFile, unreadable};
use rusqlite::{Connection, TransactionBehavior};

use super::blocks::BlockMaker;
use super::database::{Database, Sqlite};
use super::known_sources::{
    KnownFolders, KnownSource, KnownSources, add_known, by_folders, folder_of, known_end, known_folders, path_of,
    put_whole,
};
use super::later_blocks::{ToBlock, prepare_blocks};
use super::pipeline::write_all;
use super::prepared::{ToPrepare, prepare};
use super::writing::IndexWriter;
use crate::filtering::agent_word;
use crate::scan::{SearchedPlace, ids_in_names};

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
    /// The ids in the names of all files.
    pub session_ids: Vec<String>,
    /// What could not be read.
    pub diagnostics: Vec<Diagnostic>,
}

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
                let known = known_folders(&database.connection);
                (database, known)
            })
        });
        let listed = place.store.folders(None);
        (known.join().unwrap_or_default(), listed)
    });
    let (folders, unread) = listed?;
    let files: Vec<FoundFile> = folders.into_iter().flat_map(|folder| folder.files).collect();
    let mut refreshed = Refreshed { sessions: files.len(), ..Refreshed::default() };
    refreshed.session_ids = ids_in_names(files.iter().map(|found| &found.path));
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
    mut folders: KnownFolders,
    refreshed: &mut Refreshed,
) -> Sqlite<()> {
    let mut changed = by_folders(files);
    changed.retain(|folder| !folder.take_whole(&mut folders));
    let mut known = KnownSources::new();
    for folder in &changed {
        folder.add_known(&database.connection, &mut known)?;
    }
    // What is left has no files here.
    for folder in folders.keys() {
        add_known(&database.connection, folder, &mut known)?;
    }
    let mut files: Vec<&FoundFile> = changed.iter().flat_map(|folder| folder.files.iter().copied()).collect();
    files.sort_by_key(|found| std::cmp::Reverse(found.stamp.map(|stamp| stamp.modified)));
    let (mut tasks, mut new_bytes, mut left) = (Vec::new(), 0, bounds.read);
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
    put_whole(&mut database.connection, &changed, now)?;
    refreshed.without_blocks = lacking_blocks(&database.connection)?.collect();
    Ok(())
}

/// The files whose words are in the index, and not all of their blocks.
fn lacking_blocks(connection: &Connection) -> Sqlite<impl Iterator<Item = PathBuf>> {
    let mut lacking = connection.prepare("SELECT path FROM source WHERE in_blocks < entries")?;
    let paths = lacking.query_map([], |row| Ok(PathBuf::from(OsStr::from_bytes(&row.get::<_, Vec<u8>>(0)?))))?;
    Ok(paths.collect::<Sqlite<Vec<_>>>()?.into_iter())
}

fn is_same_file(one: Option<Stamp>, other: Option<Stamp>) -> bool {
    let identity = |stamp: Stamp| (stamp.device, stamp.inode);
    let has_grown = one.zip(other).is_some_and(|(one, other)| one.length <= other.length);
    one.map(identity) == other.map(identity) && has_grown
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
    transaction.execute("DELETE FROM session_folder WHERE path NOT IN (SELECT folder_path FROM source)", [])?;
    transaction.commit()
}

fn read(
    database: &mut Database,
    place: SearchedPlace<'_>,
    tasks: &[ToPrepare<'_>],
    refreshed: &mut Refreshed,
) -> Sqlite<()> {
    let prepare = |number: usize, maker: &mut BlockMaker, tell: &mut dyn FnMut(_) -> bool| {
        let Some(task) = tasks.get(number) else { return Ok(()) };
        (place.open)(task.path).and_then(|session| prepare(&session, task, maker, place.mask, tell))
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
    let mut known = KnownSources::new();
    let lacking: HashSet<PathBuf> = lacking_blocks(&database.connection)?.collect();
    let lacking = || lacking.iter().filter(|path| place.store.root_of(path).is_some());
    for folder in lacking().map(|path| folder_of(path)).collect::<HashSet<_>>() {
        add_known(&database.connection, folder, &mut known)?;
    }
    let mut lacking: Vec<(&PathBuf, KnownSource)> =
        lacking().filter_map(|path| Some((path, known.remove(path.as_os_str().as_bytes())?))).collect();
    lacking.sort_by_key(|(_, source)| std::cmp::Reverse(source.stamp.map(|stamp| stamp.modified)));
    let tasks = lacking.into_iter().map(|(path, source)| {
        let end = known_end(&database.connection, source.id)?;
        Ok(ToBlock { source: source.id, path: path.clone(), end, in_blocks: source.in_blocks })
    });
    let tasks: Vec<ToBlock> = tasks.collect::<Sqlite<_>>()?;
    let prepare = |number: usize, maker: &mut BlockMaker, tell: &mut dyn FnMut(_) -> bool| {
        let Some(task) = tasks.get(number) else { return Ok(()) };
        (place.open)(&task.path).and_then(|session| prepare_blocks(&session, task, maker, place.mask, tell))
    };
    let mut made = 0;
    write_all(database, tasks.len(), &prepare, place.is_over, &mut |_, result| {
        made += usize::from(result.is_ok());
        (place.progress)(made, tasks.len());
    })?;
    Ok(made == tasks.len())
}
