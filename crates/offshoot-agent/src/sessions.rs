//! The interface to the store of sessions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_session::error::Result;
use offshoot_session::session::{NewSession, Options, Session};
use offshoot_session::tree::NodeIx;

use offshoot_protocol::model::Model;
use offshoot_protocol::{AgentError, FilesAlong, FilesThatCame};

/// Called on the thread that owns the open session.
pub trait Sessions: Send + Sync {
    /// Creates a session; its file appears with the first entry.
    ///
    /// # Errors
    /// The session cannot be created.
    fn create(&self, new: &NewSession<'_>) -> Result<Session>;

    /// Opens a session file.
    ///
    /// # Errors
    /// As [`Session::open`].
    fn open(&self, file: &Path) -> Result<Session>;

    /// Opens a session file, or starts a new session there: see [`Session::open_or_create`].
    ///
    /// # Errors
    /// As [`Session::open_or_create`].
    fn open_or_create(&self, file: &Path, new: &NewSession<'_>) -> Result<Session> {
        Session::open_or_create(file, new, Options::default())
    }

    /// The path of a session with this id, time and working directory.
    fn file_path(&self, cwd: &str, id: &str, timestamp: &str) -> PathBuf;

    /// The name of a fork of this session; see [`Session::fork_name`].
    ///
    /// # Errors
    /// The session cannot be read.
    fn fork_name(&self, session: &Session) -> Result<Option<String>> {
        session.fork_name(&|_| false)
    }

    /// Makes the files of an entry ready for a session that begins there; `None`: of before the first entry. Nothing changes yet.
    ///
    /// # Errors
    /// Files are not recorded, or cannot come.
    fn files_of(
        &self,
        _: &Session,
        _: Option<NodeIx>,
        _: FilesAlong,
    ) -> std::result::Result<Box<dyn ReadyFiles>, AgentError> {
        Err(AgentError::Failed("files are not recorded here".to_owned()))
    }

    /// The model that a session names, if it is available.
    fn model(&self, _provider: &str, _id: &str) -> Option<Arc<Model>> {
        None
    }
}

/// Files that are ready to come: all of them, or none.
pub trait ReadyFiles {
    /// They come, for this session as well.
    ///
    /// # Errors
    /// What was begun cannot be written down: the next program completes it.
    fn come(self: Box<Self>, session: &str) -> std::result::Result<FilesThatCame, AgentError>;

    /// They stay as they are.
    ///
    /// # Errors
    /// What was made ready cannot be removed.
    fn stay(self: Box<Self>) -> std::result::Result<(), AgentError>;
}

/// Sessions that are never on disk, for agents embedded without a store.
#[derive(Debug, Clone, Copy, Default)]
pub struct InMemory;

impl Sessions for InMemory {
    fn create(&self, new: &NewSession<'_>) -> Result<Session> {
        Session::in_memory(new, Options::default())
    }

    fn open(&self, file: &Path) -> Result<Session> {
        Session::open(file, Options::default())
    }

    fn file_path(&self, cwd: &str, id: &str, timestamp: &str) -> PathBuf {
        Path::new(cwd).join(offshoot_session::store::file_name(id, timestamp))
    }
}
