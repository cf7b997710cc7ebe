//! What a path holds at one moment: nothing, a file, a link, or something that is not covered. Data only.

use serde::{Deserialize, Serialize};

use crate::content::ContentHash;

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum FileState {
    /// Nothing.
    #[default]
    Absent,
    /// A regular file.
    File {
        /// Its content.
        hash: ContentHash,
        /// Its permissions, nine bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Its text.
        target: String,
    },
    /// Something whose content is not known: too large, a file with keys, or no file at all.
    NotCovered {
        /// Why.
        why: String,
    },
}

impl FileState {
    pub(crate) fn not_covered(why: impl Into<String>) -> Self {
        Self::NotCovered { why: why.into() }
    }

    /// The content of a regular file.
    #[must_use]
    pub fn hash(&self) -> Option<&ContentHash> {
        match self {
            Self::File { hash, .. } => Some(hash),
            Self::Absent | Self::Link { .. } | Self::NotCovered { .. } => None,
        }
    }

    /// Whether it can be written again.
    #[must_use]
    pub fn is_covered(&self) -> bool {
        !matches!(self, Self::NotCovered { .. })
    }
}
