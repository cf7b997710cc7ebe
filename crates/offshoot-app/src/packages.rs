//! The packages that settings list: where they are installed, and which of their files count in a folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_agent::resources::{BringingPackage, PackageFiles, ResourceScope};
use offshoot_packages::contents::Contents;
use offshoot_packages::entry::{PackageEntry, ResourceKind};
use offshoot_packages::environment::ProgramEnvironment;
use offshoot_packages::error::PackageError;
use offshoot_packages::store::{NpmOptions, PackageStore};
use offshoot_settings::{Layers, Scope, Settings};

use crate::app::App;
use crate::config;
use crate::error::{CommandError, FailureKind, Result};

/// A package of a settings file.
#[derive(Debug, Clone)]
pub struct ListedPackage {
    /// Whose settings list it.
    pub scope: Scope,
    /// The element of the list.
    pub entry: PackageEntry,
    /// Entries of the project that change single files of the user's package.
    pub exceptions: Vec<PackageEntry>,
    /// Where it is installed.
    pub store: PackageStore,
}

/// What all packages bring.
#[derive(Debug, Default)]
pub struct BroughtFiles {
    /// The files of each package.
    pub packages: Vec<PackageFiles>,
    /// Their themes.
    pub themes: Vec<PathBuf>,
    /// What is wrong with a package.
    pub troubles: Vec<String>,
}

impl ListedPackage {
    /// The files of a kind that count, relative to the package.
    pub fn counting(&self, root: &Path, contents: &Contents, kind: ResourceKind) -> Vec<PathBuf> {
        let first = contents.counting(root, &self.entry, kind);
        self.exceptions.iter().fold(first, |files, entry| contents.corrected(root, files, entry, kind))
    }
}

/// The folder of packages of one settings file.
pub fn store(app: &App, scope: Scope, folder: &Path, settings: &Settings) -> Result<PackageStore> {
    let base = match scope {
        Scope::Project => folder.join(".offshoot"),
        Scope::Global => app.environment.data.clone().ok_or_else(|| {
            CommandError::new(FailureKind::Failed, "there is no home directory to keep packages in")
                .hint("set OFFSHOOT_HOME")
        })?,
    };
    let variables = config::variables();
    let registry = variables("npm_config_registry").or_else(|| variables("NPM_CONFIG_REGISTRY"));
    let program_environment = ProgramEnvironment::of(config::all_variables(), app.environment.home.as_deref());
    let npm = NpmOptions { command: settings.npm.clone(), registry, environment: program_environment };
    Ok(PackageStore { base, home: app.environment.home.clone(), npm })
}

/// The packages of both files, the project's first. Of two entries for one package the project's counts; with `autoload`
/// off it changes the user's instead. What is no entry is reported.
pub fn listed(app: &App, layers: &Layers, folder: &Path) -> (Vec<ListedPackage>, Vec<String>) {
    let settings = Settings::from(layers);
    let (mut packages, mut troubles): (Vec<ListedPackage>, Vec<String>) = Default::default();
    for (scope, entries) in layers.listed("packages") {
        let Ok(store) = store(app, scope, folder, &settings) else { continue };
        for json in entries {
            match PackageEntry::read(&json) {
                Ok(entry) => {
                    packages.push(ListedPackage { scope, entry, exceptions: Vec::new(), store: store.clone() });
                }
                Err(error) => troubles.push(format!("packages: {error}")),
            }
        }
    }
    (with_exceptions(packages), troubles)
}

fn with_exceptions(all: Vec<ListedPackage>) -> Vec<ListedPackage> {
    let mut kept: Vec<ListedPackage> = Vec::new();
    let identity = |package: &ListedPackage| package.store.identity(&package.entry.source);
    let users: Vec<String> = all.iter().filter(|package| package.scope == Scope::Global).map(identity).collect();
    let mut exceptions: Vec<(String, PackageEntry)> = Vec::new();
    for mut package in all {
        let name = identity(&package);
        if package.scope == Scope::Project && !package.entry.autoload && users.contains(&name) {
            exceptions.push((name, package.entry));
            continue;
        }
        if kept.iter().any(|known| identity(known) == name) {
            continue;
        }
        let own = exceptions.iter().filter(|(of, _)| package.scope == Scope::Global && *of == name);
        package.exceptions = own.map(|(_, entry)| entry.clone()).collect();
        kept.push(package);
    }
    kept
}

/// What the packages of the settings bring in this folder. Nothing is fetched: what is missing is reported.
pub fn brought(app: &App, layers: &Layers, folder: &Path) -> BroughtFiles {
    let (packages, troubles) = listed(app, layers, folder);
    let mut brought = BroughtFiles { troubles, ..BroughtFiles::default() };
    for package in packages {
        let installed = match package.store.installed(&package.entry) {
            Ok(installed) => installed,
            Err(error @ PackageError::NotInstalled(_)) => {
                let option = if package.scope == Scope::Project { " --project" } else { "" };
                brought
                    .troubles
                    .push(format!("package {error}: `offshoot install{option}` installs what the settings list"));
                continue;
            }
            Err(error) => {
                brought.troubles.push(format!("package {}: {error}", package.entry.written));
                continue;
            }
        };
        let named = |trouble| format!("package {}: {trouble}", package.entry.written);
        brought.troubles.extend(installed.contents.troubles().map(named));
        let files = |kind| {
            let files = package.counting(&installed.root, &installed.contents, kind);
            files.into_iter().map(|file| installed.root.join(file)).collect::<Vec<_>>()
        };
        let scope = match package.scope {
            Scope::Project => ResourceScope::Project,
            Scope::Global => ResourceScope::User,
        };
        brought.themes.extend(files(ResourceKind::Theme));
        brought.packages.push(PackageFiles {
            scope,
            templates: files(ResourceKind::Prompt),
            skills: files(ResourceKind::Skill),
            extensions: files(ResourceKind::Extension),
            package: Arc::new(BringingPackage { source: package.entry.written.clone(), root: installed.root.clone() }),
        });
    }
    brought
}

/// The skills, templates and themes of folders that the command line names as extensions. Their extensions are found with the
/// others.
pub fn brought_by_folders(app: &App, folders: &[PathBuf]) -> BroughtFiles {
    let mut brought = BroughtFiles::default();
    for folder in folders {
        let root = app.environment.whole_path(folder);
        // What is wrong with it is reported with its extensions.
        let Some(contents) = Some(&root).filter(|root| root.is_dir()).and_then(|root| Contents::of(root).ok()) else {
            continue;
        };
        let files = |kind| contents.of_kind(kind).iter().map(|file| root.join(file)).collect::<Vec<_>>();
        brought.themes.extend(files(ResourceKind::Theme));
        brought.packages.push(PackageFiles {
            scope: ResourceScope::CommandLine,
            templates: files(ResourceKind::Prompt),
            skills: files(ResourceKind::Skill),
            extensions: Vec::new(),
            package: Arc::new(BringingPackage { source: folder.display().to_string(), root: root.clone() }),
        });
    }
    brought
}

impl BroughtFiles {
    /// With those of others, which come first.
    pub fn after(mut self, first: Self) -> Self {
        self.packages.splice(0..0, first.packages);
        self.themes.splice(0..0, first.themes);
        self.troubles.splice(0..0, first.troubles);
        self
    }
}

impl From<PackageError> for CommandError {
    fn from(error: PackageError) -> Self {
        let kind = match &error {
            PackageError::Source { .. } => FailureKind::Usage,
            PackageError::Manifest { .. } => FailureKind::Damaged,
            PackageError::NotInstalled(_) => FailureKind::NotFound,
            PackageError::Refused { .. } | PackageError::Fetch { .. } | PackageError::Io { .. } => FailureKind::Failed,
        };
        Self::new(kind, error.to_string())
    }
}
