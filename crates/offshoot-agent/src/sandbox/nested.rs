//! The git repositories below the writable folders: what a command must not change in them, because other programs obey it.
//! Found once, by a bounded walk. Knows nothing of mounts.

use std::collections::{HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use super::git;
use super::policy::{OBEYED, SandboxPolicy};

/// Files beside `.git` that name programs to run.
const RUN: [&str; 2] = [".envrc", ".vscode/tasks.json"];
/// Folders with many others in them and seldom a repository.
const LAST: [&str; 3] = ["node_modules", ".git", "target"];

const BOUNDS: Bounds = Bounds { depth: 6, folders: 20_000, entries: 2_000_000, bytes: 256 * 1024 };

#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// How many folders below a writable one.
    depth: usize,
    folders: usize,
    /// Files and folders that are looked at.
    entries: usize,
    /// Of the paths that are protected: they are arguments of every command's helper.
    bytes: usize,
}

/// Real paths.
#[derive(Debug, Clone, Default)]
pub struct NestedRepositories {
    count: usize,
    read_only: Vec<PathBuf>,
    /// Folders that must stay in their place, although they can be written in.
    pinned: Vec<PathBuf>,
    missed: Missed,
}

/// Where the walk has not looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Missed {
    is_deeper: bool,
    has_more: bool,
}

impl NestedRepositories {
    /// Looks below everything that this policy lets commands write.
    pub fn find(policy: &SandboxPolicy) -> Self {
        Walk::new(policy, BOUNDS).run()
    }

    /// Takes them out of what commands may change. Those that are gone meanwhile need nothing.
    pub fn protect(&self, policy: &mut SandboxPolicy) {
        policy.read_only.extend(self.read_only.iter().cloned());
        policy.pinned.extend(self.pinned.iter().cloned());
    }

    /// Whether none was found.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What of them may be unprotected, for the user.
    pub(super) fn notice(&self) -> Option<String> {
        let mut where_to = Vec::new();
        if self.missed.is_deeper {
            where_to.push(format!("more than {} folders deep", BOUNDS.depth));
        }
        if self.missed.has_more {
            where_to.push(format!("beyond the first {} folders", BOUNDS.folders));
        }
        (!where_to.is_empty()).then(|| format!("nested repositories {} are not protected", where_to.join(" or ")))
    }
}

/// As a part of what commands may not write.
impl fmt::Display for NestedRepositories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count;
        let noun = if count == 1 { "repository" } else { "repositories" };
        write!(f, "the hooks and settings of {count} nested {noun}")
    }
}

struct Folder {
    path: PathBuf,
    depth: usize,
    /// Whether it is below the working folder, where no program keeps a cache of repositories.
    is_in_cwd: bool,
    is_late: bool,
}

struct Walk<'a> {
    policy: &'a SandboxPolicy,
    bounds: Bounds,
    next: VecDeque<Folder>,
    late: VecDeque<Folder>,
    seen: HashSet<PathBuf>,
    found: NestedRepositories,
    read: usize,
    entries: usize,
    bytes: usize,
}

impl<'a> Walk<'a> {
    fn new(policy: &'a SandboxPolicy, bounds: Bounds) -> Self {
        let is_below = |path: &Path, other: &PathBuf| path != other && path.starts_with(other);
        let roots = policy.writable.iter().filter(|path| !policy.writable.iter().any(|other| is_below(path, other)));
        let folder = |path: &PathBuf| Folder {
            path: path.clone(),
            depth: 0,
            is_in_cwd: policy.cwd.starts_with(path),
            is_late: path.file_name().is_some_and(is_last),
        };
        Self {
            policy,
            bounds,
            next: roots.map(folder).collect(),
            late: VecDeque::new(),
            seen: policy.read_only.iter().cloned().collect(),
            found: NestedRepositories::default(),
            read: 0,
            entries: 0,
            bytes: 0,
        }
    }

    fn run(mut self) -> NestedRepositories {
        while let Some(folder) = self.next.pop_front().or_else(|| self.late.pop_front()) {
            // The protected places of a repository are never looked into: nothing below them can be written.
            if !self.seen.insert(folder.path.clone()) {
                continue;
            }
            if self.read == self.bounds.folders || self.entries >= self.bounds.entries || self.found.missed.has_more {
                self.found.missed.has_more = true;
                break;
            }
            self.read += 1;
            self.look(&folder);
        }
        self.found
    }

    fn look(&mut self, folder: &Folder) {
        // What cannot be read here can be read by no command either.
        let Ok(entries) = folder.path.read_dir() else { return };
        let mut names = HashSet::new();
        let mut below = Vec::new();
        for entry in entries.take(self.bounds.entries.saturating_sub(self.entries)).flatten() {
            self.entries += 1;
            let name = entry.file_name();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                below.push(name.clone());
            }
            if is_telling(&name) {
                names.insert(name);
            }
        }
        self.protect(folder, &names);
        for name in below {
            self.descend(folder, &name);
        }
    }

    fn descend(&mut self, folder: &Folder, name: &OsStr) {
        let is_late = folder.is_late || is_last(name);
        if folder.depth == self.bounds.depth {
            self.found.missed.is_deeper |= !is_late;
            return;
        }
        let path = folder.path.join(name);
        let below = Folder { path, depth: folder.depth + 1, is_in_cwd: folder.is_in_cwd, is_late };
        if is_late { self.late.push_back(below) } else { self.next.push_back(below) }
    }

    /// If this folder is a repository. The policy itself takes care of the one that the working folder is in.
    fn protect(&mut self, folder: &Folder, names: &HashSet<OsString>) {
        let has = |name: &str| names.contains(OsStr::new(name));
        let git = folder.path.join(".git");
        let is_bare = !folder.path.ends_with(".git") && ["HEAD", "objects", "refs"].into_iter().all(has);
        let is_own = self.policy.cwd.starts_with(&folder.path);
        if is_bare {
            self.found.count += 1;
            self.add_read_only(git::settings(&folder.path));
        }
        if !has(".git") || is_own {
            return;
        }
        self.found.count += 1;
        // Programs that make clones link files out of their bare repositories, which a pinned folder does not let them do.
        if folder.is_in_cwd && folder.depth > 0 {
            self.add_pinned(folder.path.clone());
        }
        if git.is_dir() && !git.is_symlink() {
            self.add_pinned(git.clone());
            self.add_read_only(git::settings(&git));
        } else {
            self.add_read_only(vec![git]);
        }
        let obeyed: Vec<PathBuf> = OBEYED.iter().chain(&RUN).map(|name| folder.path.join(name)).collect();
        let obeyed: Vec<PathBuf> = obeyed.into_iter().filter(|path| path.exists()).collect();
        let between = obeyed.iter().filter_map(|path| path.parent()).filter(|parent| *parent != folder.path);
        for parent in between {
            self.add_pinned(parent.to_owned());
        }
        self.add_read_only(obeyed);
    }

    fn add_read_only(&mut self, paths: Vec<PathBuf>) {
        for path in paths {
            // A link's target is protected; the link itself can be replaced.
            let Ok(real) = path.canonicalize() else { continue };
            if self.policy.may_write(&real) && self.has_room(&real) && self.seen.insert(real.clone()) {
                self.found.read_only.push(real);
            }
        }
    }

    fn add_pinned(&mut self, path: PathBuf) {
        if !path.is_symlink() && self.policy.may_write(&path) && self.has_room(&path) {
            self.found.pinned.push(path);
        }
    }

    fn has_room(&mut self, path: &Path) -> bool {
        self.bytes += path.as_os_str().len();
        let has_room = self.bytes <= self.bounds.bytes;
        self.found.missed.has_more |= !has_room;
        has_room
    }
}

fn is_last(name: &OsStr) -> bool {
    LAST.iter().any(|last| name == *last)
}

/// Whether a name tells that its folder may be a repository.
fn is_telling(name: &OsStr) -> bool {
    [".git", "HEAD", "objects", "refs"].iter().any(|telling| name == *telling)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(root: &Path, files: &[&str]) {
        for file in files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
    }

    fn policy(root: &Path) -> SandboxPolicy {
        SandboxPolicy { cwd: root.to_owned(), writable: vec![root.to_owned()], ..SandboxPolicy::default() }
    }

    fn found(root: &Path, bounds: Bounds) -> NestedRepositories {
        Walk::new(&policy(root), bounds).run()
    }

    /// Below this folder, sorted.
    fn names(root: &Path, paths: &[PathBuf]) -> Vec<String> {
        let below = |path: &PathBuf| path.strip_prefix(root).unwrap().display().to_string();
        let mut names: Vec<String> = paths.iter().map(below).collect();
        names.sort();
        names
    }

    fn root() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        (folder, root)
    }

    #[test]
    fn what_other_programs_obey_in_a_nested_repository_is_protected_where_it_exists() {
        let (_folder, root) = root();
        make(&root, &["a/.git/config", "a/.git/hooks/x", "a/.git/modules/m/config", "a/.git/index", "a/.envrc"]);
        make(&root, &["a/.vscode/tasks.json", "a/.vscode/settings.json", "a/.mcp.json", "a/src/x"]);
        make(&root, &["g/bare/HEAD", "g/bare/objects/x", "g/bare/refs/x", "g/bare/config", "w/.git", "none/.envrc"]);
        let found = found(&root, BOUNDS);
        let read_only = [".envrc", ".git/config", ".git/hooks", ".git/modules", ".mcp.json", ".vscode/tasks.json"];
        let read_only: Vec<String> = read_only.iter().map(|name| format!("a/{name}")).collect();
        assert_eq!(names(&root, &found.read_only), [read_only, vec!["g/bare/config".into(), "w/.git".into()]].concat());
        assert_eq!(names(&root, &found.pinned), ["a", "a/.git", "a/.vscode", "w"]);
        assert_eq!(found.to_string(), "the hooks and settings of 3 nested repositories");
        assert_eq!(found.notice(), None);
    }

    #[test]
    fn the_policy_itself_protects_the_repository_of_the_working_folder() {
        let (_folder, root) = root();
        make(&root, &[".git/config", ".git/hooks/x", ".envrc"]);
        assert!(found(&root, BOUNDS).is_empty());
    }

    /// A package manager links files from one repository of its cache to another.
    #[test]
    fn a_repository_of_another_writable_folder_stays_on_the_same_mount() {
        let (_folder, root) = root();
        make(&root, &["work/x", "cache/.git/config", "cache/a/.git/config"]);
        let (work, cache) = (root.join("work"), root.join("cache"));
        let policy = SandboxPolicy { cwd: work.clone(), writable: vec![work, cache], ..SandboxPolicy::default() };
        let found = NestedRepositories::find(&policy);
        assert_eq!(names(&root, &found.read_only), ["cache/.git/config", "cache/a/.git/config"]);
        assert_eq!(names(&root, &found.pinned), ["cache/.git", "cache/a/.git"]);
    }

    #[test]
    fn a_link_leads_to_no_repository_and_the_target_of_a_linked_file_is_protected() {
        let (_folder, root) = root();
        make(&root, &["a/.git/HEAD", "shared/config"]);
        let (_elsewhere, outside) = self::root();
        make(&outside, &["b/.git/config"]);
        std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        std::os::unix::fs::symlink(root.join("shared/config"), root.join("a/.git/config")).unwrap();
        let found = found(&root, BOUNDS);
        assert_eq!(names(&root, &found.read_only), ["shared/config"]);
        assert_eq!(found.to_string(), "the hooks and settings of 1 nested repository");
    }

    #[test]
    fn the_walk_ends_at_each_of_its_bounds_and_says_so() {
        let (_folder, root) = root();
        make(&root, &["a/.git/config", "b/c/.git/config", "node_modules/m/.git/config"]);
        let deeper = found(&root, Bounds { depth: 1, ..BOUNDS });
        assert_eq!(names(&root, &deeper.read_only), ["a/.git/config"]);
        assert_eq!(deeper.notice().unwrap(), "nested repositories more than 6 folders deep are not protected");
        // The folder, a, b, b/c: those of node_modules and .git come after all others.
        let more = found(&root, Bounds { folders: 4, ..BOUNDS });
        assert_eq!(names(&root, &more.read_only), ["a/.git/config", "b/c/.git/config"]);
        assert_eq!(more.notice().unwrap(), "nested repositories beyond the first 20000 folders are not protected");
        for bounds in [Bounds { entries: 2, ..BOUNDS }, Bounds { bytes: root.as_os_str().len() + 10, ..BOUNDS }] {
            assert!(found(&root, bounds).notice().is_some(), "{bounds:?}");
        }
        let all = found(&root, BOUNDS);
        assert_eq!((all.read_only.len(), all.notice()), (3, None));
    }
}
