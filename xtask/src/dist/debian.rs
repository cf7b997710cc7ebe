//! The Debian package, made by cargo-deb from the asset list of the binary's manifest.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use xtask::{env, run};

use super::Build;

/// Makes the package of the release binary; `None` without cargo-deb.
pub(super) fn make(build: &Build) -> Result<Option<PathBuf>> {
    if run::first_line(&env::cargo(), &["deb", "--version"]).is_none() {
        return Ok(None);
    }
    let folder = build.packages.to_string_lossy();
    let arguments = ["deb", "--no-build", "--no-strip", "--package", "offshoot", "--output", &folder];
    let made = run::output_of(&env::cargo(), &arguments, &env::root())?;
    made.lines().last().map(PathBuf::from).context("cargo deb named no package").map(Some)
}

#[cfg(test)]
mod tests {
    use super::super::stage::{COMPLETIONS, DOCUMENTS};
    use super::*;

    #[test]
    fn it_contains_what_is_prepared_for_it() {
        let manifest = std::fs::read_to_string(env::root().join("crates/offshoot/Cargo.toml")).unwrap();
        let completions = COMPLETIONS.iter().map(|(_, name)| format!("completions/{name}"));
        let documents = DOCUMENTS.iter().map(|name| (*name).to_owned());
        let named = ["man/*.1", "docs/*", "docs/pictures/*", "examples/*"].map(str::to_owned).into_iter();
        for file in named.chain(completions).chain(documents) {
            assert!(manifest.contains(&format!("[\"target/release/package/{file}\", \"usr/")), "{file}");
        }
    }
}
