//! An entry of the setting `packages`: a source, or an object with a source and what of it counts.

use serde_json::{Map, Value};

use crate::error::{PackageError, Result};
use crate::source::PackageSource;

/// The kinds of files that a package brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum ResourceKind {
    Extension,
    Skill,
    Prompt,
    Theme,
}

impl ResourceKind {
    /// In the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Skill, Self::Prompt, Self::Theme, Self::Extension];

    /// The name of a folder, a list in a manifest and a member of an entry.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Extension => "extensions",
            Self::Skill => "skills",
            Self::Prompt => "prompts",
            Self::Theme => "themes",
        }
    }
}

/// A package as the settings list it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageEntry {
    /// The source as written.
    pub written: String,
    /// The source.
    pub source: PackageSource,
    /// Whether all of it counts that no pattern names.
    pub autoload: bool,
    patterns: Vec<(ResourceKind, Vec<String>)>,
    /// Members that offshoot does not know.
    others: Map<String, Value>,
}

impl PackageEntry {
    /// An entry of which everything counts.
    ///
    /// # Errors
    /// The text is no source.
    pub fn new(written: &str) -> Result<Self> {
        let source = PackageSource::parse(written)?;
        let written = written.trim().to_owned();
        Ok(Self { written, source, autoload: true, patterns: Vec::new(), others: Map::new() })
    }

    /// Reads an element of the list, as JSON.
    ///
    /// # Errors
    /// It is neither a text nor an object with a source, or a list in it is no list of texts.
    pub fn read(json: &str) -> Result<Self> {
        let wrong = |why: &str| PackageError::Source { text: json.to_owned(), why: why.to_owned() };
        let mut members = match serde_json::from_str(json) {
            Ok(Value::String(source)) => return Self::new(&source),
            Ok(Value::Object(members)) => members,
            Ok(_) | Err(_) => return Err(wrong("an entry is a text, or an object with a source")),
        };
        let source = members.remove("source").and_then(|source| source.as_str().map(str::to_owned));
        let mut entry = Self::new(&source.ok_or_else(|| wrong("it has no source"))?)?;
        entry.autoload = members.remove("autoload").is_none_or(|flag| flag.as_bool() != Some(false));
        for kind in ResourceKind::ALL {
            let Some(list) = members.remove(kind.name()) else { continue };
            let texts: Option<Vec<String>> =
                list.as_array().and_then(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect());
            entry.patterns.push((kind, texts.ok_or_else(|| wrong("its lists are lists of texts"))?));
        }
        entry.others = members;
        Ok(entry)
    }

    /// The patterns of a kind; `None` if the entry says nothing about it.
    #[must_use]
    pub fn patterns(&self, kind: ResourceKind) -> Option<&[String]> {
        self.patterns.iter().find(|(of, _)| *of == kind).map(|(_, patterns)| patterns.as_slice())
    }

    /// The entry with another source, as written.
    ///
    /// # Errors
    /// The text is no source.
    pub fn with_source(&self, written: &str) -> Result<Self> {
        let PackageEntry { written, source, .. } = Self::new(written)?;
        Ok(Self { written, source, ..self.clone() })
    }

    /// The entry with one file of a kind on or off.
    #[must_use]
    pub fn with_file(mut self, kind: ResourceKind, file: &str, is_on: bool) -> Self {
        let at = self.patterns.iter().position(|(of, _)| *of == kind).unwrap_or_else(|| {
            self.patterns.push((kind, Vec::new()));
            self.patterns.len() - 1
        });
        if let Some((_, patterns)) = self.patterns.get_mut(at) {
            // An empty list means none; a list with a `-` alone means all others.
            let was_none = patterns.is_empty();
            patterns.retain(|pattern| pattern.trim_start_matches(['+', '-']) != file);
            let is_usual =
                self.autoload && !was_none && is_on && !patterns.iter().any(|pattern| !pattern.starts_with('-'));
            if !is_usual {
                patterns.push(format!("{}{file}", if is_on { '+' } else { '-' }));
            }
        }
        self.patterns.retain(|(of, patterns)| *of != kind || !patterns.is_empty());
        self
    }

    /// The element of the list, as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        if self.autoload && self.patterns.is_empty() && self.others.is_empty() {
            return Value::String(self.written.clone()).to_string();
        }
        let mut members = Map::new();
        members.insert("source".to_owned(), self.written.clone().into());
        if !self.autoload {
            members.insert("autoload".to_owned(), false.into());
        }
        for (kind, patterns) in &self.patterns {
            members.insert(kind.name().to_owned(), patterns.clone().into());
        }
        members.extend(self.others.clone());
        Value::Object(members).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_kept_as_they_are_written() {
        for json in [
            r#""npm:foo@^1""#,
            r#"{"source":"npm:foo","autoload":false,"prompts":["+prompts/two.md"],"mine":1}"#,
            r#"{"source":"../x","skills":[]}"#,
        ] {
            assert_eq!(PackageEntry::read(json).unwrap().json(), json);
        }
        for json in ["7", "{}", r#"{"source":"npm:foo","skills":"x"}"#, r#"{"source":"npm:.."}"#] {
            assert!(PackageEntry::read(json).is_err(), "{json}");
        }
    }

    #[test]
    fn single_files_are_turned_on_and_off() {
        let entry = PackageEntry::new("npm:foo").unwrap();
        let off = entry.clone().with_file(ResourceKind::Prompt, "prompts/one.md", false);
        assert_eq!(off.json(), r#"{"source":"npm:foo","prompts":["-prompts/one.md"]}"#);
        assert_eq!(off.with_file(ResourceKind::Prompt, "prompts/one.md", true), entry);
        let none = PackageEntry::read(r#"{"source":"npm:foo","skills":[]}"#).unwrap();
        let one = none.with_file(ResourceKind::Skill, "skills/a", true);
        assert_eq!(one.patterns(ResourceKind::Skill), Some(&["+skills/a".to_owned()][..]));
    }
}
