//! What the folder of a package brings, and the limits of such a folder. Reads names, not the files.

use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;
use offshoot_agent::resources::{chosen, is_pattern, skill_files, template_files};

use crate::entry::{PackageEntry, ResourceKind};
use crate::error::{PackageError, Result};
use crate::manifest::Manifest;

/// A package with more files is refused.
pub const MOST_FILES: usize = 20_000;
/// A package that takes more on the disk is refused.
pub const MOST_BYTES: u64 = 256 << 20;
const DEEPEST: usize = 32;

/// Who looks at a package: its name and version, what it brings and what it would run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// The name in the manifest.
    pub name: Option<String>,
    /// The version in the manifest.
    pub version: Option<String>,
    /// The file that an import of the package loads, relative to its folder.
    pub main: Option<PathBuf>,
    /// The files of each kind, relative to the package's folder.
    pub files: Vec<(ResourceKind, Vec<PathBuf>)>,
    /// The scripts that npm would run at an installation: name and command.
    pub scripts: Vec<(String, String)>,
    /// How many packages it depends on.
    pub dependencies: usize,
    /// Paths of the manifest's lists that lead out of the package. They bring nothing.
    pub strays: Vec<String>,
}

impl Contents {
    /// Looks into a package's folder.
    ///
    /// # Errors
    /// The manifest cannot be read.
    pub fn of(root: &Path) -> Result<Self> {
        let manifest = Manifest::read(root)?;
        let (mut files, mut strays) = (Vec::new(), Vec::new());
        for kind in ResourceKind::ALL {
            let found = match &manifest.listed {
                None => in_folder(root, Path::new(kind.name()), kind),
                Some(listed) => {
                    let words = match kind {
                        ResourceKind::Extension => &listed.extensions,
                        ResourceKind::Skill => &listed.skills,
                        ResourceKind::Prompt => &listed.prompts,
                        ResourceKind::Theme => &listed.themes,
                    };
                    of_words(root, words, kind, &mut strays)
                }
            };
            files.push((kind, found));
        }
        let Manifest { name, version, main, scripts, dependencies, .. } = manifest;
        let is_own = |main: &PathBuf| is_plain_path(main) && is_inside(root, &root.join(main)) == Some(true);
        let main = main.map(PathBuf::from).filter(is_own).filter(|main| root.join(main).is_file());
        Ok(Self { name, version, main, files, scripts, dependencies: dependencies.len(), strays })
    }

    /// Whether it brings nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.iter().all(|(_, files)| files.is_empty())
    }

    /// The files of a kind.
    #[must_use]
    pub fn of_kind(&self, kind: ResourceKind) -> &[PathBuf] {
        self.files.iter().find(|(of, _)| *of == kind).map(|(_, files)| files.as_slice()).unwrap_or_default()
    }

    /// The files of a kind that count by an entry of the settings.
    #[must_use]
    pub fn counting(&self, root: &Path, entry: &PackageEntry, kind: ResourceKind) -> Vec<PathBuf> {
        match entry.patterns(kind) {
            None if entry.autoload => self.of_kind(kind).to_vec(),
            None | Some([]) => Vec::new(),
            Some(patterns) => chosen(root, self.of_kind(kind), patterns, entry.autoload),
        }
    }
}

impl Contents {
    /// What is odd about the manifest, in words that follow the package's name.
    pub fn troubles(&self) -> impl Iterator<Item = String> {
        self.strays
            .iter()
            .map(|word| format!("its manifest lists {word:?}, which is outside the package: it is skipped"))
    }

    /// The files that count after the exceptions of another entry, whose `autoload` is off.
    #[must_use]
    pub fn corrected(
        &self,
        root: &Path,
        files: Vec<PathBuf>,
        entry: &PackageEntry,
        kind: ResourceKind,
    ) -> Vec<PathBuf> {
        let Some(patterns) = entry.patterns(kind) else { return files };
        let taking: Vec<String> = patterns.iter().filter(|text| text.starts_with(['!', '-'])).cloned().collect();
        let left = chosen(root, &files, &taking, true);
        let added = chosen(root, self.of_kind(kind), patterns, false);
        self.of_kind(kind).iter().filter(|file| left.contains(file) || added.contains(file)).cloned().collect()
    }
}

/// Refuses a folder that is too large, or has a link that leads out of it, a device or a pipe.
///
/// # Errors
/// As said, or the folder cannot be read. `what` names the package in the error.
pub fn check(root: &Path, what: &str) -> Result<()> {
    let real = root.canonicalize().map_err(|error| PackageError::io("find", root, error))?;
    let (mut files, mut bytes) = (0, 0);
    let mut open = vec![(real.clone(), 0)];
    while let Some((folder, depth)) = open.pop() {
        if depth > DEEPEST {
            return Err(PackageError::refused(what, format!("its folders are more than {DEEPEST} deep")));
        }
        let entries = std::fs::read_dir(&folder).map_err(|error| PackageError::io("read", &folder, error))?;
        for entry in entries {
            let entry = entry.map_err(|error| PackageError::io("read", &folder, error))?;
            let path = entry.path();
            let meta = path.symlink_metadata().map_err(|error| PackageError::io("read", &path, error))?;
            files += 1;
            bytes += if meta.is_file() { meta.len() } else { 0 };
            if files > MOST_FILES {
                return Err(PackageError::crowded(what, MOST_FILES));
            }
            if bytes > MOST_BYTES {
                return Err(PackageError::large(what, MOST_BYTES));
            }
            let shown = path.strip_prefix(&real).unwrap_or(&path).display();
            if meta.is_symlink() {
                let target = path.canonicalize().ok().filter(|target| target.starts_with(&real));
                target.ok_or_else(|| PackageError::refused(what, format!("{shown} is a link out of the package")))?;
            } else if meta.is_dir() {
                open.push((path, depth + 1));
            } else if !meta.is_file() {
                return Err(PackageError::refused(what, format!("{shown} is neither a file nor a folder")));
            }
        }
    }
    Ok(())
}

/// Whether a path of a manifest stays below its folder, as it is written.
fn is_plain_path(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// The files of the words of a manifest: files, folders and globs, less those of `!`, `+` and `-`. A word that leads out of the
/// package becomes a stray.
fn of_words(root: &Path, words: &[String], kind: ResourceKind, strays: &mut Vec<String>) -> Vec<PathBuf> {
    let is_sign = |word: &&String| word.starts_with(['!', '+', '-']);
    let mut found = Vec::new();
    for word in words.iter().filter(|word| !is_sign(word)) {
        let plain = word.trim_start_matches("./").trim_end_matches('/');
        if !is_plain_path(Path::new(plain)) {
            strays.push(word.clone());
            continue;
        }
        if is_pattern(plain) {
            found.extend(of_glob(root, plain, kind));
            continue;
        }
        let path = root.join(plain);
        match is_inside(root, &path) {
            Some(false) => strays.push(word.clone()),
            Some(true) if path.is_dir() => found.extend(in_folder(root, Path::new(plain), kind)),
            Some(true) => found.push(PathBuf::from(plain)),
            None => {}
        }
    }
    let mut kept: Vec<PathBuf> = Vec::new();
    found.into_iter().for_each(|file| {
        if !kept.contains(&file) {
            kept.push(file);
        }
    });
    let signs: Vec<String> = words.iter().filter(is_sign).cloned().collect();
    if signs.is_empty() { kept } else { chosen(root, &kept, &signs, true) }
}

/// Whether a path is really below the folder; `None` if it does not exist.
fn is_inside(root: &Path, path: &Path) -> Option<bool> {
    let (root, path) = (root.canonicalize().ok()?, path.canonicalize().ok()?);
    Some(path.starts_with(root))
}

fn of_glob(root: &Path, glob: &str, kind: ResourceKind) -> Vec<PathBuf> {
    let Ok(glob) = GlobBuilder::new(glob).literal_separator(true).build() else { return Vec::new() };
    let matcher = glob.compile_matcher();
    let mut found = Vec::new();
    let mut open = vec![(PathBuf::new(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = open.pop() {
        for name in names(&root.join(&folder)) {
            seen += 1;
            if seen > MOST_FILES || depth > DEEPEST {
                return found;
            }
            let path = folder.join(&name);
            let whole = root.join(&path);
            if matcher.is_match(&path) {
                if whole.is_dir() { found.extend(in_folder(root, &path, kind)) } else { found.push(path.clone()) }
            } else if whole.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                open.push((path, depth + 1));
            }
        }
    }
    found.sort();
    found
}

/// The names in a folder in their order, without hidden ones and `node_modules`.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| !name.starts_with('.') && name != "node_modules");
    names.sort();
    names
}

/// The files of a kind in a folder of the package, relative to the package.
fn in_folder(root: &Path, folder: &Path, kind: ResourceKind) -> Vec<PathBuf> {
    let whole = root.join(folder);
    if !whole.is_dir() || is_inside(root, &whole) != Some(true) {
        return Vec::new();
    }
    let found = match kind {
        ResourceKind::Skill => skill_files(&whole),
        ResourceKind::Prompt => template_files(&whole),
        ResourceKind::Theme => themes(&whole),
        ResourceKind::Extension => extensions(&whole),
    };
    let inside = found.into_iter().filter(|file| is_inside(root, file) == Some(true));
    inside.filter_map(|file| file.strip_prefix(root).map(Path::to_path_buf).ok()).collect()
}

fn themes(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_path_buf(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for name in names(&folder) {
            let path = folder.join(&name);
            if path.is_dir() && depth < DEEPEST && found.len() < MOST_FILES {
                open.push((path, depth + 1));
            } else if name.ends_with(".json") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Scripts directly in the folder, and folders with an index or a manifest.
#[must_use]
pub fn extensions(folder: &Path) -> Vec<PathBuf> {
    let is_script = |name: &str| name.ends_with(".ts") || name.ends_with(".js");
    let found = names(folder).into_iter().filter_map(|name| {
        let path = folder.join(&name);
        if path.is_dir() {
            ["index.ts", "index.js", "package.json"].map(|name| path.join(name)).into_iter().find(|file| file.is_file())
        } else {
            is_script(&name).then_some(path)
        }
    });
    found.collect()
}
