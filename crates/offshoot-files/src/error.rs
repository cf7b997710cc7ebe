//! Why something about the files of a workspace failed. Knows no front end.

use std::io;
use std::path::{Path, PathBuf};

/// A failure.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// A file or folder of the store, or of the workspace.
    #[error("could not {what} {}", path.display())]
    Io {
        /// What was tried, as a verb.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A content that the store does not have, or has damaged.
    #[error("the content {0} is not in the store of this folder")]
    Missing(String),
    /// The data of an entry is not what offshoot writes.
    #[error("the entry does not list changes of files: {0}")]
    Malformed(String),
    /// Another process restores files of this folder.
    #[error("another process restores files of this folder")]
    Locked,
    /// A bound was reached.
    #[error("{0}")]
    Beyond(String),
}

/// Mostly of functions that touch the disk.
pub type FilesResult<T> = Result<T, FilesError>;

pub(crate) fn io_error(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FilesError {
    let path = path.to_owned();
    move |source| FilesError::Io { what, path, source }
}
