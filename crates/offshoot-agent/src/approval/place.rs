//! In which folder each command of a line runs, and which repository git would use there. Reads the file system; changes nothing.

use std::path::{Component, Path, PathBuf};

use offshoot_session::medium::real_path_or_same;

use super::shell_line::{Joiner, ShellLine};

/// Built-in commands that change the folder.
const MOVERS: &[&str] = &["cd", "pushd", "popd"];

/// More in one line are not followed.
const MAX_MOVES: usize = 16;

/// Whether the command changes the folder of the commands after it.
pub(super) fn moves(words: &[String]) -> bool {
    words.first().is_some_and(|name| MOVERS.contains(&name.as_str()))
}

/// The folders in which each command may run, in the order of the line. `None` if a change of the folder leads out of the repository of `cwd`, into
/// another one, or nobody knows where.
pub(super) fn folders(line: &ShellLine, cwd: &Path) -> Option<Vec<Vec<PathBuf>>> {
    let mut seen = vec![cwd.to_owned()];
    let mut current = seen.clone();
    let mut before = Joiner::Then;
    let mut found = Vec::new();
    for command in &line.commands {
        found.push(current.clone());
        let is_certain = before.is_certain() && command.joined_to_next == Joiner::And;
        before = command.joined_to_next;
        if moves(&command.words) {
            let target = match command.words.as_slice() {
                [name, target] if name != "popd" => target,
                _ => return None,
            };
            let reached = current.iter().map(|folder| step(folder, target, cwd)).collect::<Option<Vec<_>>>()?;
            seen.extend(reached.iter().cloned());
            seen.dedup();
            current = if is_certain { reached } else { seen.clone() };
        } else if before != Joiner::And {
            current.clone_from(&seen);
        }
        if seen.len() > MAX_MOVES {
            return None;
        }
    }
    Some(found)
}

/// Where `cd TARGET` leads. The shell follows the path by its text, the system by its links: where they differ nobody knows.
fn step(folder: &Path, target: &str, cwd: &Path) -> Option<PathBuf> {
    if target.is_empty() || target.starts_with(['-', '~', '+']) {
        return None;
    }
    let by_text = by_text(&folder.join(target))?;
    let goes_up = Path::new(target).components().any(|part| part == Component::ParentDir);
    if goes_up && !by_text.starts_with(cwd) {
        return None;
    }
    let real = std::fs::canonicalize(&by_text).ok().filter(|real| real.is_dir())?;
    let is_same = std::fs::canonicalize(folder.join(target)).is_ok_and(|linked| linked == real);
    (is_same && is_within(&real, cwd)).then_some(by_text)
}

fn by_text(path: &Path) -> Option<PathBuf> {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => found.pop().then_some(())?,
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => found.push(part),
        }
    }
    Some(found)
}

/// Whether a folder belongs to the repository of `cwd`, or to `cwd` if that is in none, with no other repository between.
fn is_within(real: &Path, cwd: &Path) -> bool {
    let root = match repository(&real_path_or_same(cwd)) {
        Repository::At(root) => root,
        Repository::None => real_path_or_same(cwd),
        Repository::Bare => return false,
    };
    real.starts_with(&root)
        && real.ancestors().take_while(|folder| *folder != root).all(|folder| !has_git(folder) && !is_bare(folder))
}

/// Whether git would use the same repository in all folders: that of `cwd`.
pub(super) fn is_own_repository(folders: &[PathBuf], cwd: &Path) -> bool {
    let own = repository(&real_path_or_same(cwd));
    own != Repository::Bare && folders.iter().all(|folder| repository(&real_path_or_same(folder)) == own)
}

/// The folder with the `.git` that git would use in all folders and in `cwd`.
pub(super) fn own_repository(folders: &[PathBuf], cwd: &Path) -> Option<PathBuf> {
    match repository(&real_path_or_same(cwd)) {
        Repository::At(root) => is_own_repository(folders, cwd).then_some(root),
        Repository::None | Repository::Bare => None,
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Repository {
    None,
    /// The folder that has its `.git`.
    At(PathBuf),
    /// A folder that is a repository itself: its configuration may have come with the files of another one.
    Bare,
}

fn repository(real: &Path) -> Repository {
    for folder in real.ancestors() {
        if has_git(folder) {
            return Repository::At(folder.to_owned());
        }
        if is_bare(folder) {
            return Repository::Bare;
        }
    }
    Repository::None
}

fn has_git(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}

fn is_bare(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    has("HEAD") && (has("objects") || has("commondir"))
}
