//! What each step of `ci` and `test` does.
//!
//! A step that cannot run because a tool is missing says so: it fails, or it is `Skipped` with the
//! reason in the summary. Nothing is left out without a word.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::tally::Tally;
use crate::{env, fuzz, out, repo, run, tidy};

/// What the steps share.
pub(crate) struct Scene {
    root: PathBuf,
    no_peers: bool,
    /// Tests so far.
    pub(crate) tally: Tally,
    /// Said again under the summary.
    pub(crate) notes: Vec<String>,
}

/// How a step ended, if it did not fail.
pub(crate) enum Outcome {
    Done,
    Skipped(String),
}

impl Scene {
    pub(crate) fn new(no_peers: bool) -> Self {
        Self { root: env::root(), no_peers, tally: Tally::default(), notes: Vec::new() }
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.root);
        command
    }

    fn cargo(&self, args: &[&str]) -> Command {
        self.command(&env::cargo(), args)
    }

    fn note(&mut self, what: &str) {
        out::warn(&format!("NOTE: {what}"));
        self.notes.push(what.to_owned());
    }

    /// Runs a program that counts tests.
    fn count(&mut self, command: &mut Command) -> Result<()> {
        let answer = run::tee(command)?;
        let tally = Tally::read(&answer.said);
        self.tally.add(tally);
        if !answer.ok {
            bail!("`{}` failed ({tally})", run::shown(command));
        }
        Ok(())
    }
}

fn must(mut command: Command) -> Result<Outcome> {
    if run::tee(&mut command)?.ok { Ok(Outcome::Done) } else { bail!("`{}` failed", run::shown(&command)) }
}

pub(crate) fn fmt(scene: &mut Scene) -> Result<Outcome> {
    must(scene.cargo(&["fmt", "--all", "--check"]))
}

pub(crate) fn clippy(scene: &mut Scene) -> Result<Outcome> {
    must(scene.cargo(&["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]))
}

/// All unit and integration tests, with every feature, so that none is left out for want of one.
pub(crate) fn tests(scene: &mut Scene) -> Result<Outcome> {
    let mut command = if run::first_line(&env::cargo(), &["nextest", "--version"]).is_some() {
        scene.cargo(&["nextest", "run", "--workspace", "--all-features", "--no-fail-fast"])
    } else {
        scene.note("cargo-nextest is not installed: the tests ran under `cargo test`, without its isolation");
        scene.cargo(&["test", "--workspace", "--all-features", "--tests", "--no-fail-fast"])
    };
    scene.count(&mut command)?;
    if scene.tally.passed == 0 { bail!("not one test ran") } else { Ok(Outcome::Done) }
}

pub(crate) fn doctests(scene: &mut Scene) -> Result<Outcome> {
    let mut command = scene.cargo(&["test", "--workspace", "--all-features", "--doc"]);
    scene.count(&mut command)?;
    Ok(Outcome::Done)
}

pub(crate) fn doc(scene: &mut Scene) -> Result<Outcome> {
    let mut command = scene.cargo(&["doc", "--workspace", "--all-features", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    must(command)
}

pub(crate) fn tidy(_: &mut Scene) -> Result<Outcome> {
    if tidy::run()? == std::process::ExitCode::SUCCESS { Ok(Outcome::Done) } else { bail!("see the findings above") }
}

/// Licences, bans and sources; advisories need a network that CI may not have.
pub(crate) fn deny(scene: &mut Scene) -> Result<Outcome> {
    if run::first_line(&env::cargo(), &["deny", "--version"]).is_none() {
        return Ok(Outcome::Skipped(
            "cargo-deny is not installed; licences, bans and sources were NOT checked".to_owned(),
        ));
    }
    must(scene.cargo(&["deny", "check", "bans", "licenses", "sources"]))
}

pub(crate) fn no_default_features(scene: &mut Scene) -> Result<Outcome> {
    must(scene.cargo(&["build", "--package", "offshoot-session", "--no-default-features"]))
}

/// The same files and operations through the peers and through the binary just built.
pub(crate) fn conformance(scene: &mut Scene) -> Result<Outcome> {
    let missing: Vec<&str> =
        ["node", "npm"].into_iter().filter(|tool| run::first_line(tool, &["--version"]).is_none()).collect();
    if scene.no_peers {
        return Ok(Outcome::Skipped("--no-peers was given; nothing was compared with pi and omp".to_owned()));
    }
    if !missing.is_empty() {
        bail!(
            "{} not found: install Node.js 20 or later, or leave the peers out with --no-peers",
            missing.join(" and ")
        );
    }
    let folder = scene.root.join("conformance");
    install_peers(&folder)?;
    // The program as people have it: some probes read files of hundreds of megabytes.
    must(scene.cargo(&["build", "--release", "--package", "offshoot-cli"]))?;
    let examples = ["--example", "tool", "--example", "request", "--example", "loopback", "--features", "testing"];
    must(scene.cargo(&[&["build", "--package", "offshoot-agent"], &examples[..]].concat()))?;
    must(scene.cargo(&["build", "--package", "offshoot-tui", "--example", "sessions", "--example", "tree"]))?;
    let built = target_folder(&scene.root)?;
    let (sessions, tree) = (built.join("debug/examples/sessions"), built.join("debug/examples/tree"));
    let (binary, tool) = (built.join("release/offshoot"), built.join("debug/examples/tool"));
    let (request, model) = (built.join("debug/examples/request"), built.join("debug/examples/loopback"));
    let programs = [&binary, &tool, &request, &model, &sessions, &tree];
    if let Some(missing) = programs.into_iter().find(|path| !path.is_file()) {
        bail!("no binary at {}", missing.display());
    }
    let tests = node_tests(&scene.root)?;
    let mut command = scene.command("node", &["--test", "--test-reporter=spec"]);
    command.args(tests).env("OFFSHOOT_BIN", &binary).env("OFFSHOOT_TOOL_BIN", &tool);
    command.env("OFFSHOOT_LOOPBACK_BIN", &model);
    command.env("OFFSHOOT_REQUEST_BIN", &request);
    command.env("OFFSHOOT_SESSIONS_BIN", &sessions).env("OFFSHOOT_TREE_BIN", &tree);
    let before = scene.tally.passed;
    scene.count(&mut command)?;
    if scene.tally.passed == before { bail!("not one conformance test ran") } else { Ok(Outcome::Done) }
}

/// Each target for a minute; what it finds is a failure, and a test from then on.
pub(crate) fn fuzz(_: &mut Scene) -> Result<Outcome> {
    fuzz::run(&[])?;
    Ok(Outcome::Done)
}

/// `npm ci`, unless the peers of exactly this lock file are there already.
fn install_peers(folder: &Path) -> Result<()> {
    let lock = folder.join("package-lock.json");
    let wanted = std::fs::read(&lock).with_context(|| format!("cannot read {}", lock.display()))?;
    let mark = folder.join("node_modules/.installed-from");
    if std::fs::read(&mark).is_ok_and(|there| there == wanted) {
        out::say("the peers of this package-lock.json are installed already");
        return Ok(());
    }
    let mut command = Command::new("npm");
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder);
    must(command)?;
    std::fs::copy(&lock, &mark).with_context(|| format!("cannot write {}", mark.display()))?;
    Ok(())
}

/// Every `*.test.mjs` under `conformance/`. Named one by one: what `node --test FOLDER` means has
/// changed between versions of node.
fn node_tests(root: &Path) -> Result<Vec<String>> {
    let repo = repo::Repo::read(root)?;
    let tests: Vec<String> =
        repo.under("conformance/").map(|file| file.path.clone()).filter(|path| path.ends_with(".test.mjs")).collect();
    if tests.is_empty() { bail!("conformance/ holds no *.test.mjs") } else { Ok(tests) }
}

/// Where cargo puts what it builds.
pub(crate) fn target_folder(root: &Path) -> Result<PathBuf> {
    let text = run::output_of(&env::cargo(), &["metadata", "--no-deps", "--format-version", "1"], root)?;
    let metadata: serde_json::Value = serde_json::from_str(&text).context("cargo metadata")?;
    let folder = metadata.get("target_directory").and_then(serde_json::Value::as_str);
    folder.map(PathBuf::from).context("cargo metadata names no target folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conformance_is_left_out_only_on_request_and_says_so() {
        let Ok(Outcome::Skipped(why)) = conformance(&mut Scene::new(true)) else { unreachable!("not skipped") };
        assert!(why.contains("--no-peers"));
    }

    #[test]
    fn an_install_without_a_lock_file_is_an_error() {
        assert!(install_peers(Path::new("no/such/folder")).is_err());
    }

    #[test]
    fn cargo_says_where_it_builds() {
        assert!(target_folder(&env::root()).unwrap().is_absolute());
    }
}
