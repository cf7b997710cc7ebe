//! The git repository of a folder: what a commit writes, and what makes git run programs.

use std::path::{Path, PathBuf};

use offshoot_session::git_worktree::{LinkedWorktree, named_folder};

/// Names below a repository's folder that a command must not change: they name programs, or lead git to other settings.
const SETTINGS: [&str; 7] = ["hooks", "config", "config.worktree", "commondir", "gitdir", "modules", "worktrees"];

#[derive(Debug, Default)]
pub(super) struct GitPlaces {
    pub(super) writable: Vec<PathBuf>,
    pub(super) read_only: Vec<PathBuf>,
}

/// The places of the repository that this folder is in. A link named `.git` is not followed, and a file named `.git` only
/// to a worktree that names it as its own: a command could have made either.
pub(super) fn places(cwd: &Path) -> GitPlaces {
    let found = cwd.ancestors().map(|folder| folder.join(".git")).find(|git| git.symlink_metadata().is_ok());
    let Some((git, kind)) = found.and_then(|git| Some((git.clone(), git.symlink_metadata().ok()?))) else {
        return GitPlaces::default();
    };
    if kind.is_dir() {
        return GitPlaces { read_only: settings(&git), writable: vec![git] };
    }
    let mut places = GitPlaces { writable: Vec::new(), read_only: vec![git.clone()] };
    if let Some((own, common)) = kind.is_file().then(|| worktree(&git)).flatten() {
        places.read_only.extend(settings(&common).into_iter().chain(settings(&own)));
        places.writable.extend([common, own]);
    }
    places
}

/// Those that exist.
pub(super) fn settings(git: &Path) -> Vec<PathBuf> {
    SETTINGS.iter().map(|name| git.join(name)).filter(|path| path.exists()).collect()
}

/// A linked worktree's own folder and that of its repository.
fn worktree(file: &Path) -> Option<(PathBuf, PathBuf)> {
    let LinkedWorktree { own, common } = LinkedWorktree::read(file.parent()?)?;
    let back = named_folder(&own, "gitdir")?.canonicalize().ok()?;
    let is_its_own = back == file.canonicalize().ok()? && own.parent()? == common.join("worktrees");
    is_its_own.then_some((own, common))
}
