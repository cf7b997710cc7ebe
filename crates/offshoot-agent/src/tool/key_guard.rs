//! Keeps keys from tools: which texts to mask, which files not to open, which variables commands do not get. Knows no
//! source of keys.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_protocol::{MASK, Secrets};

use super::ToolOutcome;

#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct KeyGuard {
    /// Masked in everything that tools print.
    pub secrets: Secrets,
    /// Files with keys, which the file tools refuse.
    pub files: Arc<[PathBuf]>,
    /// Variables with keys, which the model's commands do not get.
    pub variables: Arc<[String]>,
}

/// Why a tool refuses a file.
pub(crate) const CONTAINS_KEYS: &str = "contains keys: tools do not open it";

/// Devices and inodes.
pub(crate) struct KeyFiles(Vec<(u64, u64)>);

impl KeyFiles {
    pub(crate) fn contains(&self, file: &Metadata) -> bool {
        self.0.contains(&id(file))
    }
}

fn id(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

impl KeyGuard {
    /// The files with keys that exist, whatever their names.
    pub(crate) fn key_files(&self) -> KeyFiles {
        KeyFiles(self.files.iter().filter_map(|path| std::fs::metadata(path).ok()).map(|file| id(&file)).collect())
    }

    /// Refuses a file with keys under any of its names.
    pub(crate) fn refuse_key_file(&self, path: &Path) -> Result<(), ToolOutcome> {
        let is_one = std::fs::metadata(path).is_ok_and(|file| self.key_files().contains(&file));
        if is_one || self.files.iter().any(|file| file == path) {
            return Err(ToolOutcome::failed(format!("{} {CONTAINS_KEYS}", path.display())));
        }
        Ok(())
    }

    /// A file that gets a mask loses the key that was there.
    pub(crate) fn refuse_masked<'a>(path: &Path, mut texts: impl Iterator<Item = &'a str>) -> Result<(), ToolOutcome> {
        if texts.any(|text| text.contains(MASK)) {
            return Err(ToolOutcome::failed(format!(
                "{} is not changed: the text contains {MASK:?}, which stands for a key; leave the lines with keys as they are",
                path.display()
            )));
        }
        Ok(())
    }
}
