//! What lies in a folder. Knows no agent.

use std::path::{Path, PathBuf};

use offshoot_session::medium::Stamp;
use offshoot_session::store::ForeignFolder;

/// What lies in a folder, sorted. Links are not followed.
pub(crate) fn below(folder: &Path, kind: fn(&std::fs::FileType) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let fitting = entries.filter(|entry| entry.file_type().is_ok_and(|found| kind(&found)));
    let mut paths: Vec<PathBuf> = fitting.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// A folder with files and their stamps.
pub(crate) fn folder_of(path: PathBuf, files: Vec<PathBuf>) -> ForeignFolder {
    let stamped = |file: PathBuf| {
        let stamp = std::fs::symlink_metadata(&file).ok().map(|meta| Stamp::of(&meta));
        (file, stamp)
    };
    ForeignFolder { files: files.into_iter().map(stamped).collect(), path }
}
