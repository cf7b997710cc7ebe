//! Where a repository is: its working files, its own part, and what its worktrees share. Reads names only.

use std::path::{Path, PathBuf};

use offshoot_session::git_worktree::LinkedWorktree;

/// The folders of a repository.
#[derive(Debug)]
pub(crate) struct GitPlace {
    /// Of the working files.
    pub(crate) top: PathBuf,
    /// Of its own part.
    pub(crate) own: PathBuf,
    /// Of what all its worktrees share.
    pub(crate) common: PathBuf,
}

impl GitPlace {
    /// The repository of a folder; `None` outside of git.
    pub(crate) fn of(root: &Path) -> Option<Self> {
        let top = root.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok())?.to_path_buf();
        Some(match LinkedWorktree::read(&top) {
            Some(LinkedWorktree { own, common, .. }) => Self { top, own, common },
            None => {
                let git = top.join(".git");
                Self { top, own: git.clone(), common: git }
            }
        })
    }
}
