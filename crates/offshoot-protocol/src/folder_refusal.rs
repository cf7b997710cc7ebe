//! Why a session is not continued in a folder.

use std::fmt;
use std::path::{Path, PathBuf};

use offshoot_session::text::spell_name;

/// Why a session is not continued: somebody must name the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum FolderRefusal {
    /// The session's folder is neither this one nor below it.
    Elsewhere { own: PathBuf, here: PathBuf },
    /// The session's folder does not exist.
    Gone { own: PathBuf, here: PathBuf },
    /// The named folder is neither the session's nor this one.
    Neither { named: PathBuf, own: PathBuf, here: PathBuf },
}

impl FolderRefusal {
    /// The folders that can be named.
    pub fn choices(&self) -> Vec<&Path> {
        match self {
            Self::Elsewhere { own, here } | Self::Neither { own, here, .. } => vec![own, here],
            Self::Gone { here, .. } => vec![here],
        }
    }
}

impl std::error::Error for FolderRefusal {}

impl fmt::Display for FolderRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |path: &Path| spell_name(&path.display().to_string()).into_owned();
        match self {
            Self::Elsewhere { own, here } => {
                write!(f, "the session's folder, {}, is not in this one, {}", shown(own), shown(here))
            }
            Self::Gone { own, .. } => write!(f, "the session's folder {} is not there any more", shown(own)),
            Self::Neither { named, own, here } => {
                let (named, own, here) = (shown(named), shown(own), shown(here));
                write!(f, "{named} is neither the session's folder, {own}, nor this one, {here}")
            }
        }
    }
}
