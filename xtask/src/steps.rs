//! The steps of `ci` and `test`.
//!
//! A step whose tool is missing either fails or is `Skipped` with a reason in the summary; it is never left out
//! silently.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use xtask::{cargo, env, out, run};

use crate::tally::Tally;
use crate::{again, dist, fuzz, repo, tidy};

pub(crate) struct Scene {
    no_peers: bool,
    pub(crate) tally: Tally,
    pub(crate) notes: Vec<String>,
}

pub(crate) enum StepOutcome {
    Done,
    Skipped(String),
}

impl Scene {
    pub(crate) fn new(no_peers: bool) -> Self {
        Self { no_peers, tally: Tally::default(), notes: Vec::new() }
    }

    fn note(&mut self, what: &str) {
        out::warn(&format!("NOTE: {what}"));
        self.notes.push(what.to_owned());
    }

    /// Runs tests, and notes those that passed only at the second try.
    fn count(&mut self, command: &mut Command) -> Result<()> {
        let answer = run::tee(command)?;
        let tally = Tally::read(&answer.said);
        self.tally.add(tally);
        if !answer.ok {
            bail!("`{}` failed ({tally})", run::shown(command));
        }
        for name in again::flaky_in_nextest(&answer.said) {
            self.note(&format!("FLAKY: {name} failed, and passed at the second try"));
        }
        Ok(())
    }

    /// Runs node's test files, and the few that failed once more, one at a time.
    fn count_files(&mut self, files: &[String], command_for: impl Fn(&[String], usize) -> Command) -> Result<()> {
        let mut command = command_for(files, tests_at_once());
        let answer = run::tee(&mut command)?;
        let first = Tally::read(&answer.said);
        let failed = again::failed_in_node(&answer.said, files);
        let mut second: Vec<String> = failed.iter().map(|test| test.file.clone()).collect();
        second.dedup();
        let is_worth_it = !second.is_empty() && second.len() <= again::MOST_FILES;
        let passes = answer.ok || is_worth_it && run::tee(&mut command_for(&second, 1))?.ok;
        if !passes {
            self.tally.add(first);
            bail!("`{}` failed ({first})", run::shown(&command));
        }
        self.tally.add(Tally { passed: first.passed + first.failed, failed: 0 });
        for test in failed {
            self.note(&format!("FLAKY: the test at {}:{} failed, and passed at the second try", test.file, test.line));
        }
        Ok(())
    }
}

/// Half as many again as there are processors: most tests wait for other programs.
fn tests_at_once() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    processors + processors.div_ceil(2)
}

fn must(mut command: Command) -> Result<StepOutcome> {
    if run::tee(&mut command)?.ok { Ok(StepOutcome::Done) } else { bail!("`{}` failed", run::shown(&command)) }
}

pub(crate) fn fmt(_: &mut Scene) -> Result<StepOutcome> {
    must(cargo::command(&["fmt", "--all", "--check"]))
}

pub(crate) fn clippy(_: &mut Scene) -> Result<StepOutcome> {
    must(cargo::command(&["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]))
}

/// With every feature, so that no test is left out.
pub(crate) fn tests(scene: &mut Scene) -> Result<StepOutcome> {
    if scene.no_peers || run::first_line("npm", &["--version"]).is_none() {
        scene.note("without npm's Node.js the tests of extensions use the one on the path, if it is new enough");
    } else {
        install_peers(&env::root().join("conformance/extensions"))?;
    }
    let mut command = if run::first_line(&env::cargo(), &["nextest", "--version"]).is_some() {
        cargo::command(&[
            "nextest",
            "run",
            "--workspace",
            "--all-features",
            "--no-fail-fast",
            "--cargo-profile",
            cargo::TESTS,
            "--test-threads",
            &tests_at_once().to_string(),
        ])
    } else {
        scene.note("cargo-nextest is not installed: the tests ran under `cargo test`, without its isolation");
        cargo::command(&[
            "test",
            "--workspace",
            "--all-features",
            "--tests",
            "--no-fail-fast",
            "--profile",
            cargo::TESTS,
        ])
    };
    scene.count(&mut command)?;
    if scene.tally.passed == 0 { bail!("not one test ran") } else { Ok(StepOutcome::Done) }
}

pub(crate) fn doctests(scene: &mut Scene) -> Result<StepOutcome> {
    let mut command = cargo::command(&["test", "--workspace", "--all-features", "--doc", "--profile", cargo::TESTS]);
    scene.count(&mut command)?;
    Ok(StepOutcome::Done)
}

pub(crate) fn doc(_: &mut Scene) -> Result<StepOutcome> {
    // With the examples, dependencies have the features that clippy checked them with, and are not checked again.
    let parts = ["--lib", "--bins", "--examples"];
    let mut command = cargo::command(&[&["doc", "--workspace", "--all-features", "--no-deps"], &parts[..]].concat());
    command.env("RUSTDOCFLAGS", "-D warnings");
    must(command)
}

pub(crate) fn tidy(_: &mut Scene) -> Result<StepOutcome> {
    if tidy::run()? == std::process::ExitCode::SUCCESS {
        Ok(StepOutcome::Done)
    } else {
        bail!("see the findings above")
    }
}

/// Without advisories, which need a network that CI may not have.
pub(crate) fn deny(_: &mut Scene) -> Result<StepOutcome> {
    if run::first_line(&env::cargo(), &["deny", "--version"]).is_none() {
        return Ok(StepOutcome::Skipped(
            "cargo-deny is not installed; licences, bans and sources were NOT checked".to_owned(),
        ));
    }
    must(cargo::command(&["deny", "check", "bans", "licenses", "sources"]))
}

pub(crate) fn no_default_features(_: &mut Scene) -> Result<StepOutcome> {
    must(cargo::command(&["check", "--package", "offshoot-session", "--no-default-features"]))
}

/// Compares the peers with the binary just built, on the same files and operations.
pub(crate) fn conformance(scene: &mut Scene) -> Result<StepOutcome> {
    let missing: Vec<&str> =
        ["node", "npm"].into_iter().filter(|tool| run::first_line(tool, &["--version"]).is_none()).collect();
    if scene.no_peers {
        return Ok(StepOutcome::Skipped("--no-peers was given; nothing was compared with pi and omp".to_owned()));
    }
    if !missing.is_empty() {
        bail!(
            "{} not found: install Node.js 20.10 or later, or leave the peers out with --no-peers",
            missing.join(" and ")
        );
    }
    install_peers(&env::root().join("conformance"))?;
    must(cargo::programs_of_tests())?;
    let built = cargo::target_folder()?.join(cargo::TESTS);
    let examples = built.join("examples");
    let programs = [
        ("OFFSHOOT_BIN", built.join("offshoot")),
        ("OFFSHOOT_MODULE_BIN", examples.join("module")),
        ("OFFSHOOT_TOOL_BIN", examples.join("tool")),
        ("OFFSHOOT_LOOPBACK_BIN", examples.join("loopback")),
        ("OFFSHOOT_REQUEST_BIN", examples.join("request")),
        ("OFFSHOOT_SESSIONS_BIN", examples.join("sessions")),
        ("OFFSHOOT_TREE_BIN", examples.join("tree")),
    ];
    if let Some((_, program)) = programs.iter().find(|(_, program)| !program.is_file()) {
        bail!("no binary at {}", program.display());
    }
    let before = scene.tally.passed;
    scene.count_files(&node_tests()?, |files, at_once| {
        let mut command = Command::new("node");
        command.args(["--test", "--test-reporter=spec", &format!("--test-concurrency={at_once}")]);
        command.args(files).current_dir(env::root()).envs(programs.clone());
        command
    })?;
    if scene.tally.passed == before { bail!("not one conformance test ran") } else { Ok(StepOutcome::Done) }
}

pub(crate) fn packages(_: &mut Scene) -> Result<StepOutcome> {
    dist::check()?;
    Ok(StepOutcome::Done)
}

/// One minute for all targets together. A finding fails the step, and stays as a regression test.
pub(crate) fn fuzz(_: &mut Scene) -> Result<StepOutcome> {
    fuzz::run(&["--seconds".to_owned(), "20".to_owned()])?;
    Ok(StepOutcome::Done)
}

/// `npm ci`, unless the peers of this lock file are already installed.
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

/// Every `*.test.mjs` under `conformance/`, by name: the meaning of `node --test FOLDER` differs between versions of
/// node.
fn node_tests() -> Result<Vec<String>> {
    let repo = repo::Repo::read(&env::root())?;
    let tests: Vec<String> =
        repo.under("conformance/").map(|file| file.path.clone()).filter(|path| path.ends_with(".test.mjs")).collect();
    if tests.is_empty() { bail!("conformance/ holds no *.test.mjs") } else { Ok(tests) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conformance_is_left_out_only_on_request_and_says_so() {
        let Ok(StepOutcome::Skipped(why)) = conformance(&mut Scene::new(true)) else { unreachable!("not skipped") };
        assert!(why.contains("--no-peers"));
    }

    /// What node prints of the file `a.test.mjs`, with the exit code.
    fn answered(count: &str, code: u8) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("printf 'test at a.test.mjs:3:1\\nℹ {count}\\n'; exit {code}")]);
        command
    }

    #[test]
    fn a_file_that_passes_at_the_second_try_is_noted_and_one_that_does_not_fails() {
        let runs = std::cell::Cell::new(0);
        let files = ["a.test.mjs".to_owned()];
        let mut scene = Scene::new(false);
        let flaky = |_: &[String], _| {
            runs.set(runs.get() + 1);
            if runs.get() == 1 { answered("fail 1", 1) } else { answered("pass 1", 0) }
        };
        scene.count_files(&files, flaky).unwrap();
        assert_eq!((scene.tally.to_string().as_str(), runs.get()), ("1 passed, 0 failed", 2));
        assert_eq!(scene.notes, ["FLAKY: the test at a.test.mjs:3 failed, and passed at the second try"]);
        assert!(scene.count_files(&files, |_, _| answered("fail 1", 1)).is_err());
        assert_eq!(scene.tally.failed, 1);
    }

    #[test]
    fn an_install_without_a_lock_file_is_an_error() {
        assert!(install_peers(Path::new("no/such/folder")).is_err());
    }
}
