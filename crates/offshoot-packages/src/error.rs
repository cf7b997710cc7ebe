//! What can go wrong with a package.

use std::io;
use std::path::{Path, PathBuf};

/// Why a package cannot be used or installed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum PackageError {
    #[error("{text:?} is no package: {why}")]
    Source { text: String, why: String },
    #[error("{}: {why}", file.display())]
    Manifest { file: PathBuf, why: String },
    #[error("{package} is refused: {why}")]
    Refused { package: String, why: String },
    #[error("could not get {package}: {why}")]
    Fetch { package: String, why: String },
    #[error("could not {what}: {source}")]
    Io { what: String, source: io::Error },
    #[error("{0} is not installed here")]
    NotInstalled(String),
}

impl PackageError {
    pub(crate) fn io(what: &str, path: &Path, source: io::Error) -> Self {
        Self::Io { what: format!("{what} {}", path.display()), source }
    }

    pub(crate) fn refused(package: &str, why: impl Into<String>) -> Self {
        Self::Refused { package: package.to_owned(), why: why.into() }
    }

    /// A package with more files than packages may have.
    pub(crate) fn crowded(package: &str, most: usize) -> Self {
        Self::refused(
            package,
            format!(
                "it has more than {most} files, the most that a package may have; unpack it yourself and name what you need of it \
                 in the settings skills, prompts and themes"
            ),
        )
    }

    /// A package that takes more room than packages may.
    pub(crate) fn large(package: &str, most: u64) -> Self {
        Self::refused(
            package,
            format!(
                "it is larger than {} MiB, the most that a package may be; unpack it yourself and name what you need of it in \
                 the settings skills, prompts and themes",
                most >> 20
            ),
        )
    }

    pub(crate) fn fetch(package: &str, why: impl Into<String>) -> Self {
        Self::Fetch { package: package.to_owned(), why: why.into() }
    }
}

/// The result of everything that has to do with packages.
pub type Result<T> = std::result::Result<T, PackageError>;
