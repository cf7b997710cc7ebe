//! The changes of files that one entry records, as data: what `offshoot.files` says. Knows no session.

use serde::{Deserialize, Serialize};

use crate::content::ContentHash;
use crate::error::{FilesError, FilesResult};
use crate::rel_path::RelPath;
use crate::state::FileState;
use crate::store::ContentStore;

/// The custom type of the entries.
pub const FILES_ENTRY: &str = "offshoot.files";

/// The longest data of an entry that is read, in bytes.
const LONGEST: usize = 8 << 20;
/// The most changes of one entry, in it or in the store.
const MOST_CHANGES: usize = 100_000;
const VERSION: u32 = 1;

/// A call that may have changed files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangingCall {
    /// The model's id of the call; empty for a command of the user.
    pub id: String,
    /// The tool.
    pub name: String,
}

/// Who changed a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChangedBy {
    /// The calls of the entry, or what ran beside them.
    Calls,
    /// Somebody else, before the calls.
    Foreign,
}

/// One path that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// The file.
    pub path: RelPath,
    /// Who changed it.
    pub by: ChangedBy,
    /// What was there.
    pub before: FileState,
    /// What is there now.
    pub after: FileState,
}

/// What an entry `offshoot.files` records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeSet {
    version: u32,
    /// The commit that git had checked out, or the branch if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The calls that may have done it.
    pub calls: Vec<ChangingCall>,
    /// The changes, sorted by path; foreign ones come first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileChange>,
    /// The content that lists the changes, if there are many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<ContentHash>,
    /// How many changes there are.
    pub count: usize,
    /// Whether only files that tools named are covered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
}

impl ChangeSet {
    /// Changes that these calls made.
    #[must_use]
    pub fn new(calls: Vec<ChangingCall>, changes: Vec<FileChange>) -> Self {
        let count = changes.len();
        Self { version: VERSION, head: None, calls, changes, manifest: None, count, is_partial: false }
    }

    /// The data of the entry. Many changes are put into the store.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(crate) fn into_data(mut self, store: &ContentStore, most: usize) -> FilesResult<String> {
        if self.changes.len() > most {
            let list = json(&self.changes)?;
            self.manifest = Some(store.put(list.as_bytes())?);
            self.changes = Vec::new();
        }
        json(&self)
    }

    /// Reads the data of an entry, which may be anybody's.
    ///
    /// # Errors
    /// It is not what offshoot writes.
    pub fn read(data: &str) -> FilesResult<Self> {
        let malformed = |why: String| FilesError::Malformed(why);
        if data.len() > LONGEST {
            return Err(malformed("it is too long".to_owned()));
        }
        let set: Self = serde_json::from_str(data).map_err(|error| malformed(error.to_string()))?;
        match set.version == VERSION && set.changes.len() <= MOST_CHANGES {
            true => Ok(set),
            false => Err(malformed("it is of another version of offshoot".to_owned())),
        }
    }

    /// The name under which the workspace remembers that it wrote this.
    pub(crate) fn digest(&self) -> FilesResult<ContentHash> {
        Ok(ContentHash::of(json(self)?.as_bytes()))
    }

    /// The same of the data of an entry; `None` if it is not what offshoot writes.
    #[must_use]
    pub fn digest_of(data: &str) -> Option<String> {
        Some(Self::read(data).ok()?.digest().ok()?.to_string())
    }

    /// All changes, from the store if they are there.
    pub(crate) fn all(mut self, store: &ContentStore) -> FilesResult<Vec<FileChange>> {
        let Some(manifest) = self.manifest.take() else { return Ok(self.changes) };
        let list = store.get(&manifest)?;
        let list: Vec<FileChange> =
            serde_json::from_slice(&list).map_err(|error| FilesError::Malformed(error.to_string()))?;
        if list.len() > MOST_CHANGES {
            return Err(FilesError::Malformed("it lists too many changes".to_owned()));
        }
        Ok(list)
    }
}

fn json<T: Serialize>(value: &T) -> FilesResult<String> {
    serde_json::to_string(value).map_err(|error| FilesError::Malformed(error.to_string()))
}
