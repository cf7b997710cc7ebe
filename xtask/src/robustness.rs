//! `cargo xtask faults` runs the tests that break disks, calls and processes, and shows their counts. `cargo xtask
//! robustness` runs the whole hostile corpus, then probes offshoot and its peers with `conformance/robustness.mjs` and
//! writes the table.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use xtask::{cargo, env, machine, run};

/// The tests whose counts are shown, by package, binary and name.
const SHOWN: &[(&str, &str, &[&str])] = &[
    ("offshoot-session", "it", &["faults::", "damage::", "fuzzed::"]),
    ("offshoot", "cli", &["crashes::", "kernel::", "bring_back_killed::"]),
];

/// `faults [--rounds N]`: N rounds of killed writers, and of killed picks, merges and undos.
pub(crate) fn faults(args: &[String]) -> Result<ExitCode> {
    let rounds = match args {
        [] => None,
        [option, rounds] if option == "--rounds" && rounds.parse::<u32>().is_ok_and(|rounds| rounds > 0) => {
            Some(rounds)
        }
        _ => bail!("usage: cargo xtask faults [--rounds N]"),
    };
    for (package, binary, names) in SHOWN {
        let mut command = cargo::command(&["test", "--package", package, "--test", binary, "--"]);
        command.args(*names).arg("--nocapture");
        if let Some(rounds) = rounds {
            command.env("OFFSHOOT_KILL_ROUNDS", rounds);
        }
        if !run::tee(&mut command)?.ok {
            bail!("`{}` failed", run::shown(&command));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// How many damaged sessions are given to every command, unless `--sessions` says otherwise.
const SESSIONS: &str = "2500";

/// `robustness [--sessions N] [--write FILE] [--only PART] [--subjects A,B] [--peers DIR]`.
pub(crate) fn robustness(args: &[String]) -> Result<ExitCode> {
    let root = env::root();
    let node = |arguments: &[&str]| {
        let mut command = Command::new("node");
        command.args(arguments).current_dir(&root);
        command
    };
    let mut corpus = node(&["--test", "--test-reporter=spec", "conformance/hostile.test.mjs"]);
    corpus.env("HOSTILE_SESSIONS", SESSIONS);
    let mut table = node(&["conformance/robustness.mjs"]);
    table.env("CONFORMANCE_ALL", "1");
    for pair in args.chunks(2) {
        let [option, value] = pair else { bail!("{} wants a value", pair.join(" ")) };
        match option.as_str() {
            "--sessions" => corpus.env("HOSTILE_SESSIONS", value),
            "--peers" => table.env("CONFORMANCE_MODULES", absolute(value)?),
            "--write" => table.arg(option).arg(absolute(value)?),
            "--only" => {
                corpus.env("HOSTILE_ONLY", value);
                table.arg(option).arg(value)
            }
            _ => table.arg(option).arg(value),
        };
    }
    table.arg("--facts").arg(serde_json::to_string(&machine::facts(&root))?);
    let program = cargo::release(&[])?.join("offshoot");
    let mut passed = true;
    for mut command in [corpus, table] {
        passed &= command.env("OFFSHOOT_BIN", &program).status().context("cannot run node")?.success();
    }
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn absolute(path: &str) -> Result<PathBuf> {
    std::path::absolute(Path::new(path)).with_context(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_options_are_refused_before_anything_runs() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert!(faults(&words(&["--rounds", "0"])).is_err() && faults(&words(&["--rounds"])).is_err());
    }
}
