//! Who is measured, and how each is asked to do a job.
//!
//! Owns the command lines of offshoot, pi and omp. A peer that is not installed is left out, and said
//! to be.

use std::path::{Path, PathBuf};

use super::floor::FLOOR;
use crate::{env, run};

/// Work that can be asked for; every contestant prints the same kind of answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// The messages the model would see, as JSON.
    Context,
    /// One line per node.
    Tree,
    /// One element per leaf, as JSON.
    Branches,
    /// Every diagnostic.
    Check,
    /// Sessions of a folder, as JSON.
    List,
}

impl Task {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Tree => "tree",
            Self::Branches => "branches",
            Self::Check => "check",
            Self::List => "list",
        }
    }
}

/// One program.
#[derive(Debug, Clone)]
pub(super) struct Contestant {
    pub(super) name: &'static str,
    /// Name and version of everything that runs, for the report.
    pub(super) version: String,
    how: How,
}

#[derive(Debug, Clone)]
enum How {
    Floor(PathBuf),
    Offshoot(PathBuf),
    /// The same with its caches kept from run to run.
    Warm(PathBuf),
    /// Runtime, script, and the module that exports `SessionManager`.
    Peer(PathBuf, PathBuf, PathBuf),
}

impl Contestant {
    pub(super) fn floor(this: &Path) -> Self {
        Self {
            name: "floor",
            version: "newline count, 1 MiB reads, memchr".to_owned(),
            how: How::Floor(this.to_owned()),
        }
    }

    pub(super) fn offshoot(binary: &Path, version: String) -> Self {
        Self { name: "offshoot", version, how: How::Offshoot(binary.to_owned()) }
    }

    /// offshoot for files that it has opened before.
    pub(super) fn warm(binary: &Path, version: String) -> Self {
        Self { name: "offshoot again", version, how: How::Warm(binary.to_owned()) }
    }

    /// Whether it finds the caches of its last run.
    pub(super) fn keeps_caches(&self) -> bool {
        matches!(self.how, How::Warm(_))
    }

    /// Whether it only reads, and answers nothing.
    pub(super) fn is_floor(&self) -> bool {
        matches!(self.how, How::Floor(_))
    }

    /// pi under node, from a folder of installed packages.
    pub(super) fn pi(packages: &Path) -> Option<Self> {
        let package = packages.join("@earendil-works/pi-coding-agent");
        let module = package.join("dist/core/session-manager.js");
        let node = run::first_line("node", &["--version"]).filter(|_| module.is_file())?;
        let version = format!("pi {} (node {node})", package_version(&package)?);
        Some(Self { name: "pi", version, how: How::Peer("node".into(), script(), module) })
    }

    /// omp under bun, from a folder of installed packages.
    pub(super) fn omp(packages: &Path) -> Option<Self> {
        let package = packages.join("@oh-my-pi/pi-coding-agent");
        let module = package.join("src/session/session-manager.ts");
        let bun = bun(packages).filter(|_| module.is_file())?;
        let bun_version = run::first_line(&bun.to_string_lossy(), &["--version"])?;
        let version = format!("omp {} (bun {bun_version})", package_version(&package)?);
        Some(Self { name: "omp", version, how: How::Peer(bun, script(), module) })
    }

    /// The words to run; `None` when this contestant has no such command.
    pub(super) fn words(&self, task: Task, input: &Path) -> Option<Vec<String>> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let input = text(input);
        let words = match &self.how {
            How::Floor(this) if task != Task::List => vec![text(this), FLOOR.to_owned(), input],
            How::Floor(_) => return None,
            How::Peer(..) if task == Task::Check => return None,
            How::Peer(runtime, script, module) => {
                vec![text(runtime), text(script), text(module), task.name().to_owned(), input]
            }
            How::Warm(_) if matches!(task, Task::Check | Task::List) => return None,
            How::Offshoot(binary) | How::Warm(binary) => {
                let words: &[&str] = match task {
                    Task::Context => &["context", &input, "--json"],
                    Task::Tree => &["tree", &input, "--flat", "--filter", "all"],
                    Task::Branches => &["branches", &input, "--json"],
                    Task::Check => &["check", &input],
                    Task::List => &["list", "--json", "--session-dir", &input],
                };
                std::iter::once(text(binary)).chain(words.iter().map(|word| (*word).to_owned())).collect()
            }
        };
        Some(words)
    }
}

fn script() -> PathBuf {
    env::root().join("xtask/bench/peer.mjs")
}

/// Where npm puts bun: beside its launcher, or in the platform's package when no script ran.
fn bun(packages: &Path) -> Option<PathBuf> {
    let platform = format!("@oven/bun-linux-{}/bin/bun", if cfg!(target_arch = "aarch64") { "aarch64" } else { "x64" });
    [packages.join("bun/bin/bun.exe"), packages.join(platform)]
        .into_iter()
        .find(|path| run::first_line(&path.to_string_lossy(), &["--version"]).is_some())
}

fn package_version(package: &Path) -> Option<String> {
    let text = std::fs::read_to_string(package.join("package.json")).ok()?;
    let manifest: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(manifest.get("version")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offshoot_is_asked_by_its_own_commands() {
        let offshoot = Contestant::offshoot(Path::new("bin/offshoot"), String::new());
        let words = offshoot.words(Task::Context, Path::new("a.jsonl")).unwrap();
        assert_eq!(words, ["bin/offshoot", "context", "a.jsonl", "--json"]);
    }

    #[test]
    fn nobody_is_asked_for_what_he_cannot_do() {
        assert!(Contestant::floor(Path::new("xtask")).words(Task::List, Path::new("many")).is_none());
        let empty = Path::new("no/such/packages");
        assert!(Contestant::pi(empty).is_none() && Contestant::omp(empty).is_none());
    }
}
