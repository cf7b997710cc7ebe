//! The index of words: an SQLite file in the cache folder that can be deleted at any time. The session files are the truth.
//!
//! Trouble with the file never fails a search: a damaged one is made anew, one that cannot be used is passed over, and the
//! scan answers. One process writes at a time; others search what is there.

mod database;
mod known_end;
mod known_sources;
mod blocks;
mod prepared;
mod writing;
mod later_blocks;
mod pipeline;
mod refresh;
mod candidate;
mod reading;
mod rows;
mod expression;
mod terms;
mod beginnings;
mod common;
mod asking;
mod inside;
mod search;
#[cfg(feature = "testing")]
pub mod bare;

use std::path::{Path, PathBuf};

use offshoot_catalogue::cache_file::{CacheExamination, remove_all};
use offshoot_session::clock::Millis;
use offshoot_session::error::Result;

use crate::hit::Found;
use crate::query::SearchQuery;
use crate::scan::{SearchedPlace, scan};

use database::Database;
pub use database::IndexState;
pub use offshoot_catalogue::CacheHealth;
use refresh::RefreshBounds;
pub use refresh::Refreshed;
use search::IndexSearch;

/// The index in a cache folder.
#[derive(Debug, Clone)]
pub struct SearchIndex {
    file: PathBuf,
    /// See [`SearchIndex::with_blocks_later_above`].
    at_once: u64,
    /// See [`SearchIndex::with_read_before_answer`].
    before_answer: u64,
}

/// Up to so many new bytes of sessions, blocks are made together with the words.
const AT_ONCE: u64 = 256 << 20;
/// So many new bytes of sessions are read before a search answers; the rest is scanned, which is quicker.
const BEFORE_ANSWER: u64 = 8 << 20;

impl SearchIndex {
    /// The index in this cache folder. Creates and reads nothing yet.
    #[must_use]
    pub fn new(cache: &Path) -> Self {
        Self { file: cache.join(database::FILE), at_once: AT_ONCE, before_answer: BEFORE_ANSWER }
    }

    /// The same index. When more than so many bytes of sessions are new, their words are read first and their blocks are left to
    /// [`SearchIndex::make_blocks`]. Usually this is 256 MiB.
    #[must_use]
    pub fn with_blocks_later_above(self, bytes: u64) -> Self {
        Self { at_once: bytes, ..self }
    }

    /// The database's file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The state of the database, after a look at each of its pages. Creates and changes nothing.
    #[must_use]
    pub fn state(&self) -> IndexState {
        database::state(&self.file, CacheExamination::Pages)
    }

    /// The same of a database that was just made, whose pages need no look.
    #[must_use]
    pub fn state_when_made(&self) -> IndexState {
        database::state(&self.file, CacheExamination::Version)
    }

    /// Removes the index; the next search makes it anew.
    pub fn remove(&self) {
        remove_all(&self.file);
    }

    /// The same index. A search reads this many new bytes of sessions at most, those of the newest that fit, and scans the rest:
    /// [`SearchIndex::refresh`] reads it. Usually these are 8 MiB.
    #[must_use]
    pub fn with_read_before_answer(self, bytes: u64) -> Self {
        Self { before_answer: bytes, ..self }
    }

    /// Reads what is new of all sessions into the index, the newest first. `now` is the current time: a file that changed just
    /// before may change again without a trace, and is looked at again next time. What is done stays if this is cut off.
    ///
    /// # Errors
    /// The store's own root cannot be read. A failure of the index is not an error: [`Refreshed::unread`] has the sessions that
    /// are not in it.
    pub fn refresh(&self, place: SearchedPlace<'_>, now: Millis) -> Result<Refreshed> {
        self.refresh_up_to(u64::MAX, place, now)
    }

    fn refresh_up_to(&self, read: u64, place: SearchedPlace<'_>, now: Millis) -> Result<Refreshed> {
        refresh::refresh(&self.file, place, (now, RefreshBounds { with_blocks: self.at_once, read }))
    }

    /// Makes what is missing of the index of parts of words, the newest sessions first, until `place.is_over`. Returns whether
    /// nothing is missing. Searches are right without it, but slow where they look inside of words.
    #[must_use]
    pub fn make_blocks(&self, place: SearchedPlace<'_>) -> bool {
        refresh::make_blocks(&self.file, place)
    }

    /// Finds what fits a query, the best hits first. Reads what is new first, unless that is much. Sessions that are not in the
    /// index as they are now are scanned: those that are left for [`SearchIndex::refresh`], those that another process is just
    /// writing, or all, where the index cannot be used.
    ///
    /// # Errors
    /// Those of [`scan`].
    pub fn search(&self, place: SearchedPlace<'_>, query: &SearchQuery, skip: usize, now: Millis) -> Result<Found> {
        let refreshed = self.refresh_up_to(self.before_answer, place, now)?;
        let search = IndexSearch { place, query, skip, now, refreshed: &refreshed };
        let Some(database) = Database::open_to_read(&self.file) else { return scan(place, query, skip) };
        let asked = search.ask(&database);
        let Some(mut found) = database.done(&self.file, asked) else { return scan(place, query, skip) };
        found.session_ids.extend(refreshed.session_ids);
        Ok(found)
    }
}
