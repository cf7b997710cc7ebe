//! The user's answers to the question whether a folder is trusted: `trust.json` in the data folder, in pi's shape (the
//! folder's real path, and true or false). Decides nothing else, and asks nobody.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use offshoot_session::medium::{SharedFile, real_path_or_same};

use crate::error::{CommandError, FailureKind, Result};

const LIMIT: u64 = 1 << 20;

/// A folder that is null has no answer of its own.
type Answers = BTreeMap<String, Option<bool>>;

/// `trust.json` in the data folder: the user's answers about folders.
#[derive(Debug, Clone)]
pub struct TrustFile(SharedFile);

impl TrustFile {
    /// That of this data folder. Reads nothing yet.
    pub fn of(data: &Path) -> Self {
        Self(SharedFile::private(data.join("trust.json"), LIMIT))
    }

    /// The answer for a folder, else that for the nearest folder above it.
    ///
    /// # Errors
    /// The file cannot be read, or is not what offshoot and pi write.
    pub fn answer(&self, folder: &Path) -> Result<Option<bool>> {
        let answers = self.read()?;
        let folder = real(folder);
        let of = |folder: &Path| answers.get(folder.to_str()?).copied().flatten();
        Ok(folder.ancestors().find_map(of))
    }

    /// Remembers an answer for a folder and all in it. Written in one step, and durable when this returns.
    ///
    /// # Errors
    /// The file cannot be read or written; a file with other contents is left as it is.
    pub fn save(&self, folder: &Path, is_trusted: bool) -> Result<()> {
        self.change(|answers| {
            answers.insert(named(folder)?, Some(is_trusted));
            Ok(())
        })
    }

    /// Trusts the folder above this one, and all in it.
    pub fn save_parent(&self, folder: &Path) -> Result<()> {
        let folder = real(folder);
        let parent = folder.parent().unwrap_or(&folder);
        self.change(|answers| {
            answers.remove(&named(&folder)?);
            answers.insert(named(parent)?, Some(true));
            Ok(())
        })
    }

    fn change(&self, change: impl FnOnce(&mut Answers) -> Result<()>) -> Result<()> {
        let failed = |error: io::Error| CommandError::io(format!("write {}", self.0.path.display()), &error);
        let locked = self.0.lock().map_err(failed)?;
        let mut answers = self.read()?;
        change(&mut answers)?;
        let text = serde_json::to_string_pretty(&answers).map_err(|error| failed(error.into()))?;
        locked.replace(&(text + "\n")).map_err(failed)
    }

    fn read(&self) -> Result<Answers> {
        let failed = |cause: String| {
            let what = format!("could not read {}", self.0.path.display());
            CommandError { causes: vec![cause], ..CommandError::new(FailureKind::Damaged, what) }
                .hint("correct the file, or move it away and answer again")
        };
        match self.0.read() {
            Ok(Some(text)) => serde_json::from_str(&text).map_err(|error| failed(error.to_string())),
            Ok(None) => Ok(Answers::new()),
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

/// The path without links.
pub fn real(folder: &Path) -> PathBuf {
    real_path_or_same(folder)
}

fn named(folder: &Path) -> Result<String> {
    let folder = real(folder);
    let name = folder.to_str().map(ToOwned::to_owned);
    name.ok_or_else(|| CommandError::usage(format!("the name of {} is not UTF-8", folder.display())))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare their own files")]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use std::fs;

    use super::*;

    fn there(text: Option<&str>) -> (tempfile::TempDir, TrustFile, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().canonicalize().unwrap().join("w/a/b");
        fs::create_dir_all(&folder).unwrap();
        let data = home.path().join("data");
        if let Some(text) = text {
            fs::create_dir_all(&data).unwrap();
            let above = folder.ancestors().nth(2).unwrap().to_str().unwrap();
            fs::write(data.join("trust.json"), text.replace("/w", above)).unwrap();
        }
        (home, TrustFile::of(&data), folder)
    }

    /// The vectors of pi's answers.
    #[test]
    fn the_nearest_answer_counts() {
        let vectors = [
            (None, None),
            (Some("{}"), None),
            (Some(r#"{"/w": true}"#), Some(true)),
            (Some(r#"{"/w": true, "/w/a": false}"#), Some(false)),
            (Some(r#"{"/w": true, "/w/a": null}"#), Some(true)),
            (Some(r#"{"/w/": true}"#), None),
        ];
        for (text, expected) in vectors {
            let (_home, file, folder) = there(text);
            assert_eq!(file.answer(&folder).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_link_to_a_folder_is_that_folder() {
        let (home, file, folder) = there(Some(r#"{"/w/a/b": true}"#));
        let link = home.path().join("link");
        symlink(&folder, &link).unwrap();
        assert_eq!(file.answer(&link).unwrap(), Some(true));
        file.save(&link, false).unwrap();
        assert_eq!(file.answer(&folder).unwrap(), Some(false));
    }

    #[test]
    fn answers_are_kept_private_and_for_all_below() {
        let (_home, file, folder) = there(None);
        file.save(&folder, false).unwrap();
        file.save_parent(&folder).unwrap();
        let parent = folder.parent().unwrap();
        let text = fs::read_to_string(&file.0.path).unwrap();
        assert_eq!(text, format!("{{\n  \"{}\": true\n}}\n", parent.display()));
        assert_eq!(file.answer(&folder).unwrap(), Some(true));
        assert_eq!(fs::metadata(&file.0.path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_cannot_be_read_gives_no_answer_and_is_not_written_over() {
        for text in [r#"{"/w": "yes"}"#, "{", "[]"] {
            let (_home, file, folder) = there(Some(text));
            let before = fs::read(&file.0.path).unwrap();
            assert!(file.answer(&folder).unwrap_err().message.starts_with("could not read"), "{text}");
            assert!(file.save(&folder, true).is_err());
            assert_eq!(fs::read(&file.0.path).unwrap(), before);
        }
    }
}
