//! The names that git gives to objects: SHA-1, or SHA-256 in repositories that ask for it. Knows no file but a repository's settings.

use std::path::Path;

use offshoot_session::medium::read_regular_text;
use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};
use sha2::Sha256;

const LONGEST_CONFIG: u64 = 1 << 20;

/// How a repository names its objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum GitForm {
    #[default]
    Sha1,
    Sha256,
}

/// The name of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<u8>", into = "Vec<u8>")]
pub(crate) enum GitId {
    Sha1([u8; 20]),
    Sha256([u8; 32]),
}

impl GitForm {
    /// Of a repository; `None` if it is one that is not known, or its settings cannot be read.
    pub(crate) fn of(common: &Path) -> Option<Self> {
        let config = common.join("config");
        let text = match read_regular_text(&config, LONGEST_CONFIG) {
            Ok(text) => text,
            Err(_) if config.symlink_metadata().is_err() => return Some(Self::Sha1),
            Err(_) => return None,
        };
        let (mut form, mut is_inside) = (Some(Self::Sha1), false);
        for line in text.lines().map(str::trim) {
            if let Some(section) = line.strip_prefix('[') {
                is_inside = section.trim_start().to_ascii_lowercase().starts_with("extensions");
            }
            let line = line.rsplit_once(']').map_or(line, |(_, rest)| rest);
            let Some((key, value)) = line.split_once('=').filter(|_| is_inside) else { continue };
            if key.trim().eq_ignore_ascii_case("objectformat") {
                form = match value.trim().trim_matches('"') {
                    "sha1" => Some(Self::Sha1),
                    "sha256" => Some(Self::Sha256),
                    _ => None,
                };
            }
        }
        form
    }

    /// The bytes of a name.
    pub(crate) fn length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

impl GitId {
    /// The name that git gives to a file's content, if it changes nothing in it.
    pub(crate) fn of(content: &[u8], form: GitForm) -> Self {
        let head = format!("blob {}\0", content.len());
        match form {
            GitForm::Sha1 => Self::Sha1(Sha1::new().chain_update(head).chain_update(content).finalize().into()),
            GitForm::Sha256 => Self::Sha256(Sha256::new().chain_update(head).chain_update(content).finalize().into()),
        }
    }

    pub(crate) fn read(bytes: &[u8], form: GitForm) -> Option<Self> {
        let name = bytes.get(..form.length())?;
        Some(match form {
            GitForm::Sha1 => Self::Sha1(name.try_into().ok()?),
            GitForm::Sha256 => Self::Sha256(name.try_into().ok()?),
        })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Sha1(name) => name,
            Self::Sha256(name) => name,
        }
    }
}

impl TryFrom<Vec<u8>> for GitId {
    type Error = &'static str;

    fn try_from(bytes: Vec<u8>) -> Result<Self, &'static str> {
        let form = if bytes.len() == GitForm::Sha1.length() { GitForm::Sha1 } else { GitForm::Sha256 };
        Self::read(&bytes, form)
            .filter(|_| bytes.len() == form.length())
            .ok_or("an object has a name of 20 or 32 bytes")
    }
}

impl From<GitId> for Vec<u8> {
    fn from(id: GitId) -> Self {
        id.bytes().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_a_repository_say_how_it_names_objects() {
        let dir = tempfile::tempdir().unwrap();
        let form = |config: &str| {
            std::fs::write(dir.path().join("config"), config).unwrap();
            GitForm::of(dir.path())
        };
        assert_eq!(GitForm::of(dir.path()), Some(GitForm::Sha1), "without settings");
        assert_eq!(form("[core]\n\tbare = false\n"), Some(GitForm::Sha1));
        assert_eq!(
            form("[core]\n\tx = 1\n[extensions]\n\tobjectFormat = sha256\n[a]\n\tb = c\n"),
            Some(GitForm::Sha256)
        );
        assert_eq!(form("[Extensions] objectformat = \"sha256\"\n"), Some(GitForm::Sha256));
        assert_eq!(form("[extensions]\n\tobjectformat = sha3\n"), None);
        assert_eq!(form("[other]\n\tobjectformat = sha256\n"), Some(GitForm::Sha1));
    }
}
