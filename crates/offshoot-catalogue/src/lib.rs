//! Session lists, cached between runs in a SQLite file that can be deleted at any time.
//!
//! The session files are the truth. Every list looks at each file's stamp and reads new and changed files again; of a
//! grown file only the new part. So a list from the catalogue equals one from the store, only sooner. Database trouble
//! never fails a list: a damaged database is rebuilt, one that cannot be used is ignored. Opens no session, prints
//! nothing.

#![warn(missing_docs)]

pub mod cache_file;
mod row;
mod files;
mod database;
mod children;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use offshoot_session::clock::Millis;
use offshoot_session::error::{Diagnostic, Result};
use offshoot_session::list::{SessionInfo, by_activity, sort_by_activity};
use offshoot_session::store::{DirStore, Folder, FoundFile, Progress, WorkFolder, unreadable};

pub use cache_file::CacheHealth;
pub use database::CatalogueState;
use database::{Changes, Database, ListedFile};
use files::Task;
use row::StoredReading;

/// The catalogue in a cache folder.
#[derive(Debug, Clone)]
pub struct Catalogue {
    file: PathBuf,
}

impl Catalogue {
    /// The catalogue in this cache folder. Creates and reads nothing yet.
    pub fn new(cache: &Path) -> Self {
        Self { file: cache.join("catalogue.sqlite") }
    }

    /// The database's file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The state of the database. Creates and changes nothing.
    pub fn state(&self) -> CatalogueState {
        database::state(&self.file)
    }

    /// The store's own list without texts, but reading only new and changed files. `now` is the current time: files
    /// that changed just before it may still change without a trace, and are read again next time.
    ///
    /// # Errors
    /// The store's own root cannot be read. Database trouble is not an error.
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
        all.sort_by_cached_key(|(at, info)| (by_activity(info), *at));
        Ok((all.into_iter().map(|(_, info)| info).collect(), diagnostics))
    }

    /// The same list in portions: first the cached sessions, then those that must be read, the most recently written
    /// first in each. The first portion does not wait for the others. Returns diagnostics for what cannot be listed.
    ///
    /// # Errors
    /// Those of [`Catalogue::list`].
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

    /// The `count` most recently written sessions, last activity first, for shells that complete a name. Writes nothing,
    /// not even the catalogue. Leaves out sessions that cannot be read.
    ///
    /// # Errors
    /// The store's own root cannot be read.
    pub fn newest(&self, store: &DirStore, cwd: Option<&str>, now: Millis, count: usize) -> Result<Vec<SessionInfo>> {
        let (folders, _) = store.folders(cwd)?;
        let places: Vec<_> = newest(&folders, count).collect();
        let mut sessions = self.of_places(&places, now, &mut Changes::default());
        let mut folder = cwd.map(WorkFolder::new);
        sessions.retain(|info| store.belongs(info, folder.as_mut()));
        sort_by_activity(&mut sessions);
        Ok(sessions)
    }

    /// The sessions of these files of a store, in no order. What had to be read is remembered. Leaves out what cannot be read.
    pub fn of_files(&self, store: &DirStore, files: &[PathBuf], now: Millis) -> Vec<SessionInfo> {
        let mut reals: HashMap<PathBuf, PathBuf> = HashMap::new();
        let mut folder_of = |found: FoundFile| {
            let path = found.path.parent().unwrap_or(Path::new("")).to_path_buf();
            let real =
                reals.entry(path.clone()).or_insert_with(|| path.canonicalize().unwrap_or_else(|_| path.clone()));
            Folder::of_file(path, real.clone(), found)
        };
        let folders: Vec<Folder> =
            files.iter().filter_map(|file| FoundFile::in_root(file, store.root_of(file))).map(&mut folder_of).collect();
        let mut changes = Changes::default();
        // Each file has a folder of its own here, with its number.
        let sessions = self.of_places(&newest(&folders, usize::MAX).collect::<Vec<_>>(), now, &mut changes);
        if !changes.is_empty()
            && let Some(database) = Database::open(&self.file)
        {
            database.save(&folders, changes);
        }
        sessions
    }

    fn of_places(&self, places: &[ListedFile<'_>], now: Millis, changes: &mut Changes) -> Vec<SessionInfo> {
        let database = Database::open_to_read(&self.file);
        let rows = database.map(|database| database.some(places.iter().copied())).unwrap_or_default();
        let rows = rows.into_iter().filter(|(place, row)| files::stands(place.found, row));
        let mut known: HashMap<usize, StoredReading> = rows.map(|(place, row)| (place.at, row)).collect();
        let (mut sessions, mut tasks) = (Vec::new(), Vec::new());
        for place in places {
            match known.remove(&place.at) {
                Some(row) => sessions.extend(row.into_info(place.found)),
                None => tasks.push(Task { at: place.at, folder: place.at, found: place.found, row: None }),
            }
        }
        files::read_all(&tasks, now, &mut |file| {
            changes.keep(file.folder, file.name, file.memory);
            sessions.extend(file.read.and_then(files::ReadFile::into_info));
        });
        sessions
    }

    /// Lists in portions, each session with its place in the store's list.
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
        let (mut changes, mut folder) = (Changes::default(), asked.cwd.map(WorkFolder::new));
        let mut report = |looked: Vec<Known>, done, total| {
            let mut sessions = Vec::with_capacity(looked.len());
            for (at, info) in looked {
                match info {
                    Ok(info) if store.belongs(&info, folder.as_mut()) => sessions.push((at, info)),
                    Ok(_) => {}
                    Err(error) => refused.push((at, unreadable(&error))),
                }
            }
            take(sessions, done, total);
        };
        let total = folders.iter().map(|folder| folder.files.len()).sum();
        let mut reported = HashSet::new();
        let newest = database.as_ref().map(|database| database.some(newest(&folders, asked.first))).unwrap_or_default();
        let newest: Vec<_> = newest.into_iter().filter(|(place, row)| files::stands(place.found, row)).collect();
        if !newest.is_empty() {
            reported.extend(newest.iter().map(|(place, _)| place.at));
            let infos = newest.into_iter().map(|(place, row)| (place.at, row.into_info(place.found)));
            report(infos.collect(), reported.len(), total);
        }
        let known = database.as_mut().map(|database| database.known(&folders)).unwrap_or_default();
        let work = sort_out(&folders, known, &reported, &mut changes);
        look(work, asked.now, &mut changes, &mut report);
        if let Some(database) = database.filter(|_| !changes.is_empty()) {
            database.save(&folders, changes);
        }
        refused.sort_by_key(|(at, _)| *at);
        diagnostics.extend(refused.into_iter().map(|(_, diagnostic)| diagnostic));
        Ok(diagnostics)
    }
}

/// Which sessions to list, and when; the `first` newest are reported before the whole cache has been read.
struct Asked<'a> {
    cwd: Option<&'a str>,
    now: Millis,
    first: usize,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Portion {
    /// The sessions, in no order.
    pub sessions: Vec<SessionInfo>,
    /// How many files are done.
    pub done: usize,
    /// How many files there are.
    pub total: usize,
}

type Rows = HashMap<OsString, StoredReading>;

/// A file's place in the list, and its session.
type Known = (usize, Result<SessionInfo>);

/// Files in the first portion. A later one has an eighth of the files before it if that is more, so that portions stay
/// few.
const PORTION: usize = 32;

/// The `count` most recently written files.
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

/// The files that are not reported yet.
struct Work<'a> {
    /// Files whose stored reading still holds, with their places in the list.
    standing: Vec<(usize, &'a FoundFile, StoredReading)>,
    /// Files to read, the most recently written first.
    tasks: Vec<Task<'a>>,
    /// How many files were reported before.
    done: usize,
}

/// Reports all remaining files in portions, with the numbers of files done and in all, and collects the database's
/// changes.
fn look(work: Work<'_>, now: Millis, changes: &mut Changes, report: &mut dyn FnMut(Vec<Known>, usize, usize)) {
    let Work { mut standing, tasks, mut done } = work;
    let total = done + standing.len() + tasks.len();
    standing.sort_by_cached_key(|(_, found, _)| Reverse(found.stamp.map(|stamp| stamp.modified)));
    let mut standing = standing.into_iter();
    while standing.len() > 0 {
        let portion = standing.by_ref().take(PORTION.max(done / 8));
        let looked: Vec<Known> = portion.map(|(at, found, row)| (at, row.into_info(found))).collect();
        done += looked.len();
        report(looked, done, total);
    }
    let mut looked = Vec::new();
    files::read_all(&tasks, now, &mut |file| {
        changes.keep(file.folder, file.name, file.memory);
        looked.push((file.at, file.read.and_then(files::ReadFile::into_info)));
        if looked.len() >= PORTION.max(done / 8) {
            done += looked.len();
            report(std::mem::take(&mut looked), done, total);
        }
    });
    if !looked.is_empty() {
        report(looked, total, total);
    }
}

/// Divides the files into those whose rows hold and those to read; `reported` has places in the list.
fn sort_out<'a>(folders: &'a [Folder], known: Vec<Rows>, reported: &HashSet<usize>, changes: &mut Changes) -> Work<'a> {
    let mut known = known.into_iter();
    let (mut standing, mut tasks) = (Vec::new(), Vec::new());
    let mut places = 0..;
    for (number, folder) in folders.iter().enumerate() {
        let mut rows = known.next().unwrap_or_default();
        for (found, at) in folder.files.iter().zip(&mut places) {
            let row = found.path.file_name().and_then(|name| rows.remove(name));
            match row {
                _ if reported.contains(&at) => {}
                Some(row) if files::stands(found, &row) => standing.push((at, found, row)),
                row => tasks.push(Task { at, folder: number, found, row }),
            }
        }
        changes.gone.extend(rows.into_keys().map(|name| (number, name)));
    }
    tasks.sort_by_key(|task| Reverse(task.found.stamp.map(|stamp| stamp.modified)));
    Work { standing, tasks, done: reported.len() }
}
