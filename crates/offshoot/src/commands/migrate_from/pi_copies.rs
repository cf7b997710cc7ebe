//! What of pi's own folder is copied: packages in the versions that pi has, prompts of the system, key bindings. Reads only.

use std::path::Path;

use offshoot_app::config::settings::of_pi;
use offshoot_app::error::Result;
use offshoot_packages::contents::Contents;
use offshoot_packages::entry::PackageEntry;
use offshoot_packages::error::PackageError;
use offshoot_packages::source::{PackageSource, absolute};
use offshoot_session::json::{Json, JsonKind, quote};
use offshoot_session::medium::read_regular_text;
use offshoot_session::text::{counted, one_line};
use offshoot_settings::Value;
use offshoot_tui::keymap::Action;

use crate::commands::packages::PackageSettings;

const LIMIT: u64 = 1 << 20;
pub(super) const KEY_BINDINGS: &str = "keybindings.json";

/// What is copied, and what of the same kinds is not.
#[derive(Debug, Default)]
pub(super) struct PiCopies {
    pub(super) packages: Vec<CopiedPackage>,
    pub(super) files: Vec<CopiedFile>,
    pub(super) left: Vec<String>,
}

/// A package as pi's settings list it.
#[derive(Debug)]
pub(super) struct CopiedPackage {
    pub(super) entry: PackageEntry,
    /// The version or the commit that pi has.
    version: Option<String>,
    /// The source of exactly that.
    pub(super) exactly: PackageSource,
}

/// A file that the user's own folder does not have.
#[derive(Debug)]
pub(super) struct CopiedFile {
    pub(super) name: &'static str,
    pub(super) text: String,
    remark: String,
}

impl CopiedPackage {
    pub(super) fn words(&self) -> String {
        let version = self.version.as_deref().unwrap_or("which pi has not installed");
        match self.exactly {
            PackageSource::Path(_) => format!("the package {}, used where it is", self.entry.written),
            _ => format!("the package {}, {version}", self.entry.written),
        }
    }
}

impl CopiedFile {
    pub(super) fn words(&self) -> String {
        format!("{}{}", self.name, self.remark)
    }
}

impl PiCopies {
    pub(super) fn of(pi: &Path, data: &Path, settings: &PackageSettings<'_>) -> Result<Self> {
        let mut copies = Self::default();
        copies.add_packages(pi, settings)?;
        for name in ["SYSTEM.md", "APPEND_SYSTEM.md"] {
            if let Some(text) = copies.read(pi, data, name) {
                copies.files.push(CopiedFile { name, text, remark: String::new() });
            }
        }
        if let Some(text) = copies.read(pi, data, KEY_BINDINGS) {
            copies.add_key_bindings(&text);
        }
        Ok(copies)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packages.is_empty() && self.files.is_empty()
    }

    fn add_packages(&mut self, pi: &Path, settings: &PackageSettings<'_>) -> Result<()> {
        let own = settings.entries()?;
        let Some(Value::Packages(listed)) = of_pi(pi).get("packages").cloned() else { return Ok(()) };
        for json in listed {
            match copied_package(pi, settings, &json) {
                Ok(package) if settings.position(&own, &package.entry).is_some() => {
                    self.left.push(format!("the package {}: your settings list it", package.entry.written));
                }
                Ok(package) => self.packages.push(package),
                Err(error) => self.left.push(format!("a package: {}", one_line(&error.to_string(), 300))),
            }
        }
        Ok(())
    }

    /// The text of a file that the user has not got.
    fn read(&mut self, pi: &Path, data: &Path, name: &str) -> Option<String> {
        let path = pi.join(name);
        path.symlink_metadata().ok()?;
        if data.join(name).symlink_metadata().is_ok() {
            self.left.push(format!("{name}: you have your own"));
            return None;
        }
        read_regular_text(&path, LIMIT).map_err(|error| self.left.push(format!("{name}: {error}"))).ok()
    }

    /// Of the bindings those of actions that offshoot has, each as it is written.
    fn add_key_bindings(&mut self, text: &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let Some(json) = Json::parse(text).ok().filter(|json| json.kind() == JsonKind::Object) else {
            return self.left.push(format!("{KEY_BINDINGS}: it is not an object of actions"));
        };
        let (kept, dropped): (Vec<_>, Vec<_>) = json.members().partition(|(id, _)| Action::parse(id).is_some());
        if !dropped.is_empty() {
            let names: Vec<String> = dropped.iter().map(|(id, _)| one_line(id, 80)).collect();
            self.left.push(format!("keys of actions that offshoot does not have: {}", names.join(", ")));
        }
        if !kept.is_empty() {
            let lines: Vec<String> =
                kept.iter().map(|(id, keys)| format!("  {}: {}", quote(id), keys.text())).collect();
            let remark = format!(", with the keys of {}", counted(kept.len(), "action", "actions"));
            let text = format!("{{\n{}\n}}\n", lines.join(",\n"));
            self.files.push(CopiedFile { name: KEY_BINDINGS, text, remark });
        }
    }
}

/// An entry of pi's list, and what pi has installed of it.
fn copied_package(
    pi: &Path,
    settings: &PackageSettings<'_>,
    json: &str,
) -> std::result::Result<CopiedPackage, PackageError> {
    let entry = PackageEntry::read(json)?;
    let (entry, version, exactly) = match entry.source.clone() {
        PackageSource::Npm { name, .. } => {
            let version = Contents::of(&pi.join("npm/node_modules").join(&name)).ok().and_then(|its| its.version);
            let exactly = version.as_ref().map(|version| PackageSource::parse(&format!("npm:{name}@{version}")));
            let exactly = exactly.transpose()?.unwrap_or_else(|| entry.source.clone());
            (entry, version, exactly)
        }
        PackageSource::Git { host, path, url, .. } => {
            let commit = commit_of(&pi.join("git").join(&host).join(&path));
            let reference = commit.clone();
            let exactly = match reference {
                Some(_) => PackageSource::Git { host, path, url, reference },
                None => entry.source.clone(),
            };
            (entry, commit, exactly)
        }
        PackageSource::Path(path) => {
            let whole = absolute(&path, pi, settings.store.home.as_deref());
            let entry = entry.with_source(&whole.display().to_string())?;
            let exactly = entry.source.clone();
            (entry, None, exactly)
        }
    };
    Ok(CopiedPackage { entry, version, exactly })
}

/// The commit of a clone, if it is written down as such or by a branch.
fn commit_of(clone: &Path) -> Option<String> {
    let git = clone.join(".git");
    let head = read_regular_text(&git.join("HEAD"), LIMIT).ok()?;
    let commit = match head.trim().strip_prefix("ref: refs/heads/") {
        Some(branch) if branch.split('/').all(|part| !part.is_empty() && part != "..") => {
            read_regular_text(&git.join("refs/heads").join(branch), LIMIT).ok()?
        }
        Some(_) => return None,
        None => head,
    };
    let commit = commit.trim().to_owned();
    (commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(commit)
}
