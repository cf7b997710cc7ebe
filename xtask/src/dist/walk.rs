//! A walk through the door: a package is installed in an empty home, on a path without Rust, and shows the sample session.
//!
//! `cargo xtask walk` does it for every package that `cargo xtask dist` has left, and reports sizes and times.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use xtask::{env, out, run};

use super::stage::{COMPLETIONS, DOCUMENTS, SAMPLE};
use super::{empty, must};

/// How packages of one kind are installed and used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tarball,
    /// The package with the binary; the client's is installed in the same command.
    Npm,
    Wheel,
    Debian,
}

impl Kind {
    fn of(name: &str) -> Option<Self> {
        let is = |end: &str| name.ends_with(end);
        match name {
            _ if is(".tar.gz") => Some(Self::Tarball),
            _ if is(".tgz") && Path::new(name).file_stem().is_some_and(|stem| is_client(&stem.to_string_lossy())) => {
                None
            }
            _ if is(".tgz") => Some(Self::Npm),
            _ if is(".whl") => Some(Self::Wheel),
            _ if is(".deb") => Some(Self::Debian),
            _ => None,
        }
    }
}

/// Whether a package is that of the client: `offshoot-0.1.0`, not `offshoot-linux-x64-0.1.0`.
fn is_client(stem: &str) -> bool {
    stem.strip_prefix("offshoot-").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Walks with every package of a folder.
pub(super) fn run(packages: &Path) -> Result<ExitCode> {
    let entries =
        fs::read_dir(packages).with_context(|| format!("{}: `cargo xtask dist` first", packages.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    paths.sort();
    out::say("| package | MB | seconds from the package to the tree of the sample |\n|---|--:|--:|");
    for path in paths {
        let (walked, seconds) = run::timed(|| try_package(&path));
        if walked? {
            let megabytes = fs::metadata(&path)?.len() as f64 / 1e6;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            out::say(&format!("| {name} | {megabytes:.1} | {seconds:.1} |"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Installs a package in an empty home and uses it as somebody without Rust would; answers whether it is one that can be used alone.
pub(super) fn try_package(package: &Path) -> Result<bool> {
    let name = package.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(kind) = Kind::of(&name) else { return Ok(false) };
    let place = package.with_file_name(format!(".walk-{name}"));
    empty(&place)?;
    let program = install(kind, package, &place)?;
    use_program(&program, &place)?;
    fs::remove_dir_all(&place)?;
    Ok(true)
}

/// Installs a package below a folder; returns the path of the program.
fn install(kind: Kind, package: &Path, place: &Path) -> Result<PathBuf> {
    match kind {
        Kind::Tarball => {
            must(Command::new("tar").arg("-xzf").arg(package).args(["--strip-components", "1", "-C"]).arg(place))?;
            holds_everything(place, package)?;
            Ok(place.join("offshoot"))
        }
        Kind::Npm => {
            let client = client_beside(package)?;
            let mut npm = in_empty_home("npm", place);
            must(
                npm.args(["install", "--global", "--offline", "--no-audit", "--no-fund", "--prefix"])
                    .arg(place)
                    .arg(package)
                    .arg(client),
            )?;
            Ok(place.join("bin/offshoot"))
        }
        Kind::Wheel => {
            let environment = place.join("venv");
            must(in_empty_home("python3", place).args(["-m", "venv"]).arg(&environment))?;
            let pip = environment.join("bin/pip").to_string_lossy().into_owned();
            must(
                in_empty_home(&pip, place)
                    .args(["install", "--quiet", "--no-index", "--disable-pip-version-check"])
                    .arg(package),
            )?;
            Ok(environment.join("bin/offshoot"))
        }
        Kind::Debian => {
            must(Command::new("dpkg-deb").arg("--extract").arg(package).arg(place))?;
            Ok(place.join("usr/bin/offshoot"))
        }
    }
}

/// The client's package of the same folder.
fn client_beside(package: &Path) -> Result<PathBuf> {
    let folder = package.parent().context("a package lies in a folder")?;
    let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let is_client_package = |path: &PathBuf| {
        path.extension().is_some_and(|end| end == "tgz")
            && path.file_stem().is_some_and(|stem| is_client(&stem.to_string_lossy()))
    };
    paths
        .into_iter()
        .find(is_client_package)
        .with_context(|| format!("there is no client beside {}", package.display()))
}

fn in_empty_home(program: &str, place: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("HOME", place.join("home")).env_remove("OFFSHOOT_BIN").env("npm_config_update_notifier", "false");
    command
}

fn holds_everything(folder: &Path, package: &Path) -> Result<()> {
    let manual =
        ["man/offshoot.1", "man/offshoot-tree.1", "docs/shell.md", "docs/pictures/branches.svg"].map(str::to_owned);
    let completions = COMPLETIONS.iter().map(|(_, name)| format!("completions/{name}"));
    for file in DOCUMENTS.iter().map(|name| (*name).to_owned()).chain(manual).chain(completions) {
        if !fs::metadata(folder.join(&file)).is_ok_and(|found| found.len() > 0) {
            bail!("{} lacks {file}", package.display());
        }
    }
    Ok(())
}

/// Shows the sample's tree and completes a command: no variables but the path of an interpreter, an empty home.
fn use_program(program: &Path, place: &Path) -> Result<()> {
    let sample = env::root().join(SAMPLE);
    let sample = sample.to_string_lossy();
    for (arguments, expected) in [
        (["tree", "--color=never", &sample].as_slice(), "[before the fix]"),
        (&["completions", "--", "offshoot", "tre"], "tree\t"),
    ] {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("HOME", place.join("home"))
            .env("PATH", env::var("PATH").unwrap_or_default())
            .current_dir(place);
        let output = command.output().with_context(|| format!("cannot run `{}`", run::shown(&command)))?;
        if !output.status.success() || !String::from_utf8_lossy(&output.stdout).contains(expected) {
            bail!("`{}` failed: {}", run::shown(&command), String::from_utf8_lossy(&output.stderr).trim());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_of_a_binary_is_told_from_that_of_the_client() {
        assert!(is_client("offshoot-0.1.0") && !is_client("offshoot-linux-x64-0.1.0"));
        assert!(
            Kind::of("offshoot-linux-x64-0.1.0.tgz") == Some(Kind::Npm) && Kind::of("offshoot-0.1.0.tgz").is_none()
        );
        assert!(Kind::of("SHA256SUMS").is_none());
    }
}
