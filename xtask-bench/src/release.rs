//! Nothing that is measured, or measures, runs unoptimised: a tool that was built so builds the released programs and hands over.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};
use xtask::cargo;

/// Runs the command in the released programs; `more` is built besides them.
pub(crate) fn again(command: &str, more: &[&str], args: &[String]) -> Result<ExitCode> {
    let program = cargo::release(&[&["--package", "xtask-bench"], more].concat())?.join("xtask-bench");
    let status = Command::new(program).arg(command).args(args).status().context("cannot run the release build")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
