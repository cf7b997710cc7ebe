//! The record of what was installed: version and integrity, or commit. A file beside the settings; a project's is meant to be
//! committed.

use std::collections::BTreeMap;
use std::path::Path;

use offshoot_session::medium::read_regular_text;
use serde::{Deserialize, Serialize};

use crate::error::{PackageError, Result};

pub(crate) const LONGEST: u64 = 4 << 20;
const FORM: u32 = 1;

/// What was installed of one package.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Locked {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Of npm's archive: `sha512-` and base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrity: Option<String>,
    /// Of git.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// The record, by the packages' identities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    version: u32,
    #[expect(missing_docs, reason = "the name says what it is")]
    pub packages: BTreeMap<String, Locked>,
}

impl Default for Lock {
    fn default() -> Self {
        Self { version: FORM, packages: BTreeMap::new() }
    }
}

impl Lock {
    /// Reads the record; the empty one if there is none.
    ///
    /// # Errors
    /// It cannot be read, or is of a later form.
    pub fn read(file: &Path) -> Result<Self> {
        if file.symlink_metadata().is_err() {
            return Ok(Self::default());
        }
        let text = read_regular_text(file, LONGEST).map_err(|error| PackageError::io("read", file, error))?;
        let wrong = |why: String| PackageError::Manifest { file: file.to_path_buf(), why };
        let lock: Self = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if lock.version == FORM {
            Ok(lock)
        } else {
            Err(wrong(format!("it has form {}, and this offshoot knows {FORM}", lock.version)))
        }
    }

    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}
