//! The index of words: an SQLite file in the cache folder that can be deleted at any time. The session files are the truth.
//!
//! Trouble with the file never fails a search: a damaged one is made anew, one that cannot be used is passed over, and the
//! scan answers. One process writes at a time; others search what is there.

mod database;
mod prepared;
mod writing;
mod refresh;
mod candidate;
mod reading;
mod asking;

use std::path::{Path, PathBuf};

use offshoot_catalogue::cache_file::remove_all;
use offshoot_session::clock::Millis;
use offshoot_session::error::Result;

use crate::hit::Found;
use crate::query::SearchQuery;
use crate::scan::{SearchedPlace, scan};

use database::Database;
pub use database::IndexState;
pub use offshoot_catalogue::CacheHealth;
pub use refresh::Refreshed;

/// The index in a cache folder.
#[derive(Debug, Clone)]
pub struct SearchIndex {
    file: PathBuf,
}

impl SearchIndex {
    /// The index in this cache folder. Creates and reads nothing yet.
    #[must_use]
    pub fn new(cache: &Path) -> Self {
        Self { file: cache.join(database::FILE) }
    }

    /// The database's file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The state of the database. Creates and changes nothing.
    #[must_use]
    pub fn state(&self) -> IndexState {
        database::state(&self.file)
    }

    /// Removes the index; the next search makes it anew.
    pub fn remove(&self) {
        remove_all(&self.file);
    }

    /// Reads what is new of all sessions into the index, the newest first. `now` is the current time: a file that changed just
    /// before may change again without a trace, and is looked at again next time. What is done stays if this is cut off.
    ///
    /// # Errors
    /// The store's own root cannot be read. Trouble with the index is no error: the answer says what is not in it.
    pub fn refresh(&self, place: SearchedPlace<'_>, now: Millis) -> Result<Refreshed> {
        refresh::refresh(&self.file, place, now)
    }

    /// Finds what fits a query, the best hits first. Reads what is new first. What the index cannot answer, a scan does: parts
    /// of words and patterns, and any query where the index cannot be used.
    ///
    /// # Errors
    /// Those of [`scan`].
    pub fn search(&self, place: SearchedPlace<'_>, query: &SearchQuery, skip: usize, now: Millis) -> Result<Found> {
        let Some(expression) = asking::expression(query) else { return scan(place, query, skip) };
        let refreshed = self.refresh(place, now)?;
        if !refreshed.is_whole {
            return scan(place, query, skip);
        }
        let Some(database) = Database::open_to_read(&self.file) else { return scan(place, query, skip) };
        let asked = asking::ask(&database, place, query, &expression, skip, now);
        match database.done(&self.file, asked) {
            Some(found) if found.count > 0 || !asking::may_be_inside(query) => {
                let Refreshed { sessions, diagnostics, .. } = refreshed;
                Ok(Found { sessions: sessions.saturating_sub(diagnostics.len()), diagnostics, ..found })
            }
            Some(_) | None => scan(place, query, skip),
        }
    }
}
