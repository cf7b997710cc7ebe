//! `cargo xtask dist`: a tarball and a Debian package of the binary, its completions and its manual pages.
//!
//! Both take completions and manual pages from the binary that they contain. The tarball is unpacked and used before it is
//! announced. CI makes it of the binary that the tests use.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use xtask::{cargo, env, out, run};

/// What the binary prints, and the name under which a shell looks for it.
const COMPLETIONS: &[(&str, &str)] = &[("bash", "offshoot"), ("zsh", "_offshoot"), ("fish", "offshoot.fish")];
const DOCUMENTS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];
const SAMPLE: &str = "examples/sample-session.jsonl";

/// Builds the packages, uses the tarball, and prints the paths of both.
pub(crate) fn run() -> Result<ExitCode> {
    let built = cargo::release(&["--locked"])?;
    let mut made = vec![tarball(&built)?];
    if run::first_line(&env::cargo(), &["deb", "--version"]).is_some() {
        made.push(debian_package()?);
    } else {
        out::warn("NOTE: no Debian package was made: `cargo install cargo-deb` first");
    }
    out::say(&made.join("\n"));
    Ok(ExitCode::SUCCESS)
}

/// Makes the tarball of the tests' binary and uses it.
pub(crate) fn check() -> Result<()> {
    must(&mut cargo::programs_of_tests())?;
    out::say(&tarball(&cargo::target_folder()?.join(cargo::TESTS))?);
    Ok(())
}

/// Packs what lies in the folder of built programs, and uses the tarball; returns its path.
fn tarball(built: &Path) -> Result<String> {
    // The asset list of the Debian package names this folder.
    let stage = built.join("package");
    empty(&stage)?;
    fill(&built.join("offshoot"), &stage)?;
    let name = package_name(built)?;
    let folder = built.join(&name);
    empty(&folder)?;
    must(Command::new("cp").arg("-r").arg(stage.join(".")).arg(&folder))?;
    fs::copy(built.join("offshoot"), folder.join("offshoot"))?;
    let file = built.join(format!("{name}.tar.gz"));
    must(Command::new("tar").args(["--owner=0", "--group=0", "-czf"]).arg(&file).arg(&name).current_dir(built))?;
    fs::remove_dir_all(&folder)?;
    try_tarball(&file, &name)?;
    Ok(file.display().to_string())
}

/// `offshoot-VERSION-PLATFORM`.
fn package_name(built: &Path) -> Result<String> {
    let version = run::output_of(&built.join("offshoot").to_string_lossy(), &["--version"], built)?;
    let version = version.trim().rsplit(' ').next().unwrap_or_default().to_owned();
    let host = run::output_of("rustc", &["-vV"], built)?;
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    Ok(format!("offshoot-{version}-{host}"))
}

/// Puts everything but the binary into the folder.
fn fill(binary: &Path, stage: &Path) -> Result<()> {
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
    for folder in ["docs", "examples"] {
        fs::create_dir_all(stage.join(folder))?;
    }
    let documents = DOCUMENTS.iter().chain([&SAMPLE]).map(|name| root.join(name));
    for document in documents.chain(pages(&root.join("docs"))?) {
        let name = document.strip_prefix(&root)?;
        fs::copy(&document, stage.join(name)).with_context(|| format!("cannot copy {}", name.display()))?;
    }
    Ok(())
}

/// The documents of a folder, without those of folders in it.
fn pages(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    Ok(paths.into_iter().filter(|path| path.is_file()).collect())
}

/// Unpacks a tarball and uses it as somebody without Rust would: no variables, an empty home.
fn try_tarball(tarball: &Path, name: &str) -> Result<()> {
    let place = tarball.with_file_name("unpacked");
    empty(&place)?;
    must(Command::new("tar").arg("-xzf").arg(tarball).arg("-C").arg(&place))?;
    let folder = place.join(name);
    let manual = ["man/offshoot.1", "man/offshoot-tree.1", "docs/shell.md"].map(str::to_owned);
    let completions = COMPLETIONS.iter().map(|(_, name)| format!("completions/{name}"));
    for file in DOCUMENTS.iter().map(|name| (*name).to_owned()).chain(manual).chain(completions) {
        if !fs::metadata(folder.join(&file)).is_ok_and(|found| found.len() > 0) {
            bail!("{} lacks {file}", tarball.display());
        }
    }
    let home = place.join("home");
    for (arguments, expected) in [
        (["tree", "--color=never", SAMPLE].as_slice(), "[before the fix]"),
        (&["completions", "--", "offshoot", "tre"], "tree\t"),
    ] {
        let mut command = Command::new(folder.join("offshoot"));
        let output = command.args(arguments).env_clear().env("HOME", &home).current_dir(&folder).output()?;
        if !output.status.success() || !String::from_utf8_lossy(&output.stdout).contains(expected) {
            bail!("`{}` failed: {}", run::shown(&command), String::from_utf8_lossy(&output.stderr).trim());
        }
    }
    Ok(fs::remove_dir_all(&place)?)
}

fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

fn debian_package() -> Result<String> {
    let arguments = ["deb", "--no-build", "--no-strip", "--package", "offshoot"];
    let made = run::output_of(&env::cargo(), &arguments, &env::root())?;
    made.lines().last().map(str::to_owned).context("cargo deb named no package")
}

fn must(command: &mut Command) -> Result<()> {
    if run::tee(command)?.ok { Ok(()) } else { bail!("`{}` failed", run::shown(command)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_debian_package_contains_what_is_prepared_for_it() {
        let manifest = fs::read_to_string(env::root().join("crates/offshoot/Cargo.toml")).unwrap();
        let completions = COMPLETIONS.iter().map(|(_, name)| format!("completions/{name}"));
        let documents = DOCUMENTS.iter().map(|name| (*name).to_owned());
        let named = ["man/*.1", "docs/*", "examples/*"].map(str::to_owned).into_iter();
        for file in named.chain(completions).chain(documents) {
            assert!(manifest.contains(&format!("[\"target/release/package/{file}\", \"usr/")), "{file}");
        }
    }
}
