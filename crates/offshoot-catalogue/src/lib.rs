//! What a list shows of many sessions, remembered between runs in a SQLite file that may vanish at any time.
//!
//! The files are the truth: each is looked at (one `stat`) whenever it is listed, and read again if it changed; of one that
//! grew, only what is new. So a list through the catalogue is the list without it, only sooner. Trouble with the
//! database is none for the list: a damaged one is made anew, one that cannot be used is done without. Knows lists; opens
//! no session, prints nothing.

#![warn(missing_docs)]

mod database;
mod files;
mod row;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use offshoot_session::clock::Millis;
use offshoot_session::error::{Diagnostic, Result};
use offshoot_session::list::{SessionInfo, sort_by_activity};
use offshoot_session::store::{DirStore, Folder, Progress, unreadable};

use database::{Changes, Database};
pub use database::{Standing, State};
use files::{Looked, Memory, Task};
use row::Row;

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
    pub fn state(&self) -> State {
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
        let (folders, unread) = store.folders(cwd)?;
        let mut database = Database::open(&self.file);
        let known = database.as_mut().map(|database| database.known(&folders)).unwrap_or_default();
        let mut changes = Changes::default();
        let looked = look(&folders, known, now, progress, &mut changes);
        if let Some(database) = database.filter(|_| !changes.is_empty()) {
            database.save(&folders, changes);
        }
        let mut sessions = Vec::with_capacity(looked.len());
        let mut diagnostics: Vec<Diagnostic> = unread.iter().map(unreadable).collect();
        for info in looked {
            match info {
                Ok(info) if store.belongs(&info, cwd) => sessions.push(info),
                Ok(_) => {}
                Err(error) => diagnostics.push(unreadable(&error)),
            }
        }
        sort_by_activity(&mut sessions);
        Ok((sessions, diagnostics))
    }
}

/// The rows of one folder, by file name.
type Rows = HashMap<OsString, Row>;

/// What a list shows of every file, in their order; notes what is to be remembered and forgotten.
fn look(
    folders: &[Folder],
    known: Vec<Rows>,
    now: Millis,
    progress: Progress<'_>,
    changes: &mut Changes,
) -> Vec<Result<SessionInfo>> {
    let mut known = known.into_iter();
    let mut looked = Vec::new();
    let mut tasks = Vec::new();
    for (number, folder) in folders.iter().enumerate() {
        let mut rows = known.next().unwrap_or_default();
        for found in &folder.files {
            let row = found.path.file_name().and_then(|name| rows.remove(name));
            match row {
                Some(row) if files::stands(found, &row) => looked.push(Some(row.into_info(found))),
                row => {
                    tasks.push(Task { at: looked.len(), folder: number, found, row });
                    looked.push(None);
                }
            }
        }
        changes.gone.extend(rows.into_keys().map(|name| (number, name)));
    }
    let (ready, all) = (looked.len() - tasks.len(), looked.len());
    for Looked { at, folder, name, info, memory } in
        files::read_all(&tasks, now, &mut |done| progress(ready + done, all))
    {
        if let Some(place) = looked.get_mut(at) {
            *place = Some(info);
        }
        match memory {
            Memory::Stays => {}
            Memory::New(row) => changes.rows.push((folder, name, *row)),
            Memory::Goes => changes.gone.push((folder, name)),
        }
    }
    looked.into_iter().flatten().collect()
}
