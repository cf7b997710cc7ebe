//! The other agents whose own folders may count after offshoot's. Reads no folder.

use std::path::{Path, PathBuf};

/// An agent whose own folder may count after offshoot's, in the order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Peer {
    Pi,
    Omp,
}

/// A peer's own folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct PeerFolder {
    pub peer: Peer,
    pub path: PathBuf,
}

impl Peer {
    /// All, in the order of precedence.
    pub const ALL: [Self; 2] = [Self::Pi, Self::Omp];

    /// Its short name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pi => "pi",
            Self::Omp => "omp",
        }
    }

    /// The setting that says whether its folder counts.
    #[must_use]
    pub const fn setting(self) -> &'static str {
        match self {
            Self::Pi => "piFolder",
            Self::Omp => "ompFolder",
        }
    }

    /// Its folder in a project.
    #[must_use]
    pub const fn in_project(self) -> &'static str {
        match self {
            Self::Pi => ".pi",
            Self::Omp => ".omp",
        }
    }
}

/// A project's folder of offshoot.
pub const OWN_IN_PROJECT: &str = ".offshoot";

/// A project's folders of offshoot and its peers, in the order of precedence.
#[must_use]
pub fn project_folders(cwd: &Path) -> [(Option<Peer>, PathBuf); 3] {
    [None, Some(Peer::Pi), Some(Peer::Omp)].map(|peer| (peer, cwd.join(peer.map_or(OWN_IN_PROJECT, Peer::in_project))))
}
