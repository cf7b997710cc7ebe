//! What every package contains besides the binary: completions, manual pages, documents, the sample session.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use xtask::{env, run};

use super::links::PackageLinks;
use super::put;

/// What the binary prints, and the name under which a shell looks for it.
pub(super) const COMPLETIONS: &[(&str, &str)] =
    &[("bash", "offshoot"), ("zsh", "_offshoot"), ("fish", "offshoot.fish")];
pub(super) const DOCUMENTS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];
pub(super) const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];
pub(super) const SAMPLE: &str = "examples/sample-session.jsonl";
/// Folders whose files come along, without those of folders in them.
const FOLDERS: [&str; 2] = ["docs", "docs/pictures"];

/// Puts everything but the binary into the folder. Links to files that are not there lead to the repository.
pub(super) fn fill(binary: &Path, stage: &Path, version: &str) -> Result<()> {
    let completions = stage.join("completions");
    fs::create_dir_all(&completions)?;
    for (shell, name) in COMPLETIONS {
        let script = fs::File::create_new(completions.join(name))?;
        let status = Command::new(binary).args(["completions", shell]).stdout(script).status()?;
        if !status.success() {
            bail!("`offshoot completions {shell}` failed");
        }
    }
    run::output_of(&binary.to_string_lossy(), &["man", "--out", "man"], stage)?;
    let root = env::root();
    fs::create_dir_all(stage.join("examples"))?;
    let mut documents: Vec<PathBuf> = DOCUMENTS.iter().chain([&SAMPLE]).map(|name| root.join(name)).collect();
    for folder in FOLDERS {
        fs::create_dir_all(stage.join(folder))?;
        documents.extend(files(&root.join(folder))?);
    }
    for document in &documents {
        copy_into(stage, document.strip_prefix(&root)?)?;
    }
    relink(stage, version)
}

/// Copies a file of the repository, named by its path there, to the same path below a folder.
pub(super) fn copy_into(folder: &Path, name: &Path) -> Result<()> {
    fs::copy(env::root().join(name), folder.join(name)).with_context(|| format!("cannot copy {}", name.display()))?;
    Ok(())
}

/// The address of the repository.
pub(super) fn repository() -> Result<String> {
    let manifest: toml::Table = fs::read_to_string(env::root().join("Cargo.toml"))?.parse()?;
    let package = manifest.get("workspace").and_then(|workspace| workspace.get("package"));
    let address = package.and_then(|package| package.get("repository")).and_then(toml::Value::as_str);
    address.map(str::to_owned).context("Cargo.toml names no repository")
}

fn relink(stage: &Path, version: &str) -> Result<()> {
    let address = format!("{}/blob/v{version}", repository()?);
    let root = env::root();
    let links = PackageLinks { package: stage, repository: &root, address: &address };
    let pages = ["", "docs"].iter().map(|folder| files(&stage.join(folder))).collect::<Result<Vec<_>>>()?;
    for page in pages.into_iter().flatten().filter(|path| path.extension().is_some_and(|end| end == "md")) {
        let text = fs::read_to_string(&page)?;
        put(&page, &links.relinked(page.strip_prefix(stage)?, &text)?)?;
    }
    Ok(())
}

/// The files of a folder, without those of folders in it.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    Ok(paths.into_iter().filter(|path| path.is_file()).collect())
}
