//! The folders that may contain sessions, those that lists skip included, and every file in them. Opens no file.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use offshoot_app::app::App;
use offshoot_session::medium::real_path_or_same;
use offshoot_session::store::{Flavour, Root};

#[derive(Debug)]
pub(super) struct SearchedRoot {
    pub(super) root: Root,
    /// A variable, an option, or `default`.
    pub(super) named_by: &'static str,
    /// Why lists skip it, if they do.
    pub(super) passed_over: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileDepth {
    Usual,
    /// In the root itself, where only folders count.
    Above,
    Below,
}

/// Every root once, those that lists read first.
pub(super) fn searched_roots(app: &App) -> Vec<SearchedRoot> {
    let settings = &app.environment;
    let roots = settings.own.iter().chain(&settings.others);
    let mut all = Vec::new();
    if let Some(folder) = &app.session_dir {
        let root = Root::new(settings.cwd.join(folder), Flavour::Flat);
        all.push(SearchedRoot { root, named_by: app.session_dir_by, passed_over: None });
    }
    let other = all.first().map(|first| format!("{} names another folder", first.named_by));
    for (root, named_by) in roots.zip(settings.named_by.iter().copied()) {
        all.push(SearchedRoot { root: root.clone(), named_by, passed_over: other.clone() });
    }
    for root in settings.passed_over.iter().filter(|root| root.folder.exists()) {
        let instead = all.iter().find(|place| owner(place) == owner_of(root.flavour) && place.named_by != "default");
        let by = format!("{} names another folder", instead.map_or("a variable", |place| place.named_by));
        all.push(SearchedRoot { root: root.clone(), named_by: "default", passed_over: Some(by) });
    }
    for root in profiles(app) {
        let by = "it is a profile of oh-my-pi that OMP_PROFILE does not name".to_owned();
        all.push(SearchedRoot { root, named_by: "default", passed_over: Some(by) });
    }
    let mut seen = HashSet::new();
    let folder = |place: &SearchedRoot| real_path_or_same(&place.root.folder);
    all.retain(|place| seen.insert(folder(place)));
    all
}

pub(super) fn owner(place: &SearchedRoot) -> &'static str {
    if ["--session-dir", "sessionDir"].contains(&place.named_by) { "any" } else { owner_of(place.root.flavour) }
}

/// Only pi has a variable for one flat folder.
fn owner_of(flavour: Flavour) -> &'static str {
    match flavour {
        Flavour::Offshoot => "offshoot",
        Flavour::Omp => "omp",
        Flavour::Foreign(format) => format.word,
        Flavour::Pi | Flavour::Flat => "pi",
    }
}

fn profiles(app: &App) -> Vec<Root> {
    let folder = app.environment.home.as_ref().map(|home| home.join(".omp/profiles"));
    let entries = folder.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path().join("agent/sessions")).filter(|folder| folder.exists());
    let mut roots: Vec<Root> = folders.map(|folder| Root::new(folder, Flavour::Omp)).collect();
    roots.sort_by(|a, b| a.folder.cmp(&b.folder));
    roots
}

/// Every file below a root, sorted by path, and what could not be read. Links to folders are followed only where lists
/// follow them: deeper ones may form cycles.
pub(super) fn files(root: &Root) -> (Vec<(PathBuf, FileDepth)>, Vec<String>) {
    let usual = usize::from(root.flavour != Flavour::Flat);
    let (mut files, mut unread) = (Vec::new(), Vec::new());
    let mut folders = vec![(root.folder.clone(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                unread.push(format!("could not read folder {}: {error}", folder.display()));
                continue;
            }
        };
        for entry in entries {
            match entry {
                Ok(entry) if is_folder(&entry.path(), depth < usual) => folders.push((entry.path(), depth + 1)),
                Ok(entry) => files.push((entry.path(), place_at(depth, usual))),
                Err(error) => unread.push(format!("could not read folder {}: {error}", folder.display())),
            }
        }
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    unread.sort();
    (files, unread)
}

fn place_at(depth: usize, usual: usize) -> FileDepth {
    match depth.cmp(&usual) {
        std::cmp::Ordering::Less => FileDepth::Above,
        std::cmp::Ordering::Equal => FileDepth::Usual,
        std::cmp::Ordering::Greater => FileDepth::Below,
    }
}

fn is_folder(path: &Path, follows: bool) -> bool {
    let meta = if follows { fs::metadata(path) } else { fs::symlink_metadata(path) };
    // A broken entry counts as a folder if folders are expected: reading it reports the error.
    let is_odd = |error: io::Error| follows && error.kind() != io::ErrorKind::NotFound;
    meta.map_or_else(is_odd, |meta| meta.is_dir())
}
