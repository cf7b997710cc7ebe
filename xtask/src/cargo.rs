//! Calls cargo in this repository.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::{env, run};

/// The profile of what the tests build and run, and the name of its folder.
pub const TESTS: &str = "tests";

pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env::cargo());
    command.args(args).current_dir(env::root());
    // What is built to be run once needs no memory of how it was built, which takes gigabytes.
    if env::var("CARGO_INCREMENTAL").is_none() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Builds the program and the examples from the units of the test step. Without the examples, whose dependencies enable more
/// features, cargo would compile each crate above tokio a second time.
#[must_use]
pub fn programs_of_tests() -> Command {
    command(&["build", "--profile", TESTS, "--workspace", "--all-features", "--bin", "offshoot", "--examples"])
}

/// Builds the `offshoot` binary and the packages in `more`; returns the folder of release binaries.
pub fn release(more: &[&str]) -> Result<PathBuf> {
    let mut build = command(&["build", "--release", "--package", "offshoot"]);
    if !build.args(more).status().context("cannot run cargo")?.success() {
        bail!("the release build failed");
    }
    Ok(target_folder()?.join("release"))
}

pub fn target_folder() -> Result<PathBuf> {
    let text = run::output_of(&env::cargo(), &["metadata", "--no-deps", "--format-version", "1"], &env::root())?;
    let metadata: serde_json::Value = serde_json::from_str(&text).context("cargo metadata")?;
    let folder = metadata.get("target_directory").and_then(serde_json::Value::as_str);
    folder.map(PathBuf::from).context("cargo metadata names no target folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_says_where_it_builds() {
        assert!(target_folder().unwrap().is_absolute());
    }
}
