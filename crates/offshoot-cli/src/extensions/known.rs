//! Which extensions of projects the user has allowed: the contents of their folders, by hash. An extension that is new or
//! has changed does not run until the user says so again.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use offshoot_session::medium::{append_or_create_regular, read_regular};
use sha2::{Digest as _, Sha256};

use crate::config::settings::replace;
use crate::config::trust_file::real;
use crate::error::{CommandError, FailureKind, Result};

const LIMIT: u64 = 4 << 20;
/// A folder with more is not looked through, and never allowed.
const MOST_FILES: usize = 20_000;
const MOST_BYTES: u64 = 64 << 20;

/// A file or a folder of a project's extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProjectFolder {
    pub(crate) path: PathBuf,
    /// Of all that is in it.
    hash: String,
}

impl ProjectFolder {
    /// Looks at everything in it.
    ///
    /// # Errors
    /// A part cannot be read, or it is too large.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let path = real(path);
        let mut files = Vec::new();
        collect(&path, &mut files)?;
        files.sort();
        let (mut hash, mut room) = (Sha256::new(), MOST_BYTES);
        for file in files {
            let content = read_regular(&file, room).map_err(|error| match error.kind() {
                io::ErrorKind::FileTooLarge => io::Error::other(format!("it is larger than {} MiB", MOST_BYTES >> 20)),
                _ => io::Error::new(error.kind(), format!("{}: {error}", file.display())),
            })?;
            room -= content.len() as u64;
            let name = file.strip_prefix(&path).unwrap_or(&file);
            hash.update((name.as_os_str().len() as u64).to_le_bytes());
            hash.update(name.as_os_str().as_encoded_bytes());
            hash.update((content.len() as u64).to_le_bytes());
            hash.update(content);
        }
        let hash = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { path, hash })
    }
}

/// Links are followed where they lead to files: what is behind them runs.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut open = vec![path.to_path_buf()];
    while let Some(path) = open.pop() {
        let is_link = path.symlink_metadata()?.is_symlink();
        if path.is_dir() {
            if is_link {
                return Err(io::Error::other(format!("{} is a link to a folder", path.display())));
            }
            for entry in fs::read_dir(&path)? {
                open.push(entry?.path());
            }
        } else {
            files.push(path);
        }
        if files.len() + open.len() > MOST_FILES {
            return Err(io::Error::other(format!("it has more than {MOST_FILES} files")));
        }
    }
    Ok(())
}

/// The file of allowed contents.
#[derive(Debug, Clone)]
pub(crate) struct KnownExtensions(PathBuf);

impl KnownExtensions {
    pub(crate) fn of(data: &Path) -> Self {
        Self(data.join("extensions.json"))
    }

    /// Whether the user has allowed exactly these contents.
    pub(crate) fn has(&self, folder: &ProjectFolder) -> bool {
        let known = self.read().unwrap_or_default();
        known.get(&*folder.path.to_string_lossy()).is_some_and(|hash| *hash == folder.hash)
    }

    /// Allows these contents, in place of what was allowed of the same paths.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn keep(&self, folders: &[ProjectFolder]) -> Result<()> {
        let failed = |error: io::Error| CommandError::io(format!("write {}", self.0.display()), &error);
        fs::create_dir_all(self.0.parent().unwrap_or(&self.0)).map_err(failed)?;
        let lock = append_or_create_regular(&self.0.with_extension("json.lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut known = self.read()?;
        known.extend(folders.iter().map(|folder| (folder.path.to_string_lossy().into_owned(), folder.hash.clone())));
        let text = serde_json::to_string_pretty(&known).map_err(|error| failed(error.into()))?;
        replace(&self.0, &(text + "\n"), 0o600).map_err(failed)
    }

    fn read(&self) -> Result<BTreeMap<String, String>> {
        let failed = |cause: String| {
            let what = format!("could not read {}", self.0.display());
            CommandError { causes: vec![cause], ..CommandError::new(FailureKind::Damaged, what) }
                .hint("correct the file, or move it away and answer again")
        };
        match read_regular(&self.0, LIMIT) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare their own files")]
mod tests {
    use super::*;

    #[test]
    fn only_the_contents_that_were_allowed_are_known() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("p/.pi/extensions");
        fs::create_dir_all(folder.join("sub")).unwrap();
        fs::write(folder.join("a.ts"), "1").unwrap();
        let known = KnownExtensions::of(&home.path().join("data"));
        let first = ProjectFolder::of(&folder).unwrap();
        assert!(!known.has(&first));
        known.keep(std::slice::from_ref(&first)).unwrap();
        assert!(known.has(&first));
        fs::write(folder.join("a.ts"), "2").unwrap();
        assert!(!known.has(&ProjectFolder::of(&folder).unwrap()), "one byte, and as many as before");
        fs::write(folder.join("a.ts"), "1").unwrap();
        // A file that an extension may import counts like the extension.
        fs::write(folder.join("sub/helper.js"), "2").unwrap();
        let second = ProjectFolder::of(&folder).unwrap();
        assert!(!known.has(&second) && known.has(&first));
        fs::remove_file(folder.join("sub/helper.js")).unwrap();
        fs::rename(folder.join("a.ts"), folder.join("b.ts")).unwrap();
        assert!(!known.has(&ProjectFolder::of(&folder).unwrap()), "the name counts too");
    }

    #[test]
    fn a_link_to_a_folder_is_never_allowed() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("extensions");
        fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink("/", folder.join("all")).unwrap();
        assert!(ProjectFolder::of(&folder).unwrap_err().to_string().ends_with("is a link to a folder"));
    }
}
