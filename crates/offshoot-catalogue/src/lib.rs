//! What a list shows of many sessions, remembered between runs in a SQLite file that may vanish at any time.
//!
//! The files are the truth: each is looked at (one `stat`) whenever it is listed, and read again if it changed; of one that
//! grew, only what is new. So a list through the catalogue is the list without it, only sooner. Trouble with the
//! database is none for the list: a damaged one is made anew, one that cannot be used is done without. Knows lists; opens
//! no session, prints nothing.

#![warn(missing_docs)]

mod row;
mod database;
mod files;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use offshoot_session::clock::Millis;
use offshoot_session::error::{Diagnostic, Result};
use offshoot_session::list::{SessionInfo, sort_by_activity};
use offshoot_session::store::{DirStore, Folder, FoundFile, Progress, unreadable};

pub use database::{CatalogueState, Standing};
use database::{Changes, Database, ListedFile};
use files::{Memory, Task};
use row::StoredReading;

/// The catalogue in a cache folder.
#[derive(Debug, Clone)]
pub struct Catalogue {
    file: PathBuf,
}

impl Catalogue {
    /// The catalogue of this cache folder. Nothing is made or read yet.
    pub fn new(cache: &Path) -> Self {
        Self { file: cache.join("catalogue.sqlite") }
    }

    /// The database's file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// How the database stands. Makes and changes nothing.
    pub fn state(&self) -> CatalogueState {
        database::state(&self.file)
    }

    /// The same as the store's own list without texts, reading only files that are new or changed. `now` is the present
    /// moment: what changed just before is not trusted to have come to rest.
    ///
    /// # Errors
    /// The store's own root cannot be read. Trouble with the database is no error.
    pub fn list(
        &self,
        store: &DirStore,
        cwd: Option<&str>,
        now: Millis,
        progress: Progress<'_>,
    ) -> Result<(Vec<SessionInfo>, Vec<Diagnostic>)> {
        let mut all = Vec::new();
        let diagnostics = self.walk(store, &Asked { cwd, now, first: 0 }, &mut |sessions, done, total| {
            all.extend(sessions);
            progress(done, total);
        })?;
        all.sort_by_key(|(at, _)| *at);
        let mut sessions: Vec<SessionInfo> = all.into_iter().map(|(_, info)| info).collect();
        sort_by_activity(&mut sessions);
        Ok((sessions, diagnostics))
    }

    /// The same in portions, as they come to be known: first what is remembered and still holds, then what must be read;
    /// of both what was written last comes first. The first portion does not wait for the others. The answer is what cannot
    /// be listed.
    ///
    /// # Errors
    /// As [`Catalogue::list`].
    pub fn stream(
        &self,
        store: &DirStore,
        cwd: Option<&str>,
        now: Millis,
        take: &mut dyn FnMut(Portion),
    ) -> Result<Vec<Diagnostic>> {
        self.walk(store, &Asked { cwd, now, first: PORTION }, &mut |sessions, done, total| {
            take(Portion { sessions: sessions.into_iter().map(|(_, info)| info).collect(), done, total });
        })
    }

    /// The same with the place of each session in the store's list.
    fn walk(
        &self,
        store: &DirStore,
        asked: &Asked<'_>,
        take: &mut dyn FnMut(Vec<(usize, SessionInfo)>, usize, usize),
    ) -> Result<Vec<Diagnostic>> {
        let (folders, unread) = store.folders(asked.cwd)?;
        let mut database = Database::open(&self.file);
        let mut diagnostics: Vec<Diagnostic> = unread.iter().map(unreadable).collect();
        let mut refused = Vec::new();
        let mut changes = Changes::default();
        let mut tell = |looked: Vec<Known>, done, total| {
            let mut sessions = Vec::with_capacity(looked.len());
            for (at, info) in looked {
                match info {
                    Ok(info) if store.belongs(&info, asked.cwd) => sessions.push((at, info)),
                    Ok(_) => {}
                    Err(error) => refused.push((at, unreadable(&error))),
                }
            }
            take(sessions, done, total);
        };
        let total = folders.iter().map(|folder| folder.files.len()).sum();
        let mut told = HashSet::new();
        let newest = database.as_ref().map(|database| database.some(newest(&folders, asked.first))).unwrap_or_default();
        let newest: Vec<_> = newest.into_iter().filter(|(place, row)| files::stands(place.found, row)).collect();
        if !newest.is_empty() {
            told.extend(newest.iter().map(|(place, _)| place.at));
            let infos = newest.into_iter().map(|(place, row)| (place.at, row.into_info(place.found)));
            tell(infos.collect(), told.len(), total);
        }
        let known = database.as_mut().map(|database| database.known(&folders)).unwrap_or_default();
        let work = sort_out(&folders, known, &told, &mut changes);
        look(work, asked.now, &mut changes, &mut tell);
        if let Some(database) = database.filter(|_| !changes.is_empty()) {
            database.save(&folders, changes);
        }
        refused.sort_by_key(|(at, _)| *at);
        diagnostics.extend(refused.into_iter().map(|(_, told)| told));
        Ok(diagnostics)
    }
}

/// Which sessions, and at which moment; so many of the newest are told before all that is remembered has been read.
struct Asked<'a> {
    cwd: Option<&'a str>,
    now: Millis,
    first: usize,
}

/// Some of the sessions of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Portion {
    /// The sessions, in no order.
    pub sessions: Vec<SessionInfo>,
    /// How many files have been looked at by now,
    pub done: usize,
    /// and how many there are.
    pub total: usize,
}

/// The rows of one folder, by file name.
type Rows = HashMap<OsString, StoredReading>;

/// A file's place in the list, and what the list shows of it.
type Known = (usize, Result<SessionInfo>);

/// How many files a first portion has. Later ones are as big as an eighth of what came before, so that they stay few.
const PORTION: usize = 32;

/// The places of the files that were written last.
fn newest(folders: &[Folder], count: usize) -> impl Iterator<Item = ListedFile<'_>> {
    let files = folders.iter().flat_map(|folder| folder.files.iter().map(move |found| (folder, found)));
    let mut places: Vec<_> = files.enumerate().map(|(at, (folder, found))| ListedFile { at, folder, found }).collect();
    let age = |place: &ListedFile<'_>| Reverse(place.found.stamp.map(|stamp| stamp.modified));
    if (1..places.len()).contains(&count) {
        places.select_nth_unstable_by_key(count, age);
    }
    places.truncate(count);
    places.sort_by_key(age);
    places.into_iter()
}

/// What is left to be told of.
struct Work<'a> {
    /// The files of which what is remembered still holds, with their places in the list.
    standing: Vec<(usize, &'a FoundFile, StoredReading)>,
    /// Those that must be read, the last written first.
    tasks: Vec<Task<'a>>,
    /// How many were told of before.
    done: usize,
}

/// Looks at every file that is left and tells in portions what a list shows of it, how many are done, and of how many; notes
/// what is to be remembered and forgotten.
fn look(work: Work<'_>, now: Millis, changes: &mut Changes, tell: &mut dyn FnMut(Vec<Known>, usize, usize)) {
    let Work { mut standing, tasks, mut done } = work;
    let total = done + standing.len() + tasks.len();
    standing.sort_by_key(|(_, found, _)| Reverse(found.stamp.map(|stamp| stamp.modified)));
    let mut standing = standing.into_iter();
    while standing.len() > 0 {
        let portion = standing.by_ref().take(PORTION.max(done / 8));
        let looked: Vec<Known> = portion.map(|(at, found, row)| (at, row.into_info(found))).collect();
        done += looked.len();
        tell(looked, done, total);
    }
    let mut looked = Vec::new();
    files::read_all(&tasks, now, &mut |file| {
        match file.memory {
            Memory::Stays => {}
            Memory::New(row) => changes.rows.push((file.folder, file.name, *row)),
            Memory::Goes => changes.gone.push((file.folder, file.name)),
        }
        looked.push((file.at, file.info));
        if looked.len() >= PORTION.max(done / 8) {
            done += looked.len();
            tell(std::mem::take(&mut looked), done, total);
        }
    });
    if !looked.is_empty() {
        tell(looked, total, total);
    }
}

/// Sorts out what there is to do; `told` are places in the list.
fn sort_out<'a>(folders: &'a [Folder], known: Vec<Rows>, told: &HashSet<usize>, changes: &mut Changes) -> Work<'a> {
    let mut known = known.into_iter();
    let (mut standing, mut tasks) = (Vec::new(), Vec::new());
    let mut places = 0..;
    for (number, folder) in folders.iter().enumerate() {
        let mut rows = known.next().unwrap_or_default();
        for (found, at) in folder.files.iter().zip(&mut places) {
            let row = found.path.file_name().and_then(|name| rows.remove(name));
            match row {
                _ if told.contains(&at) => {}
                Some(row) if files::stands(found, &row) => standing.push((at, found, row)),
                row => tasks.push(Task { at, folder: number, found, row }),
            }
        }
        changes.gone.extend(rows.into_keys().map(|name| (number, name)));
    }
    tasks.sort_by_key(|task| Reverse(task.found.stamp.map(|stamp| stamp.modified)));
    Work { standing, tasks, done: told.len() }
}
