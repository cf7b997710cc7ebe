//! Stores of sessions: the trait, a store over folders, and one in memory.
//!
//! The caller names the folders; a store reads neither the environment nor the home directory. [`crate::testing`] has
//! the suite that every store must pass. See *Lists* and *Where files are* in `docs/format.md`.

mod memory;
mod roots;
mod folders;
mod of_id;
mod imports;
mod dir;

use crate::error::{Diagnostic, Error, Result};
use crate::list::SessionInfo;
use crate::session::{NewSession, Options, Session};

pub use dir::{DirStore, WorkFolder, file_name, unreadable};
pub use folders::{Folder, FoundFile};
pub use memory::MemoryStore;
pub use of_id::{id_in_name, is_session_uuid};
pub use roots::{Flavour, ForeignFolder, ForeignFormat, Root, encode_cwd};

/// What to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scope<'a> {
    /// Only sessions of this working directory.
    pub cwd: Option<&'a str>,
    /// Also collect all messages, for searching.
    pub with_text: bool,
}

/// Called while a list is read with the number of sessions done and of all.
pub type Progress<'a> = &'a mut dyn FnMut(usize, usize);

/// A store of sessions.
///
/// Ids name sessions. Listed sessions can be opened; unreadable ones never hide others.
///
/// # Errors
/// All methods fail if the store cannot be read.
pub trait Store {
    /// Starts a new session. It is in the store once it has an entry.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an invalid id.
    fn create(&self, new: &NewSession<'_>, options: Options) -> Result<Session>;

    /// Opens a session by its full id.
    ///
    /// # Errors
    /// [`Error::SessionNotFound`], and those of [`Session::open`].
    fn open(&self, id: &str, options: Options) -> Result<Session>;

    /// Lists sessions, last activity first; unreadable ones are diagnostics.
    fn list(&self, scope: Scope<'_>, progress: Progress<'_>) -> Result<(Vec<SessionInfo>, Vec<Diagnostic>)>;

    /// The id of the session of this working directory with the latest write.
    fn most_recent(&self, cwd: Option<&str>) -> Result<Option<String>>;

    /// Opens the most recent session of a working directory, or starts a new one.
    fn continue_recent(&self, new: &NewSession<'_>, options: Options) -> Result<Session> {
        match self.most_recent(Some(new.cwd))? {
            Some(id) => self.open(&id, options),
            None => self.create(new, options),
        }
    }

    /// The full id that an id or a unique prefix names.
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
    fn ids(&self) -> Result<Vec<String>>;
}
