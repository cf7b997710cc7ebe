//! `cargo xtask fuzz` runs the targets of `fuzz/` under libFuzzer, on stable Rust.
//!
//! An input that breaks a promise stays in `fuzz/regressions/`, where the tests of `offshoot-session` replay it. Inputs
//! that only add coverage stay in the target folder for the next run.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, bail};
use xtask::{cargo, env, out, run};

const TARGETS: [&str; 5] = ["lines", "codec", "open", "session_ops", "text"];

/// LLVM's coverage passes, which a stable compiler also accepts.
const FLAGS: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg=fuzzing",
];

const PARALLEL_RUNS: usize = 2;

struct Options {
    seconds: u64,
    targets: Vec<&'static str>,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self { seconds: 60, targets: Vec::new() };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            if arg == "--seconds" {
                let seconds = args.next().and_then(|value| value.parse().ok()).filter(|seconds| *seconds > 0);
                options.seconds = seconds.context("--seconds wants a number above 0")?;
                continue;
            }
            let known = TARGETS.iter().find(|target| **target == arg.as_str());
            options
                .targets
                .push(known.with_context(|| format!("no target `{arg}`; there are {}", TARGETS.join(", ")))?);
        }
        if options.targets.is_empty() {
            options.targets.extend(TARGETS);
        }
        Ok(options)
    }
}

pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    let root = env::root();
    let place = built(&root)?;
    let mut failed = Vec::new();
    for targets in options.targets.chunks(PARALLEL_RUNS) {
        let runs = std::thread::scope(|scope| {
            let start = |target: &'static str| {
                let (root, place) = (&root, &place);
                scope.spawn(move || one(root, place, target, options.seconds))
            };
            let handles: Vec<_> = targets.iter().map(|target| start(target)).collect();
            handles.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
        });
        for (target, run) in targets.iter().zip(runs) {
            let run = run.map_err(|_| anyhow::anyhow!("the run of {target} broke off"))??;
            out::say(&format!(
                "{target}: {} executions, {} new inputs; {}",
                run.executions, run.new_inputs, run.verdict
            ));
            if let Some(said) = run.said {
                out::warn(&said);
                failed.push(*target);
            }
        }
    }
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    bail!(
        "{} broke a promise; the input is in fuzz/regressions/, where a test of offshoot-session replays it",
        failed.join(" and ")
    )
}

fn built(root: &Path) -> Result<PathBuf> {
    let host = run::output_of("rustc", &["-vV"], root)?;
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?.to_owned();
    let folder = cargo::target_folder()?.join("fuzz");
    let mut command = cargo::command(&["build", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target", &host]);
    command.env("CARGO_TARGET_DIR", &folder).env("RUSTFLAGS", FLAGS.join(" "));
    if !run::tee(&mut command)?.ok {
        bail!("the fuzz targets do not build");
    }
    Ok(folder.join(host).join("release"))
}

struct Run {
    executions: u64,
    new_inputs: u64,
    verdict: String,
    /// The last line a failed run printed.
    said: Option<String>,
}

fn one(root: &Path, place: &Path, target: &str, seconds: u64) -> Result<Run> {
    let kept = place.join("corpus").join(target);
    let regressions = root.join("fuzz/regressions").join(target);
    for folder in [&kept, &regressions] {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let mut command = Command::new(place.join(target));
    command.arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-artifact_prefix={}/", regressions.display()));
    command.args(["-max_len=4096", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=1"]);
    command.arg(&kept).arg(root.join("fuzz/corpus").join(target)).arg(&regressions);
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot run {target}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let verdict = if output.status.success() { format!("nothing broken in {seconds} s") } else { "BROKEN".to_owned() };
    let number = |name| statistic(&said, name);
    let (executions, new_inputs) = (number("number_of_executed_units"), number("new_units_added"));
    let lines: Vec<&str> = said.lines().collect();
    let last = lines[lines.len().saturating_sub(60)..].join("\n");
    Ok(Run { executions, new_inputs, verdict, said: (!output.status.success()).then_some(last) })
}

/// A `stat::NAME: VALUE` line at the end of libFuzzer's output.
fn statistic(said: &str, name: &str) -> u64 {
    let values = said.lines().filter_map(|line| line.strip_prefix("stat::")?.strip_prefix(name)?.strip_prefix(':'));
    values.filter_map(|value| value.trim().parse().ok()).next_back().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_seconds_are_chosen() {
        let parse = |words: &[&str]| Options::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let options = parse(&["--seconds", "5", "open"]).unwrap();
        assert!(options.seconds == 5 && options.targets == ["open"]);
        assert_eq!(parse(&[]).unwrap().targets, TARGETS);
        assert!(parse(&["--seconds", "0"]).is_err() && parse(&["no-such"]).is_err());
    }

    #[test]
    fn every_target_has_a_program_and_seeds() {
        let fuzz = env::root().join("fuzz");
        for target in TARGETS {
            assert!(fuzz.join(format!("src/bin/{target}.rs")).is_file(), "{target}");
            assert!(fuzz.join("corpus").join(target).read_dir().unwrap().next().is_some(), "{target}");
        }
        assert_eq!(fuzz.join("src/bin").read_dir().unwrap().count(), TARGETS.len());
    }

    #[test]
    fn closing_lines_are_read() {
        let said = "#5 DONE\nstat::number_of_executed_units: 1234\nstat::new_units_added:          7\n";
        assert_eq!((statistic(said, "number_of_executed_units"), statistic(said, "new_units_added")), (1234, 7));
        assert_eq!(statistic("", "new_units_added"), 0);
    }
}
