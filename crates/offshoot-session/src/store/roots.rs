//! The folders in which programs keep sessions, and their names for working directories.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::header::Dialect;
use crate::medium::Stamp;
use crate::session::{Options, Session};

/// The program that a folder belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others are programs; `Omp` is oh-my-pi")]
pub enum Flavour {
    Offshoot,
    Pi,
    Omp,
    /// A folder named for one run, which itself has the session files.
    Flat,
    /// Another agent's, which is only read.
    Foreign(&'static ForeignFormat),
}

/// How the sessions of another agent are found and read. Its files are never written.
#[derive(Debug)]
pub struct ForeignFormat {
    /// The word for the agent.
    pub word: &'static str,
    /// The folders of its store with its sessions: those that may be of a working directory, or all.
    pub folders: fn(root: &Path, cwd: Option<&str>) -> Vec<ForeignFolder>,
    /// The same of sessions that others have started, which lists show below those.
    pub started: fn(root: &Path, cwd: Option<&str>) -> Vec<ForeignFolder>,
    /// Opens a session to read.
    pub open: fn(path: &Path, options: Options) -> Result<Session>,
}

/// A folder of another agent with its sessions.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the name says it")]
pub struct ForeignFolder {
    pub path: PathBuf,
    /// Each session's path, and the stamp of the file that it is in.
    pub files: Vec<(PathBuf, Option<Stamp>)>,
}

impl PartialEq for ForeignFormat {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

impl Eq for ForeignFormat {}

/// A folder with sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Root {
    /// The folder with one folder for each working directory, or with the sessions themselves if flat.
    pub folder: PathBuf,
    pub flavour: Flavour,
    /// The home directory, for omp's folder names.
    pub home: Option<PathBuf>,
    /// The folder for temporary files, for omp's folder names.
    pub temp: Option<PathBuf>,
}

impl Root {
    /// A root without home and temporary folder.
    pub fn new(folder: impl Into<PathBuf>, flavour: Flavour) -> Self {
        Self { folder: folder.into(), flavour, home: None, temp: None }
    }

    /// The spelling of sessions that do not show one.
    pub fn dialect(&self) -> Dialect {
        match self.flavour {
            Flavour::Omp => Dialect::Omp,
            Flavour::Offshoot | Flavour::Pi | Flavour::Flat | Flavour::Foreign(_) => Dialect::Pi,
        }
    }

    /// The folder of omp's blobs, beside its sessions.
    pub fn blobs(&self) -> Option<PathBuf> {
        (self.flavour == Flavour::Omp).then(|| self.folder.with_file_name("blobs"))
    }

    /// The folders that may have sessions of this working directory; new ones go to the first.
    pub fn folders_of(&self, cwd: &str) -> Vec<PathBuf> {
        match self.flavour {
            Flavour::Flat | Flavour::Foreign(_) => vec![self.folder.clone()],
            Flavour::Offshoot | Flavour::Pi => vec![self.folder.join(encode_cwd(cwd))],
            Flavour::Omp => {
                let relative = self.encode_relative(cwd).map(|name| self.folder.join(name));
                relative.into_iter().chain([self.folder.join(encode_cwd(cwd))]).collect()
            }
        }
    }

    /// How another agent's sessions are read.
    pub fn format(&self) -> Option<&'static ForeignFormat> {
        match self.flavour {
            Flavour::Foreign(format) => Some(format),
            Flavour::Offshoot | Flavour::Pi | Flavour::Omp | Flavour::Flat => None,
        }
    }

    /// omp's folder name for a working directory below the home or the temporary folder.
    fn encode_relative(&self, cwd: &str) -> Option<String> {
        let cwd = Path::new(cwd);
        let inside = |folder: &Option<PathBuf>| {
            cwd.strip_prefix(folder.as_ref()?).ok().map(|rest| replace(&rest.to_string_lossy()))
        };
        if let Some(rest) = inside(&self.home) {
            return Some(format!("-{rest}"));
        }
        let rest = inside(&self.temp)?;
        Some(if rest.is_empty() { "-tmp".to_owned() } else { format!("-tmp-{rest}") })
    }
}

/// The folder name of a working directory: without a leading separator, with others replaced by `-`, between `--` and
/// `--`. Directories may share a name; the header's `cwd` tells them apart.
pub fn encode_cwd(cwd: &str) -> String {
    let inner = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
    format!("--{}--", replace(inner))
}

fn replace(path: &str) -> String {
    path.replace(['/', '\\', ':'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_names_are_the_peers() {
        assert_eq!(encode_cwd("/home/u/proj"), "--home-u-proj--");
        assert_eq!(encode_cwd("C:\\a b"), "--C--a b--");
        let omp = Root { home: Some("/home/u".into()), temp: Some("/tmp".into()), ..Root::new("/s", Flavour::Omp) };
        let names = |cwd| omp.folders_of(cwd).iter().map(|f| f.display().to_string()).collect::<Vec<_>>();
        assert_eq!(names("/home/u/proj/x"), ["/s/-proj-x", "/s/--home-u-proj-x--"]);
        assert_eq!(names("/home/u"), ["/s/-", "/s/--home-u--"]);
        assert_eq!(names("/tmp"), ["/s/-tmp", "/s/--tmp--"]);
        assert_eq!(names("/tmp/a"), ["/s/-tmp-a", "/s/--tmp-a--"]);
        assert_eq!(names("/srv"), ["/s/--srv--"]);
    }
}
