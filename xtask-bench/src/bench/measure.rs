//! One run of one program, measured from outside: wall time, CPU time, peak memory.
//!
//! `run` starts this program again as a helper. The helper (`measure_one`) starts the measured program as its only
//! child and reports the kernel's counters of children. A new helper for every run keeps the runs' counters apart and
//! excludes the memory of the benchmark itself.

#![expect(clippy::disallowed_methods, reason = "measuring is its work")]

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::sys::time::TimeValLike as _;
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use xtask::{env, out};

use crate::figures;

pub(crate) const MEASURE: &str = "bench-measure";

// When the helper stops the clock.
const FIRST_LINE: &str = "first-line";
const END: &str = "end";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cost {
    pub(crate) wall_s: f64,
    pub(crate) cpu_s: f64,
    pub(crate) peak_mib: f64,
    /// `None` if the run succeeded.
    pub(crate) failure: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) words: Vec<String>,
    pub(crate) folder: PathBuf,
    pub(crate) vars: Vec<(String, String)>,
    /// `None`: an empty stdin.
    pub(crate) stdin: Option<PathBuf>,
    /// Whether the first line of output stops the clock: a person waits for the first output.
    pub(crate) first_line: bool,
    /// `None`: discarded.
    pub(crate) stdout: Option<PathBuf>,
    pub(crate) stderr: PathBuf,
    pub(crate) timeout: Duration,
}

pub(crate) fn run(job: &Job) -> Result<Cost> {
    let nothing = Path::new("/dev/null");
    let (stdin, stdout) = (job.stdin.as_deref().unwrap_or(nothing), job.stdout.as_deref().unwrap_or(nothing));
    let until = if job.first_line { FIRST_LINE } else { END };
    let mut helper = Command::new(env::this_program()?);
    helper.arg(MEASURE).arg(job.timeout.as_secs_f64().to_string()).arg(until);
    helper.arg(stdin).arg(stdout).arg(&job.stderr).args(&job.words);
    helper.current_dir(&job.folder).envs(job.vars.iter().map(|(name, value)| (name, value)));
    let output = helper.stdin(Stdio::null()).output().context("cannot run the measuring helper")?;
    if !output.status.success() {
        bail!("the measuring helper failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("the measuring helper's answer")
}

/// The helper: `TIMEOUT UNTIL STDIN STDOUT STDERR PROGRAM ARG...`; prints one line of JSON.
pub(crate) fn measure_one(args: &[String]) -> Result<ExitCode> {
    let [timeout, until, stdin, stdout, stderr, program, rest @ ..] = args else {
        bail!("this command is for the benchmark itself")
    };
    let timeout = Duration::from_secs_f64(timeout.parse()?);
    let mut command = Command::new(program);
    command.args(rest).stdin(File::open(stdin)?).stderr(File::create(stderr)?);
    let cost = if until == FIRST_LINE {
        watch(command.stdout(Stdio::piped()), timeout)?
    } else {
        watch(command.stdout(File::create(stdout)?), timeout)?
    };
    out::say(&serde_json::to_string(&cost)?);
    Ok(ExitCode::SUCCESS)
}

/// Runs the only child of this process to its end or its time-out. If its output is a pipe, the clock stops at the
/// first line, and the rest is not read.
fn watch(command: &mut Command, timeout: Duration) -> Result<Cost> {
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot run {:?}", command.get_program()))?;
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    let (done, waiting) = mpsc::channel::<()>();
    let watchdog = std::thread::spawn(move || {
        let late = waiting.recv_timeout(timeout) == Err(mpsc::RecvTimeoutError::Timeout);
        if late {
            kill(pid, Signal::SIGKILL).ok();
        }
        late
    });
    let first = child.stdout.take().map(|pipe| first_line(pipe).map(|found| (found, start.elapsed()))).transpose()?;
    let status = child.wait()?;
    let (has_answered, wall) = first.unwrap_or((false, start.elapsed()));
    drop(done);
    let late = watchdog.join().unwrap_or(false);
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cpu_us = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    // A program whose pipe was closed early may exit with an error.
    let failure = match (late, status.success() || has_answered) {
        (true, _) => Some(format!("no answer in {:.0} s", timeout.as_secs_f64())),
        (false, true) => None,
        (false, false) => Some(status.to_string()),
    };
    let peak_mib = usage.max_rss() as f64 / 1024.0;
    Ok(Cost { wall_s: wall.as_secs_f64(), cpu_s: cpu_us as f64 / 1e6, peak_mib, failure })
}

/// Reads up to the first line feed; `false` if there was none.
fn first_line(pipe: impl Read) -> Result<bool> {
    let mut line = Vec::new();
    BufReader::new(pipe).read_until(b'\n', &mut line)?;
    Ok(line.ends_with(b"\n"))
}

/// The median of each figure; `None` without runs.
pub(super) fn median(costs: &[Cost]) -> Option<Cost> {
    let of = |figure: fn(&Cost) -> f64| figures::median(costs.iter().map(figure));
    Some(Cost { wall_s: of(|c| c.wall_s)?, cpu_s: of(|c| c.cpu_s)?, peak_mib: of(|c| c.peak_mib)?, failure: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_taken_of_each_figure_by_itself() {
        let cost = |wall_s, cpu_s, peak_mib| Cost { wall_s, cpu_s, peak_mib, failure: None };
        let median = median(&[cost(1.0, 9.0, 5.0), cost(3.0, 7.0, 6.0), cost(2.0, 8.0, 100.0)]);
        assert_eq!(median, Some(cost(2.0, 8.0, 6.0)));
        assert_eq!(super::median(&[]), None);
    }

    #[test]
    fn a_run_has_a_cost_and_an_end() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        let good =
            watch(&mut shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"), Duration::from_secs(60)).unwrap();
        assert!(good.failure.is_none() && good.cpu_s > 0.0 && good.peak_mib > 0.1, "{good:?}");
        let bad = watch(&mut shell("exit 3"), Duration::from_secs(60)).unwrap();
        assert_eq!(bad.failure.as_deref(), Some("exit status: 3"));
        let first = watch(shell("echo one; exec sleep 600").stdout(Stdio::piped()), Duration::from_secs(3)).unwrap();
        assert!(first.wall_s < 3.0 && first.failure.is_some_and(|why| why.starts_with("no answer")));
        let late = watch(&mut shell("exec sleep 600"), Duration::from_millis(50)).unwrap();
        assert!(late.failure.is_some_and(|why| why.starts_with("no answer")) && late.wall_s < 60.0);
    }

    #[test]
    fn the_helper_wants_its_arguments() {
        assert!(measure_one(&["1".to_owned()]).is_err());
    }
}
