//! `cargo xtask faults` runs the tests that break disks, calls and processes, and shows their counts. `cargo xtask
//! robustness` probes offshoot and its peers with `conformance/robustness.mjs` and writes the table.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use xtask::{cargo, env, machine, run};

/// The tests whose counts are shown, by package, binary and name.
const SHOWN: &[(&str, &str, &[&str])] = &[
    ("offshoot-session", "it", &["faults::", "damage::", "fuzzed::"]),
    ("offshoot-cli", "cli", &["crashes::", "kernel::"]),
];

/// `faults [--rounds N]`: N rounds of four writers, which are killed.
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

/// `robustness [--write FILE] [--only PART] [--subjects A,B] [--peers DIR]`.
pub(crate) fn robustness(args: &[String]) -> Result<ExitCode> {
    let root = env::root();
    let released = cargo::release(&[])?;
    let mut command = Command::new("node");
    command.arg("conformance/robustness.mjs").current_dir(&root);
    for pair in args.chunks(2) {
        let [option, value] = pair else { bail!("{} wants a value", pair.join(" ")) };
        match option.as_str() {
            "--peers" => command.env("CONFORMANCE_MODULES", absolute(value)?),
            "--write" => command.arg(option).arg(absolute(value)?),
            _ => command.arg(option).arg(value),
        };
    }
    command.arg("--facts").arg(serde_json::to_string(&machine::facts(&root))?);
    command.env("OFFSHOOT_BIN", released.join("offshoot"));
    let status = command.status().context("cannot run node")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
