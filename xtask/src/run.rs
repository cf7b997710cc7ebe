//! Runs other programs: passes their output on, keeps a copy, times them.

#![expect(clippy::disallowed_methods, reason = "it passes on what programs print, and times them")]

use std::io::{BufRead as _, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

#[derive(Debug)]
pub struct Answer {
    pub ok: bool,
    /// Both streams, line by line, in the order of arrival.
    pub said: String,
}

/// Runs a program; its output goes to our streams and into the answer.
pub fn tee(command: &mut Command) -> Result<Answer> {
    let shown = shown(command);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot run `{shown}`"))?;
    let said = Mutex::new(String::new());
    let (out, err) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        scope.spawn(|| out.map(|stream| pass_on(stream, &mut std::io::stdout(), &said)));
        scope.spawn(|| err.map(|stream| pass_on(stream, &mut std::io::stderr(), &said)));
    });
    let ok = child.wait().with_context(|| format!("cannot wait for `{shown}`"))?.success();
    let said = said.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(Answer { ok, said })
}

/// The first line that a program prints on stdout; `None` if it fails.
pub fn first_line(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    text.lines().next().map(|line| line.trim().to_owned())
}

/// Everything that a program prints on stdout; an error if it fails.
pub fn output_of(program: &str, args: &[&str], folder: &Path) -> Result<String> {
    let output = Command::new(program).args(args).current_dir(folder).stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot run `{program}`"))?;
    if !output.status.success() {
        bail!("`{program} {}` failed: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{program}` did not answer in UTF-8"))
}

pub fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let value = work();
    (value, start.elapsed().as_secs_f64())
}

fn pass_on(from: impl Read, to: &mut impl Write, copy: &Mutex<String>) {
    for line in BufReader::new(from).split(b'\n') {
        let Ok(mut line) = line else { return };
        line.push(b'\n');
        to.write_all(&line).ok();
        to.flush().ok();
        if let Ok(mut copy) = copy.lock() {
            copy.push_str(&String::from_utf8_lossy(&line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_streams_and_the_verdict_come_back() {
        let answer = tee(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"])).unwrap();
        assert!(!answer.ok);
        assert!(answer.said.contains("out\n") && answer.said.contains("err\n"));
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error_or_nothing() {
        assert!(tee(&mut Command::new("no-such-program")).is_err());
        assert_eq!(first_line("no-such-program", &[]), None);
    }
}
