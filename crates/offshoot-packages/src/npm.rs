//! npm: fetches a package's archive, and the packages that a package needs. The archive is unpacked here, not by npm.

use std::path::Path;

use offshoot_session::medium::read_regular;
use serde_json::{Value, json};

use crate::archive::{self, MOST_PACKED, Packed};
use crate::error::{PackageError, Result};
use crate::manifest::Manifest;
use crate::run::{exists, run};
use crate::{contents, registry};

/// How packages are fetched from npm.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NpmOptions {
    /// The program and its first arguments; empty for `npm`.
    pub command: Vec<String>,
    /// The registry that is asked without npm; `None` for npm's own.
    pub registry: Option<String>,
}

impl NpmOptions {
    fn program(&self) -> (&str, &[String]) {
        self.command.split_first().map_or(("npm", &[]), |(program, rest)| (program.as_str(), rest))
    }

    /// Whether npm is there.
    pub(crate) fn exists(&self) -> bool {
        exists(self.program().0)
    }

    fn run(&self, package: &str, arguments: &[&str], folder: &Path) -> Result<String> {
        let (program, first) = self.program();
        let all: Vec<&str> = first.iter().map(String::as_str).chain(arguments.iter().copied()).collect();
        run(package, program, &all, folder)
    }

    /// The archive of a package, checked against its integrity.
    pub(crate) fn fetch(&self, name: &str, wanted: Option<&str>, scratch: &Path) -> Result<Packed> {
        let package = format!("npm:{name}");
        let packed = if self.exists() {
            self.pack(&package, name, wanted, scratch)?
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

    fn pack(&self, package: &str, name: &str, wanted: Option<&str>, scratch: &Path) -> Result<Packed> {
        let failed = |why: &str| PackageError::fetch(package, format!("npm pack {why}"));
        let spec = wanted.map_or_else(|| name.to_owned(), |wanted| format!("{name}@{wanted}"));
        let said =
            self.run(package, &["pack", "--json", "--ignore-scripts", "--loglevel=error", "--", &spec], scratch)?;
        let json: Value = serde_json::from_str(&said).map_err(|_| failed("printed no JSON"))?;
        // A later npm prints an object by name.
        let about =
            json.get(0).or_else(|| json.as_object()?.values().next()).ok_or_else(|| failed("named no archive"))?;
        let text = |name: &str| about.get(name).and_then(Value::as_str).map(str::to_owned);
        let (version, integrity) = (text("version"), text("integrity"));
        let (Some(version), Some(integrity)) = (version, integrity) else {
            return Err(failed("named no version and integrity"));
        };
        let archives = std::fs::read_dir(scratch).map_err(|error| PackageError::io("read", scratch, error))?;
        let mut archives = archives
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "tgz"));
        let file = archives.next().ok_or_else(|| failed("wrote no archive"))?;
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
            let quiet = ["--legacy-peer-deps", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
            self.run(package, &[&["install", scripts], &quiet[..]].concat(), &place)?;
            contents::check(&place, package)?;
            let needed = place.join("node_modules");
            let own = folder.join("node_modules");
            if needed.is_dir() && own.symlink_metadata().is_err() {
                std::fs::rename(&needed, &own).map_err(|error| PackageError::io("move", &needed, error))?;
            }
        }
        if runs_scripts {
            for (name, _) in &manifest.scripts {
                self.run(package, &["run", "--loglevel=error", name], folder)?;
            }
            contents::check(folder, package)?;
        }
        Ok(())
    }
}
