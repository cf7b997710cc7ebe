//! `cargo xtask dist`: one built binary, assembled into a tarball, a Debian package, two npm packages and a Python wheel.
//!
//! Owns the list of packages, the folder in which they lie, and their checksums. All take completions, manual pages and documents
//! from the binary that they contain. The tarball, the npm packages and the wheel are installed and used before they are announced.
//! CI makes them of the binary that the tests use.

mod platform;
mod links;
mod stage;
mod tarball;
mod debian;
mod npm;
mod wheel;
mod walk;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use xtask::{cargo, out, run};

use self::platform::Platform;

/// The folder of packages, below that of built programs.
const FOLDER: &str = "dist";
const SUMS: &str = "SHA256SUMS";

/// One built binary, and where its packages are made.
struct Build {
    /// The folder of built programs.
    built: PathBuf,
    /// What every package takes its completions, manual pages and documents from.
    stage: PathBuf,
    /// Where packages go.
    packages: PathBuf,
    platform: Platform,
    version: String,
}

impl Build {
    fn of(built: &Path) -> Result<Self> {
        let binary = built.join("offshoot");
        let version = run::output_of(&binary.to_string_lossy(), &["--version"], built)?;
        let version = version.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        // The asset list of the Debian package names this folder.
        let stage = built.join("package");
        let packages = built.join(FOLDER);
        empty(&stage)?;
        empty(&packages)?;
        stage::fill(&binary, &stage, &version)?;
        Ok(Self { platform: Platform::of(&binary)?, built: built.to_owned(), stage, packages, version })
    }

    fn binary(&self) -> PathBuf {
        self.built.join("offshoot")
    }
}

/// Builds the packages, uses them, writes their checksums, and prints the paths of all.
pub(crate) fn run() -> Result<ExitCode> {
    let build = Build::of(&cargo::release(&["--locked"])?)?;
    let mut made = portable(&build)?;
    match debian::make(&build)? {
        Some(package) => made.push(package),
        None => out::warn("NOTE: no Debian package was made: `cargo install cargo-deb` first"),
    }
    made.push(sums(&build.packages)?);
    let paths: Vec<String> = made.iter().map(|path| path.display().to_string()).collect();
    out::say(&paths.join("\n"));
    Ok(ExitCode::SUCCESS)
}

/// Makes the packages of the tests' binary, without that of Debian, and uses them.
pub(crate) fn check() -> Result<()> {
    must(&mut cargo::programs_of_tests())?;
    let build = Build::of(&cargo::target_folder()?.join(cargo::TESTS))?;
    for path in portable(&build)? {
        out::say(&path.display().to_string());
    }
    Ok(())
}

/// `cargo xtask walk`: installs each package that `dist` has left, in an empty home, and times it.
pub(crate) fn walk() -> Result<ExitCode> {
    walk::run(&cargo::target_folder()?.join("release").join(FOLDER))
}

/// Makes what needs no tool of Debian. A package whose installer is missing here is made and not used, which is said.
fn portable(build: &Build) -> Result<Vec<PathBuf>> {
    let mut made = vec![tarball::make(build)?];
    if run::first_line("npm", &["--version"]).is_some() {
        made.extend(npm::make(build)?);
    } else {
        out::warn("NOTE: no npm packages were made: there is no npm");
    }
    if run::first_line("python3", &["--version"]).is_some() {
        made.push(wheel::make(build)?);
    } else {
        out::warn("NOTE: no wheel was made: there is no python3");
    }
    for package in &made {
        walk::try_package(package)?;
    }
    Ok(made)
}

/// Writes the checksums of all packages in a folder beside them, as `sha256sum --check` reads them.
fn sums(packages: &Path) -> Result<PathBuf> {
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(packages)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let program = if cfg!(target_os = "macos") { "shasum" } else { "sha256sum" };
    let mut arguments: Vec<&str> = if cfg!(target_os = "macos") { vec!["-a", "256"] } else { Vec::new() };
    arguments.extend(names.iter().map(String::as_str));
    let file = packages.join(SUMS);
    put(&file, &run::output_of(program, &arguments, packages)?)?;
    Ok(file)
}

fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

/// Writes a file of a package that is being made.
fn put(file: &Path, text: &str) -> Result<()> {
    let mut opened = fs::File::create(file).with_context(|| format!("cannot create {}", file.display()))?;
    opened.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", file.display()))
}

fn must(command: &mut Command) -> Result<()> {
    if run::tee(command)?.ok { Ok(()) } else { bail!("`{}` failed", run::shown(command)) }
}
