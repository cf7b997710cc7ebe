//! The folder of installed packages: fetches into a scratch folder beside it, and puts a package into its place only when the
//! caller says so. One such folder is the user's, one each project's.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use offshoot_session::medium::{LockedFile, SharedFile};
use offshoot_session::text::{counted, noun};
use tempfile::TempDir;

use crate::archive;
use crate::contents::{self, Contents};
use crate::entry::PackageEntry;
use crate::error::{PackageError, Result};
use crate::git::Git;
use crate::lock::{self, Lock, Locked};
pub use crate::npm::NpmOptions;
use crate::source::{PackageSource, absolute};

/// Where packages are installed, and where paths in the settings begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageStore {
    /// The folder of the settings file.
    pub base: PathBuf,
    /// The home folder.
    pub home: Option<PathBuf>,
    /// How npm is asked.
    pub npm: NpmOptions,
}

/// A package that was fetched and has no effect yet.
#[derive(Debug)]
pub struct Fetched {
    /// Where it comes from.
    pub source: PackageSource,
    /// What it brings.
    pub contents: Contents,
    /// What is written into the record; `None` for a path.
    pub locked: Option<Locked>,
    scratch: Option<TempDir>,
    root: PathBuf,
}

/// What an installed package is now, and what the record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its folder.
    pub root: PathBuf,
    /// What it brings.
    pub contents: Contents,
    /// What the record says.
    pub locked: Option<Locked>,
}

impl PackageStore {
    fn folder(&self) -> PathBuf {
        self.base.join("packages")
    }

    fn lock_file(&self) -> PathBuf {
        self.base.join("packages-lock.json")
    }

    /// The same for every way to write a package's source.
    #[must_use]
    pub fn identity(&self, source: &PackageSource) -> String {
        source.identity(&self.base, self.home.as_deref())
    }

    /// Where a package is, if it is installed; of a path the path.
    #[must_use]
    pub fn package_path(&self, source: &PackageSource) -> PathBuf {
        match source {
            PackageSource::Npm { name, .. } => self.folder().join("npm").join(name),
            PackageSource::Git { host, path, .. } => self.folder().join("git").join(host.replace(':', "+")).join(path),
            PackageSource::Path(path) => absolute(path, &self.base, self.home.as_deref()),
        }
    }

    /// The record of what was installed.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn lock(&self) -> Result<Lock> {
        Lock::read(&self.lock_file())
    }

    /// What is installed of an entry.
    ///
    /// # Errors
    /// It is not installed, or cannot be read.
    pub fn installed(&self, entry: &PackageEntry) -> Result<Installed> {
        let root = self.package_path(&entry.source);
        if !root.is_dir() {
            return Err(PackageError::NotInstalled(entry.written.clone()));
        }
        let contents = Contents::of(&root)?;
        let locked = self.lock()?.packages.remove(&self.identity(&entry.source));
        Ok(Installed { root, contents, locked })
    }

    /// Fetches a package. `exactly` is a record that it must have.
    ///
    /// # Errors
    /// It cannot be fetched, is too large, has files outside its folder, or is not what the record says.
    pub fn fetch(&self, source: &PackageSource, exactly: Option<&Locked>) -> Result<Fetched> {
        let what = source.to_string();
        if let PackageSource::Path(path) = source {
            let root = self.package_path(source);
            if !root.is_dir() {
                let why = format!("there is no folder {}", root.display());
                return Err(PackageError::Source { text: path.clone(), why });
            }
            contents::check(&root, &what)?;
            return Ok(Fetched {
                source: source.clone(),
                contents: Contents::of(&root)?,
                locked: None,
                scratch: None,
                root,
            });
        }
        let scratch = self.scratch()?;
        let root = scratch.path().join("package");
        let locked = match source {
            PackageSource::Npm { name, wanted } => {
                let wanted = exactly.and_then(|locked| locked.version.as_deref()).or(wanted.as_deref());
                let packed = self.npm.fetch(name, wanted, scratch.path())?;
                fs::create_dir(&root).map_err(|error| PackageError::io("create", &root, error))?;
                archive::unpack(&what, &packed.archive, &root)?;
                Locked { version: Some(packed.version), integrity: Some(packed.integrity), commit: None }
            }
            PackageSource::Git { url, reference, .. } => {
                let wanted = exactly.and_then(|locked| locked.commit.as_deref()).or(reference.as_deref());
                let git = Git { package: &what, environment: &self.npm.environment };
                let commit = git.clone(url, wanted, &root)?;
                Locked { commit: Some(commit), ..Locked::default() }
            }
            PackageSource::Path(_) => Locked::default(),
        };
        if let Some(known) = exactly.filter(|known| **known != locked) {
            let said = |locked: &Locked| locked.integrity.clone().or(locked.commit.clone()).unwrap_or_default();
            let why = format!("it is {}, and the record says {}", said(&locked), said(known));
            return Err(PackageError::refused(&what, why));
        }
        contents::check(&root, &what)?;
        let contents = Contents::of(&root)?;
        if contents.dependencies > 0 && !self.npm.exists() {
            let others = counted(contents.dependencies, "other package", "other packages");
            let them = noun(contents.dependencies, "it", "them");
            let why = format!("it depends on {others}, and npm is not there to install {them}");
            return Err(PackageError::refused(&what, why));
        }
        Ok(Fetched { source: source.clone(), contents, locked: Some(locked), scratch: Some(scratch), root })
    }

    /// Puts a fetched package into its place, with what it needs, and writes the record. What stood there before is kept until
    /// the new one stands. Scripts run only if `runs_scripts`.
    ///
    /// # Errors
    /// What it needs cannot be installed, or a file cannot be written; then the place is as before.
    pub fn commit(&self, fetched: Fetched, runs_scripts: bool) -> Result<()> {
        let Fetched { source, contents, locked, scratch, root } = fetched;
        let (Some(locked), Some(scratch)) = (locked, scratch) else { return Ok(()) };
        if contents.dependencies > 0 || (runs_scripts && !contents.scripts.is_empty()) {
            self.npm.install_needed(&source.to_string(), &root, scratch.path(), runs_scripts)?;
        }
        let place = self.package_path(&source);
        let record = self.record_file();
        let locked_record = self.locked(&record)?;
        let folder = place.parent().unwrap_or(&place);
        fs::create_dir_all(folder).map_err(|error| PackageError::io("create", folder, error))?;
        let former = scratch.path().join("former");
        let had_one = place.symlink_metadata().is_ok();
        if had_one {
            self.check_unchanged(&source, &place, scratch.path())?;
            fs::rename(&place, &former).map_err(|error| PackageError::io("move", &place, error))?;
        }
        if let Err(error) = fs::rename(&root, &place) {
            if had_one {
                drop(fs::rename(&former, &place));
            }
            return Err(PackageError::io("write", &place, error));
        }
        self.change_record(&locked_record, &source, Some(locked))
    }

    /// Takes a package out of its place and out of the record. A path stays.
    ///
    /// # Errors
    /// A clone that was changed by hand stays; so does what cannot be moved.
    pub fn remove(&self, source: &PackageSource) -> Result<()> {
        let place = self.package_path(source);
        let record = self.record_file();
        let locked_record = self.locked(&record)?;
        if !matches!(source, PackageSource::Path(_)) && place.symlink_metadata().is_ok() {
            let scratch = self.scratch()?;
            self.check_unchanged(source, &place, scratch.path())?;
            fs::rename(&place, scratch.path().join("former"))
                .map_err(|error| PackageError::io("remove", &place, error))?;
        }
        self.change_record(&locked_record, source, None)
    }

    /// Work in a clone is not thrown away.
    fn check_unchanged(&self, source: &PackageSource, place: &Path, scratch: &Path) -> Result<()> {
        if !matches!(source, PackageSource::Git { .. }) {
            return Ok(());
        }
        let what = source.to_string();
        let locked = self.lock()?.packages.remove(&self.identity(source)).and_then(|locked| locked.commit);
        let Some(commit) = locked.filter(|commit| is_commit(commit)) else {
            let why = format!("no record says which commit {} has: remove the folder yourself", place.display());
            return Err(PackageError::refused(&what, why));
        };
        let git = Git { package: &what, environment: &self.npm.environment };
        let changed = git.changes(place, &commit, scratch)?;
        match changed.lines().next() {
            None => Ok(()),
            Some(first) => {
                let why = format!(
                    "files in {} were changed, such as {}: keep them elsewhere first",
                    place.display(),
                    first.trim()
                );
                Err(PackageError::refused(&what, why))
            }
        }
    }

    /// Its lock is among the packages, where a project's git does not see it.
    fn record_file(&self) -> SharedFile {
        let lock = self.folder().join(".lock");
        SharedFile { path: self.lock_file(), lock, limit: lock::LONGEST, new_mode: 0o600 }
    }

    /// Waits until no other process changes packages here.
    fn locked<'a>(&self, record: &'a SharedFile) -> Result<LockedFile<'a>> {
        self.make_folder()?;
        record.lock().map_err(|error| PackageError::io("lock", &record.lock, error))
    }

    fn change_record(&self, file: &LockedFile<'_>, source: &PackageSource, locked: Option<Locked>) -> Result<()> {
        let mut lock = self.lock()?;
        let identity = self.identity(source);
        match locked {
            Some(locked) => drop(lock.packages.insert(identity, locked)),
            None => drop(lock.packages.remove(&identity)),
        }
        file.replace(&lock.text()).map_err(|error| PackageError::io("write", &self.lock_file(), error))
    }

    fn make_folder(&self) -> Result<PathBuf> {
        let folder = self.folder();
        let made = fs::DirBuilder::new().recursive(true).mode(0o755).create(&folder);
        made.map_err(|error| PackageError::io("create", &folder, error))?;
        let rules = folder.join(".gitignore");
        if rules.symlink_metadata().is_err() {
            let made = archive::make(&rules, "*\n");
            // Another process may have made it meanwhile.
            if rules.symlink_metadata().is_err() {
                made?;
            }
        }
        Ok(folder)
    }

    /// A folder on the same disk, which goes when it is dropped.
    fn scratch(&self) -> Result<TempDir> {
        let folder = self.make_folder()?;
        tempfile::Builder::new()
            .prefix(".fetched-")
            .tempdir_in(&folder)
            .map_err(|error| PackageError::io("create", &folder, error))
    }
}

/// Whether a text of the record is a whole commit, and no option or name.
fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
