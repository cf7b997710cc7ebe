//! The Python wheel `offshoot-sessions`: the clients of `clients/python` and the binary, for this platform.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use xtask::{env, run};

use super::Build;

const MAKER: &str = "clients/python/make_wheel.py";

/// Makes the wheel; returns its path.
pub(super) fn make(build: &Build) -> Result<PathBuf> {
    let (binary, packages) = (build.binary(), &build.packages);
    let arguments =
        [MAKER, &build.version, &build.platform.wheel, &binary.to_string_lossy(), &packages.to_string_lossy()];
    let made = run::output_of("python3", &arguments, &env::root())?;
    made.lines().last().map(|name| packages.join(name.trim())).context("the maker of the wheel named no file")
}
