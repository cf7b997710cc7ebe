//! Small files of text that several processes change, such as credentials and records: one change at a time, none lost, and no reader
//! sees half of one. Knows no format.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::real_path::real_path;
use super::regular::{append_or_create_regular, read_regular_text, sync_folder};

/// A file that several processes change.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct SharedFile {
    pub path: PathBuf,
    /// The file at which its writers wait for each other. It stays.
    pub lock: PathBuf,
    /// A larger file is not read.
    pub limit: u64,
    /// The permissions of a new file; those of an old one stay.
    pub new_mode: u32,
}

/// A file that no other process changes meanwhile.
#[derive(Debug)]
pub struct LockedFile<'a> {
    file: &'a SharedFile,
    _lock: File,
}

impl SharedFile {
    /// A file of the user alone, whose lock is beside it.
    #[must_use]
    pub fn private(path: PathBuf, limit: u64) -> Self {
        let mut lock = path.clone().into_os_string();
        lock.push(".lock");
        Self { path, lock: lock.into(), limit, new_mode: 0o600 }
    }

    /// The text; `None` if there is no file.
    ///
    /// # Errors
    /// Those of [`read_regular_text`].
    pub fn read(&self) -> io::Result<Option<String>> {
        match read_regular_text(&self.path, self.limit) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Waits until no other process changes the file. Makes the folders of the file and of the lock.
    ///
    /// # Errors
    /// The system's error.
    pub fn lock(&self) -> io::Result<LockedFile<'_>> {
        for path in [&self.path, &self.lock] {
            fs::create_dir_all(path.parent().unwrap_or(path))?;
        }
        let lock = append_or_create_regular(&self.lock)?;
        lock.lock()?;
        Ok(LockedFile { file: self, _lock: lock })
    }
}

impl LockedFile<'_> {
    /// [`SharedFile::read`], of what no other process changes.
    ///
    /// # Errors
    /// Those of [`SharedFile::read`].
    pub fn read(&self) -> io::Result<Option<String>> {
        self.file.read()
    }

    /// Replaces the text, durably and in one step.
    ///
    /// # Errors
    /// Those of [`replace_file`].
    pub fn replace(&self, text: &str) -> io::Result<()> {
        replace_file(&self.file.path, text, self.file.new_mode)
    }
}

/// How the names begin under which [`replace_file`] writes. One that stays is of a program that was killed.
pub const REPLACING_PREFIX: &str = ".settings.";

/// Replaces a file atomically and durably. A link stays a link, also one to a file that does not exist; permissions are kept, and a new file
/// has the mode `new_mode`. Makes the folder of the path.
///
/// # Errors
/// The system's error; the file is as it was.
pub fn replace_file(path: &Path, text: &str, new_mode: u32) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let path = real_path(path)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::Builder::new()
        .prefix(REPLACING_PREFIX)
        .permissions(Permissions::from_mode(new_mode))
        .tempfile_in(folder)?;
    if let Ok(old) = fs::metadata(&path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_at_once_are_all_kept_and_a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("data/list");
        fs::create_dir(folder.path().join("data")).unwrap();
        std::os::unix::fs::symlink("../elsewhere", &link).unwrap();
        let file = SharedFile::private(link.clone(), 1 << 20);
        assert_eq!(file.read().unwrap(), None);
        std::thread::scope(|scope| {
            for number in 0..20 {
                let file = &file;
                scope.spawn(move || {
                    let locked = file.lock().unwrap();
                    let before = locked.read().unwrap().unwrap_or_default();
                    locked.replace(&format!("{before}{number}\n")).unwrap();
                });
            }
        });
        assert_eq!(file.read().unwrap().unwrap().lines().count(), 20);
        assert!(link.symlink_metadata().unwrap().is_symlink());
        let data = fs::metadata(folder.path().join("elsewhere")).unwrap();
        assert_eq!(data.permissions().mode() & 0o777, 0o600);
        assert_eq!(file.lock, folder.path().join("data/list.lock"));
    }

    #[test]
    fn a_link_that_leads_nowhere_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        for target in ["missing/file", "circle"] {
            let link = folder.path().join("circle");
            std::os::unix::fs::symlink(target, &link).unwrap();
            assert!(replace_file(&link, "x", 0o600).is_err(), "{target}");
            assert!(link.symlink_metadata().unwrap().is_symlink());
            fs::remove_file(link).unwrap();
        }
    }
}
