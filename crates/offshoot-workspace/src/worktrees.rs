//! The folders that are the same place in other worktrees of a git repository. What git's files say only names folders to compare
//! with. Runs no git, and knows no session.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_session::git_worktree::{LinkedWorktree, named_folder};

/// Worktrees that are looked at.
const MOST_WORKTREES: usize = 256;

/// A folder, which is whole and without links, and what it is in the other worktrees of its repository.
pub(crate) fn in_all_worktrees(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    let root = folder.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok());
    if let Some((root, common)) = root.and_then(|root| Some((root, common_folder(root)?)))
        && let Ok(inside) = folder.strip_prefix(root)
    {
        found.extend(worktrees(&common).into_iter().filter(|other| other != root).map(|other| other.join(inside)));
    }
    found
}

/// Where git keeps what all worktrees share.
fn common_folder(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return git.canonicalize().ok();
    }
    LinkedWorktree::read(root).map(|worktree| worktree.common)
}

/// The roots of a repository's worktrees that are there, the main one first.
fn worktrees(common: &Path) -> Vec<PathBuf> {
    let main = common.parent().filter(|main| main.join(".git").canonicalize().is_ok_and(|git| git == *common));
    let linked = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten().take(MOST_WORKTREES);
    let root = |of: fs::DirEntry| named_folder(&of.path(), "gitdir")?.parent()?.canonicalize().ok();
    main.map(Path::to_owned).into_iter().chain(linked.filter_map(root)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(dir: &Path, files: &[(&str, String)]) {
        for (file, text) in files {
            let path = dir.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            #[expect(clippy::disallowed_methods, reason = "a file of a test")]
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn a_folder_is_found_in_all_worktrees() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().canonicalize().unwrap();
        let at = |place: &str| dir.join(place);
        put(
            &dir,
            &[
                ("main/.git/HEAD", String::new()),
                ("main/.git/worktrees/one/commondir", "../..\n".to_owned()),
                ("main/.git/worktrees/one/gitdir", format!("{}\n", at("one/.git").display())),
                ("one/.git", format!("gitdir: {}\n", at("main/.git/worktrees/one").display())),
                ("one/src/a", String::new()),
                // It has gone.
                ("main/.git/worktrees/two/gitdir", format!("{}\n", at("two/.git").display())),
                ("alone/a", String::new()),
            ],
        );
        assert_eq!(in_all_worktrees(&at("main/src")), [at("main/src"), at("one/src")]);
        assert_eq!(in_all_worktrees(&at("one/src")), [at("one/src"), at("main/src")]);
        assert_eq!(in_all_worktrees(&at("main")), [at("main"), at("one")]);
        assert_eq!(in_all_worktrees(&at("alone")), [at("alone")]);
        put(&dir, &[("alone/.git", "gitdir: /dev/zero\n".to_owned())]);
        assert_eq!(in_all_worktrees(&at("alone")), [at("alone")]);
    }
}
