//! Measurements run optimised: a debug build of this tool builds the release binaries and runs the command there.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use xtask::cargo;

/// Runs the command in the release binary; `more` is built as well.
pub(crate) fn again(command: &str, more: &[&str], args: &[String]) -> Result<ExitCode> {
    let program = cargo::release(&[&["--package", "xtask-bench"], more].concat())?.join("xtask-bench");
    let status = Command::new(program).arg(command).args(args).status().context("cannot run the release build")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds something else, optimised, beside the release binaries.
pub(crate) fn also(what: &[&str]) -> Result<()> {
    let built = cargo::command(&[&["build", "--release"], what].concat()).status().context("cannot run cargo")?;
    if built.success() { Ok(()) } else { bail!("the release build of {} failed", what.join(" ")) }
}
