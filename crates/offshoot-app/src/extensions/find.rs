//! The files of extensions: of the command line, the project, the user, settings and packages. Runs nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use offshoot_agent::resources::ResourceScope;
use offshoot_extensions::contract::{AllowedFiles, ExtensionKind, ExtensionSource, Origin};
use offshoot_extensions::node::imports;
use offshoot_packages::contents::{Contents, extensions as scripts};
use offshoot_packages::entry::ResourceKind;
use offshoot_protocol::{Peer, PeerFolder, project_folders};
use offshoot_session::text::{counted, spell_name};
use offshoot_settings::{Layers, Scope};

use super::known::{KnownExtensions, ProjectFolder};
use crate::app::App;
use crate::config::settings::peer_folders;
use crate::packages::BroughtFiles;
use crate::trust::{RunTrust, Trust, extension_places};

/// A message names no more files.
const MOST_NAMED: usize = 12;

/// What the command line says of extensions.
#[derive(Debug, Clone, Default)]
pub struct ExtensionSelection {
    /// Files and folders of `--extension`.
    pub named: Vec<PathBuf>,
    /// Files of `--hook`.
    pub hooks: Vec<PathBuf>,
    /// Whether any others are looked for.
    pub finds: bool,
}

/// The extensions of a run.
#[derive(Debug, Clone, Default)]
pub struct FoundExtensions {
    /// In the order in which they are loaded.
    pub sources: Vec<ExtensionSource>,
    /// What was not found, or is not used, and why.
    pub troubles: Vec<String>,
    /// Of the trusted project, new or changed since the user allowed them: not among the sources.
    pub unknown: Vec<ProjectFolder>,
}

/// Of each place the folder, what is in it, whose it is, and the names in it that do not count.
struct Place {
    path: PathBuf,
    kind: ExtensionKind,
    origin: Origin,
    scope: Scope,
    disabled: Vec<String>,
}

/// Whose extensions are judged, by what settings.
struct AskedFolder<'a> {
    app: &'a App,
    layers: &'a Layers,
    cwd: &'a Path,
}

/// The files of a folder, and those that they import, for a message.
fn named(app: &App, folder: &ProjectFolder) -> String {
    let mut names = listed(app, folder);
    let more = names.len().saturating_sub(MOST_NAMED);
    names.truncate(MOST_NAMED);
    if more > 0 {
        names.push(format!("and {}; the question on a terminal has them all", counted(more, "other", "others")));
    }
    names.join(", ")
}

/// The same, one name each. A folder `node_modules` is one, with the number of its files.
pub fn listed(app: &App, folder: &ProjectFolder) -> Vec<String> {
    let shown = |path: &Path| spell_name(&app.environment.short(&path.display().to_string())).into_owned();
    let mut packages: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let mut names = Vec::new();
    for file in folder.own().chain(folder.imported()) {
        match file.ancestors().filter(|above| above.ends_with("node_modules")).last() {
            Some(modules) => *packages.entry(modules.to_path_buf()).or_default() += 1,
            None => names.push(shown(file)),
        }
    }
    names.extend(
        packages.iter().map(|(modules, files)| format!("{} ({})", shown(modules), counted(*files, "file", "files"))),
    );
    names
}

/// The extensions of a run. A file that is found twice counts once, in its first place.
pub fn find(
    app: &App,
    selection: &ExtensionSelection,
    layers: &Layers,
    cwd: &Path,
    brought: &BroughtFiles,
) -> FoundExtensions {
    let mut found = FoundExtensions::default();
    let environment = &app.environment;
    let absolute = |path: &PathBuf| environment.whole_path(path);
    for (paths, kind) in [(&selection.named, ExtensionKind::Extension), (&selection.hooks, ExtensionKind::Hook)] {
        for path in paths.iter().map(absolute) {
            found.add_named(&path, kind, Origin::Flag);
        }
    }
    if !selection.finds {
        return found;
    }
    let places = places(app, layers, cwd);
    let (project, users): (Vec<_>, Vec<_>) = places.into_iter().partition(|place| place.scope == Scope::Project);
    // Nothing in a folder is nothing to allow.
    let has_any = |place: &Place| match place.origin {
        Origin::Project => !scripts(&place.path).is_empty(),
        _ => place.path.exists(),
    };
    let asked = AskedFolder { app, layers, cwd };
    for place in project.into_iter().filter(has_any) {
        let mut its = FoundExtensions::default();
        its.add_place(&place);
        found.add_judged(&asked, &place.path, its);
    }
    users.iter().for_each(|place| found.add_place(place));
    for package in &brought.packages {
        let mut its = FoundExtensions::default();
        for path in &package.extensions {
            its.add(path.clone(), ExtensionKind::Extension, Origin::Package);
        }
        match package.scope {
            ResourceScope::Project => found.add_judged(&asked, &package.package.root, its),
            ResourceScope::CommandLine | ResourceScope::User => found.add_all(its, None),
        }
    }
    found
}

/// Why the first wrong path on the command line is not an extension.
pub fn wrongly_named(app: &App, selection: &ExtensionSelection) -> Option<String> {
    let environment = &app.environment;
    selection.named.iter().chain(&selection.hooks).find_map(|path| {
        let mut found = FoundExtensions::default();
        let path: PathBuf = environment.whole_path(path).components().collect();
        found.add_named(&path, ExtensionKind::Extension, Origin::Flag);
        let brings = |kind| Contents::of(&path).is_ok_and(|contents| !contents.of_kind(kind).is_empty());
        let has_others =
            path.is_dir() && [ResourceKind::Skill, ResourceKind::Prompt, ResourceKind::Theme].into_iter().any(brings);
        match found.sources.is_empty() && !has_others {
            true => Some(found.troubles.pop().unwrap_or_else(|| format!("{} has no extension", path.display()))),
            false => None,
        }
    })
}

fn places(app: &App, layers: &Layers, cwd: &Path) -> Vec<Place> {
    let environment = &app.environment;
    let place = |path: PathBuf, kind, origin, scope| Place { path, kind, origin, scope, disabled: Vec::new() };
    let mut places = Vec::new();
    for (peer, base) in project_folders(cwd) {
        let own = extension_places(peer, &base).into_iter();
        places.extend(own.map(|(path, kind)| place(path, kind, Origin::Project, Scope::Project)));
    }
    for (key, kind) in [("extensions", ExtensionKind::Extension), ("hooks", ExtensionKind::Hook)] {
        for (scope, words) in layers.listed(key) {
            let base = match scope {
                Scope::Project => cwd.join(".offshoot"),
                Scope::Global => environment.data.clone().unwrap_or_default(),
            };
            let paths = words.iter().map(|word| base.join(environment.path(word)));
            places.extend(paths.map(|path| place(path, kind, Origin::Settings, scope)));
        }
    }
    let by_omp = layers.listed_by(Peer::Omp, "extensions");
    let disabled: Vec<String> = by_omp
        .iter()
        .flat_map(|(_, words)| words)
        .filter_map(|word| word.strip_prefix('!').map(str::to_owned))
        .collect();
    let named = by_omp
        .iter()
        .map(|(scope, words)| (*scope, words.iter().filter(|word| !word.starts_with('!')).collect::<Vec<_>>()));
    // The first list counts alone. A relative path begins in the working folder, which is the project's.
    if let Some((scope, words)) = named.into_iter().find(|(_, words)| !words.is_empty()) {
        let paths = words.into_iter().map(|word| environment.path(word));
        let paths = paths.filter(|path| scope == Scope::Project || path.is_absolute());
        places.extend(paths.map(|path| place(cwd.join(path), ExtensionKind::Extension, Origin::Settings, scope)));
    }
    let peers = peer_folders(environment).into_iter().map(|PeerFolder { peer, path }| (Some(peer), path));
    let bases = environment.data.iter().map(|data| (None, data.clone())).chain(peers);
    for (peer, base) in bases {
        let own = extension_places(peer, &base).into_iter();
        let of_user =
            |(path, kind)| Place { disabled: disabled.clone(), ..place(path, kind, Origin::User, Scope::Global) };
        let own =
            own.map(
                |of| if peer == Some(Peer::Omp) { of_user(of) } else { place(of.0, of.1, Origin::User, Scope::Global) },
            );
        places.extend(own);
    }
    places
}

/// The name of a script: that of its file, or of its folder.
fn script_name(path: &Path) -> Option<&str> {
    let stem = path.file_stem()?.to_str()?;
    if stem == "index" { path.parent()?.file_name()?.to_str() } else { Some(stem) }
}

impl FoundExtensions {
    /// Adds the project's extensions at a path if they may run: the folder is trusted, and the user has allowed these contents
    /// with all that is imported, or has just said that everything runs.
    fn add_judged(&mut self, asked: &AskedFolder<'_>, path: &Path, its: Self) {
        let AskedFolder { app, cwd, .. } = *asked;
        let short = app.environment.short(&path.display().to_string());
        match app.trust_of(cwd).0 {
            Trust::Given => {}
            Trust::Refused | Trust::Unasked => {
                if app.trust != RunTrust::EveryFolder(false) {
                    let why = "this folder is not trusted; --trust runs it this once";
                    self.troubles.push(format!("{short} does not run: {why}"));
                }
                return;
            }
        }
        if app.trust == RunTrust::EveryFolder(true) {
            return self.add_all(its, None);
        }
        let folder = match ProjectFolder::of(path) {
            Ok(folder) => folder,
            Err(error) => {
                self.troubles.push(format!("{short} does not run: it could not be read whole: {error}"));
                return;
            }
        };
        let known = app.environment.data.as_deref().and_then(|data| KnownExtensions::of(data).allowed(&folder));
        if let Some(known) = known {
            return self.add_all(its, Some(&known.allowed()));
        }
        let entries: Vec<PathBuf> = its.sources.into_iter().map(|source| source.path).collect();
        self.troubles.extend(its.troubles);
        match imports(&super::node_options(app, asked.layers, cwd), &entries) {
            Ok(imports) => {
                let folder = folder.importing(imports);
                let why = "it is new, or has changed since you allowed it; `offshoot` on a terminal asks, --trust runs it this once";
                let files = named(app, &folder);
                self.troubles.push(format!("{short} does not run: {why}. Its files: {files}"));
                self.unknown.push(folder);
            }
            Err(error) => self.troubles.push(format!("{short} does not run: {error}")),
        }
    }

    fn add_all(&mut self, its: Self, allowed: Option<&AllowedFiles>) {
        self.troubles.extend(its.troubles);
        for source in its.sources {
            if !self.sources.iter().any(|known| known.path == source.path) {
                self.sources.push(ExtensionSource { allowed: allowed.cloned(), ..source });
            }
        }
    }

    fn add_place(&mut self, place: &Place) {
        match place.origin {
            Origin::Settings => self.add_named(&place.path, place.kind, place.origin),
            _ => {
                let counts = |path: &PathBuf| !place.disabled.iter().any(|name| script_name(path) == Some(name));
                let scripts = scripts(&place.path).into_iter().filter(counts);
                scripts.for_each(|path| self.add_found(&path, place.kind, place.origin));
            }
        }
    }

    /// A file, or a folder: one with an index or a manifest is an extension, any other has extensions.
    fn add_named(&mut self, path: &Path, kind: ExtensionKind, origin: Origin) {
        if path.is_file() {
            return self.add(path.to_path_buf(), kind, origin);
        }
        if !path.is_dir() {
            return self.troubles.push(format!("there is no extension {}", path.display()));
        }
        let index = ["package.json", "index.ts", "index.js"].map(|name| path.join(name));
        match index.iter().find(|file| file.is_file()) {
            Some(index) => {
                let known = (self.sources.len(), self.troubles.len());
                self.add_found(index, kind, origin);
                if known == (self.sources.len(), self.troubles.len()) {
                    self.add_main(path, kind, origin);
                }
            }
            None => scripts(path).into_iter().for_each(|path| self.add_found(&path, kind, origin)),
        }
    }

    /// A script, or the manifest of a folder that lists scripts.
    fn add_found(&mut self, path: &Path, kind: ExtensionKind, origin: Origin) {
        let folder = path.parent().filter(|_| path.file_name().is_some_and(|name| name == "package.json"));
        let Some(folder) = folder else { return self.add(path.to_path_buf(), kind, origin) };
        match Contents::of(folder) {
            Ok(contents) => {
                let named = |trouble| format!("the extension in {}: {trouble}", folder.display());
                self.troubles.extend(contents.troubles().map(named));
                let listed = contents.of_kind(ResourceKind::Extension);
                let index = ["index.ts", "index.js"].map(|name| folder.join(name));
                match listed.is_empty() {
                    true => index
                        .into_iter()
                        .find(|file| file.is_file())
                        .into_iter()
                        .for_each(|file| self.add(file, kind, origin)),
                    false => listed.iter().for_each(|file| self.add(folder.join(file), kind, origin)),
                }
            }
            Err(error) => self.troubles.push(format!("the extension in {}: {error}", folder.display())),
        }
    }

    /// As in pi, a folder that lists nothing and has no index is the module that an import of it loads.
    fn add_main(&mut self, folder: &Path, kind: ExtensionKind, origin: Origin) {
        let main = Contents::of(folder).ok().filter(Contents::is_empty).and_then(|contents| contents.main);
        if let Some(main) = main {
            self.add(folder.join(main), kind, origin);
        }
    }

    fn add(&mut self, path: PathBuf, kind: ExtensionKind, origin: Origin) {
        let path = path.canonicalize().unwrap_or(path);
        if !self.sources.iter().any(|source| source.path == path) {
            self.sources.push(ExtensionSource { path, kind, origin, allowed: None });
        }
    }
}
