//! The npm packages: `offshoot`, the launcher and the clients of `clients/javascript`, and one with the binary for this platform,
//! which the first names among its optional dependencies.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use xtask::{env, run};

use super::stage::{LICENCES, copy_into, repository};
use super::{Build, empty, must, put};

const CLIENT: &str = "clients/javascript";

/// Packs both; returns the paths of the binary's package and of the client's.
pub(super) fn make(build: &Build) -> Result<[PathBuf; 2]> {
    let platform = platform_package(build)?;
    let client = client_package(build)?;
    Ok([platform, client])
}

fn client_package(build: &Build) -> Result<PathBuf> {
    let source = env::root().join(CLIENT);
    let manifest: Value = serde_json::from_str(&fs::read_to_string(source.join("package.json"))?)?;
    let dependency = format!("offshoot-{}", build.platform.node);
    let versions = [&manifest["version"], &manifest["optionalDependencies"][&dependency]];
    if versions.iter().any(|version| **version != build.version.as_str()) {
        bail!("{CLIENT}/package.json: its version and that of {dependency} must be {}", build.version);
    }
    let folder = build.built.join("npm-offshoot");
    empty(&folder)?;
    must(Command::new("cp").arg("-r").arg(source.join(".")).arg(&folder))?;
    pack(build, &folder)
}

fn platform_package(build: &Build) -> Result<PathBuf> {
    let name = format!("offshoot-{}", build.platform.node);
    let (system, processor) = build.platform.node.split_once('-').context("a platform has a processor")?;
    let folder = build.built.join(format!("npm-{name}"));
    empty(&folder)?;
    fs::create_dir(folder.join("bin"))?;
    fs::copy(build.binary(), folder.join("bin/offshoot"))?;
    let about = format!("The program `offshoot` for {}, used by the package `offshoot`.", build.platform.node);
    let manifest = json!({
        "name": name,
        "version": build.version,
        "description": about,
        "license": "MIT OR Apache-2.0",
        "repository": {"type": "git", "url": format!("git+{}.git", repository()?)},
        "os": [system],
        "cpu": [processor],
        "files": ["bin"],
        "preferUnplugged": true,
    });
    put(&folder.join("package.json"), &(serde_json::to_string_pretty(&manifest)? + "\n"))?;
    put(&folder.join("README.md"), &format!("# {name}\n\n{about} Install that one.\n"))?;
    pack(build, &folder)
}

/// Adds the licences to a folder and packs it; returns the path of the package.
fn pack(build: &Build, folder: &Path) -> Result<PathBuf> {
    for licence in LICENCES {
        copy_into(folder, Path::new(licence))?;
    }
    let to = build.packages.to_string_lossy();
    let packed = run::output_of("npm", &["pack", "--silent", "--pack-destination", &to], folder)?;
    let name = packed.lines().last().context("npm pack named no file")?.trim();
    fs::remove_dir_all(folder)?;
    Ok(build.packages.join(name))
}
