//! The seam to where sessions come from: a new one, one that is there, the place of one that is copied.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_session::error::Result;
use offshoot_session::session::{NewSession, Options, Session};

use crate::provider::Model;

/// Gives sessions. Asked on the thread that owns the open session.
pub trait Sessions: Send + Sync {
    /// Begins a session of this working directory; its file appears with its first entry.
    ///
    /// # Errors
    /// There is no place for it.
    fn create(&self, new: &NewSession<'_>) -> Result<Session>;

    /// Opens a session file.
    ///
    /// # Errors
    /// As [`Session::open`].
    fn open(&self, file: &Path) -> Result<Session>;

    /// Where a session of this id, time and working directory is kept.
    fn place(&self, cwd: &str, id: &str, timestamp: &str) -> PathBuf;

    /// The model that a session names, if it is to be had.
    fn model(&self, _provider: &str, _id: &str) -> Option<Arc<Model>> {
        None
    }
}

/// Sessions that are never on disk, for agents that are embedded without a store.
#[derive(Debug, Clone, Copy, Default)]
pub struct InMemory;

impl Sessions for InMemory {
    fn create(&self, new: &NewSession<'_>) -> Result<Session> {
        Session::in_memory(new, Options::default())
    }

    fn open(&self, file: &Path) -> Result<Session> {
        Session::open(file, Options::default())
    }

    fn place(&self, cwd: &str, id: &str, timestamp: &str) -> PathBuf {
        Path::new(cwd).join(offshoot_session::store::file_name(id, timestamp))
    }
}
