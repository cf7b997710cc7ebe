//! Resolves paths of models and people. A path names exactly one file: only `~`, `~/` and `file://` are understood as more
//! than a name. Readers may also take the one existing file that looks the same. Reads nothing but which names exist.

use std::path::{Component, Path, PathBuf};

use super::{ToolContext, ToolOutcome};
use crate::home_path::expand_home;

mod alike;

use alike::exists;

/// Where paths start.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct PathBase<'a> {
    pub cwd: &'a Path,
    pub home: Option<&'a Path>,
}

/// A file or folder for a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPath {
    /// The path that is opened.
    pub path: PathBuf,
    /// Whether its name is not exactly the one that was given.
    pub is_variant: bool,
}

impl FoundPath {
    /// What a result says of a file that was not named exactly.
    pub(super) fn note(&self) -> Option<String> {
        self.is_variant.then(|| format!("the path as given does not exist; this is {}", escaped(&self.path)))
    }
}

impl PathBase<'_> {
    /// The absolute path of exactly this name, with `.` and `..` removed by name, as in a shell's `cd`.
    pub fn exact(&self, text: &str) -> PathBuf {
        let path = from_url(text).unwrap_or_else(|| expand_home(text, self.home));
        clean(&self.cwd.join(path))
    }

    /// A file or folder that should exist: the one of exactly this name, else the only one that looks the same.
    pub fn existing(&self, text: &str) -> FoundPath {
        let path = self.exact(text);
        if exists(&path) {
            return FoundPath { path, is_variant: false };
        }
        match <[PathBuf; 1]>::try_from(self.alike(text)) {
            Ok([path]) => FoundPath { path, is_variant: true },
            Err(_) => FoundPath { path, is_variant: false },
        }
    }

    /// A file that a person attaches as `@NAME`: by its name, else by the whole word.
    pub fn attached(&self, name: &str) -> FoundPath {
        let found = self.existing(name);
        let word = self.exact(&format!("@{name}"));
        if exists(&found.path) || !exists(&word) {
            return found;
        }
        FoundPath { path: word, is_variant: true }
    }

    /// What exists under names that look like this one, which does not.
    fn alike(&self, text: &str) -> Vec<PathBuf> {
        let found = alike::alike(&self.exact(text));
        match without_at(text) {
            Some(rest) if found.is_empty() => match self.exact(rest) {
                path if exists(&path) => vec![path],
                path => alike::alike(&path),
            },
            _ => found,
        }
    }

    /// The end of an error about a file that does not exist: which files look the same.
    pub(super) fn offer(&self, text: &str) -> String {
        if exists(&self.exact(text)) {
            return String::new();
        }
        let names: Vec<String> = self.alike(text).iter().map(|path| escaped(path)).collect();
        match names.as_slice() {
            [] => String::new(),
            [one] => format!("; a file named {one} exists: use exactly this name if you mean it"),
            several => format!("; files named {} exist: use exactly the name that you mean", several.join(" and ")),
        }
    }

    /// Refuses the path of a new file that probably means another one.
    pub(super) fn refuse_doubtful(&self, text: &str) -> Result<(), ToolOutcome> {
        if text.is_empty() {
            return Err(ToolOutcome::failed("cannot write: the path is empty"));
        }
        if text.ends_with('/') {
            let text = format!("cannot write {text}: a path that ends with a slash names a folder");
            return Err(ToolOutcome::failed(text));
        }
        if text.starts_with("file://") && from_url(text).is_none() {
            let text = format!("cannot write {text}: a URL of a file has three slashes, as in file:///tmp/x");
            return Err(ToolOutcome::failed(text));
        }
        let Some(rest) = without_at(text) else { return Ok(()) };
        let first = |text: &str| text.split('/').next().unwrap_or_default().to_owned();
        let is_rooted = rest.starts_with('/') || self.exact(rest) != clean(&self.cwd.join(rest));
        let is_doubtful = !exists(&self.cwd.join(first(text))) && (is_rooted || exists(&self.cwd.join(first(rest))));
        if !is_doubtful {
            return Ok(());
        }
        Err(ToolOutcome::failed(format!(
            "cannot write {text}: {} does not exist, and {rest} looks like the file that is meant; the path {rest} is that \
             one, ./{text} is a new file below {}",
            first(text),
            first(text)
        )))
    }

    /// The name of a changed file for its result: as given if that is its name, else its absolute path.
    pub(super) fn shown(&self, text: &str) -> String {
        let path = self.exact(text);
        if clean(&self.cwd.join(text)) == path { text.to_owned() } else { path.display().to_string() }
    }
}

impl ToolContext {
    pub(super) fn paths(&self) -> PathBase<'_> {
        PathBase { cwd: &self.cwd, home: self.home.as_deref() }
    }
}

/// The name after the `@` that people write before a file.
fn without_at(text: &str) -> Option<&str> {
    text.strip_prefix('@').filter(|rest| !rest.is_empty())
}

/// A path in quotes, in which all that looks like something else is an escape of JSON.
fn escaped(path: &Path) -> String {
    let quoted = serde_json::Value::from(path.to_string_lossy()).to_string();
    let mut text = String::with_capacity(quoted.len());
    for c in quoted.chars() {
        match alike::is_deceptive(c) {
            true => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text.push_str(&format!("\\u{unit:04x}"))),
            false => text.push(c),
        }
    }
    text
}

/// A name in a list of names: in quotes if it would not be one line.
pub(super) fn listed(name: String) -> String {
    if name.contains(char::is_control) { escaped(Path::new(&name)) } else { name }
}

/// The path of a URL of a file on this machine. Decodes percent signs; malformed ones stay.
fn from_url(text: &str) -> Option<PathBuf> {
    let url = text.strip_prefix("file://")?;
    let path = url.strip_prefix("localhost").unwrap_or(url).strip_prefix('/')?;
    let (mut bytes, mut rest) = (vec![b'/'], path.as_bytes());
    while let Some((first, tail)) = rest.split_first() {
        let hex = (*first == b'%').then(|| tail.get(..2)).flatten().and_then(|two| std::str::from_utf8(two).ok());
        match hex.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    Some(PathBuf::from(String::from_utf8(bytes).unwrap_or_else(|_| format!("/{path}"))))
}

fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                cleaned.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => cleaned.push(part),
        }
    }
    cleaned
}

#[cfg(test)]
mod tests;
