//! The files of a workspace, one name at a time from its folder on. No link is followed, so nothing is read or written outside.
//!
//! Owns every access to a person's folder but the scan's stats. A file is put into its place by exchanging two names: if what
//! comes out is not what was expected, it goes back.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use offshoot_session::path_words::{path_of_words, path_words};
use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, RenameFlags};

use crate::content::ContentHash;
use crate::rel_path::RelPath;
use crate::state::FileState;

/// Folders without files: how many are removed in one, and how deep.
const MOST_HOLLOW: usize = 1000;
const DEEPEST: usize = 64;

/// The permissions that are recorded.
const PERMISSIONS: u32 = 0o777;

/// An open folder of a workspace.
#[derive(Debug)]
pub(crate) struct Folder {
    root: OwnedFd,
    /// For words, and for walks.
    pub(crate) path: PathBuf,
    /// The largest file that is read.
    limit: u64,
}

/// What is at a path, with the bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) state: FileState,
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) is_folder: bool,
}

/// What came of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Put {
    Done,
    /// Somebody else changed it meanwhile: it is as they left it.
    Changed,
}

/// A name in an open folder.
struct Seat {
    folder: OwnedFd,
    name: OsString,
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::RDONLY);

fn is_nothing(error: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    [Errno::NOENT, Errno::NOTDIR, Errno::LOOP].contains(&error)
}

impl Folder {
    pub(crate) fn open(path: &Path, limit: u64) -> io::Result<Self> {
        let root = rustix::fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY, Mode::empty())?;
        Ok(Self { root, path: path.to_owned(), limit })
    }

    /// Opens the folder of a path; `None` if a part of the path is not a folder.
    fn seat(&self, path: &RelPath) -> io::Result<Option<Seat>> {
        self.walk(path, false)
    }

    fn walk(&self, path: &RelPath, makes: bool) -> io::Result<Option<Seat>> {
        let mut parts = path.parts();
        let Some(name) = parts.pop() else { return Ok(None) };
        let mut folder = self.root.try_clone()?;
        for part in parts {
            let next = match rustix::fs::openat(&folder, &part, FOLDER, Mode::empty()) {
                Err(rustix::io::Errno::NOENT) if makes => {
                    match rustix::fs::mkdirat(&folder, &part, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    rustix::fs::openat(&folder, &part, FOLDER, Mode::empty())
                }
                next => next,
            };
            folder = match next {
                Ok(next) => next,
                Err(error) if is_nothing(error) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
        }
        Ok(Some(Seat { folder, name }))
    }

    /// What is at a path. A file that is too large is not covered.
    pub(crate) fn read(&self, path: &RelPath) -> io::Result<Found> {
        match self.seat(path)? {
            Some(seat) => read_at(&seat.folder, &seat.name, self.limit),
            None => Ok(Found { state: FileState::Absent, bytes: None, is_folder: false }),
        }
    }

    /// Which file is at a path, by its device and its number; `None` if there is none.
    pub(crate) fn identity(&self, path: &RelPath) -> io::Result<Option<(u64, u64)>> {
        let Some(Seat { folder, name }) = self.seat(path)? else { return Ok(None) };
        match rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some((stat.st_dev, stat.st_ino))),
            Err(error) if is_nothing(error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// [`Folder::read`], or [`Folder::read_spelled`].
    pub(crate) fn read_of(&self, path: &RelPath, only_this_spelling: bool) -> io::Result<Found> {
        if only_this_spelling { self.read_spelled(path) } else { self.read(path) }
    }

    /// The same where only this spelling counts. A file system that does not tell cases or compositions of letters apart gives a file for
    /// other spellings of its name, too.
    fn read_spelled(&self, path: &RelPath) -> io::Result<Found> {
        let found = self.read(path)?;
        let is_nothing = found.state == FileState::Absent && !found.is_folder;
        if is_nothing || self.is_spelled(path)? {
            return Ok(found);
        }
        Ok(Found { state: FileState::Absent, bytes: None, is_folder: false })
    }

    /// Whether every name on the way is in its folder's list.
    fn is_spelled(&self, path: &RelPath) -> io::Result<bool> {
        let mut folder = self.root.try_clone()?;
        let mut parts = path.parts().into_iter().peekable();
        while let Some(part) = parts.next() {
            if !has_name(&folder, &part)? {
                return Ok(false);
            }
            if parts.peek().is_some() {
                folder = match rustix::fs::openat(&folder, &part, FOLDER, Mode::empty()) {
                    Err(error) if is_nothing(error) => return Ok(false),
                    next => next?,
                };
            }
        }
        Ok(true)
    }

    /// Makes a new file or link under a scratch name in the workspace's folder.
    pub(crate) fn prepare(&self, new: &NewFile<'_>, scratch: &str) -> io::Result<()> {
        let scratch = OsStr::new(scratch);
        let made = match new {
            NewFile::File { bytes, mode } => write_new(&self.root, scratch, bytes, *mode),
            NewFile::Link { target } => {
                rustix::fs::symlinkat(path_of_words(target), &self.root, scratch).map_err(io::Error::from)
            }
        };
        made.inspect_err(|_| drop(self.forget(scratch)))
    }

    /// Whether names below this path can be changed, as far as its nearest folder says.
    pub(crate) fn can_change(&self, path: &RelPath) -> io::Result<()> {
        let mut folder = self.root.try_clone()?;
        let mut parts = path.parts();
        parts.pop();
        for part in parts {
            match rustix::fs::openat(&folder, &part, FOLDER, Mode::empty()) {
                Ok(next) => folder = next,
                Err(_) => break,
            }
        }
        Ok(rustix::fs::accessat(&folder, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::empty())?)
    }

    /// Puts what was prepared in the place of what is expected there.
    pub(crate) fn put(&self, path: &RelPath, expected: &FileState, scratch: &str) -> io::Result<Put> {
        let scratch = OsStr::new(scratch);
        let Some(Seat { folder, name }) = self.walk(path, true)? else {
            self.forget(scratch)?;
            return Ok(Put::Changed);
        };
        let put = if *expected == FileState::Absent {
            match rename_to_free((&self.root, scratch), (&folder, &name)) {
                Ok(()) => Put::Done,
                // A folder that holds no file is not in the way.
                Err(rustix::io::Errno::EXIST) if remove_hollow(&folder, &name, 0) => {
                    rename_to_free((&self.root, scratch), (&folder, &name))?;
                    Put::Done
                }
                Err(rustix::io::Errno::EXIST) => Put::Changed,
                Err(error) => return Err(error.into()),
            }
        } else {
            self.exchange(scratch, &folder, &name, expected)?
        };
        self.forget(scratch)?;
        let _ = rustix::fs::fsync(&folder);
        Ok(put)
    }

    /// Exchanges two names, and back if the old file is not the one that was expected.
    fn exchange(&self, scratch: &OsStr, folder: &OwnedFd, name: &OsStr, expected: &FileState) -> io::Result<Put> {
        match rustix::fs::renameat_with(&self.root, scratch, folder, name, RenameFlags::EXCHANGE) {
            Ok(()) => {}
            Err(rustix::io::Errno::NOENT) => return Ok(Put::Changed),
            // A file system without exchanges: it is compared before instead.
            Err(error) if is_unknown_flag(error) => {
                if read_at(folder, name, self.limit)?.state != *expected {
                    return Ok(Put::Changed);
                }
                rustix::fs::renameat(&self.root, scratch, folder, name)?;
                return Ok(Put::Done);
            }
            Err(error) => return Err(error.into()),
        }
        if read_at(&self.root, scratch, self.limit).is_ok_and(|found| found.state == *expected) {
            return Ok(Put::Done);
        }
        rustix::fs::renameat_with(&self.root, scratch, folder, name, RenameFlags::EXCHANGE)?;
        Ok(Put::Changed)
    }

    /// Takes away what is expected at a path, and the folders that are empty then.
    pub(crate) fn take_away(&self, path: &RelPath, expected: &FileState, scratch: &str) -> io::Result<Put> {
        let scratch = OsStr::new(scratch);
        let Some(Seat { folder, name }) = self.seat(path)? else { return Ok(Put::Changed) };
        match rename_to_free((&folder, &name), (&self.root, scratch)) {
            Ok(()) => {}
            Err(rustix::io::Errno::NOENT) => return Ok(Put::Changed),
            Err(error) => return Err(error.into()),
        }
        if !read_at(&self.root, scratch, self.limit).is_ok_and(|found| found.state == *expected) {
            rename_to_free((&self.root, scratch), (&folder, &name))?;
            return Ok(Put::Changed);
        }
        self.forget(scratch)?;
        let _ = rustix::fs::fsync(&folder);
        self.prune(path);
        Ok(Put::Done)
    }

    /// Puts back what was taken out under a scratch name before the program was killed: it was not what was expected.
    pub(crate) fn put_back(&self, path: &RelPath, scratch: &str) -> io::Result<()> {
        let scratch = OsStr::new(scratch);
        let Some(Seat { folder, name }) = self.walk(path, true)? else { return Ok(()) };
        let exchanged = rustix::fs::renameat_with(&self.root, scratch, &folder, &name, RenameFlags::EXCHANGE);
        match exchanged {
            Ok(()) => self.forget(scratch),
            Err(rustix::io::Errno::NOENT) => Ok(rename_to_free((&self.root, scratch), (&folder, &name))?),
            Err(error) => Err(error.into()),
        }
    }

    /// What is under a scratch name.
    pub(crate) fn read_scratch(&self, scratch: &str) -> io::Result<FileState> {
        Ok(read_at(&self.root, OsStr::new(scratch), self.limit)?.state)
    }

    /// Removes a scratch name.
    pub(crate) fn forget(&self, scratch: impl AsRef<OsStr>) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.root, scratch.as_ref(), AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the folders above a path as long as they are empty.
    fn prune(&self, path: &RelPath) {
        let mut above = path.as_str();
        while let Some((folder, _)) = above.rsplit_once('/') {
            let Ok(parent) = RelPath::try_from(folder.to_owned()) else { return };
            let Ok(Some(Seat { folder: at, name })) = self.seat(&parent) else { return };
            if rustix::fs::unlinkat(&at, &name, AtFlags::REMOVEDIR).is_err() {
                return;
            }
            above = folder;
        }
    }
}

/// What is put into a place.
#[derive(Debug)]
pub(crate) enum NewFile<'a> {
    File { bytes: &'a [u8], mode: u32 },
    Link { target: &'a str },
}

/// Whether a file system, such as NFS or one of a user's program, knows no exchange of names, or no name that must be free.
fn is_unknown_flag(error: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP].contains(&error)
}

/// Gives a file another name, if nothing has that.
fn rename_to_free(from: (&OwnedFd, &OsStr), to: (&OwnedFd, &OsStr)) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
        Err(error) if is_unknown_flag(error) => rename_by_link(from, to),
        renamed => renamed,
    }
}

/// The same for a file system that has no such flag. A second name for the file is refused if something has that name; where files
/// have one name only, it is looked at just before.
fn rename_by_link(from: (&OwnedFd, &OsStr), to: (&OwnedFd, &OsStr)) -> rustix::io::Result<()> {
    use rustix::io::Errno;
    match rustix::fs::linkat(from.0, from.1, to.0, to.1, AtFlags::empty()) {
        Ok(()) => rustix::fs::unlinkat(from.0, from.1, AtFlags::empty()),
        Err(error @ (Errno::EXIST | Errno::NOENT)) => Err(error),
        Err(_) => rename_after_a_look(from, to),
    }
}

fn rename_after_a_look(from: (&OwnedFd, &OsStr), to: (&OwnedFd, &OsStr)) -> rustix::io::Result<()> {
    match rustix::fs::statat(to.0, to.1, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Err(rustix::io::Errno::EXIST),
        Err(rustix::io::Errno::NOENT) => rustix::fs::renameat(from.0, from.1, to.0, to.1),
        Err(error) => Err(error),
    }
}

/// Whether a folder's list has exactly this name.
fn has_name(folder: &OwnedFd, name: &OsStr) -> io::Result<bool> {
    for entry in rustix::fs::Dir::read_from(folder)? {
        if entry?.file_name().to_bytes() == name.as_bytes() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn write_new(folder: &OwnedFd, name: &OsStr, bytes: &[u8], mode: u32) -> io::Result<()> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::WRONLY;
    let file = rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o600))?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    rustix::fs::fchmod(file.as_fd(), Mode::from_raw_mode(mode & PERMISSIONS))?;
    file.sync_data()
}

/// Removes a folder that holds nothing but such folders. Returns whether it is gone.
fn remove_hollow(at: &OwnedFd, name: &OsStr, depth: usize) -> bool {
    let Ok(folder) = rustix::fs::openat(at, name, FOLDER, Mode::empty()) else { return false };
    let names = rustix::fs::Dir::read_from(&folder).into_iter().flatten().take(MOST_HOLLOW);
    for inner in names.filter_map(Result::ok) {
        let inner = OsStr::from_bytes(inner.file_name().to_bytes());
        if inner != "." && inner != ".." && (depth > DEEPEST || !remove_hollow(&folder, inner, depth + 1)) {
            return false;
        }
    }
    rustix::fs::unlinkat(at, name, AtFlags::REMOVEDIR).is_ok()
}

fn read_at(folder: &OwnedFd, name: &OsStr, limit: u64) -> io::Result<Found> {
    let plain = |state| Found { state, bytes: None, is_folder: false };
    let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(error) if is_nothing(error) => return Ok(plain(FileState::Absent)),
        Err(error) => return Err(error.into()),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(folder, name, Vec::new())?;
            let target = path_words(OsStr::from_bytes(target.to_bytes()));
            return Ok(plain(FileState::Link { target }));
        }
        FileType::Directory => {
            return Ok(Found { state: FileState::not_covered("it is a folder"), bytes: None, is_folder: true });
        }
        _ => return Ok(plain(FileState::not_covered("it is not a regular file"))),
    }
    // Not blocking: it may have become a FIFO since.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(error) if is_nothing(error) => return Ok(plain(FileState::Absent)),
        Err(rustix::io::Errno::ACCESS) => return Ok(plain(FileState::not_covered("it cannot be read"))),
        Err(error) => return Err(error.into()),
    };
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(plain(FileState::not_covered("it is not a regular file")));
    }
    let size = u64::try_from(stat.st_size).unwrap_or_default();
    if size > limit {
        return Ok(plain(FileState::not_covered(TOO_LARGE)));
    }
    let mut bytes = Vec::new();
    File::from(file).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Ok(plain(FileState::not_covered(TOO_LARGE)));
    }
    let state = FileState::File {
        hash: ContentHash::of(&bytes),
        mode: Mode::from_raw_mode(stat.st_mode).as_raw_mode() & PERMISSIONS,
    };
    Ok(Found { state, bytes: Some(bytes), is_folder: false })
}

const TOO_LARGE: &str = "it is too large";

/// How the names begin that a restore uses for a moment.
pub(crate) const SCRATCH: &str = ".offshoot-restore-";

/// How the names begin that a tool of offshoot writes a file under before it renames it. They are never recorded: a scan
/// may see one while another call runs, and `kill -9` may leave one.
pub const WRITE_SCRATCH: &str = ".offshoot-write-";

#[cfg(test)]
mod tests {
    use super::*;

    /// Somebody writes between the plan and the change.
    #[test]
    fn what_is_not_what_was_expected_stays() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path(), 1000).unwrap();
        let path = RelPath::try_from("d/a".to_owned()).unwrap();
        std::fs::create_dir(dir.path().join("d")).unwrap();
        std::fs::write(dir.path().join("d/a"), "theirs").unwrap();
        let expected = FileState::File { hash: ContentHash::of(b"as planned"), mode: 0o644 };
        let read = || std::fs::read_to_string(dir.path().join("d/a")).unwrap();

        assert_eq!(folder.take_away(&path, &expected, "scratch").unwrap(), Put::Changed);
        assert_eq!(read(), "theirs");
        for expected in [expected, FileState::Absent] {
            folder.prepare(&NewFile::File { bytes: b"ours", mode: 0o644 }, "scratch").unwrap();
            assert_eq!(folder.put(&path, &expected, "scratch").unwrap(), Put::Changed);
            assert_eq!(read(), "theirs");
        }
        let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["d"], "no scratch name stays");
    }

    #[test]
    fn without_a_flag_for_it_a_name_that_is_taken_is_not_replaced() {
        for rename in [rename_by_link, rename_after_a_look] {
            let dir = tempfile::tempdir().unwrap();
            let folder = Folder::open(dir.path(), 1000).unwrap();
            std::fs::create_dir(dir.path().join("d")).unwrap();
            std::fs::write(dir.path().join("from"), "ours").unwrap();
            std::fs::write(dir.path().join("taken"), "theirs").unwrap();
            std::os::unix::fs::symlink("nowhere", dir.path().join("link")).unwrap();
            let rename =
                |from: &str, to: &str| rename((&folder.root, OsStr::new(from)), (&folder.root, OsStr::new(to)));
            assert_eq!(rename("from", "taken"), Err(rustix::io::Errno::EXIST));
            assert_eq!(rename("from", "link"), Err(rustix::io::Errno::EXIST));
            for (from, to) in [("from", "free"), ("link", "free link"), ("d", "free folder")] {
                assert_eq!(rename(from, to), Ok(()), "{from}");
            }
            assert_eq!(rename("gone", "nothing"), Err(rustix::io::Errno::NOENT));
            let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
            assert_eq!((read("taken").as_str(), read("free").as_str()), ("theirs", "ours"));
            assert_eq!(std::fs::read_link(dir.path().join("free link")).unwrap(), Path::new("nowhere"));
            let names = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<OsString> = names.collect();
            names.sort();
            assert_eq!(names, ["free", "free folder", "free link", "taken"]);
        }
    }

    #[test]
    fn a_name_is_spelled_as_its_folder_lists_it() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path(), 1000).unwrap();
        std::fs::create_dir(dir.path().join("d")).unwrap();
        std::fs::write(dir.path().join("d/a"), "x").unwrap();
        let is_spelled = |path: &str| folder.is_spelled(&RelPath::try_from(path.to_owned()).unwrap()).unwrap();
        assert!(is_spelled("d/a") && is_spelled("d"));
        assert!(!is_spelled("d/A") && !is_spelled("D/a") && !is_spelled("d/a/b"));
    }
}
