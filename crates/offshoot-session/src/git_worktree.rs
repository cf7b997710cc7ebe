//! Where a linked worktree of git leads: to its own folder in the repository, and to what all worktrees share. Reads git's files, which may
//! be anybody's: regular ones, bounded. Decides nothing about trust, and runs no git.

use std::path::{Path, PathBuf};

use crate::medium::read_regular_text;

/// The longest file that names a folder, in bytes.
const LONGEST_LINK: u64 = 8 << 10;

/// The folders of a linked worktree, without links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedWorktree {
    /// Its own folder: `worktrees/NAME` below the other one.
    pub own: PathBuf,
    /// The repository's folder.
    pub common: PathBuf,
}

impl LinkedWorktree {
    /// Reads the file `.git` of a worktree. `None` if it is none, or names no folder that is there.
    #[must_use]
    pub fn read(root: &Path) -> Option<Self> {
        let link = read_regular_text(&root.join(".git"), LONGEST_LINK).ok()?;
        let own = root.join(link.trim().strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
        let common = named_folder(&own, "commondir")?.canonicalize().ok()?;
        Some(Self { own, common })
    }
}

/// The path in a file of a folder of git, from this folder on.
#[must_use]
pub fn named_folder(folder: &Path, file: &str) -> Option<PathBuf> {
    let named = read_regular_text(&folder.join(file), LONGEST_LINK).ok()?;
    Some(folder.join(named.trim()))
}
