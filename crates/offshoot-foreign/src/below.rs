//! What lies in a folder. Knows no agent.

use std::path::{Path, PathBuf};

/// What lies in a folder, sorted. Links are not followed.
pub(crate) fn below(folder: &Path, kind: fn(&std::fs::FileType) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let fitting = entries.filter(|entry| entry.file_type().is_ok_and(|found| kind(&found)));
    let mut paths: Vec<PathBuf> = fitting.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
