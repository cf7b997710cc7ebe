//! `cargo xtask dist`: a tarball and a Debian package of the binary, its completions and its manual pages.
//!
//! Both take completions and manual pages from the binary that they contain.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use xtask::{cargo, env, out, run};

/// What the binary prints, and the name under which a shell looks for it.
const COMPLETIONS: &[(&str, &str)] = &[("bash", "offshoot"), ("zsh", "_offshoot"), ("fish", "offshoot.fish")];
const DOCUMENTS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Builds the packages and prints their paths.
pub(crate) fn run() -> Result<ExitCode> {
    let built = cargo::release(&["--locked"])?;
    // The asset list of the Debian package names this folder.
    let stage = built.join("package");
    if stage.exists() {
        fs::remove_dir_all(&stage).with_context(|| format!("cannot empty {}", stage.display()))?;
    }
    fill(&built.join("offshoot"), &stage)?;
    let mut made = vec![tarball(&built, &stage)?];
    if run::first_line(&env::cargo(), &["deb", "--version"]).is_some() {
        made.push(debian_package()?);
    } else {
        out::warn("NOTE: no Debian package was made: `cargo install cargo-deb` first");
    }
    out::say(&made.join("\n"));
    Ok(ExitCode::SUCCESS)
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
    for name in DOCUMENTS {
        fs::copy(root.join(name), stage.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    fs::create_dir_all(stage.join("examples"))?;
    let sample = "examples/sample-session.jsonl";
    fs::copy(root.join(sample), stage.join(sample)).with_context(|| format!("cannot copy {sample}"))?;
    Ok(())
}

fn tarball(built: &Path, stage: &Path) -> Result<String> {
    let version = run::output_of(&built.join("offshoot").to_string_lossy(), &["--version"], built)?;
    let version = version.trim().rsplit(' ').next().unwrap_or_default().to_owned();
    let host = run::output_of("rustc", &["-vV"], built)?;
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    let name = format!("offshoot-{version}-{host}");
    let folder = built.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    must(Command::new("cp").arg("-r").arg(stage).arg(&folder))?;
    fs::copy(built.join("offshoot"), folder.join("offshoot"))?;
    let file = format!("{name}.tar.gz");
    must(Command::new("tar").args(["--owner=0", "--group=0", "-czf", &file, &name]).current_dir(built))?;
    Ok(built.join(file).display().to_string())
}

fn debian_package() -> Result<String> {
    let arguments = ["deb", "--no-build", "--no-strip", "--package", "offshoot-cli"];
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
        let manifest = fs::read_to_string(env::root().join("crates/offshoot-cli/Cargo.toml")).unwrap();
        let completions = COMPLETIONS.iter().map(|(_, name)| format!("completions/{name}"));
        let named = ["man/*.1", "README.md", "examples/*"].map(str::to_owned).into_iter().chain(completions);
        for file in named {
            assert!(manifest.contains(&format!("[\"target/release/package/{file}\", \"usr/")), "{file}");
        }
    }
}
