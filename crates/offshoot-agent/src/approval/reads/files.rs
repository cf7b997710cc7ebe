//! Whether a file that a line names may be read, by the rules of the tool `read`. Reads links and kinds of files.

use std::path::{Path, PathBuf};

use offshoot_session::medium::real_path;

use super::super::ApprovalCall;

/// What is known of a file.
pub(super) struct ReadableFile {
    pub(super) path: PathBuf,
    pub(super) is_outside: bool,
}

/// Folders whose files are not what is on a disk.
const OF_THE_SYSTEM: &[&str] = &["/proc", "/sys", "/dev"];

/// A file or folder by this name in this folder; `None` if reading it might never end, or it contains keys, or nobody knows.
pub(super) fn readable(name: &str, folder: &Path, call: &ApprovalCall<'_>) -> Option<ReadableFile> {
    if name.is_empty() {
        return None;
    }
    let path = folder.join(name);
    let real = real_path(&path).ok()?;
    let is_nothing = name == "/dev/null";
    if !is_nothing && OF_THE_SYSTEM.iter().any(|place| real.starts_with(place) || path.starts_with(place)) {
        return None;
    }
    let is_endless = std::fs::metadata(&path).is_ok_and(|about| !about.is_file() && !about.is_dir());
    let has_keys = [&path, &real].into_iter().any(|path| call.keys.refuse_key_file(path).is_err());
    if has_keys || (is_endless && !is_nothing) {
        return None;
    }
    let is_outside = !is_nothing && super::super::inside(&path, call.cwd).is_none();
    Some(ReadableFile { path, is_outside })
}

/// Whether a file with keys is below the path.
pub(super) fn contains_keys(path: &Path, call: &ApprovalCall<'_>) -> bool {
    let Ok(real) = real_path(path) else { return true };
    let is_below =
        |file: &PathBuf| file.starts_with(&real) || real_path(file).is_ok_and(|file| file.starts_with(&real));
    call.keys.files.iter().filter(|file| file.symlink_metadata().is_ok()).any(is_below)
}

/// Whether the value of an option, or a revision, may be a file: it is spelled like a path, or a file has its name.
pub(super) fn looks_like_a_path(word: &str, folder: &Path) -> bool {
    let is_spelled = word.starts_with('/') || word.split('/').any(|part| part == "..");
    is_spelled || folder.join(word).symlink_metadata().is_ok()
}
