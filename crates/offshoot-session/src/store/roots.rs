//! The folders that programs keep their sessions in, and how they name the folder of a working directory.

use std::path::{Path, PathBuf};

use crate::header::Dialect;

/// Whose folder it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// offshoot's own.
    Offshoot,
    /// pi's.
    Pi,
    /// oh-my-pi's.
    Omp,
    /// One folder that was named for one run: its files are the sessions.
    Flat,
}

/// A folder with sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The folder that holds one folder for each working directory (or the sessions themselves, if flat).
    pub folder: PathBuf,
    /// Whose it is.
    pub flavour: Flavour,
    /// The home directory that omp's folder names are relative to.
    pub home: Option<PathBuf>,
    /// The folder for temporary files that omp's folder names are relative to.
    pub temp: Option<PathBuf>,
}

impl Root {
    /// A root without knowledge of home and temporary folders.
    pub fn new(folder: impl Into<PathBuf>, flavour: Flavour) -> Self {
        Self { folder: folder.into(), flavour, home: None, temp: None }
    }

    /// The spelling of sessions that show none.
    pub fn dialect(&self) -> Dialect {
        match self.flavour {
            Flavour::Omp => Dialect::Omp,
            Flavour::Offshoot | Flavour::Pi | Flavour::Flat => Dialect::Pi,
        }
    }

    /// Where omp keeps big images: beside its sessions.
    pub fn blobs(&self) -> Option<PathBuf> {
        (self.flavour == Flavour::Omp).then(|| self.folder.with_file_name("blobs"))
    }

    /// The folders in which sessions of this working directory may be; the first is where new ones go.
    pub fn folders_of(&self, cwd: &str) -> Vec<PathBuf> {
        match self.flavour {
            Flavour::Flat => vec![self.folder.clone()],
            Flavour::Offshoot | Flavour::Pi => vec![self.folder.join(encode_cwd(cwd))],
            Flavour::Omp => {
                let relative = self.encode_relative(cwd).map(|name| self.folder.join(name));
                relative.into_iter().chain([self.folder.join(encode_cwd(cwd))]).collect()
            }
        }
    }

    /// omp's name for a working directory inside the home or the temporary folder.
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

/// The folder name of a working directory: one leading separator removed, the rest of them replaced by `-`, between
/// `--` and `--`. Different directories may share a name; the header's `cwd` tells them apart.
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
