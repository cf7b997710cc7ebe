//! The repository's files as the checks of tidy see them.
//!
//! Checks get a `Repo` and never touch the disk, so a test can plant an offence with `Repo::of`.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::tokens::{Token, tokens};

/// Folders that never belong to the repository, wherever they are.
const LEFT_OUT: &[&str] = &[".git", "target", "node_modules"];

const TEXT: &[&str] = &["rs", "md", "toml", "mjs", "js", "ts", "css", "html", "sh", "sql", "yml"];

/// Text files without an ending.
const TEXT_BY_NAME: &[&str] = &[".ci/run", "LICENSE-MIT", "LICENSE-APACHE", ".gitignore"];

#[derive(Debug)]
pub(crate) struct RepoFile {
    /// Path from the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: Option<String>,
    pub(crate) tokens: Vec<Token>,
    /// Why the tokens could not be read.
    pub(crate) unreadable: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Repo {
    pub(crate) files: Vec<RepoFile>,
}

impl Repo {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut paths = Vec::new();
        walk(root, "", &mut paths)?;
        paths.sort();
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let bytes =
                if is_text(&path) { Some(std::fs::read(root.join(&path)).context(path.clone())?) } else { None };
            let text =
                bytes.map(|b| String::from_utf8(b).with_context(|| format!("{path} is not UTF-8"))).transpose()?;
            files.push(RepoFile::new(path, text));
        }
        Ok(Self { files })
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let mut files: Vec<RepoFile> =
            files.iter().map(|(path, text)| RepoFile::new((*path).to_owned(), Some((*text).to_owned()))).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files }
    }

    pub(crate) fn file(&self, path: &str) -> Option<&RepoFile> {
        self.files.iter().find(|file| file.path == path)
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.file(path)?.text.as_deref()
    }

    /// Files under a folder; `folder` ends with `/`.
    pub(crate) fn under<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a RepoFile> {
        self.files.iter().filter(move |file| file.path.starts_with(folder))
    }

    pub(crate) fn rust(&self) -> impl Iterator<Item = &RepoFile> {
        self.files.iter().filter(|file| file.is_rust())
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = (&RepoFile, &str)> {
        self.files.iter().filter_map(|file| Some((file, file.text.as_deref()?)))
    }
}

impl RepoFile {
    fn new(path: String, text: Option<String>) -> Self {
        let is_rust = path.ends_with(".rs");
        let (tokens, unreadable) = match text.as_deref().filter(|_| is_rust).map(tokens) {
            None => (Vec::new(), None),
            Some(Ok(tokens)) => (tokens, None),
            Some(Err(error)) => (Vec::new(), Some(error.to_string())),
        };
        Self { path, text, tokens, unreadable }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// By place or by name, code that only tests, benches or fuzzers use.
    pub(crate) fn is_test(&self) -> bool {
        let by_place = ["tests/", "benches/", "fixtures/", "conformance/", "fuzz/"];
        let in_folder = |folder: &str| self.path.starts_with(folder) || self.path.contains(&format!("/{folder}"));
        by_place.iter().any(|folder| in_folder(folder))
            || self.path.ends_with("/tests.rs")
            || self.path.ends_with("_tests.rs")
    }

    /// Tokens that are not under `#[cfg(test)]`; a test file has none.
    pub(crate) fn shipped(&self) -> Vec<Token> {
        if self.is_test() { Vec::new() } else { self.tokens.iter().filter(|token| !token.test).cloned().collect() }
    }
}

fn walk(root: &Path, folder: &str, paths: &mut Vec<String>) -> Result<()> {
    let here = root.join(folder);
    let listing = std::fs::read_dir(&here).with_context(|| format!("cannot list {}", here.display()))?;
    for item in listing {
        let item = item?;
        let name = item.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        if LEFT_OUT.contains(&name.as_str()) {
            continue;
        }
        if item.file_type()?.is_dir() {
            walk(root, &path, paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}

fn is_text(path: &str) -> bool {
    let fixture = path.contains("/fixtures/");
    let ending = path.rsplit_once('.').map(|(_, ending)| ending);
    !fixture && (ending.is_some_and(|ending| TEXT.contains(&ending)) || TEXT_BY_NAME.contains(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_place_and_name() {
        let file = |path: &str| RepoFile::new(path.to_owned(), None).is_test();
        assert!(file("crates/a/tests/x.rs") && file("crates/a/src/tree/tests.rs") && file("conformance/a.mjs"));
        assert!(!file("crates/a/src/testing/x.rs") && !file("crates/a/src/latests.rs"));
    }

    #[test]
    fn the_walk_leaves_out_what_is_built() {
        let repo = Repo::read(&xtask::env::root()).unwrap();
        assert!(repo.text("xtask/src/repo.rs").is_some());
        assert!(!repo.files.iter().any(|file| file.path.starts_with("target/") || file.path.contains("node_modules/")));
    }
}
