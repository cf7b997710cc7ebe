//! The rules that the user allows in single projects: `permissions.json` in the data folder, by the real path of the project's root. Never in the
//! project: what comes with a clone allows nothing. Knows no rule's meaning.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use offshoot_session::medium::{SharedFile, real_path_or_same};
use serde::{Deserialize, Serialize};

use crate::error::{CommandError, FailureKind, Result};

const LIMIT: u64 = 1 << 20;

/// The user's rules of one project.
#[derive(Debug, Clone)]
pub struct ProjectRules {
    file: SharedFile,
    root: PathBuf,
}

type Projects = BTreeMap<String, AllowedRules>;

#[derive(Debug, Default, Serialize, Deserialize)]
struct AllowedRules {
    #[serde(default)]
    allow: Vec<String>,
}

impl ProjectRules {
    /// Those of the project of a folder: its git repository, else the folder itself. Reads no rules yet.
    pub fn of(data: &Path, folder: &Path) -> Self {
        Self { file: SharedFile::private(data.join("permissions.json"), LIMIT), root: root(folder) }
    }

    /// The project's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The rules as they are written.
    ///
    /// # Errors
    /// The file cannot be read, or is not what offshoot writes.
    pub fn allowed(&self) -> Result<Vec<String>> {
        Ok(self
            .name()
            .ok()
            .and_then(|name| self.read().map(|mut all| all.remove(&name)).transpose())
            .transpose()?
            .unwrap_or_default()
            .allow)
    }

    /// Adds a rule. Written in one step, and durable when this returns.
    ///
    /// # Errors
    /// The file cannot be read or written; a file with other contents is left as it is.
    pub fn allow(&self, rule: &str) -> Result<()> {
        self.change(|rules| {
            if !rules.iter().any(|known| known == rule) {
                rules.push(rule.to_owned());
            }
        })
    }

    /// Removes a rule. Returns whether it was there.
    ///
    /// # Errors
    /// The same.
    pub fn remove(&self, rule: &str) -> Result<bool> {
        if !self.allowed()?.iter().any(|known| known == rule) {
            return Ok(false);
        }
        self.change(|rules| rules.retain(|known| known != rule)).map(|()| true)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<String>)) -> Result<()> {
        let failed = |error: io::Error| CommandError::io(format!("write {}", self.file.path.display()), &error);
        let name = self.name()?;
        let locked = self.file.lock().map_err(failed)?;
        let mut projects = self.read()?;
        let mut rules = projects.remove(&name).unwrap_or_default();
        change(&mut rules.allow);
        if !rules.allow.is_empty() {
            projects.insert(name, rules);
        }
        let text = serde_json::to_string_pretty(&projects).map_err(|error| failed(error.into()))?;
        locked.replace(&(text + "\n")).map_err(failed)
    }

    fn read(&self) -> Result<Projects> {
        let failed = |cause: String| {
            let what = format!("could not read {}", self.file.path.display());
            CommandError { causes: vec![cause], ..CommandError::new(FailureKind::Damaged, what) }
                .hint("correct the file, or move it away to begin without rules of projects")
        };
        match self.file.read() {
            Ok(Some(text)) => serde_json::from_str(&text).map_err(|error| failed(error.to_string())),
            Ok(None) => Ok(Projects::new()),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    fn name(&self) -> Result<String> {
        let name = self.root.to_str().map(ToOwned::to_owned);
        name.ok_or_else(|| CommandError::usage(format!("the name of {} is not UTF-8", self.root.display())))
    }
}

fn root(folder: &Path) -> PathBuf {
    let real = real_path_or_same(folder);
    let repository = real.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok());
    repository.unwrap_or(&real).to_owned()
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare their own files")]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn folders() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().canonicalize().unwrap().join("w");
        fs::create_dir_all(project.join("a/b")).unwrap();
        let data = home.path().join("data");
        (home, data, project)
    }

    #[test]
    fn rules_count_in_the_whole_repository_and_nowhere_else() {
        let (home, data, project) = folders();
        fs::create_dir(project.join(".git")).unwrap();
        fs::create_dir_all(project.join("vendor/other/.git")).unwrap();
        symlink(project.join("a"), home.path().join("link")).unwrap();
        let rules = |folder: &Path| ProjectRules::of(&data, folder);
        rules(&project.join("a/b")).allow("bash(make)").unwrap();
        rules(&project).allow("bash(make)").unwrap();
        for folder in [&project, &project.join("a"), &home.path().join("link")] {
            assert_eq!(rules(folder).allowed().unwrap(), ["bash(make)"], "{}", folder.display());
        }
        for folder in [home.path(), &project.join("vendor/other"), Path::new("/")] {
            assert!(rules(folder).allowed().unwrap().is_empty(), "{}", folder.display());
        }
        let file = data.join("permissions.json");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(rules(&project).remove("bash(make)").unwrap() && !rules(&project).remove("bash(make)").unwrap());
        assert_eq!(fs::read_to_string(file).unwrap(), "{}\n");
    }

    #[test]
    fn a_file_that_cannot_be_read_allows_nothing_and_is_not_written_over() {
        let (_home, data, project) = folders();
        fs::create_dir_all(&data).unwrap();
        let file = data.join("permissions.json");
        for text in ["{", "[]", r#"{"/w": "bash"}"#] {
            fs::write(&file, text).unwrap();
            let rules = ProjectRules::of(&data, &project);
            assert!(
                rules.allowed().is_err() && rules.allow("bash").is_err() && rules.remove("bash").is_err(),
                "{text}"
            );
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
    }
}
