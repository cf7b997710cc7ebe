//! A second folder with all that is in a first one. Files share their blocks where the file system can; the first folder is only read.
//!
//! Owns what of git is not copied. Knows no entry.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use offshoot_session::medium::{read_regular_text, real_path};
use offshoot_session::path_words::path_words;
use rustix::fs::{Mode, OFlags};

use crate::error::{FilesError, FilesResult, io_error};

const LONGEST_CONFIG: u64 = 1 << 20;

/// Whether the folder of git is copied, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitCopy {
    /// It is, if the copy is a repository of its own then.
    Taken,
    /// It is not.
    LeftOut,
}

/// What a copy of a folder has, and what it lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderCopy {
    /// How many files and links.
    pub files: u64,
    /// What was not copied, with the reason as a clause.
    pub left: Vec<(String, String)>,
}

/// A folder that is being filled.
struct Copying<'a> {
    from: &'a Path,
    to: &'a Path,
    /// Folders whose permissions are set at the end: one that cannot be written could not be filled.
    modes: Vec<(PathBuf, u32)>,
    copied: FolderCopy,
}

/// Fills a new folder with all that is in another: files, links, folders, their permissions, the times of files. What cannot be read is left
/// out and listed.
///
/// # Errors
/// The new folder exists and is not empty, is below the other, or cannot be written: then it is gone again.
pub fn copy_folder(from: &Path, to: &Path, git: GitCopy) -> FilesResult<FolderCopy> {
    let from = real_path(from).map_err(io_error("open", from))?;
    let is_new = !to.exists();
    if !is_new && !to.is_dir() {
        return Err(FilesError::Beyond(format!("{} is not a folder: name one that is new or empty", to.display())));
    }
    if !is_new && fs::read_dir(to).map_err(io_error("read", to))?.next().is_some() {
        return Err(FilesError::Beyond(format!("{} is not empty: name a folder that is new or empty", to.display())));
    }
    let above = to.ancestors().find(|above| above.exists()).unwrap_or(to);
    if real_path(above).map_err(io_error("open", above))?.starts_with(&from) {
        return Err(FilesError::Beyond(format!(
            "{} is inside the folder that is copied: name one outside of it",
            to.display()
        )));
    }
    fs::create_dir_all(to).map_err(io_error("make", to))?;
    let mut copying = Copying { from: &from, to, modes: Vec::new(), copied: FolderCopy::default() };
    match copying.run(git) {
        Ok(()) => Ok(copying.copied),
        Err(error) => {
            // All of it was made here.
            drop(if is_new { fs::remove_dir_all(to) } else { empty(to) });
            Err(error)
        }
    }
}

fn empty(folder: &Path) -> io::Result<()> {
    fs::read_dir(folder)?.try_for_each(|entry| {
        let entry = entry?;
        if entry.file_type()?.is_dir() { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) }
    })
}

impl Copying<'_> {
    fn run(&mut self, git: GitCopy) -> FilesResult<()> {
        let own_git = Path::new(".git");
        let left_git = match git {
            GitCopy::LeftOut => Some(None),
            GitCopy::Taken => why_git_stays(self.from).map(|why| Some(why.to_owned())),
        };
        if let Some(Some(why)) = &left_git {
            self.copied.left.push((".git".to_owned(), why.clone()));
        }
        let mut open = vec![PathBuf::new()];
        while let Some(folder) = open.pop() {
            let entries = match fs::read_dir(self.from.join(&folder)) {
                Ok(entries) => entries,
                Err(error) => {
                    self.leave(&folder, &error.to_string());
                    continue;
                }
            };
            for entry in entries.filter_map(Result::ok) {
                let path = folder.join(entry.file_name());
                // Lists of other worktrees, and locks of a git that runs, belong to the first folder.
                let stays = path.starts_with(own_git) && (left_git.is_some() || is_of_one_place(&path));
                if !stays && self.entry(&path)? {
                    open.push(path);
                }
            }
        }
        // From the innermost folder out.
        for (folder, mode) in self.modes.iter().rev() {
            let set = fs::set_permissions(folder, fs::Permissions::from_mode(*mode));
            set.map_err(io_error("write", folder))?;
        }
        Ok(())
    }

    /// Lists what is not copied. It is no folder to look into.
    fn leave(&mut self, path: &Path, why: &str) -> bool {
        self.copied.left.push((path_words(path.as_os_str()), why.to_owned()));
        false
    }

    /// Copies what is at a path; a folder is made empty. Returns whether it is one.
    fn entry(&mut self, path: &Path) -> FilesResult<bool> {
        let (from, to) = (self.from.join(path), self.to.join(path));
        let cannot = || io_error("write", &to);
        let meta = match from.symlink_metadata() {
            Ok(meta) => meta,
            // It has just gone.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => {
                return Ok(self.leave(path, &error.to_string()));
            }
        };
        if meta.is_dir() {
            fs::DirBuilder::new().mode(0o700).create(&to).map_err(cannot())?;
            self.modes.push((to, meta.permissions().mode() & 0o7777));
            return Ok(true);
        }
        if meta.is_symlink() {
            match fs::read_link(&from) {
                Ok(target) => symlink(target, &to).map_err(cannot())?,
                Err(error) => return Ok(self.leave(path, &error.to_string())),
            }
        } else if meta.is_file() {
            match open_plain(&from) {
                Ok(file) => copy_file(&file, &to).map_err(cannot())?,
                Err(error) => return Ok(self.leave(path, &error.to_string())),
            }
        } else {
            return Ok(self.leave(path, "it is not a regular file"));
        }
        self.copied.files += 1;
        Ok(false)
    }
}

/// Opens a file that was one when it was looked at.
fn open_plain(path: &Path) -> io::Result<File> {
    // Not blocking: it may have become a FIFO since.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

/// Copies an open file, with its permissions and its time. Blocks are shared if the file system can.
fn copy_file(from: &File, to: &Path) -> io::Result<()> {
    let meta = from.metadata()?;
    let mut new = File::create_new(to)?;
    if !shares_blocks(from, &new) {
        // Within the kernel where it can.
        io::copy(&mut &*from, &mut new)?;
    }
    new.set_permissions(fs::Permissions::from_mode(meta.permissions().mode() & 0o777))?;
    // Programs that build compare times.
    new.set_modified(meta.modified()?)
}

#[cfg(target_os = "linux")]
fn shares_blocks(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn shares_blocks(_: &File, _: &File) -> bool {
    false
}

/// Whether a path in the folder of git says something about the place where it is.
fn is_of_one_place(path: &Path) -> bool {
    path == Path::new(".git/worktrees") || path == Path::new(".git/index.lock")
}

/// Why git's folder cannot serve two working folders; `None` if a copy of it is a repository of its own.
fn why_git_stays(root: &Path) -> Option<&'static str> {
    if root.join(".git").symlink_metadata().is_ok_and(|git| !git.is_dir()) {
        return Some("its repository is elsewhere");
    }
    let config = read_regular_text(&root.join(".git/config"), LONGEST_CONFIG).unwrap_or_default();
    let names_place = config.lines().any(|line| {
        let key = line.trim_start().get(.."worktree".len());
        key.is_some_and(|key| key.eq_ignore_ascii_case("worktree"))
    });
    names_place.then_some("its settings name the working folder")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn everything_is_copied_with_permissions_times_and_links() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("new/to"));
        write(&from.join("a"), "one\n");
        write(&from.join("target/deep/b"), "two\n");
        write(&from.join(".git/HEAD"), "ref: refs/heads/main\n");
        write(&from.join(".git/worktrees/w/HEAD"), "x\n");
        write(&from.join(".git/index.lock"), "");
        fs::set_permissions(from.join("a"), fs::Permissions::from_mode(0o750)).unwrap();
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        File::options().write(true).open(from.join("a")).unwrap().set_modified(old).unwrap();
        symlink("a", from.join("link")).unwrap();
        fs::set_permissions(from.join("target"), fs::Permissions::from_mode(0o500)).unwrap();
        std::process::Command::new("mkfifo").arg(from.join("fifo")).status().unwrap();

        let copied = copy_folder(&from, &to, GitCopy::Taken).unwrap();
        assert_eq!((copied.files, copied.left.len()), (4, 1), "{copied:?}");
        assert_eq!(fs::read_to_string(to.join("a")).unwrap(), "one\n");
        assert_eq!(fs::read_to_string(to.join("target/deep/b")).unwrap(), "two\n");
        let meta = fs::metadata(to.join("a")).unwrap();
        assert_eq!((meta.mode() & 0o777, meta.modified().unwrap()), (0o750, old));
        assert_eq!(fs::metadata(to.join("target")).unwrap().mode() & 0o777, 0o500);
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("a"));
        assert!(to.join(".git/HEAD").exists(), "the repository comes, too");
        assert!(!to.join(".git/worktrees").exists() && !to.join(".git/index.lock").exists());
        // Nothing is written into a folder that has something, or into itself.
        assert!(copy_folder(&from, &to, GitCopy::Taken).is_err());
        assert!(copy_folder(&from, &from.join("inside/it"), GitCopy::Taken).is_err());
        assert!(!from.join("inside").exists());
        let plain = dir.path().join("plain");
        copy_folder(&from, &plain, GitCopy::LeftOut).unwrap();
        assert!(plain.join("a").exists() && !plain.join(".git").exists());
    }

    /// A git command in the copy would change the first folder.
    #[test]
    fn a_repository_that_names_its_folder_is_not_copied() {
        let dir = tempfile::tempdir().unwrap();
        for (name, file, text) in
            [("linked", ".git", "gitdir: /elsewhere\n"), ("named", ".git/config", "[core]\n\tworkTree = /elsewhere\n")]
        {
            let from = dir.path().join(name);
            write(&from.join(file), text);
            write(&from.join("a"), "x");
            let to = dir.path().join(format!("{name}-copy"));
            let copied = copy_folder(&from, &to, GitCopy::Taken).unwrap();
            assert_eq!((copied.files, copied.left.len()), (1, 1), "{copied:?}");
            assert!(!to.join(".git").exists());
        }
    }
}
