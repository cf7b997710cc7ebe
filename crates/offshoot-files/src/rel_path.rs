//! A path of a file below the folder of a workspace. Foreign text becomes one here, or is refused. Reads no file.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use offshoot_session::path_words::{path_of_words, path_words};
use serde::{Deserialize, Serialize};

/// The longest path, in bytes.
const LONGEST: usize = 4096;

/// A path that leads below its folder as text: no empty part, no `.` or `..`, nothing of `.git`. Bytes that are not UTF-8 are
/// spelled as [`path_words`] spells them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RelPath(String);

impl RelPath {
    /// The path of a file below a folder; `None` if it is not below, or is never recorded.
    #[must_use]
    pub fn below(root: &Path, path: &Path) -> Option<Self> {
        Self::try_from(path_words(path.strip_prefix(root).ok()?.as_os_str())).ok()
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names on the way, the file's own last.
    pub(crate) fn parts(&self) -> Vec<OsString> {
        self.0.split('/').map(|part| path_of_words(part).into_os_string()).collect()
    }

    /// The path from the workspace's folder on.
    #[must_use]
    pub fn to_path(&self) -> PathBuf {
        path_of_words(&self.0)
    }

    /// A file beside this one.
    pub(crate) fn beside(&self, suffix: &str) -> Result<Self, String> {
        Self::try_from(format!("{}{suffix}", self.0))
    }

    /// How many folders are above the file.
    pub(crate) fn depth(&self) -> usize {
        self.0.matches('/').count()
    }
}

impl TryFrom<String> for RelPath {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let refuse = |why: &str| Err(format!("the path {text:?} {why}"));
        if text.len() > LONGEST {
            return refuse("is too long");
        }
        for part in text.split('/') {
            match part {
                "" => return refuse("has an empty part"),
                "." | ".." => return refuse("leads elsewhere"),
                _ if part.eq_ignore_ascii_case(".git") => return refuse("is in a folder of git"),
                // Spelled bytes are all above ASCII, so none of them is a separator.
                _ if part.contains('\0') => return refuse("has a byte that no name has"),
                _ => {}
            }
        }
        Ok(Self(text))
    }
}

impl From<RelPath> for String {
    fn from(path: RelPath) -> Self {
        path.0
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leads_elsewhere_is_refused() {
        for text in
            ["", "/etc/passwd", "../../.bashrc", "a/../b", "a//b", "./a", "a/", ".git/config", "a/.GIT/hooks/x", "a\0b"]
        {
            assert!(RelPath::try_from(text.to_owned()).is_err(), "{text:?}");
        }
        assert!(RelPath::try_from("a".repeat(5000)).is_err());
        for text in ["a", "a/b.c", "..a/b", ".gitignore", "a b/ü"] {
            assert!(RelPath::try_from(text.to_owned()).is_ok(), "{text:?}");
        }
    }
}
