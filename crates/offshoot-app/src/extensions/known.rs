//! Which extensions of projects the user has allowed: the contents of their folders and of all files that they import, by hash. An
//! extension that is new or has changed does not run until the user says so again.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use offshoot_extensions::contract::AllowedFiles;
use offshoot_session::medium::{SharedFile, read_regular};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::config::trust_file::real;
use crate::error::{CommandError, FailureKind, Result};

const LIMIT: u64 = 4 << 20;
/// A folder with more is not looked through, and never allowed.
const MOST_FILES: usize = 20_000;
const MOST_BYTES: u64 = 64 << 20;

/// A file or a folder of a project's extensions, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFolder {
    pub path: PathBuf,
    /// Of all that is in it.
    hash: String,
    /// What is in it, by its own path, with hashes.
    files: BTreeMap<PathBuf, String>,
    /// What its extensions import, wherever it is.
    imports: BTreeMap<PathBuf, String>,
}

/// What the user has allowed of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Consent {
    /// Of offshoot before it looked at imports: does not count.
    Folder(String),
    Files {
        folder: String,
        imports: BTreeMap<PathBuf, String>,
    },
}

impl ProjectFolder {
    /// Looks at everything in it.
    ///
    /// # Errors
    /// A part cannot be read, or it is too large.
    pub fn of(path: &Path) -> io::Result<Self> {
        let path = real(path);
        let mut files = Vec::new();
        collect(&path, &mut files)?;
        files.sort();
        let (mut hash, mut room) = (Sha256::new(), MOST_BYTES);
        let mut hashes = BTreeMap::new();
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
            hashes.insert(file.clone(), hex(&Sha256::digest(&content)));
            hash.update(content);
        }
        Ok(Self { path, hash: hex(&hash.finalize()), files: hashes, imports: BTreeMap::new() })
    }

    /// With what its extensions import.
    pub fn importing(self, imports: BTreeMap<PathBuf, String>) -> Self {
        Self { imports, ..self }
    }

    /// All that its extensions may load.
    pub fn allowed(&self) -> AllowedFiles {
        AllowedFiles::new(self.files.clone().into_iter().chain(self.imports.clone()).collect())
    }

    /// What its extensions import that is not in it.
    pub fn imported(&self) -> impl Iterator<Item = &Path> {
        self.imports.keys().map(PathBuf::as_path).filter(|file| !self.files.contains_key(*file))
    }

    /// What is in it, without the packages that its extensions brought.
    pub fn own(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }
}

fn hex(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether the files have these contents still.
fn are_unchanged(files: &BTreeMap<PathBuf, String>) -> bool {
    let mut room = MOST_BYTES;
    files.iter().all(|(file, hash)| {
        read_regular(file, room).is_ok_and(|content| {
            room -= content.len() as u64;
            hex(&Sha256::digest(&content)) == *hash
        })
    })
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
pub struct KnownExtensions(SharedFile);

impl KnownExtensions {
    /// That of this data folder. Reads nothing yet.
    pub fn of(data: &Path) -> Self {
        Self(SharedFile::private(data.join("extensions.json"), LIMIT))
    }

    /// The folder with what its extensions may import, if the user has allowed exactly these contents.
    pub fn allowed(&self, folder: &ProjectFolder) -> Option<ProjectFolder> {
        match self.read().unwrap_or_default().remove(&*folder.path.to_string_lossy())? {
            Consent::Files { folder: hash, imports } if hash == folder.hash && are_unchanged(&imports) => {
                Some(folder.clone().importing(imports))
            }
            Consent::Files { .. } | Consent::Folder(_) => None,
        }
    }

    /// Allows these contents, in place of what was allowed of the same paths.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn keep(&self, folders: &[ProjectFolder]) -> Result<()> {
        let failed = |error: io::Error| CommandError::io(format!("write {}", self.0.path.display()), &error);
        let locked = self.0.lock().map_err(failed)?;
        let mut known = self.read()?;
        let consent =
            |folder: &ProjectFolder| Consent::Files { folder: folder.hash.clone(), imports: folder.imports.clone() };
        known.extend(folders.iter().map(|folder| (folder.path.to_string_lossy().into_owned(), consent(folder))));
        let text = serde_json::to_string_pretty(&known).map_err(|error| failed(error.into()))?;
        locked.replace(&(text + "\n")).map_err(failed)
    }

    fn read(&self) -> Result<BTreeMap<String, Consent>> {
        let failed = |cause: String| {
            let what = format!("could not read {}", self.0.path.display());
            CommandError { causes: vec![cause], ..CommandError::new(FailureKind::Damaged, what) }
                .hint("correct the file, or move it away and answer again")
        };
        match self.0.read() {
            Ok(Some(text)) => serde_json::from_str(&text).map_err(|error| failed(error.to_string())),
            Ok(None) => Ok(BTreeMap::new()),
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
        let is = |folder: &ProjectFolder| known.allowed(folder).is_some();
        let first = ProjectFolder::of(&folder).unwrap();
        assert!(!is(&first));
        known.keep(std::slice::from_ref(&first)).unwrap();
        assert!(is(&first));
        fs::write(folder.join("a.ts"), "2").unwrap();
        assert!(!is(&ProjectFolder::of(&folder).unwrap()), "one byte, and as many as before");
        fs::write(folder.join("a.ts"), "1").unwrap();
        // A file that an extension may import counts like the extension.
        fs::write(folder.join("sub/helper.js"), "2").unwrap();
        let second = ProjectFolder::of(&folder).unwrap();
        assert!(!is(&second) && is(&first));
        fs::remove_file(folder.join("sub/helper.js")).unwrap();
        fs::rename(folder.join("a.ts"), folder.join("b.ts")).unwrap();
        assert!(!is(&ProjectFolder::of(&folder).unwrap()), "the name counts too");
    }

    /// An agent that may write in the project changed what an allowed extension imports.
    #[test]
    fn what_is_imported_counts_wherever_it_is() {
        let home = tempfile::tempdir().unwrap();
        let (folder, lib) = (home.path().join("p/.pi/extensions"), home.path().join("p/lib.ts"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.ts"), "1").unwrap();
        fs::write(&lib, "1").unwrap();
        let known = KnownExtensions::of(&home.path().join("data"));
        let found = ProjectFolder::of(&folder).unwrap();
        let imports = BTreeMap::from([(lib.clone(), hex(&Sha256::digest("1")))]);
        known.keep(&[found.clone().importing(imports.clone())]).unwrap();
        let allowed = known.allowed(&found).unwrap();
        assert_eq!(allowed.imported().collect::<Vec<_>>(), [&lib]);
        fs::write(&lib, "2").unwrap();
        assert!(known.allowed(&found).is_none(), "one byte");
        fs::remove_file(&lib).unwrap();
        assert!(known.allowed(&found).is_none(), "gone");
        // What was allowed before imports were looked at is asked about again.
        fs::write(&lib, "1").unwrap();
        let before = format!("{{{:?}: {:?}}}", found.path.display().to_string(), found.hash);
        fs::write(home.path().join("data/extensions.json"), before).unwrap();
        assert!(known.allowed(&found).is_none());
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
