//! Where sessions are kept: the store's promises, a store over folders, and one in memory.
//!
//! A store is told where to look; it reads neither the environment nor the home directory. [`crate::testing`] holds the
//! suite that every store must pass. See `docs/format.md`,
//! *Lists* and *Where files are*.

mod memory;
mod roots;
mod folders;
mod dir;

use crate::error::{Diagnostic, Error, Result};
use crate::list::SessionInfo;
use crate::session::{NewSession, Options, Session};

pub use dir::{DirStore, file_name, unreadable};
pub use folders::{Folder, FoundFile};
pub use memory::MemoryStore;
pub use roots::{Flavour, Root, encode_cwd};

/// Which sessions a list is of.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scope<'a> {
    /// Only those of this working directory.
    pub cwd: Option<&'a str>,
    /// Also gather everything that was said, for searching.
    pub with_text: bool,
}

/// Told while a list is read: how many sessions are done, of how many.
pub type Progress<'a> = &'a mut dyn FnMut(usize, usize);

/// A place that keeps sessions.
///
/// Sessions are named by their id. What is listed can be opened; a session that cannot be read never hides the others.
pub trait Store {
    /// Starts a new session. It is in the store from its first entry on.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an id that is none.
    fn create(&self, new: &NewSession<'_>, options: Options) -> Result<Session>;

    /// Opens a session by its whole id.
    ///
    /// # Errors
    /// [`Error::SessionNotFound`], and as [`Session::open`].
    fn open(&self, id: &str, options: Options) -> Result<Session>;

    /// Lists sessions, last activity first; those that cannot be read come as diagnostics.
    ///
    /// # Errors
    /// The store itself cannot be read.
    fn list(&self, scope: Scope<'_>, progress: Progress<'_>) -> Result<(Vec<SessionInfo>, Vec<Diagnostic>)>;

    /// The id of the session of this working directory that was written to last.
    ///
    /// # Errors
    /// The store itself cannot be read.
    fn most_recent(&self, cwd: Option<&str>) -> Result<Option<String>>;

    /// Opens the most recent session of a working directory, or starts a new one.
    ///
    /// # Errors
    /// As the other methods.
    fn continue_recent(&self, new: &NewSession<'_>, options: Options) -> Result<Session> {
        match self.most_recent(Some(new.cwd))? {
            Some(id) => self.open(&id, options),
            None => self.create(new, options),
        }
    }

    /// The id that a whole id or a unique start of one names.
    ///
    /// # Errors
    /// [`Error::SessionNotFound`], [`Error::Ambiguous`].
    fn find(&self, given: &str) -> Result<String> {
        let ids = self.ids()?;
        if ids.iter().any(|id| id == given) {
            return Ok(given.to_owned());
        }
        let mut fitting: Vec<_> = ids.into_iter().filter(|id| !given.is_empty() && id.starts_with(given)).collect();
        fitting.dedup();
        match fitting.as_slice() {
            [] => Err(Error::SessionNotFound { given: given.to_owned() }),
            [only] => Ok(only.clone()),
            _ => {
                fitting.truncate(6);
                Err(Error::Ambiguous { what: "session", given: given.to_owned(), candidates: fitting })
            }
        }
    }

    /// The ids of all sessions, sorted.
    ///
    /// # Errors
    /// The store itself cannot be read.
    fn ids(&self) -> Result<Vec<String>>;
}
