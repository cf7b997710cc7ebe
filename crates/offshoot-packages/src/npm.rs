//! npm: fetches a package's archive, and the packages that a package needs. The archive is unpacked here, not by npm.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use offshoot_session::medium::{open_regular, read_regular};
use serde_json::{Value, json};

use crate::archive::{self, MOST_PACKED, Packed};
use crate::contents::MOST_FILES;
use crate::environment::ProgramEnvironment;
use crate::error::{PackageError, Result};
use crate::manifest::Manifest;
use crate::run::{Program, exists};
use crate::{contents, registry};

/// With workspaces, the settings of a folder above count.
const NO_WORKSPACES: &str = "--workspaces=false";

/// How packages are fetched from npm.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NpmOptions {
    /// The program and its first arguments; empty for `npm`.
    pub command: Vec<String>,
    /// The registry that is asked without npm; `None` for npm's own.
    pub registry: Option<String>,
    /// What npm gets of the user's variables.
    pub environment: ProgramEnvironment,
}

impl NpmOptions {
    fn program(&self) -> (&str, &[String]) {
        self.command.split_first().map_or(("npm", &[]), |(program, rest)| (program.as_str(), rest))
    }

    /// Whether npm is there.
    pub(crate) fn exists(&self) -> bool {
        exists(self.program().0, &self.environment)
    }

    fn run(&self, package: &str, arguments: &[&str], folder: &Path) -> Result<String> {
        self.run_watched(package, arguments, folder, &mut || Ok(()))
    }

    fn run_watched(
        &self,
        package: &str,
        arguments: &[&str],
        folder: &Path,
        watch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<String> {
        let (program, first) = self.program();
        let all: Vec<&str> = first.iter().map(String::as_str).chain(arguments.iter().copied()).collect();
        let environment = &self.environment;
        let variables = [("npm_config_yes", OsStr::new("true")), ("GIT_TERMINAL_PROMPT", OsStr::new("0"))];
        let program = Program { name: program, arguments: &all, environment, variables: &variables };
        program.run_watched(package, folder, watch)
    }

    /// The archive of a package, checked against its integrity.
    pub(crate) fn fetch(&self, name: &str, wanted: Option<&str>, scratch: &Path) -> Result<Packed> {
        let package = format!("npm:{name}");
        let packed = if self.exists() {
            let spec = wanted.map_or_else(|| name.to_owned(), |wanted| format!("{name}@{wanted}"));
            self.pack((&package, &spec), scratch, MOST_FILES)?
        } else {
            registry::fetch(&package, name, wanted, self.registry.as_deref())?
        };
        let real = archive::integrity(&packed.archive);
        // A registry may list several hashes.
        if packed.integrity.split_whitespace().any(|known| known == real) {
            return Ok(Packed { integrity: real, ..packed });
        }
        Err(PackageError::refused(
            &package,
            format!("its archive has integrity {real}, and the registry says {}", packed.integrity),
        ))
    }

    fn pack(&self, (package, spec): (&str, &str), scratch: &Path, most_files: usize) -> Result<Packed> {
        let failed = |why: &str| PackageError::fetch(package, format!("npm pack {why}"));
        let arguments = ["pack", "--json", "--ignore-scripts", NO_WORKSPACES, "--loglevel=error", "--", spec];
        // Without one, npm would look for the settings of the project around it.
        archive::make(&scratch.join("package.json"), r#"{"private": true}"#)?;
        // npm first writes the archive, and then lists its files, which takes minutes if there are very many.
        let mut counted = 0;
        let said = self.run_watched(package, &arguments, scratch, &mut || {
            let Some(file) = archive_in(scratch) else { return Ok(()) };
            let size = file.metadata().map_or(0, |meta| meta.len());
            if size == counted {
                return Ok(());
            }
            counted = size;
            let open = open_regular(&file).map_err(|error| PackageError::io("read", &file, error))?;
            archive::check_count(package, open, most_files)
        })?;
        let json: Value = serde_json::from_str(&said).map_err(|_| failed("printed no JSON"))?;
        // A later npm prints an object by name.
        let about =
            json.get(0).or_else(|| json.as_object()?.values().next()).ok_or_else(|| failed("named no archive"))?;
        let text = |name: &str| about.get(name).and_then(Value::as_str).map(str::to_owned);
        let (version, integrity) = (text("version"), text("integrity"));
        let (Some(version), Some(integrity)) = (version, integrity) else {
            return Err(failed("named no version and integrity"));
        };
        let file = archive_in(scratch).ok_or_else(|| failed("wrote no archive"))?;
        let archive = read_regular(&file, MOST_PACKED).map_err(|error| PackageError::io("read", &file, error))?;
        std::fs::remove_file(&file).map_err(|error| PackageError::io("remove", &file, error))?;
        Ok(Packed { version, integrity, archive })
    }

    /// Installs what the package in a folder needs, and nothing for its developers. Scripts run only if the user has seen
    /// and allowed them.
    pub(crate) fn install_needed(
        &self,
        package: &str,
        folder: &Path,
        scratch: &Path,
        runs_scripts: bool,
    ) -> Result<()> {
        let manifest = Manifest::read(folder)?;
        if !manifest.dependencies.is_empty() {
            let place = scratch.join("needed");
            let wanted = json!({"name": "needed", "private": true, "dependencies": manifest.dependencies});
            std::fs::create_dir(&place).map_err(|error| PackageError::io("create", &place, error))?;
            let file = place.join("package.json");
            archive::make(&file, &wanted.to_string())?;
            let scripts = if runs_scripts { "--foreground-scripts" } else { "--ignore-scripts" };
            let quiet = [
                NO_WORKSPACES,
                "--legacy-peer-deps",
                "--no-audit",
                "--no-fund",
                "--no-package-lock",
                "--loglevel=error",
            ];
            self.run(package, &[&["install", scripts], &quiet[..]].concat(), &place)?;
            contents::check(&place, package)?;
            let needed = place.join("node_modules");
            let own = folder.join("node_modules");
            if needed.is_dir() && own.symlink_metadata().is_err() {
                std::fs::rename(&needed, &own).map_err(|error| PackageError::io("move", &needed, error))?;
            }
        }
        if runs_scripts {
            let settings = HiddenSettings::hide(folder, scratch)?;
            for (name, _) in &manifest.scripts {
                self.run(package, &["run", NO_WORKSPACES, "--loglevel=error", name], folder)?;
            }
            settings.show()?;
            contents::check(folder, package)?;
        }
        Ok(())
    }
}

/// The settings of npm that a package has, out of npm's sight.
struct HiddenSettings {
    place: PathBuf,
    kept: PathBuf,
}

impl HiddenSettings {
    fn hide(folder: &Path, scratch: &Path) -> Result<Self> {
        let hidden = Self { place: folder.join(".npmrc"), kept: scratch.join("npmrc") };
        hidden.moved(&hidden.place, &hidden.kept).map(|()| hidden)
    }

    /// A script may have made others: the package's own count.
    fn show(&self) -> Result<()> {
        self.moved(&self.kept, &self.place)
    }

    fn moved(&self, from: &Path, to: &Path) -> Result<()> {
        if from.symlink_metadata().is_err() {
            return Ok(());
        }
        std::fs::rename(from, to).map_err(|error| PackageError::io("move", &self.place, error))
    }
}

/// The archive that npm has written, or is writing.
fn archive_in(folder: &Path) -> Option<PathBuf> {
    let mut files = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    files.find(|path| path.extension().is_some_and(|end| end == "tgz"))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare their own files")]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn with_path() -> ProgramEnvironment {
        ProgramEnvironment::of(std::env::vars().collect(), None)
    }

    /// npm printed a list of a million files for minutes, and the refusal was that the list is no JSON.
    #[test]
    fn a_package_with_too_many_files_is_refused_while_npm_still_works() {
        let folder = tempfile::tempdir().unwrap();
        let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for number in 0..30 {
            let mut header = tar::Header::new_gnu();
            header.set_size(0);
            builder.append_data(&mut header, format!("package/{number}"), &b""[..]).unwrap();
        }
        let packed = folder.path().join("packed");
        std::fs::write(&packed, builder.into_inner().unwrap().finish().unwrap()).unwrap();
        let npm = folder.path().join("npm");
        std::fs::write(&npm, format!("#!/bin/sh\ncp {} x-1.0.0.tgz\nexec tail -f /dev/null\n", packed.display()))
            .unwrap();
        std::fs::set_permissions(&npm, std::fs::Permissions::from_mode(0o755)).unwrap();
        let options = NpmOptions { command: vec![npm.display().to_string()], registry: None, environment: with_path() };
        let scratch = tempfile::tempdir().unwrap();
        let Err(error) = options.pack(("npm:x", "x"), scratch.path(), 20) else { panic!("it has 30 files") };
        assert!(error.to_string().starts_with("npm:x is refused: it has more than 20 files"), "{error}");
    }
}
