//! Finds session files in folders with their stamps. Opens no file.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry};
use std::io;
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Flavour, ForeignFolder, ForeignFormat, Root};
use crate::error::{Error, Result};
use crate::medium::Stamp;

/// A folder with session files.
#[derive(Debug, Clone, Default)]
pub struct Folder {
    /// The path by which the folder was found.
    pub path: PathBuf,
    /// The path without links.
    pub real: PathBuf,
    /// The `*.jsonl` files, in no order.
    pub files: Vec<FoundFile>,
    /// The names of the folders in it.
    below: Vec<OsString>,
}

/// What a folder has.
#[derive(Debug, Default)]
struct FolderItems {
    files: Vec<FoundFile>,
    /// The names of folders.
    below: Vec<OsString>,
}

impl Folder {
    /// The session files in one folder. One that does not exist has none, nor has a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of_files_in(path: &Path) -> Result<Self> {
        let FolderItems { files, below } = if path.is_file() { FolderItems::default() } else { items_of(path)? };
        let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        Ok(Self { path: path.to_path_buf(), real, files, below })
    }

    fn foreign(folder: ForeignFolder, format: &'static ForeignFormat) -> Self {
        let files = folder.files.into_iter().map(|(path, stamp)| FoundFile::foreign(path, stamp, format)).collect();
        let real = folder.path.canonicalize().unwrap_or_else(|_| folder.path.clone());
        Self { path: folder.path, real, files, below: Vec::new() }
    }

    /// One file that somebody named, with its folder's paths.
    #[must_use]
    pub fn of_file(path: PathBuf, real: PathBuf, found: FoundFile) -> Self {
        Self { path, real, files: vec![found], below: Vec::new() }
    }
}

/// A session file that was found.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the name says it")]
pub struct FoundFile {
    pub path: PathBuf,
    /// The stamp when it was found.
    pub stamp: Option<Stamp>,
    is_link: bool,
    /// How it is read, if it is another agent's.
    pub format: Option<&'static ForeignFormat>,
}

impl FoundFile {
    /// A file that is there; `None` if it is not, or is no regular file.
    pub fn at(path: &Path) -> Option<Self> {
        let is_link = fs::symlink_metadata(path).ok()?.is_symlink();
        let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(Self { path: path.to_path_buf(), stamp: Some(Stamp::of(&meta)), is_link, format: None })
    }

    /// The same of a file that may be another agent's, as the root says in which it is.
    pub fn in_root(path: &Path, root: Option<&Root>) -> Option<Self> {
        match root.and_then(Root::format) {
            Some(format) => Some(Self { format: Some(format), ..Self::at(path)? }),
            None => Self::at(path),
        }
    }

    /// A session of another agent. One that is a part of a file has the file's stamp.
    fn foreign(path: PathBuf, stamp: Option<Stamp>, format: &'static ForeignFormat) -> Self {
        Self { path, stamp, is_link: false, format: Some(format) }
    }
}

/// Folders with this many files are read on all cores.
const MANY: usize = 1024;

/// The folders of roots before they are read.
#[derive(Debug, Default)]
pub(super) struct FolderPlaces {
    /// Of session files, without files.
    pub(super) own: Vec<Folder>,
    foreign: Vec<Folder>,
    pub(super) unread: Vec<Error>,
}

impl FolderPlaces {
    /// Those of this working directory, or all. Reads the names in roots.
    pub(super) fn of(roots: &[Root], cwd: Option<&str>) -> Result<Self> {
        let (mut seen, mut places) = (HashSet::new(), Self::default());
        for (number, root) in roots.iter().enumerate() {
            if let Some(format) = root.format() {
                let folders = (format.folders)(&root.folder, cwd).into_iter();
                places.foreign.extend(folders.map(|folder| Folder::foreign(folder, format)));
                continue;
            }
            let with_real = |path: PathBuf| (path.canonicalize().unwrap_or_else(|_| path.clone()), path);
            let folders: Vec<(PathBuf, PathBuf)> = match (cwd, root.flavour) {
                (Some(cwd), _) => root.folders_of(cwd).into_iter().map(with_real).collect(),
                (None, Flavour::Flat) => vec![with_real(root.folder.clone())],
                (None, _) => match sub_folders(&root.folder) {
                    Err(error) if number > 0 => {
                        places.unread.push(error);
                        continue;
                    }
                    folders => folders?,
                },
            };
            for (real, path) in folders {
                if seen.insert(real.clone()) {
                    places.own.push(Folder { path, real, ..Folder::default() });
                }
            }
        }
        Ok(places)
    }
}

/// The folders of roots in order, and errors for unreadable ones; see [`super::DirStore::folders`].
pub(super) fn folders(roots: &[Root], cwd: Option<&str>) -> Result<(Vec<Folder>, Vec<Error>)> {
    let FolderPlaces { own, foreign, mut unread } = FolderPlaces::of(roots, cwd)?;
    let mut folders = Vec::with_capacity(own.len());
    for (folder, items) in on_all_cores(own, |folder| items_of(&folder.path)) {
        match items {
            Ok(FolderItems { files, below }) => folders.push(Folder { files, below, ..folder }),
            Err(error) if roots.first().is_some_and(|own| own.folder == folder.path) => return Err(error),
            Err(error) => unread.push(error),
        }
    }
    if folders.iter().any(|folder| folder.files.iter().any(|found| found.is_link)) {
        let mut seen = HashSet::new();
        for folder in &mut folders {
            folder.files.retain(|found| seen.insert(found.path.canonicalize().unwrap_or_else(|_| found.path.clone())));
        }
    }
    folders.extend(foreign);
    Ok((folders, unread))
}

/// The sessions of other agents that others have started.
pub(super) fn started_folders(roots: &[Root], cwd: Option<&str>) -> Vec<Folder> {
    let of_root = |root: &Root| {
        let format = root.format()?;
        let started = (format.started)(&root.folder, cwd).into_iter();
        Some(started.map(|folder| Folder::foreign(folder, format)).collect::<Vec<_>>())
    };
    roots.iter().filter_map(of_root).flatten().collect()
}

/// The folders in a folder that are beside a session's file and have its name: those of its children.
pub(super) fn child_folders(folder: &Folder) -> Result<Vec<Folder>> {
    if folder.below.is_empty() {
        return Ok(Vec::new());
    }
    let stems: HashSet<_> = folder.files.iter().filter_map(|found| found.path.file_stem()).collect();
    let mut found = Vec::new();
    for name in folder.below.iter().filter(|name| stems.contains(name.as_os_str())) {
        let path = folder.path.join(name);
        let FolderItems { files, below } = items_of(&path)?;
        found.push(Folder { files, real: folder.real.join(name), path, below });
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Looks at folders on all cores; returns results in their order.
pub(super) fn on_all_cores<T: Send>(folders: Vec<Folder>, look: impl Fn(&Folder) -> T + Sync) -> Vec<(Folder, T)> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get).min(folders.len());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((at, folder)) = take(&folders, &next) {
            done.push((at, look(folder)));
        }
        done
    };
    let mut done = std::thread::scope(|scope| {
        let helpers: Vec<_> = (1..cores).map(|_| scope.spawn(work)).collect();
        let own = work();
        helpers.into_iter().filter_map(|helper| helper.join().ok()).fold(own, |mut all, some| {
            all.extend(some);
            all
        })
    });
    done.sort_by_key(|(at, _)| *at);
    folders.into_iter().zip(done).map(|(folder, (_, found))| (folder, found)).collect()
}

/// The next item that no other thread has taken.
pub(super) fn take<'a, T>(things: &'a [T], next: &AtomicUsize) -> Option<(usize, &'a T)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    things.get(at).map(|thing| (at, thing))
}

/// The folders in a root by their paths without links and by their names in it, in the order of these; including links to folders,
/// and entries that cannot be read, for which reading will give the error. A missing root has none.
fn sub_folders(root: &Path) -> Result<Vec<(PathBuf, PathBuf)>> {
    let entries = read_folder(root)?;
    let real_root = root.canonicalize();
    let is_folder = |entry: &DirEntry| match entry.file_type() {
        Ok(kind) if !kind.is_symlink() => kind.is_dir(),
        _ => match fs::metadata(entry.path()) {
            Ok(meta) => meta.is_dir(),
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        },
    };
    let real = |entry: &DirEntry| match (&real_root, entry.file_type()) {
        // The folders above one that is not a link are those of the root.
        (Ok(root), Ok(kind)) if kind.is_dir() => root.join(entry.file_name()),
        _ => entry.path().canonicalize().unwrap_or_else(|_| entry.path()),
    };
    let mut folders: Vec<(PathBuf, PathBuf)> =
        entries.iter().filter(|entry| is_folder(entry)).map(|entry| (real(entry), entry.path())).collect();
    folders.sort_by(|(_, one), (_, other)| one.cmp(other));
    Ok(folders)
}

/// The action in errors about unreadable folders.
pub(super) const READ_FOLDER: &str = "read folder";

/// The entries of a folder; a missing folder has none.
fn read_folder(folder: &Path) -> Result<Vec<DirEntry>> {
    let failed = || Error::io(READ_FOLDER, folder);
    match fs::read_dir(folder) {
        Ok(entries) => entries.collect::<io::Result<_>>().map_err(failed()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed()(error)),
    }
}

fn items_of(folder: &Path) -> Result<FolderItems> {
    let entries = read_folder(folder)?;
    let is_folder = |entry: &&DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let below = entries.iter().filter(is_folder).map(DirEntry::file_name).collect();
    // The system reads files to tell how many cores there are.
    let cores = if entries.len() < MANY { 1 } else { std::thread::available_parallelism().map_or(1, NonZero::get) };
    if cores < 2 {
        return Ok(FolderItems { files: entries.iter().filter_map(session_file).collect(), below });
    }
    let look = |part: &[DirEntry]| part.iter().filter_map(session_file).collect::<Vec<_>>();
    let files = std::thread::scope(|scope| {
        let parts = entries.chunks(entries.len().div_ceil(cores));
        let helpers: Vec<_> = parts.map(|part| (part, scope.spawn(move || look(part)))).collect();
        // If a thread failed, its part is read here.
        helpers.into_iter().flat_map(|(part, helper)| helper.join().unwrap_or_else(|_| look(part))).collect()
    });
    Ok(FolderItems { files, below })
}

/// Whether the file of this name has the extension of session files.
pub(super) fn is_session_name(name: &OsStr) -> bool {
    name.as_bytes().strip_suffix(b".jsonl").is_some_and(|stem| !stem.is_empty())
}

fn session_file(entry: &DirEntry) -> Option<FoundFile> {
    let path = is_session_name(&entry.file_name()).then(|| entry.path())?;
    let is_link = entry.file_type().map_or(true, |kind| kind.is_symlink());
    let meta = if is_link { fs::metadata(&path) } else { entry.metadata() };
    match meta {
        Ok(meta) => meta.is_file().then(|| FoundFile { path, stamp: Some(Stamp::of(&meta)), is_link, format: None }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None, // deleted, or a dangling link
        Err(_) => Some(FoundFile { path, stamp: None, is_link, format: None }), // opening it will give the error
    }
}
