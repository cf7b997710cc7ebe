//! Whether others may read a file with keys.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The mode of a file that others may read or change; `None` if only its owner may, or if there is none.
pub fn too_open(path: &Path) -> Option<u32> {
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}
