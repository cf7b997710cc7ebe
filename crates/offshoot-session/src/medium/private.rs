//! Folders for their owner only.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

/// Creates a folder, or takes it back from others who may access it. For caches, which tell of conversations.
///
/// # Errors
/// The folder cannot be created.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let meta = fs::symlink_metadata(folder)?;
    if meta.is_dir() && meta.permissions().mode() & 0o077 != 0 {
        // A folder of somebody else stays as it is.
        drop(fs::set_permissions(folder, Permissions::from_mode(0o700)));
    }
    Ok(())
}
