//! The project's instructions: `AGENTS.md` or `CLAUDE.md` of the user's folder and of every folder from the file
//! system's root down to the working folder.
//!
//! Which file of a folder counts, and their order, are as in pi. A project may come from anybody: its links do not lead
//! out of it, and the files have limits.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use offshoot_session::git_worktree::LinkedWorktree;
use offshoot_session::medium::open_regular;

/// Of a larger file, the model gets the beginning.
const MAX_FILE: usize = 64 << 10;
/// Of more in all, the innermost files count.
const MAX_ALL: usize = 256 << 10;

/// The first of these in a folder counts.
const NAMES: [&str; 5] = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ContextFile {
    pub path: PathBuf,
    /// Without a byte order mark; invalid UTF-8 is replaced. A text that is cut ends with a note that says so.
    pub content: String,
}

/// Where links of a project may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Links {
    Anywhere,
    Inside,
}

/// Instructions that the model does not have, or not in full.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum ContextTrouble {
    #[error("cannot read {}, whose instructions the model will not have: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// A link to a file that is not the project's.
    #[error(
        "{} leads to {}, outside {}: the model will not have these instructions",
        path.display(), target.display(), root.display()
    )]
    LeadsOutside { path: PathBuf, target: PathBuf, root: PathBuf },
    #[error("of {} ({length} bytes) the model has the first {kept} bytes", path.display())]
    Cut { path: PathBuf, length: u64, kept: usize },
}

/// The instructions for a working folder: first the file of `home` (the user's folder of offshoot), then those of the
/// folders from the root down. In a git worktree inside its main repository, the worktree's file replaces the
/// repository's file of the same name. `also` is a folder whose file comes last. With [`Links::Inside`] a link must not lead out of the git repository of its
/// folder, or out of the folder if it is in none; the user's own folder may link anywhere. A refused file is reported,
/// and the next name in its folder is used.
pub fn find(home: &Path, cwd: &Path, also: Option<&Path>, links: Links) -> (Vec<ContextFile>, Vec<ContextTrouble>) {
    let mut troubles = Vec::new();
    let shadowed = shadowed(cwd);
    let mut files: Vec<FoundFile> = of_folder(home, Links::Anywhere, &mut troubles).into_iter().collect();
    let mut folders: Vec<&Path> = cwd.ancestors().collect();
    folders.reverse();
    folders.extend(also);
    for folder in folders {
        let links = if folder == home { Links::Anywhere } else { links };
        let found = of_folder(folder, links, &mut troubles);
        let is_new = |file: &FoundFile| files.iter().all(|other| other.path != file.path);
        let is_shadowed = |file: &FoundFile| shadowed.is_some() && fs::canonicalize(&file.path).ok() == shadowed;
        files.extend(found.into_iter().filter(|file| is_new(file) && !is_shadowed(file)).collect::<Vec<_>>());
    }
    (within_limits(files, &mut troubles), troubles)
}

/// Whether a folder has a context file of its own.
#[must_use]
pub fn has_one(folder: &Path) -> bool {
    NAMES.iter().any(|name| folder.join(name).is_file())
}

/// The beginning of a file.
struct FoundFile {
    path: PathBuf,
    length: u64,
    text: String,
}

fn of_folder(folder: &Path, links: Links, troubles: &mut Vec<ContextTrouble>) -> Option<FoundFile> {
    let there = NAMES.iter().map(|name| folder.join(name)).filter(|path| path.is_file());
    for path in there {
        match read_beginning(&path, folder, links) {
            Ok(found) => return Some(found),
            Err(trouble) => troubles.push(trouble),
        }
    }
    None
}

fn read_beginning(path: &Path, folder: &Path, links: Links) -> Result<FoundFile, ContextTrouble> {
    let unreadable = |source| ContextTrouble::Unreadable { path: path.to_path_buf(), source };
    let target = fs::canonicalize(path).map_err(unreadable)?;
    if links == Links::Inside {
        let root = fs::canonicalize(folder).map_err(unreadable)?;
        let root = root.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&root);
        if !target.starts_with(root) {
            return Err(ContextTrouble::LeadsOutside { path: path.to_path_buf(), target, root: root.to_path_buf() });
        }
    }
    let file = open_regular(&target).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let mut bytes = Vec::new();
    // A byte order mark does not count.
    file.take(MAX_FILE as u64 + 4).read_to_end(&mut bytes).map_err(unreadable)?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    Ok(FoundFile { path: path.to_path_buf(), length, text })
}

/// Cuts what is too long, the outermost files first.
fn within_limits(files: Vec<FoundFile>, troubles: &mut Vec<ContextTrouble>) -> Vec<ContextFile> {
    let mut room = MAX_ALL;
    let mut kept: Vec<ContextFile> = Vec::new();
    for FoundFile { path, length, mut text } in files.into_iter().rev() {
        let end = text.floor_char_boundary(MAX_FILE.min(room));
        if end < text.len() {
            // Whole lines, if there are any.
            text.truncate(text[..end].rfind('\n').map_or(end, |line| line + 1));
            let kept = text.len();
            text.push_str(&format!("\n[cut: the first {kept} of {length} bytes; read the file for the rest]"));
            troubles.push(ContextTrouble::Cut { path: path.clone(), length, kept });
            room -= kept;
        } else {
            room -= end;
        }
        kept.push(ContextFile { path, content: text });
    }
    kept.reverse();
    kept
}

/// The main repository's file that a worktree inside it has a copy of.
fn shadowed(cwd: &Path) -> Option<PathBuf> {
    let worktree = cwd.ancestors().find(|folder| folder.join(".git").exists())?;
    let LinkedWorktree { common, .. } = LinkedWorktree::read(worktree)?;
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
        let (files, troubles) = find(&dir.join("home"), &dir.join(cwd), None, Links::Inside);
        assert!(troubles.is_empty(), "{troubles:?}");
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

    /// The troubles about files below `dir`.
    fn troubles(dir: &Path, cwd: &str) -> Vec<String> {
        let (_, troubles) = find(&dir.join("home"), &dir.join(cwd), None, Links::Inside);
        let own = dir.display().to_string();
        troubles.iter().map(ToString::to_string).filter(|trouble| trouble.contains(&own)).collect()
    }

    /// `AGENTS.md -> ~/.ssh/id_rsa` of a cloned project was sent to the model.
    #[test]
    fn a_link_does_not_lead_out_of_its_repository_or_folder() {
        use std::os::unix::fs::symlink;
        let (_dir, path) = folder();
        put(
            &path,
            &[
                ("secret", "key"),
                ("shared.md", "the user's own"),
                ("clone/.git/HEAD", ""),
                ("clone/docs/rules.md", "rules"),
                ("clone/CLAUDE.md", "next"),
                ("clone/sub/x", ""),
                ("plain/inner.md", "inner"),
                ("plain/sub/x", ""),
                ("home/x", ""),
            ],
        );
        symlink("../secret", path.join("clone/AGENTS.md")).unwrap();
        symlink("../docs/rules.md", path.join("clone/sub/AGENTS.md")).unwrap();
        symlink("inner.md", path.join("plain/AGENTS.md")).unwrap();
        symlink("../inner.md", path.join("plain/sub/AGENTS.md")).unwrap();
        symlink("../shared.md", path.join("home/AGENTS.md")).unwrap();
        let found = |cwd: &str| {
            let (files, _) = find(&path.join("home"), &path.join(cwd), None, Links::Inside);
            let own = files.into_iter().filter(|file| file.path.starts_with(&path));
            own.map(|file| file.content).collect::<Vec<_>>()
        };
        assert_eq!(found("clone/sub"), ["the user's own", "next", "rules"]);
        let root = path.display();
        assert_eq!(
            troubles(&path, "clone"),
            [format!(
                "{root}/clone/AGENTS.md leads to {root}/secret, outside {root}/clone: the model will not have these \
                 instructions"
            )]
        );
        assert_eq!(found("plain/sub"), ["the user's own", "inner"]);
        assert!(troubles(&path, "plain/sub")[0].contains(&format!("outside {root}/plain/sub:")));
    }

    #[test]
    fn a_device_or_a_fifo_is_not_read() {
        let (_dir, path) = folder();
        put(&path, &[("home/x", ""), ("work/.git/HEAD", ""), ("work/x", "")]);
        std::os::unix::fs::symlink("/dev/zero", path.join("work/AGENTS.md")).unwrap();
        let fifo = path.join("work/CLAUDE.md");
        assert!(std::process::Command::new("mkfifo").arg(fifo).status().unwrap().success());
        assert_eq!(contents(&path, "work"), [""; 0]);
    }

    #[test]
    fn what_is_too_long_is_cut_and_both_are_told() {
        let (_dir, path) = folder();
        let line = "é and more\n";
        let long = line.repeat(MAX_FILE / line.len() + 100);
        let names = ["home/AGENTS.md", "a/AGENTS.md", "a/b/AGENTS.md", "a/b/c/AGENTS.md", "a/b/c/d/AGENTS.md"];
        put(&path, &names.map(|name| (name, long.as_str())));
        let (files, _) = find(&path.join("home"), &path.join("a/b/c/d"), None, Links::Inside);
        let own: Vec<_> = files.iter().filter(|file| file.path.starts_with(&path)).collect();
        let sum: usize = own.iter().map(|file| file.content.len()).sum();
        assert!(sum < MAX_ALL + own.len() * 100, "{sum}");
        let (first, rest) = own.split_first().unwrap();
        let kept = MAX_FILE / line.len() * line.len();
        let note =
            |kept: usize| format!("\n[cut: the first {kept} of {} bytes; read the file for the rest]", long.len());
        for file in rest {
            assert_eq!(file.content, long[..kept].to_owned() + &note(kept));
        }
        // The outermost file has the rest of the room.
        let left = (MAX_ALL - 4 * kept) / line.len() * line.len();
        assert_eq!(first.content, long[..left].to_owned() + &note(left));
        let told = troubles(&path, "a/b/c/d");
        assert_eq!(told.len(), 5);
        let innermost = path.join("a/b/c/d/AGENTS.md");
        let length = long.len();
        assert_eq!(
            told[0],
            format!("of {} ({length} bytes) the model has the first {kept} bytes", innermost.display())
        );
    }
}
