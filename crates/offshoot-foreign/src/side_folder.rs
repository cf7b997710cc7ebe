//! Files beside a session, in folders below its own, and copies of them. Names come from foreign text: only plain ones are looked up.

use std::path::PathBuf;

use offshoot_session::medium::read_regular_text;

use crate::composing::SideFiles;
use crate::kept_copy::copy_with;

/// A larger file is not read.
const LARGEST: u64 = 64 << 20;

/// The folder of a session's side files.
#[derive(Debug)]
pub(crate) struct SideFolder(pub(crate) PathBuf);

impl SideFiles for SideFolder {
    fn text(&self, folder: &str, name: &str) -> Option<String> {
        let folder = Some(self.0.join(folder)).filter(|_| is_plain(name))?;
        let file = folder.join(name);
        // A link would lead to a file of somebody's choice.
        let is_own = |kind: fn(&std::fs::Metadata) -> bool, path: &std::path::Path| {
            std::fs::symlink_metadata(path).is_ok_and(|meta| kind(&meta))
        };
        let is_inside = is_own(std::fs::Metadata::is_dir, &folder) && is_own(std::fs::Metadata::is_file, &file);
        is_inside.then(|| read_regular_text(&file, LARGEST).ok()).flatten()
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

/// What was beside a session, in the session's copy.
#[derive(Debug)]
pub(crate) struct KeptSide {
    /// The folder of the copy.
    pub(crate) copy: PathBuf,
    /// Where the session was.
    pub(crate) session: PathBuf,
}

impl SideFiles for KeptSide {
    fn text(&self, folder: &str, name: &str) -> Option<String> {
        let file = is_plain(name).then(|| self.session.with_extension("").join(folder).join(name))?;
        let bytes = copy_with(&self.copy, &file, LARGEST).ok()?;
        String::from_utf8(bytes).ok()
    }
}
