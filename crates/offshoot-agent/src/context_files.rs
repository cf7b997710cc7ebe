//! The project's instructions: `AGENTS.md` or `CLAUDE.md` of the user's folder and of every folder from the file
//! system's root down to the working folder.
//!
//! Which file of a folder counts, and their order, are as in pi.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use offshoot_session::medium::{read_regular, read_regular_text};

/// A larger file is reported, not read.
const LIMIT: u64 = 1 << 20;

/// The first of these in a folder counts.
const NAMES: [&str; 5] = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ContextFile {
    pub path: PathBuf,
    /// Without a byte order mark; invalid UTF-8 is replaced.
    pub content: String,
}

/// A file that exists but could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}, whose instructions the model will not have", path.display())]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Unreadable {
    pub path: PathBuf,
    pub source: io::Error,
}

/// The instructions for a working folder: first the file of `home` (the user's folder of offshoot), then those of the
/// folders from the root down. In a git worktree inside its main repository, the worktree's file replaces the
/// repository's file of the same name. An unreadable file is reported, and the next name in its folder is used.
pub fn find(home: &Path, cwd: &Path) -> (Vec<ContextFile>, Vec<Unreadable>) {
    let mut unreadable = Vec::new();
    let shadowed = shadowed(cwd);
    let mut files: Vec<ContextFile> = of_folder(home, &mut unreadable).into_iter().collect();
    let mut folders: Vec<&Path> = cwd.ancestors().collect();
    folders.reverse();
    for folder in folders {
        let found = of_folder(folder, &mut unreadable);
        let is_new = |file: &ContextFile| files.iter().all(|other| other.path != file.path);
        let is_shadowed = |file: &ContextFile| shadowed.is_some() && fs::canonicalize(&file.path).ok() == shadowed;
        files.extend(found.into_iter().filter(|file| is_new(file) && !is_shadowed(file)).collect::<Vec<_>>());
    }
    (files, unreadable)
}

fn of_folder(folder: &Path, unreadable: &mut Vec<Unreadable>) -> Option<ContextFile> {
    let there = NAMES.iter().map(|name| folder.join(name)).filter(|path| path.is_file());
    for path in there {
        match read_regular(&path, LIMIT) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let content = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
                return Some(ContextFile { path, content });
            }
            Err(source) => unreadable.push(Unreadable { path, source }),
        }
    }
    None
}

/// The main repository's file that a worktree inside it has a copy of.
fn shadowed(cwd: &Path) -> Option<PathBuf> {
    let worktree = cwd.ancestors().find(|folder| folder.join(".git").exists())?;
    let link = read_regular_text(&worktree.join(".git"), LIMIT).ok()?;
    let git = fs::canonicalize(worktree.join(link.trim().strip_prefix("gitdir: ")?.trim())).ok()?;
    let common = read_regular_text(&git.join("commondir"), LIMIT).ok()?;
    let common = fs::canonicalize(git.join(common.trim())).ok()?;
    let main = common.parent()?;
    let worktree = fs::canonicalize(worktree).ok()?;
    let is_nested = worktree != main && worktree.starts_with(main);
    // A bare repository beside its worktrees has no files of its own.
    let is_checked_out = fs::canonicalize(main.join(".git")).is_ok_and(|git| git == common);
    let name = NAMES.iter().find(|name| worktree.join(name).is_file())?;
    (is_nested && is_checked_out).then(|| main.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(dir: &Path, files: &[(&str, &str)]) {
        for (file, text) in files {
            let path = dir.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    /// Only files below `dir`: the folders above a temporary folder may have some too.
    fn contents(dir: &Path, cwd: &str) -> Vec<String> {
        let (files, unreadable) = find(&dir.join("home"), &dir.join(cwd));
        assert!(unreadable.is_empty(), "{unreadable:?}");
        files.into_iter().filter(|file| file.path.starts_with(dir)).map(|file| file.content).collect()
    }

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        (dir, path)
    }

    #[test]
    fn files_come_from_the_outside_in_one_of_each_folder() {
        let (_dir, path) = folder();
        put(
            &path,
            &[
                ("home/AGENTS.md", "home"),
                ("CLAUDE.md", "outer"),
                ("a/AGENTS.md", "middle"),
                ("a/CLAUDE.md", "not this"),
                ("a/b/CLAUDE.md/file", "a folder is no file"),
                ("a/b/CLAUDE.MD", "\u{feff}inner"),
                ("a/b/c/AGENTS.override.md", "mine"),
                ("a/b/c/AGENTS.md", "theirs"),
                ("a/x/AGENTS.md", "elsewhere"),
            ],
        );
        assert_eq!(contents(&path, "a/b/c"), ["home", "outer", "middle", "inner", "mine"]);
        assert_eq!(contents(&path, "home"), ["home", "outer"]);
    }

    #[test]
    fn a_worktree_within_its_repository_has_its_own_file_instead_of_the_same_twice() {
        let (_dir, path) = folder();
        put(
            &path,
            &[
                ("AGENTS.md", "above"),
                ("main/.git/HEAD", ""),
                ("main/.git/worktrees/w/commondir", "../..\n"),
                ("main/AGENTS.md", "main"),
                ("main/trees/AGENTS.md", "between"),
                ("main/trees/w/AGENTS.md", "worktree"),
                ("main/trees/w/.git", "gitdir: ../../.git/worktrees/w\n"),
                ("main/plain/AGENTS.md", "plain"),
            ],
        );
        assert_eq!(contents(&path, "main/trees/w"), ["above", "between", "worktree"]);
        assert_eq!(contents(&path, "main/plain"), ["above", "main", "plain"]);
        fs::remove_file(path.join("main/trees/w/AGENTS.md")).unwrap();
        assert_eq!(contents(&path, "main/trees/w"), ["above", "main", "between"]);
    }
}
