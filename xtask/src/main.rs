//! The repository's own tools, run as `cargo xtask NAME`. Nothing in `crates/` may depend on this package.

mod again;
mod tally;
mod tokens;
mod repo;
mod tidy;
mod fuzz;
mod robustness;
mod models;
mod dist;
mod steps;
mod ci;

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use xtask::{cargo, env, out};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  ci [--no-peers]        everything CI does, in order; stops at the first failure
  test [--no-peers]      all tests: unit, integration, doctests, conformance
  tidy                   the house rules that no compiler checks
  lines                  lines of product code of each crate, without comments and tests
  dist [--debug]         one binary as a tarball, npm packages, a Python wheel and (with cargo-deb) a Debian package, each installed
                         and used; --debug takes the tests' binary and makes no Debian package
  walk                   installs each package of `dist` in an empty home and times it
  bless                  rewrite the hashes that pin documents to code
  bench [NAME...] [--huge] [--rounds N] [--dir DIR] [--peers DIR] [--write FILE]
                         whole processes against pi and omp, in turn; NAME selects cases (`context`, `tree/L`)
  bench files [--modules DIR] [--programs DIR] [--write FILE]
                         what recording files costs, beside `git status` and a shadow repository; DIR has @google/gemini-cli-core,
                         or programs that are built already

  screen [SCENE...] [--rounds N] [--dir DIR] [--write FILE]
                         the terminal front end in a real terminal: from a key to its picture, starts, memory
  screen --beside [--dir DIR] [--peers DIR]
                         the same ten conversations through pi, omp and offshoot, as pages and pictures to look at
  screen --stream [--dir DIR] [--peers DIR]
                         pi and offshoot in one run: first frame, key to frame, what 10,000 paced deltas cost
  sandbox [--rounds N] [--write FILE]
                         what confining a command costs, also with 50 nested repositories

  faults [--rounds N]    the tests that break disks, calls and processes, with their counts; N rounds of kills
  robustness [--sessions N] [--write FILE] [--only PART] [--subjects A,B] [--peers DIR]
                         probes of offshoot, pi and omp: damaged files, full disks, signals, each other
  fuzz [--seconds N] [TARGET...]
                         the targets of fuzz/ under libFuzzer, 60 seconds each
  models FILE-OR-FOLDER  the built-in models, from an installed npm package pi-ai (Node.js reads it) or a file of its facts

  --no-peers             leave the conformance step out when there is no node, npm or registry
";

fn main() -> ExitCode {
    let args = env::args();
    match dispatch(&args) {
        Ok(code) => code,
        Err(error) => {
            out::warn(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Result<ExitCode> {
    let Some((command, rest)) = args.split_first() else {
        out::warn(USAGE);
        return Ok(ExitCode::from(2));
    };
    match command.as_str() {
        "ci" => ci::run(&ci::Plan::Everything, rest),
        "test" => ci::run(&ci::Plan::Tests, rest),
        "tidy" => none_left(rest).and_then(|()| tidy::run()),
        "lines" => none_left(rest).and_then(|()| tidy::lines()),
        "dist" if rest == ["--debug"] => dist::check().map(|()| ExitCode::SUCCESS),
        "dist" => none_left(rest).and_then(|()| dist::run()),
        "walk" => none_left(rest).and_then(|()| dist::walk()),
        "bless" => none_left(rest).and_then(|()| tidy::bless()),
        "bench" | "screen" | "sandbox" => measure(args),
        "faults" => robustness::faults(rest),
        "robustness" => robustness::robustness(rest),
        "fuzz" => fuzz::run(rest),
        "models" => models::run(rest),
        "help" | "--help" | "-h" => {
            out::say(USAGE);
            Ok(ExitCode::SUCCESS)
        }
        other => bail!("no command `{other}`\n{USAGE}"),
    }
}

fn measure(args: &[String]) -> Result<ExitCode> {
    let mut command = cargo::command(&["run", "--quiet", "--package", "xtask-bench", "--"]);
    let status = command.args(args).status().context("cannot run cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn none_left(rest: &[String]) -> Result<()> {
    match rest.first() {
        None => Ok(()),
        Some(arg) => bail!("unexpected argument `{arg}`\n{USAGE}"),
    }
}
